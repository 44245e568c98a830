package domain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// timeLayout is RFC 3339 with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// envelope is an event's line, in this order of keys.
type envelope struct {
	Seq   uint64          `json:"seq"`
	Time  string          `json:"time"`
	Type  Type            `json:"type"`
	V     int             `json:"v"`
	ID    string          `json:"id"`
	By    string          `json:"by"`
	Cause uint64          `json:"cause,omitempty"`
	Corr  string          `json:"corr,omitempty"`
	Data  json.RawMessage `json:"data"`
	Prev  string          `json:"prev"`
}

// Encode gives an event's line, without a newline. The same event gives the same bytes.
func Encode(e Event) ([]byte, error) {
	data, err := marshal(e.Data)
	if u, ok := e.Data.(Unknown); ok {
		data, err = u.Raw, nil
	}
	if err != nil {
		return nil, fmt.Errorf("encode %s at %d: %w", e.Type, e.Seq, err)
	}
	line, err := marshal(envelope{Seq: e.Seq, Time: e.Time.UTC().Format(timeLayout), Type: e.Type, V: e.V, ID: e.ID,
		By: e.By, Cause: e.Cause, Corr: e.Corr, Data: data, Prev: e.Prev})
	if err != nil {
		return nil, fmt.Errorf("encode %s at %d: %w", e.Type, e.Seq, err)
	}
	return line, nil
}

// marshal is json.Marshal that leaves & < > readable.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads one line. An unknown type, a newer version or an unknown field is no error: the event is Foreign.
func Decode(line []byte) (Event, error) {
	var env envelope
	foreign, err := lenient(line, &env)
	if err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	at, err := time.Parse(time.RFC3339, env.Time)
	if err != nil {
		return Event{}, fmt.Errorf("decode event %d: %w", env.Seq, err)
	}
	e := Event{Seq: env.Seq, Time: at.UTC(), Type: env.Type, V: env.V, ID: env.ID, By: env.By, Cause: env.Cause,
		Corr: env.Corr, Prev: env.Prev, Foreign: foreign}
	decode, known := decoders()[env.Type]
	if !known || env.V != 1 {
		e.Data, e.Foreign = Unknown{Type: env.Type, Raw: env.Data}, true
		return e, nil
	}
	data, foreign, err := decode(env.Data)
	if err != nil {
		return Event{}, fmt.Errorf("decode %s at %d: %w", env.Type, env.Seq, err)
	}
	e.Data, e.Foreign = data, e.Foreign || foreign
	return e, nil
}

// lenient decodes JSON into v and tells whether it had fields that v has not.
func lenient(raw []byte, v any) (foreign bool, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if dec.Decode(v) == nil {
		return false, nil
	}
	return true, json.Unmarshal(raw, v)
}

type decoder func(json.RawMessage) (Data, bool, error)

func decoderOf[T Data](raw json.RawMessage) (Data, bool, error) {
	var d T
	foreign, err := lenient(raw, &d)
	return d, foreign, err
}

func decoders() map[Type]decoder {
	return map[Type]decoder{
		MachineAdoptedType:       decoderOf[MachineAdopted],
		MachineLostType:          decoderOf[MachineLost],
		MediaRequestedType:       decoderOf[MediaRequested],
		MediaRefusedType:         decoderOf[MediaRefused],
		ImportStartedType:        decoderOf[ImportStarted],
		ImportCompletedType:      decoderOf[ImportCompleted],
		MediaInsertedType:        decoderOf[MediaInserted],
		ImportFailedType:         decoderOf[ImportFailed],
		ImportExpiredType:        decoderOf[ImportExpired],
		EjectRequestedType:       decoderOf[EjectRequested],
		MediaEjectedType:         decoderOf[MediaEjected],
		VolumeSweptType:          decoderOf[VolumeSwept],
		PowerRequestedType:       decoderOf[PowerRequested],
		RequestRepeatedType:      decoderOf[RequestRepeated],
		PowerDeferredType:        decoderOf[PowerDeferred],
		PowerReleasedType:        decoderOf[PowerReleased],
		PowerCancelledType:       decoderOf[PowerCancelled],
		PowerRefusedType:         decoderOf[PowerRefused],
		PowerAppliedType:         decoderOf[PowerApplied],
		PowerFailedType:          decoderOf[PowerFailed],
		PowerObservedType:        decoderOf[PowerObserved],
		BootOverrideSetType:      decoderOf[BootOverrideSet],
		BootOverrideAppliedType:  decoderOf[BootOverrideApplied],
		BootOverrideConsumedType: decoderOf[BootOverrideConsumed],
		BootOverrideRevertedType: decoderOf[BootOverrideReverted],
	}
}

// Chain is the Prev of the line after this one.
func Chain(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:16])
}
