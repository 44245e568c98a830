package redfish

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	failureBurst   = 10                     // wrong passwords that a source may send at once
	failureRefill  = 500 * time.Millisecond // one more each
	failureSources = 4096                   // sources that are remembered
)

// failures slows down the guessing of passwords, by source.
type failures struct {
	now func() time.Time

	mu       sync.Mutex
	bySource map[string]*rate.Limiter
}

func newFailures(now func() time.Time) *failures {
	return &failures{now: now, bySource: map[string]*rate.Limiter{}}
}

// mayTry tells whether the source has a try left.
func (f *failures) mayTry(source string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, ok := f.bySource[network(source)]
	return !ok || l.TokensAt(f.now()) >= 1
}

// add counts a wrong password.
func (f *failures) add(source string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := network(source)
	l, ok := f.bySource[key]
	if !ok {
		f.makeRoom()
		l = rate.NewLimiter(rate.Every(failureRefill), failureBurst)
		f.bySource[key] = l
	}
	l.AllowN(f.now(), 1)
}

// makeRoom forgets the sources that are as good as new, and all when there is none.
func (f *failures) makeRoom() {
	if len(f.bySource) < failureSources {
		return
	}
	for key, l := range f.bySource {
		if l.TokensAt(f.now()) >= failureBurst {
			delete(f.bySource, key)
		}
	}
	if len(f.bySource) >= failureSources {
		clear(f.bySource)
	}
}

// network is what one client can be expected to have: an IPv4 address, or an IPv6 /64.
func network(source string) string {
	addr, err := netip.ParseAddr(source)
	if err != nil {
		return source
	}
	if addr = addr.Unmap().WithZone(""); addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.String()
		}
	}
	return addr.String()
}
