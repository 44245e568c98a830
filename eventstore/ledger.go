package eventstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Fold makes a state of type S out of a log. A state is an immutable value: Evolve gives a new one.
type Fold[S any] struct {
	New      func(domain.Machine) S
	Evolve   func(S, domain.Event) S
	Snapshot func(S) ([]byte, error) // JSON
	// Restore reads a Snapshot. It fails on what it does not know: from then on nothing is decided on that machine.
	Restore func([]byte) (S, error)
	Summary func(S) string // one line for people; may be nil
}

// Ledger holds the state of every machine in memory, as its log says, and is how the log is added to.
type Ledger[S any] struct {
	store Store
	fold  Fold[S]
	now   func() time.Time
	newID func() string
	ready chan struct{}

	mu       sync.Mutex
	accounts map[string]*account[S] // by UID
	changed  func(domain.Machine)   // nil until Run
}

// account is what is known of one machine.
type account[S any] struct {
	machine domain.Machine
	turn    chan struct{} // held by the one Execute that decides

	mu   sync.Mutex
	view view[S]
}

// view is a machine's state at one point of its log.
type view[S any] struct {
	state  S
	head   Head
	read   bool   // false: nothing has been read yet, or what was read is known to be out of date
	beyond uint64 // seq of an event that this build does not know; 0 for none
	err    error  // why the log cannot be read
}

// NewLedger makes a Ledger that has read nothing yet. now and newID give events their time and id.
func NewLedger[S any](store Store, fold Fold[S], now func() time.Time, newID func() string) *Ledger[S] {
	return &Ledger[S]{store: store, fold: fold, now: now, newID: newID,
		ready: make(chan struct{}), accounts: map[string]*account[S]{}}
}

// Ready is closed once Run has read every head.
func (l *Ledger[S]) Ready() <-chan struct{} { return l.ready }

// State is a machine's state, from memory. ok is false when it has no log, or none that was read yet or that can be
// read; before Ready that says nothing about the machine.
func (l *Ledger[S]) State(m domain.Machine) (state S, ok bool) {
	l.mu.Lock()
	a, known := l.accounts[m.UID]
	l.mu.Unlock()
	if !known {
		return state, false
	}
	v := a.current()
	if v.head.Seq == 0 || v.err != nil {
		return state, false
	}
	return v.state, true
}

// Machines lists the machines that have a log, lost ones too, from memory, ordered by namespace, name and UID.
func (l *Ledger[S]) Machines() []domain.Machine {
	l.mu.Lock()
	accounts := slices.Collect(maps.Values(l.accounts))
	l.mu.Unlock()
	var machines []domain.Machine
	for _, a := range accounts {
		if v := a.current(); v.head.Seq > 0 || v.err != nil {
			machines = append(machines, a.machine)
		}
	}
	slices.SortFunc(machines, byName)
	return machines
}

// Refresh reads a machine's head from the store and gives its state, which is New's for a machine without a log.
func (l *Ledger[S]) Refresh(ctx context.Context, m domain.Machine) (S, error) {
	v, err := l.read(ctx, l.account(m))
	return v.state, err
}

// RefreshAll reads every head from the store: what a process does that takes over, before it serves. A machine whose
// log cannot be read is no error; it has no State.
func (l *Ledger[S]) RefreshAll(ctx context.Context) error {
	heads, err := l.store.Heads(ctx)
	for _, s := range heads {
		l.learn(l.account(s.Machine), s, true)
	}
	return err
}

// Run follows the store until ctx ends. changed is called after every advance of a machine's state, also by Execute and
// Refresh, in the goroutine that made it; it must return at once.
func (l *Ledger[S]) Run(ctx context.Context, changed func(domain.Machine)) error {
	l.mu.Lock()
	l.changed = changed
	l.mu.Unlock()
	return l.store.Watch(ctx, func(s Stream) { l.learn(l.account(s.Machine), s, false) }, func() { close(l.ready) })
}

func (l *Ledger[S]) account(m domain.Machine) *account[S] {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := l.accounts[m.UID]
	if !ok {
		a = &account[S]{machine: m, turn: make(chan struct{}, 1)}
		a.view.state = l.fold.New(m)
		l.accounts[m.UID] = a
	}
	return a
}

func (a *account[S]) current() view[S] {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.view
}

// doubt says that the log may have gone on, so it is read before the next decision.
func (a *account[S]) doubt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.read = false
}

func (l *Ledger[S]) read(ctx context.Context, a *account[S]) (view[S], error) {
	s, err := l.store.Load(ctx, a.machine)
	if err != nil {
		return view[S]{}, err
	}
	v := l.learn(a, s, true)
	return v, v.err
}

// learn takes in a stream, unless it is older than what is known, and gives what is known then. fresh tells that the
// stream was just read from the store, so that its head is the better one to append after even at the same seq.
func (l *Ledger[S]) learn(a *account[S], s Stream, fresh bool) view[S] {
	a.mu.Lock()
	v, advanced := l.follow(a, s, fresh)
	a.view = v
	a.mu.Unlock()
	l.mu.Lock()
	changed := l.changed
	l.mu.Unlock()
	if advanced && changed != nil {
		changed(a.machine)
	}
	return v
}

// follow is the view of a after s, and whether its state is a newer one.
func (l *Ledger[S]) follow(a *account[S], s Stream, fresh bool) (v view[S], advanced bool) {
	v = a.view
	switch {
	case s.Err != nil:
		v.err, v.read = s.Err, false
		return v, false
	case v.err != nil || v.head.Seq == 0 || v.head.Seq < s.StartSeq:
		return l.rebuild(a.machine, s)
	case s.Head.Seq < v.head.Seq:
		return v, false
	case s.Head.Seq == v.head.Seq:
		if fresh || !v.read {
			v.head, v.read = s.Head, true
		}
		return v, false
	}
	v = l.evolve(v, s.Events[v.head.Seq-s.StartSeq:])
	v.head, v.read = s.Head, true
	return v, true
}

// rebuild is the view that a stream gives by itself.
func (l *Ledger[S]) rebuild(m domain.Machine, s Stream) (v view[S], advanced bool) {
	v = view[S]{state: l.fold.New(m)}
	if s.Start != nil {
		state, err := l.fold.Restore(s.Start)
		if err != nil {
			v.err = &domain.Error{Code: domain.CodeUnavailable, Message: fmt.Sprintf("log of %s: snapshot at %d", m, s.StartSeq), Err: err}
			return v, false
		}
		v.state = state
	}
	v = l.evolve(v, s.Events)
	v.head, v.read = s.Head, true
	return v, s.Head.Seq > 0
}

// evolve is v after some more events; its head is left to the caller.
func (l *Ledger[S]) evolve(v view[S], events []domain.Event) view[S] {
	for _, e := range events {
		v.state = l.fold.Evolve(v.state, e)
		if _, unknown := e.Data.(domain.Unknown); unknown {
			v.beyond = cmp.Or(v.beyond, e.Seq)
		}
	}
	return v
}
