package redfish

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const anonymous = "Authorization: "

func (r *rig) logIn(path string) answered {
	r.t.Helper()
	return r.post(path, `{"UserName":"admin","Password":"secret"}`, anonymous)
}

// DSP0266, "Session login": 201 with Location, X-Auth-Token and the whole session; the same POST to Members does the same.
func TestASessionBeginsAndEnds(t *testing.T) {
	r := newRig(t)
	first, second := r.logIn(sessionsURI), r.logIn(sessionsURI+"/Members")
	for _, a := range []answered{first, second} {
		require.Equal(t, http.StatusCreated, a.status, a.raw)
		token := a.header.Get("X-Auth-Token")
		raw, err := hex.DecodeString(token)
		require.NoError(t, err)
		assert.Len(t, raw, 32)
		assert.Equal(t, a.header.Get("Location"), a.body["@odata.id"])
		assert.Equal(t, "admin", a.body["UserName"])
		assert.Nil(t, a.body["Password"])
		assert.NotContains(t, a.raw, token)
		assert.Equal(t, http.StatusOK, r.get(webURI, anonymous, "X-Auth-Token: "+token).status)
	}
	assert.NotEqual(t, first.header.Get("Location"), second.header.Get("Location"), "POST is not idempotent")
	assert.EqualValues(t, 2, r.get(sessionsURI).body["Members@odata.count"])
	token := first.header.Get("X-Auth-Token")
	assert.Equal(t, http.StatusNoContent, r.send(http.MethodDelete, first.header.Get("Location"), "", anonymous, "X-Auth-Token: "+token).status)
	assert.Equal(t, http.StatusUnauthorized, r.get(webURI, anonymous, "X-Auth-Token: "+token).status)
	assert.Equal(t, http.StatusNotFound, r.get(first.header.Get("Location")).status)
}

func TestACommandBySessionIsByItsAccount(t *testing.T) {
	r := newRig(t)
	token := r.logIn(sessionsURI).header.Get("X-Auth-Token")
	require.Equal(t, http.StatusAccepted, r.post(webURI+"/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`, anonymous, "X-Auth-Token: "+token).status)
	assert.Equal(t, "admin@127.0.0.1", r.machines.requests[0].By)
}

func TestASessionThatIsNotOpened(t *testing.T) {
	r := newRig(t)
	for body, key := range map[string]string{
		`{"UserName":"admin","Password":"wrong"}`:   "AccessUnauthorized",
		`{"UserName":"nobody","Password":"secret"}`: "AccessUnauthorized",
		`{"UserName":"admin"}`:                      "PropertyMissing",
		`{"Password":"secret"}`:                     "PropertyMissing",
		`{"UserName":"admin","Password":7}`:         "PropertyValueTypeError",
	} {
		a := r.post(sessionsURI, body, anonymous)
		assert.Equal(t, key, a.key(), body)
		assert.Empty(t, a.header.Get("X-Auth-Token"))
	}
}

func TestASessionEndsByItself(t *testing.T) {
	r := newRig(t)
	use := func(token string) int { return r.get(webURI, anonymous, "X-Auth-Token: "+token).status }
	token := r.logIn(sessionsURI).header.Get("X-Auth-Token")
	r.pass(29 * time.Minute)
	require.Equal(t, http.StatusOK, use(token), "and begins to time out anew")
	r.pass(29 * time.Minute)
	require.Equal(t, http.StatusOK, use(token))
	r.pass(31 * time.Minute)
	assert.Equal(t, http.StatusUnauthorized, use(token))

	token = r.logIn(sessionsURI).header.Get("X-Auth-Token")
	r.accounts.set(t, "admin", "secret", "2")
	assert.Equal(t, http.StatusUnauthorized, use(token), "the password was set anew")
	token = r.logIn(sessionsURI).header.Get("X-Auth-Token")
	delete(r.accounts.hashes, "admin")
	assert.Equal(t, http.StatusUnauthorized, use(token), "the account is gone")
}

func TestSessionsAreBounded(t *testing.T) {
	r := newRig(t)
	r.service.sessions.max = 2
	var tokens []string
	for range 3 {
		tokens = append(tokens, r.logIn(sessionsURI).header.Get("X-Auth-Token"))
		r.pass(time.Second)
		if len(tokens) == 2 {
			require.Equal(t, http.StatusOK, r.get(webURI, anonymous, "X-Auth-Token: "+tokens[0]).status)
		}
	}
	assert.Equal(t, http.StatusOK, r.get(webURI, anonymous, "X-Auth-Token: "+tokens[0]).status)
	assert.Equal(t, http.StatusUnauthorized, r.get(webURI, anonymous, "X-Auth-Token: "+tokens[1]).status, "the longest idle one ended")
	assert.Equal(t, http.StatusOK, r.get(webURI, anonymous, "X-Auth-Token: "+tokens[2]).status)
	assert.Equal(t, 2, strings.Count(r.get(sessionsURI).raw, sessionsURI+"/"))
}
