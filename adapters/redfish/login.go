package redfish

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// login checks passwords. A bcrypt hash is slow on purpose, so a verified password is remembered, as a MAC under a key
// that only this process has, until any account changes.
type login struct {
	accounts Accounts
	failures *failures
	key      [sha256.Size]byte
	hashing  chan struct{} // a slot for each bcrypt under way

	mu       sync.Mutex
	version  string            // of the accounts that verified was learnt from
	verified map[string][]byte // account -> MAC of its password; never more than there are accounts
	cost     int               // of the newest hash seen: what an unknown account has to cost too
}

func newLogin(accounts Accounts, now func() time.Time) *login {
	l := &login{accounts: accounts, failures: newFailures(now), verified: map[string][]byte{}, cost: bcrypt.DefaultCost,
		hashing: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
	_, _ = rand.Read(l.key[:]) // crypto/rand does not fail: it ends the process instead
	return l
}

// check is nil for the right password. Unknown accounts cost what wrong passwords cost. An account is never locked: a
// source that fails too often has to wait, and is still served with a password that it was right with before.
func (l *login) check(ctx context.Context, source, user, password string) error {
	version := l.accounts.Version()
	mac := l.mac(user, password)
	if l.remembers(version, user, mac) {
		return nil
	}
	if !l.failures.mayTry(source) {
		return tooManyFailures()
	}
	select {
	case l.hashing <- struct{}{}:
		defer func() { <-l.hashing }()
	case <-ctx.Done():
		return unauthorized().because(ctx.Err())
	}
	if !l.failures.mayTry(source) { // it has used up its tries while this one was waiting
		return tooManyFailures()
	}
	hash, known := l.hash(user)
	if bcrypt.CompareHashAndPassword(hash, []byte(password)) != nil || !known {
		l.failures.add(source)
		return unauthorized()
	}
	l.remember(version, user, mac)
	return nil
}

func tooManyFailures() *fault {
	return refuse(http.StatusTooManyRequests, "ServiceTemporarilyUnavailable", fmt.Sprint(retryAfter)).
		saying("Too many wrong passwords from this address.")
}

// hash is the account's, or one that no password has, of the same cost.
func (l *login) hash(user string) ([]byte, bool) {
	hash, known := l.accounts.Hash(user)
	l.mu.Lock()
	defer l.mu.Unlock()
	if cost, err := bcrypt.Cost(hash); known && err == nil {
		l.cost = cost
		return hash, true
	}
	return fmt.Appendf(nil, "$2a$%02d$......................OwBKKqu9GImlOKNBOEJgFH7lSdG8PMi", l.cost), false
}

func (l *login) mac(user, password string) []byte {
	h := hmac.New(sha256.New, l.key[:])
	fmt.Fprintf(h, "%d:%s%s", len(user), user, password)
	return h.Sum(nil)
}

func (l *login) remembers(version, user string, mac []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version != l.version {
		l.version, l.verified = version, map[string][]byte{}
	}
	return hmac.Equal(l.verified[user], mac)
}

func (l *login) remember(version, user string, mac []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version == l.version {
		l.verified[user] = mac
	}
}

// randomHex gives n random bytes in hex.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
