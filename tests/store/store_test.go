package store_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/eventstore/storetest"
)

func TestConfigMapsConform(t *testing.T) {
	storetest.Run(t, func(t *testing.T, o eventstore.Options) (one, two eventstore.Store) {
		ns := namespace(t)
		return open(t, wrapped(t, nil), ns, o), open(t, wrapped(t, nil), ns, o)
	})
}

// writers in each of two processes, and what each appends.
const (
	writers = 32
	each    = 5
)

// 64 writers through two processes on one log: every acknowledged event is there, once, at its seq.
func TestConcurrentWritersLoseNothing(t *testing.T) {
	ns, m := namespace(t), storetest.Machine("web-0")
	one, two := open(t, wrapped(t, nil), ns, eventstore.Options{}), open(t, wrapped(t, nil), ns, eventstore.Options{})
	acked := storetest.Storm(t, m, writers, each, storetest.NewLedger(one), storetest.NewLedger(two))
	assert.Len(t, acked, 2*writers*each)
	storetest.RequireAll(t, one, m, acked)
}

// The same storm loses events when updates carry no resourceVersion, which the API server allows: so the test above can
// fail, and that one field is what it depends on.
func TestWithoutResourceVersionTheSameStormLosesEvents(t *testing.T) {
	ns, m := namespace(t), storetest.Machine("web-0")
	// One segment: a sealed one is protected by its immutability, whatever the writers do.
	o := eventstore.Options{SegmentEvents: 10_000, SegmentBytes: 512 << 10}
	one, two := open(t, wrapped(t, stripVersion), ns, o), open(t, wrapped(t, stripVersion), ns, o)
	acked := storetest.Storm(t, m, writers, each, storetest.NewLedger(one), storetest.NewLedger(two))
	lost := storetest.Lost(t, one, m, acked)
	t.Logf("%d of %d acknowledged events are lost", len(lost), len(acked))
	assert.NotEmpty(t, lost)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// stripVersion takes the resourceVersion out of every update of a ConfigMap.
func stripVersion(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/configmaps/") {
			return next.RoundTrip(r)
		}
		var o map[string]any
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			return nil, err
		}
		meta := o["metadata"].(map[string]any)
		if _, ok := meta["resourceVersion"]; !ok {
			return nil, fmt.Errorf("an update without a resourceVersion: %v", meta)
		}
		delete(meta, "resourceVersion")
		body, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return next.RoundTrip(r)
	})
}

// requests counts what is sent.
type requests struct {
	mu    sync.Mutex
	sent  []string // methods
	bytes int64
}

func (c *requests) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		c.mu.Lock()
		c.sent = append(c.sent, r.Method)
		c.bytes += max(r.ContentLength, 0)
		c.mu.Unlock()
		return next.RoundTrip(r)
	})
}

func (c *requests) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent
	c.sent = nil
	return sent
}

func TestAnAppendIsOneWriteAndNoRead(t *testing.T) {
	count := &requests{}
	s, m := open(t, wrapped(t, count.wrap), namespace(t), eventstore.Options{SegmentEvents: 3}), storetest.Machine("web-0")
	l := storetest.NewLedger(s)
	for i, want := range [][]string{
		{http.MethodGet, http.MethodPost}, // the head is not known yet
		{http.MethodPut},
		{http.MethodPut},                                  // fills the segment, and seals it
		{http.MethodPost, http.MethodGet, http.MethodPut}, // opens the next; and then, nobody waiting, marks the one before
		{http.MethodPut},
	} {
		_, _, err := l.Execute(t.Context(), m, storetest.Say("x"))
		require.NoError(t, err)
		var sent []string
		require.Eventually(t, func() bool { sent = append(sent, count.take()...); return len(sent) >= len(want) }, 20*time.Second, time.Millisecond)
		assert.Equal(t, want, sent, "append %d", i)
	}
	_, err := l.Refresh(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, []string{http.MethodGet}, count.take(), "a read of a known log is one request")
}

// What an operator sees, and what the API server protects.
func TestASegmentAsAnObject(t *testing.T) {
	ns, m := namespace(t), storetest.Machine("web-0")
	client := wrapped(t, nil)
	s := open(t, client, ns, eventstore.Options{SegmentEvents: 2})
	storetest.Fill(t, s, m, 2)
	storetest.Fill(t, s, m, 1)
	maps := client.CoreV1().ConfigMaps(ns)

	var first *corev1.ConfigMap
	require.Eventually(t, func() (retired bool) {
		var err error
		first, err = maps.Get(t.Context(), domain.SegmentName(m, 1), metav1.GetOptions{})
		require.NoError(t, err)
		_, retired = first.Labels[domain.LabelSealed]
		return retired
	}, 20*time.Second, 10*time.Millisecond)
	assert.Equal(t, map[string]string{domain.LabelRecord: "log", domain.LabelMachine: "web-0", domain.LabelNamespace: "tenant-a",
		domain.LabelUID: m.UID, domain.LabelSegment: "1", domain.LabelSealed: "true"}, first.Labels)
	assert.Equal(t, "fill 1", first.Annotations[domain.AnnotationSummary])
	assert.NotContains(t, first.Data, "start")
	assert.Len(t, strings.Split(strings.TrimSpace(first.Data["log"]), "\n"), 2)
	assert.Empty(t, first.OwnerReferences)
	first.Data["log"] += "{}\n"
	_, err := maps.Update(t.Context(), first, metav1.UpdateOptions{})
	assert.True(t, apierrors.IsInvalid(err), "a sealed segment is immutable: %v", err)

	second, err := maps.Get(t.Context(), domain.SegmentName(m, 2), metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotContains(t, second.Labels, domain.LabelSealed)
	assert.Nil(t, second.Immutable)
	assert.Regexp(t, `^\{"v":1,"seq":2,"prev":"[0-9a-f]{32}","state":\{"before":"fill 0"\}\}$`, second.Data["start"])
}
