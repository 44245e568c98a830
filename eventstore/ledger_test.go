package eventstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/eventstore/storetest"
)

type trail = storetest.Trail

// Shorthands.
var (
	ledgerOf = storetest.NewLedger
	event    = storetest.Said
	say      = storetest.Say
)

func execute(t *testing.T, l *eventstore.Ledger[trail], m domain.Machine, why string) trail {
	t.Helper()
	s, _, err := l.Execute(t.Context(), m, say(why))
	require.NoError(t, err)
	return s
}

func TestExecuteShowsItsOwnAppendAtOnce(t *testing.T) {
	l, m := ledgerOf(newMemory(t, eventstore.Options{SegmentEvents: 3})), storetest.Machine("web-0")
	_, ok := l.State(m)
	require.False(t, ok)
	want := ""
	for i := range 8 {
		want += fmt.Sprintf("%d;", i)
		s := execute(t, l, m, fmt.Sprint(i))
		assert.Equal(t, trail{Said: want, Seq: uint64(i + 1)}, s)
		shown, ok := l.State(m)
		require.True(t, ok)
		assert.Equal(t, s, shown)
	}
	assert.Equal(t, []domain.Machine{m}, l.Machines())
}

func TestAFreshLedgerHasTheSameState(t *testing.T) {
	store, m := newMemory(t, eventstore.Options{SegmentEvents: 3}), storetest.Machine("web-0")
	l := ledgerOf(store)
	for i := range 7 {
		s := execute(t, l, m, fmt.Sprint(i))
		fresh, err := ledgerOf(store).Refresh(t.Context(), m)
		require.NoError(t, err)
		assert.Equal(t, s, fresh)
	}
	l = ledgerOf(store)
	require.NoError(t, l.RefreshAll(t.Context()))
	s, ok := l.State(m)
	require.True(t, ok)
	assert.Equal(t, "0;1;2;3;4;5;6;", s.Said)
}

func TestADecisionThatLostTheRaceIsMadeAgain(t *testing.T) {
	store, m := newMemory(t, eventstore.Options{}), storetest.Machine("web-0")
	one, two := ledgerOf(store), ledgerOf(store)
	execute(t, one, m, "a")
	execute(t, two, m, "b")
	var on []string
	s, events, err := one.Execute(t.Context(), m, func(s trail) ([]domain.Event, error) {
		on = append(on, s.Said)
		return []domain.Event{event("after " + s.Said)}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"a;", "a;b;"}, on)
	assert.Equal(t, domain.ImportFailed{Reason: "after a;b;"}, events[0].Data)
	assert.Equal(t, "a;b;after a;b;;", s.Said)
}

// No compare-and-set protects a decision that appends nothing, so it must not be made on a head that is out of date.
func TestADecisionToAppendNothingIsMadeOnAFreshHead(t *testing.T) {
	store, m := newMemory(t, eventstore.Options{}), storetest.Machine("web-0")
	one, two := ledgerOf(store), ledgerOf(store)
	execute(t, one, m, "on")
	execute(t, two, m, "off")
	refused := errors.New("refused")
	for name, verdict := range map[string]error{"no-op": nil, "refusal": refused} {
		s, events, err := one.Execute(t.Context(), m, func(s trail) ([]domain.Event, error) {
			if strings.HasSuffix(s.Said, "on;") {
				return nil, verdict
			}
			return []domain.Event{event(name)}, nil
		})
		require.NoError(t, err)
		require.Len(t, events, 1)
		assert.True(t, strings.HasSuffix(s.Said, name+";"))
		execute(t, one, m, "on")
		execute(t, two, m, "off")
	}
	decided := 0
	s, events, err := one.Execute(t.Context(), m, func(trail) ([]domain.Event, error) { decided++; return nil, refused })
	require.ErrorIs(t, err, refused)
	assert.Empty(t, events)
	assert.True(t, strings.HasSuffix(s.Said, "off;"))
	assert.Equal(t, 2, decided, "once on the old head, once on the new one")
}

func TestARefusalIsAppendedAndReturned(t *testing.T) {
	l, m := ledgerOf(newMemory(t, eventstore.Options{})), storetest.Machine("web-0")
	refused := domain.Errorf(domain.CodeConflict, "no")
	s, events, err := l.Execute(t.Context(), m, func(trail) ([]domain.Event, error) { return []domain.Event{event("refused")}, refused })
	require.ErrorIs(t, err, refused)
	assert.Len(t, events, 1)
	assert.Equal(t, "refused;", s.Said)
}

