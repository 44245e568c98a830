package kubevirt

import (
	"errors"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// ErrMoved says that the world or the log is not as it was read: look again and decide again.
var ErrMoved = errors.New("it has changed meanwhile")

// terminalError is one that trying again would not help: it becomes [domain.Result.Err].
type terminalError struct{ error }

func (e terminalError) Unwrap() error { return e.error }

func terminal(err error) error { return terminalError{err} }

// classify gives the API server's answer to a write one of three meanings: look again (ErrMoved), terminal, or a
// transient error, which it leaves as it is. Forbidden is also what a quota, a terminating namespace and most webhooks
// answer; a webhook that can not be reached is an internal error and so transient.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err), missing(err):
		return errors.Join(ErrMoved, err)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsNotAcceptable(err),
		apierrors.IsMethodNotSupported(err), apierrors.IsRequestEntityTooLargeError(err), noSuchKind(err):
		return terminal(err)
	}
	return err
}

// missing tells whether the API server said that this object is not there.
func missing(err error) bool { return apierrors.IsNotFound(err) && !noSuchKind(err) }

// noSuchKind tells whether the API server does not know the kind at all. That is a 404 as well, but says nothing of any
// object.
func noSuchKind(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// redactedError shows an error's text without the secrets that URLs in it may carry. What the API server and importers say
// quotes them.
type redactedError struct{ error }

func (e redactedError) Error() string { return redact(e.error.Error()) }
func (e redactedError) Unwrap() error { return e.error }

var urls = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>\\]+`)

// longest bounds what is quoted of others, in bytes: it goes into an event, and a webhook may answer with a whole object.
const longest = 2048

// redact takes what may be secret out of every URL in a text, and cuts it short.
func redact(text string) string {
	text = urls.ReplaceAllStringFunc(text, func(url string) string {
		redacted, _ := domain.Redact(url)
		return redacted
	})
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}
