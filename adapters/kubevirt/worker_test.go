package kubevirt

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/util/workqueue"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// noLogs is a ledger of machines that nothing was written about.
type noLogs struct{ Ledger }

func (noLogs) Machines() []domain.Machine                            { return nil }
func (noLogs) State(m domain.Machine) (s projections.State, ok bool) { return s, false }

func TestAWorkerThatIsToLookAgainIsNotReadyBefore(t *testing.T) {
	w := &Worker{Cluster: &Cluster{Options: Options{}.withDefaults()}, Ledger: noLogs{},
		Inventory: &Inventory{list: []domain.Hardware{{Machine: web}}}, byUID: map[string]domain.Machine{}, unseen: map[domain.Machine]bool{},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[domain.Machine]())}
	defer w.queue.ShutDown()
	w.LookAgain()
	assert.Zero(t, w.queue.Len(), "it has not begun")
	w.started = true
	assert.True(t, w.Ready())
	w.LookAgain()
	assert.False(t, w.Ready())
	assert.Equal(t, 1, w.queue.Len())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w.next(ended)
	assert.False(t, w.Ready(), "a look that was broken off does not count")
}
