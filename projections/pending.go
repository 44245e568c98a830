package projections

import (
	"slices"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Pending gives the effects that have to be done, in order, by the difference between the log and the world. Only the
// first is known to be possible; the next call, on a newer world, tells what comes then. What has to be waited for is no
// effect: an instance that is going away, a volume that is being deleted, an import that runs.
//
// A stop comes first, for it needs nothing else. Then what changes the template, then a start, which is there only when
// everything that was asked before it is in the template as it was read. Creating and deleting volumes, which may take
// long or fail, come last and delay nobody.
func Pending(s State, w domain.World) []domain.Effect {
	var template, volumes []domain.Effect
	for _, m := range s.Media {
		t, v := mediumEffects(m, w)
		template, volumes = append(template, t...), append(volumes, v...)
	}
	if w.VM == nil || s.Lost {
		return volumes
	}
	template = append(template, bootEffects(s, w)...)
	power, isStop, _ := powerEffect(s.Power, w)
	switch {
	case power == nil:
		return slices.Concat(template, volumes)
	case isStop || len(template) == 0:
		return slices.Concat([]domain.Effect{power}, template, volumes)
	}
	return slices.Concat(template, volumes)
}

func mediumEffects(m Medium, w domain.World) (template, volumes []domain.Effect) {
	v, exists := w.Volume(m.Volume)
	ours := exists && v.Managed && v.Medium == m.Seq
	attached := w.VM != nil && slices.Contains(w.VM.Attached, m.Volume)
	switch m.Phase {
	case MediumRequested:
		// A volume that is there is made again when it needs credentials, which come after it: there is one all the same.
		if w.VM != nil && (!ours || m.Secret != "" && !v.Deleting) {
			volumes = append(volumes, domain.CreateVolume{Medium: m.Seq, Volume: m.Volume, Image: m.Image, Secret: m.Secret, Insecure: m.Insecure})
		}
	case MediumImported:
		if w.VM != nil && !attached && w.VM.MediaFence.Seq < m.Seq {
			template = append(template, domain.AttachMedia{Medium: m.Seq, Volume: m.Volume, Drop: w.VM.Attached})
		}
	case MediumFailed, MediumEjecting:
		if w.VM != nil && (attached || w.VM.MediaFence.Seq < m.Seq) {
			return []domain.Effect{domain.DetachMedia{Medium: m.Seq, Volume: m.Volume}}, nil
		}
		if ours && !v.Deleting {
			reason := ""
			if m.Phase == MediumFailed {
				reason = "its import failed"
			}
			volumes = append(volumes, domain.DeleteVolume{Medium: m.Seq, Volume: m.Volume, UID: v.UID, Reason: reason})
		}
	}
	return template, volumes
}

// gone tells whether nothing of the medium is left in the cluster, nor can come back into the template.
func gone(m Medium, w domain.World) bool {
	v, exists := w.Volume(m.Volume)
	if exists && v.Managed && v.Medium == m.Seq {
		return false
	}
	return w.VM == nil || w.VM.MediaFence.Seq >= m.Seq && !slices.Contains(w.VM.Attached, m.Volume)
}

func bootEffects(s State, w domain.World) []domain.Effect {
	b := s.Boot
	if b.Enabled == domain.BootDisabled || b.Phase == BootConsumed {
		if w.VM.Overridden {
			return []domain.Effect{domain.RestoreBootOrder{Seq: b.Seq}}
		}
		return nil
	}
	plan, possible := PlanBoot(w.VM.Devices, b.Target)
	switch {
	case !possible && w.VM.Overridden:
		return []domain.Effect{domain.RestoreBootOrder{Seq: b.Seq}} // the order of an older override, or of a device that is gone
	case !possible || b.Refused || sameOrder(plan, w.VM.Devices):
		return nil
	case b.Phase == BootSet || !b.Changed || starting(s.Power):
		return []domain.Effect{domain.SetBootOrder{Seq: b.Seq, Target: b.Target}}
	}
	return nil // somebody changed the order by hand since: theirs, until the next start
}

func starting(p Power) bool {
	return p.Phase == PowerRequested && p.Intent.Goal != domain.GoalStop
}

// powerEffect gives the next step of the power intent, or none when there is nothing to do but wait. done: the intent
// has been carried out.
func powerEffect(p Power, w domain.World) (effect domain.Effect, isStop, done bool) {
	if p.Phase != PowerRequested || w.VM == nil || w.VM.PowerFence.Seq > p.Intent.Seq {
		return nil, false, false
	}
	i, fence := p.Intent, w.VM.PowerFence
	at := fence.Step
	if fence.Seq < i.Seq {
		at = domain.StepNone
	}
	if i.Goal != domain.GoalStart && at != domain.StepStart {
		if effect, stopped := stopEffect(i, at, w); !stopped || i.Goal == domain.GoalStop {
			return effect, true, stopped
		}
	}
	effect, isStop, done = startEffect(i, at, w)
	return effect, isStop, done
}

// stopEffect brings the intent's instance to its end. stopped: it is gone.
func stopEffect(i Intent, at domain.Step, w domain.World) (effect domain.Effect, stopped bool) {
	manual := w.VM.RunStrategy == domain.RunManual
	stop := domain.StopMachine{Seq: i.Seq, Manual: manual}
	if alive(w) {
		stop.VMI = w.VMI.UID
	}
	switch {
	case at != domain.StepStop:
		return stop, false
	case !alive(w) || i.VMI != "" && w.VMI.UID != i.VMI:
		return nil, true
	case !stopping(w) && manual:
		return stop, false // the request was lost between its two writes
	case !stopping(w):
		return nil, true // somebody else has started it since
	case i.Force:
		return domain.ForceStop{Seq: i.Seq, VMI: w.VMI.UID}, false
	}
	return nil, false
}

// startEffect starts the machine once its old instance is gone. done: the start is in the VM, whatever becomes of it.
func startEffect(i Intent, at domain.Step, w domain.World) (effect domain.Effect, isStop, done bool) {
	manual := w.VM.RunStrategy == domain.RunManual
	switch {
	case at == domain.StepStart && !manual:
		return nil, false, true
	case at == domain.StepStart && w.VMI != nil && w.VMI.UID != i.VMI:
		return nil, false, true // also when it has ended since: one intent starts a machine once
	case alive(w) && !stopping(w) && (i.Goal == domain.GoalStart || w.VMI.UID != i.VMI):
		return nil, false, true // somebody else has started it
	case alive(w) || w.VM.StartQueued:
		return nil, false, false
	case manual:
		return domain.StartMachine{Seq: i.Seq, Manual: true}, false, false
	case w.VM.RunStrategy != domain.RunHalted:
		// Its instance has ended by itself. Writing the same strategy again would do nothing: halt it first.
		return domain.StopMachine{Seq: i.Seq}, true, false
	case w.VM.StatusRunStrategy != domain.RunHalted && w.VM.StatusRunStrategy != "":
		return nil, false, false // virt-controller has not seen the halt; it would swallow the pair
	}
	return domain.StartMachine{Seq: i.Seq}, false, false
}
