package projections

import (
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Expire gives the events of deadlines that have passed. It comes after Observe, so what is done by now is not thrown
// away.
func Expire(s State, now time.Time) []domain.Event {
	d := decision{s: s, now: now}
	if m, pending := s.ImportPending(); pending && now.After(m.Deadline) {
		d.append(domain.ByTimer, m.Seq, m.Corr, domain.ImportExpired{Deadline: m.Deadline})
		d.cancel("the import was not done in time", m.Seq)
	}
	switch p := d.s.Power; {
	case p.Phase == PowerDeferred && now.After(p.Until):
		d.append(domain.ByTimer, p.Intent.Seq, p.Intent.Corr, domain.PowerCancelled{Reason: "held past its deadline"})
	case p.Phase == PowerRequested && now.After(p.Intent.Deadline):
		d.append(domain.ByTimer, p.Intent.Seq, p.Intent.Corr, domain.PowerFailed{Reason: "not done by " + p.Intent.Deadline.UTC().Format(time.RFC3339)})
	}
	return d.events
}

// NextDeadline is when Expire will have something to say next; the zero time: never, as things are.
func NextDeadline(s State) time.Time {
	var next time.Time
	if m, pending := s.ImportPending(); pending {
		next = m.Deadline
	}
	switch p := s.Power; {
	case p.Phase == PowerDeferred:
		next = earlier(next, p.Until)
	case p.Phase == PowerRequested:
		next = earlier(next, p.Intent.Deadline)
	}
	return next
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
