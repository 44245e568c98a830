package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	cdi "kubevirt.io/client-go/containerizeddataimporter"
	"kubevirt.io/client-go/kubevirt"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// StateVariable names the state directory of a running cluster to use instead of a new one.
const StateVariable = "LEDGERFISH_CLUSTER_STATE"

// LedgerNamespace is where deploy/ puts the bridge and its logs.
const LedgerNamespace = "ledgerfish"

// Env is a cluster with the shipped rights in it, an image server, and what a test needs to act and to look. The clients
// are a cluster-admin's.
type Env struct {
	Cluster *cluster.Cluster
	Node    *cluster.Node
	Core    kubernetes.Interface
	Virt    kubevirt.Interface
	CDI     cdi.Interface
	Images  *Images
	Witness *Witness

	dir      string // of this process, removed by Close
	owned    bool   // the cluster's life is ours
	cleanups []func() error
}

// Open attaches to the cluster of StateVariable or starts one, applies deploy/ and starts to watch. Errors:
// cluster.ErrNotBuilt without the cluster's binaries. Close ends all of it.
func Open(ctx context.Context) (*Env, error) {
	dir, err := os.MkdirTemp("", "ledgerfish-test-")
	if err != nil {
		return nil, err
	}
	e := &Env{dir: dir}
	if err := e.open(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Env) open(ctx context.Context) (err error) {
	if state := os.Getenv(StateVariable); state != "" {
		e.Cluster, err = cluster.Attach(state)
	} else {
		e.owned = true
		e.Cluster, err = cluster.Start(ctx, filepath.Join(e.dir, "cluster"))
	}
	if err != nil {
		return err
	}
	e.Node = e.Cluster.Node()
	config, err := e.Cluster.RESTConfig()
	if err != nil {
		return err
	}
	if e.Core, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if e.Virt, err = kubevirt.NewForConfig(config); err != nil {
		return err
	}
	if e.CDI, err = cdi.NewForConfig(config); err != nil {
		return err
	}
	if err := e.deploy(ctx); err != nil {
		return err
	}
	if e.Images, err = ServeImages(false); err != nil {
		return err
	}
	e.Witness, err = watchCluster(ctx, e)
	return err
}

// Close leaves no process and no file. A cluster that was attached to goes on.
func (e *Env) Close() error {
	var err error
	for _, f := range slices.Backward(e.cleanups) {
		err = errors.Join(err, f())
	}
	if e.Witness != nil {
		e.Witness.close()
	}
	if e.Images != nil {
		e.Images.Close()
	}
	if e.owned && e.Cluster != nil {
		err = errors.Join(err, e.Cluster.Stop())
	}
	return errors.Join(err, os.RemoveAll(e.dir))
}

// Dir is a folder of this process for its files.
func (e *Env) Dir() string { return e.dir }

// Root is the top folder of the sources.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Kubectl runs kubectl as cluster-admin.
func (e *Env) Kubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.Cluster.Kubectl, append([]string{"--kubeconfig", e.Cluster.Kubeconfig}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %v: %w: %s", args, err, out)
	}
	return string(out), nil
}

// NewNamespace makes a namespace for machines, named after prefix.
func (e *Env) NewNamespace(ctx context.Context, prefix string) (string, error) {
	ns, err := e.Core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix + "-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("make a namespace: %w", err)
	}
	return ns.Name, nil
}
