package domain

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// golden is one line of every event type as version 1 wrote it; a released line is never edited.
const golden = `{"seq":1,"time":"2026-03-01T10:00:00.000Z","type":"MachineAdopted","v":1,"id":"i","by":"watch","data":{"namespace":"lab","name":"web-0","uid":"0f3c9a52-1111"},"prev":"00000000000000000000000000000000"}
{"seq":2,"time":"2026-03-01T10:00:00.001Z","type":"MachineLost","v":1,"id":"i","by":"watch","data":{"reason":"deleted"},"prev":"x"}
{"seq":3,"time":"2026-03-01T10:00:00.001Z","type":"MediaRequested","v":1,"id":"i","by":"admin@10.0.0.1","corr":"c","data":{"slot":"Cd","image":"http://h/a.iso?redacted","digest":"d","secret":"s","insecure":true,"deadline":"2026-03-01T11:00:00Z"},"prev":"x"}
{"seq":4,"time":"2026-03-01T10:00:00.001Z","type":"MediaRefused","v":1,"id":"i","by":"admin@10.0.0.1","corr":"c","data":{"slot":"Cd","image":"http://h/a.iso","reason":"r"},"prev":"x"}
{"seq":5,"time":"2026-03-01T10:00:00.001Z","type":"ImportStarted","v":1,"id":"i","by":"worker","cause":3,"corr":"c","data":{"volume":"ledgerfish-0f3c9a52-3","uid":"u"},"prev":"x"}
{"seq":6,"time":"2026-03-01T10:00:00.001Z","type":"ImportCompleted","v":1,"id":"i","by":"watch","cause":3,"data":{"deadline":"2026-03-01T11:00:00Z"},"prev":"x"}
{"seq":7,"time":"2026-03-01T10:00:00.001Z","type":"MediaInserted","v":1,"id":"i","by":"worker","cause":3,"data":{},"prev":"x"}
{"seq":8,"time":"2026-03-01T10:00:00.001Z","type":"ImportFailed","v":1,"id":"i","by":"watch","cause":3,"data":{"reason":"404"},"prev":"x"}
{"seq":9,"time":"2026-03-01T10:00:00.001Z","type":"ImportExpired","v":1,"id":"i","by":"timer","cause":3,"data":{"deadline":"2026-03-01T11:00:00Z"},"prev":"x"}
{"seq":10,"time":"2026-03-01T10:00:00.001Z","type":"EjectRequested","v":1,"id":"i","by":"admin@10.0.0.1","data":{"slot":"Cd","medium":3,"reason":"r"},"prev":"x"}
{"seq":11,"time":"2026-03-01T10:00:00.001Z","type":"MediaEjected","v":1,"id":"i","by":"worker","cause":3,"data":{},"prev":"x"}
{"seq":12,"time":"2026-03-01T10:00:00.001Z","type":"VolumeSwept","v":1,"id":"i","by":"worker","data":{"volume":"v","uid":"u","reason":"r"},"prev":"x"}
{"seq":13,"time":"2026-03-01T10:00:00.001Z","type":"PowerRequested","v":1,"id":"i","by":"admin@10.0.0.1","data":{"resetType":"ForceRestart","goal":"restart","force":true,"vmi":"u","deadline":"2026-03-01T11:00:00Z"},"prev":"x"}
{"seq":14,"time":"2026-03-01T10:00:00.001Z","type":"RequestRepeated","v":1,"id":"i","by":"admin@10.0.0.1","cause":13,"data":{},"prev":"x"}
{"seq":15,"time":"2026-03-01T10:00:00.001Z","type":"PowerDeferred","v":1,"id":"i","by":"gate","cause":13,"data":{"media":3,"until":"2026-03-01T11:00:00Z"},"prev":"x"}
{"seq":16,"time":"2026-03-01T10:00:00.001Z","type":"PowerReleased","v":1,"id":"i","by":"gate","cause":13,"data":{"goal":"start","vmi":"u","deadline":"2026-03-01T11:00:00Z"},"prev":"x"}
{"seq":17,"time":"2026-03-01T10:00:00.001Z","type":"PowerCancelled","v":1,"id":"i","by":"gate","cause":13,"data":{"reason":"r"},"prev":"x"}
{"seq":18,"time":"2026-03-01T10:00:00.001Z","type":"PowerRefused","v":1,"id":"i","by":"admin@10.0.0.1","data":{"resetType":"On","reason":"r"},"prev":"x"}
{"seq":19,"time":"2026-03-01T10:00:00.001Z","type":"PowerApplied","v":1,"id":"i","by":"worker","cause":13,"data":{"vmi":"u"},"prev":"x"}
{"seq":20,"time":"2026-03-01T10:00:00.001Z","type":"PowerFailed","v":1,"id":"i","by":"timer","cause":13,"data":{"reason":"r"},"prev":"x"}
{"seq":21,"time":"2026-03-01T10:00:00.001Z","type":"PowerObserved","v":1,"id":"i","by":"watch","data":{"state":"On","vmi":"u"},"prev":"x"}
{"seq":22,"time":"2026-03-01T10:00:00.001Z","type":"BootOverrideSet","v":1,"id":"i","by":"admin@10.0.0.1","data":{"target":"Cd","enabled":"Once"},"prev":"x"}
{"seq":23,"time":"2026-03-01T10:00:00.001Z","type":"BootOverrideApplied","v":1,"id":"i","by":"worker","cause":22,"data":{"vmi":"u","changed":true,"refused":"r"},"prev":"x"}
{"seq":24,"time":"2026-03-01T10:00:00.001Z","type":"BootOverrideConsumed","v":1,"id":"i","by":"watch","cause":22,"data":{"vmi":"u"},"prev":"x"}
{"seq":25,"time":"2026-03-01T10:00:00.001Z","type":"BootOverrideReverted","v":1,"id":"i","by":"worker","cause":22,"data":{},"prev":"x"}`

