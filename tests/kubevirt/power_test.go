package kubevirt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// C14: a guest that ignores ACPI, with three minutes of grace, is off within seconds of ForceOff; a restart by force as well.
func TestForceDoesNotWaitForTheGuest(t *testing.T) {
	for _, strategy := range []string{"runStrategy: Halted", "runStrategy: Manual"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			b := newBridge(t)
			m := b.newVM("web-0", strategy, 180)
			b.node("/acpi?ignore=true&vmi=" + m.String())
			b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
			first := b.on(m, "")
			b.atRest(m)
			start := time.Now()
			b.mustDo(m, domain.Reset{ResetType: domain.ResetForceRestart})
			b.on(m, first)
			b.atRest(m)
			b.mustDo(m, domain.Reset{ResetType: domain.ResetForceOff})
			b.off(m)
			b.atRest(m)
			assert.Less(t, time.Since(start), time.Minute)
			assert.Equal(t, domain.PowerOff, b.state(m).PowerState())
		})
	}
}

// C14: GracefulShutdown waits, and ForceOff on top of it does not.
func TestForceOffOvertakesAGracefulShutdown(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 180)
	b.node("/acpi?ignore=true&vmi=" + m.String())
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	b.on(m, "")
	b.atRest(m)
	b.mustDo(m, domain.Reset{ResetType: domain.ResetGracefulShutdown})
	b.eventually("stopping", func() bool { return b.state(m).PowerState() == domain.PowerPoweringOff && b.instance(m) == "" })
	b.mustDo(m, domain.Reset{ResetType: domain.ResetForceOff})
	b.off(m)
	b.atRest(m)
	assert.Equal(t, domain.PowerOff, b.state(m).PowerState())
}

// C17, C16: a guest that powers itself off stays off, which is seen; On starts it again, once, and On when on is nothing.
func TestAGuestThatPowersItselfOffStaysOff(t *testing.T) {
	for _, strategy := range []string{"runStrategy: Halted", "runStrategy: Manual"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			b := newBridge(t)
			m := b.newVM("web-0", strategy, 30)
			b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
			first := b.on(m, "")
			b.atRest(m)
			b.node("/poweroff?vmi=" + m.String())
			b.off(m)
			b.eventually("seen off", func() bool { return b.state(m).PowerState() == domain.PowerOff })
			b.atRest(m)
			b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
			second := b.on(m, first)
			b.atRest(m)
			b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
			b.atRest(m)
			assert.Equal(t, second, b.instance(m))
			assert.Len(t, b.boots(m), 2)
		})
	}
}

// C13: On while a slow guest still goes down starts it when it is gone, once.
func TestOnWhileStopping(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 60)
	b.node("/acpi?delay=5s&vmi=" + m.String())
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	first := b.on(m, "")
	b.atRest(m)
	b.mustDo(m, domain.Reset{ResetType: domain.ResetGracefulShutdown})
	b.eventually("stopping", func() bool { return b.instance(m) == "" })
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	assert.Equal(t, domain.PowerPoweringOn, b.state(m).PowerState())
	b.on(m, first)
	b.atRest(m)
	assert.Len(t, b.boots(m), 2)
}

// C31: somebody starts the VM by KubeVirt's own means during an import: it is seen, it boots without the CD, and the end
// of the import does not restart it.
func TestAStartBySomebodyElseDuringAnImport(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	name := b.namespace + "/" + domain.VolumeName(m, b.atRest(m).Seq+1)
	b.node("/importer?mode=hang&name=" + name)
	b.mustDo(m, insert(b.image("LATE", nil)))
	b.eventually("the import has started", func() bool { medium, _ := b.state(m).CurrentMedium(); return medium.UID != "" })
	require.NoError(t, b.vms.KubevirtV1().VirtualMachines(b.namespace).Start(b.ctx, m.Name, &v1.StartOptions{}))
	uid := b.on(m, "")
	b.eventually("seen on", func() bool { return b.state(m).PowerState() == domain.PowerOn })
	b.node("/importer?mode=ok&name=" + name)
	b.atRest(m)
	assert.Equal(t, uid, b.instance(m))
	assert.Len(t, b.boots(m), 1)
}

// C18, C19: every target and lifetime reads back from the template, and Disabled restores it.
func TestBootOverrides(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	template := b.vm(m).Spec.Template.DeepCopy()
	first := func() string {
		for _, d := range b.vm(m).Spec.Template.Spec.Domain.Devices.Disks {
			if d.BootOrder != nil && *d.BootOrder == 1 {
				return d.Name
			}
		}
		return "no disk"
	}
	continuous, disabled := domain.BootContinuous, domain.BootDisabled
	pxe := domain.BootPxe
	b.mustDo(m, domain.SetBoot{Target: &pxe, Enabled: &continuous})
	b.atRest(m)
	assert.Equal(t, "no disk", first())
	assert.EqualValues(t, 1, *b.vm(m).Spec.Template.Spec.Domain.Devices.Interfaces[0].BootOrder)
	b.mustDo(m, once(domain.BootHdd))
	b.atRest(m)
	assert.Equal(t, "root", first())
	b.mustDo(m, domain.SetBoot{Enabled: &disabled})
	b.atRest(m)
	assert.Equal(t, template, b.vm(m).Spec.Template)

	b.mustDo(m, insert(b.image("CD", nil)))
	b.atRest(m)
	assert.Equal(t, "root", first(), "an insert alone changes no order")
	b.mustDo(m, once(domain.BootCd))
	b.atRest(m)
	assert.Equal(t, domain.DiskName, first())
	b.mustDo(m, domain.EjectMedia{Slot: domain.SlotCd})
	b.atRest(m)
	b.mustDo(m, domain.SetBoot{Enabled: &disabled})
	b.atRest(m)
	assert.Equal(t, template, b.vm(m).Spec.Template)
}

// The spec of a VM that somebody else is just changing is never overwritten: their field is still there.
func TestAForeignChangeSurvives(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	b.mustDo(m, insert(b.image("CD", nil)))
	for i := range 20 {
		b.change(m, func(vm *v1.VirtualMachine) {
			vm.Spec.Template.Spec.Domain.Devices.Disks[0].Serial = "S" + string(rune('A'+i))
		})
	}
	b.change(m, func(vm *v1.VirtualMachine) { vm.Spec.Template.Spec.Domain.Devices.Disks[0].Serial = "LAST" })
	b.atRest(m)
	disks := b.vm(m).Spec.Template.Spec.Domain.Devices.Disks
	assert.Equal(t, "LAST", disks[0].Serial)
	assert.Equal(t, domain.DiskName, disks[len(disks)-1].Name)
}
