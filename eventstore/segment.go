package eventstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// object is a segment as a backing stores it.
type object struct {
	Name    string
	Version string // the backing's own; empty before the first write
	Machine domain.Machine
	Number  int
	Sealed  bool // its content never changes again
	Retired bool // it has a successor, so it is not the head
	Start   string
	Log     string
	Summary string
}

// start is the JSON of object.Start.
type start struct {
	V     int             `json:"v"`
	Seq   uint64          `json:"seq"`  // of the last event that State includes
	Prev  string          `json:"prev"` // Chain of that event's line
	State json.RawMessage `json:"state"`
}

// startVersion is the only version of start that this build writes and reads.
const startVersion = 1

// isSegment tells whether an object says of which machine and which number it is. One that somebody has made or broken by
// hand does not, and is nobody's log.
func (o *object) isSegment() bool {
	return o.Number > 0 && o.Machine.Namespace != "" && o.Machine.Name != "" && o.Machine.UID != ""
}

func (o *object) segment() Segment {
	s := Segment{Machine: o.Machine, Number: o.Number, Sealed: o.Sealed, Log: o.Log}
	if o.Start != "" {
		s.Start = json.RawMessage(o.Start)
	}
	return s
}

// stream decodes a segment. The sequence and the hash chain are checked too: a head that does not hold together is not
// appended to.
func (o *object) stream() (Stream, error) {
	s := Stream{Machine: o.Machine, Head: Head{Segment: o.Number, Prev: domain.FirstPrev, tail: o}}
	if o.Start != "" {
		var st start
		if err := json.Unmarshal([]byte(o.Start), &st); err != nil {
			return Stream{}, unreadable(o, "start: %v", err)
		}
		if st.V != startVersion {
			return Stream{}, unreadable(o, "start has version %d, this build knows %d", st.V, startVersion)
		}
		s.Start, s.StartSeq, s.Head.Seq, s.Head.Prev = st.State, st.Seq, st.Seq, st.Prev
	}
	for i, line := range lines(o.Log) {
		e, err := domain.Decode([]byte(line))
		if err != nil {
			return Stream{}, unreadable(o, "line %d: %v", i+1, err)
		}
		if e.Seq != s.Head.Seq+1 || e.Prev != s.Head.Prev {
			return Stream{}, unreadable(o, "line %d does not follow the line before", i+1)
		}
		s.Head.Seq, s.Head.Prev = e.Seq, domain.Chain([]byte(line))
		s.Head.foreign = s.Head.foreign || e.Foreign
		s.Events = append(s.Events, e)
	}
	s.Head.size = len(s.Events)
	return s, nil
}

func unreadable(o *object, format string, args ...any) error {
	return domain.Errorf(domain.CodeInternal, "read segment %s of %s: "+format, append([]any{o.Name, o.Machine}, args...)...)
}

// lines splits a log into its lines, without their newlines.
func lines(log string) []string {
	if log == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(log, "\n"), "\n")
}

// write is one append, worked out before anything is sent: the same bytes however often they are sent.
type write struct {
	object object // as it is to be stored; Version is what it replaces, empty to create
	head   Head   // after it
	events []domain.Event
}

// plan works out what an append writes.
func plan(m domain.Machine, after Head, b Batch, o Options) (write, error) {
	w, err := tailOf(m, after, b)
	if err != nil {
		return write{}, err
	}
	room := o.maxObject - len(w.object.Start) - len(w.object.Log)
	h, log := &w.head, strings.Builder{}
	log.WriteString(w.object.Log)
	for _, e := range b.Events {
		if e.ID == "" || e.Time.IsZero() || e.Data == nil {
			return write{}, domain.Errorf(domain.CodeInvalid, "append to %s: an event lacks its id, time or data", m)
		}
		h.Seq++
		e.Seq, e.Prev, e.Time = h.Seq, h.Prev, e.Time.UTC().Truncate(time.Millisecond)
		line, err := domain.Encode(e)
		if err != nil {
			return write{}, &domain.Error{Code: domain.CodeInvalid, Message: fmt.Sprintf("append to %s", m), Err: err}
		}
		if e, err = domain.Decode(line); err != nil { // as every reader will see it
			return write{}, &domain.Error{Code: domain.CodeInvalid, Message: fmt.Sprintf("append to %s", m), Err: err}
		}
		h.Prev, h.size, h.foreign = domain.Chain(line), h.size+1, h.foreign || e.Foreign
		log.Write(append(line, '\n'))
		w.events = append(w.events, e)
		room -= len(line) + 1
	}
	switch {
	case len(w.events) == 0:
		return write{}, domain.Errorf(domain.CodeInvalid, "append to %s: an empty batch", m)
	case room < 0 && !after.foreign:
		return write{}, domain.Errorf(domain.CodeInvalid, "append to %s: the batch is %d bytes too large", m, -room)
	case room < 0:
		return write{}, domain.Errorf(domain.CodeUnavailable, "append to %s: segment %d is full, and only a newer build may close it", m, h.Segment)
	}
	w.object.Log = log.String()
	w.object.Sealed = !h.foreign && (h.size >= o.SegmentEvents || len(w.object.Log) >= o.SegmentBytes)
	if b.Summary != nil {
		w.object.Summary = b.Summary()
	}
	return w, nil
}

// tailOf is the segment that an append extends, or the new one that it opens, before its lines are added.
func tailOf(m domain.Machine, after Head, b Batch) (write, error) {
	if after.tail != nil && after.tail.Machine != m {
		return write{}, domain.Errorf(domain.CodeInvalid, "append to %s: the head is one of %s", m, after.tail.Machine)
	}
	if after.tail != nil && !after.tail.Sealed {
		o := *after.tail
		o.Summary = ""
		return write{object: o, head: after}, nil
	}
	h := Head{Seq: after.Seq, Prev: after.Prev, Segment: after.Segment + 1}
	o := object{Name: domain.SegmentName(m, h.Segment), Machine: m, Number: h.Segment}
	if after.tail == nil {
		h = Head{Prev: domain.FirstPrev, Segment: 1}
		o.Name, o.Number = domain.SegmentName(m, 1), 1
		return write{object: o, head: h}, nil
	}
	if after.foreign {
		return write{}, domain.Errorf(domain.CodeUnavailable,
			"append to %s: segment %d was closed by a newer build, which has to open the next one", m, after.Segment)
	}
	if b.Snapshot == nil {
		return write{}, domain.Errorf(domain.CodeInvalid, "append to %s: a segment has to be opened and there is no snapshot", m)
	}
	state, err := b.Snapshot()
	if err != nil {
		return write{}, fmt.Errorf("append to %s: snapshot at %d: %w", m, after.Seq, err)
	}
	st, err := json.Marshal(start{V: startVersion, Seq: after.Seq, Prev: after.Prev, State: state})
	if err != nil {
		return write{}, fmt.Errorf("append to %s: snapshot at %d: %w", m, after.Seq, err)
	}
	o.Start = string(st)
	return write{object: o, head: h}, nil
}

// landed tells whether a stored segment holds the events of w: an earlier try got through.
func (w write) landed(s Stream) bool {
	first := w.events[0].Seq
	if first <= s.StartSeq || first-s.StartSeq-1+uint64(len(w.events)) > uint64(len(s.Events)) {
		return false
	}
	for i, e := range w.events {
		if s.Events[first-s.StartSeq-1+uint64(i)].ID != e.ID {
			return false
		}
	}
	return true
}
