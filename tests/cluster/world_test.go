package cluster_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	virtv1 "kubevirt.io/api/core/v1"
	cdi "kubevirt.io/client-go/containerizeddataimporter"
	"kubevirt.io/client-go/kubevirt"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// world is one test's namespace on the shared cluster.
type world struct {
	*testing.T
	namespace string
	kube      kubernetes.Interface
	virt      kubevirt.Interface
	cdi       cdi.Interface
	node      *cluster.Node
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if shared == nil {
		t.Skip(cluster.ErrNotBuilt)
	}
	config, err := shared.RESTConfig()
	require.NoError(t, err)
	w := &world{T: t, node: shared.Node()}
	w.kube, err = kubernetes.NewForConfig(config)
	require.NoError(t, err)
	w.virt, err = kubevirt.NewForConfig(config)
	require.NoError(t, err)
	w.cdi, err = cdi.NewForConfig(config)
	require.NoError(t, err)
	ns, err := w.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cluster-test-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	w.namespace = ns.Name
	t.Cleanup(func() {
		require.NoError(t, w.kube.CoreV1().Namespaces().Delete(context.Background(), w.namespace, metav1.DeleteOptions{}))
	})
	return w
}

// eventually waits generously: machines that run this are busy.
func (w *world) eventually(what string, holds func() bool) {
	w.Helper()
	require.Eventually(w.T, holds, 90*time.Second, 50*time.Millisecond, what)
}

// dataVolume imports url into a new volume of 8 MiB, at once.
func (w *world) dataVolume(name, class, url string) {
	w.Helper()
	dv := &cdiv1.DataVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"cdi.kubevirt.io/storage.bind.immediate.requested": "true"}},
		Spec: cdiv1.DataVolumeSpec{Source: &cdiv1.DataVolumeSource{HTTP: &cdiv1.DataVolumeSourceHTTP{URL: url}},
			Storage: &cdiv1.StorageSpec{StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{Requests: size()}}}}
	_, err := w.cdi.CdiV1beta1().DataVolumes(w.namespace).Create(w.Context(), dv, metav1.CreateOptions{})
	require.NoError(w.T, err)
}

func size() corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("8Mi")}
}

// imported waits until a DataVolume is complete: Succeeded, and its claim Bound.
func (w *world) imported(name string) {
	w.Helper()
	w.eventually("import of "+name, func() bool {
		claim, err := w.kube.CoreV1().PersistentVolumeClaims(w.namespace).Get(w.Context(), name, metav1.GetOptions{})
		return err == nil && claim.Status.Phase == corev1.ClaimBound && w.status(name).Phase == cdiv1.Succeeded
	})
}

func (w *world) status(name string) cdiv1.DataVolumeStatus {
	w.Helper()
	dv, err := w.cdi.CdiV1beta1().DataVolumes(w.namespace).Get(w.Context(), name, metav1.GetOptions{})
	require.NoError(w.T, err)
	return dv.Status
}

// startVM makes and starts a machine whose only disk is a CD-ROM on that claim.
func (w *world) startVM(name, claim, node string) {
	w.Helper()
	running, memory := virtv1.RunStrategyRerunOnFailure, resource.MustParse("64Mi")
	spec := virtv1.VirtualMachineInstanceSpec{
		Domain: virtv1.DomainSpec{Memory: &virtv1.Memory{Guest: &memory}, Devices: virtv1.Devices{
			Disks:      []virtv1.Disk{{Name: "cd", DiskDevice: virtv1.DiskDevice{CDRom: &virtv1.CDRomTarget{Bus: virtv1.DiskBusSATA}}}},
			Interfaces: []virtv1.Interface{*virtv1.DefaultMasqueradeNetworkInterface()}}},
		Networks: []virtv1.Network{*virtv1.DefaultPodNetwork()},
		Volumes: []virtv1.Volume{{Name: "cd", VolumeSource: virtv1.VolumeSource{PersistentVolumeClaim: &virtv1.PersistentVolumeClaimVolumeSource{
			PersistentVolumeClaimVolumeSource: corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}}}
	if node != "" {
		spec.NodeSelector = map[string]string{"kubernetes.io/hostname": node}
	}
	vm := &virtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: virtv1.VirtualMachineSpec{RunStrategy: &running, Template: &virtv1.VirtualMachineInstanceTemplateSpec{Spec: spec}}}
	_, err := w.virt.KubevirtV1().VirtualMachines(w.namespace).Create(w.Context(), vm, metav1.CreateOptions{})
	require.NoError(w.T, err)
}

// booted waits for a machine's first boot.
func (w *world) booted(name string) cluster.Boot {
	w.Helper()
	var boots []cluster.Boot
	w.eventually("boot of "+name, func() bool {
		var err error
		boots, err = w.node.Boots(w.Context(), w.namespace+"/"+name)
		require.NoError(w.T, err)
		return len(boots) > 0
	})
	return boots[0]
}

// hasEvent looks for an Event of the namespace.
func (w *world) hasEvent(reason, text string) bool {
	w.Helper()
	events, err := w.kube.CoreV1().Events(w.namespace).List(w.Context(), metav1.ListOptions{FieldSelector: "reason=" + reason})
	require.NoError(w.T, err)
	for _, e := range events.Items {
		if bytes.Contains([]byte(e.Message), []byte(text)) {
			return true
		}
	}
	return false
}

// halves serves an image in two parts: the second after the returned function was called.
func (w *world) halves(image []byte) (url string, release func()) {
	w.Helper()
	gate := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.ServeContent(rw, r, "", time.Time{}, &gated{bytes.NewReader(image), int64(len(image) / 2), func() {
			_ = http.NewResponseController(rw).Flush()
			select {
			case <-gate:
			case <-r.Context().Done():
			}
		}})
	}))
	w.Cleanup(server.Close)
	return server.URL, func() { close(gate) }
}

// gated calls wait before it reads beyond half.
type gated struct {
	*bytes.Reader
	half int64
	wait func()
}

func (g *gated) Read(p []byte) (int, error) {
	at, err := g.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if at < g.half {
		return g.Reader.Read(p[:min(int64(len(p)), g.half-at)])
	}
	g.wait()
	return g.Reader.Read(p)
}

// WriteTo would read past the gate.
func (g *gated) WriteTo(dst io.Writer) (int64, error) { return io.Copy(dst, struct{ io.Reader }{g}) }

func (w *world) serve(image []byte) string {
	url, release := w.halves(image)
	release()
	return url
}
