package harness

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	virtv1 "kubevirt.io/api/core/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Witness has seen every change of VMs, instances, DataVolumes and claims since it was started, in the order of the API
// server's revisions, which all of them share (they are etcd's). So "before" means before, not about the same second.
type Witness struct {
	cancel   context.CancelFunc
	watchers sync.WaitGroup

	mu      sync.Mutex
	vms     map[string][]seen[*virtv1.VirtualMachine] // by namespace/name
	starts  map[string][]Start                        // by namespace/name
	volumes map[string]*volumeHistory                 // by namespace/name
	broken  error                                     // a watch ended: what is here may have gaps
}

type seen[T any] struct {
	revision uint64
	object   T
}

// Start is an instance that came to be.
type Start struct {
	VMI      string // UID
	Revision uint64 // of its creation
	At       time.Time
	Claims   []string     // claims in its spec that have a name of ours
	Fence    domain.Fence // of the VM at that moment: the intent that it obeyed
	Decided  uint64       // revision of the VM's update that brought the fence; of the creation if there is none
}

// volumeHistory: revisions, 0 for what has not happened. Names of ours are never used twice.
type volumeHistory struct{ succeeded, bound uint64 }

// complete is the revision at which the import had Succeeded and its claim was Bound.
func (v *volumeHistory) complete() (revision uint64, ok bool) {
	if v == nil || v.succeeded == 0 || v.bound == 0 {
		return 0, false
	}
	return max(v.succeeded, v.bound), true
}

func watchCluster(ctx context.Context, e *Env) (*Witness, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &Witness{cancel: cancel, vms: map[string][]seen[*virtv1.VirtualMachine]{}, starts: map[string][]Start{}, volumes: map[string]*volumeHistory{}}
	virt, dvs, claims := e.Virt.KubevirtV1(), e.CDI.CdiV1beta1().DataVolumes(""), e.Core.CoreV1().PersistentVolumeClaims("")
	for _, kind := range []struct {
		list  func() (metav1.ListInterface, error)
		watch cache.WatchFunc
	}{
		{func() (metav1.ListInterface, error) { return virt.VirtualMachines("").List(ctx, metav1.ListOptions{}) },
			func(o metav1.ListOptions) (watch.Interface, error) { return virt.VirtualMachines("").Watch(ctx, o) }},
		{func() (metav1.ListInterface, error) {
			return virt.VirtualMachineInstances("").List(ctx, metav1.ListOptions{})
		},
			func(o metav1.ListOptions) (watch.Interface, error) {
				return virt.VirtualMachineInstances("").Watch(ctx, o)
			}},
		{func() (metav1.ListInterface, error) { return dvs.List(ctx, metav1.ListOptions{}) },
			func(o metav1.ListOptions) (watch.Interface, error) { return dvs.Watch(ctx, o) }},
		{func() (metav1.ListInterface, error) { return claims.List(ctx, metav1.ListOptions{}) },
			func(o metav1.ListOptions) (watch.Interface, error) { return claims.Watch(ctx, o) }},
	} {
		list, err := kind.list()
		if err != nil {
			w.close()
			return nil, fmt.Errorf("start to watch the cluster: %w", err)
		}
		events, err := watchtools.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{WatchFunc: kind.watch})
		if err != nil {
			w.close()
			return nil, fmt.Errorf("start to watch the cluster: %w", err)
		}
		w.watchers.Go(func() { w.follow(ctx, events) })
	}
	return w, nil
}

func (w *Witness) close() {
	w.cancel()
	w.watchers.Wait()
}

func (w *Witness) follow(ctx context.Context, events watch.Interface) {
	for event := range events.ResultChan() {
		w.mu.Lock()
		if event.Type == watch.Error {
			w.broken = fmt.Errorf("a watch ended: %v", event.Object)
		}
		w.take(event)
		w.mu.Unlock()
	}
	<-ctx.Done()
}

func (w *Witness) take(event watch.Event) {
	switch o := event.Object.(type) {
	case *virtv1.VirtualMachine:
		w.vms[key(o)] = append(w.vms[key(o)], seen[*virtv1.VirtualMachine]{revision(o), o})
	case *virtv1.VirtualMachineInstance:
		if event.Type == watch.Added {
			w.starts[key(o)] = append(w.starts[key(o)], Start{VMI: string(o.UID), Revision: revision(o), At: o.CreationTimestamp.Time, Claims: ourClaims(o.Spec.Volumes)})
		}
	case *cdiv1.DataVolume:
		if v := w.volume(key(o)); o.Status.Phase == cdiv1.Succeeded && v.succeeded == 0 {
			v.succeeded = revision(o)
		}
	case *corev1.PersistentVolumeClaim:
		if v := w.volume(key(o)); o.Status.Phase == corev1.ClaimBound && v.bound == 0 {
			v.bound = revision(o)
		}
	}
}

func (w *Witness) volume(key string) *volumeHistory {
	if w.volumes[key] == nil {
		w.volumes[key] = &volumeHistory{}
	}
	return w.volumes[key]
}

func key(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

func revision(o metav1.Object) uint64 {
	n, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	return n
}

// ours is the prefix of volumes that the bridge makes.
const ours = "ledgerfish-"

func ourClaims(volumes []virtv1.Volume) (claims []string) {
	for _, v := range volumes {
		name := ""
		switch {
		case v.DataVolume != nil:
			name = v.DataVolume.Name
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		}
		if strings.HasPrefix(name, ours) {
			claims = append(claims, name)
		}
	}
	return claims
}
