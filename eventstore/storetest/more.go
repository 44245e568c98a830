package storetest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
)

func oversize(t *testing.T, pair Pair) {
	one, _ := pair(t, eventstore.Options{})
	m := Machine("web-0")
	head := Fill(t, one, m, 1)
	for _, b := range []eventstore.Batch{Batch(1, strings.Repeat("x", 2<<20)), Batch(2000, strings.Repeat("x", 600))} {
		for _, after := range []eventstore.Head{head, {}} {
			_, _, err := one.Append(t.Context(), m, after, b)
			assert.Equal(t, domain.CodeInvalid, domain.CodeOf(err), "%v", err)
		}
	}
	assert.Len(t, history(t, one, m), 1)
	_, _, err := one.Append(t.Context(), m, head, Batch(1, "next"))
	require.NoError(t, err)
}

func incomplete(t *testing.T, pair Pair) {
	one, _ := pair(t, eventstore.Options{SegmentEvents: 1})
	m := Machine("web-0")
	head := Fill(t, one, m, 1)
	for name, spoil := range map[string]func(b *eventstore.Batch, m *domain.Machine){
		"no events":     func(b *eventstore.Batch, _ *domain.Machine) { b.Events = nil },
		"no id":         func(b *eventstore.Batch, _ *domain.Machine) { b.Events[0].ID = "" },
		"no time":       func(b *eventstore.Batch, _ *domain.Machine) { b.Events[0].Time = time.Time{} },
		"no data":       func(b *eventstore.Batch, _ *domain.Machine) { b.Events[0].Data = nil },
		"no snapshot":   func(b *eventstore.Batch, _ *domain.Machine) { b.Snapshot = nil },
		"another's log": func(_ *eventstore.Batch, m *domain.Machine) { *m = Machine("web-0") },
	} {
		b, m := Batch(1, "x"), m
		spoil(&b, &m)
		_, _, err := one.Append(t.Context(), m, head, b)
		assert.Equal(t, domain.CodeInvalid, domain.CodeOf(err), "%s: %v", name, err)
	}
	assert.Len(t, history(t, one, m), 1)
}

// A snapshot by a build that does not know a field would drop it, so such a build must neither seal nor open.
func foreign(t *testing.T, pair Pair) {
	one, _ := pair(t, eventstore.Options{SegmentEvents: 3})
	m := Machine("web-0")
	b := Batch(1, "newer")
	b.Events[0].Type, b.Events[0].Data = "MachineTeleported", domain.Unknown{Type: "MachineTeleported", Raw: json.RawMessage(`{"to":"x"}`)}
	head, events, err := one.Append(t.Context(), m, Fill(t, one, m, 1), b)
	require.NoError(t, err)
	assert.True(t, events[0].Foreign)
	for range 4 {
		head, _, err = one.Append(t.Context(), m, head, Batch(1, "more"))
		require.NoError(t, err)
	}
	assert.False(t, head.Sealed())
	stream := load(t, one, m)
	assert.Len(t, stream.Events, 6)
	assert.False(t, stream.Head.Sealed())
	assert.Equal(t, b.Events[0].Data, stream.Events[1].Data)
}

// seen collects what a watch shows.
type seen struct {
	mu      sync.Mutex
	streams map[string]eventstore.Stream
	synced  int // streams there were at synced; -1 before
}

func (s *seen) at(m domain.Machine) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[m.UID].Head.Seq
}

func watch(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{SegmentEvents: 3})
	open, sealed, late := Machine("web-0"), Machine("web-1"), Machine("web-2")
	Fill(t, one, open, 4)
	Fill(t, one, sealed, 3)

	got := &seen{streams: map[string]eventstore.Stream{}, synced: -1}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- two.Watch(ctx, func(s eventstore.Stream) {
			got.mu.Lock()
			defer got.mu.Unlock()
			if assert.NoError(t, s.Err) && assert.GreaterOrEqual(t, s.Head.Segment, got.streams[s.Machine.UID].Head.Segment) {
				got.streams[s.Machine.UID] = s
			}
		}, func() {
			got.mu.Lock()
			defer got.mu.Unlock()
			assert.Equal(t, -1, got.synced, "called once")
			got.synced = len(got.streams)
		})
	}()
	shows := func(m domain.Machine, seq uint64) {
		t.Helper()
		require.Eventually(t, func() bool { return got.at(m) == seq }, 20*time.Second, 5*time.Millisecond, "%s at %d", m, seq)
	}
	shows(open, 4)
	shows(sealed, 3)
	require.Eventually(t, func() bool { got.mu.Lock(); defer got.mu.Unlock(); return got.synced == 2 }, 20*time.Second, 5*time.Millisecond)

	Fill(t, one, late, 1)
	shows(late, 1)
	Fill(t, one, open, 2) // fills its segment
	shows(open, 6)
	Fill(t, one, open, 1) // opens another
	shows(open, 7)
	Fill(t, one, sealed, 5)
	shows(sealed, 8)

	got.mu.Lock()
	assert.Equal(t, load(t, one, sealed).Events, got.streams[sealed.UID].Events)
	got.mu.Unlock()
	cancel()
	require.NoError(t, <-done, "the end of its context is no error")
}

func otherUID(t *testing.T, pair Pair) {
	one, _ := pair(t, eventstore.Options{SegmentEvents: 3})
	first, second := Machine("web-0"), Machine("web-0")
	Fill(t, one, first, 4)
	assert.Zero(t, load(t, one, second).Head.Seq)
	Fill(t, one, second, 1)
	assert.Len(t, history(t, one, first), 4)
	assert.Len(t, history(t, one, second), 1)
	machines, err := one.Machines(t.Context())
	require.NoError(t, err)
	assert.ElementsMatch(t, []domain.Machine{first, second}, machines)

	// The name of an object has eight characters of the UID only. Two machines with the same ones must not share a log.
	twin := domain.Machine{Namespace: first.Namespace, Name: first.Name, UID: first.UID[:8] + second.UID[8:]}
	_, _, err = one.Append(t.Context(), twin, eventstore.Head{}, Batch(1, "twin"))
	assert.ErrorContains(t, err, "another machine")
	assert.Equal(t, domain.CodeInternal, domain.CodeOf(err), "%v", err)
	assert.Len(t, history(t, one, first), 4)
}

func longNames(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{SegmentEvents: 3})
	m := Machine(strings.Repeat("long-name.", 25) + "end")
	m.Namespace = strings.Repeat("n", 63)
	Fill(t, one, m, 4)
	assert.Len(t, history(t, two, m), 4)
	machines, err := two.Machines(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []domain.Machine{m}, machines)
	head := load(t, two, m)
	assert.Equal(t, m, head.Machine)
	_, _, err = two.Append(t.Context(), m, head.Head, Batch(1, "more"))
	require.NoError(t, err)
}

func headsAndMachines(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{SegmentEvents: 3})
	b, a, full := Machine("b"), Machine("a"), Machine("c")
	Fill(t, one, b, 4)
	Fill(t, one, a, 1)
	Fill(t, one, full, 3)
	machines, err := two.Machines(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []domain.Machine{a, b, full}, machines)
	heads, err := two.Heads(t.Context())
	require.NoError(t, err)
	require.Len(t, heads, 3)
	for i, m := range machines {
		assert.Equal(t, load(t, two, m), heads[i])
	}
}
