package eventstore

import (
	"context"
	"errors"
	"slices"

	"github.com/ledgerfish/ledgerfish/domain"
)

// maxTries bounds how often one Execute decides. Each further time, somebody else has appended.
const maxTries = 100

// Execute lets decide say what happens, given a machine's state, and appends that. Its calls are serialised for each
// machine. decide is called again when the log has gone on meanwhile, so it must do nothing but look and decide, and keep
// nothing from one call to the next; what it says when it appends nothing is only taken when it was said of a freshly read
// head. It may return events and an error: the events are appended, then the error is returned.
//
// Execute returns the state after the append, and the events as they are in the log. It returns CodeUnavailable when
// the log or the outcome of the append is not known, or when the log holds what this build does not know.
func (l *Ledger[S]) Execute(ctx context.Context, m domain.Machine, decide func(S) ([]domain.Event, error)) (S, []domain.Event, error) {
	a := l.account(m)
	var none S
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return none, nil, unavailable(m, "%v while waiting for an earlier decision", ctx.Err())
	}
	var err error
	v, fresh := a.current(), false
	for range maxTries {
		if !v.read {
			if v, err = l.read(ctx, a); err != nil {
				return none, nil, err
			}
			fresh = true
		}
		if v.beyond != 0 {
			return none, nil, unavailable(m, "event %d is not known to this build, so nothing is decided on it", v.beyond)
		}
		events, verdict := decide(v.state)
		if len(events) > 0 {
			next, appended, err := l.append(ctx, a, v, events)
			if conflict := (*ErrConflict)(nil); errors.As(err, &conflict) {
				v, fresh = l.learn(a, conflict.Current, true), true
				continue
			}
			if err != nil {
				return none, nil, err
			}
			return next.state, appended, verdict
		}
		if fresh {
			return v.state, nil, verdict
		}
		decided := v.head.Seq
		if v, err = l.read(ctx, a); err != nil {
			return none, nil, err
		}
		if fresh = true; v.head.Seq == decided {
			return v.state, nil, verdict
		}
	}
	return none, nil, unavailable(m, "the log went on during each of %d decisions", maxTries)
}

// append writes what was decided on v, and makes it known.
func (l *Ledger[S]) append(ctx context.Context, a *account[S], v view[S], events []domain.Event) (view[S], []domain.Event, error) {
	events = slices.Clone(events)
	at := l.now()
	for i := range events {
		events[i].ID, events[i].Time, events[i].Seq = l.newID(), at, v.head.Seq+1+uint64(i)
	}
	b := Batch{Events: events, Snapshot: func() ([]byte, error) { return l.fold.Snapshot(v.state) }}
	if l.fold.Summary != nil {
		b.Summary = func() string { return l.fold.Summary(l.evolve(v, events).state) }
	}
	head, appended, err := l.store.Append(ctx, a.machine, v.head, b)
	if err != nil {
		a.doubt()
		return view[S]{}, nil, err
	}
	last := appended[len(appended)-1].Seq
	s := Stream{Machine: a.machine, StartSeq: v.head.Seq, Events: appended, Head: head}
	if head.Seq == last {
		return l.learn(a, s, true), appended, nil
	}
	s.Head = Head{Seq: last} // an earlier try landed, and others have appended since
	next := l.learn(a, s, true)
	a.doubt()
	return next, appended, nil
}
