package redfish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/ledgerfish/ledgerfish/domain"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 64 << 10

// call is one request and what is known of it.
type call struct {
	r       *http.Request
	id      string // UUID; the id of the Task, if there will be one
	source  string // the client's address, without the port
	account string // empty: nobody is logged in
	claimed string // an account that there is, with a wrong password
	begun   time.Time
	fault   *fault // why it was turned down, for the log
}

type callKey struct{}

// with gives a request that callOf finds the call by.
func (c *call) with(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callKey{}, c))
}

func callOf(r *http.Request) *call {
	c := r.Context().Value(callKey{}).(*call)
	c.r = r // now with the variables of its route
	return c
}

// v is a variable of the route.
func (c *call) v(name string) string { return mux.Vars(c.r)[name] }

// uri is what was asked for.
func (c *call) uri() string { return c.r.URL.Path }

// request makes a command a request of this call's client.
func (c *call) request(command domain.Command) domain.Request {
	return domain.Request{ID: c.id, By: c.account + "@" + c.source, Command: command}
}

// detached is a context that outlives the client's connection: what was begun is brought to its end.
func (c *call) detached() context.Context { return context.WithoutCancel(c.r.Context()) }

// body reads the request's JSON object. No body at all is an empty object; whether that is enough is for the resource.
func (c *call) body() (object, error) {
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, maxBody+1))
	if err != nil {
		return nil, refuse400("MalformedJSON").because(err)
	}
	if len(raw) > maxBody {
		// Many a client reads no answer before its request is out.
		_, _ = io.CopyN(io.Discard, c.r.Body, 64*maxBody)
		return nil, refuse(http.StatusRequestEntityTooLarge, "PayloadTooLarge").
			saying("The body of the request has more than %d bytes.", maxBody)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return object{}, nil
	}
	if err := jsonContent(c.r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	var o object
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&o); err != nil || o == nil {
		return nil, refuse400("MalformedJSON").because(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, refuse400("MalformedJSON")
	}
	return o, nil
}

// jsonContent accepts application/json with UTF-8, and a body without a Content-Type.
func jsonContent(contentType string) error {
	if contentType == "" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(contentType)
	charset := params["charset"]
	if err != nil || kind != "application/json" || charset != "" && !bytes.EqualFold([]byte(charset), []byte("utf-8")) {
		return refuse(http.StatusUnsupportedMediaType, "HeaderInvalid", "Content-Type").
			saying("The body has to be application/json.")
	}
	return nil
}

// sourceOf is the address that the request came from. Headers that a client can write itself do not count.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
