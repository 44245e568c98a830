package race

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

var env *harness.Env // of this package's tests; set once, by TestMain

func TestMain(m *testing.M) {
	os.Exit(harness.Suite(m, func(_ context.Context, e *harness.Env) error {
		env = e
		return nil
	}))
}

const importTakes = 20 * time.Second

// run is one machine with an image of its own and the time between its insert and its power-on.
type run struct {
	harness.VM
	iso   harness.ISO
	url   string
	delay time.Duration
}

// The mission: On 0 to 1000 ms after the answer to InsertMedia, 8 machines each, all of them at once.
func TestNoMachineStartsBeforeItsImage(t *testing.T) {
	e := harness.Need(t, env)
	bridge, client := start(t, e, "")
	var runs []run
	for _, ms := range []int{0, 10, 50, 200, 1000} {
		namespace := e.NamespaceFor(t, fmt.Sprintf("race-%dms", ms))
		runs = append(runs, prepare(t, e, namespace, 8, importTakes, time.Duration(ms)*time.Millisecond)...)
	}
	insertThenOn(t, client, runs)

	held := count(runs, func(r run) bool { return wasHeld(t, e, r) })
	early := untilAllBooted(t, e, runs, 3*time.Minute)
	booted := count(runs, func(r run) bool { return bootedItsImage(t, e, r) })
	left := cleanUp(t, e, client, runs)

	harness.Result("race runs=%d held=%d booted=%d early_starts=%d leftovers=%d", len(runs), held, booted, len(early), len(left))
	assert.Equal(t, len(runs), held, "held")
	assert.Equal(t, len(runs), booted, "booted")
	assert.Empty(t, early)
	assert.Empty(t, left)
	for _, r := range runs {
		log, err := e.Log(t.Context(), r.VM)
		require.NoError(t, err)
		assert.Empty(t, e.Witness.BrokenOrders(r.VM, log))
	}
	require.NoError(t, bridge.Stop())
}

// Without the gate the very same machines start too early: so the test above can fail.
func TestWithoutTheGateMachinesStartTooEarly(t *testing.T) {
	e := harness.Need(t, env)
	bridge, client := start(t, e, "mutant")
	runs := prepare(t, e, e.NamespaceFor(t, "mutant"), 4, 6*time.Second, 0)
	insertThenOn(t, client, runs)
	harness.Await(t, time.Minute, "every machine to be started", func(context.Context) error {
		for _, r := range runs {
			if len(e.Witness.Starts(r.VM)) == 0 {
				return fmt.Errorf("%s has not been started", r)
			}
		}
		return nil
	})
	early := 0
	for _, r := range runs {
		early += len(e.Witness.EarlyStarts(r.VM))
	}
	t.Logf("without the gate: machines=%d early_starts=%d", len(runs), early)
	assert.Positive(t, early)
	require.NoError(t, bridge.Stop())
}

// Insert and On sent at the same time: whichever the log has first is right, and what follows must fit it.
func TestInsertAndOnAtTheSameTime(t *testing.T) {
	e := harness.Need(t, env)
	bridge, client := start(t, e, "")
	runs := prepare(t, e, e.NamespaceFor(t, "at-once"), 8, 3*time.Second, 0)
	var calls sync.WaitGroup
	for _, r := range runs {
		calls.Go(func() {
			send(t, "insert", func() (harness.Reply, error) { return client.Insert(t.Context(), r.VM, r.url) })
		})
		calls.Go(func() {
			send(t, "On", func() (harness.Reply, error) { return client.Reset(t.Context(), r.VM, domain.ResetOn) })
		})
	}
	calls.Wait()
	insertFirst := 0
	for _, r := range runs {
		var log []domain.Event
		harness.Await(t, 2*time.Minute, r.String()+" to be started and to have its medium", func(ctx context.Context) (err error) {
			log, err = e.Log(ctx, r.VM)
			if err == nil && (!has(log, domain.MediaInsertedType) || !has(log, domain.PowerAppliedType) || len(e.Witness.Starts(r.VM)) == 0) {
				err = fmt.Errorf("its log has %d events", len(log))
			}
			return err
		})
		if has(log, domain.PowerDeferredType) {
			insertFirst++
		}
		assert.Len(t, e.Witness.Starts(r.VM), 1, r.String())
		assert.Empty(t, e.Witness.BrokenOrders(r.VM, log))
	}
	t.Logf("machines=%d insert_first=%d on_first=%d", len(runs), insertFirst, len(runs)-insertFirst)
	assert.Empty(t, cleanUp(t, e, client, runs))
	require.NoError(t, bridge.Stop())
}