func TestNothingIsDecidedOnWhatThisBuildDoesNotKnow(t *testing.T) {
	store, m := newMemory(t, eventstore.Options{}), storetest.Machine("web-0")
	head := storetest.Fill(t, store, m, 1)
	b := storetest.Batch(1, "x")
	b.Events[0].Type, b.Events[0].Data = "MachineTeleported", domain.Unknown{Type: "MachineTeleported", Raw: json.RawMessage(`{}`)}
	_, _, err := store.Append(t.Context(), m, head, b)
	require.NoError(t, err)
	l := ledgerOf(store)
	_, _, err = l.Execute(t.Context(), m, func(trail) ([]domain.Event, error) { t.Error("decided"); return nil, nil })
	requireCode(t, domain.CodeUnavailable, err)
	assert.ErrorContains(t, err, "event 2")
	_, ok := l.State(m)
	assert.True(t, ok, "it stays readable")
}

func TestNothingIsDecidedOnASnapshotThisBuildDoesNotKnow(t *testing.T) {
	store, m := newMemory(t, eventstore.Options{SegmentEvents: 1}), storetest.Machine("web-0")
	storetest.Fill(t, store, m, 2)
	fold := storetest.TrailFold()
	fold.Restore = func([]byte) (trail, error) { return trail{}, errors.New("newer") }
	l := eventstore.NewLedger(store, fold, time.Now, uuid.NewString)
	_, _, err := l.Execute(t.Context(), m, say("x"))
	requireCode(t, domain.CodeUnavailable, err)
	_, ok := l.State(m)
	assert.False(t, ok)
	assert.Equal(t, []domain.Machine{m}, l.Machines(), "there is such a machine")
}

// After an append of unknown outcome the next decision sees what became of it.
func TestTheNextDecisionWaitsForAnUnknownOutcome(t *testing.T) {
	store, m := newMemory(t, eventstore.Options{Patience: 30 * time.Millisecond}), storetest.Machine("web-0")
	l := ledgerOf(store)
	execute(t, l, m, "a")
	stuck := first(eventstore.RequestStuck)
	store.Inject(func(w eventstore.Write) eventstore.Fault {
		if f := stuck(w); f != eventstore.Delivered {
			return f
		}
		return eventstore.RequestLost
	})
	_, _, err := l.Execute(t.Context(), m, say("b"))
	requireCode(t, domain.CodeUnavailable, err)
	_, _, err = l.Execute(t.Context(), m, func(trail) ([]domain.Event, error) { t.Error("decided"); return nil, nil })
	requireCode(t, domain.CodeUnavailable, err)
	store.Unstick()
	store.Inject(nil)
	require.Eventually(t, func() bool {
		s, _, err := l.Execute(t.Context(), m, say("c"))
		return err == nil && assert.Equal(t, "a;b;c;", s.Said)
	}, 10*time.Second, time.Millisecond)
}

func TestRunFollowsOtherWritersAndNeverGoesBack(t *testing.T) {
	store := newMemory(t, eventstore.Options{SegmentEvents: 3})
	m, late := storetest.Machine("web-0"), storetest.Machine("web-1")
	one, two := ledgerOf(store), ledgerOf(store)
	execute(t, two, m, "0")

	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	told := map[domain.Machine]int{}
	done := make(chan error, 1)
	go func() {
		done <- one.Run(ctx, func(m domain.Machine) { mu.Lock(); defer mu.Unlock(); told[m]++ })
	}()
	<-one.Ready()
	s, ok := one.State(m)
	require.True(t, ok)
	assert.Equal(t, "0;", s.Said)

	var newest uint64
	for i := range 20 {
		writer := []*eventstore.Ledger[trail]{one, two}[i%2]
		s := execute(t, writer, m, "x")
		if writer == one {
			newest = s.Seq
		}
		s, _ = one.State(m)
		assert.GreaterOrEqual(t, s.Seq, newest)
	}
	execute(t, two, late, "late")
	require.Eventually(t, func() bool {
		a, _ := one.State(m)
		b, ok := one.State(late)
		mu.Lock()
		defer mu.Unlock()
		return ok && a.Seq == 21 && b.Said == "late;" && told[late] == 1 && told[m] > 10
	}, 10*time.Second, time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

func TestOneUnreadableLogDoesNotHideTheOthers(t *testing.T) {
	store := newMemory(t, eventstore.Options{})
	good, bad := storetest.Machine("good"), storetest.Machine("bad")
	storetest.Fill(t, store, good, 2)
	storetest.Fill(t, store, bad, 2)
	store.Rewrite(domain.SegmentName(bad, 1), func(s eventstore.Segment) *eventstore.Segment {
		s.Log = strings.Replace(s.Log, "fill 0", "fill X", 1)
		return &s
	})
	l := ledgerOf(store)
	require.NoError(t, l.RefreshAll(t.Context()))
	_, ok := l.State(good)
	assert.True(t, ok)
	_, ok = l.State(bad)
	assert.False(t, ok)
	_, _, err := l.Execute(t.Context(), bad, say("x"))
	requireCode(t, domain.CodeInternal, err)
	assert.ErrorContains(t, err, "line 2")
}
