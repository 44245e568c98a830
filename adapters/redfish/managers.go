package redfish

import (
	"github.com/google/uuid"

	"github.com/ledgerfish/ledgerfish/domain"
)

func (s *Service) managerRoutes() {
	s.at("/Managers", resource{get: s.managers})
	s.at("/Managers/{machine}", resource{get: s.manager})
}

func (s *Service) managers(c *call) (object, error) {
	return collectionOf(c.uri(), managersSchema, "Managers",
		links(s.Machines.List(), func(h domain.Hardware) string { return managerURI(h.Machine) })), nil
}

// manager is the BMC that a machine would have. Every machine has its own: an older sushy looks for virtual media only
// at the first manager of a system.
func (s *Service) manager(c *call) (object, error) {
	h, err := s.machine(c)
	if err != nil {
		return nil, err
	}
	return resourceOf(c.uri(), managerSchema, "Manager of "+h.Machine.String(), object{"ManagerType": "BMC",
		"Manufacturer": "Ledgerfish", "Model": "Ledgerfish", "FirmwareVersion": s.Version,
		"UUID": uuid.NewSHA1(s.UUID, []byte(h.UID)).String(), "PowerState": "On", "Status": enabled(),
		"VirtualMedia": link(c.uri() + "/VirtualMedia"),
		"Links": object{"ManagerForServers": []object{link(systemURI(h.Machine))},
			"ManagerForChassis": []object{link(chassisURI(h.Machine))}}}), nil
}
