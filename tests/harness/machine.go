package harness

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	virtv1 "kubevirt.io/api/core/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// VM is a machine of the tests, with its spec as the cluster took it.
type VM struct {
	domain.Machine
	Original virtv1.VirtualMachineSpec
}

// Shape is how a machine is made. The zero Shape is a halted machine with an empty root disk and one NIC.
type Shape struct {
	Strategy virtv1.VirtualMachineRunStrategy // "": Halted
	Running  bool                             // `running: true` instead of a strategy
	Grace    int64                            // terminationGracePeriodSeconds; 0: 30
	Orders   bool                             // root disk and NIC have boot orders 1 and 2, and the disk more fields besides
	DiskURL  string                           // the root disk is imported from there; "": it is empty
}

// NewMachine makes a VM with a root disk of its own.
func (e *Env) NewMachine(ctx context.Context, namespace, name string, shape Shape) (VM, error) {
	if err := e.rootDisk(ctx, namespace, name+"-root", shape.DiskURL); err != nil {
		return VM{}, fmt.Errorf("root disk of %s/%s: %w", namespace, name, err)
	}
	created, err := e.Virt.KubevirtV1().VirtualMachines(namespace).Create(ctx, newVM(namespace, name, shape), metav1.CreateOptions{})
	if err != nil {
		return VM{}, fmt.Errorf("make VM %s/%s: %w", namespace, name, err)
	}
	return VM{Machine: domain.Machine{Namespace: namespace, Name: name, UID: string(created.UID)}, Original: created.Spec}, nil
}

// Fleet makes n machines of one shape, named by number.
func (e *Env) Fleet(ctx context.Context, namespace, prefix string, n int, shape Shape) ([]VM, error) {
	fleet := make([]VM, n)
	for i := range fleet {
		var err error
		if fleet[i], err = e.NewMachine(ctx, namespace, fmt.Sprintf("%s-%d", prefix, i), shape); err != nil {
			return nil, err
		}
	}
	return fleet, nil
}

func (e *Env) rootDisk(ctx context.Context, namespace, name, url string) error {
	size := corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16Mi")}}
	if url == "" {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: size}}
		_, err := e.Core.CoreV1().PersistentVolumeClaims(namespace).Create(ctx, claim, metav1.CreateOptions{})
		return err
	}
	dv := &cdiv1.DataVolume{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: cdiv1.DataVolumeSpec{Source: &cdiv1.DataVolumeSource{HTTP: &cdiv1.DataVolumeSourceHTTP{URL: url}},
			Storage: &cdiv1.StorageSpec{Resources: corev1.VolumeResourceRequirements{Requests: size.Requests}}}}
	_, err := e.CDI.CdiV1beta1().DataVolumes(namespace).Create(ctx, dv, metav1.CreateOptions{})
	return err
}

func newVM(namespace, name string, shape Shape) *virtv1.VirtualMachine {
	memory, grace := resource.MustParse("64Mi"), shape.Grace
	if grace == 0 {
		grace = 30
	}
	root := virtv1.Disk{Name: "root", DiskDevice: virtv1.DiskDevice{Disk: &virtv1.DiskTarget{Bus: virtv1.DiskBusVirtio}}}
	nic := *virtv1.DefaultMasqueradeNetworkInterface()
	nic.MacAddress = macOf(namespace, name)
	if shape.Orders {
		first, second := uint(1), uint(2)
		root.BootOrder, root.Serial, root.Cache, root.IO = &first, "ROOT-0001", virtv1.CacheNone, virtv1.IONative
		nic.BootOrder = &second
	}
	spec := virtv1.VirtualMachineInstanceSpec{
		TerminationGracePeriodSeconds: &grace,
		Domain: virtv1.DomainSpec{Memory: &virtv1.Memory{Guest: &memory},
			Devices: virtv1.Devices{Disks: []virtv1.Disk{root}, Interfaces: []virtv1.Interface{nic}}},
		Networks: []virtv1.Network{*virtv1.DefaultPodNetwork()},
		Volumes:  []virtv1.Volume{claimVolume("root", name+"-root")},
	}
	vm := &virtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: virtv1.VirtualMachineSpec{Template: &virtv1.VirtualMachineInstanceTemplateSpec{Spec: spec}}}
	strategy := shape.Strategy
	switch {
	case shape.Running:
		vm.Spec.Running = &shape.Running
	case strategy == "":
		strategy = virtv1.RunStrategyHalted
		fallthrough
	default:
		vm.Spec.RunStrategy = &strategy
	}
	return vm
}

func claimVolume(name, claim string) virtv1.Volume {
	return virtv1.Volume{Name: name, VolumeSource: virtv1.VolumeSource{PersistentVolumeClaim: &virtv1.PersistentVolumeClaimVolumeSource{
		PersistentVolumeClaimVolumeSource: corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
}

// macOf is a locally administered address of a machine's own.
func macOf(namespace, name string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + name))
	return net.HardwareAddr{2, sum[0], sum[1], sum[2], sum[3], sum[4]}.String()
}
