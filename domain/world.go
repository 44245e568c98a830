package domain

import "time"

// World is one machine as the cluster showed it at one moment: what effects are chosen by, never remembered.
type World struct {
	VM      *VM      // nil: there is no VirtualMachine with the machine's UID
	VMI     *VMI     // nil: no instance, so the machine is off
	Volumes []Volume // every DataVolume and PVC of the machine with our label or with a name of ours
}

// Volume gives the volume of that name.
func (w World) Volume(name string) (Volume, bool) {
	for _, v := range w.Volumes {
		if v.Name == name {
			return v, true
		}
	}
	return Volume{}, false
}

// RunStrategy is a KubeVirt run strategy; `running: true` reads as Always and `running: false` as Halted.
type RunStrategy string

// The run strategies that matter here.
const (
	RunHalted         RunStrategy = "Halted"
	RunManual         RunStrategy = "Manual"
	RunAlways         RunStrategy = "Always"
	RunRerunOnFailure RunStrategy = "RerunOnFailure"
	RunOnce           RunStrategy = "Once"
)

// VM is what matters of a VirtualMachine.
type VM struct {
	ResourceVersion   string
	Deleting          bool
	RunStrategy       RunStrategy   // of the spec
	StatusRunStrategy RunStrategy   // what virt-controller last acted on
	StartQueued       bool          // status.stateChangeRequests has a Start
	StopQueued        bool          // status.stateChangeRequests has a Stop
	PowerFence        Fence         // AnnotationPower
	MediaFence        Fence         // AnnotationMedia
	Overridden        bool          // AnnotationBoot is there: the template's order is an override's
	Devices           []Device      // of the template, disks first, each group in its order
	Attached          []string      // names of the claims behind DiskName, or behind template volumes with our name prefix
	GracePeriod       time.Duration // terminationGracePeriodSeconds of the template
}

// DeviceKind tells what a device can boot.
type DeviceKind string

// The device kinds.
const (
	DeviceDisk  DeviceKind = "disk"  // also a LUN
	DeviceCdrom DeviceKind = "cdrom" // with a volume in it
	DeviceNIC   DeviceKind = "nic"
)

// Device is a bootable device of a template or of an instance. An empty CD-ROM is not one.
type Device struct {
	Kind      DeviceKind
	Name      string
	BootOrder uint // 0: none given
	Original  uint // as BootOrder was before an override, by AnnotationBoot; without one, the same as BootOrder
}

// VMI is what matters of a VirtualMachineInstance.
type VMI struct {
	UID      string
	Deleting bool
	Final    bool // phase Succeeded or Failed: it runs no more
	Running  bool // phase Running; neither Final nor Running: it is being started
	Devices  []Device
}

// Volume is a DataVolume and its PVC, either of which may be missing.
type Volume struct {
	Name       string
	Managed    bool   // it carries our label with this machine's UID
	Medium     uint64 // by its label
	DataVolume bool   // the DataVolume exists
	UID        string // of the DataVolume, or of the PVC when there is no DataVolume
	Deleting   bool
	Complete   bool   // phase Succeeded and the PVC Bound
	Failed     bool   // a phase that CDI itself will not leave
	Message    string // why it does not get on, as CDI tells it
	Restarts   int
	Percent    float64   // 0 to 100, by CDI
	MovedAt    time.Time // when Percent or the phase last changed, as far as this process has seen
}
