package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/node"
	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/volume"
)

type options struct {
	kubeconfig, certs, volumes, handlerListen, controlListen string
	untilEOF                                                 bool
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of a cluster-admin")
	flag.StringVar(&o.certs, "certs", "", "directory that command boot has written")
	flag.StringVar(&o.volumes, "volumes", "", "directory for the volumes' bytes")
	flag.StringVar(&o.handlerListen, "handler-listen", "127.0.0.1:0", "address of virt-handler's REST API")
	flag.StringVar(&o.controlListen, "control-listen", "127.0.0.1:0", "address of the control port")
	flag.BoolVar(&o.untilEOF, "until-eof", false, "end when standard input is closed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.untilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	log := logrus.New()
	log.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, DisableColors: true, TimestampFormat: time.StampMilli})
	admin, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	admin.QPS = -1
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	file := func(name string) string { return filepath.Join(o.certs, name) }
	certs := node.Certs{Cert: file("handler-server.crt"), Key: file("handler-server.key")}
	n, err := node.New(admin, volume.NewStore(o.volumes), certs, logrus.NewEntry(log))
	if err != nil {
		return err
	}
	clientCA, err := os.ReadFile(file("kubevirt-ca.crt"))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(clientCA)
	handler := &http.Server{Handler: n.HandlerAPI(), ReadHeaderTimeout: 5 * time.Second, ErrorLog: stdlog.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}}
	control := &http.Server{Handler: n.Control(), ReadHeaderTimeout: 5 * time.Second}
	return serve(ctx, n, []service{
		{handler, o.handlerListen, func(s *http.Server, ln net.Listener) error { return s.ServeTLS(ln, certs.Cert, certs.Key) }},
		{control, o.controlListen, func(s *http.Server, ln net.Listener) error { return s.Serve(ln) }},
	})
}

type service struct {
	server *http.Server
	listen string
	serve  func(*http.Server, net.Listener) error
}

// serve runs the node and its servers; the first that ends, or ctx, ends all.
func serve(ctx context.Context, n *node.Node, services []service) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, len(services)+1)
	for _, s := range services {
		ln, err := net.Listen("tcp", s.listen)
		if err != nil {
			return err
		}
		defer s.server.Close() //nolint:errcheck // ends the goroutine below
		go func() { ended <- s.serve(s.server, ln) }()
	}
	go func() { ended <- n.Run(ctx) }()
	err := <-ended // Run returns when ctx does
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
