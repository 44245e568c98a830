package node

import (
	"testing"

	"github.com/stretchr/testify/assert"

	virtv1 "kubevirt.io/api/core/v1"
)

// "Disks without a boot order are not tried if a disk with a boot order exists"; interfaces without one never are
// (kubevirt.io/api/core/v1).
func TestBootOrder(t *testing.T) {
	order := func(n uint) *uint { return &n }
	cd := func(o *uint) virtv1.Disk {
		return virtv1.Disk{Name: "cd", BootOrder: o, DiskDevice: virtv1.DiskDevice{CDRom: &virtv1.CDRomTarget{}}}
	}
	root := func(o *uint) virtv1.Disk { return virtv1.Disk{Name: "root", BootOrder: o} }
	for name, c := range map[string]struct {
		disks []virtv1.Disk
		nic   *uint
		want  []string
	}{
		"no order: as in the spec":       {[]virtv1.Disk{root(nil), cd(nil)}, nil, []string{"root", "cd"}},
		"order wins over the spec":       {[]virtv1.Disk{root(order(2)), cd(order(1))}, nil, []string{"cd", "root"}},
		"a disk without is left out":     {[]virtv1.Disk{root(nil), cd(order(1))}, nil, []string{"cd"}},
		"interface between disks":        {[]virtv1.Disk{root(order(3)), cd(order(1))}, order(2), []string{"cd", "nic", "root"}},
		"only an interface has an order": {[]virtv1.Disk{root(nil), cd(nil)}, order(1), []string{"nic", "root", "cd"}},
	} {
		t.Run(name, func(t *testing.T) {
			vmi := &virtv1.VirtualMachineInstance{}
			vmi.Spec.Domain.Devices = virtv1.Devices{Disks: c.disks, Interfaces: []virtv1.Interface{{Name: "nic", BootOrder: c.nic}}}
			var got []string
			for _, d := range bootOrder(vmi) {
				got = append(got, d.name)
			}
			assert.Equal(t, c.want, got)
		})
	}
}
