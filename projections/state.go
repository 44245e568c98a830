package projections

import (
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// State is what the log of one machine means. It is a value: Evolve gives a new one and shares no memory that changes.
type State struct {
	Machine domain.Machine `json:"machine"`
	Seq     uint64         `json:"seq"`               // of the last event
	Lost    bool           `json:"lost,omitempty"`    // the VM is gone
	Media   []Medium       `json:"media,omitempty"`   // by seq; those of which something may be left in the cluster, and the current one
	Current uint64         `json:"current,omitempty"` // seq of the slot's medium; 0: the slot is empty
	Power   Power          `json:"power"`
	Boot    Boot           `json:"boot"`
	Tasks   []Task         `json:"tasks,omitempty"` // the newest maxTasks, by seq
}

// Medium is one insert, from its request until nothing of it is left.
type Medium struct {
	Seq      uint64    `json:"seq"`   // of its MediaRequested: its id
	Phase    string    `json:"phase"` // see tables.go
	Slot     string    `json:"slot"`
	Image    string    `json:"image"` // redacted
	Digest   string    `json:"digest"`
	Secret   string    `json:"secret,omitempty"`
	Insecure bool      `json:"insecure,omitempty"`
	Volume   string    `json:"volume"`
	UID      string    `json:"uid,omitempty"` // of the DataVolume
	Deadline time.Time `json:"deadline"`      // of the import, then of the attach
	Corr     string    `json:"corr,omitempty"`
	Reason   string    `json:"reason,omitempty"` // why it failed
	Eject    uint64    `json:"eject,omitempty"`  // seq of its EjectRequested
}

// Power is the newest power intent, and what the cluster showed last.
type Power struct {
	Phase    string            `json:"phase"`          // of the intent, see tables.go; PowerSettled: there is none
	Intent   Intent            `json:"intent"`         // the newest, also when it is settled
	Held     uint64            `json:"held,omitempty"` // the medium that the intent waits, or has waited, for
	Until    time.Time         `json:"until,omitzero"` // when that wait ends
	Observed domain.PowerState `json:"observed"`
	VMI      string            `json:"vmi,omitempty"`     // UID of the observed instance
	Expect   bool              `json:"expect,omitempty"`  // a start was applied and its instance not seen yet
	Problem  string            `json:"problem,omitempty"` // why the newest power request came to nothing
}

// Intent is one PowerRequested.
type Intent struct {
	Seq       uint64           `json:"seq,omitempty"`
	ResetType domain.ResetType `json:"resetType,omitempty"`
	Goal      domain.Goal      `json:"goal,omitempty"`
	Force     bool             `json:"force,omitempty"`
	VMI       string           `json:"vmi,omitempty"` // UID of the instance it ends
	By        string           `json:"by,omitempty"`
	At        time.Time        `json:"at,omitzero"`
	Deadline  time.Time        `json:"deadline,omitzero"`
	Corr      string           `json:"corr,omitempty"`
}

// Boot is the boot override.
type Boot struct {
	Phase   string             `json:"phase"`         // see tables.go
	Seq     uint64             `json:"seq,omitempty"` // of the BootOverrideSet in force
	Target  domain.BootTarget  `json:"target"`
	Enabled domain.BootEnabled `json:"enabled"`
	VMI     string             `json:"vmi,omitempty"`     // UID of the instance that ran when it was applied
	Changed bool               `json:"changed,omitempty"` // the template's order is the override's
	Refused bool               `json:"refused,omitempty"` // the cluster does not take the order
}

// Task is what became of one request.
type Task struct {
	ID       string    `json:"id"`   // Event.Corr
	Seq      uint64    `json:"seq"`  // of its intent
	Name     string    `json:"name"` // the intent's type
	State    TaskState `json:"state"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end,omitzero"`
	Message  string    `json:"message,omitempty"` // why it failed, or what it waits for
	Repeated time.Time `json:"repeated,omitzero"` // of the newest RequestRepeated
}

// TaskState is a Redfish TaskState (Task schema).
type TaskState string

// The task states that occur.
const (
	TaskPending   TaskState = "Pending" // held
	TaskRunning   TaskState = "Running"
	TaskCompleted TaskState = "Completed"
	TaskException TaskState = "Exception"
	TaskCancelled TaskState = "Cancelled"
)

// maxTasks bounds how many tasks a machine remembers; the log has them all.
const maxTasks = 32

// New is the state of an empty log.
func New(m domain.Machine) State {
	return State{Machine: m,
		Power: Power{Phase: PowerSettled, Observed: domain.PowerOff},
		Boot:  Boot{Phase: BootUnset, Target: domain.BootNone, Enabled: domain.BootDisabled}}
}

// Medium gives the medium of that seq.
func (s State) Medium(seq uint64) (Medium, bool) {
	for _, m := range s.Media {
		if m.Seq == seq {
			return m, true
		}
	}
	return Medium{}, false
}

// CurrentMedium is the slot's medium; false: the slot is empty.
func (s State) CurrentMedium() (Medium, bool) { return s.Medium(s.Current) }

// Task gives the task of that id.
func (s State) Task(id string) (Task, bool) {
	for _, t := range s.Tasks {
		if t.ID == id {
			return t, true
		}
	}
	return Task{}, false
}

// ImportPending tells whether the slot's medium is still to come: the gate's "import pending" column.
func (s State) ImportPending() (Medium, bool) {
	m, ok := s.CurrentMedium()
	return m, ok && (m.Phase == MediumRequested || m.Phase == MediumImporting || m.Phase == MediumImported)
}

// ImportFailed tells whether the slot's medium will not come: the gate's "media Failed" column.
func (s State) ImportFailed() (Medium, bool) {
	m, ok := s.CurrentMedium()
	return m, ok && m.Phase == MediumFailed
}
