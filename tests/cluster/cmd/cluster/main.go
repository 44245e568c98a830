package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// The parent-death signal of a child fires when the *thread* that started it ends. Children are started from the main
// goroutine only, which is bound to the main thread for the whole life of the process.
func init() { runtime.LockOSThread() }

func main() {
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "Runs an embedded KubeVirt cluster until it is interrupted.\n\nUsage: cluster [flags]\n\n")
		flag.PrintDefaults()
	}
	var o options
	flag.StringVar(&o.state, "state", "", "`directory` of the cluster's state; kept, and used again by the next start (default: a new temporary one, removed at the end)")
	flag.BoolVar(&o.fresh, "fresh", false, "empty the state directory first")
	flag.StringVar(&o.bin, "bin", executableDir(), "`directory` of the binaries, which make cluster-build fills")
	flag.StringVar(&o.gates, "gates", "", "KubeVirt feature gates to turn on, separated by commas")
	flag.StringVar(&o.disabledGates, "disabled-gates", "", "KubeVirt feature gates to turn off, separated by commas")
	flag.BoolVar(&o.untilEOF, "until-eof", false, "end when standard input is closed, for a parent that may be killed")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "cluster: unexpected argument %q; see -help\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

type options struct {
	state, bin, gates, disabledGates string
	fresh, untilEOF                  bool
}

func executableDir() string {
	path, err := os.Executable()
	if err != nil {
		return "."
	}
	return filepath.Dir(path)
}

func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.untilEOF {
		ctx = cancelAtEOF(ctx, os.Stdin)
	}
	state, release, err := openState(o.state, o.fresh)
	if err != nil {
		return err
	}
	defer release()
	s := newSupervisor(state, o.bin)
	defer s.stopAll()
	info, err := s.startCluster(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil // interrupted while starting: not a failure of the cluster
		}
		return err
	}
	fmt.Printf("cluster is ready after %.0f s\n\n  export KUBECONFIG=%s\n  %s get nodes\n\nnode control: %s (GET / lists what it can do)\nlogs: %s\nCtrl-C ends it.\n",
		time.Since(s.begun).Seconds(), info.Kubeconfig, info.Kubectl, info.Control, filepath.Join(state, "logs"))
	select {
	case <-ctx.Done():
		fmt.Println("stopping")
		return nil
	case c := <-s.died:
		return c.failure()
	}
}

func cancelAtEOF(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel()
	}()
	return ctx
}

// openState makes the directory ours until release is called.
func openState(dir string, fresh bool) (state string, release func(), err error) {
	temporary := dir == ""
	if temporary {
		if dir, err = os.MkdirTemp("", "ledgerfish-cluster-"); err != nil {
			return "", nil, err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return "", nil, err
	}
	if fresh {
		if err := emptyState(dir); err != nil {
			return "", nil, errors.Join(err, lock.Close())
		}
	}
	// What a killed cluster left behind would look ready.
	if err := os.Remove(filepath.Join(dir, cluster.InfoFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", nil, errors.Join(err, lock.Close())
	}
	return dir, func() {
		_ = os.Remove(filepath.Join(dir, cluster.InfoFile))
		if temporary {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}, nil
}
