package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"os"
	"time"
)

// newCertificate makes a certificate for the loopback addresses, and the PEM of the authority that signed it.
func newCertificate() (certificate tls.Certificate, ca []byte, err error) {
	caKey, caTemplate, err := template("ledgerfish test authority")
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	caTemplate.IsCA, caTemplate.BasicConstraintsValid, caTemplate.KeyUsage = true, true, x509.KeyUsageCertSign
	caDER, err := x509.CreateCertificate(rand.Reader, caTemplate, caTemplate, &caKey.PublicKey, caKey)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	key, leaf, err := template("127.0.0.1")
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf.IPAddresses, leaf.DNSNames = []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, leaf, caTemplate, &key.PublicKey, caKey)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, ca, nil
}

func template(name string) (*ecdsa.PrivateKey, *x509.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	now := time.Now()
	return key, &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}, err
}

// discardLog is for servers whose clients end connections all the time.
func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

// writeCertificate writes a certificate for the loopback addresses, its key, and its authority.
func writeCertificate(certFile, keyFile, caFile string) error {
	certificate, ca, err := newCertificate()
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path    string
		content []byte
	}{
		{certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})},
		{keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})},
		{caFile, ca},
	} {
		if err := os.WriteFile(file.path, file.content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
