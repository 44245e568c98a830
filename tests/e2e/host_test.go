package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/cluster"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// patience is for what takes seconds on a machine that does nothing else.
const patience = 2 * time.Minute

// quick bounds every answer to a command: it does not wait for an import, a guest or another machine. With all these
// tests at once on two cores the median is 100 ms; the bound leaves room for a machine that has much else to do.
const quick = 5 * time.Second

// host is one machine of a test, driven over Redfish and looked at in the cluster.
type host struct {
	harness.VM
	t      *testing.T
	client *harness.Client
}

// newHost makes a machine in a namespace of its own and waits until it is served.
func newHost(t *testing.T, shape harness.Shape) host {
	t.Helper()
	harness.Need(t, env)
	namespace := newNamespace(t, "e2e")
	client, err := bridge.Client()
	require.NoError(t, err)
	vm, err := env.NewMachine(t.Context(), namespace, "web-0", shape)
	require.NoError(t, err)
	h := host{VM: vm, t: t, client: client}
	t.Cleanup(h.explain)
	harness.Await(t, patience, "the machine to be served", func(ctx context.Context) error {
		reply, err := client.System(ctx, vm)
		if err != nil {
			return err
		}
		return reply.Err()
	})
	return h
}

// explain shows the machine's history when its test has failed.
func (h host) explain() {
	if h.t.Failed() {
		history, err := bridge.Command(context.WithoutCancel(h.t.Context()), "log", h.String())
		h.t.Logf("%s %v", history, err)
	}
}

// image serves a bootable image of its own under a name.
func (h host) image(name string, image harness.Image) (url string, iso harness.ISO) {
	if image.ISO.Data == nil {
		image.ISO = harness.NewISO(name, 256<<10)
	}
	return env.Images.Put(h.ID()+"/"+name, image), image.ISO
}

// call makes a request that has to be answered with 2xx, and quickly, whatever goes on.
func (h host) call(what string, do func() (harness.Reply, error)) harness.Reply {
	h.t.Helper()
	reply, err := do()
	require.NoError(h.t, err, what)
	require.NoError(h.t, reply.Err(), what)
	h.t.Logf("%s was answered in %s", what, reply.Took.Round(time.Millisecond))
	assert.Less(h.t, reply.Took, quick, what)
	return reply
}

func (h host) insert(url string) harness.Reply {
	h.t.Helper()
	return h.call("insert", func() (harness.Reply, error) { return h.client.Insert(h.t.Context(), h.VM, url) })
}

func (h host) eject() {
	h.t.Helper()
	h.call("eject", func() (harness.Reply, error) { return h.client.Eject(h.t.Context(), h.VM) })
	reply, err := h.client.Media(h.t.Context(), h.VM)
	require.NoError(h.t, err)
	assert.Equal(h.t, false, reply.At("Inserted"), "an eject shows in the next GET")
	assert.Nil(h.t, reply.At("Image"))
}

func (h host) reset(kind domain.ResetType) harness.Reply {
	h.t.Helper()
	return h.call(string(kind), func() (harness.Reply, error) { return h.client.Reset(h.t.Context(), h.VM, kind) })
}

func (h host) refused(kind domain.ResetType) {
	h.t.Helper()
	reply, err := h.client.Reset(h.t.Context(), h.VM, kind)
	require.NoError(h.t, err)
	assert.Equal(h.t, 409, reply.Status, "%s: %s", kind, reply.Raw)
}

func (h host) setBoot(target domain.BootTarget, enabled domain.BootEnabled) {
	h.t.Helper()
	h.call("boot override", func() (harness.Reply, error) { return h.client.SetBoot(h.t.Context(), h.VM, target, enabled) })
	h.bootReads(target, enabled)
}

func (h host) bootReads(target domain.BootTarget, enabled domain.BootEnabled) {
	h.t.Helper()
	reply, err := h.client.System(h.t.Context(), h.VM)
	require.NoError(h.t, err)
	assert.Equal(h.t, []any{string(target), string(enabled)},
		[]any{reply.At("Boot", "BootSourceOverrideTarget"), reply.At("Boot", "BootSourceOverrideEnabled")})
}

