package projections

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ledgerfish/ledgerfish/domain"
)

func tables() map[string]table {
	return map[string]table{"medium": mediumTable(), "power": powerTable(), "boot": bootTable()}
}

// looplab/fsm overwrites duplicate rows silently and ignores what it does not know, so the tables are checked here.
func TestEveryCellIsATransitionOrANamedRefusal(t *testing.T) {
	for name, table := range tables() {
		phases, events := map[string]bool{table.initial: true}, map[domain.Type]bool{}
		rows := map[[2]string]bool{}
		for _, r := range table.rows {
			phases[r.from], phases[r.to], events[r.event] = true, true, true
			key := [2]string{string(r.event), r.from}
			assert.False(t, rows[key], "%s: two rows for %s in %s", name, r.event, r.from)
			rows[key] = true
		}
		for event := range events {
			for phase := range phases {
				reason := table.refusals[event][phase]
				_, possible := table.next(phase, event)
				assert.Equal(t, rows[[2]string{string(event), phase}], possible, "%s: %s in %s", name, event, phase)
				assert.Equal(t, !possible, reason != "", "%s: %s in %s is a transition and a refusal, or neither", name, event, phase)
			}
		}
		for event, cells := range table.refusals {
			assert.True(t, events[event], "%s: refusals of %s, which has no row", name, event)
			for phase := range cells {
				assert.True(t, phases[phase], "%s: a refusal in %s, which no row knows", name, phase)
			}
		}
	}
}

func TestEveryPhaseIsReachable(t *testing.T) {
	for name, table := range tables() {
		reached := map[string]bool{table.initial: true}
		for range table.rows {
			for _, r := range table.rows {
				if reached[r.from] {
					reached[r.to] = true
				}
			}
		}
		for _, r := range table.rows {
			assert.True(t, reached[r.from], "%s: %s", name, r.from)
			assert.True(t, reached[r.to], "%s: %s", name, r.to)
		}
	}
}
