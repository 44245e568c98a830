package redfish

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// logID is the one log of a machine.
const logID = "EventLog"

func (s *Service) logRoutes() {
	const service = "/Systems/{machine}/LogServices/" + logID
	s.at("/Systems/{machine}/LogServices", resource{get: s.logServices})
	s.at(service, resource{get: s.logService})
	s.at(service+"/Entries", resource{get: s.entries})
	s.at(service+"/Entries/{seq}", resource{get: s.entry})
}

func (s *Service) logServices(c *call) (object, error) {
	if _, err := s.machine(c); err != nil {
		return nil, err
	}
	return collectionOf(c.uri(), logServicesSchema, "Log services", []object{link(c.uri() + "/" + logID)}), nil
}

func (s *Service) logService(c *call) (object, error) {
	if _, err := s.machine(c); err != nil {
		return nil, err
	}
	return resourceOf(c.uri(), logServiceSchema, "Event log", object{"LogEntryType": "OEM", "OverWritePolicy": "NeverOverWrites",
		"ServiceEnabled": true, "Status": enabled(), "Entries": link(c.uri() + "/Entries")}), nil
}

// entries has whole LogEntry objects as its members, the oldest first (LogEntryCollection schema).
func (s *Service) entries(c *call) (object, error) {
	events, err := s.events(c)
	if err != nil {
		return nil, err
	}
	members := make([]object, 0, len(events))
	for _, e := range events {
		members = append(members, entryOf(c.uri()+"/"+strconv.FormatUint(e.Seq, 10), systemURIOf(c), e))
	}
	return collectionOf(c.uri(), entriesSchema, "Events", members), nil
}

func (s *Service) entry(c *call) (object, error) {
	events, err := s.events(c)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if strconv.FormatUint(e.Seq, 10) == c.v("seq") {
			return entryOf(c.uri(), systemURIOf(c), e), nil
		}
	}
	return nil, refuse(http.StatusNotFound, "ResourceNotFound", "log entry", c.v("seq"))
}

func (s *Service) events(c *call) ([]domain.Event, error) {
	h, err := s.machine(c)
	if err != nil {
		return nil, err
	}
	return s.Machines.Log(c.r.Context(), h.Machine)
}

func systemURIOf(c *call) string { return root + "/Systems/" + c.v("machine") }

// entryOf shows an event: the very one of the log, with its seq as Id. EventGroupId is the seq of the intent that it
// belongs to, so all that became of one request has one group.
func entryOf(uri, system string, e domain.Event) object {
	group := e.Cause
	if group == 0 {
		group = e.Seq
	}
	message, severity := domain.Tell(e)
	o := object{"EntryType": "Oem", "OemRecordFormat": "Ledgerfish event, version " + strconv.Itoa(e.V), "Severity": severity,
		"Message": message, "Created": e.Time.UTC().Format(time.RFC3339Nano), "EventId": e.ID, "EventGroupId": group,
		"Links": object{"OriginOfCondition": link(system)}}
	if account, address, client := cutLast(e.By, "@"); client {
		o["Originator"], o["OriginatorType"], o["Username"] = address, "Client", account
	} else {
		o["Originator"], o["OriginatorType"] = "Ledgerfish "+e.By, "Internal"
	}
	if e.Corr != "" {
		o["Description"] = "Request " + e.Corr
	}
	return resourceOf(uri, entrySchema, string(e.Type), o)
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
