package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// applier creates or updates objects of any kind.
type applier struct {
	dyn    dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

func newApplier(cfg *rest.Config) (*applier, error) {
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &applier{dyn: dyn, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))}, nil
}

// apply brings one object, any value that marshals to one, into the cluster. Its status is left out.
func (a *applier) apply(ctx context.Context, object any) error {
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		return err
	}
	unstructured.RemoveNestedField(u.Object, "status")
	resource, err := a.resource(ctx, u)
	if err != nil {
		return err
	}
	_, err = resource.Create(ctx, u, metav1.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		err = a.update(ctx, resource, u)
	}
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

func (a *applier) update(ctx context.Context, resource dynamic.ResourceInterface, u *unstructured.Unstructured) error {
	current, err := resource.Get(ctx, u.GetName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	u.SetResourceVersion(current.GetResourceVersion())
	_, err = resource.Update(ctx, u, metav1.UpdateOptions{})
	return err
}

// resource waits until the kind is served: a new CRD takes a moment.
func (a *applier) resource(ctx context.Context, u *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := u.GroupVersionKind()
	var mapping *meta.RESTMapping
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		var err error
		if mapping, err = a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
			a.mapper.Reset()
		}
		return err == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s is not served: %w", gvk, err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return a.dyn.Resource(mapping.Resource), nil
	}
	if u.GetNamespace() == "" {
		u.SetNamespace(namespace)
	}
	return a.dyn.Resource(mapping.Resource).Namespace(u.GetNamespace()), nil
}
