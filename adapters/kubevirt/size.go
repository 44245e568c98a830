package kubevirt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
)

// What is known before an import to be none.
var (
	errBlocked = errors.New("a link-local address serves no images")        // the URL's, or one that it redirects to
	errPage    = errors.New("the server answers with a page, not an image") // an error page with status 200, most likely
)

const mebibyte = 1 << 20

// volumeSize is the size to ask for, in bytes: the image's with a margin, or the default when that can not be found out.
// CDI adds a file system's own overhead to it. What the server does not tell is no error: the importer may see a server that
// this process does not see.
func (c *Cluster) volumeSize(ctx context.Context, img image) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.ProbeTimeout)
	defer cancel()
	size, err := probeSize(ctx, img)
	if hopeless(err) {
		return 0, terminal(err)
	}
	if size <= 0 {
		return c.DefaultSize, nil
	}
	return withMargin(size, c.SizeMargin), nil
}

// withMargin rounds up to whole mebibytes.
func withMargin(size int64, margin float64) int64 {
	size += int64(float64(size) * margin)
	return (size + mebibyte - 1) / mebibyte * mebibyte
}

// probeSize asks the server how large an image is, without reading it: by HEAD, and where that does not tell, by GET of
// its first byte. 0: the server does not tell.
func probeSize(ctx context.Context, img image) (int64, error) {
	client := &http.Client{Transport: probeTransport(img.insecure)}
	defer client.CloseIdleConnections()
	size, err := ask(ctx, client, http.MethodHead, img)
	if size > 0 || hopeless(err) {
		return size, err
	}
	return ask(ctx, client, http.MethodGet, img)
}

func hopeless(err error) bool { return errors.Is(err, errBlocked) || errors.Is(err, errPage) }

func ask(ctx context.Context, client *http.Client, method string, img image) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, method, img.url, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if method == http.MethodGet {
		req.Header.Set("Range", "bytes=0-0")
	}
	if img.user != "" {
		req.SetBasicAuth(img.user, img.password)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() // unread: this ends the transfer
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/html" && resp.StatusCode < http.StatusMultipleChoices {
		return 0, errPage
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.ContentLength, nil
	case http.StatusPartialContent:
		_, total, _ := strings.Cut(resp.Header.Get("Content-Range"), "/")
		return strconv.ParseInt(total, 10, 64)
	}
	return 0, fmt.Errorf("%s: %s", method, resp.Status)
}

// probeTransport connects to no blocked address, whatever a name resolves to or a redirect says. It uses no proxy, behind
// which that could not be told.
func probeTransport(insecure bool) *http.Transport {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if blocked(at.Addr()) {
			return errBlocked
		}
		return nil
	}}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{InsecureSkipVerify: insecure}, //nolint:gosec // as the client asked: VerifyCertificate false
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true,
	}
}

// metadataV6 is the cloud metadata service of IPv6 networks; 169.254.169.254 is link-local.
var metadataV6 = netip.MustParseAddr("fd00:ec2::254")

func blocked(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || a == metadataV6
}
