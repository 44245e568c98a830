package kubevirt

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cdi "kubevirt.io/client-go/containerizeddataimporter"
	kubevirt "kubevirt.io/client-go/kubevirt"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Options says which machines are served and how images are imported. The zero value of a field means its default.
type Options struct {
	Namespaces      []string // of the machines; none: all
	Selector        string   // label selector of the VMs that are served; empty: all
	LedgerNamespace string   // where the Secrets of images are kept

	StorageClass string                            // of imported volumes; empty: the cluster's default
	ImageCA      string                            // name of a ConfigMap, in each machine's namespace, with the CAs of image servers; empty: the importer's own
	AccessMode   corev1.PersistentVolumeAccessMode // of imported volumes; default ReadWriteOnce
	DefaultSize  int64                             // bytes, of a volume whose image's size can not be found out; default 8 GiB
	SizeMargin   float64                           // added to an image's size, as a fraction of it; default 0.03
	ProbeTimeout time.Duration                     // for finding out an image's size; default 5 s

	Now func() time.Time // the clock by which Volume.MovedAt is told
}

func (o Options) withDefaults() Options {
	if len(o.Namespaces) == 0 {
		o.Namespaces = []string{corev1.NamespaceAll}
	}
	if o.AccessMode == "" {
		o.AccessMode = corev1.ReadWriteOnce
	}
	if o.DefaultSize == 0 {
		o.DefaultSize = 8 << 30
	}
	if o.SizeMargin == 0 {
		o.SizeMargin = 0.03
	}
	if o.ProbeTimeout == 0 {
		o.ProbeTimeout = 5 * time.Second
	}
	return o
}

// Cluster is a Kubernetes cluster with KubeVirt and CDI. It reads and writes; it decides nothing. It is safe for
// concurrent use.
type Cluster struct {
	Options
	core      kubernetes.Interface
	kubevirt  kubevirt.Interface
	cdi       cdi.Interface
	dynamic   dynamic.Interface
	secrets   *Secrets
	movements movements
}

// fieldManager names us in the managed fields of what we write.
const fieldManager = "ledgerfish"

// virtualMachines is how a VM is written: typed objects would drop fields that a newer KubeVirt has.
var virtualMachines = schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachines"}

// Client-side limits: client-go's own 5 a second would be the slowest part of everything. The API server's priority and
// fairness is what protects it.
const (
	requestsPerSecond = 500
	requestsBurst     = 1000
)

// New makes the clients for a cluster.
func New(config *rest.Config, o Options) (*Cluster, error) {
	if o.Now == nil {
		return nil, fmt.Errorf("kubevirt: Options.Now is missing")
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = requestsPerSecond, requestsBurst
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("kubernetes client: %w", err)
	}
	vms, err := kubevirt.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("kubevirt client: %w", err)
	}
	volumes, err := cdi.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cdi client: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("dynamic client: %w", err)
	}
	o = o.withDefaults()
	return &Cluster{Options: o, core: core, kubevirt: vms, cdi: volumes, dynamic: dyn,
		secrets: &Secrets{core: core, namespace: o.LedgerNamespace}}, nil
}

// Secrets gives the image Secrets that this cluster's imports read.
func (c *Cluster) Secrets() *Secrets { return c.secrets }

// labels are on everything that is made in a machine's namespace.
func labels(m domain.Machine, medium uint64) map[string]string {
	return map[string]string{
		domain.LabelManaged: "true",
		domain.LabelUID:     domain.LabelValue(m.UID),
		domain.LabelMedium:  fmt.Sprint(medium),
	}
}
