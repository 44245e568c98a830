package domain

import (
	"encoding/json"
	"time"
)

// MachineAdopted is the first event of every log.
type MachineAdopted struct {
	Machine
}

// MachineLost says that the VM is gone. It cancels what was held.
type MachineLost struct {
	Reason string `json:"reason"`
}

// MediaRequested asks for an image in a slot. Its seq is the medium's id from then on.
type MediaRequested struct {
	Slot     string    `json:"slot"`
	Image    string    `json:"image"`              // redacted URL
	Digest   string    `json:"digest"`             // of the full URL, see Digest
	Secret   string    `json:"secret,omitempty"`   // name of the Secret with the full URL and credentials, if Image is not all
	Insecure bool      `json:"insecure,omitempty"` // VerifyCertificate was false
	Deadline time.Time `json:"deadline"`           // for the import, UTC
}

// MediaRefused says why an insert was turned down by the gate.
type MediaRefused struct {
	Slot   string `json:"slot"`
	Image  string `json:"image"`
	Reason string `json:"reason"`
}

// ImportStarted says that the medium's volume exists.
type ImportStarted struct {
	Volume string `json:"volume"`
	UID    string `json:"uid"`
}

// ImportCompleted says that all the data is there and its claim is bound; the VM does not refer to it yet.
type ImportCompleted struct {
	Deadline time.Time `json:"deadline"` // for the attach, UTC
}

// MediaInserted says that the VM's template refers to the volume. This releases a hold.
type MediaInserted struct{}

// ImportFailed says that a medium will not come. It stays the slot's current one until eject or a new insert.
type ImportFailed struct {
	Reason string `json:"reason"`
}

// ImportExpired is ImportFailed by a deadline.
type ImportExpired struct {
	Deadline time.Time `json:"deadline"`
}

// EjectRequested empties the slot.
type EjectRequested struct {
	Slot   string `json:"slot"`
	Medium uint64 `json:"medium"`           // seq of its MediaRequested
	Reason string `json:"reason,omitempty"` // only when nobody asked for it through Redfish
}

// MediaEjected says that nothing of the medium is left in the cluster.
type MediaEjected struct{}

// VolumeSwept says that an object with our label that the log does not want was removed.
type VolumeSwept struct {
	Volume string `json:"volume"`
	UID    string `json:"uid,omitempty"` // empty: an entry in the VM's template
	Reason string `json:"reason"`
}

// PowerRequested asks for a power action that the gate let through or holds.
type PowerRequested struct {
	ResetType ResetType `json:"resetType"`
	Goal      Goal      `json:"goal"`
	Force     bool      `json:"force,omitempty"` // do not wait for the guest
	VMI       string    `json:"vmi,omitempty"`   // UID of the instance it is about, if one ran
	Deadline  time.Time `json:"deadline"`        // UTC; a hold moves it
}

// RequestRepeated says that an intent was sent again; its cause is that intent.
type RequestRepeated struct{}

// PowerDeferred says that a power intent is held until a medium is in.
type PowerDeferred struct {
	Media uint64    `json:"media"` // seq of its MediaRequested
	Until time.Time `json:"until"` // the medium's deadline, UTC
}

// PowerReleased ends a hold: the intent is carried out.
type PowerReleased struct {
	Goal     Goal      `json:"goal"`          // a held restart of a machine that is off by now is a start
	VMI      string    `json:"vmi,omitempty"` // UID of the instance that a restart ends
	Deadline time.Time `json:"deadline"`      // UTC
}

// PowerCancelled ends a power intent that was not carried out.
type PowerCancelled struct {
	Reason string `json:"reason"`
}

// PowerRefused says why a power action was turned down by the gate.
type PowerRefused struct {
	ResetType ResetType `json:"resetType"`
	Reason    string    `json:"reason"`
}

// PowerApplied says that the cluster has taken the change.
type PowerApplied struct {
	VMI string `json:"vmi,omitempty"` // UID of the instance that runs now, where already known
}

// PowerFailed says that a power intent was given up.
type PowerFailed struct {
	Reason string `json:"reason"`
}

// PowerObserved says what the cluster shows, when that changes, whoever did it.
type PowerObserved struct {
	State PowerState `json:"state"`
	VMI   string     `json:"vmi,omitempty"` // UID
}

// BootOverrideSet asks for another boot order, or for the original one (Disabled).
type BootOverrideSet struct {
	Target  BootTarget  `json:"target"`
	Enabled BootEnabled `json:"enabled"`
}

// BootOverrideApplied says that the VM's template has the asked order, or that there is no such device to put first.
type BootOverrideApplied struct {
	VMI     string `json:"vmi,omitempty"`     // UID of the instance that ran meanwhile and has not seen it
	Changed bool   `json:"changed,omitempty"` // false: no such device, the template is as it was
	Refused string `json:"refused,omitempty"` // why the cluster does not take the order
}

// BootOverrideConsumed says that an instance was started with a Once override.
type BootOverrideConsumed struct {
	VMI string `json:"vmi"` // UID
}

// BootOverrideReverted says that the template has its original order again.
type BootOverrideReverted struct{}

// Unknown is the data of an event whose type or version this build does not know.
type Unknown struct {
	Type Type
	Raw  json.RawMessage
}

// EventType implements Data.
func (MachineAdopted) EventType() Type       { return MachineAdoptedType }
func (MachineLost) EventType() Type          { return MachineLostType }
func (MediaRequested) EventType() Type       { return MediaRequestedType }
func (MediaRefused) EventType() Type         { return MediaRefusedType }
func (ImportStarted) EventType() Type        { return ImportStartedType }
func (ImportCompleted) EventType() Type      { return ImportCompletedType }
func (MediaInserted) EventType() Type        { return MediaInsertedType }
func (ImportFailed) EventType() Type         { return ImportFailedType }
func (ImportExpired) EventType() Type        { return ImportExpiredType }
func (EjectRequested) EventType() Type       { return EjectRequestedType }
func (MediaEjected) EventType() Type         { return MediaEjectedType }
func (VolumeSwept) EventType() Type          { return VolumeSweptType }
func (PowerRequested) EventType() Type       { return PowerRequestedType }
func (RequestRepeated) EventType() Type      { return RequestRepeatedType }
func (PowerDeferred) EventType() Type        { return PowerDeferredType }
func (PowerReleased) EventType() Type        { return PowerReleasedType }
func (PowerCancelled) EventType() Type       { return PowerCancelledType }
func (PowerRefused) EventType() Type         { return PowerRefusedType }
func (PowerApplied) EventType() Type         { return PowerAppliedType }
func (PowerFailed) EventType() Type          { return PowerFailedType }
func (PowerObserved) EventType() Type        { return PowerObservedType }
func (BootOverrideSet) EventType() Type      { return BootOverrideSetType }
func (BootOverrideApplied) EventType() Type  { return BootOverrideAppliedType }
func (BootOverrideConsumed) EventType() Type { return BootOverrideConsumedType }
func (BootOverrideReverted) EventType() Type { return BootOverrideRevertedType }
func (u Unknown) EventType() Type            { return u.Type }
