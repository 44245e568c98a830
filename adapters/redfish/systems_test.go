package redfish

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

// What Ironic's inspection and its power and boot interfaces read.
func TestTheSystemHasWhatIronicNeeds(t *testing.T) {
	r := newRig(t)
	a := r.get(webURI)
	assert.Equal(t, "Off", a.body["PowerState"])
	assert.Equal(t, "serial-web-0", a.body["SerialNumber"])
	assert.Equal(t, web.UID, a.body["UUID"])
	assert.EqualValues(t, 1.5, a.at("MemorySummary", "TotalSystemMemoryGiB"))
	assert.EqualValues(t, 4, a.at("ProcessorSummary", "LogicalProcessorCount"))
	assert.Equal(t, []any{object{"@odata.id": "/redfish/v1/Managers/lab.web-0"}}, a.at("Links", "ManagedBy"))
	assert.Equal(t, []any{"None", "Pxe", "Hdd", "Cd"}, a.at("Boot", "BootSourceOverrideTarget@Redfish.AllowableValues"))
	assert.Equal(t, "UEFI", a.at("Boot", "BootSourceOverrideMode"))
	assert.Contains(t, a.at("Actions", "#ComputerSystem.Reset", "ResetType@Redfish.AllowableValues"), "On")
	p := r.get(webURI + "/Processors/0")
	assert.Equal(t, "x86", p.body["ProcessorArchitecture"])
	assert.Equal(t, "x86-64", p.body["InstructionSet"])
	assert.EqualValues(t, 2, p.body["TotalThreads"])
	nic := r.get(webURI + "/EthernetInterfaces/default")
	assert.Equal(t, "02:00:00:00:00:01", nic.body["MACAddress"])
	assert.Equal(t, object{"State": "Enabled", "Health": "OK"}, nic.body["Status"])
	assert.Nil(t, r.get(webURI + "/EthernetInterfaces/second").body["MACAddress"])
	m := r.get("/redfish/v1/Managers/lab.web-0")
	assert.Equal(t, object{"@odata.id": "/redfish/v1/Managers/lab.web-0/VirtualMedia"}, m.body["VirtualMedia"])
	disks := r.get(webURI + "/SimpleStorage/Disks").body["Devices"].([]any)
	assert.EqualValues(t, 10<<30, disks[0].(object)["CapacityBytes"])
	assert.Nil(t, disks[1].(object)["CapacityBytes"])
}

func TestManagersHaveUUIDsOfTheirOwn(t *testing.T) {
	r := newRig(t)
	one, other := r.get("/redfish/v1/Managers/lab.web-0").body["UUID"], r.get("/redfish/v1/Managers/lab.db.example").body["UUID"]
	assert.NotEqual(t, one, other)
	assert.NotEqual(t, web.UID, one)
}

// InsertMedia, boot PATCH, On: the start is held, and shown as one that goes on.
func TestIronicsSequence(t *testing.T) {
	r := newRig(t)
	r.insert()
	require.Equal(t, http.StatusOK, r.send(http.MethodPatch, webURI, `{"Boot":{"BootSourceOverrideTarget":"Cd","BootSourceOverrideEnabled":"Once"}}`).status)
	a := r.reset("On")
	require.Equal(t, http.StatusAccepted, a.status, a.raw)
	assert.Equal(t, "Pending", a.body["TaskState"], "held")
	system := r.get(webURI)
	assert.Equal(t, "PoweringOn", system.body["PowerState"])
	assert.Contains(t, system.raw, "On waits for "+iso)
	assert.Equal(t, "OK", system.at("Status", "Health"))
	assert.Equal(t, []domain.Type{domain.MachineAdoptedType, domain.MediaRequestedType, domain.BootOverrideSetType,
		domain.PowerRequestedType, domain.PowerDeferredType}, r.machines.types(web))
	r.machines.happen(web, 2, domain.ImportFailed{Reason: "404 Not Found"})
	r.machines.happen(web, 4, domain.PowerCancelled{Reason: "the import failed"})
	system = r.get(webURI)
	assert.Equal(t, "Off", system.body["PowerState"])
	assert.Equal(t, "Warning", system.at("Status", "Health"))
	assert.Contains(t, system.raw, "404 Not Found")
	refused := r.reset("On")
	assert.Equal(t, http.StatusConflict, refused.status)
	assert.Equal(t, "ResourceInUse", refused.key())
	assert.Contains(t, refused.raw, "404 Not Found", "and why")
	assert.Equal(t, http.StatusNoContent, r.reset("ForceOff").status, "it is off: nothing to do")
}

func TestResetIsAccepted(t *testing.T) {
	for _, kind := range domain.ResetTypes() {
		r := newRig(t)
		a := r.reset(string(kind))
		if kind == domain.ResetForceOff || kind == domain.ResetGracefulShutdown {
			assert.Equal(t, http.StatusNoContent, a.status, kind)
			assert.Empty(t, a.raw)
			continue
		}
		require.Equal(t, http.StatusAccepted, a.status, kind)
		id := a.body["Id"].(string)
		assert.Equal(t, "/redfish/v1/TaskService/TaskMonitors/"+id, a.header.Get("Location"))
		assert.Equal(t, "/redfish/v1/TaskService/Tasks/"+id, a.body["@odata.id"])
		assert.NotEmpty(t, a.header.Get("Retry-After"))
		assert.Equal(t, id, r.machines.requests[0].ID)
		assert.Equal(t, "admin@127.0.0.1", r.machines.requests[0].By)
		again := r.reset(string(kind))
		assert.Equal(t, http.StatusAccepted, again.status)
		assert.Equal(t, id, again.body["Id"], "a repeat answers the same Task")
	}
}
