package eventstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Memory is a Store in memory with the semantics of the API server: versions are compared, names are taken once, a
// sealed segment cannot be changed. Writes can be made to fail on their way.
type Memory struct {
	*Log
	backing *memory
}

// NewMemory makes an empty store.
func NewMemory() *Memory { return NewMemoryWith(Options{}) }

// NewMemoryWith makes an empty store with options.
func NewMemoryWith(o Options) *Memory {
	b := &memory{objects: map[string]object{}, changed: make(chan struct{})}
	return &Memory{Log: newLog(b, o), backing: b}
}

// Another is a second store on the same backing, as another process would have it.
func (m *Memory) Another() *Memory {
	return &Memory{Log: newLog(m.backing, m.options), backing: m.backing}
}

// Fault is what happens to a write on its way.
type Fault int

// The faults.
const (
	Delivered    Fault = iota // none
	Refused                   // not applied, and the caller is told so
	Unreachable               // not sent, and the caller knows it
	RequestLost               // not applied; the caller cannot know
	ReplyLost                 // applied; the caller cannot know
	RequestStuck              // not applied yet, but when Unstick is called; the caller cannot know
)

// Write describes a write to the hook of Inject.
type Write struct {
	Name   string // of the segment
	Create bool
	Retire bool // it only marks a segment that has a successor
}

// Inject has every later write's fault decided by hook; nil ends that. The hook must not call the store.
func (m *Memory) Inject(hook func(Write) Fault) {
	m.backing.mu.Lock()
	defer m.backing.mu.Unlock()
	m.backing.hook = hook
}

// Unstick applies the stuck writes, in order, as far as they still can be.
func (m *Memory) Unstick() {
	m.backing.mu.Lock()
	defer m.backing.mu.Unlock()
	for _, o := range m.backing.stuck {
		_, _ = m.backing.apply(o)
	}
	m.backing.stuck = nil
}

// Rewrite changes a stored segment behind every guard, or removes it if edit returns nil: for tests of Verify.
func (m *Memory) Rewrite(name string, edit func(s Segment) *Segment) {
	m.backing.mu.Lock()
	defer m.backing.mu.Unlock()
	o, ok := m.backing.objects[name]
	if !ok {
		panic("no segment " + name)
	}
	s := edit(o.segment())
	if s == nil {
		delete(m.backing.objects, name)
		return
	}
	o.Number, o.Sealed, o.Start, o.Log = s.Number, s.Sealed, string(s.Start), s.Log
	m.backing.objects[name] = o
}

// memory is the backing.
type memory struct {
	mu      sync.Mutex
	objects map[string]object
	writes  int           // the newest version
	changed chan struct{} // closed at the next write
	hook    func(Write) Fault
	stuck   []object
}

func (b *memory) create(_ context.Context, o object) (object, error) {
	o.Version = ""
	return b.write(o)
}

func (b *memory) update(_ context.Context, o object) (object, error) {
	if o.Version == "" {
		return object{}, fmt.Errorf("update %s without a version", o.Name)
	}
	return b.write(o)
}

func (b *memory) write(o object) (object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fault := Delivered
	if b.hook != nil {
		fault = b.hook(Write{Name: o.Name, Create: o.Version == "", Retire: o.Retired})
	}
	switch fault {
	case Refused:
		return object{}, fmt.Errorf("%s is forbidden", o.Name)
	case Unreachable:
		return object{}, errNotSent
	case RequestLost:
		return object{}, errUnsure
	case RequestStuck:
		b.stuck = append(b.stuck, o)
		return object{}, errUnsure
	case ReplyLost:
		_, _ = b.apply(o)
		return object{}, errUnsure
	}
	return b.apply(o)
}

// apply does a write; an object without a version is created.
func (b *memory) apply(o object) (object, error) {
	old, exists := b.objects[o.Name]
	switch {
	case exists && o.Version == "":
		return object{}, errExists
	case o.Version != "" && (!exists || old.Version != o.Version):
		return object{}, errStale
	case exists && old.Sealed && (!o.Sealed || old.Log != o.Log || old.Start != o.Start):
		return object{}, fmt.Errorf("%s is immutable", o.Name)
	case exists && (old.Start != o.Start || !strings.HasPrefix(o.Log, old.Log)):
		return object{}, fmt.Errorf("%s is append-only", o.Name)
	}
	b.writes++
	o.Version = fmt.Sprintf("%09d", b.writes)
	b.objects[o.Name] = o
	close(b.changed)
	b.changed = make(chan struct{})
	return o, nil
}

func (b *memory) get(_ context.Context, name string) (object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[name]
	if !ok {
		return object{}, errAbsent
	}
	return o, nil
}

func (b *memory) list(_ context.Context, what filter) ([]object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []object
	for _, o := range b.objects {
		if (what.machine == nil || what.machine.UID == o.Machine.UID) && !(what.open && o.Retired) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(x, y object) int { return strings.Compare(x.Name, y.Name) })
	return found, nil
}

func (b *memory) follow(ctx context.Context, each func(object), synced func()) error {
	seen := ""
	for ctx.Err() == nil {
		b.mu.Lock()
		changed := b.changed
		b.mu.Unlock()
		news, _ := b.list(ctx, filter{open: true})
		slices.SortFunc(news, func(x, y object) int { return strings.Compare(x.Version, y.Version) })
		for _, o := range news {
			if o.Version > seen {
				seen = o.Version
				each(o)
			}
		}
		synced()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	return nil
}
