package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v6/apis/volumesnapshot/v1"
	ocpconfigv1 "github.com/openshift/api/config/v1"
	imagev1 "github.com/openshift/api/image/v1"
	routev1 "github.com/openshift/api/route/v1"
	"go.uber.org/zap/zapcore"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"
	forklift "kubevirt.io/containerized-data-importer-api/pkg/apis/forklift/v1beta1"

	"kubevirt.io/containerized-data-importer/pkg/controller"
	"kubevirt.io/containerized-data-importer/pkg/controller/datavolume"
	"kubevirt.io/containerized-data-importer/pkg/controller/populators"
)

func main() {
	bootstrapOnly := flag.Bool("bootstrap", false, "install CRDs, the CDI object and StorageClasses, then exit")
	untilEOF := flag.Bool("until-eof", false, "end when standard input is closed")
	if flag.Lookup("kubeconfig") == nil { // controller-runtime registers it too
		flag.String("kubeconfig", "", "kubeconfig of a cluster-admin")
	}
	flag.Parse()
	klog.SetOutput(os.Stderr)
	logf.SetLogger(zap.New(zap.Level(zapcore.InfoLevel)))
	ctx := signals.SetupSignalHandler()
	if *untilEOF {
		ctx = cancelAtEOF(ctx, os.Stdin)
	}
	if err := run(ctx, flag.Lookup("kubeconfig").Value.String(), *bootstrapOnly); err != nil {
		fmt.Fprintln(os.Stderr, "cdi:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string, bootstrapOnly bool) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	cfg.QPS, cfg.Burst = 100, 200
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, cdiv1.AddToScheme, extv1.AddToScheme,
		snapshotv1.AddToScheme, forklift.AddToScheme, imagev1.Install, ocpconfigv1.Install, routev1.Install} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	if bootstrapOnly {
		return bootstrap(ctx, cfg, scheme)
	}
	return runControllers(ctx, cfg, scheme)
}

func runControllers(ctx context.Context, cfg *rest.Config, scheme *runtime.Scheme) error {
	mgr, err := manager.New(cfg, manager.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	log := logf.Log.WithName("cdi")
	labels := map[string]string{}
	steps := []func() error{
		func() error {
			_, err := controller.NewConfigController(mgr, log, "cdi-uploadproxy", "config", labels)
			return err
		},
		func() error { _, err := controller.NewStorageProfileController(mgr, log, labels); return err },
		func() error { return datavolume.CreateCommonIndexes(mgr) },
		func() error { _, err := datavolume.NewImportController(ctx, mgr, log, labels); return err },
		func() error {
			_, err := controller.NewImportController(mgr, log, "importer:test", "IfNotPresent", "1", labels)
			return err
		},
		func() error { return populators.CreateCommonPopulatorIndexes(mgr) },
		func() error { _, err := populators.NewImportPopulator(ctx, mgr, log, labels); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return mgr.Start(ctx)
}

// cancelAtEOF ends the context when r does: the parent holds the other end of the pipe, so its death closes it.
func cancelAtEOF(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel()
	}()
	return ctx
}
