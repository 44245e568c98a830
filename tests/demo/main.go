package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/ledgerfish/ledgerfish/tests/harness"
)

func main() {
	var o options
	flag.IntVar(&o.machines, "machines", 8, "number of machines")
	flag.DurationVar(&o.takes, "import", 20*time.Second, "how long the download of an image takes")
	flag.BoolVar(&o.keep, "keep", false, "leave cluster and bridge running until Ctrl-C")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait for anything
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

type options struct {
	machines int
	takes    time.Duration
	keep     bool
}

// errVerdict: everything went its way, and the cluster says that it was not as promised.
var errVerdict = errors.New("the cluster does not say what was promised")

var errInterrupted = errors.New("interrupted before the end")

func run(ctx context.Context, o options) (err error) {
	say("starting a cluster: etcd, kube-apiserver, virt-api, virt-controller, CDI, two played nodes")
	env, err := harness.Open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() != nil && !errors.Is(err, errVerdict) {
			err = errInterrupted // rather than which call it came in the middle of
		}
		err = errors.Join(err, env.Close())
	}()
	say("starting the bridge by the rights of deploy/base")
	bridge, err := env.StartBridge(ctx, harness.Options{})
	if err != nil {
		return err
	}
	env.Cleanup(bridge.Stop)
	d, err := prepare(ctx, env, bridge, o)
	if err != nil {
		return err
	}
	if err := d.sequence(ctx); err != nil {
		return err
	}
	if err := d.watch(ctx); err != nil {
		return err
	}
	if err := d.report(ctx); err != nil {
		return err
	}
	v, err := d.putAway(ctx)
	if err != nil {
		return err
	}
	if o.keep {
		d.invite()
	}
	harness.Result("demo machines=%d booted=%d early_starts=%d leftovers=%d", v.machines, v.booted, v.early, v.left)
	if o.keep {
		<-ctx.Done()
		say("stopping")
	}
	if v.booted != v.machines || v.early+v.left > 0 {
		return errVerdict
	}
	return nil
}

func say(format string, args ...any) { fmt.Printf("\n== "+format+"\n", args...) }
