package kubevirt

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	v1 "kubevirt.io/api/core/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Inventory knows, from memory, which machines there are and what they look like. It lags behind the cluster by a watch's
// delay: it serves reads and wakes the worker, and nothing is decided on it.
type Inventory struct {
	informers []cache.SharedIndexInformer
	vms       []cache.Store // one per namespace, like the others
	vmis      []cache.Store
	dvs       []cache.Indexer

	mu    sync.Mutex
	list  []domain.Hardware // sorted by ID; valid unless stale
	stale bool
}

// byMedium indexes DataVolumes by "<machine UID>/<medium>".
const byMedium = "medium"

func mediumKey(uid, medium string) string { return uid + "/" + medium }

// Inventory makes the informers of the served namespaces; wake is told the UID and, where it is known, the name of a
// machine that something has happened to. It is called from the informers' goroutines and must not block.
func (c *Cluster) Inventory(wake func(domain.Machine)) (*Inventory, error) {
	i := &Inventory{stale: true}
	for _, namespace := range c.Namespaces {
		if err := i.watch(c, namespace, wake); err != nil {
			return nil, fmt.Errorf("watch namespace %q: %w", namespace, err)
		}
	}
	return i, nil
}

// Run lists and watches until the context ends, and returns when all informers have ended.
func (i *Inventory) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, informer := range i.informers {
		wg.Go(func() { informer.RunWithContext(ctx) })
	}
	wg.Wait()
}

// Synced tells whether all namespaces have been listed.
func (i *Inventory) Synced() bool {
	for _, informer := range i.informers {
		if !informer.HasSynced() {
			return false
		}
	}
	return true
}

// List gives the machines that are served, sorted by ID, bytewise. The caller does not change it.
func (i *Inventory) List() []domain.Hardware {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stale {
		i.stale = false // first: what changes from here on makes it stale again
		i.list = i.build()
	}
	return i.list
}

// Get gives the machine of that namespace and name.
func (i *Inventory) Get(namespace, name string) (domain.Hardware, bool) {
	id := domain.Machine{Namespace: namespace, Name: name}.ID()
	list := i.List()
	n, found := slices.BinarySearchFunc(list, id, func(h domain.Hardware, id string) int { return cmp.Compare(h.ID(), id) })
	if !found {
		return domain.Hardware{}, false
	}
	return list[n], true
}

// Progress is how far the import of a medium is, 0 to 100; false: there is no such DataVolume.
func (i *Inventory) Progress(m domain.Machine, medium uint64) (float64, bool) {
	for _, store := range i.dvs {
		found, err := store.ByIndex(byMedium, mediumKey(domain.LabelValue(m.UID), fmt.Sprint(medium)))
		if err == nil && len(found) > 0 {
			return percent(found[0].(*cdiv1.DataVolume).Status), true
		}
	}
	return 0, false
}

// build reads all machines. A firmware UUID that several VMs have (a clone's) is that of the oldest; the others show their
// own UID, so a System's UUID is unique and does not change while it exists.
func (i *Inventory) build() []domain.Hardware {
	var vms []*v1.VirtualMachine
	for _, store := range i.vms {
		for _, o := range store.List() {
			vms = append(vms, o.(*v1.VirtualMachine))
		}
	}
	slices.SortFunc(vms, func(a, b *v1.VirtualMachine) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	taken := map[string]bool{}
	list := make([]domain.Hardware, 0, len(vms))
	for _, vm := range vms {
		h := hardware(vm, i.instance(vm))
		if taken[h.UUID] {
			h.UUID = h.UID
		}
		taken[h.UUID] = true
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b domain.Hardware) int { return cmp.Compare(a.ID(), b.ID()) })
	return list
}

func (i *Inventory) instance(vm *v1.VirtualMachine) *v1.VirtualMachineInstance {
	for _, store := range i.vmis {
		o, found, err := store.GetByKey(vm.Namespace + "/" + vm.Name)
		if err != nil || !found {
			continue
		}
		vmi := o.(*v1.VirtualMachineInstance)
		if owner := metav1.GetControllerOf(vmi); owner == nil || owner.UID == vm.UID {
			return vmi
		}
	}
	return nil
}

func (i *Inventory) changed() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stale = true
}
