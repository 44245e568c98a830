package redfish

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/ledgerfish/ledgerfish/domain"
)

func (s *Service) inventoryRoutes() {
	s.at("/Systems/{machine}/Processors", resource{get: s.processors})
	s.at("/Systems/{machine}/Processors/{socket}", resource{get: s.processor})
	s.at("/Systems/{machine}/EthernetInterfaces", resource{get: s.ethernets})
	s.at("/Systems/{machine}/EthernetInterfaces/{nic}", resource{get: s.ethernet})
	s.at("/Systems/{machine}/SimpleStorage", resource{get: s.simpleStorages})
	s.at("/Systems/{machine}/SimpleStorage/"+storageID, resource{get: s.simpleStorage})
}

func (s *Service) processors(c *call) (object, error) {
	h, err := s.machine(c)
	if err != nil {
		return nil, err
	}
	var members []object
	for i := range h.Sockets {
		members = append(members, link(c.uri()+"/"+strconv.Itoa(i)))
	}
	return collectionOf(c.uri(), processorsSchema, "Processors", members), nil
}

// processor is one socket; all are alike.
func (s *Service) processor(c *call) (object, error) {
	h, err := s.machine(c)
	if err != nil {
		return nil, err
	}
	i, err := strconv.Atoi(c.v("socket"))
	if err != nil || i < 0 || i >= h.Sockets || strconv.Itoa(i) != c.v("socket") {
		return nil, refuse(http.StatusNotFound, "ResourceNotFound", "processor", c.v("socket"))
	}
	architecture, instructions := architectureOf(h.Arch)
	return resourceOf(c.uri(), processorSchema, "Virtual CPU socket "+c.v("socket"), object{"ProcessorType": "CPU",
		"Socket": c.v("socket"), "ProcessorArchitecture": architecture, "InstructionSet": instructions,
		"TotalCores": h.Cores, "TotalThreads": h.Cores * h.Threads, "Status": enabled()}), nil
}

// architectureOf gives ProcessorArchitecture and InstructionSet for Kubernetes' name of an architecture.
func architectureOf(arch string) (architecture, instructions string) {
	switch arch {
	case "amd64":
		return "x86", "x86-64"
	case "arm64":
		return "ARM", "ARM-A64"
	case "ppc64le":
		return "Power", "PowerISA"
	case "riscv64":
		return "RISC-V", "RV64"
	}
	return "OEM", "OEM"
}

func (s *Service) ethernets(c *call) (object, error) {
	h, err := s.machine(c)
	if err != nil {
		return nil, err
	}
	return collectionOf(c.uri(), ethernetsSchema, "Network interfaces",
		links(h.NICs, func(n domain.NIC) string { return c.uri() + "/" + n.Name })), nil
}

func (s *Service) ethernet(c *call) (object, error) {
	h, err := s.machine(c)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(h.NICs, func(n domain.NIC) bool { return n.Name == c.v("nic") })
	if i < 0 {
		return nil, refuse(http.StatusNotFound, "ResourceNotFound", "network interface", c.v("nic"))
	}
	o := object{"InterfaceEnabled": true, "MACAddress": nil, "LinkStatus": "LinkDown", "Status": enabled()}
	if mac := h.NICs[i].MAC; mac != "" {
		o["MACAddress"], o["PermanentMACAddress"] = mac, mac
	}
	if h.NICs[i].Up {
		o["LinkStatus"] = "LinkUp"
	}
	return resourceOf(c.uri(), ethernetSchema, "Network interface "+c.v("nic"), o), nil
}

// storageID is the one SimpleStorage, which has all disks.
const storageID = "Disks"

func (s *Service) simpleStorages(c *call) (object, error) {
	if _, err := s.machine(c); err != nil {
		return nil, err
	}
	return collectionOf(c.uri(), simpleStoragesSchema, "Storage", []object{link(c.uri() + "/" + storageID)}), nil
}

func (s *Service) simpleStorage(c *call) (object, error) {
	h, err := s.machine(c)
	if err != nil {
		return nil, err
	}
	devices := []object{}
	for _, d := range h.Disks {
		if d.Kind != domain.DeviceDisk {
			continue
		}
		o := object{"Name": d.Name, "CapacityBytes": nil, "Status": enabled()}
		if d.Bus != "" {
			o["Model"] = d.Bus
		}
		if d.CapacityBytes > 0 {
			o["CapacityBytes"] = d.CapacityBytes
		}
		devices = append(devices, o)
	}
	return resourceOf(c.uri(), simpleStorageSchema, "Disks", object{"Devices": devices, "Status": enabled()}), nil
}
