package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// Suite runs the tests of one package on one cluster: use is called before them with the cluster, and ends what it
// starts by Cleanup. The result is for os.Exit. Without the cluster's binaries use is not called and the tests skip (see
// Need); with CI=true that is a failure.
func Suite(m *testing.M, use func(ctx context.Context, e *Env) error) (code int) {
	ctx := context.Background() // a signal ends this process at once, and bridge and cluster with it
	env, err := Open(ctx)
	if errors.Is(err, cluster.ErrNotBuilt) && os.Getenv("CI") != "true" {
		return m.Run()
	}
	failed := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "harness:", err)
			code = 1
		}
	}
	if err != nil {
		failed(err)
		return code
	}
	if err := use(ctx, env); err != nil {
		failed(err)
	} else {
		code = m.Run()
	}
	failed(env.Witness.Err())
	failed(env.Close())
	return code
}

// Need skips a test of a suite that has no cluster.
func Need(t *testing.T, e *Env) *Env {
	t.Helper()
	if e == nil {
		t.Skip(cluster.ErrNotBuilt)
	}
	return e
}

// Cleanup is called by Close, the last one first.
func (e *Env) Cleanup(f func() error) { e.cleanups = append(e.cleanups, f) }

// NamespaceFor makes a namespace for the machines of one test, and deletes it when the test has ended well.
func (e *Env) NamespaceFor(t *testing.T, prefix string) string {
	t.Helper()
	namespace, err := e.NewNamespace(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("namespace %s is left for a look", namespace)
			return
		}
		if _, err := e.Kubectl(context.WithoutCancel(t.Context()), "delete", "namespace", namespace, "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	return namespace
}
