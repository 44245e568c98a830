package node

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podState is what a kubelet remembers of a pod.
type podState struct {
	bound       time.Time // first seen on a node
	started     bool      // its containers have been started and its volumes attached
	attachEvent time.Time
	mountEvent  time.Time
	importer    *container // of an importer pod that has started
}

// stepPod is the scheduler for a pod without a node and the kubelet for one with.
func (n *Node) stepPod(ctx context.Context, pod *corev1.Pod) {
	if n.faults.isHeld(pod) || n.faults.isAway(pod.Spec.NodeName) {
		return
	}
	if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
		n.schedule(ctx, pod)
		return
	}
	s := n.states[pod.UID]
	if s == nil {
		s = &podState{bound: time.Now()}
		n.states[pod.UID] = s
	}
	switch {
	case pod.DeletionTimestamp != nil:
		n.terminate(ctx, pod, s)
	case terminal(pod):
	case pod.Status.Phase == corev1.PodRunning:
		if isImporter(pod) {
			n.stepImporter(ctx, pod.DeepCopy(), s)
		}
	case time.Since(s.bound) >= podStart:
		n.startPod(ctx, pod.DeepCopy(), s)
	}
}

func (n *Node) startPod(ctx context.Context, pod *corev1.Pod, s *podState) {
	if !s.started && (!n.attach(ctx, pod, s) || !n.mount(ctx, pod, s)) {
		n.containerCreating(ctx, pod)
		return
	}
	s.started = true
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime, pod.Status.HostIP, pod.Status.PodIP = corev1.PodRunning, &now, "127.0.0.1", "127.0.0.1"
	if isImporter(pod) {
		if s.importer == nil {
			s.importer = n.newContainer(ctx, pod)
		}
		pod.Status.PodIP = s.importer.ip
	}
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	pod.Status.Conditions = withReadiness(pod.Status.Conditions, corev1.ConditionTrue)
	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true,
			ContainerID: "test://" + string(pod.UID) + "/" + c.Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}})
	}
	pod.Status.InitContainerStatuses = nil
	for _, c := range pod.Spec.InitContainers {
		s := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true, ContainerID: "test://" + string(pod.UID) + "/" + c.Name}
		if c.RestartPolicy != nil { // a sidecar
			yes := true
			s.Started, s.State.Running = &yes, &corev1.ContainerStateRunning{StartedAt: now}
		} else {
			s.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
		}
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, s)
	}
	if n.updateStatus(ctx, pod) {
		n.log.WithField("pod", pod.Namespace+"/"+pod.Name).WithField("node", pod.Spec.NodeName).Info("running")
	}
}

// containerCreating is what a pod shows while its volumes are not there.
func (n *Node) containerCreating(ctx context.Context, pod *corev1.Pod) {
	if len(pod.Status.ContainerStatuses) > 0 {
		return
	}
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime = corev1.PodPending, &now
	pod.Status.Conditions = withReadiness(pod.Status.Conditions, corev1.ConditionFalse)
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}})
	}
	n.updateStatus(ctx, pod)
}

// mount checks that the ConfigMaps and Secrets a pod mounts exist.
func (n *Node) mount(ctx context.Context, pod *corev1.Pod, s *podState) bool {
	for _, v := range pod.Spec.Volumes {
		var err error
		switch {
		case v.ConfigMap != nil && (v.ConfigMap.Optional == nil || !*v.ConfigMap.Optional):
			_, err = n.kube.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
		case v.Secret != nil && (v.Secret.Optional == nil || !*v.Secret.Optional):
			_, err = n.kube.CoreV1().Secrets(pod.Namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
		}
		if err == nil {
			continue
		}
		if time.Since(s.mountEvent) > attachEventEvery {
			s.mountEvent = time.Now()
			n.event(ctx, pod, "kubelet", "FailedMount", fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", v.Name, err))
		}
		return false
	}
	return true
}

// terminate removes a deleted pod: a launcher once its guest is gone, an importer once its download has stopped.
func (n *Node) terminate(ctx context.Context, pod *corev1.Pod, s *podState) {
	if isLauncher(pod) && pod.Status.Phase == corev1.PodRunning {
		if g := n.guestOf(pod); g != nil && !g.IsFinal() {
			n.guest(g).launcherDeleted = pod.DeletionTimestamp.Time
			return
		}
	}
	if s.importer != nil && !s.importer.stop() {
		return
	}
	zero := int64(0)
	n.ok("remove pod "+pod.Name, n.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name,
		metav1.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &pod.UID}}))
}

func (n *Node) updateStatus(ctx context.Context, pod *corev1.Pod) bool {
	_, err := n.kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return n.ok("status of pod "+pod.Name, err)
}

// event records one on the pod.
func (n *Node) event(ctx context.Context, pod *corev1.Pod, component, reason, message string) {
	n.record(ctx, corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}, component, corev1.EventTypeWarning, reason, message)
}

func (n *Node) record(ctx context.Context, about corev1.ObjectReference, component, kind, reason, message string) {
	now := metav1.Now()
	e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{GenerateName: about.Name + ".", Namespace: about.Namespace}, InvolvedObject: about,
		Type: kind, Reason: reason, Message: message, Source: corev1.EventSource{Component: component}, FirstTimestamp: now, LastTimestamp: now, Count: 1}
	_, err := n.kube.CoreV1().Events(about.Namespace).Create(ctx, e, metav1.CreateOptions{})
	n.ok("record event "+reason, err)
}

// withReadiness keeps the conditions that others own (readiness gates).
func withReadiness(conditions []corev1.PodCondition, ready corev1.ConditionStatus) []corev1.PodCondition {
	status := map[corev1.PodConditionType]corev1.ConditionStatus{corev1.PodScheduled: corev1.ConditionTrue, corev1.PodInitialized: corev1.ConditionTrue,
		corev1.ContainersReady: ready, corev1.PodReady: ready}
	var out []corev1.PodCondition
	for _, c := range conditions {
		if _, mine := status[c.Type]; !mine {
			out = append(out, c)
		}
	}
	for _, t := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		out = append(out, corev1.PodCondition{Type: t, Status: status[t], LastTransitionTime: metav1.Now()})
	}
	return out
}

func terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func isLauncher(p *corev1.Pod) bool { return p.Labels["kubevirt.io"] == "virt-launcher" }

func isImporter(p *corev1.Pod) bool {
	return p.Labels["cdi.kubevirt.io"] == "importer" && len(p.Spec.Containers) == 1
}

func claimNames(p *corev1.Pod) []string {
	var names []string
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		}
	}
	return names
}

// forget drops what it knew of objects that are gone.
func (n *Node) forget() {
	alive := map[string]bool{}
	for _, p := range n.cache.pods() {
		alive[string(p.UID)] = true
	}
	for _, v := range n.cache.vmis() {
		alive[string(v.UID)] = true
	}
	for uid, s := range n.states {
		if !alive[string(uid)] && (s.importer == nil || s.importer.stop()) {
			delete(n.states, uid)
		}
	}
	for uid := range n.guests {
		if !alive[string(uid)] {
			delete(n.guests, uid)
		}
	}
}
