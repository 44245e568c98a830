package redfish

import (
	"net/http"
	"testing"

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
