package projections

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

// history is a log in which every part of a state is used at one point or another.
func history() []domain.Event {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	m := domain.Machine{Namespace: "lab", Name: "web-0", UID: "0f3c9a52-6d5e"}
	var log []domain.Event
	add := func(cause uint64, corr string, data domain.Data) {
		e := domain.New("ironic@10.0.0.5", cause, corr, data)
		e.Seq, e.Time = uint64(len(log)+1), at.Add(time.Duration(len(log))*time.Second)
		log = append(log, e)
	}
	add(0, "", domain.MachineAdopted{Machine: m})
	add(0, "a", domain.MediaRequested{Slot: domain.SlotCd, Image: "http://h/a.iso", Digest: "d", Secret: "s", Insecure: true, Deadline: at.Add(time.Hour)})
	add(0, "", domain.BootOverrideSet{Target: domain.BootCd, Enabled: domain.BootOnce})
	add(0, "b", domain.PowerRequested{ResetType: domain.ResetOn, Goal: domain.GoalStart, Deadline: at.Add(time.Minute)})
	add(4, "b", domain.PowerDeferred{Media: 2, Until: at.Add(time.Hour)})
	add(3, "", domain.BootOverrideApplied{Refused: "no"})
	add(2, "a", domain.ImportStarted{Volume: "v", UID: "u"})
	add(2, "a", domain.ImportCompleted{Deadline: at.Add(2 * time.Hour)})
	add(2, "a", domain.MediaInserted{})
	add(4, "b", domain.PowerReleased{Goal: domain.GoalStart, Deadline: at.Add(time.Hour)})
	add(3, "", domain.BootOverrideApplied{VMI: "x", Changed: true})
	add(4, "b", domain.PowerApplied{})
	add(0, "", domain.PowerObserved{State: domain.PowerOn, VMI: "y"})
	add(3, "", domain.BootOverrideConsumed{VMI: "y"})
	add(3, "", domain.BootOverrideReverted{})
	add(0, "c", domain.EjectRequested{Slot: domain.SlotCd, Medium: 2})
	add(0, "d", domain.MediaRequested{Slot: domain.SlotCd, Image: "http://h/b.iso", Digest: "e", Deadline: at.Add(time.Hour)})
	add(17, "d", domain.ImportFailed{Reason: "404"})
	add(0, "e", domain.PowerRefused{ResetType: domain.ResetForceRestart, Reason: "failed"})
	add(2, "", domain.MediaEjected{})
	return log
}

// A segment starts from a snapshot: what is read from there on must be what a full replay gives, wherever it was cut.
func TestSnapshotAndTailAreAFullReplay(t *testing.T) {
	log := history()
	m := log[0].Data.(domain.MachineAdopted).Machine
	full := Replay(m, log)
	require.Equal(t, uint64(len(log)), full.Seq)
	for cut := range log {
		raw, err := Snapshot(Replay(m, log[:cut]))
		require.NoError(t, err)
		s, err := Restore(raw)
		require.NoError(t, err)
		for _, e := range log[cut:] {
			s = Evolve(s, e)
		}
		assert.Equal(t, full, s, "cut after %d events", cut)
	}
}

// Evolve gives a new value: a state that somebody still looks at must not change.
func TestEvolveDoesNotChangeTheStateBefore(t *testing.T) {
	log := history()
	s := New(log[0].Data.(domain.MachineAdopted).Machine)
	for _, e := range log {
		before, err := Snapshot(s)
		require.NoError(t, err)
		next := Evolve(s, e)
		after, err := Snapshot(s)
		require.NoError(t, err)
		require.JSONEq(t, string(before), string(after), "%s at %d", e.Type, e.Seq)
		s = next
	}
}

// A newer build's snapshot must not be read as if the newer part were not there.
func TestASnapshotOfANewerBuildIsAnError(t *testing.T) {
	_, err := Restore([]byte(`{"machine":{"namespace":"lab","name":"web-0","uid":"u"},"seq":3,"fan":"loud"}`))
	require.Error(t, err)
	_, err = Restore([]byte(`{`))
	require.Error(t, err)
}
