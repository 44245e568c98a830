package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Node is the node stub's control port: what the guests found, and the faults that a test wants.
type Node struct{ base string }

// Boot is what a guest's firmware found, once.
type Boot struct {
	VMI    string    `json:"vmi"` // namespace/name
	UID    string    `json:"uid"`
	Time   time.Time `json:"time"`
	Cause  string    `json:"cause"`  // "start" or "reboot"
	Result string    `json:"result"` // "cdrom:<disk>:<volume id>", "disk:<disk>", "network:<interface>" or "no bootable device"
	SHA256 string    `json:"sha256"` // of the ISO image that was booted
}

// Boots are all boots of a machine, or of every machine when it is "", oldest first.
func (n Node) Boots(ctx context.Context, machine string) (boots []Boot, err error) {
	query := url.Values{}
	if machine != "" {
		query.Set("vmi", machine)
	}
	err = n.call(ctx, http.MethodGet, "/boots", query, &boots)
	return boots, err
}

// PowerOff makes a guest power itself off.
func (n Node) PowerOff(ctx context.Context, machine string) error {
	return n.call(ctx, http.MethodPost, "/poweroff", url.Values{"vmi": {machine}}, nil)
}

// Reboot makes a guest boot again inside its instance.
func (n Node) Reboot(ctx context.Context, machine string) error {
	return n.call(ctx, http.MethodPost, "/reboot", url.Values{"vmi": {machine}}, nil)
}

// IgnoreACPI makes a guest deaf to a graceful stop.
func (n Node) IgnoreACPI(ctx context.Context, machine string) error {
	return n.call(ctx, http.MethodPost, "/acpi", url.Values{"vmi": {machine}, "ignore": {"true"}}, nil)
}

func (n Node) call(ctx context.Context, method, path string, query url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, n.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("node control %s: %s: %s", path, resp.Status, body)
	case into == nil:
		return nil
	}
	return json.Unmarshal(body, into)
}
