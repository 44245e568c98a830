package redfish

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// The members of Boot that can be written.
const (
	overrideEnabled = "BootSourceOverrideEnabled"
	overrideTarget  = "BootSourceOverrideTarget"
	overrideMode    = "BootSourceOverrideMode"
)

func bootLifetimes() []domain.BootEnabled {
	return []domain.BootEnabled{domain.BootDisabled, domain.BootOnce, domain.BootContinuous}
}

// bootOf shows the override. The mode is the machine's firmware and has no other value to choose; it counts as writable
// all the same, since clients send it along.
func bootOf(h domain.Hardware, state projections.State) object {
	target, lifetime := state.BootOverride()
	return object{overrideTarget: target, overrideEnabled: lifetime, overrideMode: h.BootMode,
		overrideTarget + "@Redfish.AllowableValues":  domain.BootTargets(),
		overrideEnabled + "@Redfish.AllowableValues": bootLifetimes(),
		overrideMode + "@Redfish.AllowableValues":    []domain.BootMode{h.BootMode},
		"@Redfish.WriteableProperties":               []string{overrideEnabled, overrideTarget, overrideMode}}
}

// patchSystem changes the boot override. A wrong value changes nothing; unknown and read-only properties beside a good
// one are reported with the success (DSP0266, "PATCH (update)").
func (s *Service) patchSystem(c *call, body object) (reply, error) {
	h, state, err := s.machineState(c)
	if err != nil {
		return reply{}, err
	}
	p := bootPatch{mode: h.BootMode}
	p.read(body, systemOf(h, state))
	if err := p.verdict(); err != nil {
		return reply{}, err
	}
	if p.command != (domain.SetBoot{}) {
		if state, _, err = s.Machines.Do(c.detached(), h.Machine, c.request(p.command)); err != nil {
			return reply{}, err
		}
	}
	o := systemOf(h, state)
	if len(p.ignored) > 0 {
		o["@Message.ExtendedInfo"] = infos(p.ignored)
	}
	return reply{status: http.StatusOK, body: o}, nil
}

// bootPatch is what a PATCH of a System asks for.
type bootPatch struct {
	mode    domain.BootMode
	command domain.SetBoot
	good    int      // properties with a value to set, also when it is the value already
	ignored []*fault // properties that are unknown or read-only
	wrong   *fault   // the first value that is not acceptable
}

func (p *bootPatch) read(body, current object) {
	for _, name := range slices.Sorted(maps.Keys(body)) {
		switch boot, isObject := body[name].(object); {
		case strings.HasPrefix(name, "@"):
		case name != "Boot":
			p.ignore(name, "/"+name, current)
		case !isObject:
			p.fail(refuse400("PropertyValueTypeError", kindOf(body[name]), name).at("/Boot"))
		default:
			for _, member := range slices.Sorted(maps.Keys(boot)) {
				p.member(member, boot[member])
			}
		}
	}
}

// member reads a member of Boot. Its zero value asks for nothing: gofish sends every member that the schema has.
func (p *bootPatch) member(name string, value any) {
	if strings.HasPrefix(name, "@") || zero(value) {
		return
	}
	text, isText := value.(string)
	at := "/Boot/" + name
	switch name {
	case overrideTarget, overrideEnabled, overrideMode:
		if !isText {
			p.fail(refuse400("PropertyValueTypeError", kindOf(value), name).at(at))
			return
		}
	default:
		p.ignore(name, at, object{})
		return
	}
	p.good++
	switch name {
	case overrideTarget:
		target := domain.BootTarget(text)
		p.command.Target = &target
		p.allow(at, name, text, listed(domain.BootTargets()))
	case overrideEnabled:
		lifetime := domain.BootEnabled(text)
		p.command.Enabled = &lifetime
		p.allow(at, name, text, listed(bootLifetimes()))
	case overrideMode:
		p.allow(at, name, text, string(p.mode))
	}
}

func (p *bootPatch) allow(at, name, value, allowed string) {
	if slices.Contains(strings.Split(allowed, ", "), value) {
		return
	}
	f := refuse400("PropertyValueNotInList", shown(value), name).at(at)
	f.resolution = "Send one of: " + allowed + "."
	p.fail(f)
}

func (p *bootPatch) ignore(name, at string, current object) {
	key := "PropertyUnknown"
	if _, shown := current[name]; shown {
		key = "PropertyNotWritable"
	}
	p.ignored = append(p.ignored, refuse400(key, name).at(at))
}

func (p *bootPatch) fail(f *fault) {
	if p.wrong == nil {
		p.wrong = f
	}
}

// verdict is what a patch that changes nothing is answered with.
func (p *bootPatch) verdict() error {
	switch {
	case p.wrong != nil:
		return p.wrong
	case p.good > 0:
		return nil
	case len(p.ignored) > 0:
		first := p.ignored[0]
		first.also = p.ignored[1:]
		return first
	}
	return refuse400("NoOperation")
}

func zero(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return r.IsZero() || (r.Kind() == reflect.Slice || r.Kind() == reflect.Map) && r.Len() == 0
}
