package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	k8serrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"
	"kubevirt.io/containerized-data-importer/pkg/operator/resources"
)

const (
	csiProvisioner   = "csi.node.ledgerfish.test"
	localProvisioner = "local.node.ledgerfish.test" // has no CSIDriver object: CDI does not use populators with it
)

// bootstrap installs everything the controllers need to find when they start.
func bootstrap(ctx context.Context, cfg *rest.Config, scheme *runtime.Scheme) error {
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if err := create(ctx, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cdi"}}); err != nil {
		return err
	}
	if err := installCRDs(ctx, c); err != nil {
		return err
	}
	// The client's REST mapper has seen the API before the CRDs.
	if c, err = client.New(cfg, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if err := deployCDI(ctx, c); err != nil {
		return err
	}
	return storageClasses(ctx, c)
}

func create(ctx context.Context, c client.Client, o client.Object) error {
	if err := c.Create(ctx, o); err != nil && !k8serrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %T %s: %w", o, o.GetName(), err)
	}
	return nil
}

func installCRDs(ctx context.Context, c client.Client) error {
	var names []string
	for _, text := range resources.CDICRDs {
		crd := &extv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(text), crd); err != nil {
			return err
		}
		crd.Status = extv1.CustomResourceDefinitionStatus{}
		if err := create(ctx, c, crd); err != nil {
			return err
		}
		names = append(names, crd.Name)
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		for _, name := range names {
			crd := &extv1.CustomResourceDefinition{}
			if err := c.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
				return false, err
			}
			if !established(crd) {
				return false, nil
			}
		}
		return true, nil
	})
}

func established(crd *extv1.CustomResourceDefinition) bool {
	for _, cond := range crd.Status.Conditions {
		if cond.Type == extv1.Established {
			return cond.Status == extv1.ConditionTrue
		}
	}
	return false
}

// deployCDI makes the object that the operator would: the controllers take their configuration from it.
func deployCDI(ctx context.Context, c client.Client) error {
	cdi := &cdiv1.CDI{ObjectMeta: metav1.ObjectMeta{Name: "cdi"}, Spec: cdiv1.CDISpec{
		Config: &cdiv1.CDIConfigSpec{FeatureGates: []string{"HonorWaitForFirstConsumer"}}}}
	// A CRD is Established some time before its REST endpoint answers.
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		return create(ctx, c, cdi) == nil, nil
	})
	if err != nil {
		return fmt.Errorf("create CDI: %w", err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(cdi), cdi); err != nil {
		return err
	}
	cdi.Status.Phase = "Deployed"
	if err := c.Status().Update(ctx, cdi); k8serrors.IsNotFound(err) { // this CRD has no status subresource
		return c.Update(ctx, cdi)
	} else if err != nil {
		return err
	}
	return nil
}

func storageClasses(ctx context.Context, c client.Client) error {
	if err := create(ctx, c, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: csiProvisioner}}); err != nil {
		return err
	}
	for _, class := range []struct {
		name, provisioner string
		mode              storagev1.VolumeBindingMode
	}{
		{"csi", csiProvisioner, storagev1.VolumeBindingImmediate},
		{"csi-wffc", csiProvisioner, storagev1.VolumeBindingWaitForFirstConsumer},
		{"local", localProvisioner, storagev1.VolumeBindingImmediate},
		{"local-wffc", localProvisioner, storagev1.VolumeBindingWaitForFirstConsumer},
	} {
		// The profile first, so that no DataVolume can meet a class without its access mode.
		filesystem := corev1.PersistentVolumeFilesystem
		profile := &cdiv1.StorageProfile{ObjectMeta: metav1.ObjectMeta{Name: class.name}, Spec: cdiv1.StorageProfileSpec{
			ClaimPropertySets: []cdiv1.ClaimPropertySet{{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeMode: &filesystem}}}}
		if err := create(ctx, c, profile); err != nil {
			return err
		}
		sc := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class.name}, Provisioner: class.provisioner, VolumeBindingMode: &class.mode}
		if class.name == "csi" {
			sc.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		}
		if err := create(ctx, c, sc); err != nil {
			return err
		}
	}
	return nil
}
