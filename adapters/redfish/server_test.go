package redfish

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func quiet() logrus.FieldLogger {
	l := logrus.New()
	l.SetOutput(io.Discard)
	return l
}

func serve(t *testing.T, c *Certificate) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := NewServer(newRig(t).service, c, quiet())
	done := make(chan error, 1)
	go func() { done <- server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return listener.Addr().String()
}

func TestAGeneratedCertificateIsGoodForItsHosts(t *testing.T) {
	c, err := GenerateCertificate([]string{"bridge.example", "127.0.0.1"}, time.Now())
	require.NoError(t, err)
	addr := serve(t, c)
	leaf, err := x509.ParseCertificate(c.pair.Certificate[0])
	require.NoError(t, err)
	assert.Equal(t, 3, leaf.Version)
	assert.NoError(t, leaf.VerifyHostname("bridge.example"))
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	res, err := client.Get("https://" + addr + "/redfish")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusOK, res.StatusCode)
	client.CloseIdleConnections()
}

func TestOldTLSAndPlainHTTPAreRefused(t *testing.T) {
	c, err := GenerateCertificate([]string{"127.0.0.1"}, time.Now())
	require.NoError(t, err)
	addr := serve(t, c)
	_, err = tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	assert.Error(t, err)
	res, err := http.Get("http://" + addr + "/redfish")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusBadRequest, res.StatusCode)
}

func writePair(t *testing.T, certFile, keyFile string, at time.Time) *Certificate {
	t.Helper()
	c, err := GenerateCertificate([]string{"h"}, at)
	require.NoError(t, err)
	key, err := x509.MarshalPKCS8PrivateKey(c.pair.PrivateKey)
	require.NoError(t, err)
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: c.pair.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
		require.NoError(t, os.Chtimes(file, at, at))
	}
	return c
}

// A renewed certificate is used from the next handshake on; half a renewal changes nothing.
func TestACertificateIsReloaded(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	first := writePair(t, certFile, keyFile, time.Unix(1_000_000, 0))
	c, err := LoadCertificate(certFile, keyFile, quiet())
	require.NoError(t, err)
	serves := func(want *Certificate) {
		t.Helper()
		got, err := c.Get(nil)
		require.NoError(t, err)
		assert.Equal(t, want.pair.Certificate, got.Certificate)
	}
	serves(first)
	second := writePair(t, certFile, keyFile, time.Unix(2_000_000, 0))
	serves(second)
	require.NoError(t, os.WriteFile(keyFile, []byte("half"), 0o600))
	serves(second)
	third := writePair(t, certFile, keyFile, time.Unix(3_000_000, 0))
	serves(third)
	require.NoError(t, os.Remove(certFile))
	serves(third)
	_, err = LoadCertificate(certFile, keyFile, quiet())
	assert.ErrorContains(t, err, "tls.crt")
}

func TestTheServerHasLimits(t *testing.T) {
	c, err := GenerateCertificate(nil, time.Now())
	require.NoError(t, err)
	s := NewServer(http.NotFoundHandler(), c, quiet())
	for name, limit := range map[string]time.Duration{"header": s.ReadHeaderTimeout, "read": s.ReadTimeout, "write": s.WriteTimeout, "idle": s.IdleTimeout} {
		assert.NotZero(t, limit, name)
	}
	assert.Less(t, s.MaxHeaderBytes, 64<<10)
	assert.Less(t, 10*time.Second, s.WriteTimeout, "an append may take 10 s")
}