// awaitPower waits until the System shows that power state.
func (h host) awaitPower(state domain.PowerState) {
	h.t.Helper()
	harness.Await(h.t, patience, "PowerState "+string(state), func(ctx context.Context) error {
		reply, err := h.client.System(ctx, h.VM)
		if err == nil && reply.At("PowerState") != string(state) {
			err = fmt.Errorf("it is %v", reply.At("PowerState"))
		}
		return err
	})
}

func (h host) log() []domain.Event {
	h.t.Helper()
	log, err := env.Log(h.t.Context(), h.VM)
	require.NoError(h.t, err)
	return log
}

// awaitEvent waits for the n-th event of a type in the log.
func (h host) awaitEvent(kind domain.Type, n int) (event domain.Event) {
	h.t.Helper()
	harness.Await(h.t, patience, fmt.Sprintf("event %s number %d", kind, n), func(ctx context.Context) error {
		log, err := env.Log(ctx, h.VM)
		if err != nil {
			return err
		}
		found := 0
		for _, e := range log {
			if e.Type == kind {
				if found++; found == n {
					event = e
					return nil
				}
			}
		}
		return fmt.Errorf("%d so far", found)
	})
	return event
}

// awaitBoot waits for the n-th boot of the machine's guests.
func (h host) awaitBoot(n int) (boot cluster.Boot) {
	h.t.Helper()
	harness.Await(h.t, patience, fmt.Sprintf("boot number %d", n), func(ctx context.Context) error {
		boots, err := env.Node.Boots(ctx, h.String())
		if err == nil && len(boots) < n {
			err = fmt.Errorf("%d so far", len(boots))
		}
		if err == nil {
			boot = boots[n-1]
		}
		return err
	})
	return boot
}

func (h host) booted(n int, iso harness.ISO) {
	h.t.Helper()
	boot := h.awaitBoot(n)
	assert.Equal(h.t, "cdrom:"+domain.DiskName+":"+iso.Label, boot.Result)
	assert.Equal(h.t, iso.SHA256, boot.SHA256)
}

func (h host) awaitOff() {
	h.t.Helper()
	harness.Await(h.t, patience, "the machine to be off", func(ctx context.Context) error { return env.IsOff(ctx, h.VM) })
}

func (h host) awaitRunning() {
	h.t.Helper()
	harness.Await(h.t, patience, "the machine to run", func(ctx context.Context) error { return env.IsRunning(ctx, h.VM) })
}

// starts is how often the machine was started so far.
func (h host) starts() int { return len(env.Witness.Starts(h.VM)) }

// putAway ejects, powers off and holds what is left against the invariants I1, I3, I4 and I7.
func (h host) putAway() {
	h.t.Helper()
	h.eject()
	h.reset(domain.ResetForceOff)
	h.awaitOff()
	h.atRest()
}

// atRest is I3 and I4, and I1 and I7 for all that has been.
func (h host) atRest() {
	h.t.Helper()
	harness.Await(h.t, patience, "nothing to be left in the cluster", func(ctx context.Context) error { return env.NothingLeft(ctx, h.Namespace) })
	h.awaitPower(domain.PowerOff)
	harness.Await(h.t, patience, "the log to say that the machine is off", func(ctx context.Context) error { return lastSeenOff(ctx, h.VM) })
	assert.Empty(h.t, env.Witness.BrokenOrders(h.VM, h.log()))
	vm, err := env.VM(h.t.Context(), h.VM)
	require.NoError(h.t, err)
	assert.Equal(h.t, h.Original.Template, vm.Spec.Template, "the template is as it was, field for field")
	assert.False(h.t, vm.Spec.Running != nil && vm.Spec.RunStrategy != nil, "never both running and runStrategy")
}

func has(log []domain.Event, kind domain.Type) bool {
	return slices.ContainsFunc(log, func(e domain.Event) bool { return e.Type == kind })
}

// lastSeenOff is nil when the newest PowerObserved of a machine, if there is one, is Off.
func lastSeenOff(ctx context.Context, m harness.VM) error {
	log, err := env.Log(ctx, m)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(log) {
		if seen, ok := e.Data.(domain.PowerObserved); ok && seen.State != domain.PowerOff {
			return fmt.Errorf("it says %s", seen.State)
		} else if ok {
			return nil
		}
	}
	return nil
}
