package cluster_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
	"github.com/ledgerfish/ledgerfish/tests/cluster/isoimage"
)

// A plain claim that CDI fills is Bound at once, so a machine on another node can take its volume first. The importer
// then waits, with the Event that a user sees, until the machine is gone. This is the race the product exists for.
func TestVolumeOfARunningMachineBlocksItsImporter(t *testing.T) {
	w := newWorld(t)
	w.crowd("node1")
	require.NoError(t, w.node.Hold(t.Context(), w.namespace+"/importer-"))
	w.importIntoClaim("cd", w.serve(isoimage.Bootable("LATE", 1<<20)))
	w.startVM("vm", "cd", "node1")
	assert.Equal(t, "no bootable device", w.booted("vm").Result, "the volume is still empty")

	require.NoError(t, w.node.Release(t.Context(), w.namespace+"/importer-"))
	w.eventually("Multi-Attach of the importer", func() bool {
		return w.hasEvent("FailedAttachVolume", "Multi-Attach error for volume")
	})
	importer := w.importerOf("cd")
	assert.Equal(t, "node2", importer.Spec.NodeName)
	assert.Equal(t, corev1.PodPending, importer.Status.Phase)
	assert.Equal(t, "ContainerCreating", importer.Status.ContainerStatuses[0].State.Waiting.Reason)

	require.NoError(t, w.virt.KubevirtV1().VirtualMachines(w.namespace).Delete(t.Context(), "vm", metav1.DeleteOptions{}))
	w.filled("cd")
}

// And the other way round: a machine waits for a volume that its importer on another node still writes.
func TestVolumeOfARunningImporterBlocksItsMachine(t *testing.T) {
	w := newWorld(t)
	w.crowd("node1")
	url, release := w.halves(isoimage.Bootable("EARLY", 1<<20))
	w.importIntoClaim("cd", url)
	// CDI's first importer ends at once, to be given a scratch volume; it is the one that has got bytes which stays.
	w.eventually("the importer to have got a half", func() bool {
		imports, err := w.node.Imports(t.Context())
		return err == nil && slices.ContainsFunc(imports, func(i cluster.Import) bool { return i.Name == w.namespace+"/cd" && i.Received > 0 })
	})
	w.startVM("vm", "cd", "node1")
	w.eventually("Multi-Attach of the launcher", func() bool { return w.hasEvent("FailedAttachVolume", "importer-cd") })
	boots, err := w.node.Boots(t.Context(), w.namespace+"/vm")
	require.NoError(t, err)
	assert.Empty(t, boots)
	release()
	w.filled("cd")
	assert.Equal(t, "cdrom:cd:EARLY", w.booted("vm").Result)
}

// crowd fills a node, so that the scheduler puts the next pods on the other one: until it has more pods than that one by far,
// whatever other tests have left there that is on its way out.
func (w *world) crowd(node string) {
	w.Helper()
	fillers := 0
	w.eventually(node+" has by far the most pods", func() bool {
		pods, err := w.kube.CoreV1().Pods("").List(w.Context(), metav1.ListOptions{})
		if err != nil {
			return false
		}
		here, there := 0, 0
		for _, p := range pods.Items {
			switch {
			case p.Spec.NodeName == node && p.Namespace == w.namespace && p.Status.Phase == corev1.PodRunning:
				here++
			case p.Spec.NodeName != node:
				there++
			}
		}
		if here >= there+10 {
			return true
		}
		filler := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("filler-%d", fillers)},
			Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "filler", Image: "filler:test"}}}}
		if _, err := w.kube.CoreV1().Pods(w.namespace).Create(w.Context(), filler, metav1.CreateOptions{}); err == nil {
			fillers++ // else the namespace has no ServiceAccount yet
		}
		return false
	})
}

// importIntoClaim lets CDI fill a claim without a DataVolume, by annotations: KubeVirt does not know that it is being
// written.
func (w *world) importIntoClaim(name, url string) {
	w.Helper()
	class := "local"
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
		"cdi.kubevirt.io/storage.import.source": "http", "cdi.kubevirt.io/storage.import.endpoint": url}},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: size()}}}
	_, err := w.kube.CoreV1().PersistentVolumeClaims(w.namespace).Create(w.Context(), claim, metav1.CreateOptions{})
	require.NoError(w.T, err)
}

func (w *world) importerOf(claim string) corev1.Pod {
	w.Helper()
	pods, err := w.kube.CoreV1().Pods(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: "cdi.kubevirt.io=importer"})
	require.NoError(w.T, err)
	for _, p := range pods.Items {
		if p.Name == "importer-"+claim {
			return p
		}
	}
	return corev1.Pod{}
}

func (w *world) filled(claim string) {
	w.Helper()
	w.eventually("import into "+claim, func() bool {
		c, err := w.kube.CoreV1().PersistentVolumeClaims(w.namespace).Get(w.Context(), claim, metav1.GetOptions{})
		require.NoError(w.T, err)
		return c.Annotations["cdi.kubevirt.io/storage.pod.phase"] == string(corev1.PodSucceeded)
	})
}
