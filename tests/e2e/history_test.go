package e2e

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// The history of a machine reads in order wherever a person looks: kubectl describe, `ledgerfish log`, and the Redfish
// log; and `ledgerfish verify` finds nothing wrong with it.
func TestTheHistoryReadsInOrder(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	url, iso := h.image("boot.iso", harness.Image{Takes: time.Second})
	h.insert(url)
	h.setBoot(domain.BootCd, domain.BootOnce)
	h.reset(domain.ResetOn)
	h.booted(1, iso)
	h.awaitEvent(domain.BootOverrideRevertedType, 1)
	h.awaitPower(domain.PowerOn)
	h.putAway()
	h.awaitEvent(domain.MediaEjectedType, 1)
	events := h.log()

	described, err := env.Kubectl(t.Context(), "-n", harness.LedgerNamespace, "describe", "configmap", "-l", harness.LogSelector(h.VM))
	require.NoError(t, err)
	assert.Equal(t, sequence(events), numbers(described, `"seq":(\d+)`))

	told, err := bridge.Command(t.Context(), "log", h.String())
	require.NoError(t, err)
	t.Log("\n" + told)
	assert.Equal(t, sequence(events), numbers(told, `(?m)^ *(\d+)  \d\d:\d\d:\d\d\.`))
	at := 0
	for _, kind := range []string{"MediaRequested", "BootOverrideSet", "PowerRequested", "PowerDeferred", "ImportCompleted", "MediaInserted",
		"PowerReleased", "PowerApplied", "EjectRequested", "MediaEjected"} {
		next := strings.Index(told[at:], kind)
		require.GreaterOrEqual(t, next, 0, "%s, in its place", kind)
		at += next
	}

	lines, err := bridge.Command(t.Context(), "log", h.ID(), "-o", "json")
	require.NoError(t, err)
	assert.Equal(t, sequence(events), numbers(lines, `"seq":(\d+)`))
	verified, err := bridge.Command(t.Context(), "verify", h.String())
	require.NoError(t, err, verified)

	reply, err := h.client.Do(t.Context(), "GET", harness.SystemPath(h.VM)+"/LogServices", nil)
	require.NoError(t, err)
	require.NoError(t, reply.Err())
}

func sequence(events []domain.Event) (seqs []int) {
	for _, e := range events {
		seqs = append(seqs, int(e.Seq))
	}
	return seqs
}

func numbers(text, pattern string) (found []int) {
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(match[1])
		found = append(found, n)
	}
	return found
}

// Bad input: each is a Redfish error that says what is wrong, and leaves no trace in the machine's log.
func TestBadInput(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	system := harness.SystemPath(h.VM)
	reset, insert := system+"/Actions/ComputerSystem.Reset", system+"/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia"
	h.awaitEvent(domain.MachineAdoptedType, 1) // it comes by itself, with the first look at a machine
	before := h.log()
	stranger := *h.client
	stranger.Password = "guess"
	for name, row := range map[string]struct {
		client       *harness.Client
		method, path string
		body         any
		header       []string
		status       int
		message      string
	}{
		"unknown system":     {h.client, "GET", system + "-gone", nil, nil, 404, "ResourceNotFound"},
		"reset of unknown":   {h.client, "POST", "/redfish/v1/Systems/no.such/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`, nil, 404, "ResourceNotFound"},
		"unknown ResetType":  {h.client, "POST", reset, `{"ResetType":"Explode"}`, nil, 400, "ActionParameterValueNotInList"},
		"missing Image":      {h.client, "POST", insert, `{}`, nil, 400, "ActionParameterMissing"},
		"file image":         {h.client, "POST", insert, `{"Image":"file:///etc/passwd"}`, nil, 400, "ActionParameter"},
		"metadata image":     {h.client, "POST", insert, `{"Image":"http://169.254.169.254/x.iso"}`, nil, 400, "ActionParameter"},
		"2 MiB body":         {h.client, "POST", insert, `{"Image":"http://x/` + strings.Repeat("a", 2<<20) + `"}`, nil, 413, ""},
		"wrong password":     {&stranger, "GET", system, nil, nil, 401, ""},
		"malformed JSON":     {h.client, "POST", reset, `{"ResetType":`, nil, 400, "MalformedJSON"},
		"wrong content type": {h.client, "POST", reset, `ResetType=On`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, ""},
		"wrong method":       {h.client, "DELETE", system, nil, nil, 405, ""},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := row.client.Do(t.Context(), row.method, row.path, row.body, row.header...)
			require.NoError(t, err)
			assert.Equal(t, row.status, reply.Status, string(reply.Raw))
			code, _ := reply.At("error", "code").(string)
			assert.NotEmpty(t, code, "DSP0266 8.6: an error has a body")
			assert.Contains(t, string(reply.Raw), row.message)
			assert.NotNil(t, reply.At("error", "@Message.ExtendedInfo"))
		})
	}
	after, err := json.Marshal(h.log())
	require.NoError(t, err)
	same, err := json.Marshal(before)
	require.NoError(t, err)
	assert.JSONEq(t, string(same), string(after), "nothing was appended")
	assert.Zero(t, h.starts())
}
