package redfish

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

// The entries are the events: the same number, the same order, Id = seq.
func TestTheLogIsTheMachinesEvents(t *testing.T) {
	r := newRig(t)
	r.insert()
	require.Equal(t, http.StatusAccepted, r.reset("On").status)
	r.machines.happen(web, 2, domain.ImportFailed{Reason: "404 Not Found"})
	entries := r.get(webURI + "/LogServices/EventLog/Entries").body["Members"].([]any)
	events := r.machines.logs[web.UID]
	require.Len(t, entries, len(events))
	for i, e := range events {
		entry := entries[i].(object)
		assert.Equal(t, string(e.Type), entry["Name"])
		assert.Equal(t, e.ID, entry["EventId"])
		one := r.get(entry["@odata.id"].(string))
		require.Equal(t, http.StatusOK, one.status)
		delete(one.body, "@odata.etag")
		assert.Equal(t, entry, one.body, "the member is the whole entry")
	}
	insert, failed := entries[1].(object), entries[4].(object)
	assert.Equal(t, "2", insert["Id"])
	assert.Equal(t, "Client", insert["OriginatorType"])
	assert.Equal(t, "127.0.0.1", insert["Originator"])
	assert.Equal(t, "admin", insert["Username"])
	assert.Contains(t, insert["Message"], iso)
	assert.Equal(t, "Critical", failed["Severity"])
	assert.Equal(t, "The import failed: 404 Not Found.", failed["Message"])
	assert.Equal(t, "Internal", failed["OriginatorType"])
	assert.EqualValues(t, 2, failed["EventGroupId"], "it belongs to the insert")
}

// Every type has a sentence of its own, or a new one would go unexplained.
func TestEveryEventIsToldInASentence(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	all := []domain.Data{domain.MachineAdopted{Machine: web}, domain.MachineLost{Reason: "deleted"}, domain.MediaRequested{Image: iso, Slot: "Cd", Deadline: at},
		domain.MediaRefused{Image: iso, Slot: "Cd", Reason: "r"}, domain.ImportStarted{Volume: "v"}, domain.ImportCompleted{}, domain.MediaInserted{},
		domain.ImportFailed{Reason: "r"}, domain.ImportExpired{Deadline: at}, domain.EjectRequested{Slot: "Cd"}, domain.EjectRequested{Slot: "Cd", Reason: "r"},
		domain.MediaEjected{}, domain.VolumeSwept{Volume: "v", Reason: "r"}, domain.PowerRequested{ResetType: "On"}, domain.RequestRepeated{},
		domain.PowerDeferred{Media: 3, Until: at}, domain.PowerReleased{Goal: "start"}, domain.PowerCancelled{Reason: "r"},
		domain.PowerRefused{ResetType: "On", Reason: "r"}, domain.PowerApplied{}, domain.PowerFailed{Reason: "r"}, domain.PowerObserved{State: "On"},
		domain.BootOverrideSet{Target: "Cd", Enabled: "Once"}, domain.BootOverrideApplied{}, domain.BootOverrideApplied{Changed: true},
		domain.BootOverrideConsumed{VMI: "u"}, domain.BootOverrideReverted{}, domain.Unknown{Type: "MachineTeleported"}}
	seen := map[string]bool{}
	for _, d := range all {
		message, severity := tell(domain.New("w", 1, "", d))
		assert.NotEqual(t, string(d.EventType())+".", message)
		assert.Regexp(t, `^[A-Z].*[^.]\.$`, message)
		assert.NotContains(t, message, "%!")
		assert.Contains(t, []string{"OK", "Warning", "Critical"}, severity)
		assert.False(t, seen[message], message)
		seen[message] = true
	}
}
