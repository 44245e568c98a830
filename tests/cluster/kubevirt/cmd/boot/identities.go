package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

type keypair struct {
	cert            *x509.Certificate
	key             *rsa.PrivateKey
	certPEM, keyPEM []byte
}

// writeIdentities writes KubeVirt's CA, the certificates it signs and one kubeconfig per component. The CA is returned
// as PEM.
func writeIdentities(dir string, cfg *rest.Config) ([]byte, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ca, err := issue("kubevirt.io", nil, nil)
	if err != nil {
		return nil, err
	}
	certs := map[string]*keypair{"kubevirt-ca": ca}
	for name, names := range map[string][]string{
		"virt-api":        {"virt-api.kubevirt.pod.cluster.local", "localhost", "virt-api", "virt-api.kubevirt", "virt-api.kubevirt.svc"},
		"virt-controller": {"virt-controller.kubevirt.pod.cluster.local", "localhost"},
		"handler-server":  {"kubevirt.io:system:node:virt-handler", "localhost"},
		"handler-client":  {"kubevirt.io:system:client:virt-handler"},
	} {
		if certs[name], err = issue(names[0], names[1:], ca); err != nil {
			return nil, err
		}
	}
	for name, pair := range certs {
		if err := os.WriteFile(filepath.Join(dir, name+".crt"), pair.certPEM, 0o600); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".key"), pair.keyPEM, 0o600); err != nil {
			return nil, err
		}
	}
	for _, account := range []string{"kubevirt-apiserver", "kubevirt-controller"} {
		if err := writeKubeconfig(filepath.Join(dir, account+".kubeconfig"), account, cfg); err != nil {
			return nil, err
		}
	}
	return ca.certPEM, nil
}

// writeKubeconfig acts as a ServiceAccount of KubeVirt, with the admin's credentials.
func writeKubeconfig(path, account string, cfg *rest.Config) error {
	c := clientcmdapi.NewConfig()
	c.Clusters["cluster"] = &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	c.AuthInfos[account] = &clientcmdapi.AuthInfo{ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData,
		Impersonate:       "system:serviceaccount:" + namespace + ":" + account,
		ImpersonateGroups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}}
	c.Contexts[account] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: account}
	c.CurrentContext = account
	return clientcmd.WriteToFile(*c, path)
}

// issue makes a certificate for server and client use, signed by ca, or a CA when ca is nil.
func issue(name string, dns []string, ca *keypair) (*keypair, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: dns,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0), BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	parent, signer := t, key
	if ca == nil {
		t.IsCA, t.KeyUsage = true, t.KeyUsage|x509.KeyUsageCertSign
	} else {
		parent, signer = ca.cert, ca.key
		if len(dns) > 0 {
			t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &keypair{cert: cert, key: key, certPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keyPEM: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})}, nil
}
