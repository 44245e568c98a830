package kubevirt

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	v1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// decodeVM reads a VM as a typed object. It is for reading only: what a newer KubeVirt has besides is lost in it.
func decodeVM(u *unstructured.Unstructured) (*v1.VirtualMachine, error) {
	vm := &v1.VirtualMachine{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, vm); err != nil {
		return nil, fmt.Errorf("read VM %s/%s: %w", u.GetNamespace(), u.GetName(), err)
	}
	return vm, nil
}

// viewVM gives what matters of a VM.
func viewVM(m domain.Machine, vm *v1.VirtualMachine) domain.VM {
	v := domain.VM{
		ResourceVersion:   vm.ResourceVersion,
		Deleting:          vm.DeletionTimestamp != nil,
		RunStrategy:       runStrategy(vm),
		StatusRunStrategy: domain.RunStrategy(vm.Status.RunStrategy),
		PowerFence:        domain.ParseFence(m, vm.Annotations[domain.AnnotationPower]),
		MediaFence:        domain.ParseFence(m, vm.Annotations[domain.AnnotationMedia]),
	}
	for _, r := range vm.Status.StateChangeRequests {
		v.StartQueued = v.StartQueued || r.Action == v1.StartRequest
		v.StopQueued = v.StopQueued || r.Action == v1.StopRequest
	}
	v.GracePeriod = 30 * time.Second // KubeVirt's default
	if vm.Spec.Template == nil {
		return v
	}
	spec := &vm.Spec.Template.Spec
	if g := spec.TerminationGracePeriodSeconds; g != nil {
		v.GracePeriod = time.Duration(*g) * time.Second
	}
	v.Devices = devices(spec)
	var original originals
	if original, v.Overridden = readOriginals(vm.Annotations[domain.AnnotationBoot]); v.Overridden {
		for i, d := range v.Devices {
			if order, known := original.of(d)[d.Name]; known {
				v.Devices[i].Original = order
			}
		}
	}
	for _, vol := range spec.Volumes {
		if claim := claimName(vol); ours(m, vol.Name, claim) {
			v.Attached = append(v.Attached, claim)
		}
	}
	return v
}

// runStrategy reads `running` as the strategy that it stands for, as KubeVirt does; with neither, a VM is Halted.
func runStrategy(vm *v1.VirtualMachine) domain.RunStrategy {
	switch {
	case vm.Spec.RunStrategy != nil:
		return domain.RunStrategy(*vm.Spec.RunStrategy)
	case vm.Spec.Running != nil && *vm.Spec.Running:
		return domain.RunAlways
	}
	return domain.RunHalted
}

// viewVMI gives what matters of an instance.
func viewVMI(vmi *v1.VirtualMachineInstance) domain.VMI {
	return domain.VMI{
		UID:      string(vmi.UID),
		Deleting: vmi.DeletionTimestamp != nil,
		Final:    vmi.IsFinal(),
		Running:  vmi.Status.Phase == v1.Running,
		Devices:  devices(&vmi.Spec),
	}
}

// devices lists what a template or an instance can boot: disks first. A CD-ROM without a volume is empty.
func devices(spec *v1.VirtualMachineInstanceSpec) []domain.Device {
	filled := map[string]bool{}
	for _, v := range spec.Volumes {
		filled[v.Name] = true
	}
	var list []domain.Device
	add := func(kind domain.DeviceKind, name string, order *uint) {
		d := domain.Device{Kind: kind, Name: name}
		if order != nil {
			d.BootOrder, d.Original = *order, *order
		}
		list = append(list, d)
	}
	for _, d := range spec.Domain.Devices.Disks {
		switch {
		case d.CDRom != nil && filled[d.Name]:
			add(domain.DeviceCdrom, d.Name, d.BootOrder)
		case d.CDRom == nil:
			add(domain.DeviceDisk, d.Name, d.BootOrder)
		}
	}
	for _, i := range spec.Domain.Devices.Interfaces {
		add(domain.DeviceNIC, i.Name, i.BootOrder)
	}
	return list
}

func claimName(v v1.Volume) string {
	switch {
	case v.DataVolume != nil:
		return v.DataVolume.Name
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	}
	return ""
}

// volumeName is what [domain.VolumeName] makes for any machine.
var volumeName = regexp.MustCompile(`^ledgerfish-[0-9a-f]{8}-[0-9]+$`)

// ours tells whether a template's volume entry is one that Ledgerfish added: to this machine, or to the machine that this
// one is a copy of. An entry that a user called like our disk, with a claim of his own, is not.
func ours(m domain.Machine, entry, claim string) bool {
	if !volumeName.MatchString(claim) {
		return false
	}
	return entry == domain.DiskName || strings.HasPrefix(claim, "ledgerfish-"+m.UID8()+"-")
}
