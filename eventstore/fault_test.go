package eventstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/eventstore/storetest"
)

func newMemory(t *testing.T, o eventstore.Options) *eventstore.Memory {
	m := eventstore.NewMemoryWith(o)
	t.Cleanup(m.Close)
	return m
}

// first is a hook by which the first appends have these faults, and the others none.
func first(faults ...eventstore.Fault) func(eventstore.Write) eventstore.Fault {
	return func(w eventstore.Write) eventstore.Fault {
		if len(faults) == 0 || w.Retire {
			return eventstore.Delivered
		}
		f := faults[0]
		faults = faults[1:]
		return f
	}
}

func always(f eventstore.Fault) func(eventstore.Write) eventstore.Fault {
	return func(eventstore.Write) eventstore.Fault { return f }
}

func requireCode(t *testing.T, code domain.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, domain.CodeOf(err), "%v", err)
}

func TestAnEventIsInTheLogOnceWhateverIsLostOnTheWay(t *testing.T) {
	for name, faults := range map[string][]eventstore.Fault{
		"reply":             {eventstore.ReplyLost},
		"request":           {eventstore.RequestLost},
		"request, reply":    {eventstore.RequestLost, eventstore.ReplyLost},
		"unreachable":       {eventstore.Unreachable, eventstore.Unreachable},
		"reply, then 4xx":   {eventstore.ReplyLost, eventstore.Refused},
		"request, then 4xx": {eventstore.RequestLost, eventstore.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMemory(t, eventstore.Options{SegmentEvents: 2})
			m := storetest.Machine("web-0")
			head := eventstore.Head{}
			for i := range 6 { // creates, updates, opens
				s.Inject(first(faults...))
				next, events, err := s.Append(t.Context(), m, head, storetest.Batch(1, "x"))
				require.NoError(t, err)
				assert.EqualValues(t, i+1, events[0].Seq)
				head = next
			}
			history, err := s.History(t.Context(), m)
			require.NoError(t, err)
			assert.Len(t, history, 6)
		})
	}
}

func TestARefusedWriteIsAnErrorAtOnce(t *testing.T) {
	s := newMemory(t, eventstore.Options{Patience: time.Hour})
	s.Inject(always(eventstore.Refused))
	_, _, err := s.Append(t.Context(), storetest.Machine("web-0"), eventstore.Head{}, storetest.Batch(1, "x"))
	requireCode(t, domain.CodeInternal, err)
}

// A read that does not show a cut-off create proves nothing: the create may land after it.
func TestACutOffCreateIsWaitedForEvenIfAReadDoesNotShowIt(t *testing.T) {
	s := newMemory(t, eventstore.Options{Patience: 30 * time.Millisecond})
	m := storetest.Machine("web-0")
	stuck := first(eventstore.RequestStuck)
	s.Inject(func(w eventstore.Write) eventstore.Fault {
		if f := stuck(w); f != eventstore.Delivered {
			return f
		}
		return eventstore.RequestLost
	})
	_, _, err := s.Append(t.Context(), m, eventstore.Head{}, storetest.Batch(1, "first"))
	requireCode(t, domain.CodeUnavailable, err)
	_, err = s.Load(t.Context(), m)
	requireCode(t, domain.CodeUnavailable, err)
	_, _, err = s.Append(t.Context(), m, eventstore.Head{}, storetest.Batch(1, "second"))
	requireCode(t, domain.CodeUnavailable, err)
	history, err := s.History(t.Context(), m)
	require.NoError(t, err)
	require.Empty(t, history, "not there yet")

	s.Unstick()
	s.Inject(nil)
	var stream eventstore.Stream
	require.Eventually(t, func() bool { stream, err = s.Load(t.Context(), m); return err == nil }, 10*time.Second, time.Millisecond)
	assert.Len(t, stream.Events, 1)
	assert.Equal(t, domain.ImportFailed{Reason: "first 0"}, stream.Events[0].Data)
}

