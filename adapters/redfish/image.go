package redfish

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/ledgerfish/ledgerfish/domain"
)

// maxImage bounds an image's URL, in bytes: it goes into an event.
const maxImage = 2048

// insert is what an InsertMedia asks for.
type insert struct {
	image          string // as sent: the full URL
	plain          string // without user info
	user, password string
	insecure       bool
}

// readInsert reads the parameters of InsertMedia (VirtualMedia schema). VerifyCertificate, a property of the resource, is
// taken as a parameter too.
func (a ImageAddresses) readInsert(body object) (insert, error) {
	p := parameters{action: insertAction, body: body}
	in := insert{image: p.text("Image"), user: p.text("UserName"), password: p.text("Password")}
	inserted, protected, verify := p.flag("Inserted"), p.flag("WriteProtected"), p.flag("VerifyCertificate")
	method, protocol := p.text("TransferMethod"), p.text("TransferProtocolType")
	if err := p.done(); err != nil {
		return in, err
	}
	if in.image == "" {
		return in, refuse400("ActionParameterMissing", insertAction, "Image")
	}
	u, err := a.check(in.image)
	if err != nil {
		return in, err
	}
	in.insecure = verify != nil && !*verify
	switch {
	case inserted != nil && !*inserted:
		return in, refuseValue("ActionParameterValueNotInList", "false", "Inserted")
	case protected != nil && !*protected:
		return in, refuseValue("ActionParameterValueNotInList", "false", "WriteProtected")
	case method != "" && method != "Stream":
		return in, refuseValue("ActionParameterValueNotInList", shown(method), "TransferMethod")
	case protocol != "" && !strings.EqualFold(protocol, u.Scheme):
		return in, refuse400("ActionParameterValueConflict", "TransferProtocolType", shown(protocol)).
			saying("TransferProtocolType %s is not that of the image's URL.", shown(protocol))
	}
	return in.withUserInfo(u)
}

// withUserInfo settles the credentials, which come as parameters or in the URL, whole and once.
func (in insert) withUserInfo(u *url.URL) (insert, error) {
	if u.User != nil {
		if in.user != "" || in.password != "" {
			return in, refuse400("ActionParameterValueConflict", "UserName", "").saying("The image's URL has credentials already.")
		}
		in.user = u.User.Username()
		in.password, _ = u.User.Password()
		u.User = nil
	}
	switch {
	case in.user != "" && in.password == "":
		return in, refuse400("ActionParameterMissing", insertAction, "Password")
	case in.user == "" && in.password != "":
		return in, refuse400("ActionParameterMissing", insertAction, "UserName")
	}
	in.plain = u.String()
	return in, nil
}

// check refuses what is no http or https URL, and addresses that no image comes from: an importer that fetches them for
// a client would read the cloud's metadata or a node's own services. A name is not resolved here, so a name that leads
// there, or a redirect, is for the importer's network policy.
func (a ImageAddresses) check(image string) (*url.URL, error) {
	bad := func(why string) error {
		redacted, _ := domain.Redact(image)
		return refuseValue("ActionParameterValueFormatError", shown(redacted), "Image").saying("Image: %s.", why)
	}
	if len(image) > maxImage {
		return nil, bad("the URL is too long")
	}
	if i := strings.IndexFunc(image, notInURL); i >= 0 {
		return nil, bad("the URL has a character that has to be percent-encoded")
	}
	u, err := url.Parse(image)
	if err != nil || u.Opaque != "" {
		return nil, bad("this is no URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, bad("only http and https are supported")
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" {
		return nil, bad("the URL has no host")
	}
	if !a.allowed(host) {
		return nil, bad("images are not fetched from this address")
	}
	return u, nil
}

// notInURL is stricter than RFC 3986: characters that mean something to a shell are never needed unencoded.
func notInURL(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~:/?#[]@!&*+,=%", r))
}

func (a ImageAddresses) allowed(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return a.Loopback
	}
	if host == "metadata.google.internal" {
		return false
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return !numeric(host)
	}
	addr = addr.WithZone("").Unmap()
	if addr.IsLoopback() {
		return a.Loopback
	}
	if addr.IsUnspecified() || addr.IsLinkLocalUnicast() || addr.IsMulticast() {
		return false
	}
	for _, p := range append(refusedPrefixes(), a.Refused...) {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}

func refusedPrefixes() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),           // this host
		netip.MustParsePrefix("255.255.255.255/32"),  // broadcast
		netip.MustParsePrefix("fd00:ec2::254/128"),   // metadata over IPv6
		netip.MustParsePrefix("64:ff9b::a9fe:0/112"), // 169.254.0.0/16 through NAT64
	}
}

// numeric tells whether a resolver could take a host that is no IP address for one, as inet_aton does with 2852039166,
// 0xa9fea9fe or 127.1 (WHATWG URL, "ends in a number").
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.HasPrefix(last, "0x") || last != "" && strings.Trim(last, "0123456789") == ""
}

// refuseValue refuses the value of a parameter of InsertMedia.
func refuseValue(key, value, parameter string) *fault {
	return refuse400(key, value, parameter, insertAction)
}
