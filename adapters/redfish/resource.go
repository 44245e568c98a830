package redfish

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// resource is what can be done at one URI. What is nil answers 405.
type resource struct {
	get    func(*call) (object, error)
	patch  func(*call, object) (reply, error)
	post   func(*call, object) (reply, error)
	delete func(*call) (reply, error)
}

// reply is an answer that says yes.
type reply struct {
	status   int
	body     object // nil: none
	location string
	token    string // X-Auth-Token
}

// at puts a resource at a path below the root. Every resource file has one function of such lines, beside its handlers.
func (s *Service) at(path string, res resource) {
	s.router.Handle(root+path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := callOf(r)
		w.Header().Set("Allow", res.allow())
		answer, err := s.dispatch(c, res)
		if err != nil {
			s.fail(w, c, err)
			return
		}
		s.write(w, c, answer)
	}))
}

// allow is the value of the header Allow.
func (res resource) allow() string {
	var methods []string
	if res.get != nil {
		methods = append(methods, http.MethodGet, http.MethodHead)
	}
	if res.post != nil {
		methods = append(methods, http.MethodPost)
	}
	if res.patch != nil {
		methods = append(methods, http.MethodPatch)
	}
	if res.delete != nil {
		methods = append(methods, http.MethodDelete)
	}
	return strings.Join(methods, ", ")
}

// dispatch calls the function of the method. The body of a GET is ignored (DSP0266, "GET (read requests)").
func (s *Service) dispatch(c *call, res resource) (reply, error) {
	switch {
	case c.r.Method == http.MethodOptions:
		return reply{status: http.StatusNoContent}, nil
	case (c.r.Method == http.MethodGet || c.r.Method == http.MethodHead) && res.get != nil:
		o, err := res.get(c)
		return reply{status: http.StatusOK, body: o}, err
	case c.r.Method == http.MethodDelete && res.delete != nil:
		return res.delete(c)
	case c.r.Method == http.MethodPatch && res.patch != nil:
		if err := unchanged(c, res); err != nil {
			return reply{}, err
		}
		return withBody(c, res.patch)
	case c.r.Method == http.MethodPost && res.post != nil:
		return withBody(c, res.post)
	}
	return reply{}, refuse(http.StatusMethodNotAllowed, "OperationNotAllowed")
}

func withBody(c *call, do func(*call, object) (reply, error)) (reply, error) {
	body, err := c.body()
	if err != nil {
		return reply{}, err
	}
	return do(c, body)
}

// unchanged compares If-Match with what a GET would show now.
func unchanged(c *call, res resource) error {
	match := c.r.Header.Values("If-Match")
	if len(match) == 0 {
		return nil
	}
	o, err := res.get(c)
	if err != nil {
		return err
	}
	if !etagIn(match, etagOf(o)) {
		return refuse(http.StatusPreconditionFailed, "PreconditionFailed")
	}
	return nil
}

// write sends a reply. A representation gets its ETag and a link to its schema; one that the client has already
// (If-None-Match) is not sent again.
func (s *Service) write(w http.ResponseWriter, c *call, answer reply) {
	h := w.Header()
	if answer.location != "" {
		h.Set("Location", answer.location)
	}
	if answer.token != "" {
		h.Set("X-Auth-Token", answer.token)
	}
	if answer.status == http.StatusAccepted {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if answer.body == nil {
		w.WriteHeader(answer.status)
		return
	}
	if kind, typed := answer.body["@odata.type"].(string); typed {
		h.Set("Link", "<"+schemaURI(kind)+">; rel=describedby")
		etag := etagOf(answer.body)
		answer.body["@odata.etag"] = etag
		h.Set("ETag", etag)
		none := c.r.Header.Values("If-None-Match")
		if answer.status == http.StatusOK && c.r.Method != http.MethodPatch && len(none) > 0 && etagIn(none, etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	s.writeJSON(w, answer.status, answer.body)
}

// schemaURI is where DMTF publishes the JSON schema of an @odata.type.
func schemaURI(odataType string) string {
	file := strings.TrimPrefix(odataType, "#")
	return "http://redfish.dmtf.org/schemas/v1/" + file[:strings.LastIndexByte(file, '.')] + ".json"
}

// fail sends a fault and leaves it for the log.
func (s *Service) fail(w http.ResponseWriter, c *call, err error) {
	f := faultOf(err, c.uri())
	for k, v := range f.header {
		w.Header()[k] = v
	}
	c.fault = f
	s.writeJSON(w, f.status, f.body())
}

func (s *Service) writeJSON(w http.ResponseWriter, status int, o object) {
	b, err := json.Marshal(o)
	if err != nil {
		s.Log.WithError(err).Error("answer can not be encoded")
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the client may be gone
}
