package projections

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Replay folds a whole log.
func Replay(m domain.Machine, events []domain.Event) State {
	s := New(m)
	for _, e := range events {
		s = Evolve(s, e)
	}
	return s
}

// Snapshot is the state as a segment's start keeps it.
func Snapshot(s State) ([]byte, error) { return json.Marshal(s) }

// Restore reads a Snapshot. A field that this build does not know is an error: going on without it would lose what a newer
// build meant by it.
func Restore(raw []byte) (State, error) {
	var s State
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return State{}, fmt.Errorf("read a snapshot: %w", err)
	}
	return s, nil
}

// Summary is one line for people.
func Summary(s State) string {
	medium, hold := "-", "-"
	if m, ok := s.CurrentMedium(); ok {
		medium = m.Phase + " " + m.Image
	}
	if s.Power.Phase == PowerDeferred {
		hold = fmt.Sprintf("%s until %s", s.Power.Intent.ResetType, s.Power.Until.UTC().Format(time.RFC3339))
	}
	target, enabled := s.BootOverride()
	return fmt.Sprintf("machine=%s uid=%s power=%s media=%s hold=%s boot=%s/%s", s.Machine, s.Machine.UID, s.PowerState(), medium, hold, target, enabled)
}
