package kubevirt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	if state := os.Getenv("LEDGERFISH_CLUSTER_STATE"); state != "" {
		shared, err = cluster.Attach(state)
	} else {
		var state string
		if state, err = os.MkdirTemp("", "ledgerfish-kubevirt-"); err == nil {
			defer os.RemoveAll(state)
			shared, err = cluster.Start(ctx, state)
		}
	}
	if errors.Is(err, cluster.ErrNotBuilt) && os.Getenv("CI") != "true" {
		fmt.Println("SKIP tests/kubevirt:", err)
		return 0
	}
	if err == nil {
		err = install()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests/kubevirt:", err)
		return 1
	}
	code := m.Run()
	if err := shared.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// install applies what an operator applies.
func install() error {
	apply := exec.Command(shared.Kubectl, "--kubeconfig", shared.Kubeconfig, "apply", "-k", "../../deploy/base")
	if out, err := apply.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", apply, err, out)
	}
	return nil
}

// ledgerNamespace is that of deploy/base.
const ledgerNamespace = "ledgerfish"

// asBridge is a client configuration with exactly the bridge's rights.
func asBridge() (*rest.Config, error) {
	config, err := shared.RESTConfig()
	if err != nil {
		return nil, err
	}
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + ledgerNamespace + ":ledgerfish",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + ledgerNamespace, "system:authenticated"},
	}
	return config, nil
}
