package redfish

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"os"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// Certificate is the server's certificate and key. Files are read again when they change; while they can not be read,
// the last good pair goes on.
type Certificate struct {
	certFile, keyFile string
	log               logrus.FieldLogger

	mu   sync.Mutex
	seen string // what the files looked like when pair was read
	pair *tls.Certificate
}

// LoadCertificate reads PEM files. It fails when they are no pair.
func LoadCertificate(certFile, keyFile string, log logrus.FieldLogger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, log: log}
	c.seen = c.look()
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// GenerateCertificate makes a self-signed X.509 v3 certificate that is only in memory: another one after every start.
// Hosts are DNS names and IP addresses.
func GenerateCertificate(hosts []string, now time.Time) (*Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("generate a serial number: %w", err)
	}
	template := x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "Ledgerfish"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("generate a certificate: %w", err)
	}
	return &Certificate{pair: &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}, nil
}

// Get is for tls.Config.GetCertificate.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.certFile != "" {
		if seen := c.look(); seen != c.seen {
			c.seen = seen
			if err := c.load(); err != nil {
				c.log.WithError(err).Error("certificate not reloaded")
			} else {
				c.log.WithField("file", c.certFile).Info("certificate reloaded")
			}
		}
	}
	return c.pair, nil
}

func (c *Certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("load the certificate %s: %w", c.certFile, err)
	}
	c.pair = &pair
	return nil
}

// look tells two states of the files apart without reading them. A Secret's volume changes by a new symbolic link, so
// the file behind it is another one then.
func (c *Certificate) look() string {
	var s string
	for _, file := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(file)
		if err != nil {
			s += "absent;"
			continue
		}
		s += fmt.Sprintf("%d %d;", info.ModTime().UnixNano(), info.Size())
	}
	return s
}
