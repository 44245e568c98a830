package harness

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	virtv1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// VM reads a machine's VM.
func (e *Env) VM(ctx context.Context, m VM) (*virtv1.VirtualMachine, error) {
	return e.Virt.KubevirtV1().VirtualMachines(m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
}

// VMI reads a machine's instance; nil: there is none.
func (e *Env) VMI(ctx context.Context, m VM) (*virtv1.VirtualMachineInstance, error) {
	vmi, err := e.Virt.KubevirtV1().VirtualMachineInstances(m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return vmi, err
}

// IsOff is nil when the machine has no instance that runs.
func (e *Env) IsOff(ctx context.Context, m VM) error {
	vmi, err := e.VMI(ctx, m)
	if err != nil || vmi == nil || vmi.IsFinal() {
		return err
	}
	return fmt.Errorf("%s has an instance in phase %s", m, vmi.Status.Phase)
}

// IsRunning is nil when the machine's instance runs.
func (e *Env) IsRunning(ctx context.Context, m VM) error {
	vmi, err := e.VMI(ctx, m)
	switch {
	case err != nil:
		return err
	case vmi == nil:
		return fmt.Errorf("%s has no instance", m)
	case vmi.Status.Phase != virtv1.Running || vmi.DeletionTimestamp != nil:
		return fmt.Errorf("%s has an instance in phase %s, deleted %v", m, vmi.Status.Phase, vmi.DeletionTimestamp)
	}
	return nil
}

// Leftovers names what is in a namespace that only an inserted medium explains: volumes and claims of ours, importers
// and their scratch claims, disks, volumes and kept boot orders in VMs.
func (e *Env) Leftovers(ctx context.Context, namespace string) (left []string, err error) {
	dvs, err := e.CDI.CdiV1beta1().DataVolumes(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	claims, err := e.Core.CoreV1().PersistentVolumeClaims(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := e.Core.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	vms, err := e.Virt.KubevirtV1().VirtualMachines(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, dv := range dvs.Items {
		if ofOurs(&dv) {
			left = append(left, "DataVolume "+dv.Name)
		}
	}
	for _, c := range claims.Items {
		if ofOurs(&c) || slices.ContainsFunc(c.OwnerReferences, func(o metav1.OwnerReference) bool { return strings.HasPrefix(o.Name, ours) }) || strings.HasSuffix(c.Name, "-scratch") {
			left = append(left, "claim "+c.Name)
		}
	}
	for _, p := range pods.Items {
		if strings.HasPrefix(p.Name, "importer-") {
			left = append(left, "pod "+p.Name)
		}
	}
	for _, vm := range vms.Items {
		left = append(left, inTemplate(&vm)...)
	}
	sort.Strings(left)
	return left, nil
}

func ofOurs(o metav1.Object) bool {
	return o.GetLabels()[domain.LabelManaged] != "" || strings.HasPrefix(o.GetName(), ours)
}

func inTemplate(vm *virtv1.VirtualMachine) (left []string) {
	spec := vm.Spec.Template.Spec
	if claims := ourClaims(spec.Volumes); len(claims) > 0 {
		left = append(left, fmt.Sprintf("volumes %v in VM %s", claims, vm.Name))
	}
	if slices.ContainsFunc(spec.Domain.Devices.Disks, func(d virtv1.Disk) bool { return d.Name == domain.DiskName }) {
		left = append(left, "disk "+domain.DiskName+" in VM "+vm.Name)
	}
	if vm.Annotations[domain.AnnotationBoot] != "" {
		left = append(left, "kept boot orders at VM "+vm.Name)
	}
	return left
}

// NothingLeft is nil when Leftovers is empty.
func (e *Env) NothingLeft(ctx context.Context, namespace string) error {
	left, err := e.Leftovers(ctx, namespace)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("left in %s: %s", namespace, strings.Join(left, ", "))
	}
	return err
}

// Log reads a machine's log from its ConfigMaps, segment after segment.
func (e *Env) Log(ctx context.Context, m VM) (events []domain.Event, err error) {
	list, err := e.Core.CoreV1().ConfigMaps(LedgerNamespace).List(ctx, metav1.ListOptions{LabelSelector: LogSelector(m)})
	if err != nil {
		return nil, err
	}
	sort.Slice(list.Items, func(i, j int) bool { return list.Items[i].Name < list.Items[j].Name })
	for _, segment := range list.Items {
		for line := range strings.Lines(segment.Data["log"]) {
			event, err := domain.Decode([]byte(strings.TrimSuffix(line, "\n")))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", segment.Name, err)
			}
			events = append(events, event)
		}
	}
	return events, nil
}

// LogSelector selects the segments of a machine's log.
func LogSelector(m VM) string {
	return domain.LabelRecord + "=" + domain.RecordLog + "," + domain.LabelUID + "=" + domain.LabelValue(m.UID)
}
