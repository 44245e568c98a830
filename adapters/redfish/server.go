package redfish

import (
	"crypto/tls"
	stdlog "log"
	"net/http"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
)

// NewServer makes the HTTPS server for a service, with limits on what a client may cost. Serve it with
// ServeTLS(listener, "", ""), stop it with Shutdown.
func NewServer(handler http.Handler, certificate *Certificate, log logrus.FieldLogger) *http.Server {
	return &http.Server{
		Handler:           handler,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.Get},
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          stdlog.New(connectionLog{log}, "", 0),
	}
}

// connectionLog takes what net/http says of single connections: failed handshakes, mostly.
type connectionLog struct{ log logrus.FieldLogger }

func (l connectionLog) Write(b []byte) (int, error) {
	l.log.WithField("detail", strings.TrimSpace(string(b))).Debug("connection failed")
	return len(b), nil
}
