package kubevirt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	v1 "kubevirt.io/api/core/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Annotations of CDI: import although nothing consumes the volume yet (a WaitForFirstConsumer class would wait for the
// very start that waits for the import), and keep the DataVolume when it is done.
const (
	annotationImmediate = "cdi.kubevirt.io/storage.bind.immediate.requested"
	annotationKeep      = "cdi.kubevirt.io/storage.deleteAfterCompletion"
)

// Annotations that make a StorageClass the default for claims, or for the volumes of VMs.
const (
	annotationDefaultClass   = "storageclass.kubernetes.io/is-default-class"
	annotationDefaultVMClass = "storageclass.kubevirt.io/is-default-virt-class"
)

// createVolume does [domain.CreateVolume] and gives the DataVolume's UID.
func (c *Cluster) createVolume(ctx context.Context, m domain.Machine, e domain.CreateVolume) (string, error) {
	img, err := c.image(ctx, m, e)
	if err != nil {
		return "", err
	}
	volumes := c.cdi.CdiV1beta1().DataVolumes(m.Namespace)
	there, err := volumes.Get(ctx, e.Volume, metav1.GetOptions{})
	if missing(err) {
		there, err = c.createDataVolume(ctx, m, e, img)
	}
	if err != nil {
		return "", err
	}
	if managed, _ := mark(m, there.Labels); !managed {
		return "", terminal(fmt.Errorf("a DataVolume %s of somebody else is there already", e.Volume))
	}
	return string(there.UID), c.createCredentials(ctx, m, there, img)
}

// createDataVolume creates it, or gives the one that somebody has created meanwhile.
func (c *Cluster) createDataVolume(ctx context.Context, m domain.Machine, e domain.CreateVolume, img image) (*cdiv1.DataVolume, error) {
	_, err := c.core.CoreV1().PersistentVolumeClaims(m.Namespace).Get(ctx, e.Volume, metav1.GetOptions{})
	if err == nil {
		return nil, terminal(fmt.Errorf("a claim %s of somebody else is there already", e.Volume))
	}
	if !missing(err) {
		return nil, fmt.Errorf("get claim: %w", err)
	}
	if err := c.checkStorageClass(ctx); err != nil {
		return nil, err
	}
	size, err := c.volumeSize(ctx, img)
	if err != nil {
		return nil, err
	}
	volumes := c.cdi.CdiV1beta1().DataVolumes(m.Namespace)
	dv, err := volumes.Create(ctx, c.dataVolume(m, e, img, size), metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		dv, err = volumes.Get(ctx, e.Volume, metav1.GetOptions{})
	}
	if err != nil {
		return nil, classify(fmt.Errorf("create DataVolume: %w", err))
	}
	return dv, nil
}

func (c *Cluster) dataVolume(m domain.Machine, e domain.CreateVolume, img image, size int64) *cdiv1.DataVolume {
	source := &cdiv1.DataVolumeSourceHTTP{URL: img.url}
	if strings.HasPrefix(img.url, "https:") {
		source.CertConfigMap = c.ImageCA // the importer does not start without it
	}
	if img.user != "" {
		source.SecretRef = e.Volume
	}
	if img.insecure {
		source.InsecureSkipVerify = &img.insecure
	}
	storage := &cdiv1.StorageSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{c.AccessMode},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(size, resource.BinarySI)},
		},
	}
	if c.StorageClass != "" {
		storage.StorageClassName = &c.StorageClass
	}
	return &cdiv1.DataVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        e.Volume,
			Namespace:   m.Namespace,
			Labels:      labels(m, e.Medium),
			Annotations: map[string]string{annotationImmediate: "true", annotationKeep: "false"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1.GroupVersion.String(), Kind: "VirtualMachine", Name: m.Name, UID: types.UID(m.UID),
			}},
		},
		Spec: cdiv1.DataVolumeSpec{Source: &cdiv1.DataVolumeSource{HTTP: source}, Storage: storage},
	}
}

// createCredentials gives CDI the user and password of an image. It comes after the DataVolume, which owns it; an earlier
// try's is as good.
func (c *Cluster) createCredentials(ctx context.Context, m domain.Machine, dv *cdiv1.DataVolume, img image) error {
	if img.user == "" {
		return nil
	}
	medium, secret := dv.Labels[domain.LabelMedium], &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:      dv.Name,
			Namespace: m.Namespace,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: cdiv1.SchemeGroupVersion.String(), Kind: "DataVolume", Name: dv.Name, UID: dv.UID,
			}},
		},
		StringData: map[string]string{"accessKeyId": img.user, "secretKey": img.password},
	}
	secret.Labels = map[string]string{domain.LabelManaged: "true", domain.LabelUID: domain.LabelValue(m.UID), domain.LabelMedium: medium}
	_, err := c.core.CoreV1().Secrets(m.Namespace).Create(ctx, secret, metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return classify(fmt.Errorf("create the image's credentials: %w", err))
	}
	return nil
}

// checkStorageClass says at once what CDI would only say in the events of a claim that stays Pending.
func (c *Cluster) checkStorageClass(ctx context.Context) error {
	classes := c.core.StorageV1().StorageClasses()
	if c.StorageClass != "" {
		_, err := classes.Get(ctx, c.StorageClass, metav1.GetOptions{})
		if missing(err) {
			return terminal(fmt.Errorf("there is no StorageClass %s", c.StorageClass))
		}
		return err
	}
	list, err := classes.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list StorageClasses: %w", err)
	}
	for _, class := range list.Items {
		if class.Annotations[annotationDefaultClass] == "true" || class.Annotations[annotationDefaultVMClass] == "true" {
			return nil
		}
	}
	return terminal(errors.New("no StorageClass is configured and the cluster has no default one"))
}

// deleteVolume does [domain.DeleteVolume]. Another object of that name, by UID, is left alone.
func (c *Cluster) deleteVolume(ctx context.Context, m domain.Machine, w domain.World, e domain.DeleteVolume) error {
	seen, ok := w.Volume(e.Volume)
	if !ok || seen.UID != e.UID || !seen.Managed {
		return ErrMoved
	}
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(e.UID)}
	var err error
	if seen.DataVolume {
		err = c.cdi.CdiV1beta1().DataVolumes(m.Namespace).Delete(ctx, e.Volume, options)
	} else {
		err = c.core.CoreV1().PersistentVolumeClaims(m.Namespace).Delete(ctx, e.Volume, options)
	}
	if err == nil || missing(err) {
		return nil
	}
	return classify(fmt.Errorf("delete volume: %w", err))
}
