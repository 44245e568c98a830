package domain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	m := Machine{Namespace: "lab", Name: "web.0", UID: "0f3c9a52-aaaa-bbbb"}
	assert.Equal(t, "lab.web.0", m.ID())
	assert.Equal(t, "ledgerfish-0f3c9a52-12", VolumeName(m, 12))
	assert.Equal(t, "ledger.lab.web.0.0f3c9a52.000001", SegmentName(m, 1))
	got, err := ParseID(m.ID())
	require.NoError(t, err)
	assert.Equal(t, Machine{Namespace: "lab", Name: "web.0"}, got, "a namespace has no dot, so the first one splits")
	for _, bad := range []string{"", "lab", "lab.", ".x", "/x"} {
		_, err := ParseID(bad)
		assert.Equal(t, CodeNotFound, CodeOf(err), bad)
	}
}

func TestLongNamesAreCutButDiffer(t *testing.T) {
	long := strings.Repeat("a", 250)
	a := SegmentName(Machine{Namespace: "lab", Name: long + "1", UID: "0f3c9a52"}, 1)
	b := SegmentName(Machine{Namespace: "lab", Name: long + "2", UID: "0f3c9a52"}, 1)
	assert.LessOrEqual(t, len(a), 253)
	assert.NotEqual(t, a, b)
	assert.LessOrEqual(t, len(LabelValue(long)), 63)
	assert.NotEqual(t, LabelValue(long+"1"), LabelValue(long+"2"))
	assert.Equal(t, "web-0", LabelValue("web-0"))
}

func TestFence(t *testing.T) {
	m := Machine{UID: "0f3c9a52-aaaa"}
	for _, f := range []Fence{{Seq: 7}, {Seq: 7, Step: StepStart}} {
		assert.Equal(t, f, ParseFence(m, f.Format(m)))
	}
	// A clone or a restore carries another VM's fence: it must not hold this VM back.
	assert.Equal(t, Fence{}, ParseFence(Machine{UID: "ffffffff"}, "0f3c9a52:7:start"))
	for _, bad := range []string{"", "0f3c9a52", "0f3c9a52:x", "0f3c9a52:1:start:2"} {
		assert.Equal(t, Fence{}, ParseFence(m, bad), bad)
	}
}

func TestRedactKeepsNoSecret(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h/a.iso":                      "http://h/a.iso",
		"https://u:hunter2@h:8443/a.iso":      "https://h:8443/a.iso",
		"https://h/a.iso?sig=hunter2#hunter2": "https://h/a.iso?redacted",
		"://hunter2":                          "(unreadable URL)",
	} {
		got, changed := Redact(raw)
		assert.Equal(t, want, got)
		assert.Equal(t, raw != want, changed)
		assert.NotContains(t, got, "hunter2")
	}
	assert.NotEqual(t, Digest("https://h/a.iso?sig=1"), Digest("https://h/a.iso?sig=2"))
}
