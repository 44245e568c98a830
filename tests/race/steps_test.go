package race

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/cluster"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

func start(t *testing.T, e *harness.Env, tags string) (*harness.Bridge, *harness.Client) {
	t.Helper()
	bridge, err := e.StartBridge(t.Context(), harness.Options{Tags: tags})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, bridge.Kill())
		if t.Failed() {
			t.Log(bridge.Log())
		}
	})
	client, err := bridge.Client()
	require.NoError(t, err)
	return bridge, client
}

// prepare makes machines that the bridge already shows.
func prepare(t *testing.T, e *harness.Env, namespace string, n int, takes, delay time.Duration) []run {
	t.Helper()
	fleet, err := e.Fleet(t.Context(), namespace, "host", n, harness.Shape{})
	require.NoError(t, err)
	runs := make([]run, n)
	for i, m := range fleet {
		iso := harness.NewISO(fmt.Sprintf("RACE-%d-%d", delay.Milliseconds(), i), 256<<10)
		url := e.Images.Put(m.ID()+".iso", harness.Image{ISO: iso, Takes: takes})
		runs[i] = run{VM: m, iso: iso, url: url, delay: delay}
	}
	return runs
}

func insertThenOn(t *testing.T, client *harness.Client, runs []run) {
	t.Helper()
	for _, r := range runs {
		harness.Await(t, 30*time.Second, r.String()+" to be served", func(ctx context.Context) error {
			reply, err := client.System(ctx, r.VM)
			if err != nil {
				return err
			}
			return reply.Err()
		})
	}
	var machines sync.WaitGroup
	for _, r := range runs {
		machines.Go(func() {
			send(t, "insert", func() (harness.Reply, error) { return client.Insert(t.Context(), r.VM, r.url) })
			<-time.After(r.delay)
			send(t, "On", func() (harness.Reply, error) { return client.Reset(t.Context(), r.VM, domain.ResetOn) })
		})
	}
	machines.Wait()
}

func send(t *testing.T, what string, call func() (harness.Reply, error)) {
	reply, err := call()
	if assert.NoError(t, err, what) {
		assert.NoError(t, reply.Err(), what)
	}
}

// wasHeld tells whether the log has the power-on as one that waits.
func wasHeld(t *testing.T, e *harness.Env, r run) bool {
	log, err := e.Log(t.Context(), r.VM)
	require.NoError(t, err)
	return has(log, domain.PowerDeferredType)
}

func has(log []domain.Event, kind domain.Type) bool {
	return slices.ContainsFunc(log, func(e domain.Event) bool { return e.Type == kind })
}

// untilAllBooted waits for a boot of every machine and returns the early starts of all.
func untilAllBooted(t *testing.T, e *harness.Env, runs []run, limit time.Duration) (early []string) {
	t.Helper()
	err := harness.Until(t.Context(), limit, "every machine to boot", func(ctx context.Context) error {
		boots, err := e.Node.Boots(ctx, cluster.All)
		if err != nil {
			return err
		}
		for _, r := range runs {
			if !slices.ContainsFunc(boots, func(b cluster.Boot) bool { return b.VMI == r.String() }) {
				return fmt.Errorf("%s has not booted", r)
			}
		}
		return nil
	})
	assert.NoError(t, err)
	for _, r := range runs {
		early = append(early, e.Witness.EarlyStarts(r.VM)...)
	}
	return early
}

// bootedItsImage: exactly one boot, from the machine's own image.
func bootedItsImage(t *testing.T, e *harness.Env, r run) bool {
	boots, err := e.Node.Boots(t.Context(), r.String())
	require.NoError(t, err)
	return len(boots) == 1 && boots[0].SHA256 == r.iso.SHA256 && boots[0].Result == "cdrom:"+domain.DiskName+":"+r.iso.Label
}

// cleanUp ejects and powers off, and returns what is left in the cluster afterwards.
func cleanUp(t *testing.T, e *harness.Env, client *harness.Client, runs []run) (left []string) {
	t.Helper()
	var machines sync.WaitGroup
	for _, r := range runs {
		machines.Go(func() {
			send(t, "eject", func() (harness.Reply, error) { return client.Eject(t.Context(), r.VM) })
			send(t, "ForceOff", func() (harness.Reply, error) { return client.Reset(t.Context(), r.VM, domain.ResetForceOff) })
		})
	}
	machines.Wait()
	for _, r := range runs {
		assert.NoError(t, harness.Until(t.Context(), 3*time.Minute, r.String()+" to be off", func(ctx context.Context) error { return e.IsOff(ctx, r.VM) }))
	}
	namespaces := map[string]bool{}
	for _, r := range runs {
		namespaces[r.Namespace] = true
	}
	for namespace := range namespaces {
		_ = harness.Until(t.Context(), 2*time.Minute, "nothing to be left", func(ctx context.Context) error { return e.NothingLeft(ctx, namespace) })
		found, err := e.Leftovers(t.Context(), namespace)
		require.NoError(t, err)
		left = append(left, found...)
	}
	return left
}

func count(runs []run, is func(run) bool) (n int) {
	for _, r := range runs {
		if is(r) {
			n++
		}
	}
	return n
}
