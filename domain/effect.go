package domain

// Effect is one change to the cluster. Doing it twice does no harm, doing it late neither: each has a precondition or a
// fence. "Seq" is the seq of the intent that it carries out.
type Effect interface{ effect() }

// CreateVolume makes the DataVolume that imports a medium. An existing one with our labels is success; one without them
// is somebody else's and a terminal error.
type CreateVolume struct {
	Medium   uint64
	Volume   string
	Image    string // redacted
	Secret   string // name of the Secret with the full URL; empty: Image is the URL
	Insecure bool
}

// AttachMedia adds the CD-ROM and its volume to the VM's template and sets the media fence to Medium, on the VM as read.
type AttachMedia struct {
	Medium uint64
	Volume string
	Drop   []string // claims of ours that must not be there any more, taken out in the same update
}

// DetachMedia takes a medium's CD-ROM and volume out of the template and sets the media fence to Medium. It is always
// written, on the VM as read: afterwards a stalled AttachMedia of the same medium can not land. A newer fence stays.
type DetachMedia struct {
	Medium uint64
	Volume string
}

// DeleteVolume deletes a DataVolume, or a PVC without one, with its UID as precondition.
type DeleteVolume struct {
	Medium uint64 // 0: no medium of the log, the volume is swept
	Volume string
	UID    string
	Reason string // for VolumeSwept; empty: no event
}

// DropDisk takes template entries of ours out that the log does not want, on the VM as read.
type DropDisk struct{ Volume string }

// SetBootOrder gives the template the boot order that puts Target first, keeping the originals in an annotation.
type SetBootOrder struct {
	Seq    uint64
	Target BootTarget
}

// RestoreBootOrder gives the template its original order back and removes the annotation.
type RestoreBootOrder struct{ Seq uint64 }

// StartMachine starts the VM in the way of its run strategy, with the power fence Seq:start, on the VM as read.
type StartMachine struct {
	Seq    uint64
	Manual bool // start request in the status, the spec untouched
}

// StopMachine stops the VM in the way of its run strategy, with the power fence Seq:stop, on the VM as read. The fence is
// written also when nothing runs: afterwards a stalled start of an older intent can not land.
type StopMachine struct {
	Seq    uint64
	Manual bool   // stop request in the status for instance VMI, the spec untouched
	VMI    string // UID; empty: there is none
}

// ForceStop ends an instance without waiting for its guest.
type ForceStop struct {
	Seq uint64
	VMI string // UID
}

func (CreateVolume) effect()     {}
func (AttachMedia) effect()      {}
func (DetachMedia) effect()      {}
func (DeleteVolume) effect()     {}
func (DropDisk) effect()         {}
func (SetBootOrder) effect()     {}
func (RestoreBootOrder) effect() {}
func (StartMachine) effect()     {}
func (StopMachine) effect()      {}
func (ForceStop) effect()        {}

// Result is what came of an effect.
type Result struct {
	UID string // of what was created
	Err error  // terminal: trying again would not help. Transient errors are not results
}
