package kubevirt

import (
	corev1 "k8s.io/api/core/v1"
	v1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// hardware reads what a client may inventory from a VM's spec. What an instancetype gives is only in the instance's spec,
// so a VM with one shows its processors and memory while it runs. vmi may be nil.
func hardware(vm *v1.VirtualMachine, vmi *v1.VirtualMachineInstance) domain.Hardware {
	h := domain.Hardware{
		Machine:  domain.Machine{Namespace: vm.Namespace, Name: vm.Name, UID: string(vm.UID)},
		UUID:     string(vm.UID),
		Arch:     "amd64",
		BootMode: domain.BootLegacy,
	}
	if vm.Spec.Template == nil {
		return h
	}
	spec := &vm.Spec.Template.Spec
	if spec.Architecture != "" {
		h.Arch = spec.Architecture
	}
	if f := spec.Domain.Firmware; f != nil {
		if h.Serial = f.Serial; f.UUID != "" {
			h.UUID = string(f.UUID)
		}
		if f.Bootloader != nil && f.Bootloader.EFI != nil {
			h.BootMode = domain.BootUEFI
			h.SecureBoot = f.Bootloader.EFI.SecureBoot == nil || *f.Bootloader.EFI.SecureBoot
		}
	}
	sized := &spec.Domain
	if vm.Spec.Instancetype != nil && vmi != nil {
		sized = &vmi.Spec.Domain
	}
	h.Sockets, h.Cores, h.Threads = topology(sized)
	h.MemoryBytes = memory(sized)
	h.NICs = nics(spec, vmi)
	h.Disks = disks(vm)
	return h
}

// topology follows KubeVirt: what is not given is 1; without any, the CPU request, else the limit, counts as sockets.
func topology(d *v1.DomainSpec) (sockets, cores, threads int) {
	if c := d.CPU; c != nil && (c.Sockets > 0 || c.Cores > 0 || c.Threads > 0) {
		return max(1, int(c.Sockets)), max(1, int(c.Cores)), max(1, int(c.Threads))
	}
	for _, list := range []corev1.ResourceList{d.Resources.Requests, d.Resources.Limits} {
		if q, ok := list[corev1.ResourceCPU]; ok {
			return max(1, int(q.Value())), 1, 1 // Value rounds up
		}
	}
	return 1, 1, 1
}

// memory is what the guest sees: its own figure, else what is requested for it, else the limit.
func memory(d *v1.DomainSpec) int64 {
	if d.Memory != nil && d.Memory.Guest != nil {
		return d.Memory.Guest.Value()
	}
	for _, list := range []corev1.ResourceList{d.Resources.Requests, d.Resources.Limits} {
		if q, ok := list[corev1.ResourceMemory]; ok {
			return q.Value()
		}
	}
	return 0
}

// nics takes a MAC that the spec leaves open from the running instance.
func nics(spec *v1.VirtualMachineInstanceSpec, vmi *v1.VirtualMachineInstance) []domain.NIC {
	seen := map[string]string{}
	if vmi != nil {
		for _, i := range vmi.Status.Interfaces {
			seen[i.Name] = i.MAC
		}
	}
	var list []domain.NIC
	for _, i := range spec.Domain.Devices.Interfaces {
		nic := domain.NIC{Name: i.Name, MAC: i.MacAddress, Up: vmi != nil && vmi.Status.Phase == v1.Running}
		if nic.MAC == "" {
			nic.MAC = seen[i.Name]
		}
		list = append(list, nic)
	}
	return list
}

// disks knows the capacity of those that the VM's own dataVolumeTemplates make.
func disks(vm *v1.VirtualMachine) []domain.Disk {
	capacity := map[string]int64{} // by name of the claim
	for _, t := range vm.Spec.DataVolumeTemplates {
		switch {
		case t.Spec.Storage != nil:
			capacity[t.Name] = t.Spec.Storage.Resources.Requests.Storage().Value()
		case t.Spec.PVC != nil:
			capacity[t.Name] = t.Spec.PVC.Resources.Requests.Storage().Value()
		}
	}
	spec, claims := &vm.Spec.Template.Spec, map[string]string{}
	for _, v := range spec.Volumes {
		claims[v.Name] = claimName(v)
	}
	var list []domain.Disk
	for _, d := range spec.Domain.Devices.Disks {
		disk := domain.Disk{Name: d.Name, Kind: domain.DeviceDisk, CapacityBytes: capacity[claims[d.Name]]}
		switch {
		case d.CDRom != nil:
			disk.Kind, disk.Bus = domain.DeviceCdrom, string(d.CDRom.Bus)
		case d.LUN != nil:
			disk.Bus = string(d.LUN.Bus)
		case d.Disk != nil:
			disk.Bus = string(d.Disk.Bus)
		}
		list = append(list, disk)
	}
	return list
}
