package eventstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Options are a Log's settings; a zero field has its default.
type Options struct {
	// SegmentEvents and SegmentBytes close a segment, whichever comes first; 32 and 32 KiB. A write costs more the
	// larger its segment is, and a new segment costs three requests and a snapshot. With 16, 32, 64 and 128 events an append sends
	// 5.0, 7.7, 13.1 and 24.1 KB in the mean: see BenchmarkSegmentSize in tests/store.
	SegmentEvents int
	SegmentBytes  int
	// Patience is how long Append and Load wait for a write whose outcome is unknown; 10 s.
	Patience time.Duration

	maxObject int // bytes in a segment; Kubernetes refuses more than 1,048,576
	tryFor    time.Duration
}

func (o Options) withDefaults() Options {
	return Options{
		SegmentEvents: cmp.Or(o.SegmentEvents, 32),
		SegmentBytes:  cmp.Or(o.SegmentBytes, 32<<10),
		Patience:      cmp.Or(o.Patience, 10*time.Second),
		maxObject:     cmp.Or(o.maxObject, 768<<10),
		tryFor:        cmp.Or(o.tryFor, 5*time.Second),
	}
}

// Log is the Store. It decides what is written and when that is known to have landed; its backing only stores.
type Log struct {
	backing backing
	options Options

	life  context.Context // ends at Close: until then, a write goes on until its outcome is known
	close context.CancelFunc
	going sync.WaitGroup

	mu    sync.Mutex
	lanes map[string]*lane // by UID
}

// lane is what is remembered of one machine.
type lane struct {
	turn   chan struct{} // held while a write is on its way
	newest atomic.Int64  // number of the newest segment that was seen; 0 before
}

func (l *Log) lane(m domain.Machine) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.lanes[m.UID]
	if !ok {
		known = &lane{turn: make(chan struct{}, 1)}
		l.lanes[m.UID] = known
	}
	return known
}

// saw remembers where a machine's head is.
func (l *Log) saw(m domain.Machine, segment int) {
	l.lane(m).newest.Store(int64(segment))
}

var _ Store = (*Log)(nil)

func newLog(b backing, o Options) *Log {
	life, cancel := context.WithCancel(context.Background())
	return &Log{backing: b, options: o.withDefaults(), life: life, close: cancel, lanes: map[string]*lane{}}
}

// Close gives up the writes whose outcome is still unknown, and waits until they have stopped.
func (l *Log) Close() {
	l.close()
	l.going.Wait()
}

// Append implements Store.
func (l *Log) Append(ctx context.Context, m domain.Machine, after Head, b Batch) (Head, []domain.Event, error) {
	w, err := plan(m, after, b, l.options)
	if err != nil {
		return Head{}, nil, err
	}
	patience := time.NewTimer(l.options.Patience)
	defer patience.Stop()
	release, err := l.turn(ctx, m, patience.C)
	if err != nil {
		return Head{}, nil, err
	}
	type outcome struct {
		head Head
		err  error
	}
	known := make(chan outcome, 1)
	l.going.Go(func() {
		defer release()
		head, err := l.settle(m, w)
		known <- outcome{head, err}
	})
	select {
	case o := <-known:
		if o.err != nil {
			return Head{}, nil, o.err
		}
		return o.head, w.events, nil
	case <-patience.C:
		return Head{}, nil, unavailable(m, "the outcome of a write at %d is not known yet", after.Seq)
	}
}

// turn waits until no write of that machine is on its way, and keeps others out until release is called.
func (l *Log) turn(ctx context.Context, m domain.Machine, patience <-chan time.Time) (release func(), err error) {
	turn := l.lane(m).turn
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, unavailable(m, "%v while waiting for an earlier write", ctx.Err())
	case <-patience:
		return nil, unavailable(m, "the outcome of an earlier write is not known yet")
	}
}

func unavailable(m domain.Machine, format string, args ...any) error {
	return domain.Errorf(domain.CodeUnavailable, "log of %s: "+format, append([]any{m}, args...)...)
}

