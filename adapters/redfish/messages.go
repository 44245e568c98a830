package redfish

// baseRegistry precedes the key in a MessageId; keys and the number of their arguments are those of DMTF's Base 1.22.
const baseRegistry = "Base.1.22."

// message is one entry of the registry, in our own words; %1 and so on are its arguments.
type message struct{ severity, text, resolution string }

func baseMessages() map[string]message {
	const (
		warning, critical = "Warning", "Critical"
		fix               = "Correct the request and send it again."
		leaveOut          = "Leave it out and send the request again."
		wait              = "Send the request again after the time given in Retry-After."
	)
	return map[string]message{
		"GeneralError":                    {critical, "The request failed.", fix},
		"InternalError":                   {critical, "The service failed at this request; it goes on with others.", "Send it again; if that fails too, look at the service's log."},
		"OperationFailed":                 {warning, "The operation did not succeed.", "Look at the machine's log for the reason."},
		"MalformedJSON":                   {critical, "The body of the request is not a JSON object.", fix},
		"PayloadTooLarge":                 {critical, "The body of the request is too large.", "Send a smaller one."},
		"HeaderInvalid":                   {critical, "The header %1 of the request is not acceptable.", fix},
		"NoOperation":                     {warning, "The request asks for no change.", "Send at least one property that can be changed."},
		"PropertyUnknown":                 {warning, "There is no property %1 here.", leaveOut},
		"PropertyNotWritable":             {warning, "The property %1 can not be changed.", leaveOut},
		"PropertyMissing":                 {warning, "The property %1 is missing.", fix},
		"PropertyValueError":              {warning, "The value of the property %1 is not acceptable.", fix},
		"PropertyValueTypeError":          {warning, "The value %1 of the property %2 has the wrong type.", fix},
		"PropertyValueNotInList":          {warning, "The value %1 of the property %2 is not one of those allowed.", fix},
		"ActionParameterMissing":          {critical, "The action %1 needs the parameter %2.", fix},
		"ActionParameterUnknown":          {warning, "The action %1 has no parameter %2.", leaveOut},
		"ActionParameterValueTypeError":   {warning, "The value %1 of the parameter %2 of the action %3 has the wrong type.", fix},
		"ActionParameterValueFormatError": {warning, "The value %1 of the parameter %2 of the action %3 is not of the right form.", fix},
		"ActionParameterValueNotInList":   {warning, "The value %1 of the parameter %2 of the action %3 is not one of those allowed.", fix},
		"ActionParameterValueConflict":    {warning, "The parameter %1 with the value %2 does not go with the others.", fix},
		"QueryParameterUnsupported":       {warning, "The query parameter %1 is not supported.", leaveOut},
		"OperationNotAllowed":             {critical, "This method is not allowed here.", "See the header Allow."},
		"ResourceMissingAtURI":            {critical, "There is nothing at %1.", "Follow the links from /redfish/v1/."},
		"ResourceNotFound":                {critical, "There is no %1 named %2.", "Look at the collection."},
		"ResourceInUse":                   {warning, "The resource is in use.", "See the message."},
		"PreconditionFailed":              {critical, "The resource has changed since it was read.", "Read it again, and send the request with its new ETag."},
		"AccessUnauthorized":              {critical, "Valid credentials are needed.", "Log in, or send HTTP Basic credentials."},
		"ServiceTemporarilyUnavailable":   {critical, "The service is not available now. Try again in %1 seconds.", wait},
	}
}
