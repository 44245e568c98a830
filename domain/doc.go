// Package domain is the vocabulary of Ledgerfish: machines, events and their codec, commands, effects, the world as
// it was observed, error codes and redaction. It is pure data with no I/O, no clock and no Kubernetes.
//
// Guarantees:
//   - **An event never changes.** Fields are only added; anything else is a new version with an upcaster.
//   - **Encode and Decode are inverse** for every event type, and a line never contains a newline.
//   - **A line that this build does not fully know is still readable**: it decodes to [Unknown] or carries
//     [Event.Foreign], and whoever decides refuses to go on.
//   - **No secret gets in**: images are redacted by [Redact] before they become event data; what must be kept of a
//     secret URL is its digest and the name of the Secret that has it.
//
// It does not promise that a sequence of events makes sense: that is what package projections decides.
//
// Start reading at event.go, then data.go; world.go and effect.go are what the worker trades in.
package domain
