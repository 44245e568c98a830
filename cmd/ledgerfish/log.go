package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
)

// reader is what the commands that read logs have in common.
type reader struct {
	connection
	uid    string
	output string
}

func (r *reader) flags(c *cobra.Command) {
	r.connection.flags(c.Flags())
	c.Flags().StringVar(&r.uid, "uid", "", "UID of the machine; empty: the newest one of that name")
	c.Flags().StringVarP(&r.output, "output", "o", "text", "text or json")
}

func (r *reader) open(c *cobra.Command) (*eventstore.Log, error) {
	if err := load(c.Flags()); err != nil {
		return nil, err
	}
	if r.output != "text" && r.output != "json" {
		return nil, fmt.Errorf("--output: %q is neither text nor json", r.output)
	}
	config, err := r.rest()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("kubernetes client: %w", err)
	}
	return eventstore.NewConfigMaps(client, r.ledgerNamespace, eventstore.Options{}), nil
}

// find gives the machine's newest log, or that of --uid. Which one is newest is told by the time of its last event: the
// only place where a time decides, and it decides only what is shown.
func (r *reader) find(ctx context.Context, store eventstore.Store, id string) (domain.Machine, error) {
	wanted, err := domain.ParseID(id)
	if err != nil {
		return domain.Machine{}, err
	}
	machines, err := store.Machines(ctx)
	if err != nil {
		return domain.Machine{}, err
	}
	machines = slices.DeleteFunc(machines, func(m domain.Machine) bool {
		return m.Namespace != wanted.Namespace || m.Name != wanted.Name || r.uid != "" && m.UID != r.uid
	})
	switch {
	case len(machines) == 0 && r.uid != "":
		return domain.Machine{}, fmt.Errorf("there is no log of %s with UID %s in namespace %s", wanted, r.uid, r.ledgerNamespace)
	case len(machines) == 0:
		return domain.Machine{}, fmt.Errorf("there is no log of %s in namespace %s", wanted, r.ledgerNamespace)
	case len(machines) == 1:
		return machines[0], nil
	}
	var newest domain.Machine
	var last time.Time
	for _, m := range machines {
		stream, err := store.Load(ctx, m)
		if err != nil {
			return domain.Machine{}, err
		}
		if n := len(stream.Events); n > 0 && stream.Events[n-1].Time.After(last) {
			newest, last = m, stream.Events[n-1].Time
		}
	}
	return newest, nil
}

func logCommand() *cobra.Command {
	var r reader
	var follow bool
	c := &cobra.Command{
		Use:     "log <namespace>/<vm>",
		Short:   "Print the history of a machine",
		Long:    "Prints a machine's log as a timeline. The machine is named as <namespace>/<vm> or by its Redfish id <namespace>.<vm>.",
		Example: "  ledgerfish log lab/web-0\n  ledgerfish log lab.web-0 --follow\n  ledgerfish log lab/web-0 -o json",
		Args:    oneMachine,
	}
	r.flags(c)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing what happens, with the progress of an import")
	c.RunE = func(c *cobra.Command, args []string) error {
		store, err := r.open(c)
		if err != nil {
			return err
		}
		m, err := r.find(c.Context(), store, args[0])
		if err != nil {
			return err
		}
		events, err := store.History(c.Context(), m)
		if err != nil {
			return err
		}
		var p printer = &timeline{out: c.OutOrStdout()}
		if r.output == "json" {
			p = jsonLines{c.OutOrStdout()}
		}
		if err := p.print(m, events); err != nil || !follow {
			return err
		}
		return r.follow(c.Context(), store, m, events, p)
	}
	return c
}

func oneMachine(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one machine, as <namespace>/<vm>; see ledgerfish log --help")
	}
	return nil
}

// printer shows events as they come.
type printer interface {
	print(m domain.Machine, events []domain.Event) error
	progress(percent float64) error
}

// jsonLines prints the log as it is stored, one event a line.
type jsonLines struct{ out io.Writer }

func (j jsonLines) print(_ domain.Machine, events []domain.Event) error {
	for _, e := range events {
		line, err := domain.Encode(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(j.out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

func (j jsonLines) progress(percent float64) error {
	return json.NewEncoder(j.out).Encode(map[string]float64{"percent": percent})
}
