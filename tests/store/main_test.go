package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// admin is a cluster-admin's configuration, without a client-side limit.
var admin *rest.Config

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	binary := filepath.Join(cluster.BinDir(), "apiserver")
	if _, err := os.Stat(binary); err != nil && os.Getenv("CI") != "true" {
		fmt.Println("SKIP tests/store:", cluster.ErrNotBuilt)
		return 0
	}
	dir, err := os.MkdirTemp("", "ledgerfish-store-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/store:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	stop, err := startAPIServer(binary, dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/store: start the API server:", err)
		return 1
	}
	defer stop()
	return m.Run()
}

// startAPIServer returns when objects can be created. The server ends with stop or with this process.
func startAPIServer(binary, dir string) (stop func(), err error) {
	server := exec.Command(binary, "-until-eof", "-dir", dir)
	server.Stderr = os.Stderr
	stdin, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = stdin.Close()
		_ = server.Wait()
	}
	said := bufio.NewScanner(stdout)
	for said.Scan() && !strings.HasPrefix(said.Text(), "ready") {
	}
	if admin, err = clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig")); err != nil {
		stop()
		return nil, err
	}
	admin.QPS = -1
	return stop, nil
}

// wrapped is a client whose requests go through wrap, if that is given.
func wrapped(t testing.TB, wrap transport.WrapperFunc) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(admin)
	config.ContentType = "application/json" // so that wrap can read it
	if wrap != nil {
		config.Wrap(wrap)
	}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// namespace makes a namespace that is deleted at the end of the test.
func namespace(t testing.TB) string {
	t.Helper()
	client := wrapped(t, nil)
	ns, err := client.CoreV1().Namespaces().Create(context.Background(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "ledger-"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{}))
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
