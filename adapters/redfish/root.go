package redfish

import (
	"fmt"
	"net/http"
	"strings"
)

func (s *Service) rootRoutes() {
	s.router.Handle("/redfish", http.HandlerFunc(s.version))
	s.router.Handle(root+"/$metadata", http.HandlerFunc(s.metadata))
	s.router.Handle(root+"/odata", http.HandlerFunc(s.odata))
	s.at("/", resource{get: s.serviceRoot})
}

// serviceRoot links what is served, and nothing else.
func (s *Service) serviceRoot(*call) (object, error) {
	return object{"@odata.id": root + "/", "@odata.type": serviceRootSchema.odataType(), "Id": "RootService", "Name": "Ledgerfish",
		"RedfishVersion": "1.23.0", "UUID": s.UUID.String(), "Product": "Ledgerfish " + s.Version,
		"Systems": link(root + "/Systems"), "Managers": link(root + "/Managers"), "Chassis": link(root + "/Chassis"),
		"Tasks": link(root + "/TaskService"), "SessionService": link(root + "/SessionService"),
		"Links": object{"Sessions": link(sessionsURI)},
		"ProtocolFeaturesSupported": object{"ExcerptQuery": false, "FilterQuery": false, "OnlyMemberQuery": false,
			"SelectQuery": false, "TopSkipQuery": false, "MultipleHTTPRequests": false,
			"ExpandQuery":    object{"ExpandAll": false, "Levels": false, "Links": false, "NoLinks": false},
			"DeepOperations": object{"DeepPATCH": false, "DeepPOST": false}}}, nil
}

// version is the one document outside the versions (DSP0266, "Protocol version"), with exactly this content.
func (s *Service) version(w http.ResponseWriter, r *http.Request) {
	s.document(w, r, object{"v1": root + "/"})
}

// odata is the OData service document (DSP0266, "OData service document").
func (s *Service) odata(w http.ResponseWriter, r *http.Request) {
	value := []object{{"name": "Service", "kind": "Singleton", "url": root + "/"}}
	for _, name := range []string{"Systems", "Managers", "Chassis", "TaskService", "SessionService"} {
		value = append(value, object{"name": name, "kind": "Singleton", "url": root + "/" + name})
	}
	s.document(w, r, object{"@odata.context": root + "/$metadata", "value": value})
}

// metadata is the OData metadata document (DSP0266, "OData $metadata"): where the schemas are, and the service's entity
// container.
func (s *Service) metadata(w http.ResponseWriter, r *http.Request) {
	if !s.onlyGet(w, r) {
		return
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">` + "\n")
	for _, sch := range schemas() {
		fmt.Fprintf(&b, `<edmx:Reference Uri="http://redfish.dmtf.org/schemas/v1/%[1]s_v1.xml">`+
			`<edmx:Include Namespace="%[1]s"/>`, sch.name())
		if string(sch) != sch.name() {
			fmt.Fprintf(&b, `<edmx:Include Namespace="%s"/>`, sch)
		}
		b.WriteString("</edmx:Reference>\n")
	}
	fmt.Fprintf(&b, `<edmx:DataServices><Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">`+
		`<EntityContainer Name="Service" Extends="%s.ServiceContainer"/></Schema></edmx:DataServices></edmx:Edmx>`+"\n", serviceRootSchema)
	w.Header().Set("Content-Type", "application/xml;charset=utf-8")
	_, _ = w.Write([]byte(b.String()))
}

// document sends JSON that is no resource.
func (s *Service) document(w http.ResponseWriter, r *http.Request, o object) {
	if s.onlyGet(w, r) {
		s.write(w, callOf(r), reply{status: http.StatusOK, body: o})
	}
}

func (s *Service) onlyGet(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Allow", "GET, HEAD")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	s.fail(w, callOf(r), refuse(http.StatusMethodNotAllowed, "OperationNotAllowed"))
	return false
}
