package projections

import (
	"github.com/ledgerfish/ledgerfish/domain"
)

// PowerState is what the System shows. A hold and a start under way show PoweringOn, so a client that waits for On is
// content however long the import takes; a stop under way shows PoweringOff.
func (s State) PowerState() domain.PowerState {
	p := s.Power
	switch {
	case s.Lost:
		return domain.PowerOff
	case p.Phase == PowerDeferred:
		return domain.PowerPoweringOn
	case p.Phase == PowerRequested && p.Intent.Goal != domain.GoalStop:
		return domain.PowerPoweringOn
	case p.Phase == PowerRequested && p.Observed != domain.PowerOff:
		return domain.PowerPoweringOff
	case p.Phase == PowerSettled && p.Expect && (p.Observed == domain.PowerOff || p.Observed == domain.PowerPoweringOff):
		return domain.PowerPoweringOn
	}
	return p.Observed
}

// BootOverride is what the System's Boot shows. A Once override that was booted with reads as Disabled.
func (s State) BootOverride() (domain.BootTarget, domain.BootEnabled) {
	if s.Boot.Phase == BootConsumed || s.Boot.Phase == BootUnset {
		return domain.BootNone, domain.BootDisabled
	}
	return s.Boot.Target, s.Boot.Enabled
}

// Problem tells what a person has to know about the machine: a failed medium, a refused, cancelled or failed power
// request. Empty: nothing.
func (s State) Problem() string {
	if m, failed := s.ImportFailed(); failed {
		return "import of " + m.Image + " failed: " + m.Reason
	}
	return s.Power.Problem
}

// Waiting tells what the machine is held for; empty when it is not held.
func (s State) Waiting() string {
	if s.Power.Phase != PowerDeferred {
		return ""
	}
	m, _ := s.Medium(s.Power.Held)
	return string(s.Power.Intent.ResetType) + " waits for " + m.Image
}

// TaskOf gives the task of the intent with that seq, if it is still remembered.
func (s State) TaskOf(seq uint64) (Task, bool) {
	for _, t := range s.Tasks {
		if t.Seq == seq {
			return t, true
		}
	}
	return Task{}, false
}
