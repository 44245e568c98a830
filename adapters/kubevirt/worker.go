package kubevirt

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// Ledger is what the worker needs of the logs.
type Ledger interface {
	// State is what a machine's log means, from memory; false: it is not known.
	State(m domain.Machine) (projections.State, bool)
	// Refresh reads the head of the log afresh. A machine without a log has the state of an empty one.
	Refresh(ctx context.Context, m domain.Machine) (projections.State, error)
	// Execute appends what decide returns on the newest state; it calls decide again after a conflict.
	Execute(ctx context.Context, m domain.Machine, decide func(projections.State) ([]domain.Event, error)) (projections.State, []domain.Event, error)
	// Machines lists all machines that have a log.
	Machines() []domain.Machine
}

// Worker turns what the logs ask for into effects, and what the cluster shows into events.
type Worker struct {
	Cluster   *Cluster
	Ledger    Ledger
	Inventory *Inventory
	Limits    domain.Limits
	Recorder  *Recorder // may be nil
	Log       logrus.FieldLogger
	Lanes     int // machines worked on at the same time; default 32
	Now       func() time.Time

	queue workqueue.TypedRateLimitingInterface[domain.Machine]

	mu      sync.Mutex
	byUID   map[string]domain.Machine
	unseen  map[domain.Machine]bool // known at the start and not looked at yet
	started bool                    // unseen is complete
}

// Times of the worker that nobody needs to set.
const (
	glance     = time.Minute      // a machine that is not at rest is looked at so often, whatever the informers say
	breath     = time.Second      // to wait, if nothing wakes it earlier, for what an effect brings about
	stepLimit  = 30 * time.Second // for one step
	stopLimit  = 3 * time.Second  // for a step that has begun when the worker is to stop
	housework  = time.Minute      // between two sweeps of the Secrets of images
	secretsAge = 10 * time.Minute // at which a Secret that no log wants is swept
	backoffMin = 100 * time.Millisecond
	backoffMax = 10 * time.Second
	maxSteps   = 20 // in a row on one machine, before others get their turn
	patience   = 5  // failed first looks after which a machine does not delay readiness any more
)

// NewWorker makes a worker and the inventory that wakes it.
func NewWorker(c *Cluster, ledger Ledger, limits domain.Limits, recorder *Recorder, log logrus.FieldLogger) (*Worker, error) {
	w := &Worker{Cluster: c, Ledger: ledger, Limits: limits, Recorder: recorder, Log: log, Lanes: 32, Now: c.Now,
		byUID: map[string]domain.Machine{}, unseen: map[domain.Machine]bool{}}
	w.queue = workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[domain.Machine](backoffMin, backoffMax))
	var err error
	w.Inventory, err = c.Inventory(w.Wake)
	return w, err
}

// Run works until the context ends, and returns when everything that it started has ended. The ledger has to be ready.
func (w *Worker) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { w.Inventory.Run(ctx) })
	wg.Go(func() { <-ctx.Done(); w.queue.ShutDown() })
	if !cache.WaitForCacheSync(ctx.Done(), w.Inventory.Synced) {
		wg.Wait()
		return ctx.Err()
	}
	w.census()
	for range max(1, w.Lanes) {
		wg.Go(func() {
			for w.next(ctx) {
			}
		})
	}
	wg.Go(func() { w.sweepSecrets(ctx) })
	wg.Wait()
	return nil
}

// Ready tells whether every machine that was known at the start has been looked at, so that what is served of them is what
// the cluster shows.
func (w *Worker) Ready() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started && len(w.unseen) == 0
}

// Wake has a machine looked at soon, if its namespace is served. Its name may be missing when its UID is known.
func (w *Worker) Wake(m domain.Machine) {
	w.mu.Lock()
	if known, ok := w.byUID[m.UID]; m.Name == "" && ok {
		m = known
	} else if m.Name != "" {
		w.byUID[m.UID] = m
	}
	w.mu.Unlock()
	if m.Name != "" && w.serves(m.Namespace) {
		w.queue.Add(m)
	}
}

