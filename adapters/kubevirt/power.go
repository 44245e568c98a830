package kubevirt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	v1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Power in the fenced ways. The spec way writes the run strategy: Halted stops, and Halted -> RerunOnFailure starts; never
// Always, under which a guest could not power itself off. The Manual way leaves the spec alone, for VMs that say Manual:
// the fence is written first, then a request is put into the status with the resourceVersion which that write returned.

// start does [domain.StartMachine]. In the spec way it is done once the update with its fence is there; in the Manual way
// the request is put again as long as it is neither queued nor answered by an instance.
func (c *Cluster) start(ctx context.Context, m domain.Machine, w domain.World, e domain.StartMachine) error {
	vmi, err := c.instance(ctx, m)
	if err != nil {
		return err
	}
	own := domain.Fence{Seq: e.Seq, Step: domain.StepStart}
	started, queued := false, false
	version, err := c.editVM(ctx, m, w, func(vm *unstructured.Unstructured, v domain.VM) (bool, error) {
		started = v.PowerFence == own && (!e.Manual || running(vmi))
		queued = v.PowerFence == own && v.StartQueued
		switch {
		case started:
			return false, nil
		case precedes(own, v.PowerFence), running(vmi):
			return false, ErrMoved
		case e.Manual:
			annotate(vm, domain.AnnotationPower, own.Format(m))
			return v.PowerFence != own, nil
		case vmi != nil, v.RunStrategy == domain.RunRerunOnFailure, v.StatusRunStrategy == domain.RunRerunOnFailure:
			return false, errors.New("virt-controller has not halted the VM yet")
		}
		annotate(vm, domain.AnnotationPower, own.Format(m))
		return true, setRunStrategy(vm, domain.RunRerunOnFailure)
	})
	if err != nil || started || !e.Manual || queued {
		return err
	}
	requests := []v1.VirtualMachineStateChangeRequest{{Action: v1.StartRequest}}
	if vmi != nil { // it has ended: a start takes its place only when it is stopped with it
		requests = append([]v1.VirtualMachineStateChangeRequest{{Action: v1.StopRequest, UID: &vmi.UID}}, requests...)
	}
	return c.request(ctx, m, version, requests)
}

// stop does [domain.StopMachine].
func (c *Cluster) stop(ctx context.Context, m domain.Machine, w domain.World, e domain.StopMachine) error {
	vmi, err := c.instance(ctx, m)
	if err != nil {
		return err
	}
	if running(vmi) && string(vmi.UID) != e.VMI {
		return ErrMoved
	}
	own := domain.Fence{Seq: e.Seq, Step: domain.StepStop}
	queued := false
	version, err := c.editVM(ctx, m, w, func(vm *unstructured.Unstructured, v domain.VM) (bool, error) {
		queued = v.PowerFence == own && v.StopQueued
		if precedes(own, v.PowerFence) {
			return false, ErrMoved
		}
		annotate(vm, domain.AnnotationPower, own.Format(m))
		if e.Manual {
			return v.PowerFence != own, nil
		}
		return v.PowerFence != own || v.RunStrategy != domain.RunHalted, setRunStrategy(vm, domain.RunHalted)
	})
	if err != nil || !e.Manual || !running(vmi) || queued {
		return err
	}
	return c.request(ctx, m, version, []v1.VirtualMachineStateChangeRequest{{Action: v1.StopRequest, UID: &vmi.UID}})
}

// forceStop does [domain.ForceStop]. It is the one call that can not be fenced: virt-api ends whatever instance it finds.
// So the VM must still be at this intent's stop, and the instance must still be the one that it is about; what remains is
// the time between these reads and virt-api's own.
func (c *Cluster) forceStop(ctx context.Context, m domain.Machine, w domain.World, e domain.ForceStop) error {
	err := c.edit(ctx, m, w, func(_ *unstructured.Unstructured, v domain.VM) (bool, error) {
		if v.PowerFence != (domain.Fence{Seq: e.Seq, Step: domain.StepStop}) {
			return false, ErrMoved
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	vmi, err := c.instance(ctx, m)
	if err != nil {
		return err
	}
	if vmi == nil || string(vmi.UID) != e.VMI {
		return nil
	}
	now := int64(0)
	err = c.kubevirt.KubevirtV1().VirtualMachines(m.Namespace).Stop(ctx, m.Name, &v1.StopOptions{GracePeriod: &now})
	if apierrors.IsConflict(err) {
		return nil // nothing of the VM has moved: virt-api says that the instance has ended, or ends without grace already
	}
	if err != nil {
		return classify(fmt.Errorf("force stop: %w", err))
	}
	return nil
}

// request replaces the state change requests in the VM's status, on that version of the VM.
func (c *Cluster) request(ctx context.Context, m domain.Machine, version string, requests []v1.VirtualMachineStateChangeRequest) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": version},
		"status":   map[string]any{"stateChangeRequests": requests},
	})
	if err != nil {
		return fmt.Errorf("encode the state change: %w", err)
	}
	_, err = c.dynamic.Resource(virtualMachines).Namespace(m.Namespace).Patch(ctx, m.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: fieldManager}, "status")
	if err != nil {
		return classify(fmt.Errorf("request a state change: %w", err))
	}
	return nil
}

// instance reads the machine's instance; nil: there is none. An instance of that name that belongs to another VM is none.
func (c *Cluster) instance(ctx context.Context, m domain.Machine) (*v1.VirtualMachineInstance, error) {
	vmi, err := c.kubevirt.KubevirtV1().VirtualMachineInstances(m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get VMI: %w", err)
	}
	if owner := metav1.GetControllerOf(vmi); owner != nil && string(owner.UID) != m.UID {
		return nil, nil
	}
	return vmi, nil
}

func running(vmi *v1.VirtualMachineInstance) bool { return vmi != nil && !vmi.IsFinal() }
