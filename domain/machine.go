package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Machine names a KubeVirt VirtualMachine. The UID is its identity: a VM that is created again under the same name is
// another machine with another log.
type Machine struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// String is "<namespace>/<name>", for people and for errors.
func (m Machine) String() string { return m.Namespace + "/" + m.Name }

// ID is the Redfish id "<namespace>.<name>". A namespace has no dot, so the first dot splits.
func (m Machine) ID() string { return m.Namespace + "." + m.Name }

// UID8 is the first 8 characters of the UID, the short form in object names and fences.
func (m Machine) UID8() string {
	if len(m.UID) <= 8 {
		return m.UID
	}
	return m.UID[:8]
}

// ParseID splits "<namespace>.<name>" or "<namespace>/<name>"; the UID stays empty.
func ParseID(id string) (Machine, error) {
	i := strings.IndexAny(id, "./")
	if i <= 0 || i == len(id)-1 {
		return Machine{}, Errorf(CodeNotFound, "%q is not <namespace>/<name> nor <namespace>.<name>", id)
	}
	return Machine{Namespace: id[:i], Name: id[i+1:]}, nil
}

// Limits of Kubernetes on the length of an object's name and of a label's value, in bytes.
const (
	maxName  = 253
	maxLabel = 63
)

// VolumeName is the name of the DataVolume, PVC and template volume of one medium: "ledgerfish-<uid8>-<seq>".
func VolumeName(m Machine, medium uint64) string {
	return fmt.Sprintf("ledgerfish-%s-%d", m.UID8(), medium)
}

// SegmentName is the name of the ConfigMap of segment n, counted from 1:
// "ledger.<namespace>.<name>.<uid8>.<000001>".
func SegmentName(m Machine, n int) string {
	suffix := fmt.Sprintf(".%s.%06d", m.UID8(), n)
	return shorten("ledger."+m.Namespace+"."+m.Name, maxName-len(suffix)) + suffix
}

// LabelValue makes s fit for the value of a label.
func LabelValue(s string) string { return shorten(s, maxLabel) }

// shorten cuts s to max bytes, the last 8 of which are then the start of its SHA-256, in hex.
func shorten(s string, max int) string {
	if len(s) <= max {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	cut := strings.TrimRight(s[:max-9], "-._")
	return cut + "-" + hex.EncodeToString(sum[:4])
}

// DiskName is the name of the CD-ROM disk and of its volume's entry that Ledgerfish adds to a VM's template.
const DiskName = "ledgerfish-cd"

// SlotCd is the Redfish id of the one VirtualMedia slot.
const SlotCd = "Cd"

// Labels and annotations. The first group is on log ConfigMaps, the second on what is made in a machine's namespace,
// the third on the VM.
const (
	LabelRecord    = "ledgerfish.io/record" // RecordLog
	LabelMachine   = "ledgerfish.io/machine"
	LabelNamespace = "ledgerfish.io/machine-namespace"
	LabelUID       = "ledgerfish.io/machine-uid"
	LabelSegment   = "ledgerfish.io/segment"
	LabelSealed    = "ledgerfish.io/sealed" // "true"
	RecordLog      = "log"

	AnnotationSummary = "ledgerfish.io/summary" // derived, for people; nothing reads it back

	LabelManaged = "ledgerfish.io/managed" // "true"
	LabelMedium  = "ledgerfish.io/medium"  // the seq of the MediaRequested

	AnnotationPower = "ledgerfish.io/power" // a Fence
	AnnotationMedia = "ledgerfish.io/media" // a Fence
	AnnotationBoot  = "ledgerfish.io/boot"  // the template's boot orders before an override
)

// Step is how far a power intent has got on the VM.
type Step string

// The steps of a power intent, in their order.
const (
	StepNone  Step = ""
	StepStop  Step = "stop"
	StepStart Step = "start"
)

// Fence is the newest intent that a VM has obeyed, as written on the VM in the very update that obeyed it.
// The zero Fence is "none yet".
type Fence struct {
	Seq  uint64
	Step Step
}

// Format gives the annotation's value: "<uid8>:<seq>" or "<uid8>:<seq>:<step>".
func (f Fence) Format(m Machine) string {
	s := m.UID8() + ":" + strconv.FormatUint(f.Seq, 10)
	if f.Step != StepNone {
		s += ":" + string(f.Step)
	}
	return s
}

// ParseFence reads an annotation's value. Another VM's value (a clone, a restore) and a malformed one count as absent.
func ParseFence(m Machine, s string) Fence {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 || parts[0] != m.UID8() {
		return Fence{}
	}
	seq, err := strconv.ParseUint(parts[1], 10, 64)
	if err != nil {
		return Fence{}
	}
	f := Fence{Seq: seq}
	if len(parts) == 3 {
		f.Step = Step(parts[2])
	}
	return f
}
