package cluster_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// One cluster's life: a second supervisor is refused, kill -9 of the supervisor leaves no process, a second start finds
// the objects again, and an orderly stop leaves no process either.
func TestSupervisorLeavesNoProcessAndKeepsItsState(t *testing.T) {
	if shared == nil {
		t.Skip(cluster.ErrNotBuilt)
	}
	state := t.TempDir()
	c, err := cluster.Start(t.Context(), state)
	require.NoError(t, err)
	require.Len(t, c.PIDs, 5)
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	_, err = client(t, c).CoreV1().ConfigMaps("default").Create(t.Context(), kept, metav1.CreateOptions{})
	require.NoError(t, err)

	out, err := exec.CommandContext(t.Context(), filepath.Join(cluster.BinDir(), "cluster"), "-state", state).CombinedOutput()
	require.Error(t, err, "a second supervisor on the same state")
	assert.Contains(t, string(out), "is in use by the cluster with process id")

	require.NoError(t, syscall.Kill(c.Supervisor, syscall.SIGKILL))
	<-c.Ended()
	allGone(t, c)

	c, err = cluster.Start(t.Context(), state)
	require.NoError(t, err)
	_, err = client(t, c).CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Stop())
	allGone(t, c)
}

func client(t *testing.T, c *cluster.Cluster) kubernetes.Interface {
	t.Helper()
	config, err := c.RESTConfig()
	require.NoError(t, err)
	k, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return k
}

func allGone(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	for name, pid := range c.PIDs {
		require.Eventually(t, func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }, 10*time.Second, 20*time.Millisecond, "%s with process id %d is still there", name, pid)
	}
}

// A missing binary is told as what to do about it, not as a missing file.
func TestStartWithoutBinaries(t *testing.T) {
	t.Setenv("LEDGERFISH_CACHE", t.TempDir())
	_, err := cluster.Start(context.Background(), t.TempDir())
	require.ErrorIs(t, err, cluster.ErrNotBuilt)
}
