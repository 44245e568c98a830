package storetest

import (
	"context"
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
)

// Pair makes two stores on one backing that is empty and is theirs alone, with the given options.
type Pair func(t *testing.T, o eventstore.Options) (one, two eventstore.Store)

// Run runs the suite.
func Run(t *testing.T, pair Pair) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Pair)
	}{
		{"a machine without a log has the empty stream", emptyLoad},
		{"what was appended is loaded, by any store", appendLoad},
		{"a batch is appended as a whole", batch},
		{"an append after an old head is a conflict that shows the current one", conflict},
		{"of two that open a log, one does", createRace},
		{"of two that open a segment, one does", rollRace},
		{"the same batch again succeeds and adds nothing", again},
		{"the same batch again succeeds after others have gone on", againLater},
		{"a full segment is sealed and the next starts from a snapshot", roll},
		{"a segment that is full by its bytes is sealed", rollByBytes},
		{"a batch is never cut in two by a segment's end", batchAtTheEnd},
		{"a batch that can never fit is invalid and changes nothing", oversize},
		{"a batch that is not complete is invalid", incomplete},
		{"a segment with what this build does not know is not closed", foreign},
		{"a watch shows what there is and what comes", watch},
		{"a machine that is created again has a log of its own", otherUID},
		{"long names are kept", longNames},
		{"every head and every machine is listed", headsAndMachines},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, pair) })
	}
}

// Machine makes a machine that no other test has.
func Machine(name string) domain.Machine {
	return domain.Machine{Namespace: "tenant-a", Name: name, UID: uuid.NewString()}
}

// Events makes n events that say why.
func Events(n int, why string) []domain.Event {
	events := make([]domain.Event, n)
	for i := range events {
		events[i] = domain.New(domain.ByWorker, 0, "", domain.ImportFailed{Reason: fmt.Sprintf("%s %d", why, i)})
		events[i].ID, events[i].Time = uuid.NewString(), time.Date(2026, 3, 1, 10, 0, 0, 123_456_789, time.UTC)
	}
	return events
}

// Batch makes a batch of n events, with a snapshot that only says that it is one.
func Batch(n int, why string) eventstore.Batch {
	return eventstore.Batch{
		Events:   Events(n, why),
		Snapshot: func() ([]byte, error) { return []byte(`{"before":"` + why + `"}`), nil },
		Summary:  func() string { return why },
	}
}

// Fill appends n batches of one event and gives the head after the last.
func Fill(t *testing.T, s eventstore.Store, m domain.Machine, n int) eventstore.Head {
	t.Helper()
	stream, err := s.Load(t.Context(), m)
	require.NoError(t, err)
	head := stream.Head
	for i := range n {
		head, _, err = s.Append(t.Context(), m, head, Batch(1, fmt.Sprintf("fill %d", i)))
		require.NoError(t, err)
	}
	return head
}

func load(t *testing.T, s eventstore.Store, m domain.Machine) eventstore.Stream {
	t.Helper()
	stream, err := s.Load(t.Context(), m)
	require.NoError(t, err)
	return stream
}

func history(t *testing.T, s eventstore.Store, m domain.Machine) []domain.Event {
	t.Helper()
	events, err := s.History(t.Context(), m)
	require.NoError(t, err)
	report, err := eventstore.Verify(t.Context(), s, m)
	require.NoError(t, err)
	assert.Empty(t, report.Findings)
	assert.Equal(t, len(events), report.Events)
	return events
}

func emptyLoad(t *testing.T, pair Pair) {
	s, _ := pair(t, eventstore.Options{})
	m := Machine("web-0")
	stream := load(t, s, m)
	assert.Equal(t, m, stream.Machine)
	assert.Zero(t, stream.Head.Seq)
	assert.Empty(t, stream.Events)
	assert.Empty(t, history(t, s, m))
}

func appendLoad(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{})
	m := Machine("web-0")
	head, first, err := one.Append(t.Context(), m, eventstore.Head{}, Batch(1, "a"))
	require.NoError(t, err)
	head, second, err := one.Append(t.Context(), m, head, Batch(1, "b"))
	require.NoError(t, err)
	for _, s := range []eventstore.Store{one, two} {
		stream := load(t, s, m)
		assert.Equal(t, append(first, second...), stream.Events, "an append returns the events as they are read")
		assert.Equal(t, head.Seq, stream.Head.Seq)
		assert.Equal(t, head.Prev, stream.Head.Prev)
		assert.Nil(t, stream.Start)
		assert.Equal(t, stream.Events, history(t, s, m))
	}
	assert.EqualValues(t, 1, first[0].Seq)
	assert.Equal(t, domain.FirstPrev, first[0].Prev)
	assert.EqualValues(t, 2, second[0].Seq)
	assert.Equal(t, 123*time.Millisecond, first[0].Time.Sub(first[0].Time.Truncate(time.Second)))
}

func batch(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{})
	m := Machine("web-0")
	head, events, err := one.Append(t.Context(), m, eventstore.Head{}, Batch(5, "a"))
	require.NoError(t, err)
	require.Len(t, events, 5)
	assert.EqualValues(t, 5, head.Seq)
	assert.Equal(t, events, load(t, two, m).Events)

	_, _, err = two.Append(t.Context(), m, eventstore.Head{}, Batch(5, "b"))
	require.Error(t, err)
	assert.Equal(t, events, history(t, one, m), "nothing of a batch that lost is there")
}