func TestAWriteThatNeverGotThroughIsGivenUp(t *testing.T) {
	s := newMemory(t, eventstore.Options{Patience: 30 * time.Millisecond})
	m := storetest.Machine("web-0")
	var tries atomic.Int32
	s.Inject(func(eventstore.Write) eventstore.Fault { tries.Add(1); return eventstore.Unreachable })
	_, _, err := s.Append(t.Context(), m, eventstore.Head{}, storetest.Batch(1, "x"))
	requireCode(t, domain.CodeUnavailable, err)
	require.Eventually(t, func() bool { _, err := s.Load(t.Context(), m); return err == nil }, 10*time.Second, time.Millisecond)
	assert.Greater(t, tries.Load(), int32(1), "it was tried again before")
	s.Inject(nil)
	stream, err := s.Load(t.Context(), m)
	require.NoError(t, err)
	assert.Zero(t, stream.Head.Seq, "nothing happens after the caller was told that nothing is promised")
}

func TestAClientThatHangsUpDoesNotInterruptAWrite(t *testing.T) {
	s := newMemory(t, eventstore.Options{})
	m := storetest.Machine("web-0")
	ctx, cancel := context.WithCancel(t.Context())
	s.Inject(func(eventstore.Write) eventstore.Fault {
		defer cancel()
		if ctx.Err() == nil {
			return eventstore.RequestLost
		}
		return eventstore.Delivered
	})
	_, _, err := s.Append(ctx, m, eventstore.Head{}, storetest.Batch(1, "x"))
	require.NoError(t, err)
	stream, err := s.Load(t.Context(), m)
	require.NoError(t, err)
	assert.Len(t, stream.Events, 1)
}

func TestCloseEndsAWriteWithoutAnAnswer(t *testing.T) {
	s := newMemory(t, eventstore.Options{Patience: time.Hour})
	s.Inject(func(eventstore.Write) eventstore.Fault { go s.Close(); return eventstore.RequestLost })
	_, _, err := s.Append(t.Context(), storetest.Machine("web-0"), eventstore.Head{}, storetest.Batch(1, "x"))
	requireCode(t, domain.CodeUnavailable, err)
	s.Close()
}

// A segment that could not be marked as having a successor is not taken for the head, and is marked later.
func TestASegmentThatWasNotRetiredDoesNoHarm(t *testing.T) {
	s := newMemory(t, eventstore.Options{SegmentEvents: 2})
	m := storetest.Machine("web-0")
	tried := make(chan string, 9)
	var down atomic.Bool
	down.Store(true)
	s.Inject(func(w eventstore.Write) eventstore.Fault {
		if !w.Retire {
			return eventstore.Delivered
		}
		tried <- w.Name
		if down.Load() {
			return eventstore.RequestLost
		}
		return eventstore.Delivered
	})
	storetest.Fill(t, s, m, 3)
	require.Equal(t, domain.SegmentName(m, 1), <-tried)
	heads, err := s.Heads(t.Context())
	require.NoError(t, err)
	require.Len(t, heads, 1)
	assert.EqualValues(t, 3, heads[0].Head.Seq)
	cold, err := s.Another().Load(t.Context(), m)
	require.NoError(t, err)
	assert.EqualValues(t, 3, cold.Head.Seq)

	down.Store(false)
	storetest.Fill(t, s, m, 2)
	assert.Equal(t, domain.SegmentName(m, 1), <-tried)
	assert.Equal(t, domain.SegmentName(m, 2), <-tried)
	storetest.Fill(t, s, m, 2)
	assert.Equal(t, domain.SegmentName(m, 3), <-tried, "those before are done")
}

// Through any faults: what was acknowledged is in the log once, and what was not is there once at most.
func TestNoFaultLosesOrDoublesAnEvent(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			one := newMemory(t, eventstore.Options{SegmentEvents: 4, Patience: 25 * time.Millisecond})
			two := one.Another()
			t.Cleanup(two.Close)
			random := rand.New(rand.NewPCG(seed, 1)) // used by the hook only, which is called under a lock
			one.Inject(func(eventstore.Write) eventstore.Fault {
				if random.IntN(3) > 0 {
					return eventstore.Delivered
				}
				return eventstore.Fault(random.IntN(int(eventstore.RequestStuck) + 1))
			})
			m := storetest.Machine("web-0")
			acked := storetest.Storm(t, m, 4, 5, ledgerOf(one), ledgerOf(two))
			one.Inject(nil)
			one.Unstick()
			require.Eventually(t, func() bool {
				_, err1 := one.Load(t.Context(), m)
				_, err2 := two.Load(t.Context(), m)
				return err1 == nil && err2 == nil
			}, 10*time.Second, 5*time.Millisecond)
			one.Unstick()
			storetest.RequireAll(t, one, m, acked)
		})
	}
}
