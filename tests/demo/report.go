package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// report prints each machine's history, what it comes to, and one log as kubectl shows it.
func (d *demo) report(ctx context.Context) error {
	say("each machine's history: ledgerfish log <namespace>/<name>")
	for _, h := range d.hosts {
		history, err := d.bridge.Command(ctx, "log", h.String())
		if err != nil {
			return fmt.Errorf("ledgerfish log %s: %w: %s", h, err, history)
		}
		fmt.Println(history)
	}
	say("held, released, booted")
	for _, h := range d.hosts {
		if err := d.summary(ctx, h); err != nil {
			return err
		}
	}
	say("one log as it is kept: kubectl -n %s describe configmap -l %s", harness.LedgerNamespace, harness.LogSelector(d.hosts[0].VM))
	described, err := d.env.Kubectl(ctx, "-n", harness.LedgerNamespace, "describe", "configmap", "-l", harness.LogSelector(d.hosts[0].VM))
	fmt.Println(described)
	return err
}

func (d *demo) summary(ctx context.Context, h host) error {
	log, err := d.env.Log(ctx, h.VM)
	if err != nil {
		return err
	}
	boots, err := d.env.Node.Boots(ctx, h.String())
	if err != nil {
		return err
	}
	held, released := "never held", "never released"
	var since time.Time
	for _, e := range log {
		switch e.Type {
		case domain.PowerDeferredType:
			since, held = e.Time, "held at "+e.Time.Format("15:04:05.000")
		case domain.PowerReleasedType:
			released = fmt.Sprintf("released at %s, %.1f s later", e.Time.Format("15:04:05.000"), e.Time.Sub(since).Seconds())
		}
	}
	fmt.Printf("%-10s power was %s, %s;", h.Name, held, released)
	for _, b := range boots {
		fmt.Printf(" the guest booted at %s: %s", b.Time.Format("15:04:05.000"), b.Result)
	}
	fmt.Println()
	return nil
}

// invite prints lines to play with.
func (d *demo) invite() {
	m := d.hosts[0].VM
	login := fmt.Sprintf("curl --cacert %s -u %q", d.bridge.CA, harness.User+":"+harness.Password)
	system := d.bridge.URL + harness.SystemPath(m)
	kubeconfig := d.env.Cluster.Kubeconfig
	kubectl := fmt.Sprintf("%s --kubeconfig %s", d.env.Cluster.Kubectl, kubeconfig)
	say("everything is still running; Ctrl-C ends it. In another terminal:")
	fmt.Printf(`
  %[1]s %[2]s
  %[1]s -H 'Content-Type: application/json' -d '{"Image":"%[3]s"}' %[2]s/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia
  %[1]s -H 'Content-Type: application/json' -d '{"ResetType":"On"}' %[2]s/Actions/ComputerSystem.Reset
  %[11]s log --follow %[9]s/%[12]s --kubeconfig %[13]s
  redfishtool -r %[4]s -S Always -u %[5]s -p %[6]q Systems -L %[7]s get
  %[8]s -n %[9]s get vm,vmi,dv,pvc
  %[8]s -n %[10]s get configmap -l ledgerfish.io/record=log
  %[11]s verify %[9]s/%[12]s --kubeconfig %[13]s
  %[1]s -X POST %[2]s/VirtualMedia/Cd/Actions/VirtualMedia.EjectMedia

`, login, system, d.hosts[0].url, d.bridge.URL[len("https://"):], harness.User, harness.Password, harness.SystemPath(m), kubectl,
		d.namespace, harness.LedgerNamespace, d.bridge.Binary(), m.Name, kubeconfig)
}
