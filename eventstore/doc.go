// Package eventstore keeps one append-only log per machine, in ConfigMaps.
//
// A log is a stream of events, cut into segments of about 32 events, one ConfigMap each. A segment starts with a
// snapshot of what came before it, so one small object is all that a cold start reads of a machine. The newest segment
// is the stream's head.
//
// Guarantees:
//   - **An acknowledged event is durable, and is in the log once.** An append whose answer was lost is sent again,
//     byte by byte the same, until it is known whether it landed; events are recognised by their ids.
//   - **An append is a compare-and-set.** It lands only where the caller has read up to, else it is an [ErrConflict]
//     with what is there now. Never is a segment written without the resourceVersion that was read: ConfigMaps allow
//     that, and it loses events (the test in tests/store shows how many).
//   - **A batch is one write**: all of its events are in the log or none, and they are in one segment.
//   - **One append is one API write, and no read while the head is cached.** The append that opens a segment is followed
//     by two or three more requests that nobody waits for: they mark the segment before.
//   - **A full segment is immutable from the very update that filled it**, so that the API server protects it.
//   - **The log is tamper-evident**: every line holds the hash of the line before; [Verify] finds an edited, missing
//     or cut-off line, except at the very end of the log, and in the snapshots, which nothing hashes.
//   - **What this build does not know is never lost**: lines are kept as they are, and no segment is closed that holds
//     a field which this build's snapshot would drop.
//   - **Memory never goes backwards**: a [Ledger] shows its own append before Execute returns, and ignores late news.
//
// It does not promise:
//   - that what an append answered with CodeUnavailable did not happen: it may still land, until this process ends;
//     the next Load or Append of that machine by this store waits until that is known;
//   - that the labels and the summary annotation are right: they are for people and for selecting, except that the
//     sealed label is only ever on segments that have a successor;
//   - safety against a retention that removes the newest segment, or against a client that is allowed to delete.
//
// Start reading at store.go (the contract), then segment.go (what one write is), log.go (when it is known to have
// landed), and ledger.go (what everybody else uses).
package eventstore
