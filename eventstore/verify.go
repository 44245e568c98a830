package eventstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Report is what Verify found.
type Report struct {
	Machine  domain.Machine
	Segments int
	Events   int
	First    uint64 // seq of the first event that is kept; 0 when there is none
	Last     uint64
	// Head is the hash of the last line. Kept elsewhere, it proves later that nothing up to here was changed; without
	// that, events cut off at the very end of a log leave no trace.
	Head     string
	Findings []Finding
}

// OK tells that nothing is wrong.
func (r Report) OK() bool { return len(r.Findings) == 0 }

// Finding is one thing that is wrong with a log.
type Finding struct {
	Segment int
	Line    int // from 1; 0 when it is the segment as a whole
	Reason  string
}

func (f Finding) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("segment %d: %s", f.Segment, f.Reason)
	}
	return fmt.Sprintf("segment %d line %d: %s", f.Segment, f.Line, f.Reason)
}

// Verify reads a whole log and checks that its events follow each other without a gap, that each line has the hash of
// the line before, that each segment starts where the one before ended, and that all but the newest cannot be changed.
// The first segment that is kept is taken at its word about the ones before it. An error says that it could not be read.
func Verify(ctx context.Context, store Store, m domain.Machine) (Report, error) {
	segments, err := store.Segments(ctx, m)
	if err != nil {
		return Report{}, err
	}
	c := check{report: Report{Machine: m}, prev: domain.FirstPrev}
	for i, s := range segments {
		c.segment(s, i == 0)
		if i < len(segments)-1 && !s.Sealed {
			c.fault(s.Number, 0, "it has a successor and is not sealed")
		}
	}
	c.report.Last, c.report.Head = c.seq, c.prev
	return c.report, nil
}

// check goes along a log.
type check struct {
	report Report
	number int    // of the last segment
	seq    uint64 // of the last line
	prev   string // its hash
}

func (c *check) fault(segment, line int, format string, args ...any) {
	c.report.Findings = append(c.report.Findings, Finding{Segment: segment, Line: line, Reason: fmt.Sprintf(format, args...)})
}

// segment checks one segment, then goes on from its end as it is, so that one fault is reported once.
func (c *check) segment(s Segment, first bool) {
	c.report.Segments++
	if !first && s.Number != c.number+1 {
		c.fault(s.Number, 0, "it follows segment %d: what was between them is missing", c.number)
	}
	c.number = s.Number
	c.start(s, first)
	if s.Log == "" || !strings.HasSuffix(s.Log, "\n") {
		c.fault(s.Number, 0, "its last line is cut off")
	}
	for i, line := range lines(s.Log) {
		c.line(s.Number, i+1, line)
	}
}

func (c *check) start(s Segment, first bool) {
	if s.Start == nil {
		if s.Number != 1 {
			c.fault(s.Number, 0, "its start is missing")
		}
		return
	}
	var st start
	if err := json.Unmarshal(s.Start, &st); err != nil {
		c.fault(s.Number, 0, "its start cannot be read: %v", err)
		return
	}
	switch {
	case s.Number == 1:
		c.fault(s.Number, 0, "it is the first and has a start")
	case !first && st.Seq != c.seq:
		c.fault(s.Number, 0, "it starts after event %d, and the segment before ends with event %d", st.Seq, c.seq)
	case !first && st.Prev != c.prev:
		c.fault(s.Number, 0, "its start has another hash for event %d than that event's line", st.Seq)
	}
	c.seq, c.prev = st.Seq, st.Prev
}

func (c *check) line(segment, n int, line string) {
	e, err := domain.Decode([]byte(line))
	switch {
	case err != nil:
		c.fault(segment, n, "it cannot be read: %v", err)
		c.seq, c.prev = c.seq+1, domain.Chain([]byte(line))
		return
	case e.Seq != c.seq+1:
		c.fault(segment, n, "event %d follows event %d", e.Seq, c.seq)
	case e.Prev != c.prev:
		c.fault(segment, n, "event %d does not have the hash of the line before, so that line was changed", e.Seq)
	}
	if c.report.Events == 0 {
		c.report.First = e.Seq
	}
	c.report.Events++
	c.seq, c.prev = e.Seq, domain.Chain([]byte(line))
}
