package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

// namespace is where KubeVirt lives; its generators and identities take it as given.
const namespace = "kubevirt"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig of a cluster-admin")
	dir := flag.String("dir", "", "directory for certificates and kubeconfigs")
	port := flag.Int("virt-api-port", 0, "port that virt-api will listen on")
	gates := flag.String("gates", "", "feature gates to turn on, separated by commas")
	disabled := flag.String("disabled-gates", "", "feature gates to turn off, separated by commas")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := boot(ctx, *kubeconfig, *dir, *port, list(*gates), list(*disabled)); err != nil {
		fmt.Fprintln(os.Stderr, "boot:", err)
		os.Exit(1)
	}
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

func boot(ctx context.Context, kubeconfig, dir string, port int, gates, disabled []string) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	cfg.QPS, cfg.Burst = 300, 600
	ca, err := writeIdentities(dir, cfg)
	if err != nil {
		return fmt.Errorf("write certificates and kubeconfigs: %w", err)
	}
	a, err := newApplier(cfg)
	if err != nil {
		return err
	}
	if err := installCRDs(ctx, a); err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	if err := installRBAC(ctx, a); err != nil {
		return fmt.Errorf("install RBAC: %w", err)
	}
	if err := installKubeVirt(ctx, a, ca, gates, disabled); err != nil {
		return fmt.Errorf("install KubeVirt object: %w", err)
	}
	if err := installVirtAPI(ctx, a, ca, int32(port)); err != nil {
		return fmt.Errorf("install webhooks and APIServices: %w", err)
	}
	return a.dropLeadership(ctx)
}
