package redfish

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Each is answered with a clear Redfish error, and no command reaches the gate.
func TestBadInput(t *testing.T) {
	const reset, insert = webURI + "/Actions/ComputerSystem.Reset", slotURI + "/Actions/VirtualMedia.InsertMedia"
	for name, row := range map[string]struct {
		method, path, body string
		header             []string
		status             int
		key                string
	}{
		"unknown system":       {"GET", "/redfish/v1/Systems/lab.nothing", "", nil, 404, "ResourceNotFound"},
		"reset unknown system": {"POST", "/redfish/v1/Systems/lab.nothing/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`, nil, 404, "ResourceNotFound"},
		"unknown path":         {"GET", webURI + "/Nothing", "", nil, 404, "ResourceMissingAtURI"},
		"double slash":         {"GET", "/redfish/v1//Systems", "", nil, 404, "ResourceMissingAtURI"},
		"outside":              {"GET", "/", "", nil, 404, "ResourceMissingAtURI"},
		"unknown action":       {"POST", webURI + "/Actions/ComputerSystem.Explode", `{}`, nil, 404, "ResourceMissingAtURI"},
		"unknown slot":         {"GET", webURI + "/VirtualMedia/Floppy", "", nil, 404, "ResourceMissingAtURI"},
		"unknown processor":    {"GET", webURI + "/Processors/2", "", nil, 404, "ResourceNotFound"},
		"processor 01":         {"GET", webURI + "/Processors/01", "", nil, 404, "ResourceNotFound"},
		"unknown NIC":          {"GET", webURI + "/EthernetInterfaces/x", "", nil, 404, "ResourceNotFound"},
		"unknown log entry":    {"GET", webURI + "/LogServices/EventLog/Entries/99", "", nil, 404, "ResourceNotFound"},
		"unknown task":         {"GET", "/redfish/v1/TaskService/Tasks/x", "", nil, 404, "ResourceNotFound"},
		"unknown monitor":      {"GET", "/redfish/v1/TaskService/TaskMonitors/x", "", nil, 404, "ResourceNotFound"},
		"unknown session":      {"DELETE", sessionsURI + "/x", "", nil, 404, "ResourceNotFound"},
		"unknown ResetType":    {"POST", reset, `{"ResetType":"Explode"}`, nil, 400, "ActionParameterValueNotInList"},
		"no ResetType":         {"POST", reset, `{}`, nil, 400, "ActionParameterMissing"},
		"ResetType a number":   {"POST", reset, `{"ResetType":1}`, nil, 400, "ActionParameterValueTypeError"},
		"reset parameter":      {"POST", reset, `{"ResetType":"On","Delay":1}`, nil, 400, "ActionParameterUnknown"},
		"missing Image":        {"POST", insert, `{}`, nil, 400, "ActionParameterMissing"},
		"no body":              {"POST", insert, ``, nil, 400, "ActionParameterMissing"},
		"file image":           {"POST", insert, insertBody("file:///etc/passwd"), nil, 400, "ActionParameterValueFormatError"},
		"insert parameter":     {"POST", insert, `{"Image":"http://h/a.iso","Bogus":1}`, nil, 400, "ActionParameterUnknown"},
		"eject parameter":      {"POST", slotURI + "/Actions/VirtualMedia.EjectMedia", `{"Force":true}`, nil, 400, "ActionParameterUnknown"},
		"2 MiB body":           {"POST", insert, `{"Image":"` + strings.Repeat("a", 2<<20) + `"}`, nil, 413, "PayloadTooLarge"},
		"malformed JSON":       {"POST", insert, `{"Image":`, nil, 400, "MalformedJSON"},
		"an array":             {"POST", insert, `[]`, nil, 400, "MalformedJSON"},
		"null":                 {"POST", insert, `null`, nil, 400, "MalformedJSON"},
		"two objects":          {"POST", insert, insertBody(iso) + `{}`, nil, 400, "MalformedJSON"},
		"wrong content type":   {"POST", insert, insertBody(iso), []string{"Content-Type: text/plain"}, 415, "HeaderInvalid"},
		"wrong charset":        {"POST", insert, insertBody(iso), []string{"Content-Type: application/json; charset=latin1"}, 415, "HeaderInvalid"},
		"wrong password":       {"POST", insert, insertBody(iso), []string{"Authorization: Basic YWRtaW46d3Jvbmc="}, 401, "AccessUnauthorized"},
		"no credentials":       {"GET", "/redfish/v1/Nothing", "", []string{"Authorization: "}, 401, "AccessUnauthorized"},
		"wrong token":          {"GET", webURI, "", []string{"Authorization: ", "X-Auth-Token: 00"}, 401, "AccessUnauthorized"},
		"OData-Version 4.1":    {"GET", webURI, "", []string{"OData-Version: 4.1"}, 412, "HeaderInvalid"},
		"401 before 412":       {"GET", webURI, "", []string{"OData-Version: 4.1", "Authorization: "}, 401, "AccessUnauthorized"},
		"query":                {"GET", webURI + "?$expand=.", "", nil, 501, "QueryParameterUnsupported"},
		"DELETE a system":      {"DELETE", webURI, "", nil, 405, "OperationNotAllowed"},
		"POST to the root":     {"POST", "/redfish/v1/", `{}`, nil, 405, "OperationNotAllowed"},
		"GET an action":        {"GET", reset, "", nil, 405, "OperationNotAllowed"},
		"PATCH a slot":         {"PATCH", slotURI, `{"Image":"x"}`, nil, 405, "OperationNotAllowed"},
		"unheard-of method":    {"BREW", webURI, "", nil, 405, "OperationNotAllowed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a := r.send(row.method, row.path, row.body, row.header...)
			assert.Equal(t, row.status, a.status, a.raw)
			assert.Equal(t, row.key, a.key())
			assert.Equal(t, "application/json;charset=utf-8", a.header.Get("Content-Type"))
			info := a.at("error", "@Message.ExtendedInfo").([]any)[0].(object)
			assert.Equal(t, baseRegistry+row.key, info["MessageId"])
			for _, member := range []string{"Message", "MessageSeverity", "Resolution"} {
				assert.NotEmpty(t, info[member], member)
			}
			assert.NotContains(t, info["Message"], "%", "no argument is missing")
			assert.Equal(t, row.status == http.StatusUnauthorized, a.header.Get("WWW-Authenticate") != "")
			assert.Empty(t, r.machines.requests, "nothing reaches the gate")
			assert.Len(t, r.machines.types(web), 1)
			assert.Contains(t, r.log.String(), "reason="+row.key, "the service's audit has it")
		})
	}
}

