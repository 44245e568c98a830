package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	virtv1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// C15: Ironic's sequence on a VM of every run strategy, and back to where it was.
func TestEveryRunStrategy(t *testing.T) {
	for name, row := range map[string]struct {
		shape harness.Shape
		runs  bool
	}{
		"Halted":         {harness.Shape{Strategy: virtv1.RunStrategyHalted}, false},
		"Manual":         {harness.Shape{Strategy: virtv1.RunStrategyManual}, false},
		"Always":         {harness.Shape{Strategy: virtv1.RunStrategyAlways}, true},
		"RerunOnFailure": {harness.Shape{Strategy: virtv1.RunStrategyRerunOnFailure}, true},
		"running":        {harness.Shape{Running: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, row.shape)
			before := 0
			if row.runs {
				before = 1
				h.awaitRunning()
				h.awaitPower(domain.PowerOn)
			}
			h.reset(domain.ResetForceOff)
			h.awaitOff()
			url, iso := h.image("boot.iso", harness.Image{Takes: 2 * time.Second})
			h.insert(url)
			h.setBoot(domain.BootCd, domain.BootOnce)
			h.reset(domain.ResetOn)
			h.booted(before+1, iso)
			h.awaitPower(domain.PowerOn)

			old, err := env.VMI(t.Context(), h.VM)
			require.NoError(t, err)
			h.reset(domain.ResetForceRestart)
			h.awaitBoot(before + 2)
			h.awaitPower(domain.PowerOn)
			current, err := env.VMI(t.Context(), h.VM)
			require.NoError(t, err)
			assert.NotEqual(t, old.UID, current.UID, "a restart is another instance")

			h.eject()
			h.reset(domain.ResetForceOff)
			h.awaitOff()
			assert.Equal(t, before+2, h.starts())
			vm, err := env.VM(t.Context(), h.VM)
			require.NoError(t, err)
			if row.shape.Strategy == virtv1.RunStrategyManual {
				assert.Equal(t, virtv1.RunStrategyManual, *vm.Spec.RunStrategy, "Manual stays Manual")
			}
			assert.False(t, vm.Spec.Running != nil && vm.Spec.RunStrategy != nil, "never both")
		})
	}
}

// C16, C17: On when on is nothing; a guest that powers itself off stays off until somebody asks.
func TestAGuestThatPowersItselfOff(t *testing.T) {
	for _, strategy := range []virtv1.VirtualMachineRunStrategy{virtv1.RunStrategyHalted, virtv1.RunStrategyManual} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			h := newHost(t, harness.Shape{Strategy: strategy})
			h.reset(domain.ResetOn)
			h.awaitBoot(1)
			h.awaitPower(domain.PowerOn)
			h.reset(domain.ResetOn)
			require.NoError(t, env.Node.PowerOff(t.Context(), h.String()))
			h.awaitOff()
			h.awaitPower(domain.PowerOff)
			h.reset(domain.ResetForceOff) // nothing, and not in the way of anything
			assert.Equal(t, 1, h.starts())
			h.reset(domain.ResetOn)
			h.awaitBoot(2)
			h.awaitPower(domain.PowerOn)
			assert.Equal(t, 2, h.starts())
			h.putAway()
		})
	}
}

// C13, C14: a guest that ignores ACPI, with three minutes of grace. GracefulShutdown waits for it, ForceOff does not.
func TestAGuestThatIgnoresACPI(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{Grace: 180})
	require.NoError(t, env.Node.IgnoreACPI(t.Context(), h.String()))
	h.reset(domain.ResetOn)
	h.awaitBoot(1)
	h.awaitPower(domain.PowerOn)
	h.reset(domain.ResetGracefulShutdown)
	h.awaitPower(domain.PowerPoweringOff)
	require.Error(t, env.IsOff(t.Context(), h.VM))
	start := time.Now()
	h.reset(domain.ResetForceOff)
	h.awaitOff()
	assert.Less(t, time.Since(start), time.Minute, "well within the grace of 180 s")
	h.reset(domain.ResetOn)
	h.awaitBoot(2)
	h.putAway()
}

// C13: On while the instance is still on its way out: one start, when it is gone.
func TestOnWhileStopping(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{Grace: 6})
	require.NoError(t, env.Node.IgnoreACPI(t.Context(), h.String()))
	h.reset(domain.ResetOn)
	h.awaitBoot(1)
	h.awaitPower(domain.PowerOn)
	h.reset(domain.ResetGracefulShutdown)
	harness.Await(t, patience, "the instance to be on its way out", func(ctx context.Context) error {
		vmi, err := env.VMI(ctx, h.VM)
		if err == nil && (vmi == nil || vmi.DeletionTimestamp == nil) {
			err = errors.New("it is not")
		}
		return err
	})
	h.reset(domain.ResetOn)
	h.awaitPower(domain.PowerPoweringOn)
	h.awaitBoot(2)
	h.awaitPower(domain.PowerOn)
	assert.Equal(t, 2, h.starts())
	h.putAway()
}
