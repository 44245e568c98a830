package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vms "kubevirt.io/client-go/kubevirt"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
)

func verifyCommand() *cobra.Command {
	var r reader
	c := &cobra.Command{
		Use:   "verify [<namespace>/<vm>]",
		Short: "Check the logs of one or all machines",
		Long: "Checks the hash chain of a machine's log, or of every log, and that the VM has obeyed no intent that its log does not\n" +
			"have. Exit status: 0 all is well, 2 something is not, 1 it could not be found out.",
		Args: cobra.MaximumNArgs(1),
	}
	r.flags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		store, err := r.open(c)
		if err != nil {
			return err
		}
		machines, err := store.Machines(c.Context())
		if err != nil {
			return err
		}
		if len(args) == 1 {
			m, err := r.find(c.Context(), store, args[0])
			if err != nil {
				return err
			}
			machines = []domain.Machine{m}
		}
		return r.verify(c, store, machines)
	}
	return c
}

// verified is what is found of one machine, as -o json prints it.
type verified struct {
	Machine  domain.Machine `json:"machine"`
	Segments int            `json:"segments"`
	Events   int            `json:"events"`
	Findings []string       `json:"findings"`
}

func (r *reader) verify(c *cobra.Command, store eventstore.Store, machines []domain.Machine) error {
	config, err := r.rest()
	if err != nil {
		return err
	}
	client, err := vms.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("kubevirt client: %w", err)
	}
	bad := 0
	for _, m := range machines {
		report, err := eventstore.Verify(c.Context(), store, m)
		if err != nil {
			return err
		}
		v := verified{Machine: m, Segments: report.Segments, Events: report.Events, Findings: []string{}}
		for _, f := range report.Findings {
			v.Findings = append(v.Findings, f.String())
		}
		fence, err := fenceFinding(c.Context(), client, store, m)
		if err != nil {
			return err
		}
		v.Findings = append(v.Findings, fence...)
		if len(v.Findings) > 0 {
			bad++
		}
		if err := r.show(c, v); err != nil {
			return err
		}
	}
	if bad > 0 {
		return exitError{fmt.Errorf("%d of %d logs are not what they should be", bad, len(machines))}
	}
	return nil
}

func (r *reader) show(c *cobra.Command, v verified) error {
	if r.output == "json" {
		return json.NewEncoder(c.OutOrStdout()).Encode(v)
	}
	verdict := "ok"
	if len(v.Findings) > 0 {
		verdict = "NOT OK"
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "%s  %s  %d segments, %d events  %s\n", v.Machine, v.Machine.UID, v.Segments, v.Events, verdict)
	for _, f := range v.Findings {
		if err == nil {
			_, err = fmt.Fprintln(c.OutOrStdout(), "   ", f)
		}
	}
	return err
}

// fenceFinding tells whether the VM has obeyed an intent that its log does not have: then the log was cut off at its end,
// which its hash chain can not show.
func fenceFinding(ctx context.Context, client vms.Interface, store eventstore.Store, m domain.Machine) ([]string, error) {
	vm, err := client.KubevirtV1().VirtualMachines(m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
	if errors.IsNotFound(err) || err == nil && string(vm.UID) != m.UID {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read VM %s: %w", m, err)
	}
	events, err := store.History(ctx, m)
	if err != nil {
		return nil, err
	}
	var findings []string
	for annotation, intent := range map[string]domain.Type{domain.AnnotationPower: domain.PowerRequestedType, domain.AnnotationMedia: domain.MediaRequestedType} {
		fence := domain.ParseFence(m, vm.Annotations[annotation])
		if fence.Seq == 0 || len(events) > 0 && fence.Seq < events[0].Seq {
			continue // none, or of an event that is not kept any more
		}
		if !slices.ContainsFunc(events, func(e domain.Event) bool { return e.Seq == fence.Seq && e.Type == intent }) {
			findings = append(findings, fmt.Sprintf("the VM has obeyed %s %d, which the log does not have", intent, fence.Seq))
		}
	}
	slices.Sort(findings)
	return findings, nil
}
