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
	inventory *kubevirt.Inventory
	cluster   cluster
	appended  func(domain.Machine, []domain.Event) // told of new events
	ledger    *eventstore.Ledger[projections.State]
	store     eventstore.Store
	limits    domain.Limits
	now       func() time.Time
	ready     func() error
}

// cluster is what the gate looks at.
type cluster interface {
	// Instance observes the VM and its instance afresh.
	Instance(ctx context.Context, m domain.Machine) (domain.World, error)
}

// List implements redfish.Machines.
func (b *bridge) List() []domain.Hardware { return b.inventory.List() }

// State implements redfish.Machines. A machine that nothing was written about yet, or whose log cannot be read, has none:
// any other answer would be made up.
func (b *bridge) State(m domain.Machine) (projections.State, bool) { return b.ledger.State(m) }

// Do implements redfish.Machines. The world is read while nobody else decides on the machine. Read before that, it could
// be older than the log: a ForceOff would see a machine that is off, and a log that says that it was started meanwhile, and
// would have nothing to do.
func (b *bridge) Do(ctx context.Context, m domain.Machine, r domain.Request) (projections.State, projections.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	var answer projections.Answer
	s, events, err := b.ledger.Execute(ctx, m, func(s projections.State) ([]domain.Event, error) {
		w, err := b.cluster.Instance(ctx, m)
		if err != nil {
			return nil, &domain.Error{Code: domain.CodeUnavailable, Message: "the cluster can not be reached", Err: err}
		}
		var events []domain.Event
		events, answer, err = projections.Decide(s, w, r, b.now(), b.limits)
		return events, err
	})
	if len(events) > 0 {
		b.appended(m, events)
	}
	return s, answer, err
}

// Log implements redfish.Machines.
func (b *bridge) Log(ctx context.Context, m domain.Machine) ([]domain.Event, error) {
	return b.store.History(ctx, m)
}

// Progress implements redfish.Machines.
func (b *bridge) Progress(m domain.Machine, medium uint64) (float64, bool) {
	return b.inventory.Progress(m, medium)
}

// Ready implements redfish.Machines.
func (b *bridge) Ready() error { return b.ready() }
