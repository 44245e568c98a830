package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

const (
	kills      = 20
	killedWith = 3 // machines at a time, each at another place of its sequence
	// killWithin is about as long as the sequence takes, so that every step of it is hit in some round.
	killWithin = 8 * time.Second
)

// The bridge is killed at 20 random moments of the sequence (insert, boot override, On, boot, eject, ForceOff) and
// started again. The clients do what Ironic does: they send again what was not answered. Each round the invariants hold:
// no early, double or lost start (I1, I7), nothing pending (I2), nothing left over (I3), log and cluster agree (I4).
//
// LEDGERFISH_SEED repeats a run's moments.
func TestTheBridgeIsKilled(t *testing.T) {
	harness.Need(t, env)
	seed := uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("LEDGERFISH_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("LEDGERFISH_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	client, err := bridge.Client()
	require.NoError(t, err)
	namespace := newNamespace(t, "killed")
	fleet, err := env.Fleet(t.Context(), namespace, "host", killedWith, harness.Shape{Orders: true})
	require.NoError(t, err)
	booted := map[string]int{}
	for round := range kills {
		at := time.Duration(random.Int64N(int64(killWithin)))
		offsets := []time.Duration{0, time.Duration(random.Int64N(int64(2 * time.Second))), time.Duration(random.Int64N(int64(2 * time.Second)))}
		var machines sync.WaitGroup
		for i, m := range fleet {
			label := fmt.Sprintf("KILLED-%d-%d", round, i)
			iso := harness.NewISO(label, 128<<10)
			url := env.Images.Put(m.ID()+"/boot.iso", harness.Image{ISO: iso, Takes: 2 * time.Second}) // the same URL, new content
			machines.Go(func() {
				<-time.After(offsets[i])
				assert.NoError(t, ironic{client, m, url, iso}.run(t.Context()), "round %d, killed after %s", round, at)
			})
		}
		<-time.After(at)
		require.NoError(t, bridge.Kill())
		require.NoError(t, bridge.Start(t.Context()))
		machines.Wait()
		for _, m := range fleet {
			invariants(t, m, fmt.Sprintf("round %d, killed after %s", round, at))
			starts := len(env.Witness.Starts(m))
			assert.Equal(t, booted[m.Name]+1, starts, "round %d: one On, one start", round)
			booted[m.Name] = starts
		}
		if t.Failed() {
			showLogs(t, fleet)
			return
		}
	}
	harness.Result("kill rounds=%d machines=%d violations=0 seed=%d", kills, killedWith, seed)
}

func invariants(t *testing.T, m harness.VM, when string) {
	t.Helper()
	assert.NoError(t, harness.Until(t.Context(), patience, "nothing to be left", func(ctx context.Context) error { return env.NothingLeft(ctx, m.Namespace) }), when)
	assert.NoError(t, harness.Until(t.Context(), patience, "the log to say off", func(ctx context.Context) error { return lastSeenOff(ctx, m) }), when)
	// The last word on a medium comes after nothing is left of it.
	assert.NoError(t, harness.Until(t.Context(), patience, "every intent to be finished", func(ctx context.Context) error {
		log, err := env.Log(ctx, m)
		if open := unfinished(log); err == nil && len(open) > 0 {
			err = fmt.Errorf("unfinished: %v", open)
		}
		return err
	}), when)
	log, err := env.Log(t.Context(), m)
	require.NoError(t, err)
	assert.Empty(t, env.Witness.BrokenOrders(m, log), when)
	vm, err := env.VM(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, m.Original.Template, vm.Spec.Template, when)
}

// unfinished is I2: intents that a log at rest leaves open.
func unfinished(log []domain.Event) (open []string) {
	ended := map[uint64]bool{}
	for _, e := range log {
		switch e.Type {
		case domain.MediaEjectedType, domain.PowerAppliedType, domain.PowerCancelledType, domain.PowerFailedType:
			ended[e.Cause] = true
		}
	}
	for _, e := range log {
		if (e.Type == domain.MediaRequestedType || e.Type == domain.PowerRequestedType) && !ended[e.Seq] {
			open = append(open, fmt.Sprintf("%d %s", e.Seq, e.Type))
		}
	}
	return open
}

func showLogs(t *testing.T, fleet []harness.VM) {
	for _, m := range fleet {
		history, err := bridge.Command(context.WithoutCancel(t.Context()), "log", m.String())
		t.Logf("%s %v", history, err)
	}
}

// ironic goes through its sequence on one machine, as a client that sends again what was not answered.
type ironic struct {
	client *harness.Client
	m      harness.VM
	url    string
	iso    harness.ISO
}

func (s ironic) run(ctx context.Context) error {
	boots, err := env.Node.Boots(ctx, s.m.String())
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"insert", s.persistent(func(ctx context.Context) (harness.Reply, error) { return s.client.Insert(ctx, s.m, s.url) })},
		{"boot override", s.persistent(func(ctx context.Context) (harness.Reply, error) {
			return s.client.SetBoot(ctx, s.m, domain.BootCd, domain.BootOnce)
		})},
		{"On", s.persistent(func(ctx context.Context) (harness.Reply, error) { return s.client.Reset(ctx, s.m, domain.ResetOn) })},
		{"boot", func(ctx context.Context) error { return s.boots(ctx, len(boots)+1) }},
		{"eject", s.persistent(func(ctx context.Context) (harness.Reply, error) { return s.client.Eject(ctx, s.m) })},
		{"ForceOff", s.persistent(func(ctx context.Context) (harness.Reply, error) {
			return s.client.Reset(ctx, s.m, domain.ResetForceOff)
		})},
		{"off", func(ctx context.Context) error { return env.IsOff(ctx, s.m) }},
	} {
		if err := harness.Until(ctx, patience, step.name, step.do); err != nil {
			return fmt.Errorf("%s: %w", s.m, err)
		}
	}
	return nil
}

// persistent sends a request until it is answered with 2xx; anything else than no answer or 503 is final.
func (s ironic) persistent(send func(context.Context) (harness.Reply, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		reply, err := send(ctx)
		if err == nil && reply.Err() != nil && reply.Status != 503 {
			return errors.Join(harness.ErrNever, reply.Err())
		}
		return errors.Join(err, reply.Err())
	}
}

// boots is nil when the machine has booted n times in all, the last time from the sequence's image.
func (s ironic) boots(ctx context.Context, n int) error {
	boots, err := env.Node.Boots(ctx, s.m.String())
	switch {
	case err != nil:
		return err
	case len(boots) < n:
		return fmt.Errorf("%d boots", len(boots))
	case len(boots) > n || boots[n-1].SHA256 != s.iso.SHA256:
		return fmt.Errorf("boots %+v, wanted %s: %w", boots[n-1:], s.iso.Label, harness.ErrNever)
	}
	return nil
}
