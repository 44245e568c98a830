package domain

import (
	"fmt"
	"time"
)

// The severities of an event, as Redfish has them (LogEntry schema).
const (
	SeverityOK       = "OK"
	SeverityWarning  = "Warning"
	SeverityCritical = "Critical"
)

// Tell says an event in a sentence for a person, and how bad it is.
func Tell(e Event) (message, severity string) {
	switch d := e.Data.(type) {
	case MachineAdopted:
		return fmt.Sprintf("Machine %s (UID %s) is managed from now on.", d.Machine, d.UID), SeverityOK
	case MachineLost:
		return "The virtual machine is gone: " + d.Reason + ".", SeverityWarning
	case VolumeSwept:
		return fmt.Sprintf("Removed %s, which nothing needs: %s.", d.Volume, d.Reason), SeverityOK
	case RequestRepeated:
		return fmt.Sprintf("Request %d was sent again.", e.Cause), SeverityOK
	case Unknown:
		return fmt.Sprintf("An event that this version does not know: %s version %d.", d.Type, e.V), SeverityWarning
	}
	for _, telling := range []func(Event) (string, string){tellMedia, tellPower, tellBoot} {
		if message, severity = telling(e); message != "" {
			return message, severity
		}
	}
	return string(e.Type) + ".", SeverityOK
}

func tellMedia(e Event) (message, severity string) {
	switch d := e.Data.(type) {
	case MediaRequested:
		return fmt.Sprintf("Insert of %s into %s was accepted; the import has to be done by %s.", d.Image, d.Slot, clock(d.Deadline)), SeverityOK
	case MediaRefused:
		return fmt.Sprintf("Insert of %s into %s was refused: %s.", d.Image, d.Slot, d.Reason), SeverityWarning
	case ImportStarted:
		return fmt.Sprintf("The import into volume %s has started.", d.Volume), SeverityOK
	case ImportCompleted:
		return "The import is complete; the virtual machine does not have it yet.", SeverityOK
	case MediaInserted:
		return "The medium is inserted.", SeverityOK
	case ImportFailed:
		return "The import failed: " + d.Reason + ".", SeverityCritical
	case ImportExpired:
		return fmt.Sprintf("The import was not done by %s and is given up.", clock(d.Deadline)), SeverityCritical
	case EjectRequested:
		if d.Reason != "" {
			return fmt.Sprintf("Medium %d leaves %s: %s.", d.Medium, d.Slot, d.Reason), SeverityOK
		}
		return fmt.Sprintf("Eject of medium %d from %s was accepted.", d.Medium, d.Slot), SeverityOK
	case MediaEjected:
		return "Nothing is left of the medium.", SeverityOK
	}
	return "", ""
}

func tellPower(e Event) (message, severity string) {
	switch d := e.Data.(type) {
	case PowerRequested:
		return fmt.Sprintf("%s was accepted.", d.ResetType), SeverityOK
	case PowerDeferred:
		return fmt.Sprintf("Power is held until medium %d is inserted, at most until %s.", d.Media, clock(d.Until)), SeverityOK
	case PowerReleased:
		return fmt.Sprintf("Power is released: %s.", d.Goal), SeverityOK
	case PowerCancelled:
		return "The power action was cancelled: " + d.Reason + ".", SeverityWarning
	case PowerRefused:
		return fmt.Sprintf("%s was refused: %s.", d.ResetType, d.Reason), SeverityWarning
	case PowerApplied:
		return "The power action is done.", SeverityOK
	case PowerFailed:
		return "The power action failed: " + d.Reason + ".", SeverityCritical
	case PowerObserved:
		return fmt.Sprintf("The machine is %s.", d.State), SeverityOK
	}
	return "", ""
}

func tellBoot(e Event) (message, severity string) {
	switch d := e.Data.(type) {
	case BootOverrideSet:
		return fmt.Sprintf("Boot override: %s, %s.", d.Target, d.Enabled), SeverityOK
	case BootOverrideApplied:
		if d.Refused != "" {
			return "The cluster does not take the boot override's order: " + d.Refused + ".", SeverityWarning
		}
		if !d.Changed {
			return "The boot override has no device to put first; the boot order is as it was.", SeverityOK
		}
		return "The boot override is in the boot order.", SeverityOK
	case BootOverrideConsumed:
		return fmt.Sprintf("Instance %s was started with the boot override.", d.VMI), SeverityOK
	case BootOverrideReverted:
		return "The original boot order is restored.", SeverityOK
	}
	return "", ""
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
