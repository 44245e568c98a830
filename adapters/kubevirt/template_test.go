package kubevirt

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

var web = domain.Machine{Namespace: "lab", Name: "web-0", UID: "0f3c9a52-1111-2222-3333-444444444444"}

// rich is a VM whose devices have fields that an override and an attach must leave alone, one of them (newField) unknown to
// this build.
const rich = `
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web-0, namespace: lab, uid: 0f3c9a52-1111-2222-3333-444444444444, resourceVersion: "7", annotations: {theirs: kept}}
spec:
  runStrategy: Halted
  template:
    spec:
      newField: {deep: [1, {a: b}]}
      domain:
        devices:
          disks:
          - {name: root, serial: R00T, cache: none, io: native, bootOrder: 1, disk: {bus: virtio}}
          - {name: data, serial: DATA, disk: {bus: scsi}, newField: true}
          - {name: tools, cdrom: {bus: sata}}
          interfaces:
          - {name: default, bootOrder: 2, macAddress: "02:00:00:00:00:01", bridge: {}}
          - {name: data, masquerade: {}}
      networks: [{name: default, pod: {}}]
      volumes:
      - {name: root, dataVolume: {name: web-root}}
      - {name: data, persistentVolumeClaim: {claimName: web-data}}
      - {name: tools, containerDisk: {image: tools}}
`

func load(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	vm := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	require.NoError(t, vm.UnmarshalJSON(raw))
	return vm
}

func look(t *testing.T, vm *unstructured.Unstructured) domain.VM {
	t.Helper()
	typed, err := decodeVM(vm)
	require.NoError(t, err)
	return viewVM(web, typed)
}

// Field for field: after any override and its end the VM is what it was, also where a disk and a NIC have one name.
func TestABootOverrideIsUndoneFieldForField(t *testing.T) {
	for _, target := range []domain.BootTarget{domain.BootCd, domain.BootHdd, domain.BootPxe} {
		vm := load(t, rich)
		before := vm.DeepCopy()
		for range 2 { // a second override keeps the originals of the first
			v := look(t, vm)
			plan, ok := projections.PlanBoot(v.Devices, target)
			require.True(t, ok)
			require.NoError(t, override(vm, v.Devices, plan))
			now := look(t, vm)
			assert.True(t, now.Overridden)
			for i, d := range now.Devices {
				assert.Equal(t, plan[i].BootOrder, d.BootOrder, "%s: %s", target, d.Name)
				assert.Equal(t, v.Devices[i].Original, d.Original, "%s: %s", target, d.Name)
			}
		}
		assert.NotEqual(t, before.Object, vm.Object)
		changed, err := restore(vm)
		require.NoError(t, err)
		assert.True(t, changed)
		assert.Equal(t, before.Object, vm.Object, target)
	}
}

func TestRestoringWhatWasNotOverriddenWritesNothing(t *testing.T) {
	vm := load(t, rich)
	changed, err := restore(vm)
	require.NoError(t, err)
	assert.False(t, changed)
}

// A medium that comes and goes while an override is in force neither loses the originals nor keeps an order.
func TestAMediumComesAndGoesUnderAnOverride(t *testing.T) {
	vm := load(t, rich)
	before := vm.DeepCopy()
	for _, claim := range []string{"ledgerfish-0f3c9a52-3", "ledgerfish-0f3c9a52-9"} {
		require.NoError(t, addCdrom(vm, claim))
		v := look(t, vm)
		plan, ok := projections.PlanBoot(v.Devices, domain.BootCd)
		require.True(t, ok)
		require.NoError(t, override(vm, v.Devices, plan))
		changed, err := removeClaims(web, vm, claim)
		require.NoError(t, err)
		require.True(t, changed)
	}
	_, err := restore(vm)
	require.NoError(t, err)
	assert.Equal(t, before.Object, vm.Object)
}

func TestAttachingAddsOneDiskLastAndDetachingTakesItOut(t *testing.T) {
	vm := load(t, rich)
	before := vm.DeepCopy()
	require.NoError(t, addCdrom(vm, "ledgerfish-0f3c9a52-3"))
	v := look(t, vm)
	assert.Equal(t, []string{"ledgerfish-0f3c9a52-3"}, v.Attached)
	disks, err := entries(vm, devicesPath("disks"))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"name": "ledgerfish-cd", "cdrom": map[string]any{"bus": "sata", "readonly": true}}, disks[len(disks)-1])

	changed, err := removeClaims(web, vm, "ledgerfish-0f3c9a52-4")
	require.NoError(t, err)
	assert.False(t, changed, "another medium's detach finds nothing")
	changed, err = removeClaims(web, vm, "ledgerfish-0f3c9a52-3")
	require.NoError(t, err)
	assert.True(t, changed)
	assert.Equal(t, before.Object, vm.Object)
}

