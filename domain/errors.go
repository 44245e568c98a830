package domain

import (
	"errors"
	"fmt"
)

// Code classifies an error for whoever has to answer it. One table in adapters/redfish maps it to an HTTP status and a
// Redfish MessageId.
type Code string

// The codes.
const (
	CodeInvalid     Code = "invalid"     // the request is wrong in itself
	CodeNotFound    Code = "not found"   // no such machine, medium or task
	CodeConflict    Code = "conflict"    // right, but not in this state: the gate refused
	CodeUnavailable Code = "unavailable" // not now; nothing is promised; try again
	CodeInternal    Code = "internal"    // a fault of ours
)

// Error is an error with a code and a message that may be shown to the client: it holds no secret.
type Error struct {
	Code    Code
	Message string
	// Property names the parameter or property at fault, as in the request; empty when it is the request as a whole.
	Property string
	Err      error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// At sets the parameter or property at fault.
func (e *Error) At(property string) *Error {
	e.Property = property
	return e
}

// CodeOf is the code of the first Error in err's chain, CodeInternal for any other error and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
