package node

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kubevirt.io/client-go/kubevirt"

	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/volume"
)

// names of the nodes; two, so that ReadWriteOnce can be met from the wrong one.
func names() []string { return []string{"node1", "node2"} }

const (
	// loopPause is how long the loop rests between two looks while something changes, idlePause while nothing does: the
	// grain of all durations here.
	loopPause = 50 * time.Millisecond
	idlePause = 100 * time.Millisecond
	// podStart is the time from binding to running.
	podStart = 200 * time.Millisecond
)

// Node is the stub. Its fields below the line belong to the loop alone.
type Node struct {
	kube     kubernetes.Interface           // as cluster-admin: scheduler, binder and kubelet
	handlers map[string]*kubevirt.Clientset // by node: as virt-handler of that node
	cache    *cache
	volumes  *volume.Store
	faults   *faults
	history  *history
	log      *logrus.Entry
	certs    Certs

	downloads sync.WaitGroup // goroutines that the loop started
	imports   atomic.Pointer[[]Import]
	// ----
	beats  map[string]*beat        // by node
	states map[types.UID]*podState // by pod
	guests map[types.UID]*guest    // by VMI
	placed int                     // pods placed so far, to alternate
}

// Certs are the files virt-handler's and the importers' servers use.
type Certs struct{ Cert, Key string }

// New connects to the cluster of an admin's configuration.
func New(admin *rest.Config, volumes *volume.Store, certs Certs, log *logrus.Entry) (*Node, error) {
	kube, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return nil, err
	}
	n := &Node{kube: kube, handlers: map[string]*kubevirt.Clientset{}, volumes: volumes, faults: newFaults(), history: &history{}, log: log, certs: certs,
		beats: map[string]*beat{}, states: map[types.UID]*podState{}, guests: map[types.UID]*guest{}}
	for _, name := range names() {
		if n.handlers[name], err = kubevirt.NewForConfig(handlerIdentity(admin, name)); err != nil {
			return nil, err
		}
	}
	n.imports.Store(&[]Import{})
	n.cache, err = newCache(kube, n.handlers[names()[0]])
	return n, err
}

// handlerIdentity is virt-handler's ServiceAccount on one node; KubeVirt's admission compares the node's name.
func handlerIdentity(admin *rest.Config, node string) *rest.Config {
	c := rest.CopyConfig(admin)
	c.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:kubevirt:kubevirt-handler",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:kubevirt", "system:authenticated"},
		Extra:    map[string][]string{"authentication.kubernetes.io/node-name": {node}},
	}
	return c
}

// Run makes the nodes and works until ctx ends; it waits for everything it started.
func (n *Node) Run(ctx context.Context) error {
	defer n.downloads.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, name := range names() {
		if err := n.register(ctx, name); err != nil {
			return fmt.Errorf("register node %s: %w", name, err)
		}
	}
	if err := n.cache.start(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(loopPause)
	defer tick.Stop()
	var last time.Time
	for {
		if n.cache.changed.Swap(false) || time.Since(last) >= idlePause {
			last = time.Now()
			n.step(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// step looks at everything once.
func (n *Node) step(ctx context.Context) {
	n.heartbeat(ctx)
	n.bindClaims(ctx)
	n.releaseVolumes(ctx)
	for _, pod := range n.cache.pods() {
		n.stepPod(ctx, pod)
	}
	for _, vmi := range n.cache.vmis() {
		n.stepVMI(ctx, vmi)
	}
	n.forget()
	n.publishImports()
}
