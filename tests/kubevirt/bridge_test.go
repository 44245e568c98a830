package kubevirt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	v1 "kubevirt.io/api/core/v1"
	cdi "kubevirt.io/client-go/containerizeddataimporter"
	kvclient "kubevirt.io/client-go/kubevirt"
	"sigs.k8s.io/yaml"

	"github.com/ledgerfish/ledgerfish/adapters/kubevirt"
	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/projections"
	"github.com/ledgerfish/ledgerfish/tests/cluster/isoimage"
)

const patience = 90 * time.Second

// bridge is a worker with its logs, on a namespace of its own, and an admin's clients to look from outside.
type bridge struct {
	t         *testing.T
	ctx       context.Context
	namespace string
	cluster   *kubevirt.Cluster
	worker    *kubevirt.Worker
	store     *eventstore.Memory
	ledger    *eventstore.Ledger[projections.State]
	limits    domain.Limits
	core      kubernetes.Interface
	vms       kvclient.Interface
	volumes   cdi.Interface
}

// newBridge starts one. change may alter the options.
func newBridge(t *testing.T, change ...func(*kubevirt.Options)) *bridge {
	t.Helper()
	admin, err := shared.RESTConfig()
	require.NoError(t, err)
	b := &bridge{t: t, limits: domain.Limits{ImportDeadline: time.Minute, AttachDeadline: time.Minute, ImportStall: 30 * time.Second,
		ImportRestarts: 1, PowerDeadline: time.Minute}}
	b.core, b.vms, b.volumes = kubernetes.NewForConfigOrDie(admin), kvclient.NewForConfigOrDie(admin), cdi.NewForConfigOrDie(admin)
	ctx, cancel := context.WithCancel(context.Background())
	b.ctx = ctx
	b.namespace = "kv-" + uuid.NewString()[:8]
	_, err = b.core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = b.core.CoreV1().ServiceAccounts(b.namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		require.NoError(t, err)
	}

	config, err := asBridge()
	require.NoError(t, err)
	options := kubevirt.Options{Namespaces: []string{b.namespace}, LedgerNamespace: ledgerNamespace, Now: time.Now}
	for _, c := range change {
		c(&options)
	}
	b.cluster, err = kubevirt.New(config, options)
	require.NoError(t, err)
	b.store = eventstore.NewMemory()
	b.ledger = eventstore.NewLedger(b.store, eventstore.Fold[projections.State]{New: projections.New, Evolve: projections.Evolve,
		Snapshot: projections.Snapshot, Restore: projections.Restore}, time.Now, uuid.NewString)
	recorder, err := b.cluster.NewRecorder(ctx)
	require.NoError(t, err)
	log := logrus.New()
	output := &bytes.Buffer{}
	log.SetOutput(output)
	log.SetLevel(logrus.DebugLevel)
	b.worker, err = kubevirt.NewWorker(b.cluster, b.ledger, b.limits, recorder, log)
	require.NoError(t, err)

	ended := make(chan error, 2)
	go func() { ended <- b.ledger.Run(ctx, b.worker.Wake) }()
	go func() { ended <- b.worker.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Error("the worker does not stop")
			}
		}
		recorder.Close()
		if t.Failed() {
			t.Logf("the worker says:\n%s", output)
			for _, m := range b.ledger.Machines() {
				t.Logf("log of %s:\n%s", m, b.timeline(m))
			}
		}
		_ = b.core.CoreV1().Namespaces().Delete(context.Background(), b.namespace, metav1.DeleteOptions{})
	})
	b.eventually("the worker is ready", b.worker.Ready)
	return b
}

func (b *bridge) eventually(what string, ok func() bool) {
	b.t.Helper()
	require.Eventually(b.t, ok, patience, 50*time.Millisecond, what)
}

// timeline is a machine's log in short.
func (b *bridge) timeline(m domain.Machine) string {
	events, err := b.store.History(b.ctx, m)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for _, e := range events {
		data, _ := json.Marshal(e.Data)
		fmt.Fprintf(&out, "%3d %s %-20s %s %s\n", e.Seq, e.Time.Format("15:04:05.000"), e.Type, e.By, data)
	}
	return out.String()
}

// do passes a command through the gate, as the Redfish service does.
func (b *bridge) do(m domain.Machine, c domain.Command) error {
	b.t.Helper()
	w, err := b.worker.World(b.ctx, m)
	require.NoError(b.t, err)
	_, events, err := b.ledger.Execute(b.ctx, m, func(s projections.State) ([]domain.Event, error) {
		events, _, err := projections.Decide(s, w, domain.Request{ID: uuid.NewString(), By: "test", Command: c}, time.Now(), b.limits)
		return events, err
	})
	b.worker.Appended(m, events)
	return err
}

func (b *bridge) mustDo(m domain.Machine, c domain.Command) {
	b.t.Helper()
	require.NoError(b.t, b.do(m, c))
}

func (b *bridge) state(m domain.Machine) projections.State {
	s, _ := b.ledger.State(m)
	return s
}

// atRest waits until nothing is to be done for a machine, and requires that log and cluster agree then (I3, I4).
func (b *bridge) atRest(m domain.Machine) projections.State {
	b.t.Helper()
	b.eventually("at rest", func() bool {
		before := b.state(m).Seq
		w, err := b.worker.World(b.ctx, m)
		s := b.state(m)
		return err == nil && s.Seq > 0 && s.Seq == before && projections.AtRest(s, w) && len(projections.Observe(s, w, time.Now(), b.limits)) == 0
	})
	return b.state(m)
}

