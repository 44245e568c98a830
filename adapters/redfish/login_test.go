package redfish

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"
)

// A password that was verified is not hashed again; the accounts are not even asked.
func TestAVerifiedPasswordIsRemembered(t *testing.T) {
	r := newRig(t)
	require.Equal(t, http.StatusOK, r.get(webURI).status)
	asked := r.accounts.asked
	for range 5 {
		require.Equal(t, http.StatusOK, r.get(webURI).status)
	}
	assert.Equal(t, asked, r.accounts.asked)
	assert.Equal(t, http.StatusUnauthorized, r.get(webURI, "Authorization: Basic YWRtaW46d3Jvbmc=").status, "another password")
}

func TestAChangeOfAccountsForgetsWhatWasVerified(t *testing.T) {
	r := newRig(t)
	require.Equal(t, http.StatusOK, r.get(webURI).status)
	r.accounts.set(t, "admin", "another", "2")
	assert.Equal(t, http.StatusUnauthorized, r.get(webURI).status)
	delete(r.accounts.hashes, "admin")
	r.accounts.version = "3"
	assert.Equal(t, http.StatusUnauthorized, r.get(webURI).status)
}

func TestAnUnknownAccountCostsAHashOfTheSameCost(t *testing.T) {
	r := newRig(t)
	require.Equal(t, http.StatusOK, r.get(webURI).status)
	hash, known := r.service.login.hash("nobody")
	assert.False(t, known)
	cost, err := bcrypt.Cost(hash)
	require.NoError(t, err)
	assert.Equal(t, bcrypt.MinCost, cost, "that of the accounts")
	assert.ErrorIs(t, bcrypt.CompareHashAndPassword(hash, []byte("x")), bcrypt.ErrMismatchedHashAndPassword, "it is computed")
}

func TestHtpasswdHashesAreRead(t *testing.T) {
	r := newRig(t)
	h, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	require.NoError(t, err)
	r.accounts.hashes["apache"] = []byte("$2y$" + string(h[4:]))
	r.accounts.hashes["md5"] = []byte("$apr1$x$y")
	ctx := t.Context()
	assert.NoError(t, r.service.login.check(ctx, "s", "apache", "secret"))
	assert.Error(t, r.service.login.check(ctx, "s", "md5", "secret"))
	assert.Error(t, r.service.login.check(ctx, "s", "", ""))
}

// Guessing is slowed down for the source alone: it has to wait, but what it knew already goes on, and nobody is locked.
func TestASourceThatFailsOftenHasToWait(t *testing.T) {
	r := newRig(t)
	ctx, check := t.Context(), r.service.login.check
	require.NoError(t, check(ctx, "10.0.0.1", "admin", "secret"))
	for i := range failureBurst {
		require.Equal(t, http.StatusUnauthorized, faultOf(check(ctx, "10.0.0.1", "admin", fmt.Sprint(i)), "").status)
	}
	refused := faultOf(check(ctx, "10.0.0.1", "admin", "guess"), "")
	assert.Equal(t, http.StatusTooManyRequests, refused.status)
	assert.NotEmpty(t, refused.header.Get("Retry-After"))
	assert.NoError(t, check(ctx, "10.0.0.1", "admin", "secret"), "a password known to be right")
	assert.Error(t, check(ctx, "10.0.0.2", "admin", "wrong"), "another source")
	r.pass(failureRefill)
	assert.Equal(t, http.StatusUnauthorized, faultOf(check(ctx, "10.0.0.1", "admin", "guess"), "").status, "one try more")
	r.pass(time.Minute)
	r.accounts.set(t, "admin", "new", "2")
	assert.NoError(t, check(ctx, "10.0.0.1", "admin", "new"))
}

// Guesses that wait for their turn are not tried when the source has used up its tries meanwhile: else a thousand at once
// would keep everybody waiting.
func TestGuessesAtOnceAreBoundedToo(t *testing.T) {
	r := newRig(t)
	var hashed atomic.Int64
	l := newLogin(countedAccounts{r.accounts, &hashed}, func() time.Time { return time.Unix(0, 0) })
	var guesses sync.WaitGroup
	for range 200 {
		guesses.Go(func() { assert.Error(t, l.check(t.Context(), "10.0.0.1", "admin", "guess")) })
	}
	guesses.Wait()
	assert.LessOrEqual(t, hashed.Load(), int64(failureBurst+cap(l.hashing)))
}

// countedAccounts counts the hashes that are asked for.
type countedAccounts struct {
	Accounts
	asked *atomic.Int64
}

func (c countedAccounts) Hash(user string) ([]byte, bool) {
	c.asked.Add(1)
	return []byte("no hash"), false
}

func TestFailuresAreBounded(t *testing.T) {
	f := newFailures(func() time.Time { return time.Unix(0, 0) })
	for i := range 3 * failureSources {
		f.add(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
		require.LessOrEqual(t, len(f.bySource), failureSources)
	}
	assert.Equal(t, network("2001:db8::1"), network("2001:db8::2"), "one IPv6 network is one source")
	assert.NotEqual(t, network("10.0.0.1"), network("10.0.0.2"))
	assert.Equal(t, network("10.0.0.1"), network("::ffff:10.0.0.1"))
}

func TestSecretsAreInNoLogLine(t *testing.T) {
	r := newRig(t)
	r.post(slotURI+"/Actions/VirtualMedia.InsertMedia", `{"Image":"http://u:hush@h/a.iso?token=hush#hush"}`)
	r.post(slotURI+"/Actions/VirtualMedia.InsertMedia", `{"Image":"ftp://u:hush@h/a.iso?token=hush"}`)
	typed := r.post(slotURI+"/Actions/VirtualMedia.InsertMedia", `{"Image":["http://u:hush@h"],"Password":{"hush":1}}`).raw
	typed += r.post(sessionsURI, `{"UserName":"admin","Password":["hush"]}`).raw
	a := r.post(sessionsURI, `{"UserName":"admin","Password":"secret"}`)
	token := a.header.Get("X-Auth-Token")
	r.get(webURI+"?password=hush", "X-Auth-Token: "+token)
	r.get(webURI, "Authorization: Basic YWRtaW46aHVzaA==")
	all := typed + r.log.String() + r.get(slotURI).raw + r.get(webURI+"/LogServices/EventLog/Entries").raw
	for _, secret := range []string{"hush", "secret\"", token, "aHVzaA"} {
		assert.NotContains(t, all, secret)
	}
	assert.Contains(t, r.log.String(), "account=admin")
	assert.Contains(t, r.log.String(), "claimed=admin", "whose password was guessed at")
	r.post(sessionsURI, `{"UserName":"hush","Password":"admin"}`)
	assert.NotContains(t, r.log.String(), "hush", "a password in the wrong field")
	assert.Contains(t, r.log.String(), "path="+webURI)
}
