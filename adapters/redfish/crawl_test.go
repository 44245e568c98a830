package redfish

import (
	"net/http"
	"path"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

// busy is a rig with something of everything: a medium, a hold, tasks, a log, a session.
func busy(t *testing.T) *rig {
	r := newRig(t)
	r.insert()
	require.Equal(t, http.StatusAccepted, r.reset("On").status)
	require.Equal(t, http.StatusCreated, r.post(sessionsURI, `{"UserName":"admin","Password":"secret"}`).status)
	a := r.post(strings.ReplaceAll(slotURI, "web-0", "db.example")+"/Actions/VirtualMedia.InsertMedia", insertBody(iso))
	require.Equal(t, http.StatusAccepted, a.status)
	r.machines.happen(db, 2, domain.ImportFailed{Reason: "404 Not Found"})
	return r
}

// crawl follows every link and gives each resource by its URI.
func (r *rig) crawl() map[string]answered {
	seen := map[string]answered{}
	todo := []string{"/redfish/v1/"}
	for len(todo) > 0 {
		uri := todo[0]
		todo = todo[1:]
		if _, done := seen[uri]; done {
			continue
		}
		seen[uri] = r.get(uri)
		todo = append(todo, linksIn(seen[uri].body)...)
	}
	return seen
}

func linksIn(v any) []string {
	var found []string
	switch v := v.(type) {
	case object:
		for name, member := range v {
			if uri, isText := member.(string); isText && name == "@odata.id" {
				found = append(found, uri)
			}
			found = append(found, linksIn(member)...)
		}
	case []any:
		for _, member := range v {
			found = append(found, linksIn(member)...)
		}
	}
	return found
}

func TestEveryLinkLeadsToAResourceOfThatURI(t *testing.T) {
	r := busy(t)
	seen := r.crawl()
	var uris []string
	metadata := r.get("/redfish/v1/$metadata").raw
	for uri, a := range seen {
		uris = append(uris, uri)
		require.Equal(t, http.StatusOK, a.status, uri)
		assert.Equal(t, uri, a.body["@odata.id"])
		assert.NotEmpty(t, a.body["Name"], uri)
		assert.Equal(t, a.header.Get("ETag"), a.body["@odata.etag"], uri)
		assert.Equal(t, "4.0", a.header.Get("OData-Version"))
		assert.Equal(t, "no-cache", a.header.Get("Cache-Control"))
		assert.Contains(t, a.header.Get("Allow"), "GET, HEAD", uri)
		kind := strings.TrimPrefix(a.body["@odata.type"].(string), "#")
		kind = kind[:strings.LastIndexByte(kind, '.')]
		assert.Equal(t, "<http://redfish.dmtf.org/schemas/v1/"+kind+".json>; rel=describedby", a.header.Get("Link"), uri)
		assert.Contains(t, metadata, `Include Namespace="`+kind+`"`, "$metadata has what is served")
		if members, isCollection := a.body["Members"].([]any); isCollection {
			assert.EqualValues(t, len(members), a.body["Members@odata.count"], uri)
			assert.NotContains(t, a.body, "Id", "a collection has no Id")
		} else if uri != "/redfish/v1/" {
			assert.Equal(t, path.Base(uri), a.body["Id"])
		}
	}
	sort.Strings(uris)
	t.Logf("%d resources", len(uris))
	for _, uri := range []string{webURI, slotURI, "/redfish/v1/Managers/lab.web-0/VirtualMedia/Cd", webURI + "/Processors/1",
		webURI + "/EthernetInterfaces/second", webURI + "/SimpleStorage/Disks", webURI + "/LogServices/EventLog/Entries/1",
		"/redfish/v1/Chassis/lab.db.example", "/redfish/v1/SessionService"} {
		assert.Contains(t, seen, uri)
	}
}

// Every GET of the crawl is repeated: what is shown has not changed, so no ETag may (DSP0266, "ETags").
func TestETagsAreStable(t *testing.T) {
	r := busy(t)
	before := r.crawl()
	r.pass(7e9)
	for uri, a := range before {
		again := r.get(uri)
		assert.Equal(t, a.header.Get("ETag"), again.header.Get("ETag"), uri)
		not := r.get(uri, "If-None-Match: "+a.header.Get("ETag"))
		assert.Equal(t, http.StatusNotModified, not.status, uri)
		assert.Empty(t, not.raw)
	}
	was := before[webURI].header.Get("ETag")
	r.machines.happen(web, 0, domain.PowerObserved{State: domain.PowerOn, VMI: "v"})
	assert.Equal(t, was, r.get(webURI).header.Get("ETag"), "held: PoweringOn as before")
	require.Equal(t, http.StatusAccepted, r.reset("ForceOff").status)
	assert.NotEqual(t, was, r.get(webURI).header.Get("ETag"), "another PowerState is shown")
}

func TestTheDocumentsBesideTheRoot(t *testing.T) {
	r := newRig(t)
	a := r.get("/redfish", anonymous)
	assert.Equal(t, object{"v1": "/redfish/v1/"}, a.body, "exactly this: DSP0266, \"Protocol version\"")
	for _, uri := range []string{"/redfish/v1", "/redfish/v1/", "/redfish/"} {
		assert.Equal(t, http.StatusOK, r.get(uri, anonymous).status, uri)
	}
	a = r.get("/redfish/v1/odata", anonymous)
	assert.Equal(t, "/redfish/v1/$metadata", a.body["@odata.context"])
	assert.Len(t, a.body["value"], 6)
	a = r.get("/redfish/v1/$metadata", anonymous)
	assert.Equal(t, "application/xml;charset=utf-8", a.header.Get("Content-Type"))
	assert.Contains(t, a.raw, `<EntityContainer Name="Service" Extends="ServiceRoot.v1_20_0.ServiceContainer"/>`)
	assert.Equal(t, http.StatusMethodNotAllowed, r.post("/redfish/v1/odata", "{}").status)
}

func TestATrailingSlashIsTheSameResource(t *testing.T) {
	r := newRig(t)
	a := r.get(webURI + "/")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, webURI, a.body["@odata.id"])
	assert.Equal(t, http.StatusAccepted, r.post(webURI+"/Actions/ComputerSystem.Reset/", `{"ResetType":"On"}`).status)
}