func TestAnUnknownResetTypeIsToldTheAllowedOnes(t *testing.T) {
	a := newRig(t).reset("Explode")
	assert.Contains(t, a.raw, "On, ForceOff, GracefulShutdown")
	assert.Contains(t, a.raw, "Explode")
}

func TestAllowNamesTheMethods(t *testing.T) {
	r := newRig(t)
	for path, allow := range map[string]string{webURI: "GET, HEAD, PATCH", "/redfish/v1/": "GET, HEAD", sessionsURI: "GET, HEAD, POST",
		sessionsURI + "/x": "GET, HEAD, DELETE", webURI + "/Actions/ComputerSystem.Reset": "POST"} {
		assert.Equal(t, allow, r.send("BREW", path, "").header.Get("Allow"), path)
		a := r.send(http.MethodOptions, path, "")
		assert.Equal(t, http.StatusNoContent, a.status)
		assert.Equal(t, allow, a.header.Get("Allow"), path)
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	r := newRig(t)
	get, head := r.get(webURI), r.send(http.MethodHead, webURI, "")
	assert.Equal(t, http.StatusOK, head.status)
	assert.Empty(t, head.raw)
	for _, name := range []string{"Etag", "Link", "Allow", "Content-Type", "Odata-Version"} {
		assert.Equal(t, get.header[name], head.header[name], name)
	}
}

func TestWhatIsNotAskedForIsIgnored(t *testing.T) {
	r := newRig(t)
	assert.Equal(t, http.StatusOK, r.get(webURI+"?foo=bar").status, "an unknown query parameter without $")
	assert.Equal(t, http.StatusOK, r.send(http.MethodGet, webURI, `{"ResetType":`).status, "the body of a GET")
	assert.Equal(t, http.StatusOK, r.get(webURI, "OData-Version: 4.0", "Accept: text/html").status)
}

// While the service starts or is cut off, a client has to come again; a 401 or 404 would make it give up.
func TestNotReadyIs503(t *testing.T) {
	r := newRig(t)
	r.machines.notReady = errors.New("logs not read")
	for name, a := range map[string]answered{
		"a machine":              r.get(webURI),
		"an unknown machine":     r.get("/redfish/v1/Systems/lab.nothing"),
		"a collection":           r.get("/redfish/v1/Systems"),
		"a wrong password":       r.get(webURI, "Authorization: Basic YWRtaW46d3Jvbmc="),
		"a session":              r.get(webURI, "Authorization: ", "X-Auth-Token: 00"),
		"a login":                r.post(sessionsURI, `{"UserName":"admin","Password":"secret"}`, "Authorization: "),
		"a reset":                r.reset("On"),
		"an unknown path":        r.get("/redfish/v1/Nothing"),
		"a change to the public": r.post("/redfish/v1/", `{}`),
	} {
		assert.Equal(t, http.StatusServiceUnavailable, a.status, name)
		assert.Equal(t, "5", a.header.Get("Retry-After"), name)
		assert.Equal(t, "ServiceTemporarilyUnavailable", a.key(), name)
		assert.NotContains(t, a.raw, "logs not read", "why is for our own log")
	}
	for _, path := range []string{"/redfish", "/redfish/v1/", "/redfish/v1/odata", "/redfish/v1/$metadata"} {
		assert.Equal(t, http.StatusOK, r.get(path).status, path)
	}
	assert.Equal(t, http.StatusUnauthorized, r.get(webURI, "Authorization: ").status, "without credentials nothing changes")
	assert.Contains(t, r.log.String(), "logs not read")
}

func TestAMachineWhoseLogIsNotReadIs503(t *testing.T) {
	r := newRig(t)
	delete(r.machines.states, web.UID)
	a := r.get(webURI)
	assert.Equal(t, http.StatusServiceUnavailable, a.status)
	assert.Equal(t, "5", a.header.Get("Retry-After"))
}

func TestOneTableFromErrorToAnswer(t *testing.T) {
	r := newRig(t)
	secret := errors.New("tcp 10.0.0.1: token abc")
	for _, row := range []struct {
		err    error
		status int
		key    string
	}{
		{domain.Errorf(domain.CodeInvalid, "shown"), 400, "GeneralError"},
		{domain.Errorf(domain.CodeInvalid, "shown").At("ResetType"), 400, "PropertyValueError"},
		{domain.Errorf(domain.CodeNotFound, "shown"), 404, "ResourceMissingAtURI"},
		{domain.Errorf(domain.CodeConflict, "shown"), 409, "ResourceInUse"},
		{&domain.Error{Code: domain.CodeUnavailable, Message: "shown", Err: secret}, 503, "ServiceTemporarilyUnavailable"},
		{&domain.Error{Code: domain.CodeInternal, Message: "not this", Err: secret}, 500, "InternalError"},
		{fmt.Errorf("do: %w", domain.Errorf(domain.CodeConflict, "shown")), 409, "ResourceInUse"},
		{secret, 500, "InternalError"},
	} {
		r.machines.broken = row.err
		a := r.reset("On")
		assert.Equal(t, row.status, a.status, row.err)
		assert.Equal(t, row.key, a.key(), row.err)
		assert.Equal(t, row.status != 500, strings.Contains(a.raw, "shown"), row.err)
		assert.NotContains(t, a.raw, "token")
		assert.NotContains(t, a.raw, "not this")
		assert.Equal(t, row.status == 503, a.header.Get("Retry-After") != "")
	}
}

func TestABrokenHandlerIsA500(t *testing.T) {
	r := newRig(t)
	r.machines.panics = true
	a := r.get(webURI)
	assert.Equal(t, http.StatusInternalServerError, a.status)
	assert.Equal(t, "InternalError", a.key())
	assert.Contains(t, r.log.String(), "request broke the service")
}

func TestConnectionCloseIsHonoured(t *testing.T) {
	r := newRig(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprint(conn, "GET /redfish HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	assert.True(t, res.Close, "the answer says so too")
}
