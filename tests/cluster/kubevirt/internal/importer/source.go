package importer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Source is where the image comes from and how to ask for it.
type Source struct {
	URL                  string
	AccessKey, SecretKey string   // HTTP Basic, when both are set
	CA                   [][]byte // PEM, besides the system's
	Headers              []string // "Name: value"
}

type download struct {
	body   io.ReadCloser
	length int64 // 0 when the server does not say
}

// open asks with HEAD for the length and with GET for the data. A HEAD that fails is no failure.
func (s Source) open(ctx context.Context) (*download, error) {
	if _, err := url.Parse(s.URL); err != nil {
		return nil, fmt.Errorf("unable to parse endpoint %q: %w", s.URL, err)
	}
	client := s.client()
	length := s.head(ctx, client)
	resp, err := s.do(ctx, client, http.MethodGet)
	if err != nil {
		return nil, fmt.Errorf("HTTP request errored: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("expected status code %d, got %d. Status: %s", http.StatusOK, resp.StatusCode, resp.Status)
	}
	if length <= 0 {
		length = max(resp.ContentLength, 0)
	}
	return &download{body: resp.Body, length: length}, nil
}

func (s Source) head(ctx context.Context, client *http.Client) int64 {
	resp, err := s.do(ctx, client, http.MethodHead)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0
	}
	return max(resp.ContentLength, 0)
}

func (s Source) do(ctx context.Context, client *http.Client, method string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL, nil)
	if err != nil {
		return nil, err
	}
	s.decorate(req)
	return client.Do(req)
}

func (s Source) decorate(req *http.Request) {
	if s.AccessKey != "" && s.SecretKey != "" {
		req.SetBasicAuth(s.AccessKey, s.SecretKey)
	}
	for _, h := range s.Headers {
		if name, value, ok := strings.Cut(h, ":"); ok {
			req.Header.Add(name, strings.TrimSpace(value))
		}
	}
	req.Header.Set("User-Agent", "cdi-golang-importer")
}

// client has no time limit: the real importer gives up only after ten minutes without a byte.
func (s Source) client() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.DisableKeepAlives = true // one download per client
	if len(s.CA) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		for _, pem := range s.CA {
			pool.AppendCertsFromPEM(pem)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return errors.New("stopped after 10 redirects")
		}
		s.decorate(r) // a redirect would lose them
		return nil
	}}
}
