package projections

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
)

// A client that ejects and inserts in a loop while the worker does not get on is asked to wait: the state stays small, and
// eject and power go on.
func TestMediaOnTheirWayOutAreBounded(t *testing.T) {
	m := domain.Machine{Namespace: "lab", Name: "web-0", UID: "0f3c9a52-6d5e"}
	s, w := New(m), domain.World{VM: &domain.VM{RunStrategy: domain.RunHalted}}
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	ask := func(c domain.Command) error {
		events, _, err := Decide(s, w, domain.Request{ID: fmt.Sprint(s.Seq), By: "a@b", Command: c}, now, domain.Limits{})
		for _, e := range events {
			e.Seq, e.Time = s.Seq+1, now
			s = Evolve(s, e)
		}
		return err
	}
	insert := domain.InsertMedia{Slot: domain.SlotCd, Image: "http://iso.lab/a.iso", Digest: "a"}
	for range maxMedia {
		require.NoError(t, ask(insert))
		require.NoError(t, ask(domain.EjectMedia{Slot: domain.SlotCd}))
	}
	before := s.Seq
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(ask(insert)))
	assert.Equal(t, before, s.Seq, "nothing is written of it")
	assert.NoError(t, ask(domain.EjectMedia{Slot: domain.SlotCd}))
	assert.NoError(t, ask(domain.Reset{ResetType: domain.ResetOn}))
	s = Evolve(s, domain.Event{Seq: s.Seq + 1, Type: domain.MediaEjectedType, Cause: s.Media[0].Seq, Data: domain.MediaEjected{}})
	assert.NoError(t, ask(insert))
}
