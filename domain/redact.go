package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
)

// Redact gives a URL without what may be secret in it: user info, the values of its query, and its fragment.
// The second result tells whether anything was taken away.
func Redact(raw string) (redacted string, changed bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "(unreadable URL)", true
	}
	changed = u.User != nil || u.RawQuery != "" || u.Fragment != ""
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		u.RawQuery = "redacted"
	}
	return u.String(), changed
}

// Digest is the hex SHA-256 of a full URL: it tells whether two inserts mean the same image, and nothing else.
func Digest(raw string) string {
	sum := sha256.Sum256([]byte(raw))
	return hex.EncodeToString(sum[:])
}