// Appended tells of events that others than the worker have appended.
func (w *Worker) Appended(m domain.Machine, list []domain.Event) {
	w.record(m, list)
	w.Wake(m)
}

func (w *Worker) record(m domain.Machine, list []domain.Event) {
	for _, e := range list {
		w.Log.WithFields(logrus.Fields{"machine": m.String(), "seq": e.Seq, "event": e.Type, "request": e.Corr}).Info("event appended")
	}
	if w.Recorder != nil {
		w.Recorder.Record(m, list)
	}
}

// World observes a machine afresh, with all volumes that its log names.
func (w *Worker) World(ctx context.Context, m domain.Machine) (domain.World, error) {
	state, _ := w.Ledger.State(m)
	var names []string
	for _, medium := range state.Media {
		names = append(names, medium.Volume)
	}
	return w.Cluster.World(ctx, m, names...)
}

// LookAgain has the worker not ready until every machine was looked at afresh: what is in memory may be old.
func (w *Worker) LookAgain() {
	w.mu.Lock()
	started := w.started
	w.mu.Unlock()
	if started {
		w.census()
	}
}

// census wakes every machine that there is, by the inventory or by a log.
func (w *Worker) census() {
	for _, h := range w.Inventory.List() {
		w.expect(h.Machine)
	}
	for _, m := range w.Ledger.Machines() {
		if s, _ := w.Ledger.State(m); w.serves(m.Namespace) && !over(s) {
			w.expect(m)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = true
}

func (w *Worker) expect(m domain.Machine) {
	w.mu.Lock()
	w.unseen[m] = true
	w.mu.Unlock()
	w.Wake(m)
}

// next works on one machine; false: the queue is shut down.
func (w *Worker) next(ctx context.Context) bool {
	m, shutdown := w.queue.Get()
	if shutdown {
		return false
	}
	defer w.queue.Done(m)
	again, err := w.pass(ctx, m)
	switch {
	case ctx.Err() != nil:
		return true
	case err != nil:
		w.complain(m, err)
		w.queue.AddRateLimited(m)
	case again > 0:
		w.queue.Forget(m)
		w.queue.AddAfter(m, again)
	default:
		w.queue.Forget(m)
	}
	if err == nil || w.queue.NumRequeues(m) >= patience {
		w.mu.Lock()
		delete(w.unseen, m)
		w.mu.Unlock()
	}
	return true
}

// complain logs the first of a row of failures as a warning.
func (w *Worker) complain(m domain.Machine, err error) {
	log := w.Log.WithField("machine", m.String()).WithError(err)
	if w.queue.NumRequeues(m) > 0 || errors.Is(err, ErrMoved) {
		log.Debug("machine to be looked at again")
		return
	}
	log.Warn("machine to be looked at again")
}

// sweepSecrets deletes the Secrets of images that no log wants any more.
func (w *Worker) sweepSecrets(ctx context.Context) {
	tick := time.NewTicker(housework)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		wanted, known := w.wantedSecrets()
		if !known {
			continue
		}
		if err := w.Cluster.Secrets().Sweep(ctx, w.Now().Add(-secretsAge), wanted); err != nil && ctx.Err() == nil {
			w.Log.WithError(err).Warn("secrets of images not swept")
		}
	}
}

// wantedSecrets names the Secrets that a log refers to; false: a log cannot be read, so it is not known which it wants.
func (w *Worker) wantedSecrets() (wanted map[string]bool, known bool) {
	wanted = map[string]bool{}
	for _, m := range w.Ledger.Machines() {
		s, ok := w.Ledger.State(m)
		if !ok {
			return nil, false
		}
		for _, medium := range s.Media {
			wanted[medium.Secret] = true
		}
	}
	return wanted, true
}
