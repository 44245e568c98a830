package eventstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Load implements Store.
func (l *Log) Load(ctx context.Context, m domain.Machine) (Stream, error) {
	patience := time.NewTimer(l.options.Patience)
	defer patience.Stop()
	release, err := l.turn(ctx, m, patience.C)
	if err != nil {
		return Stream{}, err
	}
	release()
	return l.head(ctx, m)
}

// head reads the newest segment.
func (l *Log) head(ctx context.Context, m domain.Machine) (Stream, error) {
	o, err := l.newest(ctx, m)
	if err != nil {
		return Stream{}, readError(m.String(), err)
	}
	if o.Name == "" {
		return Stream{Machine: m, Head: Head{Prev: domain.FirstPrev}}, nil
	}
	l.saw(m, o.Number)
	return o.stream()
}

// newest finds the newest segment, or none. It goes on by name from the newest that was seen, because a list that is
// certain to be up to date takes the API server about 100 ms, and a get 2 ms. Without such a place to start from, or if
// retention has been there, it lists the open segments: there is always one, since only a segment with a successor is
// ever retired.
func (l *Log) newest(ctx context.Context, m domain.Machine) (object, error) {
	var found object
	for n := int(l.lane(m).newest.Load()); n > 0; n++ {
		o, err := l.backing.get(ctx, domain.SegmentName(m, n))
		if errors.Is(err, errAbsent) || err == nil && o.Machine.UID != m.UID {
			break
		}
		if err != nil || !o.Sealed {
			return o, err
		}
		found = o
	}
	if found.Name != "" && !found.Retired {
		return found, nil
	}
	open, err := l.backing.list(ctx, filter{machine: &m, open: true})
	if err != nil || len(open) == 0 {
		return object{}, err
	}
	return slices.MaxFunc(open, byNumber), nil
}

func byNumber(a, b object) int { return cmp.Compare(a.Number, b.Number) }

func readError(what string, err error) error {
	return &domain.Error{Code: domain.CodeUnavailable, Message: "read the log of " + what, Err: err}
}

// Heads implements Store.
func (l *Log) Heads(ctx context.Context) ([]Stream, error) {
	open, err := l.backing.list(ctx, filter{open: true})
	if err != nil {
		return nil, readError("every machine", err)
	}
	newest := map[string]object{}
	for _, o := range open {
		if o.Number > newest[o.Machine.UID].Number {
			newest[o.Machine.UID] = o
		}
	}
	heads := make([]Stream, 0, len(newest))
	for _, o := range newest {
		l.saw(o.Machine, o.Number)
		heads = append(heads, readable(o))
	}
	slices.SortFunc(heads, func(a, b Stream) int { return byName(a.Machine, b.Machine) })
	return heads, nil
}

// readable is the stream of o, or one that says why it cannot be read.
func readable(o object) Stream {
	s, err := o.stream()
	if err != nil {
		return Stream{Machine: o.Machine, Err: err}
	}
	return s
}

// Watch implements Store.
func (l *Log) Watch(ctx context.Context, each func(Stream), synced func()) error {
	newest := map[string]int{}
	return l.backing.follow(ctx, func(o object) {
		if o.Number < newest[o.Machine.UID] {
			return // it is about to be retired
		}
		newest[o.Machine.UID] = o.Number
		l.saw(o.Machine, o.Number)
		each(readable(o))
	}, func() {
		if synced != nil {
			synced()
			synced = nil
		}
	})
}

// Segments implements Store.
func (l *Log) Segments(ctx context.Context, m domain.Machine) ([]Segment, error) {
	objects, err := l.objects(ctx, m)
	if err != nil {
		return nil, err
	}
	segments := make([]Segment, 0, len(objects))
	for _, o := range objects {
		segments = append(segments, o.segment())
	}
	return segments, nil
}

func (l *Log) objects(ctx context.Context, m domain.Machine) ([]object, error) {
	objects, err := l.backing.list(ctx, filter{machine: &m})
	if err != nil {
		return nil, readError(m.String(), err)
	}
	slices.SortFunc(objects, byNumber)
	return objects, nil
}

// History implements Store.
func (l *Log) History(ctx context.Context, m domain.Machine) ([]domain.Event, error) {
	objects, err := l.objects(ctx, m)
	if err != nil {
		return nil, err
	}
	var events []domain.Event
	for _, o := range objects {
		s, err := o.stream()
		if err != nil {
			return nil, err
		}
		events = append(events, s.Events...)
	}
	return events, nil
}

// Machines implements Store.
func (l *Log) Machines(ctx context.Context) ([]domain.Machine, error) {
	objects, err := l.backing.list(ctx, filter{})
	if err != nil {
		return nil, readError("every machine", err)
	}
	machines := make([]domain.Machine, 0, len(objects))
	for _, o := range objects {
		machines = append(machines, o.Machine)
	}
	slices.SortFunc(machines, byName)
	return slices.Compact(machines), nil
}

func byName(a, b domain.Machine) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
