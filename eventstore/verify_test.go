package eventstore_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/eventstore/storetest"
)

func TestVerifySaysWhereALogWasTamperedWith(t *testing.T) {
	replace := func(old, new string) func(eventstore.Segment) *eventstore.Segment {
		return func(s eventstore.Segment) *eventstore.Segment {
			s.Log = strings.Replace(s.Log, old, new, 1)
			s.Start = json.RawMessage(strings.Replace(string(s.Start), old, new, 1))
			return &s
		}
	}
	for _, c := range []struct {
		name    string
		segment int
		edit    func(eventstore.Segment) *eventstore.Segment
		want    string
	}{
		{"an edited line", 2, replace("fill 4", "fill X"), "segment 2 line 3: event 6 does not have the hash"},
		{"an edited last line", 2, replace("fill 5", "fill X"), "segment 3: its start has another hash for event 6"},
		{"a removed line", 2, func(s eventstore.Segment) *eventstore.Segment {
			lines := strings.SplitAfter(s.Log, "\n")
			s.Log = lines[0] + lines[2]
			return &s
		}, "segment 2 line 2: event 6 follows event 4"},
		{"a cut-off segment", 2, func(s eventstore.Segment) *eventstore.Segment {
			lines := strings.SplitAfter(s.Log, "\n")
			s.Log = lines[0] + lines[1]
			return &s
		}, "segment 3: it starts after event 6, and the segment before ends with event 5"},
		{"a cut-off line", 4, func(s eventstore.Segment) *eventstore.Segment {
			s.Log = s.Log[:len(s.Log)-20]
			return &s
		}, "segment 4: its last line is cut off"},
		{"a missing segment", 2, func(eventstore.Segment) *eventstore.Segment { return nil }, "segment 3: it follows segment 1"},
		{"an open segment", 2, func(s eventstore.Segment) *eventstore.Segment { s.Sealed = false; return &s },
			"segment 2: it has a successor and is not sealed"},
		{"a missing start", 3, func(s eventstore.Segment) *eventstore.Segment { s.Start = nil; return &s }, "segment 3: its start is missing"},
		{"an edited start", 3, replace(`"seq":6`, `"seq":5`), "segment 3: it starts after event 5"},
		{"a start of nonsense", 3, replace(`"v":1`, `"v":"x"`), "segment 3: its start cannot be read"},
		{"nonsense", 2, replace(`{"seq":5`, `"seq":5`), "segment 2 line 2: it cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, m := newMemory(t, eventstore.Options{SegmentEvents: 3}), storetest.Machine("web-0")
			storetest.Fill(t, store, m, 10)
			sound, err := eventstore.Verify(t.Context(), store, m)
			require.NoError(t, err)
			require.True(t, sound.OK(), "%v", sound.Findings)
			store.Rewrite(domain.SegmentName(m, c.segment), c.edit)
			report, err := eventstore.Verify(t.Context(), store, m)
			require.NoError(t, err)
			require.False(t, report.OK())
			assert.Contains(t, report.Findings[0].String(), c.want)
		})
	}
}

// What retention has removed is no fault, and the rest is still checked.
func TestVerifyStartsFromTheFirstSegmentThatIsKept(t *testing.T) {
	store, m := newMemory(t, eventstore.Options{SegmentEvents: 3}), storetest.Machine("web-0")
	head := storetest.Fill(t, store, m, 10)
	store.Rewrite(domain.SegmentName(m, 1), func(eventstore.Segment) *eventstore.Segment { return nil })
	store.Rewrite(domain.SegmentName(m, 2), func(eventstore.Segment) *eventstore.Segment { return nil })
	report, err := eventstore.Verify(t.Context(), store, m)
	require.NoError(t, err)
	assert.Equal(t, eventstore.Report{Machine: m, Segments: 2, Events: 4, First: 7, Last: 10, Head: head.Prev}, report)
	_, _, err = store.Append(t.Context(), m, head, storetest.Batch(1, "x"))
	require.NoError(t, err)
}
