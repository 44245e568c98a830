package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// host is one machine with an image of its own.
type host struct {
	harness.VM
	iso   harness.ISO
	url   string
	gap   time.Duration // from the answer to InsertMedia to the sending of On
	calls time.Duration // all three
}

type demo struct {
	env       *harness.Env
	bridge    *harness.Bridge
	client    *harness.Client
	namespace string
	hosts     []host
	start     time.Time
}

const imageSize = 4 << 20

// prepare makes the machines and their images and waits until the bridge shows them.
func prepare(ctx context.Context, env *harness.Env, bridge *harness.Bridge, o options) (*demo, error) {
	client, err := bridge.Client()
	if err != nil {
		return nil, err
	}
	d := &demo{env: env, bridge: bridge, client: client}
	if d.namespace, err = env.NewNamespace(ctx, "demo"); err != nil {
		return nil, err
	}
	say("making %d halted machines in namespace %s, and a server that sends each image at %d KiB/s", o.machines, d.namespace,
		int(imageSize/1024/o.takes.Seconds()))
	fleet, err := env.Fleet(ctx, d.namespace, "host", o.machines, harness.Shape{Orders: true})
	if err != nil {
		return nil, err
	}
	for i, m := range fleet {
		iso := harness.NewISO(fmt.Sprintf("DEPLOY-%d", i), imageSize)
		d.hosts = append(d.hosts, host{VM: m, iso: iso, url: env.Images.Put(m.Name+".iso", harness.Image{ISO: iso, Takes: o.takes})})
	}
	return d, harness.Until(ctx, time.Minute, "the bridge to show every machine", func(ctx context.Context) error {
		for _, h := range d.hosts {
			reply, err := client.System(ctx, h.VM)
			if err = errors.Join(err, reply.Err()); err != nil {
				return err
			}
		}
		return nil
	})
}

// sequence is Ironic's: InsertMedia, the boot device, On, each as soon as the one before is answered.
func (d *demo) sequence(ctx context.Context) error {
	say("Ironic's sequence on all of them at once: InsertMedia, boot from Cd once, On")
	d.start = time.Now()
	failures := make([]error, len(d.hosts))
	var machines sync.WaitGroup
	for i := range d.hosts {
		machines.Go(func() { failures[i] = d.hosts[i].deploy(ctx, d.client) })
	}
	machines.Wait()
	for i, h := range d.hosts {
		if failures[i] != nil {
			continue
		}
		fmt.Printf("%-10s three 2xx in %4d ms; On was sent %d ms after the answer to InsertMedia\n", h.Name, h.calls.Milliseconds(), h.gap.Milliseconds())
	}
	return errors.Join(failures...)
}

func (h *host) deploy(ctx context.Context, client *harness.Client) error {
	start := time.Now()
	var answered time.Time
	for _, call := range []struct {
		name string
		send func() (harness.Reply, error)
	}{
		{"InsertMedia", func() (harness.Reply, error) { return client.Insert(ctx, h.VM, h.url) }},
		{"boot override", func() (harness.Reply, error) {
			answered = time.Now()
			return client.SetBoot(ctx, h.VM, domain.BootCd, domain.BootOnce)
		}},
		{"On", func() (harness.Reply, error) {
			h.gap = time.Since(answered)
			return client.Reset(ctx, h.VM, domain.ResetOn)
		}},
	} {
		reply, err := call.send()
		if err == nil {
			err = reply.Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", h, call.name, err)
		}
	}
	h.calls = time.Since(start)
	return nil
}

// verdict is what the cluster says.
type verdict struct{ machines, booted, early, left int }

// putAway judges the boots and the starts, then ejects, powers off and counts what is left.
func (d *demo) putAway(ctx context.Context) (v verdict, err error) {
	v.machines = len(d.hosts)
	for _, h := range d.hosts {
		boots, err := d.env.Node.Boots(ctx, h.String())
		if err != nil {
			return v, err
		}
		if len(boots) == 1 && boots[0].SHA256 == h.iso.SHA256 {
			v.booted++
		}
		for _, early := range d.env.Witness.EarlyStarts(h.VM) {
			fmt.Println("early start:", early)
			v.early++
		}
	}
	say("ejecting and powering off")
	var machines sync.WaitGroup
	for _, h := range d.hosts {
		machines.Go(func() {
			_, _ = d.client.Eject(ctx, h.VM) // what came of it is looked for in the cluster
			_, _ = d.client.Reset(ctx, h.VM, domain.ResetForceOff)
		})
	}
	machines.Wait()
	_ = harness.Until(ctx, 2*time.Minute, "every machine to be off and nothing to be left", func(ctx context.Context) error {
		failures := []error{d.env.NothingLeft(ctx, d.namespace)}
		for _, h := range d.hosts {
			failures = append(failures, d.env.IsOff(ctx, h.VM))
		}
		return errors.Join(failures...)
	})
	left, err := d.env.Leftovers(ctx, d.namespace)
	for _, l := range left {
		fmt.Println("left:", l)
	}
	v.left = len(left)
	return v, errors.Join(err, d.env.Witness.Err())
}
