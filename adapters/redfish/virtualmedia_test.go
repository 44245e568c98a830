package redfish

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

const (
	insertURI = slotURI + "/Actions/VirtualMedia.InsertMedia"
	ejectURI  = slotURI + "/Actions/VirtualMedia.EjectMedia"
	viaBMC    = "/redfish/v1/Managers/lab.web-0/VirtualMedia/Cd"
)

func TestInsertAndEjectOnEitherSide(t *testing.T) {
	r := newRig(t)
	empty := r.get(slotURI)
	assert.Equal(t, []any{"CD", "DVD"}, empty.body["MediaTypes"])
	assert.Equal(t, false, empty.body["Inserted"])
	assert.Nil(t, empty.body["Image"])
	a := r.post(viaBMC+"/Actions/VirtualMedia.InsertMedia", insertBody(iso))
	require.Equal(t, http.StatusAccepted, a.status, a.raw)
	assert.Equal(t, domain.InsertMedia{Slot: "Cd", Image: iso, Digest: domain.Digest(iso)}, r.machines.requests[0].Command)
	for _, uri := range []string{slotURI, viaBMC} {
		slot := r.get(uri)
		assert.Equal(t, uri, slot.body["@odata.id"])
		assert.Equal(t, iso, slot.body["Image"])
		assert.Equal(t, "boot.iso", slot.body["ImageName"])
		assert.Equal(t, true, slot.body["Inserted"], "a client ejects only what says so")
		assert.Equal(t, "Starting", slot.at("Status", "State"), "while the import goes on")
		assert.Equal(t, "HTTP", slot.body["TransferProtocolType"])
		assert.Equal(t, uri+"/Actions/VirtualMedia.EjectMedia", slot.at("Actions", "#VirtualMedia.EjectMedia", "target"))
	}
	again := r.post(insertURI, insertBody(iso))
	assert.Equal(t, a.body["Id"], again.body["Id"], "the same image: the same Task")
	other := r.post(insertURI, insertBody("http://images.example/other.iso"))
	assert.Equal(t, http.StatusConflict, other.status)
	assert.Contains(t, other.raw, "eject it first")
	r.machines.happen(web, 2, domain.ImportStarted{}, domain.ImportCompleted{}, domain.MediaInserted{})
	assert.Equal(t, "Enabled", r.get(slotURI).at("Status", "State"))
	assert.Equal(t, http.StatusAccepted, r.post(ejectURI, "").status)
	for _, uri := range []string{slotURI, viaBMC} {
		slot := r.get(uri)
		assert.Equal(t, false, slot.body["Inserted"], "at once")
		assert.Nil(t, slot.body["Image"])
	}
}

// Ironic ejects without a body and without a Content-Type, and with {} when that is refused; twice is fine.
func TestEjectTakesAnyEmptyBody(t *testing.T) {
	r := newRig(t)
	assert.Equal(t, http.StatusNoContent, r.post(ejectURI, "").status)
	assert.Equal(t, http.StatusNoContent, r.post(ejectURI, "{}").status)
	assert.Equal(t, http.StatusNoContent, r.post(ejectURI, "{}", "Content-Type: ").status)
	assert.Equal(t, http.StatusNoContent, r.post(ejectURI, "", "Content-Type: text/plain").status, "there is no content")
}

func TestAFailedMediumSaysWhy(t *testing.T) {
	r := newRig(t)
	r.insert()
	r.machines.happen(web, 2, domain.ImportFailed{Reason: "404 Not Found"})
	slot := r.get(slotURI)
	assert.Equal(t, "Critical", slot.at("Status", "Health"))
	assert.Contains(t, slot.raw, "404 Not Found")
	assert.Equal(t, true, slot.body["Inserted"], "until it is ejected the slot is taken")
	assert.Equal(t, http.StatusAccepted, r.post(insertURI, insertBody(iso)).status, "a new insert replaces it")
}

func TestWhatIsSecretGoesToTheVault(t *testing.T) {
	for name, row := range map[string]struct {
		body, image, url, user, password string
	}{
		"a query":     {insertBody("https://h/a.iso?token=t"), "https://h/a.iso?redacted", "https://h/a.iso?token=t", "", ""},
		"user info":   {insertBody("https://u:p@h/a.iso"), "https://h/a.iso", "https://h/a.iso", "u", "p"},
		"credentials": {`{"Image":"https://h/a.iso","UserName":"u","Password":"p"}`, "https://h/a.iso", "https://h/a.iso", "u", "p"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := r.post(insertURI, row.body)
			require.Equal(t, http.StatusAccepted, a.status, a.raw)
			assert.Equal(t, fakeVault{url: row.url, user: row.user, password: row.password}, *r.vault)
			c := r.machines.requests[0].Command.(domain.InsertMedia)
			assert.Equal(t, row.image, c.Image)
			assert.Equal(t, "secret-of-"+r.machines.requests[0].ID, c.Secret)
			assert.Equal(t, row.image, r.get(slotURI).body["Image"])
		})
	}
	r := newRig(t)
	r.insert()
	assert.Equal(t, fakeVault{}, *r.vault, "nothing to keep")
}

func TestVerifyCertificate(t *testing.T) {
	r := newRig(t)
	require.Equal(t, http.StatusAccepted, r.post(insertURI, `{"Image":"https://h/a.iso","VerifyCertificate":false}`).status)
	assert.True(t, r.machines.requests[0].Command.(domain.InsertMedia).Insecure)
	assert.Equal(t, false, r.get(slotURI).body["VerifyCertificate"])
}
