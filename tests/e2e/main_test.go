package e2e

import (
	"context"
	"os"
	"testing"

	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// Of this package's tests; set once, by TestMain.
var (
	env    *harness.Env
	bridge *harness.Bridge
)

func TestMain(m *testing.M) {
	os.Exit(harness.Suite(m, func(ctx context.Context, e *harness.Env) (err error) {
		bridge, err = e.StartBridge(ctx, harness.Options{Flags: []string{"--import-stall", "25s", "--import-restarts", "1"}})
		if err != nil {
			return err
		}
		env = e
		e.Cleanup(bridge.Stop)
		return nil
	}))
}
