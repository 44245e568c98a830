package projections

import (
	"context"

	"github.com/looplab/fsm"

	"github.com/ledgerfish/ledgerfish/domain"
)

// The phases of a medium.
const (
	MediumRequested = "Requested" // nothing created yet
	MediumImporting = "Importing" // its volume exists
	MediumImported  = "Imported"  // the data is there, the VM's template does not refer to it
	MediumInserted  = "Inserted"  // the template refers to it
	MediumFailed    = "Failed"    // it will not come
	MediumEjecting  = "Ejecting"  // out of the slot, something may be left in the cluster
	MediumEjected   = "Ejected"   // nothing is left
)

// The phases of the newest power intent.
const (
	PowerSettled   = "Settled"   // there is none, or it has ended
	PowerRequested = "Requested" // to be carried out
	PowerDeferred  = "Deferred"  // held
)

// The phases of the boot override.
const (
	BootUnset    = "Unset"    // the template has its original order
	BootSet      = "Set"      // to be brought into the template
	BootApplied  = "Applied"  // in force
	BootConsumed = "Consumed" // a Once override was booted with; the original order is to be restored
)

// table is a state machine as data: rows that looplab/fsm runs, and a reason for every other cell.
type table struct {
	initial string
	rows    []row
	// refusals names, per event, why it is impossible in each phase that has no row for it.
	refusals map[domain.Type]map[string]string
}

type row struct {
	event    domain.Type
	from, to string
}

func mediumTable() table {
	const (
		noVolume = "there is no volume yet"
		started  = "the import has started already"
		done     = "the import is over"
		inserted = "the medium is inserted"
		out      = "the medium is out of the slot"
		failed   = "the medium has failed"
		gone     = "nothing is left of the medium"
		still    = "the medium is still in the slot"
	)
	return table{
		initial: MediumRequested,
		rows: []row{
			{domain.ImportStartedType, MediumRequested, MediumImporting},
			{domain.ImportCompletedType, MediumImporting, MediumImported},
			{domain.MediaInsertedType, MediumImported, MediumInserted},
			{domain.ImportFailedType, MediumRequested, MediumFailed},
			{domain.ImportFailedType, MediumImporting, MediumFailed},
			{domain.ImportFailedType, MediumImported, MediumFailed},
			{domain.ImportExpiredType, MediumRequested, MediumFailed},
			{domain.ImportExpiredType, MediumImporting, MediumFailed},
			{domain.ImportExpiredType, MediumImported, MediumFailed},
			{domain.EjectRequestedType, MediumRequested, MediumEjecting},
			{domain.EjectRequestedType, MediumImporting, MediumEjecting},
			{domain.EjectRequestedType, MediumImported, MediumEjecting},
			{domain.EjectRequestedType, MediumInserted, MediumEjecting},
			{domain.EjectRequestedType, MediumFailed, MediumEjecting},
			{domain.MediaEjectedType, MediumEjecting, MediumEjected},
		},
		refusals: map[domain.Type]map[string]string{
			domain.ImportStartedType: {MediumImporting: started, MediumImported: started, MediumInserted: inserted,
				MediumFailed: failed, MediumEjecting: out, MediumEjected: gone},
			domain.ImportCompletedType: {MediumRequested: noVolume, MediumImported: done, MediumInserted: inserted,
				MediumFailed: failed, MediumEjecting: out, MediumEjected: gone},
			domain.MediaInsertedType: {MediumRequested: noVolume, MediumImporting: "the import is not complete",
				MediumInserted: inserted, MediumFailed: failed, MediumEjecting: out, MediumEjected: gone},
			domain.ImportFailedType: {MediumInserted: inserted, MediumFailed: failed, MediumEjecting: out,
				MediumEjected: gone},
			domain.ImportExpiredType: {MediumInserted: inserted, MediumFailed: failed, MediumEjecting: out,
				MediumEjected: gone},
			domain.EjectRequestedType: {MediumEjecting: out, MediumEjected: gone},
			domain.MediaEjectedType: {MediumRequested: still, MediumImporting: still, MediumImported: still,
				MediumInserted: still, MediumFailed: still, MediumEjected: gone},
		},
	}
}

