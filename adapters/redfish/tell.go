package redfish

import (
	"fmt"
	"time"

	"github.com/ledgerfish/ledgerfish/domain"
)

// The severities of a log entry (LogEntry schema).
const (
	severityOK       = "OK"
	severityWarning  = "Warning"
	severityCritical = "Critical"
)

// tell says an event in a sentence for a person, and how bad it is.
func tell(e domain.Event) (message, severity string) {
	switch d := e.Data.(type) {
	case domain.MachineAdopted:
		return fmt.Sprintf("Machine %s (UID %s) is managed from now on.", d.Machine, d.UID), severityOK
	case domain.MachineLost:
		return "The virtual machine is gone: " + d.Reason + ".", severityWarning
	case domain.VolumeSwept:
		return fmt.Sprintf("Removed %s, which nothing needs: %s.", d.Volume, d.Reason), severityOK
	case domain.RequestRepeated:
		return fmt.Sprintf("Request %d was sent again.", e.Cause), severityOK
	case domain.Unknown:
		return fmt.Sprintf("An event that this version does not know: %s version %d.", d.Type, e.V), severityWarning
	}
	for _, telling := range []func(domain.Event) (string, string){tellMedia, tellPower, tellBoot} {
		if message, severity = telling(e); message != "" {
			return message, severity
		}
	}
	return string(e.Type) + ".", severityOK
}

func tellMedia(e domain.Event) (message, severity string) {
	switch d := e.Data.(type) {
	case domain.MediaRequested:
		return fmt.Sprintf("Insert of %s into %s was accepted; the import has to be done by %s.",
			d.Image, d.Slot, clock(d.Deadline)), severityOK
	case domain.MediaRefused:
		return fmt.Sprintf("Insert of %s into %s was refused: %s.", d.Image, d.Slot, d.Reason), severityWarning
	case domain.ImportStarted:
		return fmt.Sprintf("The import into volume %s has started.", d.Volume), severityOK
	case domain.ImportCompleted:
		return "The import is complete; the virtual machine does not have it yet.", severityOK
	case domain.MediaInserted:
		return "The medium is inserted.", severityOK
	case domain.ImportFailed:
		return "The import failed: " + d.Reason + ".", severityCritical
	case domain.ImportExpired:
		return fmt.Sprintf("The import was not done by %s and is given up.", clock(d.Deadline)), severityCritical
	case domain.EjectRequested:
		if d.Reason != "" {
			return fmt.Sprintf("Medium %d leaves %s: %s.", d.Medium, d.Slot, d.Reason), severityOK
		}
		return fmt.Sprintf("Eject of medium %d from %s was accepted.", d.Medium, d.Slot), severityOK
	case domain.MediaEjected:
		return "Nothing is left of the medium.", severityOK
	}
	return "", ""
}

func tellPower(e domain.Event) (message, severity string) {
	switch d := e.Data.(type) {
	case domain.PowerRequested:
		return fmt.Sprintf("%s was accepted.", d.ResetType), severityOK
	case domain.PowerDeferred:
		return fmt.Sprintf("Power is held until medium %d is inserted, at most until %s.", d.Media, clock(d.Until)), severityOK
	case domain.PowerReleased:
		return fmt.Sprintf("Power is released: %s.", d.Goal), severityOK
	case domain.PowerCancelled:
		return "The power action was cancelled: " + d.Reason + ".", severityWarning
	case domain.PowerRefused:
		return fmt.Sprintf("%s was refused: %s.", d.ResetType, d.Reason), severityWarning
	case domain.PowerApplied:
		return "The power action is done.", severityOK
	case domain.PowerFailed:
		return "The power action failed: " + d.Reason + ".", severityCritical
	case domain.PowerObserved:
		return fmt.Sprintf("The machine is %s.", d.State), severityOK
	}
	return "", ""
}

func tellBoot(e domain.Event) (message, severity string) {
	switch d := e.Data.(type) {
	case domain.BootOverrideSet:
		return fmt.Sprintf("Boot override: %s, %s.", d.Target, d.Enabled), severityOK
	case domain.BootOverrideApplied:
		if !d.Changed {
			return "The boot override has no device to put first; the boot order is as it was.", severityOK
		}
		return "The boot override is in the boot order.", severityOK
	case domain.BootOverrideConsumed:
		return fmt.Sprintf("Instance %s was started with the boot override.", d.VMI), severityOK
	case domain.BootOverrideReverted:
		return "The original boot order is restored.", severityOK
	}
	return "", ""
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
