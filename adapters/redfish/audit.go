package redfish

import (
	"net/http"

	"github.com/sirupsen/logrus"
)

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// record writes the service's audit, one line a call. What changes a machine is in that machine's log; what was turned
// away before the gate, and who opened a session, is only here. The query and every header stay out.
func (s *Service) record(c *call, status int) {
	entry := s.Log.WithFields(logrus.Fields{"request": c.id, "method": c.r.Method, "path": c.uri(), "status": status,
		"source": c.source, "account": c.account, "duration": s.Now().Sub(c.begun).String()})
	if c.claimed != "" {
		entry = entry.WithField("claimed", c.claimed)
	}
	if c.fault != nil {
		entry = entry.WithField("reason", c.fault.key)
		if c.fault.cause != nil {
			entry = entry.WithError(c.fault.cause)
		}
	}
	switch {
	case c.fault != nil && c.fault.key == "InternalError":
		entry.Error("request failed")
	case status >= http.StatusBadRequest:
		entry.Warn("request turned away")
	case c.r.Method == http.MethodGet || c.r.Method == http.MethodHead:
		entry.Debug("request answered")
	default:
		entry.Info("request answered")
	}
}
