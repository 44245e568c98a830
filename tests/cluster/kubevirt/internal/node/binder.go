package node

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/volume"
)

const (
	// contentAnnotation on a claim says what its new volume holds: "mbr" or "gpt" make a disk that firmware boots.
	contentAnnotation = "node.ledgerfish.test/content"
	bindCompleted     = "pv.kubernetes.io/bind-completed"
	claimProtection   = "kubernetes.io/pvc-protection"
	volumeProtection  = "kubernetes.io/pv-protection"
)

// bindClaims provisions and binds claims, and lets go of deleted ones that no pod uses any more.
func (n *Node) bindClaims(ctx context.Context) {
	used := n.usedClaims()
	for _, claim := range n.cache.claims() {
		switch {
		case claim.DeletionTimestamp != nil:
			if !used[claim.Namespace+"/"+claim.Name] && slices.Contains(claim.Finalizers, claimProtection) {
				claim = claim.DeepCopy()
				claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(f string) bool { return f == claimProtection })
				_, err := n.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
				n.ok("release claim "+claim.Name, err)
			}
		case claim.Status.Phase == corev1.ClaimBound:
		case claim.Spec.VolumeName != "":
			n.completeBinding(ctx, claim)
		case n.provisionable(claim):
			n.provision(ctx, claim)
		}
	}
	n.followClaimRefs(ctx)
}

// usedClaims are those of pods that have not ended, by namespace/name.
func (n *Node) usedClaims() map[string]bool {
	used := map[string]bool{}
	for _, pod := range n.cache.pods() {
		if terminal(pod) {
			continue
		}
		for _, name := range claimNames(pod) {
			used[pod.Namespace+"/"+name] = true
		}
	}
	return used
}

// provisionable: a claim with a data source is filled and bound by its populator, never by a provisioner; one of a
// class that waits needs a node first.
func (n *Node) provisionable(claim *corev1.PersistentVolumeClaim) bool {
	class := n.cache.class(claim)
	if class == nil || claim.Spec.DataSourceRef != nil && claim.Spec.DataSourceRef.APIGroup != nil {
		return false
	}
	return !n.waitsForConsumer(claim) || claim.Annotations[selectedNode] != ""
}

func (n *Node) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) {
	class := n.cache.class(claim)
	name := "pvc-" + string(claim.UID)
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if !n.ok("create volume "+name, n.volumes.Create(name, size.Value(), volume.Content(claim.Annotations[contentAnnotation]))) {
		return
	}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": class.Provisioner}},
		Spec: corev1.PersistentVolumeSpec{Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode,
			StorageClassName:              class.Name,
			ClaimRef:                      &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: name}}}}
	if _, err := n.kube.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{}); err != nil && !errors.IsAlreadyExists(err) {
		n.ok("create PersistentVolume "+name, err)
		return
	}
	claim = claim.DeepCopy()
	claim.Spec.VolumeName = name
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, bindCompleted, "yes")
	_, err := n.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
	n.ok("bind claim "+claim.Name, err)
}

func (n *Node) completeBinding(ctx context.Context, claim *corev1.PersistentVolumeClaim) {
	pv := n.cache.volume(claim.Spec.VolumeName)
	if pv == nil || pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID != claim.UID {
		return
	}
	claim = claim.DeepCopy()
	claim.Status.Phase, claim.Status.AccessModes, claim.Status.Capacity = corev1.ClaimBound, claim.Spec.AccessModes, pv.Spec.Capacity
	if _, err := n.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{}); !n.ok("bind claim "+claim.Name, err) {
		return
	}
	n.log.WithField("claim", claim.Namespace+"/"+claim.Name).Info("bound")
	if pv.Status.Phase != corev1.VolumeBound {
		pv = pv.DeepCopy()
		pv.Status.Phase = corev1.VolumeBound
		_, err := n.kube.CoreV1().PersistentVolumes().UpdateStatus(ctx, pv, metav1.UpdateOptions{})
		n.ok("bind volume "+pv.Name, err)
	}
}

// followClaimRefs binds a claim to a volume that names it: how a populator hands its filled volume over.
func (n *Node) followClaimRefs(ctx context.Context) {
	for _, pv := range n.cache.volumes() {
		ref := pv.Spec.ClaimRef
		if ref == nil || pv.DeletionTimestamp != nil {
			continue
		}
		claim := n.cache.claim(ref.Namespace, ref.Name)
		if claim == nil || claim.UID != ref.UID || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
			continue
		}
		claim = claim.DeepCopy()
		claim.Spec.VolumeName = pv.Name
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, bindCompleted, "yes")
		_, err := n.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
		n.ok("bind claim "+claim.Name, err)
	}
}

// releaseVolumes deletes volumes whose claim is gone (reclaim policy Delete), and their bytes.
func (n *Node) releaseVolumes(ctx context.Context) {
	for _, pv := range n.cache.volumes() {
		ref := pv.Spec.ClaimRef
		if pv.DeletionTimestamp == nil {
			if ref == nil || ref.UID == "" || pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
				continue
			}
			if claim := n.cache.claim(ref.Namespace, ref.Name); claim != nil && claim.UID == ref.UID {
				continue
			}
			// The cache may be behind: ask.
			claim, err := n.kube.CoreV1().PersistentVolumeClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
			if err == nil && claim.UID == ref.UID || err != nil && !errors.IsNotFound(err) {
				continue
			}
			n.ok("delete volume "+pv.Name, n.kube.CoreV1().PersistentVolumes().Delete(ctx, pv.Name,
				metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pv.UID, ResourceVersion: &pv.ResourceVersion}}))
			continue
		}
		if !n.ok("remove data of volume "+pv.Name, n.volumes.Remove(pv.Name)) {
			continue
		}
		if slices.Contains(pv.Finalizers, volumeProtection) {
			pv = pv.DeepCopy()
			pv.Finalizers = slices.DeleteFunc(pv.Finalizers, func(f string) bool { return f == volumeProtection })
			_, err := n.kube.CoreV1().PersistentVolumes().Update(ctx, pv, metav1.UpdateOptions{})
			n.ok("release volume "+pv.Name, err)
		}
	}
}
