package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc/grpclog"
	"k8s.io/klog/v2"

	_ "github.com/ledgerfish/ledgerfish/tests/cluster/apiserver/internal/quiet"
)

func main() {
	dir := flag.String("dir", "", "state directory, private to this process (required)")
	port := flag.Int("port", 0, "port of the API server on 127.0.0.1; 0 takes a free one")
	untilEOF := flag.Bool("until-eof", false, "end when standard input is closed")
	flag.Parse()
	if *dir == "" {
		fmt.Fprintln(os.Stderr, "apiserver: -dir is required")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *untilEOF {
		ctx = cancelAtEOF(ctx, os.Stdin)
	}
	if err := run(ctx, *dir, *port); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. It prints one line "ready" to standard output when objects can be created.
func run(ctx context.Context, dir string, port int) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := logToFile(filepath.Join(dir, "kube-apiserver.log")); err != nil {
		return err
	}
	start := time.Now()
	etcd, err := startEtcd(dir)
	if err != nil {
		return fmt.Errorf("start etcd in %s: %w", dir, err)
	}
	defer etcd.Close()
	fmt.Printf("etcd ready after %.1fs\n", time.Since(start).Seconds())

	api, err := startAPIServer(ctx, dir, port, etcdEndpoint(dir))
	if err != nil {
		return fmt.Errorf("start kube-apiserver: %w", err)
	}
	defer api.stop()
	if err := startControllers(api.ctx, api.rest); err != nil {
		return fmt.Errorf("start controllers: %w", err)
	}
	fmt.Printf("ready after %.1fs\n", time.Since(start).Seconds())
	select {
	case <-ctx.Done():
		return nil
	case err := <-api.done:
		return fmt.Errorf("kube-apiserver ended: %v", err)
	case err := <-etcd.Err():
		return fmt.Errorf("etcd ended: %w", err)
	}
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

// logToFile sends kube-apiserver's log, which nobody reads on a good day, to a file. klog.Fatal still reaches stderr.
func logToFile(path string) error {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	fs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(fs)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		if err := fs.Set(name, value); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	klog.SetOutput(f)
	return nil
}
