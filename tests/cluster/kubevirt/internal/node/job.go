package node

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/importer"
	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/volume"
)

// job reads the container's environment and volumes as CDI's importer would.
func (n *Node) job(ctx context.Context, pod *corev1.Pod) (*importer.Job, error) {
	e := env(pod)
	source, err := n.source(ctx, pod, e)
	if err != nil {
		return nil, err
	}
	data := n.mounted(pod, "cdi-data-vol")
	job := &importer.Job{Source: source, Checksum: e["IMPORTER_CHECKSUM"]}
	if q, err := resource.ParseQuantity(e["IMPORTER_IMAGE_SIZE"]); err == nil {
		job.Size = q.Value()
	}
	job.Capacity = capacity(data)
	held := data != nil && n.guestHolds(data.Name, pod)
	job.Target = func() (*volume.Disk, error) {
		if data == nil {
			return nil, &os.PathError{Op: "open", Path: "/data/disk.img", Err: syscall.ENOENT}
		}
		if held {
			return nil, &os.PathError{Op: "open", Path: "/data/disk.img", Err: syscall.EACCES}
		}
		return n.volumes.Disk(data.Name, capacity(data))
	}
	if scratch := n.mounted(pod, "cdi-scratch-vol"); scratch != nil {
		job.Scratch = func() (*volume.Disk, error) { return n.volumes.Disk(scratch.Name, capacity(scratch)) }
	}
	return job, nil
}

// source reads what the container finds in its environment and in mounted ConfigMaps and Secrets.
func (n *Node) source(ctx context.Context, pod *corev1.Pod, e map[string]string) (importer.Source, error) {
	s := importer.Source{URL: e["IMPORTER_ENDPOINT"]}
	if kind := e["IMPORTER_SOURCE"]; kind != "http" {
		return s, fmt.Errorf("Unknown data source: %s", kind) //nolint:staticcheck // CDI's wording
	}
	for _, v := range pod.Spec.Containers[0].Env {
		switch {
		case strings.HasPrefix(v.Name, "IMPORTER_EXTRA_HEADER_"):
			s.Headers = append(s.Headers, v.Value)
		case v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil:
			ref := v.ValueFrom.SecretKeyRef
			secret, err := n.kube.CoreV1().Secrets(pod.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
			if err != nil {
				return s, err
			}
			switch v.Name {
			case "IMPORTER_ACCESS_KEY_ID":
				s.AccessKey = string(secret.Data[ref.Key])
			case "IMPORTER_SECRET_KEY":
				s.SecretKey = string(secret.Data[ref.Key])
			}
		}
	}
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.Name == "cdi-cert-vol" && v.ConfigMap != nil:
			cm, err := n.kube.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
			if err != nil {
				return s, err
			}
			for _, pem := range cm.Data {
				s.CA = append(s.CA, []byte(pem))
			}
		case strings.HasPrefix(v.Name, "cdi-secret-extra-headers-vol-") && v.Secret != nil:
			secret, err := n.kube.CoreV1().Secrets(pod.Namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
			if err != nil {
				return s, err
			}
			for _, header := range secret.Data {
				s.Headers = append(s.Headers, string(header))
			}
		}
	}
	return s, nil
}

// mounted is the volume behind a pod's volume of that name, nil when there is none.
func (n *Node) mounted(pod *corev1.Pod, name string) *corev1.PersistentVolume {
	for _, v := range pod.Spec.Volumes {
		if v.Name == name && v.PersistentVolumeClaim != nil {
			if claim := n.cache.claim(pod.Namespace, v.PersistentVolumeClaim.ClaimName); claim != nil {
				return n.cache.volume(claim.Spec.VolumeName)
			}
		}
	}
	return nil
}

func capacity(pv *corev1.PersistentVolume) int64 {
	if pv == nil {
		return 0
	}
	q := pv.Spec.Capacity[corev1.ResourceStorage]
	return q.Value()
}

func env(pod *corev1.Pod) map[string]string {
	e := map[string]string{}
	for _, v := range pod.Spec.Containers[0].Env {
		e[v.Name] = v.Value
	}
	return e
}

// importName is the DataVolume's or claim's name, by which tests ask for faults.
func (n *Node) importName(pod *corev1.Pod) string {
	owner := env(pod)["OWNER_UID"]
	for _, claim := range n.cache.claims() {
		if string(claim.UID) == owner || len(claim.OwnerReferences) > 0 && string(claim.OwnerReferences[0].UID) == owner && claim.OwnerReferences[0].Kind == "DataVolume" {
			return claim.Namespace + "/" + claim.Name
		}
	}
	return pod.Namespace + "/" + pod.Name
}
