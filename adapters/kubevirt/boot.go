package kubevirt

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// originals is the value of [domain.AnnotationBoot]: the boot order that each device of the template had before the
// override; 0: it had none.
type originals struct {
	Disks map[string]uint `json:"disks"`
	NICs  map[string]uint `json:"nics"`
}

// of gives the half that a device belongs to: a disk and an interface may have the same name.
func (o originals) of(d domain.Device) map[string]uint {
	if d.Kind == domain.DeviceNIC {
		return o.NICs
	}
	return o.Disks
}

// readOriginals reads the annotation. It holds for a copy of the VM as well, whose template was copied with it.
func readOriginals(annotation string) (originals, bool) {
	o := originals{}
	if annotation == "" || json.Unmarshal([]byte(annotation), &o) != nil {
		return originals{}, false
	}
	return o, true
}

// setBootOrder does [domain.SetBootOrder]. A target that no device answers to changes nothing.
func (c *Cluster) setBootOrder(ctx context.Context, m domain.Machine, w domain.World, e domain.SetBootOrder) error {
	return c.edit(ctx, m, w, func(vm *unstructured.Unstructured, v domain.VM) (bool, error) {
		plan, ok := projections.PlanBoot(v.Devices, e.Target)
		if !ok {
			return false, nil
		}
		return true, override(vm, v.Devices, plan)
	})
}

// override gives the template the planned orders and keeps the originals of every device that has none kept yet.
func override(vm *unstructured.Unstructured, before, plan []domain.Device) error {
	kept, _ := readOriginals(vm.GetAnnotations()[domain.AnnotationBoot])
	if kept.Disks == nil {
		kept.Disks = map[string]uint{}
	}
	if kept.NICs == nil {
		kept.NICs = map[string]uint{}
	}
	for _, d := range before {
		if _, known := kept.of(d)[d.Name]; !known {
			kept.of(d)[d.Name] = d.BootOrder
		}
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("keep the boot order: %w", err)
	}
	annotate(vm, domain.AnnotationBoot, string(raw))
	orders := originals{Disks: map[string]uint{}, NICs: map[string]uint{}}
	for _, d := range plan {
		orders.of(d)[d.Name] = d.BootOrder
	}
	return applyOrders(vm, orders)
}

// restoreBootOrder does [domain.RestoreBootOrder].
func (c *Cluster) restoreBootOrder(ctx context.Context, m domain.Machine, w domain.World) error {
	return c.edit(ctx, m, w, func(vm *unstructured.Unstructured, v domain.VM) (bool, error) {
		return restore(vm)
	})
}

// restore gives every device its original order back, and tells whether there was anything to undo. Devices that came
// after the override stay as they are.
func restore(vm *unstructured.Unstructured) (bool, error) {
	annotation, there := vm.GetAnnotations()[domain.AnnotationBoot]
	if !there {
		return false, nil
	}
	kept, _ := readOriginals(annotation)
	annotate(vm, domain.AnnotationBoot, "")
	return true, applyOrders(vm, kept)
}

// applyOrders sets, or for 0 removes, the bootOrder of the named devices and changes nothing else of them.
func applyOrders(vm *unstructured.Unstructured, o originals) error {
	for path, orders := range map[string]map[string]uint{"disks": o.Disks, "interfaces": o.NICs} {
		err := eachDevice(vm, path, func(device map[string]any) {
			name, _ := device["name"].(string)
			order, known := orders[name]
			switch {
			case !known:
			case order == 0:
				delete(device, "bootOrder")
			default:
				device["bootOrder"] = int64(order)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
