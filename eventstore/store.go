package eventstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Head is where a stream ends: what an append is compared with. It is got from Load, Heads, Watch or Append, or is the
// zero Head for a stream that Load has found to be empty.
type Head struct {
	Seq     uint64 // of the last event; 0 when there is none
	Prev    string // Chain of the last line
	Segment int    // number of the segment the last event is in, from 1

	tail *object // that segment as stored, so that an append needs no read; nil when there is none
	size int     // events in tail
	// foreign tells that tail holds something a snapshot by this build would lose.
	foreign bool
}

// Sealed tells that the next append opens a new segment.
func (h Head) Sealed() bool { return h.tail != nil && h.tail.Sealed }

// Stream is the head segment of one machine: the snapshot that it starts from and the events since.
type Stream struct {
	Machine  domain.Machine
	Start    json.RawMessage // the state after StartSeq; nil in the first segment
	StartSeq uint64          // seq of the last event before this segment; 0 in the first
	Events   []domain.Event
	Head     Head
	// Err tells that the segment cannot be read; then only Machine is set. Only in streams given by Heads and Watch:
	// one bad segment does not hide the other machines.
	Err error
}

// Batch is what one append writes: all or nothing.
type Batch struct {
	// Events have their ID and Time set; both stay the same if the append is tried again. Seq and Prev are set by the
	// store, and Time is cut to milliseconds.
	Events []domain.Event
	// Snapshot gives the state before the batch, in JSON. It is called only when a segment is opened.
	Snapshot func() ([]byte, error)
	// Summary gives one line about the state after the batch, for people. May be nil.
	Summary func() string
}

// ErrConflict says that the stream has gone on since it was read: decide again on Current, never append the same again.
type ErrConflict struct {
	Current Stream
}

func (e *ErrConflict) Error() string {
	return fmt.Sprintf("the log of %s has gone on to %d", e.Current.Machine, e.Current.Head.Seq)
}

// Segment is one stored segment, as its bytes are.
type Segment struct {
	Machine domain.Machine
	Number  int             // from 1
	Sealed  bool            // it can not be changed any more
	Start   json.RawMessage // {"v":1,"seq":...,"prev":"...","state":...}; nil in the first
	Log     string          // one line for each event, each with its newline
}

// Store keeps the logs. Its errors are domain.Errors: CodeUnavailable when nothing is known (try again),
// CodeInvalid when a batch can never be appended, CodeInternal when a log cannot be read. It is safe for concurrent use.
type Store interface {
	// Load reads the head of a machine's log, from the backing itself and not from a cache. A machine without a log
	// has the empty stream, with Head.Seq 0.
	Load(ctx context.Context, m domain.Machine) (Stream, error)

	// Heads reads the heads of all logs, from the backing itself and not from a cache.
	Heads(ctx context.Context) ([]Stream, error)

	// Append writes a batch after the given head and returns the new head and the events as they are in the log. If an
	// earlier try of the same batch landed, it succeeds, and the head may then be beyond these events. It returns
	// *ErrConflict when the stream has gone on. It returns CodeUnavailable when the outcome is not known within
	// Options.Patience, and goes on until it is. The end of ctx does not interrupt a write.
	Append(ctx context.Context, m domain.Machine, after Head, b Batch) (Head, []domain.Event, error)

	// History reads all the events that are kept, from the first on. It is empty for a machine without a log.
	History(ctx context.Context, m domain.Machine) ([]domain.Event, error)

	// Segments reads all the segments that are kept, in order, without interpreting them.
	Segments(ctx context.Context, m domain.Machine) ([]Segment, error)

	// Machines lists the machines that have a log, lost ones too, ordered by namespace, name and UID.
	Machines(ctx context.Context) ([]domain.Machine, error)

	// Watch calls each for the head of every log, then synced once (it may be nil), then each for every change of a
	// head, until ctx ends, which is no error. The calls come one at a time. Changes in quick succession may come as
	// one, but the last one always comes, also after the backing was away.
	Watch(ctx context.Context, each func(Stream), synced func()) error
}
