package redfish

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/ledgerfish/ledgerfish/domain"
)

// retryAfter is how many seconds a client is asked to wait after a 202, 429 or 503.
const retryAfter = 5

// fault is an answer that says no: a message of the Base registry (DSP0266, "Error responses").
type fault struct {
	status     int
	key        string // MessageKey of the Base registry
	text       string
	args       []string
	resolution string
	property   string      // RFC 6901 pointer to the property at fault; empty: the request as a whole
	also       []*fault    // what else is wrong with the request
	header     http.Header // beside the usual ones
	cause      error       // for our own log; never shown
}

func (f *fault) Error() string {
	if f.cause != nil {
		return f.text + ": " + f.cause.Error()
	}
	return f.text
}

func (f *fault) Unwrap() error { return f.cause }

// refuse makes a fault; the arguments are the registry's, in its order.
func refuse(status int, key string, args ...string) *fault {
	m := baseMessages()[key]
	f := &fault{status: status, key: key, text: m.text, args: args, resolution: m.resolution, header: http.Header{}}
	for i, a := range args {
		f.text = strings.ReplaceAll(f.text, "%"+strconv.Itoa(i+1), a)
	}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		f.header.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	return f
}

func refuse400(key string, args ...string) *fault { return refuse(http.StatusBadRequest, key, args...) }

// saying replaces the registry's text by a better one of ours.
func (f *fault) saying(format string, args ...any) *fault {
	f.text = fmt.Sprintf(format, args...)
	return f
}

// at names the property at fault: "/Boot/BootSourceOverrideMode".
func (f *fault) at(pointer string) *fault {
	f.property = pointer
	return f
}

func (f *fault) because(err error) *fault {
	f.cause = err
	return f
}

// info is the fault as a member of @Message.ExtendedInfo.
func (f *fault) info() object {
	o := object{"@odata.type": messageSchema.odataType(), "MessageId": baseRegistry + f.key, "Message": f.text,
		"MessageSeverity": baseMessages()[f.key].severity, "Resolution": f.resolution}
	if len(f.args) > 0 {
		o["MessageArgs"] = f.args
	}
	if f.property != "" {
		o["RelatedProperties"] = []string{"#" + f.property}
	}
	return o
}

// body is the error response (DSP0266, "Error responses").
func (f *fault) body() object {
	return object{"error": object{"code": baseRegistry + f.key, "message": f.text,
		"@Message.ExtendedInfo": infos(append([]*fault{f}, f.also...))}}
}

func infos(faults []*fault) []object {
	l := make([]object, 0, len(faults))
	for _, f := range faults {
		l = append(l, f.info())
	}
	return l
}

// faultOf is the one table from an error to its answer. What is no *domain.Error and no fault is ours: it is logged, and
// the client learns nothing of it.
func faultOf(err error, uri string) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	var e *domain.Error
	if !errors.As(err, &e) {
		return refuse(http.StatusInternalServerError, "InternalError").because(err)
	}
	switch e.Code {
	case domain.CodeInvalid:
		f = refuse(http.StatusBadRequest, "GeneralError")
		if e.Property != "" {
			f = refuse(http.StatusBadRequest, "PropertyValueError", e.Property)
		}
	case domain.CodeNotFound:
		f = refuse(http.StatusNotFound, "ResourceMissingAtURI", uri)
	case domain.CodeConflict:
		f = refuse(http.StatusConflict, "ResourceInUse")
	case domain.CodeUnavailable:
		f = refuse(http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", strconv.Itoa(retryAfter))
	default:
		return refuse(http.StatusInternalServerError, "InternalError").because(err)
	}
	return f.saying("%s", e.Message).because(e.Err)
}
