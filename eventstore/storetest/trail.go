package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
)

// Trail is a state that remembers all that was said, so that a lost, doubled or reordered event shows.
type Trail struct {
	Said string `json:"said"` // the reasons of all events, each with a semicolon
	Seq  uint64 `json:"seq"`
}

// TrailFold folds events into a Trail.
func TrailFold() eventstore.Fold[Trail] {
	return eventstore.Fold[Trail]{
		New: func(domain.Machine) Trail { return Trail{} },
		Evolve: func(s Trail, e domain.Event) Trail {
			said, _ := e.Data.(domain.ImportFailed)
			return Trail{Said: s.Said + said.Reason + ";", Seq: e.Seq}
		},
		Snapshot: func(s Trail) ([]byte, error) { return json.Marshal(s) },
		Restore:  func(b []byte) (s Trail, err error) { err = json.Unmarshal(b, &s); return s, err },
		Summary:  func(s Trail) string { return fmt.Sprintf("at %d", s.Seq) },
	}
}

// NewLedger makes a Ledger of Trails.
func NewLedger(s eventstore.Store) *eventstore.Ledger[Trail] {
	now := func() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }
	return eventstore.NewLedger(s, TrailFold(), now, uuid.NewString)
}

// Said is an event that says why, as Execute wants it.
func Said(why string) domain.Event {
	return domain.New(domain.ByWorker, 0, "", domain.ImportFailed{Reason: why})
}

// Say decides on one event, whatever the state.
func Say(why string) func(Trail) ([]domain.Event, error) {
	return func(Trail) ([]domain.Event, error) { return []domain.Event{Said(why)}, nil }
}

// Acked is an event as an Execute acknowledged it.
type Acked struct {
	ID  string
	Seq uint64
}

// Storm has a number of writers append through each of the ledgers at once, each so many events, and gives those that
// were acknowledged.
func Storm(t *testing.T, m domain.Machine, writers, each int, ledgers ...*eventstore.Ledger[Trail]) (acked []Acked) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, l := range ledgers {
		for w := range writers {
			wg.Go(func() {
				for n := range each {
					_, events, err := l.Execute(context.Background(), m, Say(fmt.Sprintf("%d/%d/%d", i, w, n)))
					if err != nil {
						continue
					}
					mu.Lock()
					acked = append(acked, Acked{events[0].ID, events[0].Seq})
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	require.NotEmpty(t, acked)
	return acked
}

// Lost gives the acknowledged events that are not in the log where they were said to be. An event that is in the log
// twice fails the test.
func Lost(t *testing.T, s eventstore.Store, m domain.Machine, acked []Acked) (lost []Acked) {
	t.Helper()
	events, err := s.History(t.Context(), m)
	require.NoError(t, err)
	at := map[string]uint64{}
	for _, e := range events {
		require.NotContains(t, at, e.ID, "event %d is there twice", e.Seq)
		at[e.ID] = e.Seq
	}
	for _, a := range acked {
		if at[a.ID] != a.Seq {
			lost = append(lost, a)
		}
	}
	return lost
}

// RequireAll requires that a log holds every acknowledged event once and where it was said to be, and is sound.
func RequireAll(t *testing.T, s eventstore.Store, m domain.Machine, acked []Acked) {
	t.Helper()
	lost := Lost(t, s, m, acked)
	require.Empty(t, lost, "%d of %d acknowledged events are lost", len(lost), len(acked))
	report, err := eventstore.Verify(t.Context(), s, m)
	require.NoError(t, err)
	require.Empty(t, report.Findings)
}
