package clients

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

var env *harness.Env // of this package's tests; set once, by TestMain

func TestMain(m *testing.M) {
	os.Exit(harness.Suite(m, func(_ context.Context, e *harness.Env) error {
		env = e
		return nil
	}))
}

// python is Debian's, whose sushy is Debian's too.
const python = "/usr/bin/python3"

// needSushy skips without Debian's python3-sushy.
func needSushy(t *testing.T) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import sushy").CombinedOutput(); err != nil {
		t.Logf("%v %s", err, out)
		harness.Skip(t, "python3-sushy is missing: apt-get install python3-sushy")
	}
}

// sushy, the library that Ironic uses, drives a machine: find, insert, boot device once, power on, wait, read the log,
// eject, power off. What really happened is judged on the cluster.
func TestSushyDrivesAMachine(t *testing.T) {
	e := harness.Need(t, env)
	needSushy(t)
	bridge, err := e.StartBridge(t.Context(), harness.Options{})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, bridge.Stop())
		if t.Failed() {
			t.Log(bridge.Log())
		}
	})
	namespace := e.NamespaceFor(t, "sushy")
	vm, err := e.NewMachine(t.Context(), namespace, "node-0", harness.Shape{Orders: true})
	require.NoError(t, err)
	client, err := bridge.Client()
	require.NoError(t, err)
	harness.Await(t, time.Minute, "the machine to be served", func(ctx context.Context) error {
		reply, err := client.System(ctx, vm)
		if err != nil {
			return err
		}
		return reply.Err()
	})
	iso := harness.NewISO("SUSHY", 256<<10)
	image := e.Images.Put("sushy.iso", harness.Image{ISO: iso, Takes: 3 * time.Second})

	cmd := exec.CommandContext(t.Context(), python, "sushy_machine.py", bridge.URL, harness.User, harness.Password, bridge.CA, vm.ID(), image)
	cmd.Env = append(os.Environ(), "REQUESTS_CA_BUNDLE="+bridge.CA) // else requests prefers this machine's to the library's argument
	out, err := cmd.CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(out), "done\n"))

	boots, err := e.Node.Boots(t.Context(), vm.String())
	require.NoError(t, err)
	require.Len(t, boots, 1)
	assert.Equal(t, "cdrom:"+domain.DiskName+":SUSHY", boots[0].Result)
	assert.Empty(t, e.Witness.EarlyStarts(vm))
	harness.Await(t, time.Minute, "the machine to be off", func(ctx context.Context) error { return e.IsOff(ctx, vm) })
	harness.Await(t, time.Minute, "nothing to be left", func(ctx context.Context) error { return e.NothingLeft(ctx, namespace) })
}
