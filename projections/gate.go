package projections

import (
	"slices"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Answer is what a client is told of its accepted request.
type Answer struct {
	Task string // id of the Task that answers it; empty: it is done, or there was nothing to do
}

// repeatWindow is how long the same restart or button of the same client counts as sent again, not as a second one.
const repeatWindow = 15 * time.Second

// repeatAudit is how often a repeat of one intent is written down: a client that loops for a day cannot flood the log.
const repeatAudit = time.Minute

// maxMedia is how many media may be on their way out when another one is inserted. A client that ejects and inserts faster
// than the cluster follows would make the state too large for a segment.
const maxMedia = 16

// Decide is the gate: what a client's request appends and how it is answered. The world must not be older than the state:
// what a newer event did would look undone. Events beside an error are to be appended all the same: a refusal is part of
// the history.
//
// Errors: CodeNotFound when the machine is gone, CodeConflict when the gate refuses, CodeInvalid for a value that is not
// served, CodeUnavailable when the cluster has to catch up first.
func Decide(s State, w domain.World, r domain.Request, now time.Time, limits domain.Limits) ([]domain.Event, Answer, error) {
	if s.Lost || w.VM == nil {
		return nil, Answer{}, domain.Errorf(domain.CodeNotFound, "machine %s is gone", s.Machine)
	}
	d := decision{s: s, w: w, r: r, now: now, limits: limits}
	if s.Seq == 0 {
		d.adopt()
	}
	var answer Answer
	var err error
	switch c := r.Command.(type) {
	case domain.InsertMedia:
		answer, err = d.insert(c)
	case domain.EjectMedia:
		answer, err = d.eject()
	case domain.Reset:
		answer, err = d.reset(c.ResetType)
	case domain.SetBoot:
		answer, err = d.setBoot(c)
	}
	return d.events, answer, err
}

// decision collects the events of one request. s moves along with them, so what follows from an event is decided on the
// state that the event leaves.
type decision struct {
	s      State
	w      domain.World
	r      domain.Request
	now    time.Time
	limits domain.Limits
	events []domain.Event
}

// append adds an event and gives its seq. Corr is that of the request unless the event belongs to an older intent.
func (d *decision) append(by string, cause uint64, corr string, data domain.Data) uint64 {
	e := domain.New(by, cause, corr, data)
	d.events = append(d.events, e)
	e.Seq, e.Time = d.s.Seq+1, d.now
	d.s = Evolve(d.s, e)
	return e.Seq
}

// intent adds an event of the client.
func (d *decision) intent(data domain.Data) uint64 {
	return d.append(d.r.By, 0, d.r.ID, data)
}

// repeated answers a request that was sent before. The audit gets to know, once a minute.
func (d *decision) repeated(seq uint64) Answer {
	t, known := d.s.TaskOf(seq)
	if !known {
		return Answer{}
	}
	if d.now.Sub(t.Repeated) >= repeatAudit {
		d.append(d.r.By, seq, t.ID, domain.RequestRepeated{})
	}
	return Answer{Task: t.ID}
}

// refuse turns a request down. The log gets to know, but of the same refusal only once a minute.
func (d *decision) refuse(refused domain.Data, reason string) error {
	known := slices.ContainsFunc(d.s.Tasks, func(t Task) bool {
		return t.Seq > d.s.Current && t.Message == refusalOf(refused) && d.now.Sub(t.Start) < repeatAudit
	})
	if !known {
		d.intent(refused)
	}
	return domain.Errorf(domain.CodeConflict, "%s", reason)
}

func (d *decision) insert(c domain.InsertMedia) (Answer, error) {
	if c.Slot != domain.SlotCd {
		return Answer{}, domain.Errorf(domain.CodeNotFound, "there is no virtual media slot %q", c.Slot)
	}
	m, taken := d.s.CurrentMedium()
	switch holds := taken && m.Phase != MediumFailed; {
	case holds && m.Digest == c.Digest:
		return d.repeated(m.Seq), nil
	case holds:
		reason := "the slot holds " + m.Image + "; eject it first"
		return Answer{}, d.refuse(domain.MediaRefused{Slot: c.Slot, Image: c.Image, Reason: reason}, reason)
	case len(d.s.Media) >= maxMedia:
		return Answer{}, domain.Errorf(domain.CodeUnavailable, "%d earlier media of %s are still being taken out", len(d.s.Media), d.s.Machine)
	case taken:
		d.append(domain.ByGate, 0, "", domain.EjectRequested{Slot: m.Slot, Medium: m.Seq, Reason: "replaced after it failed"})
	}
	d.intent(domain.MediaRequested{Slot: c.Slot, Image: c.Image, Digest: c.Digest, Secret: c.Secret, Insecure: c.Insecure,
		Deadline: d.now.Add(d.limits.ImportDeadline)})
	return Answer{Task: d.r.ID}, nil
}

// eject is always accepted. On an empty slot there is nothing to do.
func (d *decision) eject() (Answer, error) {
	m, taken := d.s.CurrentMedium()
	if !taken {
		return Answer{}, nil
	}
	d.intent(domain.EjectRequested{Slot: m.Slot, Medium: m.Seq})
	d.cancel("the medium was ejected", m.Seq)
	return Answer{Task: d.r.ID}, nil
}

// cancel ends a hold for that medium; also one that was released and that the VM has not begun to obey, or the machine
// would be started without what it was held for.
func (d *decision) cancel(reason string, medium uint64) {
	p := d.s.Power
	begun := d.w.VM != nil && d.w.VM.PowerFence.Seq >= p.Intent.Seq
	if p.Held == medium && (p.Phase == PowerDeferred || p.Phase == PowerRequested && !begun) {
		d.append(domain.ByGate, p.Intent.Seq, p.Intent.Corr, domain.PowerCancelled{Reason: reason})
	}
}

func (d *decision) setBoot(c domain.SetBoot) (Answer, error) {
	target, enabled := d.s.BootOverride()
	if c.Target != nil {
		target = *c.Target
		if c.Enabled == nil && enabled == domain.BootDisabled && target != domain.BootNone {
			enabled = domain.BootOnce // a target alone is meant for the next boot
		}
	}
	if c.Enabled != nil {
		enabled = *c.Enabled
	}
	if !slices.Contains(domain.BootTargets(), target) {
		return Answer{}, domain.Errorf(domain.CodeInvalid, "%q is no boot target of this machine", target).At("BootSourceOverrideTarget")
	}
	if !slices.Contains([]domain.BootEnabled{domain.BootDisabled, domain.BootOnce, domain.BootContinuous}, enabled) {
		return Answer{}, domain.Errorf(domain.CodeInvalid, "%q is not Disabled, Once or Continuous", enabled).At("BootSourceOverrideEnabled")
	}
	if target == domain.BootNone || enabled == domain.BootDisabled {
		target, enabled = domain.BootNone, domain.BootDisabled
	}
	if t, e := d.s.BootOverride(); t == target && e == enabled {
		return Answer{}, nil
	}
	d.intent(domain.BootOverrideSet{Target: target, Enabled: enabled})
	return Answer{}, nil
}
