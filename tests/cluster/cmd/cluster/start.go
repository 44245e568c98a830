package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// startCluster starts the components in the order in which they need each other and returns when the last one serves.
func (s *supervisor) startCluster(ctx context.Context, o options) (*cluster.Info, error) {
	for _, dir := range []string{"logs", "tmp", "volumes", "kubevirt"} {
		if err := os.MkdirAll(filepath.Join(s.state, dir), 0o700); err != nil {
			return nil, err
		}
	}
	ports, err := freePorts(4)
	if err != nil {
		return nil, err
	}
	virtAPI, virtController, handler, control := ports[0], ports[1], ports[2], ports[3]
	kubeconfig := filepath.Join(s.state, "kubeconfig")
	if err := s.startAPIServer(ctx, kubeconfig); err != nil {
		return nil, err
	}
	if err := s.install(ctx, o, kubeconfig, virtAPI); err != nil {
		return nil, err
	}
	s.say("starting virt-api, virt-controller, CDI and two nodes")
	if err := s.startKubeVirt(virtAPI, virtController, handler); err != nil {
		return nil, err
	}
	if _, err := s.daemon("cdi", "-until-eof", "-kubeconfig", kubeconfig); err != nil {
		return nil, err
	}
	if _, err := s.daemon("node", "-until-eof", "-kubeconfig", kubeconfig, "-certs", s.certs(), "-volumes", filepath.Join(s.state, "volumes"),
		"-handler-listen", address(handler), "-control-listen", address(control)); err != nil {
		return nil, err
	}
	for _, port := range []int{virtAPI, handler, control} {
		if err := s.until(ctx, "listening on "+address(port), time.Minute, func() bool { return listens(port) }); err != nil {
			return nil, err
		}
	}
	if err := s.until(ctx, "virt-controller leads and has started its controllers", 2*time.Minute, s.logged("virt-controller", "STARTING controllers")); err != nil {
		return nil, err
	}
	if err := s.until(ctx, "CDI controllers started", time.Minute, s.logged("cdi", "Starting workers")); err != nil {
		return nil, err
	}
	served, err := serves(kubeconfig, "/apis/subresources.kubevirt.io/v1")
	if err != nil {
		return nil, err
	}
	// Start and stop of machines go through it; the API server notices virt-api some seconds after it listens.
	if err := s.until(ctx, "KubeVirt's subresources are served", time.Minute, served); err != nil {
		return nil, err
	}
	return s.describe(kubeconfig, control)
}

// serves asks the API server for a path.
func serves(kubeconfig, path string) (func() bool, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return func() bool {
		resp, err := client.Get(config.Host + path)
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, nil
}

func (s *supervisor) certs() string { return filepath.Join(s.state, "kubevirt") }

func (s *supervisor) startAPIServer(ctx context.Context, kubeconfig string) error {
	s.say("starting etcd and kube-apiserver")
	dir := filepath.Join(s.state, "apiserver")
	if _, err := s.daemon("apiserver", "-until-eof", "-dir", dir); err != nil {
		return err
	}
	if err := s.until(ctx, "API server ready", 2*time.Minute, s.logged("apiserver", "\nready after")); err != nil {
		return err
	}
	content, err := os.ReadFile(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		return err
	}
	return os.WriteFile(kubeconfig, content, 0o600)
}

// install brings in what CDI and KubeVirt need. CDI's CRDs must be there before virt-api starts: it ends when they
// appear later.
func (s *supervisor) install(ctx context.Context, o options, kubeconfig string, virtAPI int) error {
	s.say("installing CDI and KubeVirt")
	cdi, err := s.start("cdi", "-until-eof", "-kubeconfig", kubeconfig, "-bootstrap")
	if err != nil {
		return err
	}
	boot, err := s.start("boot", "-kubeconfig", kubeconfig, "-dir", s.certs(), "-virt-api-port", strconv.Itoa(virtAPI),
		"-gates", o.gates, "-disabled-gates", o.disabledGates)
	if err != nil {
		return err
	}
	if err := s.wait(ctx, cdi); err != nil {
		return err
	}
	return s.wait(ctx, boot)
}

func (s *supervisor) startKubeVirt(virtAPI, virtController, handler int) error {
	file := func(name string) string { return filepath.Join(s.certs(), name) }
	if _, err := s.daemon("virt-api", "--kubeconfig", file("kubevirt-apiserver.kubeconfig"),
		"--listen", "127.0.0.1", "--port", strconv.Itoa(virtAPI), "--console-server-port", strconv.Itoa(handler),
		"--tls-cert-file", file("virt-api.crt"), "--tls-key-file", file("virt-api.key"),
		"--handler-cert-file", file("handler-client.crt"), "--handler-key-file", file("handler-client.key")); err != nil {
		return err
	}
	_, err := s.daemon("virt-controller", "--kubeconfig", file("kubevirt-controller.kubeconfig"),
		"--listen", "127.0.0.1", "--port", strconv.Itoa(virtController),
		"--prom-cert-file", file("virt-controller.crt"), "--prom-key-file", file("virt-controller.key"),
		"--launcher-image", "virt-launcher:test", "--exporter-image", "virt-exportserver:test")
	return err
}

// describe writes cluster.json, whose presence says that the cluster is ready.
func (s *supervisor) describe(kubeconfig string, control int) (*cluster.Info, error) {
	info := &cluster.Info{State: s.state, Kubeconfig: kubeconfig, Kubectl: filepath.Join(s.bin, "kubectl"),
		Control: "http://" + address(control), Supervisor: os.Getpid(), PIDs: map[string]int{}}
	for _, c := range s.children {
		select {
		case <-c.done:
		default:
			info.PIDs[c.name] = c.cmd.Process.Pid
		}
	}
	content, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.state, cluster.InfoFile)
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return nil, err
	}
	return info, os.Rename(path+".new", path)
}

// logged looks for a text in a child's log.
func (s *supervisor) logged(name, text string) func() bool {
	path := filepath.Join(s.state, "logs", name+".log")
	return func() bool {
		content, err := os.ReadFile(path)
		return err == nil && bytes.Contains(content, []byte(text))
	}
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func listens(port int) bool {
	conn, err := net.DialTimeout("tcp", address(port), time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// freePorts are free now; another process may take one before its child does, which then fails by name.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer ln.Close() //nolint:errcheck // all at the end, or one port would be given twice
		ports = append(ports, ln.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
