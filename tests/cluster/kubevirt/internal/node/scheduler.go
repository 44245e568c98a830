package node

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	hostnameLabel     = "kubernetes.io/hostname"
	selectedNode      = "volume.kubernetes.io/selected-node"
	unboundImmediate  = "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	noNodeIsAvailable = "0/2 nodes are available: 2 node(s) were unschedulable or had untolerated taints."
	claimIsNotFound   = `0/2 nodes are available: persistentvolumeclaim %q not found.`
)

// schedule places a pod, or says why it cannot be placed. The node is the one with fewer pods, in turn when they have
// the same; where a volume is attached does not count, as with storage that knows no topology.
func (n *Node) schedule(ctx context.Context, pod *corev1.Pod) {
	node := n.pick(pod)
	if node == "" {
		n.unschedulable(ctx, pod, noNodeIsAvailable)
		return
	}
	for _, name := range claimNames(pod) {
		claim := n.cache.claim(pod.Namespace, name)
		if claim == nil {
			n.unschedulable(ctx, pod, fmt.Sprintf(claimIsNotFound, name))
			return
		}
		if claim.Status.Phase == corev1.ClaimBound {
			continue
		}
		if !n.waitsForConsumer(claim) {
			n.unschedulable(ctx, pod, unboundImmediate)
			return
		}
		if claim.Annotations[selectedNode] == "" {
			claim = claim.DeepCopy()
			metav1.SetMetaDataAnnotation(&claim.ObjectMeta, selectedNode, node)
			_, err := n.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
			n.ok("select node for claim "+claim.Name, err)
		}
		return // the next look finds it bound
	}
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if n.ok("bind pod "+pod.Name, n.kube.CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{})) {
		n.placed++
	}
}

func (n *Node) pick(pod *corev1.Pod) string {
	load := map[string]int{}
	for _, p := range n.cache.pods() {
		if !terminal(p) {
			load[p.Spec.NodeName]++
		}
	}
	candidates := names()
	slices.SortStableFunc(candidates, func(a, b string) int {
		if load[a] != load[b] {
			return load[a] - load[b]
		}
		if n.placed%2 == 1 {
			return 1 // reverses the pair
		}
		return 0
	})
	for _, name := range candidates {
		if !n.faults.isAway(name) && allows(pod, name) {
			return name
		}
	}
	return ""
}

// allows looks at the host name only: KubeVirt's other selectors name CPU features, which all nodes have.
func allows(pod *corev1.Pod, node string) bool {
	if want, ok := pod.Spec.NodeSelector[hostnameLabel]; ok && want != node {
		return false
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(append(slices.Clone(t.MatchExpressions), t.MatchFields...), func(r corev1.NodeSelectorRequirement) bool {
			if r.Key != hostnameLabel && r.Key != "metadata.name" {
				return false
			}
			in := slices.Contains(r.Values, node)
			return r.Operator == corev1.NodeSelectorOpIn && !in || r.Operator == corev1.NodeSelectorOpNotIn && in
		})
	})
}

func (n *Node) waitsForConsumer(claim *corev1.PersistentVolumeClaim) bool {
	class := n.cache.class(claim)
	return class != nil && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

func (n *Node) unschedulable(ctx context.Context, pod *corev1.Pod, why string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Message == why {
			return
		}
	}
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: why, LastTransitionTime: metav1.Now()}}
	if n.updateStatus(ctx, pod) {
		n.event(ctx, pod, "default-scheduler", "FailedScheduling", why)
	}
}
