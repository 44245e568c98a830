package node

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	virtv1 "kubevirt.io/api/core/v1"
)

// bootedAnnotation on a VMI is the result of its newest boot.
const bootedAnnotation = "node.ledgerfish.test/booted"

// defaultGrace is KubeVirt's when a VMI names none, in seconds.
const defaultGrace = 30

// guest is what virt-handler remembers of a VMI.
type guest struct {
	shutdown        time.Time // when it was asked to shut down
	launcherDeleted time.Time // when its pod was deleted under it
	launcherMissing time.Time // when its pod was first not there
}

func (n *Node) guest(vmi *virtv1.VirtualMachineInstance) *guest {
	g := n.guests[vmi.UID]
	if g == nil {
		g = &guest{}
		n.guests[vmi.UID] = g
	}
	return g
}

// guestOf is the VMI that a launcher pod runs, nil when it is gone.
func (n *Node) guestOf(pod *corev1.Pod) *virtv1.VirtualMachineInstance {
	for _, vmi := range n.cache.vmis() {
		if string(vmi.UID) == pod.Labels[virtv1.CreatedByLabel] && vmi.Status.NodeName != "" {
			return vmi
		}
	}
	return nil
}

func (n *Node) launcher(vmi *virtv1.VirtualMachineInstance) *corev1.Pod {
	for _, p := range n.cache.pods() {
		if isLauncher(p) && p.Labels[virtv1.CreatedByLabel] == string(vmi.UID) && !terminal(p) {
			return p
		}
	}
	return nil
}

// stepVMI is virt-handler, virt-launcher and the guest for one VMI: at most one change, sent in one update.
func (n *Node) stepVMI(ctx context.Context, vmi *virtv1.VirtualMachineInstance) {
	node := vmi.Status.NodeName
	if node == "" || vmi.IsFinal() || n.faults.isAway(node) || n.handlers[node] == nil {
		return
	}
	g, vmi := n.guest(vmi), vmi.DeepCopy()
	var what string
	var boot *Boot
	if vmi.DeletionTimestamp != nil || !g.launcherDeleted.IsZero() {
		what = n.shutDown(vmi, g)
	} else {
		what, boot = n.runGuest(vmi, g)
	}
	if what == "" {
		return
	}
	if _, err := n.handlers[node].KubevirtV1().VirtualMachineInstances(vmi.Namespace).Update(ctx, vmi, metav1.UpdateOptions{}); !n.ok("update VMI "+vmi.Name+": "+what, err) {
		return
	}
	n.log.WithField("vmi", vmi.Namespace+"/"+vmi.Name).Info(what)
	if boot != nil {
		n.history.add(*boot)
		kind, reason := corev1.EventTypeNormal, "Booted"
		if boot.Result == noBootableDevice {
			kind, reason = corev1.EventTypeWarning, "NoBootableDevice"
		}
		n.record(ctx, corev1.ObjectReference{Kind: "VirtualMachineInstance", APIVersion: "kubevirt.io/v1", Namespace: vmi.Namespace, Name: vmi.Name, UID: vmi.UID},
			"guest", kind, reason, boot.Result)
	}
}

// shutDown moves a VMI that is to end: the guest may obey ACPI within its grace period, then it is destroyed.
func (n *Node) shutDown(vmi *virtv1.VirtualMachineInstance, g *guest) string {
	if !vmi.IsRunning() {
		setPhase(vmi, virtv1.Failed)
		return "deleted before it ran"
	}
	grace := int64(defaultGrace)
	if vmi.Spec.TerminationGracePeriodSeconds != nil {
		grace = *vmi.Spec.TerminationGracePeriodSeconds
	}
	if g.shutdown.IsZero() {
		g.shutdown = time.Now()
	}
	waited, acpi := time.Since(g.shutdown), n.faults.acpiOf(vmi.Namespace+"/"+vmi.Name)
	switch {
	case waited >= time.Duration(grace)*time.Second:
		setPhase(vmi, virtv1.Failed)
		return fmt.Sprintf("destroyed after its grace period of %d s", grace)
	case !acpi.ignore && waited >= acpi.delay:
		setPhase(vmi, virtv1.Succeeded)
		return "guest obeyed ACPI"
	}
	return ""
}

// runGuest moves a VMI that is to run. A boot is returned for the record.
func (n *Node) runGuest(vmi *virtv1.VirtualMachineInstance, g *guest) (what string, boot *Boot) {
	if what := n.stepVolumes(vmi); what != "" {
		return what, nil
	}
	name := vmi.Namespace + "/" + vmi.Name
	switch {
	case vmi.Status.SelinuxContext == "": // virt-controller makes no attachment pod before it is known
		vmi.Status.SelinuxContext = "none"
		return "launcher answers", nil
	case vmi.Status.Phase == virtv1.Scheduled:
		if !hotplugged(vmi) {
			return "", nil
		}
		b := n.boot(vmi, "start")
		setPhase(vmi, virtv1.Running)
		report(vmi, b)
		return "started: " + b.Result, &b
	case !vmi.IsRunning():
		return "", nil
	case n.launcherGone(vmi, g):
		setPhase(vmi, virtv1.Failed)
		return "launcher pod is gone", nil
	case n.faults.take(n.faults.powerOff, name):
		setPhase(vmi, virtv1.Succeeded)
		return "guest powered itself off", nil
	case n.faults.take(n.faults.reboot, name):
		b := n.boot(vmi, "reboot")
		report(vmi, b)
		return "rebooted: " + b.Result, &b
	}
	return "", nil
}

// launcherGone is true when there has been no pod for a while: the cache of pods may be behind that of VMIs.
func (n *Node) launcherGone(vmi *virtv1.VirtualMachineInstance, g *guest) bool {
	if n.launcher(vmi) != nil {
		g.launcherMissing = time.Time{}
		return false
	}
	if g.launcherMissing.IsZero() {
		g.launcherMissing = time.Now()
	}
	return time.Since(g.launcherMissing) > time.Second
}

func report(vmi *virtv1.VirtualMachineInstance, b Boot) {
	metav1.SetMetaDataAnnotation(&vmi.ObjectMeta, bootedAnnotation, b.Result)
	vmi.Status.GuestOSInfo.PrettyName = b.Result
}

func setPhase(vmi *virtv1.VirtualMachineInstance, phase virtv1.VirtualMachineInstancePhase) {
	vmi.Status.Phase = phase
	vmi.Status.PhaseTransitionTimestamps = append(vmi.Status.PhaseTransitionTimestamps,
		virtv1.VirtualMachineInstancePhaseTransitionTimestamp{Phase: phase, PhaseTransitionTimestamp: metav1.Now()})
}
