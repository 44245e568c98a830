package kubevirt

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const gibibyte = 1 << 30

// C22: the size of an image by what servers really answer; what is not known is the default.
func TestTheVolumeIsLargeEnoughForTheImage(t *testing.T) {
	const unknown = 5 * gibibyte
	serve := func(head, get http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "identity", r.Header.Get("Accept-Encoding"))
			if r.Method == http.MethodHead {
				head(w, r)
				return
			}
			get(w, r)
		}
	}
	fail := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	length := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "1073741824") }
	chunked := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		_, _ = w.Write([]byte("x"))
	}
	ranged := func(total string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, "bytes=0-0", r.Header.Get("Range"))
			w.Header().Set("Content-Range", "bytes 0-0/"+total)
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write([]byte("x"))
		}
	}
	want := withMargin(gibibyte, 0.03)
	require.Greater(t, want, int64(gibibyte))
	for name, row := range map[string]struct {
		handler http.HandlerFunc
		size    int64
	}{
		"HEAD tells":                      {serve(length, fail(500)), want},
		"HEAD 405, GET of a range":        {serve(fail(405), ranged("1073741824")), want},
		"HEAD 405, GET ignores the range": {serve(fail(405), length), want},
		"HEAD without a length":           {serve(chunked, ranged("1073741824")), want},
		"range without a total":           {serve(fail(405), ranged("*")), unknown},
		"never a length":                  {serve(chunked, chunked), unknown},
		"404":                             {fail(404), unknown},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/elsewhere" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			length(w, r)
		}, want},
		"redirect for ever": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(row.handler)
			defer server.Close()
			c := &Cluster{Options: Options{DefaultSize: unknown}.withDefaults()}
			got, err := c.volumeSize(context.Background(), image{url: server.URL + "/a.iso"})
			require.NoError(t, err)
			assert.Equal(t, row.size, got)
		})
	}
}

func TestAServerThatHangsCostsTheProbeTimeoutAndNoMore(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	c := &Cluster{Options: Options{ProbeTimeout: 50 * time.Millisecond, DefaultSize: 42}.withDefaults()}
	start := time.Now()
	got, err := c.volumeSize(context.Background(), image{url: server.URL})
	require.NoError(t, err)
	assert.EqualValues(t, 42, got)
	assert.Less(t, time.Since(start), 5*time.Second)
}

// C25: neither the URL nor a redirect gets this process to ask a metadata service.
func TestBlockedAddressesAreTerminal(t *testing.T) {
	server := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/latest/meta-data", http.StatusFound))
	defer server.Close()
	c := &Cluster{Options: Options{}.withDefaults()}
	for _, url := range []string{server.URL, "http://169.254.169.254/", "http://[fe80::1]/", "http://[::ffff:169.254.169.254]/"} {
		_, err := c.volumeSize(context.Background(), image{url: url})
		assert.ErrorAs(t, err, &terminalError{}, url)
		assert.ErrorIs(t, err, errBlocked, url)
	}
	for _, a := range []string{"127.0.0.1", "10.0.0.1", "::1", "fd00::1", "192.0.2.1"} {
		assert.False(t, blocked(netip.MustParseAddr(a)), a)
	}
}

// C22: an error page with status 200 is not imported, let alone inserted.
func TestAPageIsNoImage(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<html>please log in</html>"))
	}))
	defer server.Close()
	c := &Cluster{Options: Options{DefaultSize: 42}.withDefaults()}
	_, err := c.volumeSize(context.Background(), image{url: server.URL})
	assert.ErrorAs(t, err, &terminalError{})
	status = http.StatusServiceUnavailable // may pass: the importer is to tell
	size, err := c.volumeSize(context.Background(), image{url: server.URL})
	require.NoError(t, err)
	assert.EqualValues(t, 42, size)
}

func TestCredentialsAndCertificateChecksAreTheImages(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "u" || password != "p" {
			w.WriteHeader(401)
			return
		}
		w.Header().Set("Content-Length", "1048576")
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a refused certificate is what is tested
	server.StartTLS()
	defer server.Close()
	ctx := context.Background()
	_, err := probeSize(ctx, image{url: server.URL, user: "u", password: "p"})
	require.Error(t, err)
	assert.True(t, strings.Contains(err.Error(), "certificate"), err)
	size, err := probeSize(ctx, image{url: server.URL, user: "u", password: "p", insecure: true})
	require.NoError(t, err)
	assert.EqualValues(t, 1048576, size)
}

func TestMarginRoundsUpToMebibytes(t *testing.T) {
	assert.EqualValues(t, 2*mebibyte, withMargin(mebibyte, 0.03))
	assert.EqualValues(t, mebibyte, withMargin(1, 0.03))
	assert.EqualValues(t, gibibyte, withMargin(gibibyte, 0))
}
