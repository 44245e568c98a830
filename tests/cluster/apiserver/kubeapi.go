package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// apiServer is a running kube-apiserver; done yields once, when it ends.
type apiServer struct {
	ctx    context.Context
	rest   *rest.Config
	done   chan error
	cancel context.CancelFunc
}

// startAPIServer returns when the server is ready and has made the namespace "default"; <dir>/kubeconfig then exists.
func startAPIServer(ctx context.Context, dir string, port int, etcd string) (*apiServer, error) {
	keys, err := writePKI(filepath.Join(dir, "pki"))
	if err != nil {
		return nil, fmt.Errorf("write certificates: %w", err)
	}
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	opts, err := serverOptions(ctx, ln, serverFlags(etcd, keys))
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancel(ctx)
	s := &apiServer{ctx: runCtx, cancel: cancel, done: make(chan error, 1)}
	go func() { s.done <- app.Run(runCtx, *opts) }()
	s.rest = &rest.Config{Host: "https://" + ln.Addr().String(), QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: keys.caPEM, CertData: keys.adminCertPEM, KeyData: keys.adminKeyPEM}}
	if err := s.waitReady(); err != nil {
		s.stop()
		return nil, err
	}
	return s, writeKubeconfig(filepath.Join(dir, "kubeconfig"), s.rest)
}

func (s *apiServer) stop() {
	s.cancel()
	select {
	case <-s.done:
	case <-time.After(15 * time.Second):
	}
}

func serverFlags(etcd string, keys *pki) []string {
	return []string{
		"--etcd-servers=" + etcd,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none", // a loopback address must not become the kubernetes Endpoints
		"--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true",
		"--authorization-mode=RBAC",
		"--anonymous-auth=false",
		"--shutdown-watch-termination-grace-period=1s", // else an open watch delays the stop to 27 s
		"--tls-cert-file=" + keys.serverCert, "--tls-private-key-file=" + keys.serverKey,
		"--client-ca-file=" + keys.ca,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keys.saKey, "--service-account-signing-key-file=" + keys.saKey,
		"--requestheader-client-ca-file=" + keys.ca,
		"--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + keys.proxyCert, "--proxy-client-key-file=" + keys.proxyKey,
	}
}

func serverOptions(ctx context.Context, ln net.Listener, flags []string) (*options.CompletedOptions, error) {
	o := options.NewServerRunOptions()
	o.SecureServing.Listener, o.SecureServing.BindPort = ln, ln.Addr().(*net.TCPAddr).Port
	fs := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range o.Flags().FlagSets {
		fs.AddFlagSet(set)
	}
	if err := fs.Parse(append(flags, "--secure-port="+strconv.Itoa(o.SecureServing.BindPort))); err != nil {
		return nil, err
	}
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, err
	}
	completed, err := o.Complete(ctx)
	if err != nil {
		return nil, err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, fmt.Errorf("options: %v", errs)
	}
	return &completed, nil
}

func (s *apiServer) waitReady() error {
	client, err := kubernetes.NewForConfig(s.rest)
	if err != nil {
		return err
	}
	ready := func() error {
		if err := client.RESTClient().Get().AbsPath("/readyz").Do(s.ctx).Error(); err != nil {
			return err
		}
		_, err := client.CoreV1().Namespaces().Get(s.ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not ready after two minutes: %w", err)
		}
		select {
		case err := <-s.done:
			s.done <- err
			return fmt.Errorf("ended before it was ready: %v", err)
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func writeKubeconfig(path string, rc *rest.Config) error {
	kc := clientcmdapi.NewConfig()
	kc.Clusters["cluster"] = &clientcmdapi.Cluster{Server: rc.Host, CertificateAuthorityData: rc.CAData}
	kc.AuthInfos["admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: rc.CertData, ClientKeyData: rc.KeyData}
	kc.Contexts["admin"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "admin", Namespace: metav1.NamespaceDefault}
	kc.CurrentContext = "admin"
	return clientcmd.WriteToFile(*kc, path)
}
