package kubevirt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ledgerfish/ledgerfish/domain"
)

// One machine's life under every way in which a VM's spec can say when it runs (C1, C14, C15, C18): insert and On at once
// boot the image, exactly once; restart, shutdown and force-off do what they say; and in the end the template is, field for
// field, what its owner wrote.
func TestALifeUnderEveryRunStrategy(t *testing.T) {
	for _, strategy := range []string{"runStrategy: Halted", "runStrategy: Manual", "runStrategy: RerunOnFailure", "runStrategy: Always",
		"runStrategy: Once", "running: true", "running: false"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			b := newBridge(t)
			m := b.newVM("web-0", strategy, 30)
			template := b.vm(m).Spec.Template.DeepCopy()
			b.mustDo(m, domain.Reset{ResetType: domain.ResetForceOff})
			b.off(m)
			b.atRest(m)
			started := len(b.boots(m))

			b.mustDo(m, insert(b.image("FIRST", nil)))
			b.mustDo(m, once(domain.BootCd))
			b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
			assert.Equal(t, domain.PowerPoweringOn, b.state(m).PowerState())
			first := b.on(m, "")
			b.atRest(m)
			assert.Equal(t, domain.PowerOn, b.state(m).PowerState())
			assert.Equal(t, []string{"cdrom:ledgerfish-cd:FIRST"}, b.boots(m)[started:])

			b.mustDo(m, domain.Reset{ResetType: domain.ResetForceRestart})
			second := b.on(m, first)
			b.atRest(m)
			b.mustDo(m, domain.Reset{ResetType: domain.ResetGracefulRestart})
			b.on(m, second)
			b.atRest(m)
			assert.Len(t, b.boots(m), started+3, "one intent starts a machine once")
			b.mustDo(m, domain.Reset{ResetType: domain.ResetGracefulShutdown})
			b.off(m)
			b.atRest(m)

			b.mustDo(m, domain.EjectMedia{Slot: domain.SlotCd})
			b.atRest(m)
			vm := b.vm(m)
			assert.Equal(t, template, vm.Spec.Template)
			assert.Empty(t, b.leftovers())
			assert.False(t, vm.Spec.Running != nil && vm.Spec.RunStrategy != nil)
			if strings.Contains(strategy, "Manual") {
				assert.EqualValues(t, "Manual", *vm.Spec.RunStrategy, "a spec that somebody keeps elsewhere is left alone")
			}
			assert.NotContains(t, vm.Annotations, domain.AnnotationBoot)
		})
	}
}
