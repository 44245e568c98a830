package scenarios

import (
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/ledgerfish/ledgerfish/domain"
)

// happen is what the cluster, a guest or another admin does.
func (c *cluster) happen(t *testing.T, d *datadriven.TestData, now time.Time) {
	switch d.Cmd {
	case "machine":
		c.machineIs(t, d)
	case "controller":
		rounds := 1
		d.MaybeScanArgs(t, "rounds", &rounds)
		for range rounds {
			c.control()
		}
	case "import":
		c.importIs(t, d, now)
	case "guest-powers-off":
		c.world.VMI.Final, c.world.VMI.Running = true, false
	case "virtctl":
		c.virtctl(arg(t, d, "do"))
	case "somebody":
		c.somebody(arg(t, d, "does"))
	case "webhook":
		c.deny = map[string]string{"denies": "denied the request", "allows": ""}[arg(t, d, "says")]
	default:
		t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	}
}

func (c *cluster) machineIs(t *testing.T, d *datadriven.TestData) {
	strategy := domain.RunStrategy(arg(t, d, "strategy"))
	c.world.VM.RunStrategy, c.world.VM.StatusRunStrategy = strategy, strategy
	if d.HasArg("running") {
		c.start()
		c.world.VMI.Running = true
		c.starts = nil
	}
}

func (c *cluster) importIs(t *testing.T, d *datadriven.TestData, now time.Time) {
	v := &c.world.Volumes[len(c.world.Volumes)-1]
	v.MovedAt = now
	switch state := arg(t, d, "is"); state {
	case "moving":
		v.Percent += 10
	case "complete":
		v.Complete = true
	case "failed":
		v.Failed, v.Message = true, "checksum mismatch"
	case "restarting":
		v.Restarts, v.Message = 4, "expected status code 200, got 404"
	default:
		t.Fatalf("%s: unknown import %q", d.Pos, state)
	}
}

func (c *cluster) virtctl(do string) {
	switch {
	case do == "start" && c.world.VMI != nil && !c.world.VMI.Final:
		return // virt-api answers 409: running already
	case do == "start" && c.world.VM.RunStrategy == domain.RunManual:
		c.world.VM.StartQueued = true
	case do == "start":
		c.world.VM.RunStrategy = domain.RunAlways
	case do == "stop":
		c.world.VM.RunStrategy = domain.RunHalted
	}
	c.world.VM.ResourceVersion = c.uid("rv")
}

func (c *cluster) somebody(does string) {
	switch does {
	case "delete-vm":
		c.world.VM, c.world.VMI = nil, nil
	case "delete-volume":
		c.world.Volumes = nil
	case "take-the-name":
		c.world.Volumes = append(c.world.Volumes, domain.Volume{Name: domain.VolumeName(c.machine, 2), DataVolume: true, UID: "theirs"})
	case "leave-a-volume":
		c.world.Volumes = append(c.world.Volumes, domain.Volume{Name: "ledgerfish-0f3c9a52-99", Managed: true, Medium: 99, DataVolume: true, UID: "stray"})
	case "drop-the-disk":
		c.detach(c.world.VM.Attached...)
	}
}
