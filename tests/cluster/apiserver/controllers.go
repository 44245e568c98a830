package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

const resync = 10 * time.Hour

// startControllers starts what kube-controller-manager does and a cluster without nodes still needs: namespaces that
// can be deleted, owner references that are followed, and a "default" ServiceAccount in each namespace, without which
// the ServiceAccount admission plugin refuses every pod. They end with ctx.
func startControllers(ctx context.Context, rc *rest.Config) error {
	kube, err := kubernetes.NewForConfig(rc)
	if err != nil {
		return err
	}
	meta, err := metadata.NewForConfig(rc)
	if err != nil {
		return err
	}
	typed := informers.NewSharedInformerFactory(kube, resync)
	partial := metadatainformer.NewSharedInformerFactory(meta, resync)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kube.Discovery()))
	started := make(chan struct{})

	nsKube, nsMeta, err := as("system:serviceaccount:kube-system:namespace-controller", rc)
	if err != nil {
		return err
	}
	ns := namespace.NewNamespaceController(ctx, nsKube, nsMeta, kube.Discovery().ServerPreferredNamespacedResources,
		typed.Core().V1().Namespaces(), resync, corev1.FinalizerKubernetes)
	gc, err := garbagecollector.NewGarbageCollector(ctx, kube, meta, mapper, garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(typed, partial), started)
	if err != nil {
		return err
	}
	accounts, err := serviceaccount.NewServiceAccountsController(typed.Core().V1().ServiceAccounts(), typed.Core().V1().Namespaces(),
		kube, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	go ns.Run(ctx, 2)
	go gc.Run(ctx, 2, 30*time.Second)
	go gc.Sync(ctx, kube.Discovery(), 5*time.Second)
	go accounts.Run(ctx, 1)
	typed.Start(ctx.Done())
	partial.Start(ctx.Done())
	close(started)
	return nil
}

// as gives clients with a controller's own identity, as in a real cluster: admission policies tell them apart by it.
func as(user string, rc *rest.Config) (kubernetes.Interface, metadata.Interface, error) {
	rc = rest.CopyConfig(rc)
	rc.Impersonate.UserName = user
	kube, err := kubernetes.NewForConfig(rc)
	if err != nil {
		return nil, nil, err
	}
	meta, err := metadata.NewForConfig(rc)
	return kube, meta, err
}
