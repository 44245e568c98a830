package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// cluster plays the API server, virt-controller and CDI for one machine. Nothing happens by itself: a script says when
// a controller or a guest acts.
type cluster struct {
	machine domain.Machine
	world   domain.World
	uids    int
	deny    string   // an admission webhook turns down updates of the VM
	starts  []string // one entry a start: what the template had as first device
}

var errConflict = errors.New("conflict")

func (c *cluster) uid(kind string) string {
	c.uids++
	return fmt.Sprintf("%s-%d", kind, c.uids)
}

// read is a fresh GET of everything: a copy that later changes do not touch.
func (c *cluster) read() domain.World {
	w := domain.World{Volumes: slices.Clone(c.world.Volumes)}
	if c.world.VM != nil {
		vm := *c.world.VM
		vm.Devices, vm.Attached = slices.Clone(vm.Devices), slices.Clone(vm.Attached)
		w.VM = &vm
	}
	if c.world.VMI != nil {
		vmi := *c.world.VMI
		w.VMI = &vmi
	}
	return w
}

// do applies an effect with its precondition. errConflict: nothing was done.
func (c *cluster) do(e domain.Effect, seen domain.World, now time.Time) (domain.Result, error) {
	switch e := e.(type) {
	case domain.CreateVolume:
		return c.create(e, now), nil
	case domain.DeleteVolume:
		c.world.Volumes = slices.DeleteFunc(c.world.Volumes, func(v domain.Volume) bool { return v.UID == e.UID })
		return domain.Result{}, nil
	case domain.ForceStop:
		if c.world.VMI != nil && c.world.VMI.UID == e.VMI {
			c.world.VMI = nil
			c.world.VM.StopQueued = false
		}
		return domain.Result{}, nil
	}
	vm := c.world.VM
	if vm == nil || vm.ResourceVersion != seen.VM.ResourceVersion {
		return domain.Result{}, errConflict
	}
	if c.deny != "" {
		return domain.Result{Err: errors.New(c.deny)}, nil
	}
	vm.ResourceVersion = c.uid("rv")
	switch e := e.(type) {
	case domain.AttachMedia:
		c.detach(e.Drop...)
		vm.Devices = append(vm.Devices, domain.Device{Kind: domain.DeviceCdrom, Name: domain.DiskName})
		vm.Attached = append(vm.Attached, e.Volume)
		vm.MediaFence = domain.Fence{Seq: e.Medium}
	case domain.DetachMedia:
		c.detach(e.Volume)
		vm.MediaFence.Seq = max(vm.MediaFence.Seq, e.Medium)
	case domain.DropDisk:
		c.detach(e.Volume)
	case domain.SetBootOrder:
		vm.Devices, _ = projections.PlanBoot(vm.Devices, e.Target)
		vm.Overridden = true
	case domain.RestoreBootOrder:
		for i := range vm.Devices {
			vm.Devices[i].BootOrder = vm.Devices[i].Original
		}
		vm.Overridden = false
	case domain.StartMachine:
		vm.PowerFence = domain.Fence{Seq: e.Seq, Step: domain.StepStart}
		if e.Manual {
			vm.StartQueued, vm.StopQueued = true, false
		} else {
			vm.RunStrategy = domain.RunRerunOnFailure
		}
	case domain.StopMachine:
		vm.PowerFence = domain.Fence{Seq: e.Seq, Step: domain.StepStop}
		if e.Manual {
			vm.StartQueued, vm.StopQueued = false, e.VMI != ""
		} else {
			vm.RunStrategy = domain.RunHalted
		}
	}
	return domain.Result{}, nil
}

func (c *cluster) create(e domain.CreateVolume, now time.Time) domain.Result {
	if v, exists := c.world.Volume(e.Volume); exists {
		if !v.Managed {
			return domain.Result{Err: errors.New("a DataVolume of that name is somebody else's")}
		}
		return domain.Result{UID: v.UID}
	}
	v := domain.Volume{Name: e.Volume, Managed: true, Medium: e.Medium, DataVolume: true, UID: c.uid("dv"), MovedAt: now}
	c.world.Volumes = append(c.world.Volumes, v)
	return domain.Result{UID: v.UID}
}

func (c *cluster) detach(volumes ...string) {
	vm := c.world.VM
	for _, volume := range volumes {
		if i := slices.Index(vm.Attached, volume); i >= 0 {
			vm.Attached = slices.Delete(vm.Attached, i, i+1)
			vm.Devices = slices.DeleteFunc(vm.Devices, func(d domain.Device) bool { return d.Name == domain.DiskName })
		}
	}
}

// control is one round of virt-controller: it starts and stops instances as the run strategy says.
func (c *cluster) control() {
	vm := c.world.VM
	before := vm.StatusRunStrategy
	vm.StatusRunStrategy = vm.RunStrategy
	wantsStop := vm.RunStrategy == domain.RunHalted || vm.StopQueued
	switch vmi := c.world.VMI; {
	case vmi != nil && vmi.Deleting:
		c.world.VMI, vm.StopQueued = nil, false
	case vmi != nil && wantsStop:
		vmi.Deleting = true
	case vmi != nil && vmi.Final && vm.RunStrategy == domain.RunRerunOnFailure:
		c.world.VMI = nil
	case vmi != nil && !vmi.Final:
		vmi.Running = true
	case vm.StartQueued, vm.RunStrategy == domain.RunAlways, vm.RunStrategy == domain.RunRerunOnFailure && before != domain.RunRerunOnFailure:
		c.start()
	case vm.StopQueued:
		vm.StopQueued = false
	}
}

func (c *cluster) start() {
	vm := c.world.VM
	vm.StartQueued = false
	c.world.VMI = &domain.VMI{UID: c.uid("vmi"), Devices: slices.Clone(vm.Devices)}
	first, order := "nothing", uint(0)
	for _, d := range vm.Devices {
		if first == "nothing" || d.BootOrder > 0 && (order == 0 || d.BootOrder < order) {
			first, order = fmt.Sprintf("%s %s", d.Kind, d.Name), d.BootOrder
		}
	}
	c.starts = append(c.starts, first)
}
