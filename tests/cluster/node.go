package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// All as a name stands for every machine or import.
const All = "*"

// Node is the control port of the played nodes: what guests found when they booted, and the faults a test asks for.
// Machines and imports are named "namespace/name"; an import by its DataVolume or claim. A fault lasts until it is
// taken back.
type Node struct{ base string }

// Node returns the cluster's.
func (c *Cluster) Node() *Node { return &Node{base: c.Control} }

// NoBootableDevice is the Result of a boot that found none.
const NoBootableDevice = "no bootable device"

// Boot is what a guest's firmware found, once.
type Boot struct {
	VMI    string    `json:"vmi"` // namespace/name
	UID    string    `json:"uid"`
	Time   time.Time `json:"time"`
	Cause  string    `json:"cause"`  // "start" or "reboot"
	Result string    `json:"result"` // "cdrom:<disk>:<volume id>", "disk:<disk>", "network:<interface>" or NoBootableDevice
	SHA256 string    `json:"sha256"` // of the ISO image that was booted, as its server sent it; in hex
	Tried  []struct {
		Device string `json:"device"`
		Kind   string `json:"kind"`  // "cdrom", "disk" or "network"
		Found  string `json:"found"` // the Result, or why not
	} `json:"tried"` // in the firmware's order, up to the one that booted
}

// Import is a running importer container.
type Import struct {
	Name     string  `json:"name"`
	Pod      string  `json:"pod"`
	Node     string  `json:"node"`
	Received int64   `json:"received"` // bytes, since the container's last start
	Percent  float64 `json:"percent"`  // -1 while the size is unknown
}

// Boots returns all boots of a machine since the nodes started, oldest first; of every machine if vmi is All.
func (n *Node) Boots(ctx context.Context, vmi string) (boots []Boot, err error) {
	query := url.Values{}
	if vmi != All {
		query.Set("vmi", vmi)
	}
	return boots, n.call(ctx, http.MethodGet, "/boots", query, &boots)
}

// Imports returns the importers at work.
func (n *Node) Imports(ctx context.Context) (imports []Import, err error) {
	return imports, n.call(ctx, http.MethodGet, "/importers", nil, &imports)
}

// PowerOff makes a guest power itself off.
func (n *Node) PowerOff(ctx context.Context, vmi string) error {
	return n.post(ctx, "/poweroff", "vmi", vmi)
}

// Reboot makes a guest reboot within its VMI: it boots again, by the same order.
func (n *Node) Reboot(ctx context.Context, vmi string) error {
	return n.post(ctx, "/reboot", "vmi", vmi)
}

// IgnoreACPI makes a guest, or All, deaf to a shutdown request.
func (n *Node) IgnoreACPI(ctx context.Context, vmi string) error {
	return n.post(ctx, "/acpi", "vmi", vmi, "ignore", "true")
}

// ObeyACPI makes a guest, or All, shut down that long after it was asked. At first all do after 500 ms.
func (n *Node) ObeyACPI(ctx context.Context, vmi string, after time.Duration) error {
	return n.post(ctx, "/acpi", "vmi", vmi, "delay", after.String())
}

// HangImport stops the flow of data of an import, or All, while its container keeps running.
func (n *Node) HangImport(ctx context.Context, name string) error {
	return n.post(ctx, "/importer", "name", name, "mode", "hang")
}

// FailImport ends an import's container with exit code 1 and a termination message, at each restart again.
func (n *Node) FailImport(ctx context.Context, name, message string) error {
	return n.post(ctx, "/importer", "name", name, "mode", "fail", "message", message)
}

// HealImport takes HangImport and FailImport of the same name back.
func (n *Node) HealImport(ctx context.Context, name string) error {
	return n.post(ctx, "/importer", "name", name, "mode", "ok")
}

// SetAway cuts a node ("node1", "node2") off: NotReady, and nothing on it moves; or brings it back.
func (n *Node) SetAway(ctx context.Context, node string, away bool) error {
	return n.post(ctx, "/node", "name", node, "away", strconv.FormatBool(away))
}

// Hold keeps every pod whose "namespace/name" contains text as it is; Release lets go.
func (n *Node) Hold(ctx context.Context, text string) error { return n.post(ctx, "/hold", "pod", text) }

// Release takes Hold with the same text back.
func (n *Node) Release(ctx context.Context, text string) error {
	return n.post(ctx, "/release", "pod", text)
}

// ServeNetboot lets a network boot server answer, or not. At first there is none.
func (n *Node) ServeNetboot(ctx context.Context, serve bool) error {
	return n.post(ctx, "/netboot", "on", strconv.FormatBool(serve))
}

func (n *Node) post(ctx context.Context, path string, pairs ...string) error {
	query := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	return n.call(ctx, http.MethodPost, path, query, nil)
}

func (n *Node) call(ctx context.Context, method, path string, query url.Values, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, n.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("node control: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("node control %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("node control %s: %s: %s", path, resp.Status, body)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(body, into)
}
