package redfish

import (
	"slices"

	"github.com/ledgerfish/ledgerfish/domain"
)

const resetAction = "ComputerSystem.Reset"

// reset is the action ComputerSystem.Reset. Whether it is done now, held or refused is the gate's decision.
func (s *Service) reset(c *call, body object) (reply, error) {
	h, err := s.machine(c)
	if err != nil {
		return reply{}, err
	}
	p := parameters{action: resetAction, body: body}
	value := p.text("ResetType")
	if err := p.done(); err != nil {
		return reply{}, err
	}
	if value == "" {
		return reply{}, refuse400("ActionParameterMissing", resetAction, "ResetType")
	}
	if !slices.Contains(domain.ResetTypes(), domain.ResetType(value)) {
		f := refuse400("ActionParameterValueNotInList", shown(value), "ResetType", resetAction)
		f.resolution = "Send one of " + listed(domain.ResetTypes()) + "."
		return reply{}, f
	}
	state, answer, err := s.Machines.Do(c.detached(), h.Machine, c.request(domain.Reset{ResetType: domain.ResetType(value)}))
	if err != nil {
		return reply{}, err
	}
	return s.accepted(h.Machine, state, answer), nil
}
