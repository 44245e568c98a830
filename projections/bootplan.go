package projections

import (
	"cmp"
	"slices"

	"github.com/ledgerfish/ledgerfish/domain"
)

// PlanBoot gives the devices, in the order in which they came, with the boot orders that put the target's kind first and
// keep the original order of the rest behind it; false: there is no such device. Ledgerfish's own CD-ROM comes before
// other CD-ROMs. Where no device had an order, KubeVirt boots disks as they are listed, so the rest gets that order.
func PlanBoot(devices []domain.Device, target domain.BootTarget) ([]domain.Device, bool) {
	kind, ok := map[domain.BootTarget]domain.DeviceKind{domain.BootCd: domain.DeviceCdrom, domain.BootHdd: domain.DeviceDisk,
		domain.BootPxe: domain.DeviceNIC}[target]
	if !ok || !slices.ContainsFunc(devices, func(d domain.Device) bool { return d.Kind == kind }) {
		return nil, false
	}
	ordered := slices.ContainsFunc(devices, func(d domain.Device) bool { return d.Original > 0 })
	rank := func(d domain.Device) int {
		switch {
		case d.Kind == kind && d.Name == domain.DiskName && d.Kind == domain.DeviceCdrom:
			return 0
		case d.Kind == kind:
			return 1
		case d.Original > 0 || !ordered && d.Kind != domain.DeviceNIC:
			return 2
		}
		return 3 // not bootable before, not bootable now
	}
	index := make([]int, len(devices))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int {
		x, y := devices[a], devices[b]
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(last(x.Original), last(y.Original)))
	})
	plan := slices.Clone(devices)
	for n, i := range index {
		plan[i].BootOrder = 0
		if rank(devices[i]) < 3 {
			plan[i].BootOrder = uint(n + 1)
		}
	}
	return plan, true
}

// last sorts "no order" behind every order.
func last(order uint) uint { return order - 1 }

func sameOrder(a, b []domain.Device) bool {
	return slices.EqualFunc(a, b, func(x, y domain.Device) bool { return x.BootOrder == y.BootOrder })
}

// bootsFirst gives the kind of the device that an instance tries first, by its own spec.
func bootsFirst(devices []domain.Device) domain.DeviceKind {
	if len(devices) == 0 {
		return ""
	}
	return slices.MinFunc(devices, func(a, b domain.Device) int { return cmp.Compare(last(a.BootOrder), last(b.BootOrder)) }).Kind
}

// carries tells whether an instance was started with the order of the target.
func carries(vmi domain.VMI, target domain.BootTarget) bool {
	plan, ok := PlanBoot(vmi.Devices, target)
	if !ok {
		return false
	}
	return bootsFirst(plan) == bootsFirst(vmi.Devices)
}
