package domain

import "time"

// Type names an event, in the past participle.
type Type string

// The catalogue.
const (
	MachineAdoptedType       Type = "MachineAdopted"
	MachineLostType          Type = "MachineLost"
	MediaRequestedType       Type = "MediaRequested"
	MediaRefusedType         Type = "MediaRefused"
	ImportStartedType        Type = "ImportStarted"
	ImportCompletedType      Type = "ImportCompleted"
	MediaInsertedType        Type = "MediaInserted"
	ImportFailedType         Type = "ImportFailed"
	ImportExpiredType        Type = "ImportExpired"
	EjectRequestedType       Type = "EjectRequested"
	MediaEjectedType         Type = "MediaEjected"
	VolumeSweptType          Type = "VolumeSwept"
	PowerRequestedType       Type = "PowerRequested"
	RequestRepeatedType      Type = "RequestRepeated"
	PowerDeferredType        Type = "PowerDeferred"
	PowerReleasedType        Type = "PowerReleased"
	PowerCancelledType       Type = "PowerCancelled"
	PowerRefusedType         Type = "PowerRefused"
	PowerAppliedType         Type = "PowerApplied"
	PowerFailedType          Type = "PowerFailed"
	PowerObservedType        Type = "PowerObserved"
	BootOverrideSetType      Type = "BootOverrideSet"
	BootOverrideAppliedType  Type = "BootOverrideApplied"
	BootOverrideConsumedType Type = "BootOverrideConsumed"
	BootOverrideRevertedType Type = "BootOverrideReverted"
)

// Who an event is by, when it is not an account: see [Event.By].
const (
	ByWorker = "worker" // an effect was done
	ByWatch  = "watch"  // the cluster shows it
	ByTimer  = "timer"  // a deadline passed
	ByGate   = "gate"   // it follows from another event of the same batch
)

// Event is one line of a machine's log: something that was decided or seen, never changed.
type Event struct {
	Seq   uint64    // 1 for the first of a machine, no gaps
	Time  time.Time // UTC, milliseconds; for people only: nothing is ordered by it
	Type  Type
	V     int    // version of the data, 1 for the first
	ID    string // UUID, made once, before the first try to append it
	By    string // ByWorker, ByWatch, ByTimer, ByGate, or "<account>@<source address>"
	Cause uint64 // seq of the intent that this event belongs to; 0 for an intent and for what nobody asked for
	Corr  string // UUID of the request that the intent came with, which is the id of its Redfish Task; or ""
	Data  Data
	Prev  string // first 16 bytes of the SHA-256 of the previous line, in hex; FirstPrev in the first

	// Foreign tells that the line holds something this build does not know. An unknown field: a snapshot would lose it,
	// so no segment is rolled over. An unknown type or a newer version (Data is Unknown): nothing may be decided on it.
	Foreign bool
}

// FirstPrev is the Prev of a machine's first event.
const FirstPrev = "00000000000000000000000000000000"

// Data is what an event of one type says. Implementations are plain structs, passed by value.
type Data interface {
	// EventType is the type whose data this is.
	EventType() Type
}

// New makes an event that still lacks what the log gives it: Seq, Time, ID and Prev.
func New(by string, cause uint64, corr string, data Data) Event {
	return Event{Type: data.EventType(), V: 1, By: by, Cause: cause, Corr: corr, Data: data}
}
