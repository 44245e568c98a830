package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// timeline prints a log for a person: the number of the event, when, how long after the one before, what, in a sentence,
// and by whom where it was a client.
type timeline struct {
	out     io.Writer
	started bool
	last    time.Time
}

func (t *timeline) print(m domain.Machine, events []domain.Event) error {
	if !t.started {
		t.started = true
		if _, err := fmt.Fprintf(t.out, "%s   UID %s\n", m, m.UID); err != nil {
			return err
		}
	}
	for _, e := range events {
		day := e.Time.Format("2006-01-02")
		if day != t.last.Format("2006-01-02") {
			if _, err := fmt.Fprintf(t.out, "%s (UTC)\n", day); err != nil {
				return err
			}
			t.last = e.Time
		}
		sentence, severity := domain.Tell(e)
		mark := map[string]string{domain.SeverityWarning: "! ", domain.SeverityCritical: "!! "}[severity]
		if e.Cause != 0 {
			sentence += fmt.Sprintf(" (of %d)", e.Cause)
		}
		if strings.Contains(e.By, "@") {
			sentence += "  by " + e.By
		}
		_, err := fmt.Fprintf(t.out, "%5d  %s %9s  %-21s %s%s\n", e.Seq, e.Time.Format("15:04:05.000"), since(e.Time.Sub(t.last)), e.Type, mark, sentence)
		if err != nil {
			return err
		}
		t.last = e.Time
	}
	return nil
}

func (t *timeline) progress(percent float64) error {
	_, err := fmt.Fprintf(t.out, "       %s           import at %.0f %%\n", strings.Repeat(" ", len("15:04:05.000")), percent)
	return err
}

// since is a short distance in time; two clocks may differ, so it may be negative.
func since(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d.Abs() < time.Minute:
		return fmt.Sprintf("%+.3fs", d.Seconds())
	}
	s := d.Round(time.Second).String()
	if d > 0 {
		s = "+" + s
	}
	return s
}
