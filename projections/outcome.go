package projections

import (
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Outcome gives the events that a done effect appends, on the state and the world that it was chosen by. None: the world
// will show what came of it, and Observe tells. A terminal error is an outcome too; a transient one is not.
func Outcome(s State, w domain.World, e domain.Effect, r domain.Result, now time.Time, limits domain.Limits) []domain.Event {
	d := decision{s: s, w: w, now: now, limits: limits}
	switch e := e.(type) {
	case domain.CreateVolume:
		m, ok := s.Medium(e.Medium)
		switch {
		case !ok || m.Phase != MediumRequested:
		case r.Err != nil:
			d.failed(m, "the import could not start: "+r.Err.Error())
		default:
			d.outcome(m, domain.ImportStarted{Volume: e.Volume, UID: r.UID})
		}
	case domain.AttachMedia:
		m, ok := s.Medium(e.Medium)
		switch {
		case !ok || m.Phase != MediumImported:
		case r.Err != nil:
			d.failed(m, "the medium could not be attached: "+r.Err.Error())
		default:
			d.inserted(m)
		}
	case domain.DeleteVolume:
		if r.Err == nil && e.Reason != "" {
			d.append(domain.ByWorker, e.Medium, "", domain.VolumeSwept{Volume: e.Volume, UID: e.UID, Reason: e.Reason})
		}
	case domain.DropDisk:
		if r.Err == nil {
			d.append(domain.ByWorker, 0, "", domain.VolumeSwept{Volume: e.Volume, Reason: "no medium of the log is in the VM's template under this name"})
		}
	case domain.SetBootOrder:
		switch {
		case s.Boot.Seq != e.Seq:
		case r.Err != nil: // an order that the cluster does not take must not block a start
			d.bootApplied(domain.BootOverrideApplied{Refused: r.Err.Error()})
		default:
			d.bootApplied(domain.BootOverrideApplied{Changed: true})
		}
	case domain.StartMachine:
		d.started(e.Seq, e.Manual, r)
	case domain.StopMachine:
		if r.Err != nil {
			d.started(e.Seq, true, r)
		}
	}
	return d.events
}

// started ends a power intent that the cluster has taken for good, or turned down for good.
func (d *decision) started(seq uint64, worldTells bool, r domain.Result) {
	p := d.s.Power
	if p.Phase != PowerRequested || p.Intent.Seq != seq {
		return
	}
	if r.Err != nil {
		d.append(domain.ByWorker, seq, p.Intent.Corr, domain.PowerFailed{Reason: r.Err.Error()})
	} else if !worldTells {
		d.append(domain.ByWorker, seq, p.Intent.Corr, domain.PowerApplied{})
	}
}