// settle sends a write until it is known what became of it, or until Close. A write that was certainly never applied
// is given up after Options.Patience; one that may have been applied is not: its bytes may land at any time, also after
// a read has not shown them, so only their own name or version being taken ends the matter.
func (l *Log) settle(m domain.Machine, w write) (Head, error) {
	unsure := false
	deadline, cancel := context.WithTimeout(l.life, l.options.Patience)
	defer cancel()
	try := func() (Head, error) {
		head, err := l.try(m, w)
		switch {
		case errors.Is(err, errUnsure):
			unsure = true
		case errors.Is(err, errNotSent) && !unsure && deadline.Err() != nil:
			return head, backoff.Permanent(unavailable(m, "%v", err))
		case err != nil && !errors.Is(err, errNotSent) && !unsure:
			return head, backoff.Permanent(err)
		}
		return head, err
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 20*time.Millisecond, 2*time.Second
	head, err := backoff.Retry(l.life, try, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(0))
	if err != nil && l.life.Err() != nil {
		return head, unavailable(m, "closed before the outcome of a write was known: %v", err)
	}
	return head, err
}

// try sends a write once, and finds out whose the object is when it is not as expected.
func (l *Log) try(m domain.Machine, w write) (Head, error) {
	ctx, cancel := context.WithTimeout(l.life, l.options.tryFor)
	defer cancel()
	put := l.backing.update
	if w.object.Version == "" {
		put = l.backing.create
	}
	stored, err := put(ctx, w.object)
	if errors.Is(err, errExists) || errors.Is(err, errStale) {
		return l.compare(ctx, m, w)
	}
	if err != nil {
		return Head{}, fmt.Errorf("append to %s at %d: %w", m, w.events[0].Seq, err)
	}
	w.head.tail = &stored
	l.saw(m, stored.Number)
	if w.object.Version == "" && stored.Number > 1 {
		l.going.Go(func() { l.retire(m, stored.Number) })
	}
	return w.head, nil
}

// compare tells an earlier try of w that landed from a lost race; either is final, whatever became of other tries. Any
// failure to find out counts as unsure.
func (l *Log) compare(ctx context.Context, m domain.Machine, w write) (Head, error) {
	o, err := l.backing.get(ctx, w.object.Name)
	if err != nil && !errors.Is(err, errAbsent) {
		return Head{}, fmt.Errorf("append to %s: %w: %v", m, errUnsure, err)
	}
	if err == nil && o.Machine.UID != m.UID {
		return Head{}, backoff.Permanent(domain.Errorf(domain.CodeInternal,
			"append to %s: %s is the log of another machine, %s", m, o.Name, o.Machine.UID))
	}
	var current Stream
	if err == nil && !o.Sealed { // it has no successor, so it is the head
		current, err = o.stream()
	} else {
		current, err = l.head(ctx, m)
	}
	if domain.CodeOf(err) == domain.CodeUnavailable {
		return Head{}, fmt.Errorf("append to %s: %w: %v", m, errUnsure, err)
	}
	if err != nil {
		return Head{}, backoff.Permanent(err)
	}
	if o.Name != "" {
		if s, err := o.stream(); err == nil && w.landed(s) {
			return current.Head, nil
		}
	}
	return Head{}, backoff.Permanent(&ErrConflict{Current: current})
}

// retire marks the segments before number n: they have a successor. It is best effort and nobody waits for it: readers
// take the newest of the open segments, and the next call marks what this one did not.
func (l *Log) retire(m domain.Machine, n int) {
	ctx, cancel := context.WithTimeout(l.life, l.options.tryFor)
	defer cancel()
	open, err := l.backing.list(ctx, filter{machine: &m, open: true})
	if err != nil {
		return
	}
	for _, o := range open {
		if o.Number < n && o.Sealed {
			o.Retired = true
			_, _ = l.backing.update(ctx, o)
		}
	}
}
