package kubevirt

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Edits of a VM as an unstructured object. Each touches the named field and leaves everything else as it was read.

func volumesPath() []string { return []string{"spec", "template", "spec", "volumes"} }
func devicesPath(kind string) []string {
	return []string{"spec", "template", "spec", "domain", "devices", kind}
}

// entries reads a list of objects.
func entries(vm *unstructured.Unstructured, path []string) ([]map[string]any, error) {
	list, _, err := unstructured.NestedSlice(vm.Object, path...)
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	var out []map[string]any
	for _, item := range list {
		object, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("read the template: %v holds no objects", path)
		}
		out = append(out, object)
	}
	return out, nil
}

// setEntries writes a list of objects; an empty one is left out.
func setEntries(vm *unstructured.Unstructured, path []string, list []map[string]any) error {
	if len(list) == 0 {
		unstructured.RemoveNestedField(vm.Object, path...)
		return nil
	}
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = item
	}
	return unstructured.SetNestedSlice(vm.Object, out, path...)
}

// eachDevice lets change edit every "disks" or "interfaces" entry.
func eachDevice(vm *unstructured.Unstructured, kind string, change func(map[string]any)) error {
	list, err := entries(vm, devicesPath(kind))
	if err != nil || len(list) == 0 {
		return err
	}
	for _, device := range list {
		change(device)
	}
	return setEntries(vm, devicesPath(kind), list)
}

// annotate sets an annotation; an empty value removes it.
func annotate(vm *unstructured.Unstructured, key, value string) {
	a := vm.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	if a[key] = value; value == "" {
		delete(a, key)
	}
	vm.SetAnnotations(a)
}

// setRunStrategy sets spec.runStrategy and drops the `running` that it excludes.
func setRunStrategy(vm *unstructured.Unstructured, s domain.RunStrategy) error {
	unstructured.RemoveNestedField(vm.Object, "spec", "running")
	return unstructured.SetNestedField(vm.Object, string(s), "spec", "runStrategy")
}

// addCdrom appends our CD-ROM, which gets no boot order, and its volume.
func addCdrom(vm *unstructured.Unstructured, claim string) error {
	disks, err := entries(vm, devicesPath("disks"))
	if err != nil {
		return err
	}
	volumes, err := entries(vm, volumesPath())
	if err != nil {
		return err
	}
	for _, entry := range append(disks, volumes...) {
		if entry["name"] == domain.DiskName {
			return terminal(fmt.Errorf("the VM has a disk or volume %q of somebody else", domain.DiskName))
		}
	}
	cdrom := map[string]any{"bus": cdromBus(vm), "readonly": true}
	disks = append(disks, map[string]any{"name": domain.DiskName, "cdrom": cdrom})
	volumes = append(volumes, map[string]any{"name": domain.DiskName, "dataVolume": map[string]any{"name": claim}})
	if err := setEntries(vm, devicesPath("disks"), disks); err != nil {
		return err
	}
	return setEntries(vm, volumesPath(), volumes)
}

// cdromBus is a bus that the template's architecture has and that KubeVirt admits for a CD-ROM.
func cdromBus(vm *unstructured.Unstructured) string {
	switch arch, _, _ := unstructured.NestedString(vm.Object, "spec", "template", "spec", "architecture"); arch {
	case "arm64", "s390x", "ppc64le":
		return "scsi"
	}
	return "sata"
}

// removeClaims takes the volume entries of ours with these claims, and their disks, out of the template.
func removeClaims(m domain.Machine, vm *unstructured.Unstructured, claims ...string) (bool, error) {
	gone := map[string]bool{} // by name of the entry
	volumes, err := entries(vm, volumesPath())
	if err != nil {
		return false, err
	}
	keptVolumes := volumes[:0]
	for _, v := range volumes {
		name, _ := v["name"].(string)
		if claim := entryClaim(v); ours(m, name, claim) && slices.Contains(claims, claim) {
			gone[name] = true
			continue
		}
		keptVolumes = append(keptVolumes, v)
	}
	if len(gone) == 0 {
		return false, nil
	}
	disks, err := entries(vm, devicesPath("disks"))
	if err != nil {
		return false, err
	}
	keptDisks := disks[:0]
	for _, d := range disks {
		if name, _ := d["name"].(string); !gone[name] {
			keptDisks = append(keptDisks, d)
		}
	}
	if err := setEntries(vm, devicesPath("disks"), keptDisks); err != nil {
		return false, err
	}
	return true, setEntries(vm, volumesPath(), keptVolumes)
}

// entryClaim is the claim that a volume entry refers to; empty when it is of another kind.
func entryClaim(volume map[string]any) string {
	if name, ok, _ := unstructured.NestedString(volume, "dataVolume", "name"); ok {
		return name
	}
	name, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName")
	return name
}
