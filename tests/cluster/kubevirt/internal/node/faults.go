package node

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// everything is the name that a fault for all machines or all imports has.
const everything = "*"

// faults are what tests have asked for. Names are "namespace/name" or everything; the exact name wins.
type faults struct {
	mu       sync.Mutex
	away     map[string]bool          // nodes
	held     map[string]bool          // pods, by a part of namespace/name
	hang     map[string]bool          // imports
	fail     map[string]string        // imports: termination message
	acpi     map[string]acpiBehaviour // guests
	powerOff map[string]bool          // guests, once
	reboot   map[string]bool          // guests, once
	netboot  bool                     // a network boot server answers
}

type acpiBehaviour struct {
	ignore bool
	delay  time.Duration
}

func newFaults() *faults {
	return &faults{away: map[string]bool{}, held: map[string]bool{}, hang: map[string]bool{}, fail: map[string]string{},
		acpi:     map[string]acpiBehaviour{everything: {delay: 500 * time.Millisecond}},
		powerOff: map[string]bool{}, reboot: map[string]bool{}}
}

// change runs f under the lock.
func (f *faults) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func pickName[V any](m map[string]V, name string) (v V) {
	if v, ok := m[name]; ok {
		return v
	}
	return m[everything]
}

func (f *faults) isAway(node string) (away bool) {
	f.change(func() { away = f.away[node] })
	return away
}

func (f *faults) isHeld(pod *corev1.Pod) (held bool) {
	f.change(func() {
		for part := range f.held {
			held = held || strings.Contains(pod.Namespace+"/"+pod.Name, part)
		}
	})
	return held
}

func (f *faults) importerFailure(name string) (message string) {
	f.change(func() { message = pickName(f.fail, name) })
	return message
}

func (f *faults) acpiOf(vmi string) (a acpiBehaviour) {
	f.change(func() { a = pickName(f.acpi, vmi) })
	return a
}

// take returns whether a wish of one kind is open for a guest, and fulfils it.
func (f *faults) take(wishes map[string]bool, vmi string) (wished bool) {
	f.change(func() {
		wished = wishes[vmi]
		delete(wishes, vmi)
	})
	return wished
}

func (f *faults) hasNetboot() (yes bool) {
	f.change(func() { yes = f.netboot })
	return yes
}

// gate blocks the reads of one import while it is to hang or to fail, or its node is away.
func (f *faults) gate(node, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			var closed bool
			f.change(func() { closed = f.away[node] || pickName(f.hang, name) || pickName(f.fail, name) != "" })
			if !closed {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(loopPause):
			}
		}
	}
}

// state is a copy for GET /.
func (f *faults) state() (s map[string]any) {
	f.change(func() {
		s = map[string]any{"away": maps.Clone(f.away), "held": maps.Clone(f.held), "hang": maps.Clone(f.hang), "fail": maps.Clone(f.fail), "netboot": f.netboot}
	})
	return s
}