func TestEveryTypeHasAGoldenLineThatRoundTrips(t *testing.T) {
	seen := map[Type]bool{}
	for _, line := range strings.Split(golden, "\n") {
		e, err := Decode([]byte(line))
		require.NoError(t, err, line)
		assert.False(t, e.Foreign, line)
		assert.Equal(t, e.Type, e.Data.EventType())
		back, err := Encode(e)
		require.NoError(t, err)
		assert.Equal(t, line, string(back))
		seen[e.Type] = true
	}
	for typ := range decoders() {
		assert.True(t, seen[typ], "%s has no golden line", typ)
	}
}

func TestWhatThisBuildDoesNotKnowIsReadableAndMarked(t *testing.T) {
	for name, line := range map[string]string{
		"unknown type":  `{"seq":9,"time":"2026-03-01T10:00:00.000Z","type":"MachineTeleported","v":1,"id":"i","by":"w","data":{"to":"x"},"prev":"p"}`,
		"newer version": `{"seq":9,"time":"2026-03-01T10:00:00.000Z","type":"MediaInserted","v":2,"id":"i","by":"w","data":{"a":1},"prev":"p"}`,
	} {
		e, err := Decode([]byte(line))
		require.NoError(t, err, name)
		assert.True(t, e.Foreign, name)
		assert.IsType(t, Unknown{}, e.Data, name)
		back, err := Encode(e)
		require.NoError(t, err)
		assert.Equal(t, line, string(back), name)
	}
	for name, line := range map[string]string{
		"field of the data":     `{"seq":9,"time":"2026-03-01T10:00:00.000Z","type":"ImportFailed","v":1,"id":"i","by":"w","data":{"reason":"r","more":1},"prev":"p"}`,
		"field of the envelope": `{"seq":9,"time":"2026-03-01T10:00:00.000Z","type":"ImportFailed","v":1,"id":"i","by":"w","data":{"reason":"r"},"prev":"p","more":1}`,
	} {
		e, err := Decode([]byte(line))
		require.NoError(t, err, name)
		assert.True(t, e.Foreign, name)
		assert.Equal(t, ImportFailed{Reason: "r"}, e.Data, name)
	}
}

func TestALineIsOneLine(t *testing.T) {
	line, err := Encode(Event{Seq: 1, Time: time.Unix(0, 0), Type: ImportFailedType, V: 1, Data: ImportFailed{Reason: "a\nb <&>"}})
	require.NoError(t, err)
	assert.NotContains(t, string(line), "\n")
	assert.Contains(t, string(line), "<&>", "people read it")
}

func TestMalformedLinesAreErrors(t *testing.T) {
	for _, line := range []string{``, `{`, `[]`, `{"seq":-1}`, `{"seq":1,"time":"yesterday","type":"MediaInserted","v":1,"data":{}}`,
		`{"seq":1,"time":"2026-03-01T10:00:00.000Z","type":"ImportFailed","v":1,"data":{"reason":7}}`} {
		_, err := Decode([]byte(line))
		assert.Error(t, err, line)
	}
}
