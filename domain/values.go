package domain

import "time"

// PowerState is a Redfish PowerState (Resource schema); these four and no other are ever shown.
type PowerState string

// The power states.
const (
	PowerOff         PowerState = "Off"
	PowerOn          PowerState = "On"
	PowerPoweringOn  PowerState = "PoweringOn"
	PowerPoweringOff PowerState = "PoweringOff"
)

// ResetType is a Redfish ResetType (Resource schema).
type ResetType string

// The reset types that are served.
const (
	ResetOn               ResetType = "On"
	ResetForceOn          ResetType = "ForceOn"
	ResetForceOff         ResetType = "ForceOff"
	ResetGracefulShutdown ResetType = "GracefulShutdown"
	ResetForceRestart     ResetType = "ForceRestart"
	ResetGracefulRestart  ResetType = "GracefulRestart"
	ResetPowerCycle       ResetType = "PowerCycle"
	ResetPushPowerButton  ResetType = "PushPowerButton"
)

// ResetTypes lists the reset types that are served, in the order in which they are shown.
func ResetTypes() []ResetType {
	return []ResetType{ResetOn, ResetForceOff, ResetGracefulShutdown, ResetGracefulRestart, ResetForceRestart,
		ResetForceOn, ResetPowerCycle, ResetPushPowerButton}
}

// Goal is what a power intent wants of the machine.
type Goal string

// The goals.
const (
	GoalStart   Goal = "start"
	GoalStop    Goal = "stop"
	GoalRestart Goal = "restart"
)

// BootTarget is a Redfish BootSource (ComputerSystem schema).
type BootTarget string

// The boot targets that are served.
const (
	BootNone BootTarget = "None"
	BootPxe  BootTarget = "Pxe"
	BootHdd  BootTarget = "Hdd"
	BootCd   BootTarget = "Cd"
)

// BootTargets lists the boot targets that are served.
func BootTargets() []BootTarget { return []BootTarget{BootNone, BootPxe, BootHdd, BootCd} }

// BootEnabled is a Redfish BootSourceOverrideEnabled (ComputerSystem schema).
type BootEnabled string

// The lifetimes of a boot override.
const (
	BootDisabled   BootEnabled = "Disabled"
	BootOnce       BootEnabled = "Once"
	BootContinuous BootEnabled = "Continuous"
)

// BootMode is a Redfish BootSourceOverrideMode (ComputerSystem schema).
type BootMode string

// The boot modes.
const (
	BootUEFI   BootMode = "UEFI"
	BootLegacy BootMode = "Legacy"
)

// Limits bound what the worker waits for. All are durations of the wall clock; Restarts is a count.
type Limits struct {
	ImportDeadline time.Duration // from MediaRequested to ImportCompleted
	AttachDeadline time.Duration // from ImportCompleted to MediaInserted
	ImportStall    time.Duration // no byte moved for so long: the import failed
	ImportRestarts int           // the importer was restarted more often: the import failed
	PowerDeadline  time.Duration // from PowerRequested or PowerReleased to PowerApplied, beside the VM's own grace period
}
