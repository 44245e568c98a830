package redfish

import "github.com/ledgerfish/ledgerfish/domain"

func (s *Service) chassisRoutes() {
	s.at("/Chassis", resource{get: s.chassisSet})
	s.at("/Chassis/{machine}", resource{get: s.chassis})
}

func (s *Service) chassisSet(c *call) (object, error) {
	return collectionOf(c.uri(), chassisSetSchema, "Chassis",
		links(s.Machines.List(), func(h domain.Hardware) string { return chassisURI(h.Machine) })), nil
}

func (s *Service) chassis(c *call) (object, error) {
	h, state, err := s.machineState(c)
	if err != nil {
		return nil, err
	}
	return resourceOf(c.uri(), chassisSchema, "Chassis of "+h.Machine.String(), object{"ChassisType": "StandAlone",
		"Manufacturer": "KubeVirt", "Model": "VirtualMachine", "PowerState": state.PowerState(), "Status": enabled(),
		"Links": object{"ComputerSystems": []object{link(systemURI(h.Machine))},
			"ManagedBy": []object{link(managerURI(h.Machine))}}}), nil
}
