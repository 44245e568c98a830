package scenarios

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

const (
	randomWalks = 500
	walkLength  = 40
)

// Whatever clients, guests, other admins and the clock do, and whenever the bridge is killed: the tables never ignore an
// event that was decided, a machine is never started before or without its medium, and in the end nothing is left.
func TestRandomWalks(t *testing.T) {
	for seed := range uint64(randomWalks) {
		w := walk{script: newScript(), rand: rand.New(rand.NewPCG(seed, 0)), t: t}
		strategies := []domain.RunStrategy{domain.RunHalted, domain.RunManual, domain.RunRerunOnFailure, domain.RunAlways}
		s := strategies[w.rand.IntN(len(strategies))]
		w.cluster.world.VM.RunStrategy, w.cluster.world.VM.StatusRunStrategy = s, s
		for range walkLength {
			w.step()
		}
		w.end()
		require.NotContains(t, w.story.String(), "tables ignore", "seed %d\n%s", seed, w.story.String())
		require.NotContains(t, w.story.String(), "does not come to rest", "seed %d\n%s", seed, w.story.String())
	}
}

type walk struct {
	*script
	rand  *rand.Rand
	t     *testing.T
	story strings.Builder
}

func (w *walk) do(what string, f func()) {
	w.out.Reset()
	f()
	fmt.Fprintf(&w.story, "%s\n%s", what, w.out.String())
	w.check()
}

// check holds every start that was written against the log as it was then.
func (w *walk) check() {
	vm := w.cluster.world.VM
	if vm == nil || vm.PowerFence.Step != domain.StepStart || vm.PowerFence.Seq != w.state.Power.Intent.Seq {
		return
	}
	intent := vm.PowerFence.Seq
	if m, pending := w.state.ImportPending(); pending && m.Seq < intent {
		w.t.Fatalf("power intent %d was carried out before medium %d was in\n%s", intent, m.Seq, w.story.String())
	}
	if m, failed := w.state.ImportFailed(); failed && m.Seq < intent && w.failedBefore(m.Seq, intent) {
		w.t.Fatalf("power intent %d was carried out after medium %d had failed\n%s", intent, m.Seq, w.story.String())
	}
}

func (w *walk) failedBefore(medium, intent uint64) bool {
	return slices.ContainsFunc(w.log, func(e domain.Event) bool {
		return e.Cause == medium && e.Seq < intent && (e.Type == domain.ImportFailedType || e.Type == domain.ImportExpiredType)
	})
}

func (w *walk) step() {
	images := []string{"http://iso.lab/a.iso", "http://iso.lab/b.iso"}
	resets := domain.ResetTypes()
	targets := domain.BootTargets()
	enabled := []domain.BootEnabled{domain.BootDisabled, domain.BootOnce, domain.BootContinuous}
	switch w.rand.IntN(14) {
	case 0, 1:
		image := images[w.rand.IntN(2)]
		w.do("insert "+image, func() {
			w.request(domain.InsertMedia{Slot: domain.SlotCd, Image: image, Digest: domain.Digest(image)})
		})
	case 2:
		w.do("eject", func() { w.request(domain.EjectMedia{Slot: domain.SlotCd}) })
	case 3, 4, 5:
		r := resets[w.rand.IntN(len(resets))]
		w.do("reset "+string(r), func() { w.request(domain.Reset{ResetType: r}) })
	case 6:
		target, e := targets[w.rand.IntN(len(targets))], enabled[w.rand.IntN(3)]
		w.do(fmt.Sprint("boot ", target, " ", e), func() { w.request(domain.SetBoot{Target: &target, Enabled: &e}) })
	case 7, 8:
		w.do("work", func() { w.work(false) })
	case 9:
		w.do("work, killed", func() { w.work(true); w.state = projections.Replay(w.cluster.machine, w.log) })
	case 10, 11:
		w.do("controller", func() { w.cluster.control() })
	case 12:
		w.do("import", w.importEnds)
	case 13:
		w.do("nature", w.nature)
	}
}

func (w *walk) importEnds() {
	for i := range w.cluster.world.Volumes {
		v := &w.cluster.world.Volumes[i]
		v.MovedAt = w.now
		if w.rand.IntN(4) == 0 {
			v.Failed = true
		} else {
			v.Complete = true
		}
	}
}

func (w *walk) nature() {
	c := w.cluster
	switch w.rand.IntN(5) {
	case 0:
		if c.world.VMI != nil {
			c.world.VMI.Final, c.world.VMI.Running = true, false
		}
	case 1:
		c.virtctl("start")
	case 2:
		c.virtctl("stop")
	case 3:
		w.now = w.now.Add(time.Duration(w.rand.IntN(90)) * time.Minute)
	case 4:
		c.world.Volumes = nil
	}
}

// end ejects and powers off, lets everybody come to rest, and looks at what is left.
func (w *walk) end() {
	w.do("eject at the end", func() { w.request(domain.EjectMedia{Slot: domain.SlotCd}) })
	disabled := domain.BootDisabled
	w.do("no override at the end", func() { w.request(domain.SetBoot{Enabled: &disabled}) })
	w.do("off at the end", func() { w.request(domain.Reset{ResetType: domain.ResetForceOff}) })
	for range 6 {
		w.do("work", func() { w.work(false) })
		w.do("controller", func() { w.cluster.control() })
	}
	world := w.cluster.read()
	rest := projections.AtRest(w.state, world) && (world.VMI == nil || world.VMI.Final) && len(world.Volumes) == 0 && len(world.VM.Attached) == 0 &&
		!world.VM.Overridden && w.state.PowerState() == domain.PowerOff
	for _, d := range world.VM.Devices {
		rest = rest && d.BootOrder == d.Original
	}
	if !rest {
		w.status()
		w.t.Fatalf("not at rest in the end\n%s\n%s", w.story.String(), w.out.String())
	}
	if replay := projections.Replay(w.cluster.machine, w.log); compact(replay) != compact(w.state) {
		w.t.Fatalf("a replay gives another state\n%s\n%s", compact(replay), compact(w.state))
	}
}
