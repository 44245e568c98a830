package kubevirt

import (
	"context"
	"fmt"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// World observes one machine by fresh reads. A VM of that name with another UID is another machine: VM is nil then.
// Volumes are those with the machine's label, and those with one of the given names, whoever they belong to.
func (c *Cluster) World(ctx context.Context, m domain.Machine, names ...string) (domain.World, error) {
	w, err := c.world(ctx, m, names)
	if err != nil {
		return domain.World{}, redactedError{fmt.Errorf("observe %s: %w", m, err)}
	}
	return w, nil
}

// Instance observes the VM and its instance only, by fresh reads: all that the gate decides by. It takes a few
// milliseconds. World's lists take up to 100 ms more, for the API server waits until its cache has the newest write.
func (c *Cluster) Instance(ctx context.Context, m domain.Machine) (domain.World, error) {
	w, err := c.observeInstance(ctx, m)
	if err != nil {
		return domain.World{}, redactedError{fmt.Errorf("observe %s: %w", m, err)}
	}
	return w, nil
}

func (c *Cluster) world(ctx context.Context, m domain.Machine, names []string) (domain.World, error) {
	w, err := c.observeInstance(ctx, m)
	if err != nil {
		return w, err
	}
	w.Volumes, err = c.volumes(ctx, m, names)
	return w, err
}

func (c *Cluster) observeInstance(ctx context.Context, m domain.Machine) (domain.World, error) {
	var w domain.World
	u, err := c.dynamic.Resource(virtualMachines).Namespace(m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
	switch {
	case missing(err):
	case err != nil:
		return w, fmt.Errorf("get VM: %w", err)
	case string(u.GetUID()) == m.UID:
		vm, err := decodeVM(u)
		if err != nil {
			return w, err
		}
		view := viewVM(m, vm)
		w.VM = &view
	}
	vmi, err := c.instance(ctx, m)
	if err != nil {
		return w, err
	}
	if vmi != nil {
		view := viewVMI(vmi)
		w.VMI = &view
	}
	return w, nil
}

// volumes pairs the machine's DataVolumes with their claims, by name.
func (c *Cluster) volumes(ctx context.Context, m domain.Machine, names []string) ([]domain.Volume, error) {
	found := map[string]*pair{}
	at := func(name string) *pair {
		if found[name] == nil {
			found[name] = &pair{}
		}
		return found[name]
	}
	labelled := metav1.ListOptions{LabelSelector: domain.LabelUID + "=" + domain.LabelValue(m.UID)}
	dvs, err := c.cdi.CdiV1beta1().DataVolumes(m.Namespace).List(ctx, labelled)
	if err != nil {
		return nil, fmt.Errorf("list DataVolumes: %w", err)
	}
	for i := range dvs.Items {
		at(dvs.Items[i].Name).dv = &dvs.Items[i]
	}
	pvcs, err := c.core.CoreV1().PersistentVolumeClaims(m.Namespace).List(ctx, labelled)
	if err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	var scratch []*corev1.PersistentVolumeClaim
	for i := range pvcs.Items {
		if pvc := &pvcs.Items[i]; importersOwn(pvc) {
			scratch = append(scratch, pvc)
		} else {
			at(pvc.Name).pvc = pvc
		}
	}
	for _, name := range names {
		at(name)
	}
	var list []domain.Volume
	for name, p := range found {
		if err := c.complete(ctx, m, name, p); err != nil {
			return nil, err
		}
		if p.dv != nil || p.pvc != nil {
			list = append(list, p.view(m, name))
		}
	}
	list = withScratch(m, list, scratch)
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return c.movements.note(m.UID, list, c.Now()), nil
}

// pair is a DataVolume and the claim of its name, either of which may be missing.
type pair struct {
	dv  *cdiv1.DataVolume
	pvc *corev1.PersistentVolumeClaim
}

// complete looks up by name what the label did not find.
func (c *Cluster) complete(ctx context.Context, m domain.Machine, name string, p *pair) error {
	if p.dv == nil {
		dv, err := c.cdi.CdiV1beta1().DataVolumes(m.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			p.dv = dv
		} else if !missing(err) {
			return fmt.Errorf("get DataVolume: %w", err)
		}
	}
	if p.pvc == nil {
		pvc, err := c.core.CoreV1().PersistentVolumeClaims(m.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			p.pvc = pvc
		} else if !missing(err) {
			return fmt.Errorf("get claim: %w", err)
		}
	}
	return nil
}

// withScratch adds the volumes of which only importer's claims are left, as going away: something of the medium is still in
// the cluster then, but there is nothing to do about it.
func withScratch(m domain.Machine, list []domain.Volume, scratch []*corev1.PersistentVolumeClaim) []domain.Volume {
	for _, pvc := range scratch {
		managed, medium := mark(m, pvc.Labels)
		v := domain.Volume{Name: domain.VolumeName(m, medium), Managed: managed, Medium: medium, UID: string(pvc.UID), Deleting: true}
		if !slices.ContainsFunc(list, func(other domain.Volume) bool { return other.Name == v.Name }) {
			list = append(list, v)
		}
	}
	return list
}

// importersOwn tells whether a claim is one that CDI made for its importer. CDI copies our labels onto it, and it goes
// away by itself.
func importersOwn(pvc *corev1.PersistentVolumeClaim) bool {
	owner := metav1.GetControllerOf(pvc)
	return owner != nil && (owner.Kind == "PersistentVolumeClaim" || owner.Kind == "Pod")
}
