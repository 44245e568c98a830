package redfish

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

func ptr[T any](v T) *T { return &v }

func (r *rig) patch(body string, header ...string) answered {
	r.t.Helper()
	return r.send(http.MethodPatch, webURI, body, header...)
}

func TestPatchBoot(t *testing.T) {
	for name, row := range map[string]struct {
		body   string
		want   domain.SetBoot // the zero value: the gate is not asked
		status int
		key    string // of the error, or of the annotation beside a success
		at     string
	}{
		"target and lifetime": {`{"Boot":{"BootSourceOverrideTarget":"Cd","BootSourceOverrideEnabled":"Continuous"}}`,
			domain.SetBoot{Target: ptr(domain.BootCd), Enabled: ptr(domain.BootContinuous)}, 200, "", ""},
		"target only":    {`{"Boot":{"BootSourceOverrideTarget":"Pxe"}}`, domain.SetBoot{Target: ptr(domain.BootPxe)}, 200, "", ""},
		"lifetime only":  {`{"Boot":{"BootSourceOverrideEnabled":"Disabled"}}`, domain.SetBoot{Enabled: ptr(domain.BootDisabled)}, 200, "", ""},
		"the own mode":   {`{"Boot":{"BootSourceOverrideMode":"UEFI"}}`, domain.SetBoot{}, 200, "", ""},
		"another mode":   {`{"Boot":{"BootSourceOverrideTarget":"Cd","BootSourceOverrideMode":"Legacy"}}`, domain.SetBoot{}, 400, "PropertyValueNotInList", "#/Boot/BootSourceOverrideMode"},
		"unknown target": {`{"Boot":{"BootSourceOverrideTarget":"Floppy"}}`, domain.SetBoot{}, 400, "PropertyValueNotInList", "#/Boot/BootSourceOverrideTarget"},
		"wrong type":     {`{"Boot":{"BootSourceOverrideTarget":7}}`, domain.SetBoot{}, 400, "PropertyValueTypeError", "#/Boot/BootSourceOverrideTarget"},
		"Boot a string":  {`{"Boot":"Cd"}`, domain.SetBoot{}, 400, "PropertyValueTypeError", "#/Boot"},
		"unknown":        {`{"Bogus":1}`, domain.SetBoot{}, 400, "PropertyUnknown", "#/Bogus"},
		"unknown member": {`{"Boot":{"Bogus":1}}`, domain.SetBoot{}, 400, "PropertyUnknown", "#/Boot/Bogus"},
		"read-only":      {`{"PowerState":"On"}`, domain.SetBoot{}, 400, "PropertyNotWritable", "#/PowerState"},
		"mixed": {`{"Boot":{"BootSourceOverrideTarget":"Hdd"},"Bogus":1}`, domain.SetBoot{Target: ptr(domain.BootHdd)},
			200, "PropertyUnknown", "#/Bogus"},
		"only annotations": {`{"@odata.etag":"x"}`, domain.SetBoot{}, 400, "NoOperation", ""},
		"nothing":          {`{}`, domain.SetBoot{}, 400, "NoOperation", ""},
		"nulls":            {`{"Boot":{"BootSourceOverrideTarget":null}}`, domain.SetBoot{}, 400, "NoOperation", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := r.patch(row.body)
			require.Equal(t, row.status, a.status, a.raw)
			if row.want == (domain.SetBoot{}) {
				assert.Empty(t, r.machines.requests)
			} else {
				require.Len(t, r.machines.requests, 1)
				assert.Equal(t, row.want, r.machines.requests[0].Command)
			}
			if row.key == "" {
				assert.NotContains(t, a.raw, "ExtendedInfo")
				return
			}
			list, _ := a.body["@Message.ExtendedInfo"].([]any)
			if row.status != http.StatusOK {
				list = a.at("error", "@Message.ExtendedInfo").([]any)
			}
			require.Len(t, list, 1)
			assert.Equal(t, baseRegistry+row.key, list[0].(object)["MessageId"])
			if row.at != "" {
				assert.Equal(t, []any{row.at}, list[0].(object)["RelatedProperties"])
			}
		})
	}
}

// gofish's SetBoot sends each member of its Boot type, most of them empty.
func TestPatchBootWithEveryMemberOfTheSchema(t *testing.T) {
	r := newRig(t)
	boot := object{"BootSourceOverrideTarget": "Cd", "BootSourceOverrideEnabled": "Once", "BootSourceOverrideMode": "",
		"AliasBootOrder": nil, "AutomaticRetryAttempts": 0, "AutomaticRetryConfig": "", "BootNext": "", "BootOptions": object{},
		"BootOrder": []string{}, "BootOrderPropertySelection": "", "HttpBootUri": "", "UefiTargetBootSourceOverride": "", "StopBootOnFault": false}
	body, err := json.Marshal(object{"Boot": boot})
	require.NoError(t, err)
	a := r.patch(string(body))
	require.Equal(t, http.StatusOK, a.status, a.raw)
	assert.NotContains(t, a.raw, "ExtendedInfo")
	assert.Equal(t, "Cd", a.at("Boot", "BootSourceOverrideTarget"))
	assert.Equal(t, "Once", a.at("Boot", "BootSourceOverrideEnabled"))
}

func TestPatchComparesIfMatch(t *testing.T) {
	r := newRig(t)
	const body = `{"Boot":{"BootSourceOverrideTarget":"Cd"}}`
	old := r.get(webURI).header.Get("ETag")
	a := r.patch(body, "If-Match: "+old)
	require.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, r.get(webURI).header.Get("ETag"), a.header.Get("ETag"), "the new one comes with the answer")
	stale := r.patch(`{"Boot":{"BootSourceOverrideTarget":"Pxe"}}`, "If-Match: "+old)
	assert.Equal(t, http.StatusPreconditionFailed, stale.status)
	assert.Equal(t, "PreconditionFailed", stale.key())
	assert.Len(t, r.machines.requests, 1)
	assert.Equal(t, http.StatusOK, r.patch(body, "If-Match: W/"+a.header.Get("ETag")).status, "a weakened one")
	assert.Equal(t, http.StatusOK, r.patch(body, "If-Match: *").status)
	assert.Equal(t, http.StatusOK, r.patch(body, "If-Match: \"x\", "+a.header.Get("ETag")).status, "one of a list")
}

func TestTheModeIsTheMachines(t *testing.T) {
	r := newRig(t)
	r.machines.list[1].BootMode = domain.BootLegacy
	assert.Equal(t, "Legacy", r.get(webURI).at("Boot", "BootSourceOverrideMode"))
	assert.Equal(t, http.StatusOK, r.patch(`{"Boot":{"BootSourceOverrideMode":"Legacy"}}`).status)
	assert.Equal(t, http.StatusBadRequest, r.patch(`{"Boot":{"BootSourceOverrideMode":"UEFI"}}`).status)
}

// What is said about a PATCH is no part of the System: its ETag is that of the next GET.
func TestAPatchGivesTheETagOfTheSystem(t *testing.T) {
	r := newRig(t)
	a := r.send(http.MethodPatch, webURI, `{"Boot":{"BootSourceOverrideTarget":"Cd"},"AssetTag":"x"}`)
	require.Contains(t, a.raw, "@Message.ExtendedInfo")
	assert.Equal(t, r.get(webURI).header.Get("ETag"), a.header.Get("ETag"))
}
