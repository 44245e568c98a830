package projections

import (
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Answer is what a client is told of its accepted request.
type Answer struct {
	Task string // id of the Task that answers it; empty: it is done, or there was nothing to do
}

// Decide is the gate.
func Decide(s State, w domain.World, r domain.Request, now time.Time, limits domain.Limits) ([]domain.Event, Answer, error) {
	panic("to come")
}

// Evolve is what one more event means.
func Evolve(s State, e domain.Event) State { panic("to come") }

// Observe gives the events that the world shows and the log does not say yet.
func Observe(s State, w domain.World, now time.Time, limits domain.Limits) []domain.Event {
	panic("to come")
}

// Expire gives the events of deadlines that have passed.
func Expire(s State, now time.Time) []domain.Event { panic("to come") }

// NextDeadline is when Expire will have something to say next; zero: never, as things are.
func NextDeadline(s State) time.Time { panic("to come") }

// Pending gives the effects that have to be done, in order. Only the first is known to be possible in this world.
func Pending(s State, w domain.World) []domain.Effect { panic("to come") }

// Sweep gives the effects that take out of the cluster what the log does not want there.
func Sweep(s State, w domain.World) []domain.Effect { panic("to come") }

// AtRest tells whether nothing is pending, held, importing or to be cleaned up: a machine at rest costs nothing.
func AtRest(s State, w domain.World) bool { panic("to come") }

// Outcome gives the events that a done effect appends; none: the world will show it.
func Outcome(s State, w domain.World, e domain.Effect, r domain.Result, now time.Time, limits domain.Limits) []domain.Event {
	panic("to come")
}

// PlanBoot gives the devices with the boot orders that put target first, keeping the original order of the rest; false:
// there is no such device.
func PlanBoot(devices []domain.Device, target domain.BootTarget) ([]domain.Device, bool) {
	panic("to come")
}
