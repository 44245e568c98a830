package projections

import (
	"github.com/ledgerfish/ledgerfish/domain"
)

// reset is the table of the gate for power actions: a column by what is pending, a row by what is asked.
func (d *decision) reset(reset domain.ResetType) (Answer, error) {
	if seq, again := d.sentAgain(reset); again {
		return d.repeated(seq), nil
	}
	on := d.on()
	switch reset {
	case domain.ResetOn, domain.ResetForceOn:
		return d.start(reset, on)
	case domain.ResetForceOff:
		return d.stop(reset, on, true)
	case domain.ResetGracefulShutdown:
		return d.stop(reset, on, false)
	case domain.ResetForceRestart, domain.ResetPowerCycle:
		return d.restart(reset, on, true)
	case domain.ResetGracefulRestart:
		return d.restart(reset, on, false)
	case domain.ResetPushPowerButton:
		if on {
			return d.stop(reset, on, false)
		}
		return d.start(reset, on)
	}
	return Answer{}, domain.Errorf(domain.CodeInvalid, "%q is no reset type of this machine", reset).At("ResetType")
}

// sentAgain tells whether a restart or a button is the newest power intent sent again: what cannot be told by the state
// that it leads to. One that came to nothing is not: doing it now does it once.
func (d *decision) sentAgain(reset domain.ResetType) (seq uint64, again bool) {
	switch reset {
	case domain.ResetForceRestart, domain.ResetPowerCycle, domain.ResetGracefulRestart, domain.ResetPushPowerButton:
	default:
		return 0, false
	}
	p := d.s.Power.Intent
	again = p.ResetType == reset && p.By == d.r.By && d.now.Sub(p.At) < repeatWindow && !d.cameToNothing(p.Seq)
	return p.Seq, again
}

// on: the goal of the newest unfinished power intent, else the instance. An applied start whose instance has not been
// seen yet counts; an instance that is going away does not.
func (d *decision) on() bool {
	if d.s.Power.Phase != PowerSettled && !d.overdue() {
		return d.s.Power.Intent.Goal != domain.GoalStop
	}
	return d.s.Power.Expect && !settledOff(d.w) || alive(d.w) && !stopping(d.w)
}

// overdue tells whether the unfinished power intent is past its deadline, so that nobody can be told to wait for it.
func (d *decision) overdue() bool {
	return d.s.Power.Phase == PowerRequested && d.now.After(d.s.Power.Intent.Deadline)
}

func (d *decision) start(reset domain.ResetType, on bool) (Answer, error) {
	if on {
		return d.noop(domain.GoalStart), nil
	}
	return d.powerOn(reset, domain.GoalStart, false)
}

func (d *decision) restart(reset domain.ResetType, on, force bool) (Answer, error) {
	if on && alive(d.w) {
		return d.powerOn(reset, domain.GoalRestart, force)
	}
	return d.powerOn(reset, domain.GoalStart, force)
}

// powerOn accepts, holds or refuses what ends with a running machine.
func (d *decision) powerOn(reset domain.ResetType, goal domain.Goal, force bool) (Answer, error) {
	if m, failed := d.s.ImportFailed(); failed {
		reason := "the import of " + m.Image + " failed (" + m.Reason + "); eject it or insert another image first"
		return Answer{}, d.refuse(domain.PowerRefused{ResetType: reset, Reason: reason}, reason)
	}
	seq := d.request(reset, goal, force)
	if m, hold := mustHold(d.s); hold {
		d.append(domain.ByGate, seq, d.r.ID, domain.PowerDeferred{Media: m.Seq, Until: m.Deadline})
	}
	return Answer{Task: d.r.ID}, nil
}

func (d *decision) stop(reset domain.ResetType, on, force bool) (Answer, error) {
	p := d.s.Power
	if p.Phase == PowerRequested && p.Intent.Goal == domain.GoalStop && (p.Intent.Force || !force) && !d.overdue() {
		return d.repeated(p.Intent.Seq), nil
	}
	if !on && p.Phase == PowerSettled && staysOff(d.w) {
		return d.noop(domain.GoalStop), nil
	}
	d.request(reset, domain.GoalStop, force)
	return Answer{Task: d.r.ID}, nil
}

// request ends what is unfinished, for the newest intent wins, and begins a new intent.
func (d *decision) request(reset domain.ResetType, goal domain.Goal, force bool) uint64 {
	if p := d.s.Power; p.Phase != PowerSettled {
		d.append(domain.ByGate, p.Intent.Seq, p.Intent.Corr, domain.PowerCancelled{Reason: "a newer " + string(reset) + " replaced it"})
	}
	data := domain.PowerRequested{ResetType: reset, Goal: goal, Force: force, Deadline: d.now.Add(d.limits.PowerDeadline + d.w.VM.GracePeriod)}
	if d.w.VMI != nil {
		data.VMI = d.w.VMI.UID
	}
	return d.intent(data)
}

// noop answers a request for what is so already: with the Task of the intent that made it so, if that is known. An intent
// that came to nothing has not made it so.
func (d *decision) noop(goal domain.Goal) Answer {
	p := d.s.Power.Intent
	if p.Seq == 0 || (p.Goal == domain.GoalStop) != (goal == domain.GoalStop) || d.cameToNothing(p.Seq) {
		return Answer{}
	}
	return d.repeated(p.Seq)
}

// cameToNothing tells whether the intent with that seq was cancelled or has failed.
func (d *decision) cameToNothing(seq uint64) bool {
	t, _ := d.s.TaskOf(seq)
	return t.State == TaskCancelled || t.State == TaskException
}

// alive tells whether an instance exists that has not ended.
func alive(w domain.World) bool { return w.VMI != nil && !w.VMI.Final }

// stopping tells whether the instance is on its way out, or will be as soon as virt-controller looks.
func stopping(w domain.World) bool {
	return w.VMI != nil && (w.VMI.Deleting || w.VM != nil && (w.VM.RunStrategy == domain.RunHalted || w.VM.StopQueued))
}

// settledOff tells whether the machine is off and nothing in the VM will start it by itself. Being on or off has no
// compare-and-set to protect it, so a request of somebody else that virt-controller has not acted on yet counts.
func settledOff(w domain.World) bool {
	if alive(w) || w.VM == nil || w.VM.StartQueued {
		return false
	}
	switch w.VM.RunStrategy {
	case domain.RunHalted, domain.RunManual:
		return true
	case domain.RunAlways:
		return false
	}
	return w.VM.StatusRunStrategy == w.VM.RunStrategy
}

// staysOff tells whether the machine is off and virt-controller would not start it, whatever its last instance came to:
// under RerunOnFailure one that has crashed is run again after a while.
func staysOff(w domain.World) bool {
	return settledOff(w) && (w.VM.RunStrategy == domain.RunHalted || w.VM.RunStrategy == domain.RunManual)
}
