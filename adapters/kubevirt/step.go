package kubevirt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// pass takes steps on one machine until there is nothing to do but wait: for so long, if nothing wakes it earlier, or for
// as long as nothing wakes it (0). No step begins after the context has ended; one that has begun is finished.
func (w *Worker) pass(ctx context.Context, m domain.Machine) (wait time.Duration, err error) {
	for range maxSteps {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		wait, err := w.step(ctx, m)
		switch {
		case errors.Is(err, ErrMoved):
			continue
		case err != nil || wait != again:
			return wait, err
		}
	}
	return 0, fmt.Errorf("%s: %w", m, ErrMoved)
}

// again is the wait of a step after which to look at once.
const again time.Duration = -1

// step is one look at a machine, and the first thing that follows from it.
//
// The world is read before the log. What the world does not show counts only when the log has not changed meanwhile:
// something may have been created just for the newer part of it.
func (w *Worker) step(ctx context.Context, m domain.Machine) (time.Duration, error) {
	ctx, cancel := outlast(ctx, stepLimit, stopLimit)
	defer cancel()
	before, _ := w.Ledger.State(m)
	if over(before) {
		return 0, nil
	}
	world, err := w.World(ctx, m)
	if err != nil {
		return 0, err
	}
	state, err := w.Ledger.Refresh(ctx, m)
	switch {
	case err != nil:
		return 0, fmt.Errorf("read the log of %s: %w", m, err)
	case state.Seq != before.Seq:
		return again, nil
	case state.Seq == 0 && !w.adopts(m):
		return 0, nil
	}
	now := w.Now()
	if events := projections.Observe(state, world, now, w.Limits); len(events) > 0 {
		return again, w.append(ctx, m, state.Seq, events)
	}
	if events := projections.Expire(state, now); len(events) > 0 {
		return again, w.append(ctx, m, state.Seq, events)
	}
	effects := slices.Concat(projections.Pending(state, world), projections.Sweep(state, world))
	if len(effects) == 0 {
		return w.rest(state, world, now), nil
	}
	return w.act(ctx, m, state, world, effects[0])
}

// act does an effect and appends its outcome, expecting the log as it was when the effect was chosen.
func (w *Worker) act(ctx context.Context, m domain.Machine, state projections.State, world domain.World, e domain.Effect) (time.Duration, error) {
	result, err := w.Cluster.Do(ctx, m, world, e)
	if err != nil {
		return 0, err
	}
	log := w.Log.WithField("machine", m.String()).WithField("effect", fmt.Sprintf("%T", e))
	events := projections.Outcome(state, world, e, result, w.Now(), w.Limits)
	switch {
	case len(events) > 0:
		log.WithField("seq", state.Seq).Debug("effect done")
		return again, w.append(ctx, m, state.Seq, events)
	case result.Err != nil: // the log has no word for it: it is tried again, ever more slowly
		return 0, fmt.Errorf("%T on %s: %w", e, m, result.Err)
	}
	return breath, nil
}

// append appends events that were decided on the log up to seq.
func (w *Worker) append(ctx context.Context, m domain.Machine, seq uint64, events []domain.Event) error {
	_, appended, err := w.Ledger.Execute(ctx, m, func(s projections.State) ([]domain.Event, error) {
		if s.Seq != seq {
			return nil, ErrMoved
		}
		return events, nil
	})
	if err != nil {
		return fmt.Errorf("append to the log of %s: %w", m, err)
	}
	w.record(m, appended)
	return nil
}

// rest tells when to look again although nothing has happened; 0: not at all.
func (w *Worker) rest(s projections.State, world domain.World, now time.Time) time.Duration {
	if projections.AtRest(s, world) {
		return 0
	}
	next := now.Add(glance)
	until := func(t time.Time) {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	until(projections.NextDeadline(s))
	for _, v := range world.Volumes {
		if !v.Complete && w.Limits.ImportStall > 0 {
			until(v.MovedAt.Add(w.Limits.ImportStall))
		}
	}
	return max(next.Sub(now), 0) + time.Millisecond // deadlines are passed, not reached
}

// adopts tells whether a machine without a log gets one: its VM is in a served namespace and selected.
func (w *Worker) adopts(m domain.Machine) bool {
	h, ok := w.Inventory.Get(m.Namespace, m.Name)
	return ok && h.UID == m.UID
}

// over tells whether nothing can happen to a machine any more: its VM is gone and all that was its.
func over(s projections.State) bool { return s.Lost && projections.AtRest(s, domain.World{}) }

// outlast gives a context that ends after limit, or grace after its parent, so that what has begun can be
// finished.
func outlast(parent context.Context, limit, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), limit)
	stop := context.AfterFunc(parent, func() {
		select {
		case <-ctx.Done():
		case <-time.After(grace):
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}

// serves tells whether machines of that namespace are looked after.
func (w *Worker) serves(namespace string) bool {
	return slices.Contains(w.Cluster.Namespaces, "") || slices.Contains(w.Cluster.Namespaces, namespace)
}
