package kubevirt

import (
	"context"
	"fmt"
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

func (c *Cluster) world(ctx context.Context, m domain.Machine, names []string) (domain.World, error) {
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
	w.Volumes, err = c.volumes(ctx, m, names)
	return w, err
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
	for i := range pvcs.Items {
		if !importersOwn(&pvcs.Items[i]) {
			at(pvcs.Items[i].Name).pvc = &pvcs.Items[i]
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

// importersOwn tells whether a claim is one that CDI made for its importer. CDI copies our labels onto it, and it goes
// away by itself.
func importersOwn(pvc *corev1.PersistentVolumeClaim) bool {
	owner := metav1.GetControllerOf(pvc)
	return owner != nil && (owner.Kind == "PersistentVolumeClaim" || owner.Kind == "Pod")
}
