package node

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// metricsServer is where CDI's controllers read an importer's progress: https://<pod IP>:8443/metrics, a port that CDI
// sets. Each importer pod has a loopback address of its own, so that many clusters can run side by side.
type metricsServer struct {
	ip     string
	server *http.Server
}

const metricsPort = "8443"

// serveMetrics never fails: a pod without metrics shows no progress, as in a cluster that blocks the port.
func (n *Node) serveMetrics(ownerUID string, c *container) *metricsServer {
	m := &metricsServer{ip: "127.0.0.1"}
	ln, err := listenAnywhere()
	if err != nil {
		n.log.WithError(err).Warn("importer has no address for its progress")
		return m
	}
	m.ip = ln.Addr().(*net.TCPAddr).IP.String()
	m.server = &http.Server{ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if percent, ok := c.progress(); ok {
				_, _ = fmt.Fprintf(w, "# TYPE kubevirt_cdi_import_progress_total counter\nkubevirt_cdi_import_progress_total{ownerUID=%q} %g\n", ownerUID, percent)
			}
		})}
	n.downloads.Add(1)
	go func() {
		defer n.downloads.Done()
		if err := m.server.ServeTLS(ln, n.certs.Cert, n.certs.Key); !errors.Is(err, http.ErrServerClosed) {
			n.log.WithError(err).Warn("importer's metrics server ended")
		}
	}()
	return m
}

func (m *metricsServer) close() {
	if m.server != nil {
		_ = m.server.Close()
	}
}

func listenAnywhere() (net.Listener, error) {
	var err error
	for range 10 {
		var ln net.Listener
		ip := net.IPv4(127, byte(64+rand.IntN(190)), byte(rand.IntN(256)), byte(1+rand.IntN(254)))
		if ln, err = net.Listen("tcp", net.JoinHostPort(ip.String(), metricsPort)); err == nil {
			return ln, nil
		}
	}
	return nil, err
}
