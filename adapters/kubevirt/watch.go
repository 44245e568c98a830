package kubevirt

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	v1 "kubevirt.io/api/core/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// watch makes the informers of one namespace.
func (i *Inventory) watch(c *Cluster, namespace string, wake func(domain.Machine)) error {
	kv, cdi, core := c.kubevirt.KubevirtV1().RESTClient(), c.cdi.CdiV1beta1().RESTClient(), c.core.CoreV1().RESTClient()
	vms := i.informer(kv, "virtualmachines", namespace, c.Selector, &v1.VirtualMachine{})
	vmis := i.informer(kv, "virtualmachineinstances", namespace, "", &v1.VirtualMachineInstance{})
	dvs := i.informer(cdi, "datavolumes", namespace, managed, &cdiv1.DataVolume{})
	pvcs := i.informer(core, "persistentvolumeclaims", namespace, managed, &corev1.PersistentVolumeClaim{})
	hear := func(o any) {
		if dv, ok := o.(*cdiv1.DataVolume); ok {
			message, _ := verdict(dv.Status)
			c.movements.hear(dv.Labels[domain.LabelUID], string(dv.UID), message)
		}
	}
	_, err := dvs.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: hear, UpdateFunc: func(_, after any) { hear(after) }})
	if err != nil {
		return err
	}
	if err := dvs.AddIndexers(cache.Indexers{byMedium: indexMedium}); err != nil {
		return err
	}
	i.vms, i.vmis, i.dvs = append(i.vms, vms.GetStore()), append(i.vmis, vmis.GetStore()), append(i.dvs, dvs.GetIndexer())
	for _, on := range []struct {
		informer cache.SharedIndexInformer
		view     func(runtime.Object) (domain.Machine, any)
		changed  func() // what the inventory shows
	}{
		{vms, seenVM, i.changed}, {vmis, seenVMI, i.changed}, {dvs, seenVolume, func() {}}, {pvcs, seenVolume, func() {}},
	} {
		if _, err := on.informer.AddEventHandler(handler(on.view, wake, on.changed)); err != nil {
			return err
		}
	}
	return nil
}

// managed selects what Ledgerfish made.
const managed = domain.LabelManaged + "=true"

func (i *Inventory) informer(client rest.Interface, resource, namespace, selector string, kind runtime.Object) cache.SharedIndexInformer {
	lw := cache.NewFilteredListWatchFromClient(client, resource, namespace, func(o *metav1.ListOptions) {
		o.LabelSelector, o.FieldSelector = selector, fields.Everything().String()
	})
	informer := cache.NewSharedIndexInformer(lw, kind, 0, cache.Indexers{})
	_ = informer.SetTransform(withoutManagedFields) // fails only once it runs
	i.informers = append(i.informers, informer)
	return informer
}

// withoutManagedFields saves the memory of what nobody reads.
func withoutManagedFields(o any) (any, error) {
	if object, err := meta.Accessor(o); err == nil {
		object.SetManagedFields(nil)
	}
	return o, nil
}

func indexMedium(o any) ([]string, error) {
	l := o.(*cdiv1.DataVolume).Labels
	return []string{mediumKey(l[domain.LabelUID], l[domain.LabelMedium])}, nil
}

// handler wakes a machine when what matters of one of its objects has changed. view gives that, and whose object it is; a
// guest agent's news of every few seconds is not worth a look at the cluster.
func handler(view func(runtime.Object) (domain.Machine, any), wake func(domain.Machine), changed func()) cache.ResourceEventHandler {
	tell := func(o any) {
		if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		changed()
		if object, ok := o.(runtime.Object); ok {
			if m, _ := view(object); m.UID != "" {
				wake(m)
			}
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    tell,
		DeleteFunc: tell,
		UpdateFunc: func(before, after any) {
			changed()
			_, old := view(before.(runtime.Object))
			if m, now := view(after.(runtime.Object)); m.UID != "" && !reflect.DeepEqual(old, now) {
				wake(m)
			}
		},
	}
}

func seenVM(o runtime.Object) (domain.Machine, any) {
	vm := o.(*v1.VirtualMachine)
	m := domain.Machine{Namespace: vm.Namespace, Name: vm.Name, UID: string(vm.UID)}
	v := viewVM(m, vm)
	v.ResourceVersion = ""
	return m, v
}

func seenVMI(o runtime.Object) (domain.Machine, any) {
	vmi := o.(*v1.VirtualMachineInstance)
	owner := metav1.GetControllerOf(vmi)
	if owner == nil {
		return domain.Machine{}, nil
	}
	return domain.Machine{Namespace: vmi.Namespace, Name: owner.Name, UID: string(owner.UID)}, viewVMI(vmi)
}

// seenVolume is for DataVolumes and claims, all of whose changes matter. They name their machine by UID only.
func seenVolume(o runtime.Object) (domain.Machine, any) {
	object := o.(metav1.Object)
	return domain.Machine{Namespace: object.GetNamespace(), UID: object.GetLabels()[domain.LabelUID]}, object.GetResourceVersion()
}
