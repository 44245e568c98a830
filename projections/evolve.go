package projections

import (
	"slices"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Evolve is what one more event means. An event that the tables refuse changes nothing but Seq: the log is what it is,
// and a state that it cannot mean is not made up.
func Evolve(s State, e domain.Event) State {
	s.Seq = e.Seq
	s.Media = slices.Clone(s.Media)
	s.Tasks = slices.Clone(s.Tasks)
	switch d := e.Data.(type) {
	case domain.MachineAdopted:
		s.Machine = d.Machine
	case domain.MachineLost:
		s.Lost = true
		s.Power.Observed, s.Power.VMI, s.Power.Expect = domain.PowerOff, "", false
		s.Boot = New(s.Machine).Boot // there is no template to bring it into, or to restore
	case domain.RequestRepeated:
		s.task(e.Cause, func(t *Task) { t.Repeated = e.Time })
	case domain.MediaRefused:
		s.addRefusal(e)
	case domain.PowerRefused:
		s.addRefusal(e)
		s.Power.Problem = refusalOf(d)
	case domain.MediaRequested, domain.ImportStarted, domain.ImportCompleted, domain.MediaInserted, domain.ImportFailed,
		domain.ImportExpired, domain.EjectRequested, domain.MediaEjected:
		s.evolveMedia(e)
	case domain.BootOverrideSet, domain.BootOverrideApplied, domain.BootOverrideConsumed, domain.BootOverrideReverted:
		s.evolveBoot(e)
	default:
		s.evolvePower(e)
	}
	return s
}

func (s *State) evolveMedia(e domain.Event) {
	if d, ok := e.Data.(domain.MediaRequested); ok {
		s.Media = append(s.Media, Medium{Seq: e.Seq, Phase: mediumTable().initial, Slot: d.Slot, Image: d.Image, Digest: d.Digest,
			Secret: d.Secret, Insecure: d.Insecure, Volume: domain.VolumeName(s.Machine, e.Seq), Deadline: d.Deadline, Corr: e.Corr})
		s.Current = e.Seq
		s.Power.Problem = ""
		s.addTask(Task{ID: e.Corr, Seq: e.Seq, Name: "InsertMedia", State: TaskRunning, Start: e.Time, Message: d.Image})
		return
	}
	seq := e.Cause
	if d, ok := e.Data.(domain.EjectRequested); ok {
		seq = d.Medium
	}
	i := slices.IndexFunc(s.Media, func(m Medium) bool { return m.Seq == seq })
	if i < 0 {
		return
	}
	m := &s.Media[i]
	next, ok := mediumTable().next(m.Phase, e.Type)
	if !ok {
		return
	}
	m.Phase = next
	switch d := e.Data.(type) {
	case domain.ImportStarted:
		m.UID = d.UID
	case domain.ImportCompleted:
		m.Deadline = d.Deadline
		if s.Power.Phase == PowerDeferred && s.Power.Held == seq {
			s.Power.Until = d.Deadline
		}
	case domain.MediaInserted:
		s.endTask(seq, TaskCompleted, e.Time, "")
	case domain.ImportFailed:
		m.Reason = d.Reason
		s.endTask(seq, TaskException, e.Time, d.Reason)
	case domain.ImportExpired:
		m.Reason = "not done by " + d.Deadline.UTC().Format(time.RFC3339)
		s.endTask(seq, TaskException, e.Time, m.Reason)
	case domain.EjectRequested:
		m.Eject = e.Seq
		if s.Current == seq {
			s.Current = 0
		}
		s.Power.Problem = ""
		s.endTask(seq, TaskCancelled, e.Time, "ejected")
		s.addTask(Task{ID: e.Corr, Seq: e.Seq, Name: "EjectMedia", State: TaskRunning, Start: e.Time, Message: m.Image})
	case domain.MediaEjected:
		s.endTask(m.Eject, TaskCompleted, e.Time, "")
		s.Media = slices.Delete(s.Media, i, i+1)
	}
}

func (s *State) evolvePower(e domain.Event) {
	p := &s.Power
	if d, ok := e.Data.(domain.PowerObserved); ok {
		p.Observed, p.VMI, p.Expect = d.State, d.VMI, false
		return
	}
	next, ok := powerTable().next(p.Phase, e.Type)
	if !ok || e.Type != domain.PowerRequestedType && e.Cause != p.Intent.Seq {
		return
	}
	p.Phase = next
	switch d := e.Data.(type) {
	case domain.PowerRequested:
		p.Intent = Intent{Seq: e.Seq, ResetType: d.ResetType, Goal: d.Goal, Force: d.Force, VMI: d.VMI, By: e.By, At: e.Time,
			Deadline: d.Deadline, Corr: e.Corr}
		p.Problem, p.Held = "", 0
		s.addTask(Task{ID: e.Corr, Seq: e.Seq, Name: string(d.ResetType), State: TaskRunning, Start: e.Time})
	case domain.PowerDeferred:
		p.Held, p.Until = d.Media, d.Until
		s.task(e.Cause, func(t *Task) { t.State, t.Message = TaskPending, s.Waiting() })
	case domain.PowerReleased:
		p.Until = time.Time{}
		p.Intent.Goal, p.Intent.VMI, p.Intent.Deadline = d.Goal, d.VMI, d.Deadline
		s.task(e.Cause, func(t *Task) { t.State, t.Message = TaskRunning, "" })
	case domain.PowerCancelled:
		p.Held, p.Until = 0, time.Time{}
		if _, failed := s.ImportFailed(); failed {
			p.Problem = string(p.Intent.ResetType) + " was cancelled: " + d.Reason
		}
		s.endTask(e.Cause, TaskCancelled, e.Time, d.Reason)
	case domain.PowerApplied:
		seen := p.VMI != "" && p.VMI != p.Intent.VMI && (p.Observed == domain.PowerOn || p.Observed == domain.PowerPoweringOn)
		p.Expect = p.Intent.Goal != domain.GoalStop && !seen
		s.endTask(e.Cause, TaskCompleted, e.Time, "")
	case domain.PowerFailed:
		p.Problem = string(p.Intent.ResetType) + " failed: " + d.Reason
		s.endTask(e.Cause, TaskException, e.Time, d.Reason)
	}
}

func (s *State) evolveBoot(e domain.Event) {
	next, ok := bootTable().next(s.Boot.Phase, e.Type)
	if !ok || e.Type != domain.BootOverrideSetType && e.Cause != s.Boot.Seq {
		return
	}
	s.Boot.Phase = next
	switch d := e.Data.(type) {
	case domain.BootOverrideSet:
		s.Boot = Boot{Phase: next, Seq: e.Seq, Target: d.Target, Enabled: d.Enabled}
	case domain.BootOverrideApplied:
		s.Boot.VMI, s.Boot.Changed, s.Boot.Refused = d.VMI, d.Changed, d.Refused != ""
	case domain.BootOverrideReverted:
		s.Boot = New(s.Machine).Boot
	}
}

func (s *State) addTask(t Task) {
	if t.ID == "" {
		return
	}
	s.Tasks = append(s.Tasks, t)
	if n := len(s.Tasks) - maxTasks; n > 0 {
		s.Tasks = s.Tasks[n:]
	}
}

func (s *State) addRefusal(e domain.Event) {
	s.addTask(Task{ID: e.Corr, Seq: e.Seq, Name: string(e.Type), State: TaskException, Start: e.Time, End: e.Time, Message: refusalOf(e.Data)})
}

// refusalOf says what was refused, and why.
func refusalOf(d domain.Data) string {
	switch d := d.(type) {
	case domain.MediaRefused:
		return d.Image + " was refused: " + d.Reason
	case domain.PowerRefused:
		return string(d.ResetType) + " was refused: " + d.Reason
	}
	return ""
}

func (s *State) task(seq uint64, change func(*Task)) {
	for i := range s.Tasks {
		if s.Tasks[i].Seq == seq {
			change(&s.Tasks[i])
		}
	}
}

// endTask ends the task of an intent unless it has ended before.
func (s *State) endTask(seq uint64, state TaskState, at time.Time, message string) {
	s.task(seq, func(t *Task) {
		if t.End.IsZero() {
			t.State, t.End, t.Message = state, at, message
		}
	})
}
