package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// shared is the cluster of this package's tests, nil when its binaries are not built. TestMain sets it before any test.
var shared *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ledgerfish-cluster-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	// LEDGERFISH_CLUSTER_STATE names a running cluster to use instead of a new one.
	if state := os.Getenv("LEDGERFISH_CLUSTER_STATE"); state != "" {
		shared, err = cluster.Attach(state)
	} else {
		shared, err = cluster.Start(context.Background(), dir)
	}
	if errors.Is(err, cluster.ErrNotBuilt) && os.Getenv("CI") != "true" {
		return m.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := shared.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