func conflict(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{})
	m := Machine("web-0")
	old := Fill(t, one, m, 1)
	stream := load(t, two, m)
	head := Fill(t, one, m, 1)

	for _, after := range []eventstore.Head{old, stream.Head} {
		_, _, err := two.Append(t.Context(), m, after, Batch(1, "late"))
		current := requireConflict(t, err)
		assert.Equal(t, m, current.Machine)
		assert.Equal(t, head.Seq, current.Head.Seq)
		assert.Len(t, current.Events, 2)
	}
	_, _, err := two.Append(t.Context(), m, stream.Head, Batch(1, "late"))
	head, _, err = two.Append(t.Context(), m, requireConflict(t, err).Head, Batch(1, "decided again"))
	require.NoError(t, err, "the current head is one to append after")
	assert.EqualValues(t, 3, head.Seq)
	assert.Len(t, history(t, one, m), 3)
}

func requireConflict(t *testing.T, err error) eventstore.Stream {
	t.Helper()
	var c *eventstore.ErrConflict
	require.ErrorAs(t, err, &c)
	return c.Current
}

// race appends after the same head through both stores at once, and gives what the loser was told.
func race(t *testing.T, one, two eventstore.Store, m domain.Machine, after eventstore.Head) {
	t.Helper()
	before := len(history(t, one, m))
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, s := range []eventstore.Store{one, two} {
		wg.Go(func() { _, _, errs[i] = s.Append(context.Background(), m, after, Batch(1, fmt.Sprintf("racer %d", i))) })
	}
	wg.Wait()
	if errs[0] == nil {
		errs[0], errs[1] = errs[1], errs[0]
	}
	require.NoError(t, errs[1], "one has won")
	assert.EqualValues(t, before+1, requireConflict(t, errs[0]).Head.Seq)
	assert.Len(t, history(t, one, m), before+1)
}

func createRace(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{})
	race(t, one, two, Machine("web-0"), eventstore.Head{})
}

func rollRace(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{SegmentEvents: 2})
	m := Machine("web-0")
	head := Fill(t, one, m, 2)
	require.True(t, head.Sealed())
	race(t, one, two, m, head)
}

func again(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{SegmentEvents: 3})
	m := Machine("web-0")
	head := eventstore.Head{}
	for i := range 7 { // creates, updates, seals and opens segments
		b := Batch(1, fmt.Sprintf("batch %d", i))
		next, events, err := one.Append(t.Context(), m, head, b)
		require.NoError(t, err)
		for _, s := range []eventstore.Store{one, two} {
			repeat, same, err := s.Append(t.Context(), m, head, b)
			require.NoError(t, err)
			assert.Equal(t, events, same)
			assert.Equal(t, next.Seq, repeat.Seq)
		}
		head = next
	}
	assert.Len(t, history(t, one, m), 7)
}

func againLater(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{SegmentEvents: 3})
	m := Machine("web-0")
	head := Fill(t, one, m, 1)
	b := Batch(2, "mine")
	_, events, err := one.Append(t.Context(), m, head, b)
	require.NoError(t, err)
	newest := Fill(t, two, m, 6)

	got, same, err := one.Append(t.Context(), m, head, b)
	require.NoError(t, err)
	assert.Equal(t, events, same)
	assert.Equal(t, newest.Seq, got.Seq, "the head is the newest")
	_, _, err = one.Append(t.Context(), m, got, Batch(1, "next"))
	require.NoError(t, err)
	assert.Len(t, history(t, one, m), 10)
}

func roll(t *testing.T, pair Pair) {
	one, two := pair(t, eventstore.Options{SegmentEvents: 3})
	m := Machine("web-0")
	head := Fill(t, one, m, 3)
	assert.True(t, head.Sealed())
	stream := load(t, two, m)
	assert.True(t, stream.Head.Sealed(), "a sealed segment is the head as long as it is the newest")
	assert.Equal(t, 1, stream.Head.Segment)

	head, events, err := two.Append(t.Context(), m, stream.Head, Batch(1, "next"))
	require.NoError(t, err)
	assert.EqualValues(t, 4, events[0].Seq)
	assert.Equal(t, 2, head.Segment)
	stream = load(t, one, m)
	assert.JSONEq(t, `{"before":"next"}`, string(stream.Start))
	assert.EqualValues(t, 3, stream.StartSeq)
	assert.Equal(t, events, stream.Events)

	Fill(t, one, m, 6)
	assert.Len(t, history(t, two, m), 10)
	segments, err := two.Segments(t.Context(), m)
	require.NoError(t, err)
	require.Len(t, segments, 4)
	for i, s := range segments {
		assert.Equal(t, i+1, s.Number)
		assert.Equal(t, i < 3, s.Sealed)
	}
}

func rollByBytes(t *testing.T, pair Pair) {
	one, _ := pair(t, eventstore.Options{SegmentBytes: 2000})
	m := Machine("web-0")
	head, _, err := one.Append(t.Context(), m, eventstore.Head{}, Batch(1, strings.Repeat("x", 1000)))
	require.NoError(t, err)
	require.False(t, head.Sealed())
	head, _, err = one.Append(t.Context(), m, head, Batch(1, strings.Repeat("x", 1000)))
	require.NoError(t, err)
	assert.True(t, head.Sealed())
}

func batchAtTheEnd(t *testing.T, pair Pair) {
	one, _ := pair(t, eventstore.Options{SegmentEvents: 3})
	m := Machine("web-0")
	head, _, err := one.Append(t.Context(), m, Fill(t, one, m, 2), Batch(5, "big"))
	require.NoError(t, err)
	assert.True(t, head.Sealed())
	assert.Equal(t, 1, head.Segment)
	assert.Len(t, load(t, one, m).Events, 7)
}
