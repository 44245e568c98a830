package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/ledgerfish/ledgerfish/adapters/kubevirt"
	"github.com/ledgerfish/ledgerfish/adapters/redfish"
	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/projections"
)

// stopTimeout bounds how long requests under way are waited for.
const stopTimeout = 5 * time.Second

func serveCommand() *cobra.Command {
	var cfg config
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the machines over Redfish",
		Long: "Serves KubeVirt VMs as Redfish systems and carries out what their logs ask for.\n\nEvery flag can also be given as an environment variable LEDGERFISH_<FLAG> and as a key of the --config file;\n" +
			"the command line wins, then the environment.",
		Example: "  ledgerfish serve\n  ledgerfish serve --kubeconfig ~/.kube/config --namespaces lab --listen :8443",
		Args:    cobra.NoArgs,
	}
	cfg.flags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := load(c.Flags()); err != nil {
			return err
		}
		if err := cfg.check(); err != nil {
			return err
		}
		log, err := cfg.logger()
		if err != nil {
			return err
		}
		kubernetesLog, err := adoptKlog(log)
		if err != nil {
			return err
		}
		defer kubernetesLog.Close()
		s, err := newServer(c.Context(), cfg, log)
		if err != nil {
			return err
		}
		return s.run(c.Context())
	}
	return c
}

// server is the running bridge.
type server struct {
	log      *logrus.Logger
	client   kubernetes.Interface
	store    *eventstore.Log
	ledger   *eventstore.Ledger[projections.State]
	worker   *kubevirt.Worker
	recorder *kubevirt.Recorder
	contact  *contact
	redfish  *http.Server
	ops      *http.Server
	sockets  [2]net.Listener // of redfish and ops
}

// newServer makes everything and opens the ports, so that what can not work is an error before anything runs.
func newServer(ctx context.Context, cfg config, log *logrus.Logger) (*server, error) {
	config, err := cfg.rest()
	if err != nil {
		return nil, err
	}
	s := &server{log: log, contact: &contact{now: time.Now, log: log}}
	if s.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("kubernetes client: %w", err)
	}
	size, err := cfg.imageSize()
	if err != nil {
		return nil, err
	}
	cluster, err := kubevirt.New(config, kubevirt.Options{Namespaces: cfg.namespaces, Selector: cfg.selector,
		LedgerNamespace: cfg.ledgerNamespace, StorageClass: cfg.storageClass, ImageCA: cfg.imageCA, DefaultSize: size, Now: time.Now})
	if err != nil {
		return nil, err
	}
	metrics := newMetrics()
	s.store = eventstore.NewConfigMaps(s.client, cfg.ledgerNamespace, eventstore.Options{})
	store := counted{s.store, metrics}
	s.ledger = eventstore.NewLedger(store, fold(), time.Now, func() string { return uuid.Must(uuid.NewV7()).String() })
	if s.recorder, err = cluster.NewRecorder(ctx); err != nil {
		return nil, err
	}
	if s.worker, err = kubevirt.NewWorker(cluster, s.ledger, cfg.limits, s.recorder, log); err != nil {
		return nil, err
	}
	s.contact.regained = s.worker.LookAgain
	metrics.observe(s.ledger, s.ready)
	b := &bridge{inventory: s.worker.Inventory, cluster: cluster, appended: s.worker.Appended, ledger: s.ledger, store: store, limits: cfg.limits, now: time.Now, ready: s.ready}
	if err := s.listen(ctx, cfg, b, cluster); err != nil {
		return nil, err
	}
	s.ops = opsServer(metrics, s.ready)
	return s, nil
}

// listen makes the Redfish service and opens both ports.
func (s *server) listen(ctx context.Context, cfg config, b *bridge, cluster *kubevirt.Cluster) (err error) {
	id, err := s.serviceID(ctx, cfg.ledgerNamespace)
	if err != nil {
		return err
	}
	accounts, err := watchAccounts(ctx, s.client, cfg.ledgerNamespace, cfg.credentials, s.log)
	if err != nil {
		return err
	}
	var certificate *redfish.Certificate
	if cfg.tlsCert != "" {
		certificate, err = redfish.LoadCertificate(cfg.tlsCert, cfg.tlsKey, s.log)
	} else {
		certificate, err = redfish.GenerateCertificate(certificateHosts(), time.Now())
	}
	if err != nil {
		return err
	}
	service := redfish.New(redfish.Config{Machines: b, Vault: cluster.Secrets(), Accounts: accounts, Log: s.log, Now: time.Now,
		UUID: id, Version: version, ImageAddresses: redfish.ImageAddresses{Loopback: cfg.allowLoopback}})
	s.redfish = redfish.NewServer(service, certificate, s.log)
	for i, address := range []string{cfg.listen, cfg.opsListen} {
		if s.sockets[i], err = net.Listen("tcp", address); err != nil {
			return err
		}
	}
	return nil
}

// serviceID gives the service's UUID: that of the namespace of its logs, which is the same after every restart.
func (s *server) serviceID(ctx context.Context, namespace string) (uuid.UUID, error) {
	ns, err := s.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return uuid.UUID{}, fmt.Errorf("read the ledger namespace %s: %w", namespace, err)
	}
	return uuid.Parse(string(ns.UID))
}

// certificateHosts are the names in a generated certificate.
func certificateHosts() []string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	return hosts
}

// fold is how the projections read a log.
func fold() eventstore.Fold[projections.State] {
	return eventstore.Fold[projections.State]{New: projections.New, Evolve: projections.Evolve,
		Snapshot: projections.Snapshot, Restore: projections.Restore, Summary: projections.Summary}
}

// ready is nil when what is in memory may be shown.
func (s *server) ready() error {
	select {
	case <-s.ledger.Ready():
	default:
		return domain.Errorf(domain.CodeUnavailable, "the logs are still being read")
	}
	if !s.worker.Ready() {
		return domain.Errorf(domain.CodeUnavailable, "the machines are still being looked at")
	}
	if s.contact.lost() {
		return domain.Errorf(domain.CodeUnavailable, "the API server does not answer")
	}
	return nil
}

// run serves until ctx ends, then stops within seconds. Requests are answered first, then the worker ends its steps.
func (s *server) run(ctx context.Context) error {
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	g, failed := errgroup.WithContext(ctx)
	g.Go(func() error { s.contact.run(work, s.client.Discovery()); return nil })
	g.Go(func() error { return s.ledger.Run(work, s.worker.Wake) })
	g.Go(func() error {
		select {
		case <-s.ledger.Ready():
			return s.worker.Run(work)
		case <-work.Done():
			return nil
		}
	})
	g.Go(func() error { return served(s.redfish.ServeTLS(s.sockets[0], "", "")) })
	g.Go(func() error { return served(s.ops.Serve(s.sockets[1])) })
	g.Go(func() error {
		<-failed.Done()
		s.log.Info("stopping")
		answer, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		err := errors.Join(s.redfish.Shutdown(answer), s.ops.Shutdown(answer))
		stopWork()
		s.recorder.Close()
		return err
	})
	s.log.WithFields(logrus.Fields{"redfish": s.sockets[0].Addr().String(), "ops": s.sockets[1].Addr().String(), "version": version}).Info("serving")
	err := g.Wait()
	s.store.Close()
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// served tells a server that was shut down from one that failed.
func served(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
