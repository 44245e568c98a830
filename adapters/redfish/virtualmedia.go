package redfish

import (
	"path"
	"strings"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// mediaRoutes serves the one slot below the System, where newer clients look, and below the Manager, where older ones do.
func (s *Service) mediaRoutes() {
	for _, parent := range []string{"/Systems", "/Managers"} {
		slot := parent + "/{machine}/VirtualMedia/" + domain.SlotCd
		s.at(parent+"/{machine}/VirtualMedia", resource{get: s.virtualMedia})
		s.at(slot, resource{get: s.slot})
		s.at(slot+"/Actions/"+insertAction, resource{post: s.insertMedia})
		s.at(slot+"/Actions/"+ejectAction, resource{post: s.ejectMedia})
	}
}

func (s *Service) virtualMedia(c *call) (object, error) {
	if _, err := s.machine(c); err != nil {
		return nil, err
	}
	return collectionOf(c.uri(), mediaSchema, "Virtual media", []object{link(c.uri() + "/" + domain.SlotCd)}), nil
}

// slot shows the CD-ROM drive. Inserted is true from the accepted insert on, while the import goes on and also after it
// failed: clients eject only what says that it is inserted, and until then the slot is taken. Status tells the rest.
func (s *Service) slot(c *call) (object, error) {
	_, state, err := s.machineState(c)
	if err != nil {
		return nil, err
	}
	uri := c.uri()
	o := object{"MediaTypes": []string{"CD", "DVD"}, "Inserted": false, "Image": nil, "ImageName": nil,
		"ConnectedVia": "NotConnected", "WriteProtected": true, "TransferMethod": nil, "TransferProtocolType": nil,
		"UserName": nil, "Password": nil, "Status": enabled(),
		"Actions": object{
			"#" + insertAction: object{"target": uri + "/Actions/" + insertAction,
				"TransferMethod@Redfish.AllowableValues":       []string{"Stream"},
				"TransferProtocolType@Redfish.AllowableValues": []string{"HTTP", "HTTPS"}},
			"#" + ejectAction: object{"target": uri + "/Actions/" + ejectAction}}}
	if m, taken := state.CurrentMedium(); taken {
		o["Inserted"], o["Image"], o["ConnectedVia"], o["TransferMethod"] = true, m.Image, "URI", "Stream"
		o["ImageName"] = imageName(m.Image)
		o["TransferProtocolType"] = protocolOf(m.Image)
		o["VerifyCertificate"] = !m.Insecure
		o["Status"] = mediumStatus(m)
	}
	return resourceOf(uri, mediumSchema, "Virtual CD-ROM drive", o), nil
}

func mediumStatus(m projections.Medium) object {
	switch m.Phase {
	case projections.MediumInserted:
		return enabled()
	case projections.MediumFailed:
		text := "import failed: " + m.Reason
		return object{"State": "Enabled", "Health": "Critical", "Conditions": []object{{"Severity": "Critical", "Message": text,
			"MessageId": "ResourceEvent.1.4.ResourceErrorsDetected", "MessageArgs": []string{"Image", text}}}}
	}
	return object{"State": "Starting", "Health": "OK"}
}

func imageName(image string) string {
	image, _, _ = strings.Cut(image, "?")
	return path.Base(image)
}

func protocolOf(image string) string {
	scheme, _, _ := strings.Cut(image, ":")
	return strings.ToUpper(scheme)
}

const (
	insertAction = "VirtualMedia.InsertMedia"
	ejectAction  = "VirtualMedia.EjectMedia"
)

// insertMedia is the action VirtualMedia.InsertMedia. The answer comes before the import.
func (s *Service) insertMedia(c *call, body object) (reply, error) {
	h, err := s.machine(c)
	if err != nil {
		return reply{}, err
	}
	in, err := s.ImageAddresses.readInsert(body)
	if err != nil {
		return reply{}, err
	}
	command := domain.InsertMedia{Slot: domain.SlotCd, Digest: domain.Digest(in.image), Insecure: in.insecure}
	var secretive bool
	if command.Image, secretive = domain.Redact(in.image); secretive || in.user != "" {
		if command.Secret, err = s.Vault.Keep(c.detached(), h.Machine, c.id, in.plain, in.user, in.password); err != nil {
			return reply{}, err
		}
	}
	state, answer, err := s.Machines.Do(c.detached(), h.Machine, c.request(command))
	if err != nil {
		return reply{}, err
	}
	return s.accepted(h.Machine, state, answer), nil
}

// ejectMedia is the action VirtualMedia.EjectMedia. Ironic sends it without a body.
func (s *Service) ejectMedia(c *call, body object) (reply, error) {
	h, err := s.machine(c)
	if err != nil {
		return reply{}, err
	}
	if err := (&parameters{action: ejectAction, body: body}).done(); err != nil {
		return reply{}, err
	}
	state, answer, err := s.Machines.Do(c.detached(), h.Machine, c.request(domain.EjectMedia{Slot: domain.SlotCd}))
	if err != nil {
		return reply{}, err
	}
	return s.accepted(h.Machine, state, answer), nil
}