const manifest = `
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: NAME, namespace: NAMESPACE}
spec:
  STRATEGY
  template:
    spec:
      terminationGracePeriodSeconds: GRACE
      domain:
        resources: {requests: {memory: 64Mi}}
        devices:
          disks:
          - {name: root, serial: R00T, cache: none, bootOrder: 1, disk: {bus: virtio}}
          - {name: data, disk: {bus: virtio}}
          interfaces: [{name: default, masquerade: {}}]
      networks: [{name: default, pod: {}}]
      volumes:
      - {name: root, containerDisk: {image: root}}
      - {name: data, containerDisk: {image: data}}
`

// newVM makes a VM; strategy is "runStrategy: Halted", "running: true" or the like.
func (b *bridge) newVM(name, strategy string, grace int) domain.Machine {
	b.t.Helper()
	text := strings.NewReplacer("NAMESPACE", b.namespace, "NAME", name, "STRATEGY", strategy, "GRACE", fmt.Sprint(grace)).Replace(manifest)
	vm := &v1.VirtualMachine{}
	require.NoError(b.t, yaml.Unmarshal([]byte(text), vm))
	vm, err := b.vms.KubevirtV1().VirtualMachines(b.namespace).Create(b.ctx, vm, metav1.CreateOptions{})
	require.NoError(b.t, err)
	m := domain.Machine{Namespace: b.namespace, Name: name, UID: string(vm.UID)}
	b.eventually("adopted", func() bool { return b.state(m).Seq > 0 })
	return m
}

func (b *bridge) vm(m domain.Machine) *v1.VirtualMachine {
	b.t.Helper()
	vm, err := b.vms.KubevirtV1().VirtualMachines(m.Namespace).Get(b.ctx, m.Name, metav1.GetOptions{})
	require.NoError(b.t, err)
	return vm
}

// change edits a VM as its owner does.
func (b *bridge) change(m domain.Machine, edit func(*v1.VirtualMachine)) *v1.VirtualMachine {
	b.t.Helper()
	var vm *v1.VirtualMachine
	require.NoError(b.t, retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
		vm = b.vm(m)
		edit(vm)
		vm, err = b.vms.KubevirtV1().VirtualMachines(b.namespace).Update(b.ctx, vm, metav1.UpdateOptions{})
		return err
	}))
	return vm
}

// instance is the UID of the running instance; empty: there is none, or it does not run yet or any more.
func (b *bridge) instance(m domain.Machine) string {
	vmi, err := b.vms.KubevirtV1().VirtualMachineInstances(m.Namespace).Get(b.ctx, m.Name, metav1.GetOptions{})
	if err != nil || vmi.Status.Phase != v1.Running || vmi.DeletionTimestamp != nil {
		return ""
	}
	return string(vmi.UID)
}

// off waits until the machine has no instance.
func (b *bridge) off(m domain.Machine) {
	b.t.Helper()
	b.eventually("off", func() bool {
		vmi, err := b.vms.KubevirtV1().VirtualMachineInstances(m.Namespace).Get(b.ctx, m.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && vmi.IsFinal()
	})
}

// on waits until the machine runs another instance than that one.
func (b *bridge) on(m domain.Machine, than string) string {
	b.t.Helper()
	var uid string
	b.eventually("on", func() bool { uid = b.instance(m); return uid != "" && uid != than })
	return uid
}

// boots is what the machine's guests found, by the node's own record.
func (b *bridge) boots(m domain.Machine) []string {
	b.t.Helper()
	resp, err := http.Get(shared.Control + "/boots?vmi=" + m.String())
	require.NoError(b.t, err)
	defer resp.Body.Close()
	var boots []struct{ Result string }
	require.NoError(b.t, json.NewDecoder(resp.Body).Decode(&boots))
	results := []string{}
	for _, boot := range boots {
		results = append(results, boot.Result)
	}
	return results
}

// node asks the played nodes for something.
func (b *bridge) node(order string) {
	b.t.Helper()
	resp, err := http.Post(shared.Control+order, "", nil)
	require.NoError(b.t, err)
	resp.Body.Close()
	require.Equal(b.t, http.StatusOK, resp.StatusCode, order)
}

// image serves a bootable image; handler, if any, comes before it.
func (b *bridge) image(id string, before func(http.ResponseWriter, *http.Request) bool) string {
	iso := isoimage.Bootable(id, 1<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || before(w, r) {
			http.ServeContent(w, r, "a.iso", time.Time{}, strings.NewReader(string(iso)))
		}
	}))
	b.t.Cleanup(server.Close)
	return server.URL + "/" + id + ".iso"
}

func insert(url string) domain.InsertMedia {
	image, _ := domain.Redact(url)
	return domain.InsertMedia{Slot: domain.SlotCd, Image: image, Digest: domain.Digest(url)}
}

func once(target domain.BootTarget) domain.SetBoot {
	enabled := domain.BootOnce
	return domain.SetBoot{Target: &target, Enabled: &enabled}
}

// leftovers are the volumes with a label of ours in the namespace, without those that CDI has made for its importer, which
// are its to remove.
func (b *bridge) leftovers() []string {
	b.t.Helper()
	mine := metav1.ListOptions{LabelSelector: domain.LabelManaged}
	dvs, err := b.volumes.CdiV1beta1().DataVolumes(b.namespace).List(b.ctx, mine)
	require.NoError(b.t, err)
	pvcs, err := b.core.CoreV1().PersistentVolumeClaims(b.namespace).List(b.ctx, mine)
	require.NoError(b.t, err)
	names := []string{}
	for _, dv := range dvs.Items {
		names = append(names, "datavolume/"+dv.Name)
	}
	for _, pvc := range pvcs.Items {
		if owner := metav1.GetControllerOf(&pvc); owner != nil && owner.Kind == "PersistentVolumeClaim" {
			continue
		}
		names = append(names, "pvc/"+pvc.Name)
	}
	return names
}
