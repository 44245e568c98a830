package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// pki holds the paths of one certificate authority and what it has signed, and the admin's credentials as PEM.
type pki struct {
	ca, serverCert, serverKey, proxyCert, proxyKey, saKey string
	caPEM, adminCertPEM, adminKeyPEM                      []byte
}

// writePKI makes all certificates anew; only the service account key outlives a start, so that tokens stay valid.
func writePKI(dir string) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	p := &pki{ca: path("ca.crt"), serverCert: path("server.crt"), serverKey: path("server.key"),
		proxyCert: path("front-proxy.crt"), proxyKey: path("front-proxy.key"), saKey: path("sa.key")}
	ca, err := newAuthority("ledgerfish-test-cluster")
	if err != nil {
		return nil, err
	}
	p.caPEM = ca.certPEM
	loopback := &x509.Certificate{Subject: pkix.Name{CommonName: "kube-apiserver"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}, DNSNames: []string{"localhost", "kubernetes.default.svc"}}
	serverCert, serverKey, err := ca.issue(loopback)
	if err != nil {
		return nil, err
	}
	clientUse := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	p.adminCertPEM, p.adminKeyPEM, err = ca.issue(&x509.Certificate{ExtKeyUsage: clientUse,
		Subject: pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}})
	if err != nil {
		return nil, err
	}
	proxyCert, proxyKey, err := ca.issue(&x509.Certificate{ExtKeyUsage: clientUse, Subject: pkix.Name{CommonName: "front-proxy"}})
	if err != nil {
		return nil, err
	}
	for file, content := range map[string][]byte{p.ca: ca.certPEM, p.serverCert: serverCert, p.serverKey: serverKey, p.proxyCert: proxyCert, p.proxyKey: proxyKey} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
	}
	return p, keepServiceAccountKey(p.saKey)
}

func keepServiceAccountKey(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, keyPEM, err := newKey()
	if err != nil {
		return err
	}
	return os.WriteFile(path, keyPEM, 0o600)
}

type authority struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	certPEM []byte
}

func newAuthority(name string) (*authority, error) {
	key, _, err := newKey()
	if err != nil {
		return nil, err
	}
	cert := template()
	cert.Subject, cert.IsCA, cert.BasicConstraintsValid = pkix.Name{CommonName: name}, true, true
	cert.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key, certPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// issue signs a certificate for a new key; want gives subject, usage and names.
func (a *authority) issue(want *x509.Certificate) (certPEM, keyPEM []byte, err error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	cert := template()
	cert.Subject, cert.ExtKeyUsage, cert.IPAddresses, cert.DNSNames = want.Subject, want.ExtKeyUsage, want.IPAddresses, want.DNSNames
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), keyPEM, nil
}

func template() *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return &x509.Certificate{SerialNumber: serial, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature}
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
