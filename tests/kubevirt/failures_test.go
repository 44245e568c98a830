package kubevirt_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "kubevirt.io/api/core/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/adapters/kubevirt"
	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// failed waits until the machine's medium has failed and nothing is left to do about it.
func (b *bridge) failed(m domain.Machine) projections.Medium {
	b.t.Helper()
	var medium projections.Medium
	b.eventually("the import fails", func() (failed bool) {
		medium, failed = b.state(m).ImportFailed()
		return failed
	})
	b.atRest(m)
	return medium
}

// C9, C10: a server that answers 404 fails the import with its reason; what was held never starts, the volume goes, On is
// refused, and a new insert works.
func TestAFailedImportStartsNothing(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	template := b.vm(m).Spec.Template.DeepCopy()
	b.mustDo(m, insert(b.image("GONE", func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusNotFound)
		return false
	})))
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	assert.Contains(t, b.failed(m).Reason, "404")
	assert.Equal(t, domain.PowerOff, b.state(m).PowerState())
	b.eventually("its volume is gone", func() bool { return len(b.leftovers()) == 0 })
	assert.Equal(t, template, b.vm(m).Spec.Template)
	assert.Equal(t, domain.CodeConflict, domain.CodeOf(b.do(m, domain.Reset{ResetType: domain.ResetOn})))

	events := b.core.EventsV1().Events(b.namespace)
	for _, reason := range []string{"ImportFailed", "PowerCancelled", "PowerRefused"} {
		b.eventually("a Kubernetes Event "+reason, func() bool {
			list, err := events.List(b.ctx, metav1.ListOptions{FieldSelector: "reason=" + reason})
			return err == nil && len(list.Items) > 0 && list.Items[0].Regarding.UID == b.vm(m).UID
		})
	}

	b.mustDo(m, insert(b.image("GOOD", nil)))
	b.mustDo(m, once(domain.BootCd))
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	b.on(m, "")
	b.atRest(m)
	assert.Equal(t, []string{"cdrom:ledgerfish-cd:GOOD"}, b.boots(m))
}

// C21: an object of a user that has our volume's name is his, and the reason says so.
func TestSomebodyElsesVolumeIsLeftAlone(t *testing.T) {
	storage := corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}}
	for _, kind := range []string{"DataVolume", "claim"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newBridge(t)
			m := b.newVM("web-0", "runStrategy: Halted", 30)
			name := domain.VolumeName(m, b.atRest(m).Seq+1)
			meta, modes := metav1.ObjectMeta{Name: name, Namespace: b.namespace}, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
			var err error
			if kind == "claim" {
				_, err = b.core.CoreV1().PersistentVolumeClaims(b.namespace).Create(b.ctx, &corev1.PersistentVolumeClaim{ObjectMeta: meta,
					Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes, Resources: storage}}, metav1.CreateOptions{})
			} else {
				_, err = b.volumes.CdiV1beta1().DataVolumes(b.namespace).Create(b.ctx, &cdiv1.DataVolume{ObjectMeta: meta,
					Spec: cdiv1.DataVolumeSpec{Source: &cdiv1.DataVolumeSource{Blank: &cdiv1.DataVolumeBlankImage{}},
						Storage: &cdiv1.StorageSpec{AccessModes: modes, Resources: storage}}}, metav1.CreateOptions{})
			}
			require.NoError(t, err)
			b.mustDo(m, insert(b.image("MINE", nil)))
			assert.Contains(t, b.failed(m).Reason, "somebody else")
			b.mustDo(m, domain.EjectMedia{Slot: domain.SlotCd})
			b.atRest(m)
			if kind == "claim" {
				_, err = b.core.CoreV1().PersistentVolumeClaims(b.namespace).Get(b.ctx, name, metav1.GetOptions{})
			} else {
				_, err = b.volumes.CdiV1beta1().DataVolumes(b.namespace).Get(b.ctx, name, metav1.GetOptions{})
			}
			assert.NoError(t, err, "it is still there")
		})
	}
}

