package redfish

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

func (s *Service) systemRoutes() {
	s.at("/Systems", resource{get: s.systems})
	s.at("/Systems/{machine}", resource{get: s.system, patch: s.patchSystem})
	s.at("/Systems/{machine}/Actions/"+resetAction, resource{post: s.reset})
}

func (s *Service) systems(c *call) (object, error) {
	return collectionOf(c.uri(), systemsSchema, "Systems",
		links(s.Machines.List(), func(h domain.Hardware) string { return systemURI(h.Machine) })), nil
}

// machine finds the machine of the route.
func (s *Service) machine(c *call) (domain.Hardware, error) {
	id, list := c.v("machine"), s.Machines.List()
	i, found := slices.BinarySearchFunc(list, id, func(h domain.Hardware, id string) int { return cmp.Compare(h.ID(), id) })
	if !found {
		return domain.Hardware{}, refuse(http.StatusNotFound, "ResourceNotFound", "machine", id)
	}
	return list[i], nil
}

// machineState finds the machine of the route and what its log means.
func (s *Service) machineState(c *call) (domain.Hardware, projections.State, error) {
	h, err := s.machine(c)
	if err != nil {
		return h, projections.State{}, err
	}
	state, known := s.Machines.State(h.Machine)
	if !known {
		return h, state, refuse(http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", strconv.Itoa(retryAfter)).
			saying("The log of %s has not been read yet.", h.Machine)
	}
	return h, state, nil
}

func (s *Service) system(c *call) (object, error) {
	h, state, err := s.machineState(c)
	if err != nil {
		return nil, err
	}
	return systemOf(h, state), nil
}

// systemOf shows a machine. What it can not do is left out rather than null.
func systemOf(h domain.Hardware, state projections.State) object {
	uri := systemURI(h.Machine)
	o := resourceOf(uri, systemSchema, h.Name, object{
		"Description": "KubeVirt virtual machine " + h.Machine.String(), "SystemType": "Virtual",
		"Manufacturer": "KubeVirt", "Model": "VirtualMachine", "UUID": h.UUID,
		"PowerState": state.PowerState(), "Status": statusOf(state),
		"Boot":          bootOf(h, state),
		"MemorySummary": object{"TotalSystemMemoryGiB": float64(h.MemoryBytes) / (1 << 30)},
		"ProcessorSummary": object{"Count": h.Sockets, "CoreCount": h.Sockets * h.Cores,
			"LogicalProcessorCount": h.Sockets * h.Cores * h.Threads},
		"Processors": link(uri + "/Processors"), "EthernetInterfaces": link(uri + "/EthernetInterfaces"),
		"SimpleStorage": link(uri + "/SimpleStorage"), "VirtualMedia": link(uri + "/VirtualMedia"),
		"LogServices": link(uri + "/LogServices"),
		"Links":       object{"ManagedBy": []object{link(managerURI(h.Machine))}, "Chassis": []object{link(chassisURI(h.Machine))}},
		"Actions": object{"#" + resetAction: object{"target": uri + "/Actions/" + resetAction,
			"ResetType@Redfish.AllowableValues": domain.ResetTypes()}},
	})
	if h.Serial != "" {
		o["SerialNumber"] = h.Serial
	}
	return o
}

// statusOf shows what a person has to know: a failed import, a refused, cancelled or failed power action, and a hold.
func statusOf(state projections.State) object {
	status, conditions := enabled(), []object{}
	if p := state.Problem(); p != "" {
		status["Health"] = "Warning"
		conditions = append(conditions, object{"MessageId": "ResourceEvent.1.4.ResourceErrorsDetected", "Severity": "Warning",
			"Message": p, "MessageArgs": []string{"Status", p}})
	}
	if w := state.Waiting(); w != "" {
		conditions = append(conditions, object{"MessageId": "ResourceEvent.1.4.ResourcePoweringOn", "Severity": "OK",
			"Message": w, "MessageArgs": []string{state.Machine.ID()}})
	}
	if len(conditions) > 0 {
		status["Conditions"] = conditions
	}
	return status
}

// accepted answers a command: the Task that stands for it, or that there is nothing more to come.
func (s *Service) accepted(m domain.Machine, state projections.State, answer projections.Answer) reply {
	t, known := state.Task(answer.Task)
	if answer.Task == "" || !known {
		return reply{status: http.StatusNoContent}
	}
	return reply{status: http.StatusAccepted, location: monitorURI(t.ID), body: s.taskOf(m, t)}
}
