package node

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	virtv1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/iso9660"
	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/volume"
)

const noBootableDevice = "no bootable device"

// Boot is what a guest's firmware found, once.
type Boot struct {
	VMI    string    `json:"vmi"` // namespace/name
	UID    string    `json:"uid"`
	Time   time.Time `json:"time"`
	Cause  string    `json:"cause"`            // "start" or "reboot"
	Result string    `json:"result"`           // "cdrom:<disk>:<volume id>", "disk:<disk>", "network:<interface>" or "no bootable device"
	SHA256 string    `json:"sha256,omitempty"` // of the ISO image that was booted
	Tried  []Try     `json:"tried"`
}

// Try is one device the firmware looked at, in its order.
type Try struct {
	Device string `json:"device"`
	Kind   string `json:"kind"` // "cdrom", "disk" or "network"
	Found  string `json:"found"`
}

// history is every boot since this process started.
type history struct {
	mu    sync.Mutex
	boots []Boot
}

func (h *history) add(b Boot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.boots = append(h.boots, b)
}

func (h *history) list() []Boot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.boots)
}

// device is a disk or an interface that may be booted from.
type device struct {
	name  string
	kind  string
	order uint
}

// bootOrder is KubeVirt's: devices with a bootOrder, lowest first; disks without one are tried, in the order of the
// spec, only if no disk has one; interfaces without one never (kubevirt.io/api/core/v1, Disk.BootOrder and
// Interface.BootOrder).
func bootOrder(vmi *virtv1.VirtualMachineInstance) []device {
	var ordered, unordered []device
	diskHasOrder := false
	for _, d := range vmi.Spec.Domain.Devices.Disks {
		dev := device{name: d.Name, kind: "disk"}
		if d.CDRom != nil {
			dev.kind = "cdrom"
		}
		if d.BootOrder == nil {
			unordered = append(unordered, dev)
			continue
		}
		diskHasOrder = true
		dev.order = *d.BootOrder
		ordered = append(ordered, dev)
	}
	for _, i := range vmi.Spec.Domain.Devices.Interfaces {
		if i.BootOrder != nil {
			ordered = append(ordered, device{name: i.Name, kind: "network", order: *i.BootOrder})
		}
	}
	slices.SortStableFunc(ordered, func(a, b device) int { return cmp.Compare(a.order, b.order) })
	if diskHasOrder {
		return ordered
	}
	return append(ordered, unordered...)
}

// boot reads the volumes of a guest, in boot order, until one boots.
func (n *Node) boot(vmi *virtv1.VirtualMachineInstance, cause string) Boot {
	b := Boot{VMI: vmi.Namespace + "/" + vmi.Name, UID: string(vmi.UID), Time: time.Now().UTC(), Cause: cause, Result: noBootableDevice, Tried: []Try{}}
	for _, d := range bootOrder(vmi) {
		found, sum, ok := n.try(vmi, d)
		b.Tried = append(b.Tried, Try{Device: d.name, Kind: d.kind, Found: found})
		if ok {
			b.Result, b.SHA256 = found, sum
			break
		}
	}
	return b
}

// try returns what was found on a device: the boot's result, or the reason why there is none.
func (n *Node) try(vmi *virtv1.VirtualMachineInstance, d device) (found, sum string, ok bool) {
	if d.kind == "network" {
		if n.faults.hasNetboot() {
			return "network:" + d.name, "", true
		}
		return "no network boot server", "", false
	}
	pv, reason := n.volumeOf(vmi, d.name)
	if pv == "" {
		return reason, "", false
	}
	f, err := n.volumes.Open(pv)
	if err != nil {
		return err.Error(), "", false
	}
	defer f.Close() //nolint:errcheck // read only
	if d.kind == "disk" {
		if volume.IsBootableDisk(f) {
			return "disk:" + d.name, "", true
		}
		return "no boot record on the disk", "", false
	}
	info, err := f.Stat()
	if err != nil {
		return err.Error(), "", false
	}
	image, err := iso9660.Inspect(f, info.Size())
	if err != nil {
		return err.Error(), "", false
	}
	if sum, err = image.Digest(f); err != nil {
		return err.Error(), "", false
	}
	return fmt.Sprintf("cdrom:%s:%s", d.name, image.VolumeID), sum, true
}

// volumeOf is the PersistentVolume behind a disk, or why there is none.
func (n *Node) volumeOf(vmi *virtv1.VirtualMachineInstance, disk string) (pv, reason string) {
	for _, v := range vmi.Spec.Volumes {
		if v.Name != disk {
			continue
		}
		var name string
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.DataVolume != nil:
			name = v.DataVolume.Name
		default:
			return "", "this kind of volume holds no data here"
		}
		claim := n.cache.claim(vmi.Namespace, name)
		if claim == nil || claim.Spec.VolumeName == "" {
			return "", "claim " + name + " has no volume"
		}
		return claim.Spec.VolumeName, ""
	}
	return "", "empty"
}