// C21: so is a disk that he called like ours.
func TestSomebodyElsesDiskIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	vm := b.change(m, func(vm *v1.VirtualMachine) {
		spec := &vm.Spec.Template.Spec
		spec.Domain.Devices.Disks = append(spec.Domain.Devices.Disks, v1.Disk{Name: domain.DiskName, DiskDevice: v1.DiskDevice{CDRom: &v1.CDRomTarget{Bus: "sata"}}})
		spec.Volumes = append(spec.Volumes, v1.Volume{Name: domain.DiskName, VolumeSource: v1.VolumeSource{ContainerDisk: &v1.ContainerDiskSource{Image: "tools"}}})
	})
	b.mustDo(m, insert(b.image("MINE", nil)))
	assert.Contains(t, b.failed(m).Reason, "somebody else")
	assert.Equal(t, vm.Spec.Template, b.vm(m).Spec.Template)
	b.eventually("its volume is gone", func() bool { return len(b.leftovers()) == 0 })
}

// C23: what can not be imported fails clearly and within seconds.
func TestAClearFailureWithinSeconds(t *testing.T) {
	t.Run("no StorageClass", func(t *testing.T) {
		t.Parallel()
		b := newBridge(t, func(o *kubevirt.Options) { o.StorageClass = "no-such-class" })
		m := b.newVM("web-0", "runStrategy: Halted", 30)
		b.mustDo(m, insert(b.image("ISO", nil)))
		assert.Contains(t, b.failed(m).Reason, "there is no StorageClass no-such-class")
	})
	t.Run("quota", func(t *testing.T) {
		t.Parallel()
		b := newBridge(t)
		m := b.newVM("web-0", "runStrategy: Halted", 30)
		hard := corev1.ResourceList{"requests.storage": resource.MustParse("1Ki")}
		quotas := b.core.CoreV1().ResourceQuotas(b.namespace)
		quota, err := quotas.Create(b.ctx, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}, metav1.CreateOptions{})
		require.NoError(t, err)
		quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{"requests.storage": resource.MustParse("0")}}
		_, err = quotas.UpdateStatus(b.ctx, quota, metav1.UpdateOptions{})
		require.NoError(t, err)
		b.mustDo(m, insert(b.image("ISO", nil)))
		assert.Contains(t, b.failed(m).Reason, "exceeded quota")
	})
	t.Run("redirect to a metadata service", func(t *testing.T) {
		t.Parallel()
		b := newBridge(t)
		m := b.newVM("web-0", "runStrategy: Halted", 30)
		b.mustDo(m, insert(b.image("ISO", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
			return false
		})))
		assert.Contains(t, b.failed(m).Reason, "link-local")
	})
}

// C11: an importer that hangs is found out; force-off and eject work all the while.
func TestAHungImportIsFoundOut(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	b.node("/importer?mode=hang&name=" + b.namespace + "/" + domain.VolumeName(m, b.atRest(m).Seq+1))
	b.mustDo(m, insert(b.image("HANG", nil)))
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	start := time.Now()
	assert.Contains(t, b.failed(m).Reason, "no progress")
	assert.Less(t, time.Since(start), b.limits.ImportDeadline, "the stall, not the deadline")
	assert.Equal(t, domain.PowerOff, b.state(m).PowerState())
	b.mustDo(m, domain.Reset{ResetType: domain.ResetForceOff})
	b.mustDo(m, domain.EjectMedia{Slot: domain.SlotCd})
	b.atRest(m)
	assert.Empty(t, b.boots(m))
	assert.Empty(t, b.leftovers())
}

// C12, C20: a VM that is deleted in mid-import takes everything of ours with it, and its log says that it is lost.
func TestADeletedVMLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	b.node("/importer?mode=hang&name=" + b.namespace + "/" + domain.VolumeName(m, b.atRest(m).Seq+1))
	b.mustDo(m, insert(b.image("HANG", nil)))
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	b.eventually("the import has started", func() bool { medium, _ := b.state(m).CurrentMedium(); return medium.UID != "" })
	require.NoError(t, b.vms.KubevirtV1().VirtualMachines(b.namespace).Delete(b.ctx, m.Name, metav1.DeleteOptions{}))
	b.eventually("lost", func() bool { return b.state(m).Lost })
	b.atRest(m)
	b.eventually("nothing is left", func() bool { return len(b.leftovers()) == 0 })
	_, listed := b.worker.Inventory.Get(m.Namespace, m.Name)
	assert.False(t, listed)

	again := b.newVM("web-0", "runStrategy: Halted", 30)
	assert.NotEqual(t, m.UID, again.UID)
	assert.False(t, b.state(again).Lost, "a VM of the same name is another machine")
}