func powerTable() table {
	const (
		none    = "no power action is under way"
		running = "a power action is under way"
		held    = "the power action is held"
		notHeld = "the power action is not held"
	)
	return table{
		initial: PowerSettled,
		rows: []row{
			{domain.PowerRequestedType, PowerSettled, PowerRequested},
			{domain.PowerDeferredType, PowerRequested, PowerDeferred},
			{domain.PowerReleasedType, PowerDeferred, PowerRequested},
			{domain.PowerCancelledType, PowerRequested, PowerSettled},
			{domain.PowerCancelledType, PowerDeferred, PowerSettled},
			{domain.PowerAppliedType, PowerRequested, PowerSettled},
			{domain.PowerFailedType, PowerRequested, PowerSettled},
		},
		refusals: map[domain.Type]map[string]string{
			domain.PowerRequestedType: {PowerRequested: running, PowerDeferred: held},
			domain.PowerDeferredType:  {PowerSettled: none, PowerDeferred: held},
			domain.PowerReleasedType:  {PowerSettled: none, PowerRequested: notHeld},
			domain.PowerCancelledType: {PowerSettled: none},
			domain.PowerAppliedType:   {PowerSettled: none, PowerDeferred: held},
			domain.PowerFailedType:    {PowerSettled: none, PowerDeferred: held},
		},
	}
}

func bootTable() table {
	const (
		none   = "no boot override is set"
		notYet = "the boot override is not in the template yet"
		used   = "the boot override is used up"
	)
	return table{
		initial: BootUnset,
		rows: []row{
			{domain.BootOverrideSetType, BootUnset, BootSet},
			{domain.BootOverrideSetType, BootSet, BootSet},
			{domain.BootOverrideSetType, BootApplied, BootSet},
			{domain.BootOverrideSetType, BootConsumed, BootSet},
			{domain.BootOverrideAppliedType, BootSet, BootApplied},
			{domain.BootOverrideAppliedType, BootApplied, BootApplied},
			{domain.BootOverrideConsumedType, BootApplied, BootConsumed},
			{domain.BootOverrideRevertedType, BootSet, BootUnset},
			{domain.BootOverrideRevertedType, BootConsumed, BootUnset},
		},
		refusals: map[domain.Type]map[string]string{
			domain.BootOverrideAppliedType:  {BootUnset: none, BootConsumed: used},
			domain.BootOverrideConsumedType: {BootUnset: none, BootSet: notYet, BootConsumed: used},
			domain.BootOverrideRevertedType: {BootUnset: none, BootApplied: "the boot override is in force"},
		},
	}
}

// next runs one event through a table. A fresh machine each time, no callbacks and a context that nobody cancels:
// looplab/fsm 1.0.3 stays locked for ever when its context ends within an event.
func (t table) next(phase string, event domain.Type) (string, bool) {
	f := fsm.NewFSM(phase, t.events(), nil)
	if !f.Can(string(event)) {
		return phase, false
	}
	if err := f.Event(context.Background(), string(event)); err != nil {
		if _, same := err.(fsm.NoTransitionError); !same {
			return phase, false
		}
	}
	return f.Current(), true
}

func (t table) events() fsm.Events {
	events := make(fsm.Events, 0, len(t.rows))
	for _, r := range t.rows {
		events = append(events, fsm.EventDesc{Name: string(r.event), Src: []string{r.from}, Dst: r.to})
	}
	return events
}

// allows tells whether the event is possible in the phase, and if not, why.
func (t table) allows(phase string, event domain.Type) (bool, string) {
	if _, ok := t.next(phase, event); ok {
		return true, ""
	}
	return false, t.refusals[event][phase]
}
