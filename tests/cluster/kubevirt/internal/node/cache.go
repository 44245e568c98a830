package node

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	toolscache "k8s.io/client-go/tools/cache"

	virtv1 "kubevirt.io/api/core/v1"
	"kubevirt.io/client-go/kubevirt"
)

// cache is what the stub sees of the cluster, a moment late. Objects from it are shared: whoever changes one copies it.
type cache struct {
	factory informers.SharedInformerFactory
	vmiInf  toolscache.SharedIndexInformer
	podL    corelisters.PodLister
	claimL  corelisters.PersistentVolumeClaimLister
	volumeL corelisters.PersistentVolumeLister
	classL  storagelisters.StorageClassLister
	changed atomic.Bool // since it was last cleared
}

func newCache(kube kubernetes.Interface, handler *kubevirt.Clientset) (*cache, error) {
	f := informers.NewSharedInformerFactory(kube, time.Minute)
	lw := toolscache.NewListWatchFromClient(handler.KubevirtV1().RESTClient(), "virtualmachineinstances", "", fields.Everything())
	c := &cache{factory: f, vmiInf: toolscache.NewSharedIndexInformer(lw, &virtv1.VirtualMachineInstance{}, time.Minute, toolscache.Indexers{})}
	c.podL = f.Core().V1().Pods().Lister()
	c.claimL = f.Core().V1().PersistentVolumeClaims().Lister()
	c.volumeL = f.Core().V1().PersistentVolumes().Lister()
	c.classL = f.Storage().V1().StorageClasses().Lister()
	for _, inf := range []toolscache.SharedInformer{c.vmiInf, f.Core().V1().Pods().Informer(), f.Core().V1().PersistentVolumeClaims().Informer(), f.Core().V1().PersistentVolumes().Informer()} {
		mark := toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { c.changed.Store(true) }, UpdateFunc: func(any, any) { c.changed.Store(true) },
			DeleteFunc: func(any) { c.changed.Store(true) }}
		if _, err := inf.AddEventHandler(mark); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *cache) start(ctx context.Context) error {
	c.factory.Start(ctx.Done())
	go c.vmiInf.Run(ctx.Done())
	c.factory.WaitForCacheSync(ctx.Done())
	if !toolscache.WaitForCacheSync(ctx.Done(), c.vmiInf.HasSynced) {
		return errors.New("caches are not filled")
	}
	return nil
}

func (c *cache) pods() []*corev1.Pod {
	list, _ := c.podL.List(labels.Everything()) // a lister's error is for indexes
	return list
}

func (c *cache) claims() []*corev1.PersistentVolumeClaim {
	list, _ := c.claimL.List(labels.Everything())
	return list
}

// claim is nil when there is none of that name.
func (c *cache) claim(namespace, name string) *corev1.PersistentVolumeClaim {
	claim, err := c.claimL.PersistentVolumeClaims(namespace).Get(name)
	if err != nil {
		return nil
	}
	return claim
}

func (c *cache) volumes() []*corev1.PersistentVolume {
	list, _ := c.volumeL.List(labels.Everything())
	return list
}

func (c *cache) volume(name string) *corev1.PersistentVolume {
	v, err := c.volumeL.Get(name)
	if err != nil {
		return nil
	}
	return v
}

// class is nil for a claim without a StorageClass of the cluster.
func (c *cache) class(claim *corev1.PersistentVolumeClaim) *storagev1.StorageClass {
	if claim.Spec.StorageClassName == nil {
		return nil
	}
	class, err := c.classL.Get(*claim.Spec.StorageClassName)
	if err != nil {
		return nil
	}
	return class
}

func (c *cache) vmis() []*virtv1.VirtualMachineInstance {
	var list []*virtv1.VirtualMachineInstance
	for _, o := range c.vmiInf.GetStore().List() {
		if vmi, ok := o.(*virtv1.VirtualMachineInstance); ok {
			list = append(list, vmi)
		}
	}
	return list
}
