package node

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const heartbeatEvery = 20 * time.Second

// register makes a Node object that virt-controller takes for one with KVM, and the virt-handler pod on it, whose
// address virt-api calls.
func (n *Node) register(ctx context.Context, name string) error {
	want := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"kubevirt.io/schedulable": "true", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
		"cpu-timer.node.kubevirt.io/tsc-frequency": "2000000000", "cpu-timer.node.kubevirt.io/tsc-scalable": "true"}}}
	node, err := n.kube.CoreV1().Nodes().Create(ctx, want, metav1.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		node, err = n.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	q := resource.MustParse
	node.Status.Capacity = corev1.ResourceList{"cpu": q("64"), "memory": q("256Gi"), "pods": q("500"),
		"devices.kubevirt.io/kvm": q("1000"), "devices.kubevirt.io/tun": q("1000"), "devices.kubevirt.io/vhost-net": q("1000")}
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{nodeReady(corev1.ConditionTrue)}
	if _, err := n.kube.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "virt-handler-" + name, Namespace: "kubevirt", Labels: map[string]string{"kubevirt.io": "virt-handler"}},
		Spec: corev1.PodSpec{NodeName: name, Containers: []corev1.Container{{Name: "virt-handler", Image: "virt-handler:test"}}}}
	if _, err := n.kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil && !errors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func nodeReady(status corev1.ConditionStatus) corev1.NodeCondition {
	c := corev1.NodeCondition{Type: corev1.NodeReady, Status: status, Reason: "KubeletReady", LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now()}
	if status != corev1.ConditionTrue {
		c.Reason, c.Message = "NodeStatusUnknown", "Kubelet stopped posting node status."
	}
	return c
}

// beat is the last heartbeat of a node.
type beat struct {
	at   time.Time
	away bool
}

// heartbeat keeps the nodes that are not away alive in virt-controller's eyes, and shows those that are as NotReady.
func (n *Node) heartbeat(ctx context.Context) {
	for _, name := range names() {
		away, last := n.faults.isAway(name), n.beats[name]
		if last != nil && last.away == away && (away || time.Since(last.at) < heartbeatEvery) {
			continue
		}
		n.beats[name] = &beat{time.Now(), away}
		status := corev1.ConditionTrue
		if away {
			status = corev1.ConditionUnknown
		}
		node, err := n.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			node.Status.Conditions = []corev1.NodeCondition{nodeReady(status)}
			_, err = n.kube.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		}
		if !n.ok("report node "+name, err) || away {
			continue
		}
		text := fmt.Sprintf(`{"metadata":{"annotations":{"kubevirt.io/heartbeat":%q}}}`, time.Now().UTC().Format(time.RFC3339))
		_, err = n.kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(text), metav1.PatchOptions{})
		n.ok("heartbeat of node "+name, err)
	}
}

// ok logs an error that the next look may find gone. Conflicts and objects that have gone are the ordinary case.
func (n *Node) ok(what string, err error) bool {
	if err != nil && !errors.IsConflict(err) && !errors.IsNotFound(err) {
		n.log.WithError(err).WithField("doing", what).Warn("step failed, will be tried again")
	}
	return err == nil
}
