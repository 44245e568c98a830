package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/cluster"
)

// watch shows one line per machine until every guest has booted something. On a terminal the lines are drawn again in
// place; elsewhere a line is printed when it says something new.
func (d *demo) watch(ctx context.Context) error {
	say("what the cluster shows meanwhile")
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	s := screen{inPlace: term.IsTerminal(int(os.Stdout.Fd())), last: make([]string, len(d.hosts))}
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		lines, all, err := d.lines(ctx)
		if err != nil {
			return err
		}
		s.draw(lines, time.Since(d.start))
		if all {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("not every machine has booted: %w", ctx.Err())
		}
	}
}

// lines tells each machine's power state as a client sees it, and from the cluster its import, instance and boot.
func (d *demo) lines(ctx context.Context) (lines []string, all bool, err error) {
	boots, err := d.env.Node.Boots(ctx, cluster.All)
	if err != nil {
		return nil, false, err
	}
	imports, err := d.imports(ctx)
	if err != nil {
		return nil, false, err
	}
	all = true
	for _, h := range d.hosts {
		reply, err := d.client.System(ctx, h.VM)
		if err != nil {
			return nil, false, err
		}
		vmi, err := d.env.VMI(ctx, h.VM)
		if err != nil {
			return nil, false, err
		}
		instance := "not started"
		if vmi != nil {
			instance = "instance " + string(vmi.Status.Phase)
		}
		found := bootOf(boots, h)
		all = all && found != ""
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-10s PowerState %-11v import %-22s %-20s %s", h.Name, reply.At("PowerState"), imports[h.UID], instance, found), " "))
	}
	return lines, all, nil
}

func bootOf(boots []cluster.Boot, h host) string {
	for _, b := range boots {
		if b.VMI == h.String() {
			return "booted " + b.Result
		}
	}
	return ""
}

// imports gives phase and progress of each machine's import, by the machine's UID.
func (d *demo) imports(ctx context.Context) (map[string]string, error) {
	list, err := d.env.CDI.CdiV1beta1().DataVolumes(d.namespace).List(ctx, metav1.ListOptions{LabelSelector: domain.LabelManaged})
	if err != nil {
		return nil, err
	}
	imports := map[string]string{}
	for _, dv := range list.Items {
		text := strings.TrimPrefix(string(dv.Status.Phase), "Import")
		if p := string(dv.Status.Progress); text == "InProgress" && p != "N/A" {
			text = p
		}
		imports[dv.Labels[domain.LabelUID]] = text
	}
	return imports, nil
}

type screen struct {
	inPlace bool
	last    []string
	drawn   bool
}

func (s *screen) draw(lines []string, at time.Duration) {
	if s.inPlace && s.drawn {
		fmt.Printf("\x1b[%dA", len(lines))
	}
	s.drawn = true
	for i, line := range lines {
		switch {
		case s.inPlace:
			fmt.Printf("\r\x1b[K%6.1fs  %s\n", at.Seconds(), line)
		case coarse(line) != s.last[i]:
			fmt.Printf("%6.1fs  %s\n", at.Seconds(), line)
			s.last[i] = coarse(line)
		}
	}
}

// coarse is a line without the last digits of its percentage, so that a file does not fill with them.
func coarse(line string) string {
	before, after, found := strings.Cut(line, "%")
	if dot := strings.LastIndex(before, "."); found && dot > 0 {
		return before[:dot-1] + after
	}
	return line
}
