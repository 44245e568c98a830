package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// C18, C19: Once reads back as it was set, boots the CD although the disk comes first, and is spent; then the orders
// are the original ones, field for field, and the next start boots the disk.
func TestBootOnce(t *testing.T) {
	t.Parallel()
	harness.Need(t, env)
	disk := env.Images.Put("bootable-disk", harness.Image{ISO: harness.BootableDisk()})
	h := newHost(t, harness.Shape{Orders: true, DiskURL: disk})
	url, iso := h.image("boot.iso", harness.Image{Takes: time.Second})

	h.insert(url)
	h.awaitEvent(domain.MediaInsertedType, 1)
	vm, err := env.VM(t.Context(), h.VM)
	require.NoError(t, err)
	devices, original := vm.Spec.Template.Spec.Domain.Devices, h.Original.Template.Spec.Domain.Devices
	require.Len(t, devices.Disks, 2)
	assert.Contains(t, devices.Disks, original.Disks[0], "an insert alone changes no boot order")
	assert.Equal(t, original.Interfaces, devices.Interfaces)
	assert.Zero(t, h.starts(), "nor the power")

	h.setBoot(domain.BootCd, domain.BootOnce)
	h.reset(domain.ResetOn)
	h.bootReads(domain.BootCd, domain.BootOnce)
	h.booted(1, iso)
	h.awaitEvent(domain.BootOverrideConsumedType, 1)
	h.bootReads(domain.BootNone, domain.BootDisabled)
	require.NoError(t, env.Node.Reboot(t.Context(), h.String()))
	h.booted(2, iso) // the same instance: nobody has ejected

	h.awaitEvent(domain.BootOverrideRevertedType, 1)
	h.reset(domain.ResetForceOff)
	h.awaitOff()
	h.reset(domain.ResetOn)
	assert.Equal(t, "disk:root", h.awaitBoot(3).Result)
	h.putAway()
}

// IPA's way: Continuous to the disk, eject while it runs, the guest powers off, On.
func TestEjectWhileRunning(t *testing.T) {
	t.Parallel()
	harness.Need(t, env)
	disk := env.Images.Put("bootable-disk", harness.Image{ISO: harness.BootableDisk()})
	h := newHost(t, harness.Shape{DiskURL: disk})
	url, iso := h.image("ipa.iso", harness.Image{Takes: time.Second})
	h.insert(url)
	h.setBoot(domain.BootCd, domain.BootOnce)
	h.reset(domain.ResetOn)
	h.booted(1, iso)
	h.setBoot(domain.BootHdd, domain.BootContinuous)
	h.eject()
	require.NoError(t, env.Node.PowerOff(t.Context(), h.String()))
	h.awaitPower(domain.PowerOff)
	h.reset(domain.ResetOn)
	assert.Equal(t, "disk:root", h.awaitBoot(2).Result)
	h.setBoot(domain.BootNone, domain.BootDisabled)
	h.putAway()
}
