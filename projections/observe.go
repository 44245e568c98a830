package projections

import (
	"fmt"
	"slices"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Observe gives the events that the world shows and the log does not say yet; append them and look again.
//
// Some of them say that something is not there (any more). They are right only if the log did not change while the
// world was read: whoever calls Observe has to make sure that the state's Seq was the same before and after.
func Observe(s State, w domain.World, now time.Time, limits domain.Limits) []domain.Event {
	d := decision{s: s, w: w, now: now, limits: limits}
	if s.Seq == 0 {
		if w.VM != nil {
			d.adopt()
		}
		return d.events
	}
	for _, look := range []func(){d.lost, d.media, d.power, d.boot} {
		if look(); len(d.events) > 0 {
			return d.events
		}
	}
	return nil
}

// adopt begins a log, with what the machine is doing: from its first event on, a machine that runs is not shown as off.
func (d *decision) adopt() {
	d.append(domain.ByWatch, 0, "", domain.MachineAdopted{Machine: d.s.Machine})
	d.power()
}

func (d *decision) lost() {
	if d.w.VM != nil || d.s.Lost {
		return
	}
	const reason = "the VM is gone"
	d.append(domain.ByWatch, 0, "", domain.MachineLost{Reason: reason})
	if p := d.s.Power; p.Phase != PowerSettled {
		d.append(domain.ByGate, p.Intent.Seq, p.Intent.Corr, domain.PowerCancelled{Reason: reason})
	}
	if m, ok := d.s.CurrentMedium(); ok {
		d.append(domain.ByWatch, 0, "", domain.EjectRequested{Slot: m.Slot, Medium: m.Seq, Reason: reason})
	}
}

func (d *decision) media() {
	for _, m := range d.s.Media {
		v, exists := d.w.Volume(m.Volume)
		ours := exists && v.Managed && v.Medium == m.Seq
		switch m.Phase {
		case MediumRequested:
			if ours && !v.Deleting && m.Secret == "" {
				d.outcome(m, domain.ImportStarted{Volume: m.Volume, UID: v.UID})
			}
		case MediumImporting:
			d.importing(m, v, ours)
		case MediumImported:
			if slices.Contains(d.w.VM.Attached, m.Volume) {
				d.inserted(m)
			} else if !ours {
				d.failed(m, "its volume was deleted by somebody else")
			}
		case MediumInserted:
			if !slices.Contains(d.w.VM.Attached, m.Volume) {
				d.append(domain.ByWatch, 0, "", domain.EjectRequested{Slot: m.Slot, Medium: m.Seq, Reason: "somebody else took it out of the VM's template"})
				d.cancel("the medium was taken out", m.Seq)
			}
		case MediumEjecting:
			if gone(m, d.w) {
				d.append(domain.ByWorker, m.Seq, "", domain.MediaEjected{})
			}
		}
		if len(d.events) > 0 {
			return
		}
	}
}

func (d *decision) importing(m Medium, v domain.Volume, ours bool) {
	why := ""
	if v.Message != "" {
		why = ": " + v.Message
	}
	switch {
	case !ours || v.Deleting:
		d.failed(m, "its volume was deleted by somebody else")
	case v.Complete:
		d.append(domain.ByWatch, m.Seq, m.Corr, domain.ImportCompleted{Deadline: d.now.Add(d.limits.AttachDeadline)})
	case v.Failed:
		d.failed(m, "the import failed"+why)
	case v.Restarts > d.limits.ImportRestarts:
		d.failed(m, fmt.Sprintf("the importer was restarted %d times%s", v.Restarts, why))
	case !v.MovedAt.IsZero() && d.now.Sub(v.MovedAt) > d.limits.ImportStall:
		d.failed(m, fmt.Sprintf("no progress for %s%s", d.limits.ImportStall, why))
	}
}

func (d *decision) outcome(m Medium, data domain.Data) {
	d.append(domain.ByWorker, m.Seq, m.Corr, data)
}

// failed ends an import and cancels what waited for it: a failed import never powers anything on.
func (d *decision) failed(m Medium, reason string) {
	d.append(domain.ByWatch, m.Seq, m.Corr, domain.ImportFailed{Reason: reason})
	d.cancel("the import failed", m.Seq)
}

// inserted releases what waited for the medium.
func (d *decision) inserted(m Medium) {
	d.outcome(m, domain.MediaInserted{})
	p := d.s.Power
	if p.Phase != PowerDeferred || p.Held != m.Seq {
		return
	}
	released := domain.PowerReleased{Goal: p.Intent.Goal, Deadline: d.now.Add(d.limits.PowerDeadline + d.w.VM.GracePeriod)}
	switch {
	case d.w.VMI != nil:
		released.VMI = d.w.VMI.UID
	case released.Goal == domain.GoalRestart:
		released.Goal = domain.GoalStart
	}
	d.append(domain.ByGate, p.Intent.Seq, p.Intent.Corr, released)
}

func (d *decision) power() {
	p := d.s.Power
	if _, _, done := powerEffect(p, d.w); done {
		applied := domain.PowerApplied{}
		if alive(d.w) {
			applied.VMI = d.w.VMI.UID
		}
		d.append(domain.ByWorker, p.Intent.Seq, p.Intent.Corr, applied)
		return
	}
	seen, vmi := domain.PowerOff, ""
	if alive(d.w) {
		vmi = d.w.VMI.UID
		switch {
		case d.w.VMI.Deleting:
			seen = domain.PowerPoweringOff
		case d.w.VMI.Running:
			seen = domain.PowerOn
		default:
			seen = domain.PowerPoweringOn
		}
	} else if p.Expect && !settledOff(d.w) {
		return // the instance is still to come
	}
	if seen != p.Observed || vmi != p.VMI || p.Expect {
		d.append(domain.ByWatch, 0, "", domain.PowerObserved{State: seen, VMI: vmi})
	}
}

func (d *decision) boot() {
	b, vm := d.s.Boot, d.w.VM
	if vm == nil || b.Phase == BootUnset {
		return
	}
	if b.Enabled == domain.BootDisabled || b.Phase == BootConsumed {
		if !vm.Overridden {
			d.append(domain.ByWorker, b.Seq, "", domain.BootOverrideReverted{})
		}
		return
	}
	if b.Phase == BootApplied && b.Enabled == domain.BootOnce && b.Changed && alive(d.w) && d.w.VMI.UID != b.VMI && carries(*d.w.VMI, b.Target) {
		d.append(domain.ByWatch, b.Seq, "", domain.BootOverrideConsumed{VMI: d.w.VMI.UID})
		return
	}
	plan, possible := PlanBoot(vm.Devices, b.Target)
	asked := possible && sameOrder(plan, vm.Devices)
	if asked && (b.Phase == BootSet || !b.Changed) || !possible && !vm.Overridden && (b.Phase == BootSet || b.Changed) {
		d.bootApplied(domain.BootOverrideApplied{Changed: asked})
	}
}

func (d *decision) bootApplied(applied domain.BootOverrideApplied) {
	if alive(d.w) {
		applied.VMI = d.w.VMI.UID
	}
	d.append(domain.ByWorker, d.s.Boot.Seq, "", applied)
}
