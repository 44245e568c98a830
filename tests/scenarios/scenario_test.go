package scenarios

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newScript()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

// script runs one scenario: a machine, its log and its cluster.
type script struct {
	now      time.Time
	log      []domain.Event
	state    projections.State
	cluster  *cluster
	requests int
	out      strings.Builder
}

var epoch = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

var limits = domain.Limits{ImportDeadline: time.Hour, AttachDeadline: 10 * time.Minute, ImportStall: 5 * time.Minute,
	ImportRestarts: 3, PowerDeadline: 5 * time.Minute}

func newScript() *script {
	m := domain.Machine{Namespace: "lab", Name: "web-0", UID: "0f3c9a52-6d5e"}
	c := &cluster{machine: m}
	c.world.VM = &domain.VM{ResourceVersion: "rv-0", RunStrategy: domain.RunHalted, StatusRunStrategy: domain.RunHalted,
		GracePeriod: 30 * time.Second, Devices: []domain.Device{
			{Kind: domain.DeviceDisk, Name: "root", BootOrder: 1, Original: 1}, {Kind: domain.DeviceNIC, Name: "default"}}}
	return &script{now: epoch, state: projections.New(m), cluster: c}
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.out.Reset()
	switch d.Cmd {
	case "insert":
		image, secret := "http://iso.lab/boot.iso", ""
		d.MaybeScanArgs(t, "image", &image)
		d.MaybeScanArgs(t, "secret", &secret)
		s.request(domain.InsertMedia{Slot: domain.SlotCd, Image: image, Digest: domain.Digest(image), Secret: secret})
	case "eject":
		s.request(domain.EjectMedia{Slot: domain.SlotCd})
	case "reset":
		s.request(domain.Reset{ResetType: domain.ResetType(arg(t, d, "type"))})
	case "boot":
		s.request(bootCommand(t, d))
	case "work":
		s.work(d.HasArg("lose-outcomes"))
	case "advance":
		by, err := time.ParseDuration(arg(t, d, "by"))
		if err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(by)
	case "restart-bridge":
		s.state = projections.Replay(s.cluster.machine, s.log)
	case "status":
		s.status()
	default:
		s.cluster.happen(t, d, s.now)
	}
	return s.out.String()
}

func arg(t *testing.T, d *datadriven.TestData, key string) string {
	var v string
	d.ScanArgs(t, key, &v)
	return v
}

func bootCommand(t *testing.T, d *datadriven.TestData) domain.SetBoot {
	var c domain.SetBoot
	if d.HasArg("target") {
		v := domain.BootTarget(arg(t, d, "target"))
		c.Target = &v
	}
	if d.HasArg("enabled") {
		v := domain.BootEnabled(arg(t, d, "enabled"))
		c.Enabled = &v
	}
	return c
}

// request is what the Redfish adapter does with a call.
func (s *script) request(c domain.Command) {
	s.requests++
	r := domain.Request{ID: fmt.Sprintf("request-%d", s.requests), By: "ironic@10.0.0.5", Command: c}
	events, answer, err := projections.Decide(s.state, s.cluster.read(), r, s.now, limits)
	s.append(events)
	switch {
	case err != nil:
		fmt.Fprintf(&s.out, "refused (%s): %s\n", domain.CodeOf(err), err)
	case answer.Task != "":
		fmt.Fprintf(&s.out, "accepted, task %s; shows %s\n", answer.Task, s.state.PowerState())
	default:
		fmt.Fprintf(&s.out, "done; shows %s\n", s.state.PowerState())
	}
}

// work is the worker's loop until there is nothing to do but wait.
func (s *script) work(loseOutcomes bool) {
	for range 50 {
		w := s.cluster.read()
		if events := projections.Observe(s.state, w, s.now, limits); len(events) > 0 {
			s.append(events)
			continue
		}
		if events := projections.Expire(s.state, s.now); len(events) > 0 {
			s.append(events)
			continue
		}
		effects := append(projections.Pending(s.state, w), projections.Sweep(s.state, w)...)
		if len(effects) == 0 {
			return
		}
		fmt.Fprintf(&s.out, "   %s%s\n", strings.TrimPrefix(fmt.Sprintf("%T", effects[0]), "domain."), compact(effects[0]))
		result, err := s.cluster.do(effects[0], w, s.now)
		if err != nil {
			continue
		}
		if loseOutcomes {
			s.out.WriteString("   killed before the outcome was written down\n")
			return
		}
		events := projections.Outcome(s.state, w, effects[0], result, s.now, limits)
		s.append(events)
		if result.Err != nil && len(events) == 0 {
			fmt.Fprintf(&s.out, "   %s; the worker backs off\n", result.Err)
			return
		}
	}
	s.out.WriteString("   the worker does not come to rest\n")
}

func (s *script) append(events []domain.Event) {
	for _, e := range events {
		e.Seq, e.Time = uint64(len(s.log)+1), s.now
		before := s.state
		s.state = projections.Evolve(s.state, e)
		s.log = append(s.log, e)
		of := ""
		if e.Cause != 0 {
			of = fmt.Sprintf(" of %d", e.Cause)
		}
		fmt.Fprintf(&s.out, "%2d %s%s%s\n", e.Seq, e.Type, of, compact(e.Data))
		before.Seq = e.Seq
		if compact(before) == compact(s.state) && e.Type != domain.VolumeSweptType && e.Type != domain.MachineAdoptedType && e.Type != domain.RequestRepeatedType {
			fmt.Fprintf(&s.out, "   which the tables ignore\n")
		}
	}
}

func (s *script) status() {
	target, enabled := s.state.BootOverride()
	fmt.Fprintf(&s.out, "shows %s, boot %s/%s", s.state.PowerState(), target, enabled)
	if m, ok := s.state.CurrentMedium(); ok {
		fmt.Fprintf(&s.out, ", medium %d %s", m.Seq, m.Phase)
	}
	if p := s.state.Problem(); p != "" {
		fmt.Fprintf(&s.out, "\nproblem: %s", p)
	}
	w := s.cluster.read()
	s.out.WriteString("\nvm: ")
	if w.VM == nil {
		s.out.WriteString("gone")
	} else {
		fmt.Fprintf(&s.out, "%s, devices", w.VM.RunStrategy)
		for _, d := range w.VM.Devices {
			fmt.Fprintf(&s.out, " %s:%d", d.Name, d.BootOrder)
		}
	}
	fmt.Fprintf(&s.out, "; instance: %v; volumes: %d; starts: %q; at rest: %v\n", w.VMI != nil, len(w.Volumes), s.cluster.starts, projections.AtRest(s.state, w))
}

var stamp = regexp.MustCompile(`"(2026-03-[0-9T:.-]+Z)"`)

// compact prints data as JSON, with times as the distance from the script's begin.
func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return " " + stamp.ReplaceAllStringFunc(string(raw), func(m string) string {
		at, err := time.Parse(time.RFC3339, strings.Trim(m, `"`))
		if err != nil {
			return m
		}
		return "+" + at.Sub(epoch).String()
	})
}
