package harness

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func serve(t *testing.T, https bool) *Images {
	t.Helper()
	s, err := ServeImages(https)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func TestADownloadLastsAsLongAsAsked(t *testing.T) {
	s := serve(t, false)
	iso := NewISO("SLOW", 256<<10)
	url := s.Put("slow.iso", Image{ISO: iso, Takes: 600 * time.Millisecond})
	start := time.Now()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, iso.Data, data)
	assert.GreaterOrEqual(t, time.Since(start), 500*time.Millisecond)
	assert.Equal(t, 1, s.Gets("slow.iso"))
}

func TestFaultsOfTheImageServer(t *testing.T) {
	s := serve(t, false)
	iso := NewISO("FAULTY", 0)
	good := s.Put("good.iso", Image{ISO: iso})
	for name, row := range map[string]struct {
		image  Image
		method string
		status int
	}{
		"not found": {Image{Status: http.StatusNotFound}, http.MethodGet, http.StatusNotFound},
		"no HEAD":   {Image{ISO: iso, NoHead: true}, http.MethodHead, http.StatusMethodNotAllowed},
		"redirect":  {Image{Redirect: good}, http.MethodGet, http.StatusOK},
		"no length": {Image{ISO: iso, NoLength: true}, http.MethodGet, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequest(row.method, s.Put(name, row.image), nil)
			require.NoError(t, err)
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			assert.Equal(t, row.status, resp.StatusCode)
			if row.image.NoLength {
				assert.Equal(t, int64(-1), resp.ContentLength)
			}
		})
	}
	_, err := http.Get(s.Put("refused.iso", Image{Refuse: true}))
	assert.Error(t, err)
}

func TestAHangingDownloadNeverEndsByItself(t *testing.T) {
	s := serve(t, false)
	client := http.Client{Timeout: 500 * time.Millisecond}
	resp, err := client.Get(s.Put("hang.iso", Image{ISO: NewISO("HANG", 0), Hang: true, Takes: 200 * time.Millisecond}))
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.Error(t, err)
	assert.NotEmpty(t, data)
}

func TestHTTPSNeedsTheAuthority(t *testing.T) {
	s := serve(t, true)
	url := s.Put("x.iso", Image{ISO: NewISO("TLS", 0)})
	_, err := http.Get(url)
	require.Error(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(s.CA))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	resp, err := client.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}
