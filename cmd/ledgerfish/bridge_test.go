package main

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/projections"
)

// busyCluster carries out what is pending in the very moment after it was observed.
type busyCluster struct {
	t     *testing.T
	b     *bridge
	world domain.World
}

func (w *busyCluster) Instance(ctx context.Context, m domain.Machine) (domain.World, error) {
	seen := w.world
	if s, _ := w.b.ledger.State(m); s.Power.Phase == projections.PowerRequested && w.world.VMI == nil {
		vm := *w.world.VM
		vm.RunStrategy, vm.PowerFence = domain.RunRerunOnFailure, domain.Fence{Seq: s.Power.Intent.Seq, Step: domain.StepStart}
		w.world.VM = &vm
		brief, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		_, _, _ = w.b.ledger.Execute(brief, m, func(s projections.State) ([]domain.Event, error) {
			return []domain.Event{domain.New(domain.ByWorker, s.Power.Intent.Seq, "", domain.PowerApplied{})}, nil
		})
	}
	return seen, nil
}

func newTestBridge(t *testing.T) (*bridge, domain.Machine) {
	store := eventstore.NewMemory()
	t.Cleanup(store.Close)
	b := &bridge{store: store, now: time.Now, limits: domain.Limits{ImportDeadline: time.Hour, PowerDeadline: time.Minute},
		ledger: eventstore.NewLedger(store, fold(), time.Now, uuid.NewString), ready: func() error { return nil }}
	b.appended = func(domain.Machine, []domain.Event) {}
	b.cluster = &busyCluster{t: t, b: b, world: domain.World{VM: &domain.VM{RunStrategy: domain.RunHalted, StatusRunStrategy: domain.RunHalted}}}
	return b, domain.Machine{Namespace: "lab", Name: "web-0", UID: "0f3c9a52-6d5e"}
}

func reset(b *bridge, t *testing.T, m domain.Machine, how domain.ResetType) projections.State {
	s, _, err := b.Do(t.Context(), m, domain.Request{ID: uuid.NewString(), By: "ironic@10.0.0.5", Command: domain.Reset{ResetType: how}})
	require.NoError(t, err)
	return s
}

// The newest power intent wins (I5), also when the machine is started between a ForceOff's look at it and its decision.
func TestAnOffIsNotDecidedOnAnOlderWorldThanTheLog(t *testing.T) {
	b, m := newTestBridge(t)
	reset(b, t, m, domain.ResetOn)
	s := reset(b, t, m, domain.ResetForceOff)
	assert.Equal(t, domain.GoalStop, s.Power.Intent.Goal)
	assert.Equal(t, projections.PowerRequested, s.Power.Phase)
}

// A machine of which nothing is known yet is not shown as one that is off and empty.
func TestAnUnknownMachineHasNoState(t *testing.T) {
	b, m := newTestBridge(t)
	_, known := b.State(m)
	assert.False(t, known)
	reset(b, t, m, domain.ResetOn)
	s, known := b.State(m)
	assert.True(t, known)
	assert.Equal(t, domain.PowerPoweringOn, s.PowerState())
}
