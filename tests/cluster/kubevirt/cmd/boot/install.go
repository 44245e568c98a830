package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"kubevirt.io/kubevirt/pkg/virt-operator/resource/generate/components"
	"kubevirt.io/kubevirt/pkg/virt-operator/resource/generate/rbac"
)

type fields = map[string]any

func object(apiVersion, kind, name string, rest fields) fields {
	o := fields{"apiVersion": apiVersion, "kind": kind, "metadata": fields{"name": name}}
	for k, v := range rest {
		o[k] = v
	}
	return o
}

func installCRDs(ctx context.Context, a *applier) error {
	if err := a.apply(ctx, object("v1", "Namespace", namespace, nil)); err != nil {
		return err
	}
	var names []string
	for _, generate := range []func() (*extv1.CustomResourceDefinition, error){
		components.NewVirtualMachineInstanceCrd, components.NewVirtualMachineCrd, components.NewPresetCrd,
		components.NewReplicaSetCrd, components.NewVirtualMachineInstanceMigrationCrd, components.NewKubeVirtCrd,
		components.NewVirtualMachinePoolCrd, components.NewVirtualMachineSnapshotCrd, components.NewVirtualMachineSnapshotContentCrd,
		components.NewVirtualMachineRestoreCrd, components.NewVirtualMachineExportCrd,
		components.NewVirtualMachineInstancetypeCrd, components.NewVirtualMachineClusterInstancetypeCrd,
		components.NewVirtualMachinePreferenceCrd, components.NewVirtualMachineClusterPreferenceCrd,
		components.NewMigrationPolicyCrd, components.NewVirtualMachineCloneCrd,
		components.NewVirtualMachineBackupCrd, components.NewVirtualMachineBackupTrackerCrd,
	} {
		crd, err := generate()
		if err != nil {
			return err
		}
		crd.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
		if err := a.apply(ctx, crd); err != nil {
			return err
		}
		names = append(names, crd.Name)
	}
	return waitEstablished(ctx, a, names)
}

func waitEstablished(ctx context.Context, a *applier, names []string) error {
	crds := a.dyn.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		for _, name := range names {
			crd, err := crds.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			if !established(crd) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait for CRDs: %w", err)
	}
	a.mapper.Reset()
	return nil
}

func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(fields); ok && c["type"] == "Established" {
			return c["status"] == "True"
		}
	}
	return false
}

func installRBAC(ctx context.Context, a *applier) error {
	var all []runtime.Object
	all = append(all, rbac.GetAllCluster()...)
	all = append(all, rbac.GetAllApiServer(namespace)...)
	all = append(all, rbac.GetAllController(namespace, true)...)
	all = append(all, rbac.GetAllHandler(namespace)...)
	for _, o := range all {
		if err := a.apply(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func installKubeVirt(ctx context.Context, a *applier, ca []byte, gates, disabled []string) error {
	for _, name := range []string{"kubevirt-ca", "kubevirt-export-ca", "kubevirt-backup-ca"} {
		if err := a.apply(ctx, object("v1", "ConfigMap", name, fields{"data": fields{"ca-bundle": string(ca)}})); err != nil {
			return err
		}
	}
	developer := fields{}
	if len(gates) > 0 {
		developer["featureGates"] = gates
	}
	if len(disabled) > 0 {
		developer["disabledFeatureGates"] = disabled
	}
	spec := fields{"configuration": fields{"developerConfiguration": developer}}
	if err := a.apply(ctx, object("kubevirt.io/v1", "KubeVirt", "kubevirt", fields{"spec": spec})); err != nil {
		return err
	}
	status, err := json.Marshal(fields{"status": fields{"phase": "Deployed", "defaultArchitecture": "amd64", "observedKubeVirtVersion": "v1.9.0"}})
	if err != nil {
		return err
	}
	kubevirts := a.dyn.Resource(schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "kubevirts"}).Namespace(namespace)
	_, err = kubevirts.Patch(ctx, "kubevirt", types.MergePatchType, status, metav1.PatchOptions{}, "status")
	return err
}

// installVirtAPI points the API server at virt-api: Service, webhooks and aggregated APIs, all on localhost:port.
func installVirtAPI(ctx context.Context, a *applier, ca []byte, port int32) error {
	service := object("v1", "Service", "virt-api", fields{"spec": fields{"type": "ExternalName", "externalName": "localhost",
		"ports": []any{fields{"port": port, "protocol": "TCP"}}}})
	mutating := components.NewVirtAPIMutatingWebhookConfiguration(namespace)
	for i := range mutating.Webhooks {
		mutating.Webhooks[i].ClientConfig.CABundle, mutating.Webhooks[i].ClientConfig.Service.Port = ca, &port
	}
	validating := components.NewVirtAPIValidatingWebhookConfiguration(namespace)
	for i := range validating.Webhooks {
		validating.Webhooks[i].ClientConfig.CABundle, validating.Webhooks[i].ClientConfig.Service.Port = ca, &port
	}
	all := []any{service, mutating, validating}
	for _, s := range components.NewVirtAPIAPIServices(namespace) {
		s.Spec.Service.Port, s.Spec.CABundle = &port, ca
		all = append(all, s)
	}
	for _, o := range all {
		if err := a.apply(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// dropLeadership lets virt-controller lead at once: the one of an earlier start, which may have been killed, holds the
// Lease for another 15 s.
func (a *applier) dropLeadership(ctx context.Context) error {
	leases := a.dyn.Resource(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace(namespace)
	if err := leases.Delete(ctx, "virt-controller", metav1.DeleteOptions{}); err != nil && !errors.IsNotFound(err) {
		return err
	}
	return nil
}
