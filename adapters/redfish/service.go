package redfish

import (
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/gorilla/mux"
	"github.com/sirupsen/logrus"
)

// Config is what the service needs. Every field without "default" is needed.
type Config struct {
	Machines Machines
	Vault    Vault
	Accounts Accounts
	Log      logrus.FieldLogger
	Now      func() time.Time
	UUID     uuid.UUID // of the service: the same after every restart
	Version  string    // of the program

	SessionTimeout time.Duration  // without a request; default 30 minutes
	MaxSessions    int            // the longest idle one ends for a new one; default 512
	ImageAddresses ImageAddresses // where images may come from; the default refuses link-local, metadata and loopback
}

// ImageAddresses tells which addresses in an image's URL are refused.
type ImageAddresses struct {
	Loopback bool           // allow loopback: only for tests, the importer's loopback is not the client's
	Refused  []netip.Prefix // beside those that are always refused
}

// Service is the Redfish service, an http.Handler.
type Service struct {
	Config
	router   *mux.Router
	login    *login
	sessions *sessions
}

// New makes the service.
func New(c Config) *Service {
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 30 * time.Minute
	}
	if c.MaxSessions == 0 {
		c.MaxSessions = 512
	}
	s := &Service{Config: c, router: mux.NewRouter().SkipClean(true), login: newLogin(c.Accounts, c.Now),
		sessions: newSessions(c.Accounts, c.SessionTimeout, c.MaxSessions, c.Now)}
	s.router.NotFoundHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, callOf(r), refuse(http.StatusNotFound, "ResourceMissingAtURI", r.URL.Path))
	})
	s.rootRoutes()
	s.systemRoutes()
	s.inventoryRoutes()
	s.mediaRoutes()
	s.logRoutes()
	s.managerRoutes()
	s.chassisRoutes()
	s.taskRoutes()
	s.sessionRoutes()
	return s
}

// ServeHTTP answers one call. Who calls is settled first, so that nobody else learns what there is.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{id: uuid.NewString(), source: sourceOf(r), begun: s.Now()}
	r = c.with(r)
	r.URL = &url.URL{Path: canonical(r.URL.Path), RawQuery: r.URL.RawQuery}
	c.r = r
	rec := &recorder{ResponseWriter: w}
	defer func() {
		if p := recover(); p != nil {
			s.Log.WithFields(logrus.Fields{"request": c.id, "panic": p, "stack": string(debug.Stack())}).Error("request broke the service")
			if rec.status == 0 {
				s.fail(rec, c, refuse(http.StatusInternalServerError, "InternalError"))
			}
		}
		s.record(c, rec.status)
	}()
	rec.Header().Set("OData-Version", "4.0")
	rec.Header().Set("Cache-Control", "no-cache")
	if err := s.admit(c); err != nil {
		s.fail(rec, c, err)
		return
	}
	s.router.ServeHTTP(rec, r)
}

// canonical is a path without the slash at its end, except the root's, which has one.
func canonical(path string) string {
	if path = strings.TrimRight(path, "/"); path == root {
		return root + "/"
	}
	return path
}

// admit is what every call has to pass, in this order: credentials, then whether the service may answer, then headers
// and query. Authentication comes before whatever else may affect the answer (DSP0266, "HTTP header authentication
// requirements").
func (s *Service) admit(c *call) error {
	if !public(c) {
		if err := s.authenticate(c); err != nil {
			return err
		}
	}
	if v := c.r.Header.Get("OData-Version"); v != "" && v != "4.0" {
		return refuse(http.StatusPreconditionFailed, "HeaderInvalid", "OData-Version").saying("OData-Version has to be 4.0.")
	}
	for name := range c.r.URL.Query() {
		if strings.HasPrefix(name, "$") {
			return refuse(http.StatusNotImplemented, "QueryParameterUnsupported", name)
		}
	}
	return nil
}

// public tells whether a call needs neither an account nor a service that is ready (DSP0266, "Resource and operation
// authentication requirements").
func public(c *call) bool {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return false
	}
	switch c.uri() {
	case "/redfish", root + "/", root + "/odata", root + "/$metadata":
		return true
	}
	return false
}

// authenticate settles whose call it is. A service that is not ready says so to whoever brings credentials, right or
// wrong: it may not know the accounts yet, and a 401 would make clients give up.
func (s *Service) authenticate(c *call) error {
	opening := c.r.Method == http.MethodPost && (c.uri() == sessionsURI || c.uri() == sessionsURI+"/Members")
	token := c.r.Header.Get("X-Auth-Token")
	user, password, basic := c.r.BasicAuth()
	if token == "" && !basic && !opening {
		return unauthorized()
	}
	if err := s.Machines.Ready(); err != nil {
		return refuse(http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", strconv.Itoa(retryAfter)).because(err)
	}
	switch {
	case opening: // the credentials are in the body
		return nil
	case token != "":
		account, ok := s.sessions.use(token)
		if !ok {
			return unauthorized()
		}
		c.account = account
	default:
		return s.logIn(c, user, password)
	}
	return nil
}

// logIn makes it the account's call. The audit names an account that is attacked; any other name stays out of it, for
// it may be a password in the wrong field.
func (s *Service) logIn(c *call, user, password string) error {
	if err := s.login.check(c.r.Context(), c.source, user, password); err != nil {
		if _, known := s.Accounts.Hash(user); known {
			c.claimed = user
		}
		return err
	}
	c.account = user
	return nil
}

func unauthorized() *fault {
	f := refuse(http.StatusUnauthorized, "AccessUnauthorized")
	f.header.Set("WWW-Authenticate", `Basic realm="Ledgerfish", charset="UTF-8"`)
	return f
}
