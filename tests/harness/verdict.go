package harness

import (
	"fmt"
	"slices"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Starts are the instances of a machine so far, in order.
func (w *Witness) Starts(m VM) []Start {
	w.mu.Lock()
	defer w.mu.Unlock()
	starts := slices.Clone(w.starts[m.String()])
	for i, s := range starts {
		starts[i].Fence, starts[i].Decided = w.fenceAt(m, s.Revision)
	}
	return starts
}

// fenceAt is the VM's power fence at a revision, and the revision that brought it.
func (w *Witness) fenceAt(m VM, revision uint64) (fence domain.Fence, since uint64) {
	since = revision
	for _, vm := range w.vms[m.String()] {
		if vm.revision > revision {
			break
		}
		f := domain.ParseFence(m.Machine, vm.object.Annotations[domain.AnnotationPower])
		if f != fence {
			fence, since = f, vm.revision
		}
	}
	return fence, since
}

// EarlyStarts tells which starts of a machine came before its medium: the instance's spec has none, or its import had
// not Succeeded, or its claim was not Bound, when the start was decided. For machines whose every start follows an
// insert; it needs no log.
func (w *Witness) EarlyStarts(m VM) (early []string) {
	for _, s := range w.Starts(m) {
		if len(s.Claims) == 0 {
			early = append(early, fmt.Sprintf("%s: instance %s was started without a medium", m, s.VMI))
		}
		for _, claim := range s.Claims {
			if why := w.incomplete(m, claim, s.Decided); why != "" {
				early = append(early, fmt.Sprintf("%s: instance %s was started %s", m, s.VMI, why))
			}
		}
	}
	return early
}

// incomplete tells why a volume was not ready at a revision; empty: it was.
func (w *Witness) incomplete(m VM, claim string, at uint64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	complete, ok := w.volumes[m.Namespace+"/"+claim].complete()
	switch {
	case !ok:
		return fmt.Sprintf("with volume %s, which has never become complete", claim)
	case complete > at:
		return fmt.Sprintf("at revision %d, volume %s was complete at %d", at, claim, complete)
	}
	return ""
}

// BrokenOrders holds every start of a machine against its log (invariants I1 and I7): a start that obeys power intent P
// must have the medium of every insert before P in it, complete, unless that was ejected or replaced before P; an intent
// starts a machine once; a cancelled or refused one never.
func (w *Witness) BrokenOrders(m VM, log []domain.Event) (broken []string) {
	obeyed := map[uint64]int{}
	for _, s := range w.Starts(m) {
		if s.Fence.Step != domain.StepStart {
			broken = append(broken, fmt.Sprintf("%s: instance %s was started by nobody of ours (fence %+v)", m, s.VMI, s.Fence))
			continue
		}
		if obeyed[s.Fence.Seq]++; obeyed[s.Fence.Seq] > 1 {
			broken = append(broken, fmt.Sprintf("%s: power intent %d started it %d times", m, s.Fence.Seq, obeyed[s.Fence.Seq]))
		}
		if medium := wantedMedium(log, s.Fence.Seq); medium != 0 {
			claim := domain.VolumeName(m.Machine, medium)
			switch why := w.incomplete(m, claim, s.Decided); {
			case !slices.Contains(s.Claims, claim):
				broken = append(broken, fmt.Sprintf("%s: power intent %d started it with %v, not with %s", m, s.Fence.Seq, s.Claims, claim))
			case why != "":
				broken = append(broken, fmt.Sprintf("%s: power intent %d started it %s", m, s.Fence.Seq, why))
			}
		}
	}
	for _, e := range log {
		if e.Type == domain.PowerCancelledType && obeyed[e.Cause] > 0 {
			broken = append(broken, fmt.Sprintf("%s: power intent %d was cancelled and has started it", m, e.Cause))
		}
	}
	return broken
}

// wantedMedium is the medium in the slot when a power intent was accepted; 0: none.
func wantedMedium(log []domain.Event, intent uint64) (medium uint64) {
	for _, e := range log {
		if e.Seq >= intent {
			break
		}
		switch e.Type {
		case domain.MediaRequestedType:
			medium = e.Seq
		case domain.EjectRequestedType:
			medium = 0
		}
	}
	return medium
}

// Err tells that a watch broke, so that a verdict would be worth nothing.
func (w *Witness) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}
