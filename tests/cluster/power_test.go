package cluster_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	virtv1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/tests/cluster/isoimage"
)

// A guest that powers itself off stays off under RerunOnFailure; one that is deaf to ACPI outlives a graceful stop and
// not a forced one.
func TestGuestsAndPower(t *testing.T) {
	w := newWorld(t)
	w.dataVolume("cd", "csi", w.serve(isoimage.Bootable("POWER", 1<<20)))
	w.imported("cd")
	w.startVM("vm", "cd", "")
	name := w.booted("vm").VMI
	w.eventually("running", func() bool { return w.phase("vm") == virtv1.Running })

	require.NoError(t, w.node.PowerOff(t.Context(), name))
	w.eventually("off", func() bool { return w.phase("vm") == "" })

	vms := w.virt.KubevirtV1().VirtualMachines(w.namespace)
	require.NoError(t, vms.Start(t.Context(), "vm", &virtv1.StartOptions{}))
	w.eventually("running again", func() bool { return w.phase("vm") == virtv1.Running })
	require.NoError(t, w.node.IgnoreACPI(t.Context(), name))
	_, err := vms.Patch(t.Context(), "vm", types.MergePatchType, []byte(`{"spec":{"runStrategy":"Halted"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	w.eventually("asked to shut down", func() bool {
		vmi, err := w.virt.KubevirtV1().VirtualMachineInstances(w.namespace).Get(t.Context(), "vm", metav1.GetOptions{})
		require.NoError(t, err, "gone although it ignores ACPI and has 30 s left")
		return vmi.DeletionTimestamp != nil
	})
	now := int64(0)
	require.NoError(t, vms.Stop(t.Context(), "vm", &virtv1.StopOptions{GracePeriod: &now}))
	w.eventually("killed", func() bool { return w.phase("vm") == "" })
}

// phase is "" when there is no VMI.
func (w *world) phase(name string) virtv1.VirtualMachineInstancePhase {
	w.Helper()
	vmi, err := w.virt.KubevirtV1().VirtualMachineInstances(w.namespace).Get(w.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ""
	}
	require.NoError(w.T, err)
	return vmi.Status.Phase
}

// On a node that is away nothing moves: its import stops, and goes on when it is back.
func TestNodeAway(t *testing.T) {
	w := newWorld(t)
	url, release := w.halves(isoimage.Bootable("AWAY", 1<<20))
	w.dataVolume("cd", "local", url)
	var node string
	w.eventually("import runs", func() bool {
		imports, err := w.node.Imports(t.Context())
		require.NoError(t, err)
		for _, i := range imports {
			if i.Name == w.namespace+"/cd" && i.Percent > 40 {
				node = i.Node
			}
		}
		return node != ""
	})
	require.NoError(t, w.node.SetAway(t.Context(), node, true))
	t.Cleanup(func() { assert.NoError(t, w.node.SetAway(context.Background(), node, false)) })
	w.eventually("node is not ready", func() bool { return w.ready(node) == corev1.ConditionUnknown })
	release()
	other := "node1"
	if node == other {
		other = "node2"
	}
	w.dataVolume("second", "local", w.serve(isoimage.Bootable("SECOND", 1<<20)))
	w.imported("second") // the other node works on
	assert.NotEqual(t, "Succeeded", string(w.status("cd").Phase))
	assert.Equal(t, corev1.ConditionTrue, w.ready(other))
	require.NoError(t, w.node.SetAway(t.Context(), node, false))
	w.imported("cd")
	w.eventually("node is ready", func() bool { return w.ready(node) == corev1.ConditionTrue })
}

func (w *world) ready(node string) corev1.ConditionStatus {
	w.Helper()
	n, err := w.kube.CoreV1().Nodes().Get(w.Context(), node, metav1.GetOptions{})
	require.NoError(w.T, err)
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}
