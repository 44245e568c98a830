package redfish

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// sessions are the open sessions, in memory: they end with the process. A session ends too when its account's password
// changes or the account goes.
type sessions struct {
	accounts Accounts
	timeout  time.Duration
	max      int
	now      func() time.Time

	mu   sync.Mutex
	open map[[sha256.Size]byte]*session // by the hash of the token: the token itself is not kept
}

// session is one login.
type session struct {
	id, user, source string
	hash             []byte // of the account's password when the session began
	begun, used      time.Time
}

func newSessions(a Accounts, timeout time.Duration, max int, now func() time.Time) *sessions {
	return &sessions{accounts: a, timeout: timeout, max: max, now: now, open: map[[sha256.Size]byte]*session{}}
}

// begin opens a session for an account whose password was right. At the limit the longest idle session ends: a client
// that forgets to log out locks nobody out.
func (s *sessions) begin(user, source string) (session, string) {
	hash, _ := s.accounts.Hash(user)
	token := randomHex(32)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if len(s.open) >= s.max {
		s.endIdlest()
	}
	n := &session{id: randomHex(8), user: user, source: source, hash: hash, begun: s.now(), used: s.now()}
	s.open[sha256.Sum256([]byte(token))] = n
	return *n, token
}

// use gives the account of a token and keeps its session from timing out.
func (s *sessions) use(token string) (user string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	n, ok := s.open[sha256.Sum256([]byte(token))]
	if !ok {
		return "", false
	}
	n.used = s.now()
	return n.user, true
}

// list gives the open sessions, the oldest first.
func (s *sessions) list() []session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	l := make([]session, 0, len(s.open))
	for _, n := range s.open {
		l = append(l, *n)
	}
	slices.SortFunc(l, func(a, b session) int { return cmp.Or(a.begun.Compare(b.begun), cmp.Compare(a.id, b.id)) })
	return l
}

// end closes a session by its id.
func (s *sessions) end(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, n := range s.open {
		if n.id == id {
			delete(s.open, key)
			return true
		}
	}
	return false
}

// expire drops the sessions that nobody may use any more.
func (s *sessions) expire() {
	for key, n := range s.open {
		hash, _ := s.accounts.Hash(n.user) // none, if the account is gone
		if s.now().Sub(n.used) > s.timeout || !bytes.Equal(hash, n.hash) {
			delete(s.open, key)
		}
	}
}

func (s *sessions) endIdlest() {
	var idlest [sha256.Size]byte
	var since time.Time
	for key, n := range s.open {
		if since.IsZero() || n.used.Before(since) {
			idlest, since = key, n.used
		}
	}
	delete(s.open, idlest)
}
