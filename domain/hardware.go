package domain

// Hardware is a machine as its VM's spec describes it: what a client may inventory. It says nothing about state.
type Hardware struct {
	Machine
	UUID        string // firmware UUID, unique and stable
	Serial      string // firmware serial; may be empty
	Arch        string // of the template, "amd64" when it says nothing
	Sockets     int
	Cores       int // per socket
	Threads     int // per core
	MemoryBytes int64
	BootMode    BootMode
	SecureBoot  bool
	NICs        []NIC
	Disks       []Disk
}

// NIC is a network interface of the template.
type NIC struct {
	Name string
	MAC  string // "02:00:00:00:00:01"; empty while KubeVirt has not chosen one
	Up   bool   // its instance runs
}

// Disk is a disk of the template.
type Disk struct {
	Name          string
	Kind          DeviceKind
	Bus           string
	CapacityBytes int64 // 0: not known
}
