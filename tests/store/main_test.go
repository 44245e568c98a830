package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/transport"

	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// shared serves all tests but those that break it.
var shared *apiServer

func binary() string { return filepath.Join(cluster.BinDir(), "apiserver") }

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if _, err := os.Stat(binary()); err != nil && os.Getenv("CI") != "true" {
		fmt.Println("SKIP tests/store:", cluster.ErrNotBuilt)
		return 0
	}
	dir, err := os.MkdirTemp("", "ledgerfish-store-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/store:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if shared, err = startAPIServer(dir, 0); err != nil {
		fmt.Fprintln(os.Stderr, "tests/store: start the API server:", err)
		return 1
	}
	defer shared.stop()
	return m.Run()
}

// apiServer is a kube-apiserver with its etcd, in a process that ends with this one.
type apiServer struct {
	config  *rest.Config // a cluster-admin's, without a client-side limit
	process *exec.Cmd
	stdin   io.Closer
}

// startAPIServer returns when objects can be created. The directory may be that of a server that has ended; port 0 is
// any.
func startAPIServer(dir string, port int) (*apiServer, error) {
	s := &apiServer{process: exec.Command(binary(), "-until-eof", "-dir", dir, "-port", strconv.Itoa(port))}
	s.process.Stderr = os.Stderr
	stdout, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.stdin, err = s.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	said := bufio.NewScanner(stdout)
	for said.Scan() && !strings.HasPrefix(said.Text(), "ready") {
	}
	if s.config, err = clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig")); err != nil {
		s.stop()
		return nil, err
	}
	s.config.QPS = -1
	return s, nil
}

// port is where it listens.
func (s *apiServer) port(t *testing.T) int {
	u, err := url.Parse(s.config.Host)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	return port
}

func (s *apiServer) stop() {
	_ = s.stdin.Close()
	_ = s.process.Wait()
}

// kill ends it as a crash does.
func (s *apiServer) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// wrapped is a client of the shared server whose requests go through wrap, if that is given.
func wrapped(t testing.TB, wrap transport.WrapperFunc) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(shared.config)
	config.ContentType = "application/json" // so that wrap can read it
	if wrap != nil {
		config.Wrap(wrap)
	}
	return client(t, config)
}

func client(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return c
}

// namespace makes a namespace on the shared server that is deleted at the end of the test.
func namespace(t testing.TB) string {
	t.Helper()
	c := client(t, shared.config)
	ns, err := c.CoreV1().Namespaces().Create(context.Background(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ledger-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{}))
	})
	return ns.Name
}

// open is a store with a client of its own.
func open(t testing.TB, client kubernetes.Interface, namespace string, o eventstore.Options) *eventstore.Log {
	t.Helper()
	if o.Patience == 0 {
		o.Patience = time.Minute // a busy machine is no finding
	}
	s := eventstore.NewConfigMaps(client, namespace, o)
	t.Cleanup(s.Close)
	return s
}
