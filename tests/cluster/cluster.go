package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// InfoFile in the state directory describes a cluster that is ready.
const InfoFile = "cluster.json"

// ErrNotBuilt is returned when the cluster's binaries are missing.
var ErrNotBuilt = errors.New("the cluster's binaries are not built: run `make cluster-build`")

// Info is the content of InfoFile. All paths are absolute.
type Info struct {
	State      string         `json:"state"`
	Kubeconfig string         `json:"kubeconfig"` // of a cluster-admin
	Kubectl    string         `json:"kubectl"`    // a kubectl of the API server's version
	Control    string         `json:"control"`    // base URL of the node stub's control port
	Supervisor int            `json:"supervisor"` // process id
	PIDs       map[string]int `json:"pids"`       // of the components, by name
}

// Cluster is a running cluster.
type Cluster struct {
	Info
	supervisor *exec.Cmd // nil when attached
	stdin      io.Closer
	output     *syncBuffer
	ended      chan struct{}
}

// BinDir is where `make cluster-build` puts the binaries: $LEDGERFISH_CACHE/bin, by default .cache/bin in the
// repository that this source file belongs to.
func BinDir() string {
	cache := os.Getenv("LEDGERFISH_CACHE")
	if cache == "" {
		_, file, _, _ := runtime.Caller(0)
		cache = filepath.Join(filepath.Dir(file), "..", "..", ".cache")
	}
	return filepath.Join(cache, "bin")
}

// Start runs a cluster in the given state directory (see command cluster; it may have been used before) and returns
// when it is ready. Its life ends with Stop, with ctx or with this process. extra are further flags of the command.
func Start(ctx context.Context, state string, extra ...string) (*Cluster, error) {
	binary := filepath.Join(BinDir(), "cluster")
	if _, err := os.Stat(binary); err != nil {
		return nil, ErrNotBuilt
	}
	state, err := filepath.Abs(state)
	if err != nil {
		return nil, err
	}
	c := &Cluster{output: &syncBuffer{}, ended: make(chan struct{})}
	c.supervisor = exec.CommandContext(ctx, binary, append([]string{"-until-eof", "-state", state}, extra...)...)
	c.supervisor.Cancel = func() error { return c.supervisor.Process.Signal(syscall.SIGTERM) }
	c.supervisor.Stdout, c.supervisor.Stderr = c.output, c.output
	if c.stdin, err = c.supervisor.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.supervisor.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.supervisor.Wait()
		close(c.ended)
	}()
	if err := c.waitReady(state); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cluster) waitReady(state string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		info, err := readInfo(state)
		if err == nil && info.Supervisor == c.supervisor.Process.Pid {
			c.Info = *info
			return nil
		}
		select {
		case <-c.ended:
			return fmt.Errorf("the cluster ended while starting:\n%s", c.output)
		case <-tick.C:
		}
	}
}

// Attach uses a cluster that another process runs in that state directory. Stop does not end it.
func Attach(state string) (*Cluster, error) {
	info, err := readInfo(state)
	if err != nil {
		return nil, fmt.Errorf("no cluster is ready in %s: %w", state, err)
	}
	return &Cluster{Info: *info}, nil
}

func readInfo(state string) (*Info, error) {
	content, err := os.ReadFile(filepath.Join(state, InfoFile))
	if err != nil {
		return nil, err
	}
	info := &Info{}
	return info, json.Unmarshal(content, info)
}

// Stop ends a cluster that Start started and waits until no process of it is left.
func (c *Cluster) Stop() error {
	if c.supervisor == nil {
		return nil
	}
	_ = c.stdin.Close()
	<-c.ended
	if !c.supervisor.ProcessState.Success() {
		return fmt.Errorf("the cluster ended badly: %s:\n%s", c.supervisor.ProcessState, c.output)
	}
	return nil
}

// Ended is closed when the supervisor has ended; nil when attached.
func (c *Cluster) Ended() <-chan struct{} { return c.ended }

// RESTConfig is a cluster-admin's, without a client-side rate limit.
func (c *Cluster) RESTConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig of the cluster in %s: %w", c.State, err)
	}
	config.QPS = -1
	return config, nil
}

// syncBuffer collects the supervisor's output, which arrives while it is read.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
