package kubevirt

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Do does one effect on the world that it was chosen by. It returns ErrMoved when the world is not that any more, a
// Result with Err when trying again would not help, and any other error when it might.
func (c *Cluster) Do(ctx context.Context, m domain.Machine, w domain.World, e domain.Effect) (domain.Result, error) {
	uid, err := c.do(ctx, m, w, e)
	if final := (terminalError{}); errors.As(err, &final) {
		return domain.Result{Err: redactedError{final.error}}, nil
	}
	if err != nil {
		return domain.Result{}, redactedError{fmt.Errorf("%T on %s: %w", e, m, err)}
	}
	return domain.Result{UID: uid}, nil
}

func (c *Cluster) do(ctx context.Context, m domain.Machine, w domain.World, e domain.Effect) (uid string, err error) {
	switch e := e.(type) {
	case domain.CreateVolume:
		return c.createVolume(ctx, m, e)
	case domain.DeleteVolume:
		return "", c.deleteVolume(ctx, m, w, e)
	case domain.AttachMedia:
		return "", c.attach(ctx, m, w, e)
	case domain.DetachMedia:
		return "", c.detach(ctx, m, w, e)
	case domain.DropDisk:
		return "", c.drop(ctx, m, w, e)
	case domain.SetBootOrder:
		return "", c.setBootOrder(ctx, m, w, e)
	case domain.RestoreBootOrder:
		return "", c.restoreBootOrder(ctx, m, w)
	case domain.StartMachine:
		return "", c.start(ctx, m, w, e)
	case domain.StopMachine:
		return "", c.stop(ctx, m, w, e)
	case domain.ForceStop:
		return "", c.forceStop(ctx, m, w, e)
	}
	return "", terminal(fmt.Errorf("no such effect: %T", e))
}

// edit changes the very VM object that w shows: any other version of it, and another VM of that name, is ErrMoved.
// change tells whether there is something to write.
func (c *Cluster) edit(ctx context.Context, m domain.Machine, w domain.World,
	change func(*unstructured.Unstructured, domain.VM) (bool, error)) error {
	_, err := c.editVM(ctx, m, w, change)
	return err
}

// editVM is edit that gives the resourceVersion which the VM has then.
func (c *Cluster) editVM(ctx context.Context, m domain.Machine, w domain.World,
	change func(*unstructured.Unstructured, domain.VM) (bool, error)) (resourceVersion string, err error) {
	if w.VM == nil {
		return "", ErrMoved
	}
	vms := c.dynamic.Resource(virtualMachines).Namespace(m.Namespace)
	vm, err := vms.Get(ctx, m.Name, metav1.GetOptions{})
	if missing(err) {
		return "", errors.Join(ErrMoved, err)
	}
	if err != nil {
		return "", fmt.Errorf("get VM: %w", err)
	}
	if string(vm.GetUID()) != m.UID || vm.GetResourceVersion() != w.VM.ResourceVersion {
		return "", ErrMoved
	}
	typed, err := decodeVM(vm)
	if err != nil {
		return "", err
	}
	write, err := change(vm, viewVM(m, typed))
	if err != nil || !write {
		return vm.GetResourceVersion(), err
	}
	written, err := vms.Update(ctx, vm, metav1.UpdateOptions{FieldManager: fieldManager})
	if err != nil {
		return "", classify(fmt.Errorf("update VM: %w", err))
	}
	return written.GetResourceVersion(), nil
}

// precedes tells whether fence a is older than b: by seq, then by step.
func precedes(a, b domain.Fence) bool {
	if a.Seq != b.Seq {
		return a.Seq < b.Seq
	}
	return rank(a.Step) < rank(b.Step)
}

func rank(s domain.Step) int {
	switch s {
	case domain.StepStop:
		return 1
	case domain.StepStart:
		return 2
	}
	return 0
}
