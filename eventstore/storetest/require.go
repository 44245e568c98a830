package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
)

// Missing gives the acknowledged event ids that are not in a machine's log, and those that are in it more than once.
func Missing(t *testing.T, s eventstore.Store, m domain.Machine, acked []string) (lost, doubled []string) {
	t.Helper()
	events, err := s.History(t.Context(), m)
	require.NoError(t, err)
	times := map[string]int{}
	for _, e := range events {
		if times[e.ID]++; times[e.ID] == 2 {
			doubled = append(doubled, e.ID)
		}
	}
	for _, id := range acked {
		if times[id] == 0 {
			lost = append(lost, id)
		}
	}
	return lost, doubled
}

// RequireAll requires that a log holds every acknowledged event, none twice, and is sound.
func RequireAll(t *testing.T, s eventstore.Store, m domain.Machine, acked []string) {
	t.Helper()
	lost, doubled := Missing(t, s, m, acked)
	require.Empty(t, lost, "%d of %d acknowledged events are lost", len(lost), len(acked))
	require.Empty(t, doubled)
	report, err := eventstore.Verify(t.Context(), s, m)
	require.NoError(t, err)
	require.Empty(t, report.Findings)
}
