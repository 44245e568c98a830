// Package projections says what a machine's log means and therefore what may happen next. It decides and never acts:
// no I/O, no clock; now is handed in.
//
//	Evolve(state, event) -> state          what one more event means
//	Decide(state, world, request, now)     the gate: the events that a client's call appends, or why not
//	Observe(state, world, now) -> events   what the cluster shows and the log does not say yet
//	Expire(state, now) -> events           deadlines
//	Pending(state, world) -> effects       what has to be done, in order
//	Outcome(state, effect, result, now)    the events that a done effect appends
//	Sweep(state, world) -> effects         what is in the cluster and the log does not want
//
// Guarantees:
//   - **The same events give the same state**, and a snapshot plus the tail gives the state of a full replay.
//   - **There is one decision table.** Whether an event is possible in a state is read from the tables in tables.go, run
//     by looplab/fsm; every cell of them is a transition or a named refusal.
//   - **A start is pending only when nothing that was asked earlier is missing from the template**: no import pending or
//     failed, no disk to take out, no boot order to set.
//   - **A hold ends by the import's end**, by what cancels it, or by the medium's deadline; never by itself.
//   - **A failed import powers nothing on**, now or later, until the slot was ejected or filled anew.
//
// It does not promise that an effect was done, or that the world is still as it was handed in: the worker's
// preconditions and fences do.
//
// Start reading at tables.go, then gate.go and pending.go. The scenarios in tests/scenarios show every rule.
package projections
