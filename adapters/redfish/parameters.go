package redfish

import (
	"slices"
	"strings"
)

// parameters reads the body of an action. The first thing wrong is kept for done; a null counts as not sent.
type parameters struct {
	action string
	body   object
	known  []string
	err    error
}

// text reads a string; "" when it was not sent.
func (p *parameters) text(name string) string { return read[string](p, name) }

// flag reads a boolean; nil when it was not sent.
func (p *parameters) flag(name string) *bool {
	if p.body[name] == nil {
		p.known = append(p.known, name)
		return nil
	}
	v := read[bool](p, name)
	return &v
}

func read[T any](p *parameters, name string) T {
	p.known = append(p.known, name)
	v, sent := p.body[name]
	t, right := v.(T)
	if sent && v != nil && !right && p.err == nil {
		p.err = refuse400("ActionParameterValueTypeError", kindOf(v), name, p.action)
	}
	return t
}

// done gives what was wrong; call it after every parameter has been read. Annotations are no parameters.
func (p *parameters) done() error {
	for name := range p.body {
		if !slices.Contains(p.known, name) && !strings.HasPrefix(name, "@") {
			return refuse400("ActionParameterUnknown", p.action, name)
		}
	}
	return p.err
}

// kindOf stands for a value of the wrong type in a message: the value itself may be a secret in the wrong place.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "(string)"
	case bool:
		return "(boolean)"
	case float64:
		return "(number)"
	case []any:
		return "(array)"
	}
	return "(object)"
}

// shown is a client's own value for the arguments of a message, cut short.
func shown(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "..."
	}
	return s
}

func listed[T ~string](of []T) string {
	var l []string
	for _, v := range of {
		l = append(l, string(v))
	}
	return strings.Join(l, ", ")
}