// C21: a user's disk that is called like ours is his.
func TestAUsersDiskOfOurNameIsLeftAlone(t *testing.T) {
	for _, entry := range []string{
		`{name: ledgerfish-cd, persistentVolumeClaim: {claimName: my-iso}}`,
		`{name: ledgerfish-cd, dataVolume: {name: ledgerfish-backups}}`,
		`{name: ledgerfish-cd, containerDisk: {image: tools}}`,
	} {
		vm := load(t, rich+"      - "+entry+"\n")
		before := vm.DeepCopy()
		assert.Empty(t, look(t, vm).Attached)
		changed, err := removeClaims(web, vm, "my-iso", "ledgerfish-backups")
		require.NoError(t, err)
		assert.False(t, changed)
		err = addCdrom(vm, "ledgerfish-0f3c9a52-3")
		assert.ErrorAs(t, err, &terminalError{})
		assert.Equal(t, before.Object, vm.Object)
	}
}

// A VM that was copied while a medium of ours was in carries an entry that is nobody's: it may go.
func TestACopysEntryOfOursIsSeen(t *testing.T) {
	vm := load(t, rich+"      - {name: ledgerfish-cd, dataVolume: {name: ledgerfish-deadbeef-3}}\n      - {name: theirs, dataVolume: {name: ledgerfish-deadbeef-4}}\n")
	assert.Equal(t, []string{"ledgerfish-deadbeef-3"}, look(t, vm).Attached)
}

// C15: never both `running` and `runStrategy`.
func TestEveryWayToSayAStrategyIsReadAndReplaced(t *testing.T) {
	for spec, want := range map[string]domain.RunStrategy{
		"{running: true}":                 domain.RunAlways,
		"{running: false}":                domain.RunHalted,
		"{}":                              domain.RunHalted,
		"{runStrategy: Halted}":           domain.RunHalted,
		"{runStrategy: Always}":           domain.RunAlways,
		"{runStrategy: Manual}":           domain.RunManual,
		"{runStrategy: RerunOnFailure}":   domain.RunRerunOnFailure,
		"{runStrategy: Once}":             domain.RunOnce,
		"{runStrategy: WaitAsReceiver}":   "WaitAsReceiver",
		"{running: false, template: {}}":  domain.RunHalted,
		"{runStrategy: Manual, other: 1}": domain.RunManual,
	} {
		vm := load(t, "{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a}, spec: "+spec+"}")
		assert.Equal(t, want, look(t, vm).RunStrategy, spec)
		require.NoError(t, setRunStrategy(vm, domain.RunRerunOnFailure))
		assert.Equal(t, domain.RunRerunOnFailure, look(t, vm).RunStrategy, spec)
		_, running, _ := unstructured.NestedFieldNoCopy(vm.Object, "spec", "running")
		assert.False(t, running, spec)
	}
}

func TestWhatIsReadOfAVM(t *testing.T) {
	vm := load(t, rich)
	annotate(vm, domain.AnnotationPower, "0f3c9a52:7:stop")
	annotate(vm, domain.AnnotationMedia, "deadbeef:9") // a copy's
	require.NoError(t, unstructured.SetNestedMap(vm.Object, map[string]any{
		"runStrategy":         "RerunOnFailure",
		"stateChangeRequests": []any{map[string]any{"action": "Stop", "uid": "u"}, map[string]any{"action": "Start"}},
	}, "status"))
	require.NoError(t, unstructured.SetNestedField(vm.Object, int64(180), "spec", "template", "spec", "terminationGracePeriodSeconds"))
	v := look(t, vm)
	assert.Equal(t, "7", v.ResourceVersion)
	assert.Equal(t, domain.Fence{Seq: 7, Step: domain.StepStop}, v.PowerFence)
	assert.Equal(t, domain.Fence{}, v.MediaFence)
	assert.True(t, v.StartQueued)
	assert.True(t, v.StopQueued)
	assert.Equal(t, domain.RunRerunOnFailure, v.StatusRunStrategy)
	assert.EqualValues(t, 180e9, v.GracePeriod)
	assert.Equal(t, []domain.Device{
		{Kind: domain.DeviceDisk, Name: "root", BootOrder: 1, Original: 1},
		{Kind: domain.DeviceDisk, Name: "data"},
		{Kind: domain.DeviceCdrom, Name: "tools"},
		{Kind: domain.DeviceNIC, Name: "default", BootOrder: 2, Original: 2},
		{Kind: domain.DeviceNIC, Name: "data"},
	}, v.Devices)
}

func TestAnEmptyCdromIsNoDevice(t *testing.T) {
	vm := load(t, `{apiVersion: kubevirt.io/v1, kind: VirtualMachine, metadata: {name: a}, spec: {template: {spec: {domain: {devices: {disks: [{name: empty, cdrom: {}}]}}}}}}`)
	assert.Empty(t, look(t, vm).Devices)
}

func TestFencesAreOrderedBySeqAndStep(t *testing.T) {
	order := []domain.Fence{{}, {Seq: 3}, {Seq: 3, Step: domain.StepStop}, {Seq: 3, Step: domain.StepStart}, {Seq: 4, Step: domain.StepStop}}
	for i, a := range order {
		for j, b := range order {
			assert.Equal(t, i < j, precedes(a, b), "%v %v", a, b)
		}
	}
}
