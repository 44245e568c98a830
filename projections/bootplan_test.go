package projections

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ledgerfish/ledgerfish/domain"
)

func TestPlanBoot(t *testing.T) {
	dev := func(kind domain.DeviceKind, name string, order uint) domain.Device {
		return domain.Device{Kind: kind, Name: name, BootOrder: order, Original: order}
	}
	root, data := dev(domain.DeviceDisk, "root", 0), dev(domain.DeviceDisk, "data", 0)
	nic, cd, theirs := dev(domain.DeviceNIC, "default", 0), dev(domain.DeviceCdrom, domain.DiskName, 0), dev(domain.DeviceCdrom, "theirs", 0)
	ordered := func(d domain.Device, n uint) domain.Device { d.BootOrder, d.Original = n, n; return d }
	for name, c := range map[string]struct {
		devices []domain.Device
		target  domain.BootTarget
		want    []uint
	}{
		"the CD before the disk, which was first":          {[]domain.Device{ordered(root, 1), nic, cd}, domain.BootCd, []uint{2, 0, 1}},
		"no order: disks as listed, no network":            {[]domain.Device{root, data, nic, cd}, domain.BootCd, []uint{2, 3, 0, 1}},
		"ours before theirs":                               {[]domain.Device{theirs, root, cd}, domain.BootCd, []uint{2, 3, 1}},
		"the rest keeps its order":                         {[]domain.Device{ordered(root, 2), ordered(data, 1), ordered(nic, 3), cd}, domain.BootCd, []uint{3, 2, 4, 1}},
		"disks before a CD-ROM that was first":             {[]domain.Device{ordered(theirs, 1), ordered(root, 2)}, domain.BootHdd, []uint{2, 1}},
		"the network first, the unordered stays out":       {[]domain.Device{ordered(root, 1), data, nic}, domain.BootPxe, []uint{2, 0, 1}},
		"an order that is as asked already stays as it is": {[]domain.Device{ordered(root, 1), nic}, domain.BootHdd, []uint{1, 0}},
	} {
		plan, ok := PlanBoot(c.devices, c.target)
		assert.True(t, ok, name)
		var got []uint
		for _, d := range plan {
			got = append(got, d.BootOrder)
		}
		assert.Equal(t, c.want, got, name)
	}
	_, ok := PlanBoot([]domain.Device{root, nic}, domain.BootCd)
	assert.False(t, ok, "there is no CD-ROM")
	_, ok = PlanBoot([]domain.Device{root, nic}, domain.BootNone)
	assert.False(t, ok)
}

// An override on top of another is planned from the originals, not from the older override.
func TestPlanBootStartsFromTheOriginals(t *testing.T) {
	plan, ok := PlanBoot([]domain.Device{{Kind: domain.DeviceDisk, Name: "root", BootOrder: 2, Original: 1},
		{Kind: domain.DeviceCdrom, Name: domain.DiskName, BootOrder: 1, Original: 0}}, domain.BootHdd)
	assert.True(t, ok)
	assert.Equal(t, []uint{1, 0}, []uint{plan[0].BootOrder, plan[1].BootOrder})
}
