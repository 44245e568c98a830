package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/volume"
)

const capacity = 64 << 10

func image() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 1<<10) } // 16 KiB

// newJob imports url into the volume "disk" of a store.
func newJob(t *testing.T, url string) (*Job, *volume.Store) {
	t.Helper()
	store := volume.NewStore(t.TempDir())
	require.NoError(t, store.Create("disk", capacity, volume.Blank))
	return &Job{
		Source: Source{URL: url}, Size: capacity, Capacity: capacity,
		Scratch: func() (*volume.Disk, error) { return store.Disk("scratch", capacity) },
		Target:  func() (*volume.Disk, error) { return store.Disk("disk", capacity) },
	}, store
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

func serveImage(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(image()))
}

func pemOf(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

func content(t *testing.T, store *volume.Store) []byte {
	t.Helper()
	f, err := store.Open("disk")
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	return data
}

func TestImportWritesTheImageAndGrowsTheDisk(t *testing.T) {
	job, store := newJob(t, serve(t, serveImage))
	sum := sha256.Sum256(image())
	job.Checksum = "sha256:" + hex.EncodeToString(sum[:])
	result := job.Run(t.Context())
	assert.Equal(t, Result{0, `{"scratchSpaceRequired":false,"preallocationApplied":false,"message":"Import Complete"}`}, result)
	data := content(t, store)
	require.Len(t, data, capacity)
	assert.Equal(t, image(), data[:len(image())])
	percent, ok := job.Progress()
	assert.True(t, ok)
	assert.Equal(t, 100.0, percent)
}

// CDI adds the scratch volume when the first container asks for it (http-datasource.go, ErrRequiresScratchSpace).
func TestImportWithoutScratchAsksForIt(t *testing.T) {
	job, store := newJob(t, serve(t, serveImage))
	job.Scratch = nil
	assert.Equal(t, Result{0, `{"scratchSpaceRequired":true,"preallocationApplied":false}`}, job.Run(t.Context()))
	assert.Equal(t, make([]byte, capacity), content(t, store))
}

// What a failed import leaves on the volume must not look like an image; the message is what CDI shows.
func TestFailures(t *testing.T) {
	refused := httptest.NewServer(http.HandlerFunc(serveImage))
	refused.Close()
	tls := httptest.NewTLSServer(http.HandlerFunc(serveImage))
	defer tls.Close()
	for name, c := range map[string]struct {
		url      string
		change   func(*Job)
		exitCode int32
		message  string
	}{
		"404": {serve(t, http.NotFound), nil, 1,
			"Unable to connect to http data source: expected status code 200, got 404. Status: 404 Not Found"},
		"refused":         {refused.URL, nil, 1, "connect: connection refused"},
		"bad certificate": {tls.URL, nil, 1, "x509: certificate signed by unknown authority"},
		"too small": {serve(t, serveImage), func(j *Job) { j.Size = 1000 }, 1,
			"Unable to process data: virtual image size 16384 is larger than the reported available storage 1000. A larger PVC is required"},
		"too small, length unknown": {serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(image()[:1])
			w.(http.Flusher).Flush()
			for range 8 {
				_, _ = w.Write(image())
			}
		}), nil, 1, "no space left on device"},
		"cut off": {serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "16384")
			_, _ = w.Write(image()[:100])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}), nil, 1, "Unable to process data: Unable to transfer source data to scratch space: unexpected EOF"},
		"checksum": {serve(t, serveImage), func(j *Job) { j.Checksum = "sha256:00" }, 0, "checksum mismatch: expected sha256:00"},
	} {
		t.Run(name, func(t *testing.T) {
			job, store := newJob(t, c.url)
			if c.change != nil {
				c.change(job)
			}
			result := job.Run(t.Context())
			assert.Equal(t, c.exitCode, result.ExitCode)
			assert.Contains(t, result.Message, c.message)
			assert.Equal(t, make([]byte, capacity), content(t, store))
		})
	}
}

func TestPrivateAuthorityAndCredentials(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if user != "reader" || password != "secret" || r.Header.Get("X-Token") != "t" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		serveImage(w, r)
	}))
	defer server.Close()
	job, _ := newJob(t, server.URL)
	job.Source.CA = [][]byte{pemOf(server)}
	job.Source.AccessKey, job.Source.SecretKey, job.Source.Headers = "reader", "secret", []string{"X-Token: t"}
	assert.Zero(t, job.Run(t.Context()).ExitCode)
	assert.EqualValues(t, len(image()), job.Received())
}

// A hanging import shows how far it came and ends with its container.
func TestHangingImportEndsWithItsContext(t *testing.T) {
	half := make(chan struct{})
	job, _ := newJob(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "16384")
		if r.Method == http.MethodHead {
			return
		}
		_, _ = w.Write(image()[:8192])
		w.(http.Flusher).Flush()
		close(half)
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result)
	go func() { done <- job.Run(ctx) }()
	<-half
	require.Eventually(t, func() bool { p, _ := job.Progress(); return p == 50 }, 10*time.Second, 5*time.Millisecond)
	cancel()
	assert.Equal(t, int32(1), (<-done).ExitCode)
}
