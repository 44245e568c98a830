package projections

import (
	"slices"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Sweep gives the effects that take out of the cluster what carries our label or name and the log does not want. The
// world has to be read before the log: the other order would delete an import that has just begun.
func Sweep(s State, w domain.World) []domain.Effect {
	var effects []domain.Effect
	named := func(volume string) bool {
		return slices.ContainsFunc(s.Media, func(m Medium) bool { return m.Volume == volume })
	}
	if w.VM != nil {
		for _, volume := range w.VM.Attached {
			if !named(volume) {
				effects = append(effects, domain.DropDisk{Volume: volume})
			}
		}
	}
	for _, v := range w.Volumes {
		if v.Managed && !v.Deleting && !named(v.Name) {
			effects = append(effects, domain.DeleteVolume{Volume: v.Name, UID: v.UID, Reason: "no medium of the log has it"})
		}
	}
	return effects
}

// AtRest tells whether nothing is pending, held, awaited or to be swept: a machine at rest costs nothing.
func AtRest(s State, w domain.World) bool {
	_, importing := s.ImportPending()
	ejecting := slices.ContainsFunc(s.Media, func(m Medium) bool { return m.Phase == MediumEjecting })
	return !importing && !ejecting && s.Power.Phase == PowerSettled && !s.Power.Expect &&
		s.Boot.Phase != BootSet && s.Boot.Phase != BootConsumed && len(Pending(s, w)) == 0 && len(Sweep(s, w)) == 0
}
