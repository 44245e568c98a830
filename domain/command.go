package domain

// Command is what a client asks of one machine.
type Command interface{ command() }

// InsertMedia asks for an image in a slot. The image is already redacted: see MediaRequested for the fields.
type InsertMedia struct {
	Slot, Image, Digest, Secret string
	Insecure                    bool
}

// EjectMedia empties a slot.
type EjectMedia struct{ Slot string }

// Reset asks for a power action.
type Reset struct{ ResetType ResetType }

// SetBoot asks for another boot override; a nil field keeps what is.
type SetBoot struct {
	Target  *BootTarget
	Enabled *BootEnabled
}

func (InsertMedia) command() {}
func (EjectMedia) command()  {}
func (Reset) command()       {}
func (SetBoot) command()     {}

// Request is a command with who sent it.
type Request struct {
	ID      string // UUID; becomes Event.Corr and the Task's id
	By      string // "<account>@<source address>"
	Command Command
}
