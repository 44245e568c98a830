package harness

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Client speaks Redfish as the tests need it: it checks nothing and hides nothing.
type Client struct {
	URL            string
	User, Password string
	HTTP           *http.Client
}

// Reply is an answer.
type Reply struct {
	Status int
	Header http.Header
	Raw    []byte
	Body   map[string]any // of Raw, when that is a JSON object
	Took   time.Duration
}

// Client is one for this bridge, with the tests' account.
func (b *Bridge) Client() (*Client, error) {
	ca, err := os.ReadFile(b.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 64}
	return &Client{URL: b.URL, User: User, Password: Password, HTTP: &http.Client{Transport: transport, Timeout: 30 * time.Second}}, nil
}

// Do sends a request. A body that is not a string is sent as JSON; nil: none. header are names and values in turn.
func (c *Client) Do(ctx context.Context, method, path string, body any, header ...string) (Reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, nil)
	if err != nil {
		return Reply{}, err
	}
	if body != nil {
		text, ok := body.(string)
		if !ok {
			encoded, err := json.Marshal(body)
			if err != nil {
				return Reply{}, err
			}
			text = string(encoded)
		}
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		req.Header.Set("Content-Type", "application/json")
	}
	if c.User != "" {
		req.SetBasicAuth(c.User, c.Password)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	start := time.Now()
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	reply := Reply{Status: resp.StatusCode, Header: resp.Header}
	if reply.Raw, err = io.ReadAll(resp.Body); err != nil {
		return Reply{}, err
	}
	reply.Took = time.Since(start)
	_ = json.Unmarshal(bytes.TrimSpace(reply.Raw), &reply.Body) // not every answer has one
	return reply, nil
}

// Err is nil for a 2xx.
func (r Reply) Err() error {
	if r.Status >= 200 && r.Status < 300 {
		return nil
	}
	return fmt.Errorf("%d %s", r.Status, r.Raw)
}

// At gives a member by its path; nil when it is not there.
func (r Reply) At(path ...string) any {
	var at any = r.Body
	for _, name := range path {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[name]
	}
	return at
}

// SystemPath is where a machine is.
func SystemPath(m VM) string { return "/redfish/v1/Systems/" + m.ID() }

func mediaPath(m VM) string { return SystemPath(m) + "/VirtualMedia/" + domain.SlotCd }

// Insert posts InsertMedia, as Ironic does.
func (c *Client) Insert(ctx context.Context, m VM, image string) (Reply, error) {
	return c.Do(ctx, http.MethodPost, mediaPath(m)+"/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": image})
}

// Eject posts EjectMedia without a body, as Ironic does.
func (c *Client) Eject(ctx context.Context, m VM) (Reply, error) {
	return c.Do(ctx, http.MethodPost, mediaPath(m)+"/Actions/VirtualMedia.EjectMedia", nil)
}

// Media gets the slot.
func (c *Client) Media(ctx context.Context, m VM) (Reply, error) {
	return c.Do(ctx, http.MethodGet, mediaPath(m), nil)
}

// SetBoot patches the boot override.
func (c *Client) SetBoot(ctx context.Context, m VM, target domain.BootTarget, enabled domain.BootEnabled) (Reply, error) {
	return c.Do(ctx, http.MethodPatch, SystemPath(m), map[string]any{"Boot": map[string]any{
		"BootSourceOverrideTarget": target, "BootSourceOverrideEnabled": enabled}})
}

// Reset posts ComputerSystem.Reset.
func (c *Client) Reset(ctx context.Context, m VM, kind domain.ResetType) (Reply, error) {
	return c.Do(ctx, http.MethodPost, SystemPath(m)+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": kind})
}

// System gets the machine.
func (c *Client) System(ctx context.Context, m VM) (Reply, error) {
	return c.Do(ctx, http.MethodGet, SystemPath(m), nil)
}
