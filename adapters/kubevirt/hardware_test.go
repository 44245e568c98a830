package kubevirt

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
	v1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

func hardwareOf(t *testing.T, domainSpec string) domain.Hardware {
	t.Helper()
	vm, err := decodeVM(load(t, "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a, uid: u}, spec: {template: {spec: {domain: "+domainSpec+"}}}}"))
	require.NoError(t, err)
	return hardware(vm, nil)
}

func TestProcessorsAndMemoryAsKubeVirtCountsThem(t *testing.T) {
	for spec, want := range map[string][4]int64{ // sockets, cores, threads, bytes
		"{devices: {}}": {1, 1, 1, 0},
		"{cpu: {cores: 4}, memory: {guest: 2Gi}}":                                                 {1, 4, 1, 2 << 30},
		"{cpu: {sockets: 2, cores: 4, threads: 2}}":                                               {2, 4, 2, 0},
		"{resources: {requests: {cpu: 2500m, memory: 1Gi}}}":                                      {3, 1, 1, 1 << 30},
		"{resources: {limits: {cpu: '2', memory: 1Gi}}}":                                          {2, 1, 1, 1 << 30},
		"{cpu: {model: host-model}, resources: {requests: {cpu: '2'}}}":                           {2, 1, 1, 0},
		"{cpu: {cores: 1}, memory: {guest: 1Gi}, resources: {requests: {cpu: '8', memory: 8Gi}}}": {1, 1, 1, 1 << 30},
	} {
		h := hardwareOf(t, spec)
		assert.Equal(t, want, [4]int64{int64(h.Sockets), int64(h.Cores), int64(h.Threads), h.MemoryBytes}, spec)
	}
}

func TestFirmware(t *testing.T) {
	plain := hardwareOf(t, "{devices: {}}")
	assert.Equal(t, domain.BootLegacy, plain.BootMode)
	assert.Equal(t, "u", plain.UUID, "a VM without a firmware UUID has its own")
	efi := hardwareOf(t, "{firmware: {uuid: f, serial: s, bootloader: {efi: {secureBoot: false}}}}")
	assert.Equal(t, domain.BootUEFI, efi.BootMode)
	assert.False(t, efi.SecureBoot)
	assert.Equal(t, "f", efi.UUID)
	assert.Equal(t, "s", efi.Serial)
	assert.True(t, hardwareOf(t, "{firmware: {bootloader: {efi: {}}}}").SecureBoot, "KubeVirt's default")
}

func TestDisksAndNICs(t *testing.T) {
	vm, err := decodeVM(load(t, rich))
	require.NoError(t, err)
	vmi := &v1.VirtualMachineInstance{Status: v1.VirtualMachineInstanceStatus{Phase: v1.Running,
		Interfaces: []v1.VirtualMachineInstanceNetworkInterface{{Name: "data", MAC: "02:00:00:00:00:02"}}}}
	h := hardware(vm, vmi)
	assert.Equal(t, []domain.NIC{{Name: "default", MAC: "02:00:00:00:00:01", Up: true}, {Name: "data", MAC: "02:00:00:00:00:02", Up: true}}, h.NICs)
	assert.Equal(t, []domain.Disk{{Name: "root", Kind: domain.DeviceDisk, Bus: "virtio"}, {Name: "data", Kind: domain.DeviceDisk, Bus: "scsi"},
		{Name: "tools", Kind: domain.DeviceCdrom, Bus: "sata"}}, h.Disks)
}

// C27: a clone keeps the firmware UUID of its original, but a System's UUID is unique and stays.
func TestOnlyTheOldestKeepsAFirmwareUUID(t *testing.T) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for _, text := range []string{
		"{name: clone, namespace: lab, uid: u2, creationTimestamp: '2026-01-02T00:00:00Z'}",
		"{name: original, namespace: lab, uid: u1, creationTimestamp: '2026-01-01T00:00:00Z'}",
		"{name: clone, namespace: lab2, uid: u3, creationTimestamp: '2026-01-03T00:00:00Z'}",
	} {
		vm, err := decodeVM(load(t, "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: "+text+", spec: {template: {spec: {domain: {firmware: {uuid: f}}}}}}"))
		require.NoError(t, err)
		require.NoError(t, store.Add(vm))
	}
	i := &Inventory{vms: []cache.Store{store}, stale: true}
	got := map[string]string{}
	for _, h := range i.List() {
		got[h.ID()] = h.UUID
	}
	assert.Equal(t, map[string]string{"lab.original": "f", "lab.clone": "u2", "lab2.clone": "u3"}, got)
	h, ok := i.Get("lab2", "clone")
	assert.True(t, ok)
	assert.Equal(t, "u3", h.UID)
	_, ok = i.Get("lab", "nobody")
	assert.False(t, ok)
}
