package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cdi "kubevirt.io/client-go/containerizeddataimporter"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/projections"
)

// progressEvery is how often --follow looks at an import.
const progressEvery = 2 * time.Second

// follow prints what is appended, and the progress of an import, until ctx ends.
func (r *reader) follow(ctx context.Context, store eventstore.Store, m domain.Machine, seen []domain.Event, p printer) error {
	config, err := r.rest()
	if err != nil {
		return err
	}
	client, err := cdi.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cdi client: %w", err)
	}
	f := &follower{store: store, machine: m, printer: p, state: projections.Replay(m, seen)}
	f.last = f.state.Seq
	interrupted := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watch sync.WaitGroup
	watch.Go(func() {
		cancel(store.Watch(ctx, func(s eventstore.Stream) {
			if s.Machine.UID == m.UID {
				if err := f.catchUp(ctx); err != nil {
					cancel(err)
				}
			}
		}, nil))
	})
	defer watch.Wait()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			if interrupted.Err() != nil {
				return nil // how one leaves it
			}
			return context.Cause(ctx)
		case <-tick.C:
			if err := f.look(ctx, client); err != nil {
				return err
			}
		}
	}
}

type follower struct {
	store   eventstore.Store
	machine domain.Machine
	printer printer

	mu      sync.Mutex
	last    uint64
	state   projections.State
	percent float64
}

// catchUp prints the events that came since. It reads the whole log when a segment was closed meanwhile, which is rare.
func (f *follower) catchUp(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	stream, err := f.store.Load(ctx, f.machine)
	if err != nil {
		return err
	}
	events := stream.Events
	if stream.StartSeq > f.last {
		if events, err = f.store.History(ctx, f.machine); err != nil {
			return err
		}
	}
	for _, e := range events {
		if e.Seq <= f.last {
			continue
		}
		if err := f.printer.print(f.machine, []domain.Event{e}); err != nil {
			return err
		}
		f.last, f.state = e.Seq, projections.Evolve(f.state, e)
	}
	return nil
}

// look prints the progress of an import when it has changed.
func (f *follower) look(ctx context.Context, client cdi.Interface) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	medium, ok := f.state.ImportPending()
	if !ok {
		return nil
	}
	volume, err := client.CdiV1beta1().DataVolumes(f.machine.Namespace).Get(ctx, medium.Volume, metav1.GetOptions{})
	if err != nil {
		return nil // not there yet, or not any more: the log will tell
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(string(volume.Status.Progress), "%"), 64)
	if err != nil || percent == f.percent {
		return nil
	}
	f.percent = percent
	return f.printer.progress(percent)
}
