package main

import (
	"context"
	"time"

	"github.com/ledgerfish/ledgerfish/adapters/kubevirt"
	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/projections"
)

// commandTimeout bounds a request's reads and its append: the client is answered in well under the 60 s after which it
// would send the request again.
const commandTimeout = 15 * time.Second

// bridge is what the Redfish service stands on: reads from memory, commands through the gate into the log.
type bridge struct {
	worker *kubevirt.Worker
	ledger *eventstore.Ledger[projections.State]
	store  eventstore.Store
	limits domain.Limits
	now    func() time.Time
	ready  func() error
}

// List implements redfish.Machines.
func (b *bridge) List() []domain.Hardware { return b.worker.Inventory.List() }

// State implements redfish.Machines. A machine that is so new that nothing was written about it has the empty state.
func (b *bridge) State(m domain.Machine) (projections.State, bool) {
	if s, ok := b.ledger.State(m); ok {
		return s, true
	}
	return projections.New(m), b.ready() == nil
}

// Do implements redfish.Machines. The world is read before the log.
func (b *bridge) Do(ctx context.Context, m domain.Machine, r domain.Request) (projections.State, projections.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	w, err := b.worker.World(ctx, m)
	if err != nil {
		return projections.State{}, projections.Answer{}, &domain.Error{Code: domain.CodeUnavailable, Message: "the cluster can not be reached", Err: err}
	}
	var answer projections.Answer
	s, events, err := b.ledger.Execute(ctx, m, func(s projections.State) (events []domain.Event, err error) {
		events, answer, err = projections.Decide(s, w, r, b.now(), b.limits)
		return events, err
	})
	if len(events) > 0 {
		b.worker.Appended(m, events)
	}
	return s, answer, err
}

// Log implements redfish.Machines.
func (b *bridge) Log(ctx context.Context, m domain.Machine) ([]domain.Event, error) {
	return b.store.History(ctx, m)
}

// Progress implements redfish.Machines.
func (b *bridge) Progress(m domain.Machine, medium uint64) (float64, bool) {
	return b.worker.Inventory.Progress(m, medium)
}

// Ready implements redfish.Machines.
func (b *bridge) Ready() error { return b.ready() }
