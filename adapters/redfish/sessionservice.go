package redfish

import (
	"net/http"
	"time"
)

const sessionsURI = root + "/SessionService/Sessions"

func (s *Service) sessionRoutes() {
	s.at("/SessionService", resource{get: s.sessionService})
	s.at("/SessionService/Sessions", resource{get: s.listSessions, post: s.openSession})
	s.at("/SessionService/Sessions/Members", resource{post: s.openSession}) // DSP0266, "POST (create)"
	s.at("/SessionService/Sessions/{session}", resource{get: s.showSession, delete: s.endSession})
}

func (s *Service) sessionService(c *call) (object, error) {
	return resourceOf(c.uri(), sessionServiceSchema, "Session Service", object{"ServiceEnabled": true, "Status": enabled(),
		"SessionTimeout": int(s.SessionTimeout / time.Second), "Sessions": link(sessionsURI)}), nil
}

func (s *Service) listSessions(c *call) (object, error) {
	return collectionOf(c.uri(), sessionsSchema, "Sessions",
		links(s.sessions.list(), func(n session) string { return sessionsURI + "/" + n.id })), nil
}

func sessionOf(n session) object {
	return resourceOf(sessionsURI+"/"+n.id, sessionSchema, "Session of "+n.user, object{"UserName": n.user, "Password": nil,
		"SessionType": "Redfish", "ClientOriginIPAddress": n.source, "CreatedTime": n.begun.UTC().Format(time.RFC3339)})
}

// openSession is the one call whose credentials are in its body.
func (s *Service) openSession(c *call, body object) (reply, error) {
	var credentials [2]string
	for i, name := range []string{"UserName", "Password"} {
		text, isText := body[name].(string)
		if body[name] != nil && !isText {
			return reply{}, refuse400("PropertyValueTypeError", kindOf(body[name]), name).at("/" + name)
		}
		if text == "" {
			return reply{}, refuse400("PropertyMissing", name).at("/" + name)
		}
		credentials[i] = text
	}
	if err := s.logIn(c, credentials[0], credentials[1]); err != nil {
		return reply{}, err
	}
	n, token := s.sessions.begin(c.account, c.source)
	return reply{status: http.StatusCreated, location: sessionsURI + "/" + n.id, token: token, body: sessionOf(n)}, nil
}

func (s *Service) showSession(c *call) (object, error) {
	for _, n := range s.sessions.list() {
		if n.id == c.v("session") {
			return sessionOf(n), nil
		}
	}
	return nil, noSession(c)
}

func (s *Service) endSession(c *call) (reply, error) {
	if !s.sessions.end(c.v("session")) {
		return reply{}, noSession(c)
	}
	return reply{status: http.StatusNoContent}, nil
}

func noSession(c *call) error {
	return refuse(http.StatusNotFound, "ResourceNotFound", "session", c.v("session"))
}
