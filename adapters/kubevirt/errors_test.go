package kubevirt

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	vmResource = schema.GroupResource{Group: "kubevirt.io", Resource: "virtualmachines"}
	noKind     = apierrors.NewGenericServerResponse(http.StatusNotFound, "get", vmResource, "web-0", "404 page not found", 0, true)
	noObject   = apierrors.NewNotFound(vmResource, "web-0")
)

// A cluster that does not serve the kind answers 404 as well: that must not read as "the machine is gone".
func TestAMissingKindIsNotAMissingObject(t *testing.T) {
	assert.True(t, missing(noObject))
	assert.True(t, missing(fmt.Errorf("get: %w", noObject)))
	assert.False(t, missing(noKind))
	assert.False(t, missing(errors.New("connection refused")))
}

func TestWhatTryingAgainWouldNotHelpIsTerminal(t *testing.T) {
	isTerminal := func(err error) bool { return errors.As(classify(err), &terminalError{}) }
	for _, err := range []error{
		apierrors.NewForbidden(vmResource, "web-0", errors.New("exceeded quota")),
		apierrors.NewInvalid(schema.GroupKind{Kind: "VirtualMachine"}, "web-0", nil),
		apierrors.NewBadRequest("denied by a webhook"),
		fmt.Errorf("create: %w", noKind),
	} {
		assert.True(t, isTerminal(err), err)
	}
	for _, err := range []error{
		apierrors.NewConflict(vmResource, "web-0", errors.New("stale")),
		apierrors.NewInternalError(errors.New("failed calling webhook")),
		apierrors.NewTooManyRequests("later", 1),
		apierrors.NewServerTimeout(vmResource, "update", 1),
		errors.New("connection refused"),
	} {
		assert.False(t, isTerminal(err), err)
	}
	assert.ErrorIs(t, classify(apierrors.NewConflict(vmResource, "web-0", nil)), ErrMoved)
	assert.ErrorIs(t, classify(noObject), ErrMoved)
	assert.NoError(t, classify(nil))
}

func TestErrorsShowNoSecretOfAURL(t *testing.T) {
	err := redactedError{fmt.Errorf(`spec.source.http.url: Invalid value: "https://u:hunter2@h/a.iso?token=hunter2": %w`, ErrMoved)}
	assert.Equal(t, `spec.source.http.url: Invalid value: "https://h/a.iso?redacted": it has changed meanwhile`, err.Error())
	assert.ErrorIs(t, err, ErrMoved)
}

// A webhook that answers with a book must not make an event that no segment has room for.
func TestWhatIsQuotedIsShort(t *testing.T) {
	long := redactedError{errors.New("denied: http://u:hunter2@h/ " + strings.Repeat("é", 1<<20))}.Error()
	assert.LessOrEqual(t, len(long), longest+3)
	assert.True(t, utf8.ValidString(long))
	assert.NotContains(t, long, "hunter2")
}
