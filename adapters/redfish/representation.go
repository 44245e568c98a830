package redfish

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"

	"github.com/ledgerfish/ledgerfish/domain"
)

// object is a JSON object. Its keys are written in order, so equal objects have equal bytes.
type object = map[string]any

// root is where everything is. The root resource's own URI ends with a slash, no other one does (DSP0266, "Protocol
// version").
const root = "/redfish/v1"

// schema is a DMTF schema with its version: "ComputerSystem.v1_27_0". Collections have no version.
type schema string

// The schemas that are served.
const (
	serviceRootSchema    schema = "ServiceRoot.v1_20_0"
	systemsSchema        schema = "ComputerSystemCollection"
	systemSchema         schema = "ComputerSystem.v1_27_0"
	processorsSchema     schema = "ProcessorCollection"
	processorSchema      schema = "Processor.v1_22_0"
	ethernetsSchema      schema = "EthernetInterfaceCollection"
	ethernetSchema       schema = "EthernetInterface.v1_12_4"
	simpleStoragesSchema schema = "SimpleStorageCollection"
	simpleStorageSchema  schema = "SimpleStorage.v1_3_2"
	mediaSchema          schema = "VirtualMediaCollection"
	mediumSchema         schema = "VirtualMedia.v1_6_5"
	logServicesSchema    schema = "LogServiceCollection"
	logServiceSchema     schema = "LogService.v1_9_0"
	entriesSchema        schema = "LogEntryCollection"
	entrySchema          schema = "LogEntry.v1_21_0"
	managersSchema       schema = "ManagerCollection"
	managerSchema        schema = "Manager.v1_24_0"
	chassisSetSchema     schema = "ChassisCollection"
	chassisSchema        schema = "Chassis.v1_28_0"
	taskServiceSchema    schema = "TaskService.v1_3_0"
	tasksSchema          schema = "TaskCollection"
	taskSchema           schema = "Task.v1_7_4"
	sessionServiceSchema schema = "SessionService.v1_2_0"
	sessionsSchema       schema = "SessionCollection"
	sessionSchema        schema = "Session.v1_8_0"
	messageSchema        schema = "Message.v1_3_0"
)

// schemas lists what $metadata refers to.
func schemas() []schema {
	return []schema{serviceRootSchema, systemsSchema, systemSchema, processorsSchema, processorSchema, ethernetsSchema,
		ethernetSchema, simpleStoragesSchema, simpleStorageSchema, mediaSchema, mediumSchema, logServicesSchema,
		logServiceSchema, entriesSchema, entrySchema, managersSchema, managerSchema, chassisSetSchema, chassisSchema,
		taskServiceSchema, tasksSchema, taskSchema, sessionServiceSchema, sessionsSchema, sessionSchema, messageSchema}
}

func (s schema) name() string {
	name, _, _ := strings.Cut(string(s), ".")
	return name
}

// odataType is the value of @odata.type.
func (s schema) odataType() string { return "#" + string(s) + "." + s.name() }

// resourceOf makes a representation. The last segment of the URI is the Id.
func resourceOf(uri string, s schema, name string, properties object) object {
	o := object{"@odata.id": uri, "@odata.type": s.odataType(), "Id": uri[strings.LastIndexByte(uri, '/')+1:], "Name": name}
	for k, v := range properties {
		o[k] = v
	}
	return o
}

// collectionOf makes the representation of a collection; members are links, or whole resources.
func collectionOf(uri string, s schema, name string, members []object) object {
	if members == nil {
		members = []object{}
	}
	return object{"@odata.id": uri, "@odata.type": s.odataType(), "Name": name,
		"Members": members, "Members@odata.count": len(members)}
}

func link(uri string) object { return object{"@odata.id": uri} }

func links[T any](of []T, uri func(T) string) []object {
	l := make([]object, 0, len(of))
	for _, v := range of {
		l = append(l, link(uri(v)))
	}
	return l
}

func enabled() object { return object{"State": "Enabled", "Health": "OK"} }

func systemURI(m domain.Machine) string  { return root + "/Systems/" + m.ID() }
func managerURI(m domain.Machine) string { return root + "/Managers/" + m.ID() }
func chassisURI(m domain.Machine) string { return root + "/Chassis/" + m.ID() }

// etagOf is a strong ETag, a hash of all that is shown: it changes when that changes, and only then.
func etagOf(o object) string {
	if _, said := o["@Message.ExtendedInfo"]; said { // about the request, and no part of what a GET would show
		o = maps.Clone(o)
		delete(o, "@Message.ExtendedInfo")
	}
	b, err := json.Marshal(o)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// etagIn tells whether a list of ETags has this one. Weak forms match too: a proxy that compresses weakens what it
// passes on, and Ironic sends the weak form on purpose.
func etagIn(list []string, etag string) bool {
	for _, tag := range strings.Split(strings.Join(list, ","), ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}
