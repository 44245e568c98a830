package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// attachEventEvery is how often the attach/detach controller repeats itself about one pod.
const attachEventEvery = 10 * time.Second

// holders are the started pods that use a volume: it is attached to their nodes.
func (n *Node) holders(pv string, except *corev1.Pod) []*corev1.Pod {
	var list []*corev1.Pod
	for _, p := range n.cache.pods() {
		if p.UID == except.UID || terminal(p) || !n.isStarted(p) {
			continue
		}
		if slices.ContainsFunc(claimNames(p), func(name string) bool {
			claim := n.cache.claim(p.Namespace, name)
			return claim != nil && claim.Spec.VolumeName == pv
		}) {
			list = append(list, p)
		}
	}
	return list
}

// isStarted also knows pods whose status update the cache has not seen yet.
func (n *Node) isStarted(p *corev1.Pod) bool {
	s := n.states[p.UID]
	return p.Status.Phase == corev1.PodRunning || s != nil && s.started
}

// attach reports whether all volumes of a pod can be attached to its node. If not, the pod gets the Event that a
// user sees in a cluster.
func (n *Node) attach(ctx context.Context, pod *corev1.Pod, s *podState) bool {
	for _, name := range claimNames(pod) {
		claim := n.cache.claim(pod.Namespace, name)
		if claim == nil || claim.Spec.VolumeName == "" {
			return false // gone since it was scheduled; the kubelet waits
		}
		if !slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOnce) {
			continue
		}
		var elsewhere []string
		for _, h := range n.holders(claim.Spec.VolumeName, pod) {
			if h.Spec.NodeName != pod.Spec.NodeName {
				elsewhere = append(elsewhere, h.Name)
			}
		}
		if len(elsewhere) == 0 {
			continue
		}
		if time.Since(s.attachEvent) > attachEventEvery {
			s.attachEvent = time.Now()
			n.event(ctx, pod, "attachdetach-controller", "FailedAttachVolume",
				fmt.Sprintf("Multi-Attach error for volume %q Volume is already used by pod(s) %s", claim.Spec.VolumeName, strings.Join(elsewhere, ", ")))
		}
		return false
	}
	return true
}

// guestHolds reports whether a running guest on the same node uses the volume: its file is locked and labelled for
// that guest, so that an importer cannot open it.
func (n *Node) guestHolds(pv string, importer *corev1.Pod) bool {
	return slices.ContainsFunc(n.holders(pv, importer), isLauncher)
}
