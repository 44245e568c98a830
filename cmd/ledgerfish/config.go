package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/ledgerfish/ledgerfish/domain"
)

// connection is how every command reaches the cluster and the logs in it.
type connection struct {
	kubeconfig      string
	ledgerNamespace string
}

func (c *connection) flags(f *pflag.FlagSet) {
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "path of a kubeconfig; empty: $KUBECONFIG, else the cluster this runs in, else ~/.kube/config")
	f.StringVar(&c.ledgerNamespace, "ledger-namespace", "ledgerfish", "namespace of the logs")
}

// rest gives the client configuration, without client-go's own limit of 5 requests a second.
func (c *connection) rest() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("find the cluster: there is no kubeconfig, and this is not in a cluster; set --kubeconfig or $KUBECONFIG")
	case err != nil:
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.QPS, config.Burst = 500, 1000
	config.UserAgent = "ledgerfish/" + version
	return config, nil
}

// config is what serve is told.
type config struct {
	connection
	namespaces        []string
	selector          string
	listen, opsListen string
	tlsCert, tlsKey   string
	credentials       string
	storageClass      string
	imageCA           string
	defaultSize       string
	allowLoopback     bool
	limits            domain.Limits
	logLevel          string
	logFormat         string
	file              string
}

func (c *config) flags(f *pflag.FlagSet) {
	c.connection.flags(f)
	f.StringSliceVar(&c.namespaces, "namespaces", nil, "namespaces of the machines, comma separated; empty: all")
	f.StringVar(&c.selector, "selector", "", "label selector of the VMs to serve; empty: all")
	f.StringVar(&c.listen, "listen", ":8443", "address of the Redfish service (TLS)")
	f.StringVar(&c.opsListen, "ops-listen", ":9090", "address of /livez, /readyz and /metrics (plain HTTP)")
	f.StringVar(&c.tlsCert, "tls-cert", "", "certificate file, PEM; empty: a self-signed one is generated")
	f.StringVar(&c.tlsKey, "tls-key", "", "key file of the certificate, PEM")
	f.StringVar(&c.credentials, "credentials-secret", "ledgerfish-credentials", "Secret in the ledger namespace whose key htpasswd has the accounts (bcrypt)")
	f.StringVar(&c.storageClass, "storage-class", "", "StorageClass of imported images; empty: the cluster's default")
	f.StringVar(&c.imageCA, "image-ca", "", "ConfigMap in each machine's namespace with the CA certificates of image servers; empty: the importer's own CAs")
	f.StringVar(&c.defaultSize, "default-image-size", "8Gi", "size of the volume when the server does not tell the image's size")
	f.BoolVar(&c.allowLoopback, "allow-loopback-images", false, "accept image URLs on loopback addresses (for a cluster on one machine)")
	f.DurationVar(&c.limits.ImportDeadline, "import-deadline", time.Hour, "how long an import may take")
	f.DurationVar(&c.limits.ImportStall, "import-stall", 5*time.Minute, "how long an import may make no progress")
	f.IntVar(&c.limits.ImportRestarts, "import-restarts", 3, "how often the importer may be restarted")
	f.DurationVar(&c.limits.AttachDeadline, "attach-deadline", 10*time.Minute, "how long it may take to attach an imported image")
	f.DurationVar(&c.limits.PowerDeadline, "power-deadline", 5*time.Minute, "how long a power action may take, beside the VM's own grace period")
	f.StringVar(&c.logLevel, "log-level", "info", "trace, debug, info, warn or error")
	f.StringVar(&c.logFormat, "log-format", "text", "text or json")
	f.StringVar(&c.file, "config", "", "YAML file whose keys are the names of these flags")
}

// load fills in what the command line does not say: from LEDGERFISH_<FLAG>, then from the config file.
func load(f *pflag.FlagSet) error {
	given := map[string]bool{}
	f.Visit(func(flag *pflag.Flag) { given[flag.Name] = true })
	var err error
	f.VisitAll(func(flag *pflag.Flag) {
		name := "LEDGERFISH_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || given[flag.Name] || flag.Name == "help" || err != nil {
			return
		}
		if e := f.Set(flag.Name, value); e != nil {
			err = fmt.Errorf("environment variable %s: %w", name, e)
		}
		given[flag.Name] = true
	})
	file := f.Lookup("config") // only serve has it
	if err != nil || file == nil || file.Value.String() == "" {
		return err
	}
	return loadFile(f, file.Value.String(), given)
}

func loadFile(f *pflag.FlagSet, path string, given map[string]bool) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("config file: %w", err)
	}
	var values map[string]any
	if err := yaml.UnmarshalStrict(raw, &values); err != nil {
		return fmt.Errorf("config file %s: %w", path, err)
	}
	for key, value := range values {
		if key == "config" || key == "help" || f.Lookup(key) == nil {
			return fmt.Errorf("config file %s: unknown key %q", path, key)
		}
		if given[key] {
			continue
		}
		if err := f.Set(key, text(value)); err != nil {
			return fmt.Errorf("config file %s: %s: %w", path, key, err)
		}
	}
	return nil
}

// text is a YAML value as a flag is written.
func text(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	var parts []string
	for _, v := range list {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, ",")
}

// check finds what can not work before anything is started.
func (c *config) check() error {
	if (c.tlsCert == "") != (c.tlsKey == "") {
		return fmt.Errorf("--tls-cert and --tls-key go together")
	}
	for _, address := range []struct{ flag, value string }{{"listen", c.listen}, {"ops-listen", c.opsListen}} {
		if _, _, err := net.SplitHostPort(address.value); err != nil {
			return fmt.Errorf("--%s: %w", address.flag, err)
		}
	}
	if _, err := labels.Parse(c.selector); err != nil {
		return fmt.Errorf("--selector: %w", err)
	}
	if _, err := c.imageSize(); err != nil {
		return err
	}
	for _, limit := range []struct {
		flag  string
		value time.Duration
	}{{"import-deadline", c.limits.ImportDeadline}, {"import-stall", c.limits.ImportStall},
		{"attach-deadline", c.limits.AttachDeadline}, {"power-deadline", c.limits.PowerDeadline}} {
		if limit.value <= 0 {
			return fmt.Errorf("--%s: %s is not a time to wait for", limit.flag, limit.value)
		}
	}
	if c.limits.ImportRestarts < 0 {
		return fmt.Errorf("--import-restarts: %d is not a number of restarts", c.limits.ImportRestarts)
	}
	_, err := c.logger()
	return err
}

func (c *config) imageSize() (int64, error) {
	q, err := resource.ParseQuantity(c.defaultSize)
	if err != nil || q.Sign() <= 0 {
		return 0, fmt.Errorf("--default-image-size: %q is not a size such as 8Gi", c.defaultSize)
	}
	return q.Value(), nil
}

func (c *config) logger() (*logrus.Logger, error) {
	level, err := logrus.ParseLevel(c.logLevel)
	if err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	log := logrus.New()
	log.SetLevel(level)
	switch c.logFormat {
	case "json":
		log.SetFormatter(&logrus.JSONFormatter{})
	case "text":
		log.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, DisableColors: true})
	default:
		return nil, fmt.Errorf("--log-format: %q is neither text nor json", c.logFormat)
	}
	return log, nil
}
