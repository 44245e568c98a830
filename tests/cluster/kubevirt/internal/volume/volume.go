// Package volume keeps the bytes of PersistentVolumes: one sparse file per volume, named after it, so that the data
// follows the volume when it is bound to another claim.
package volume

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Content says what a new volume holds.
type Content string

// MBR and GPT make a disk that firmware boots; everything else is blank.
const (
	Blank Content = ""
	MBR   Content = "mbr"
	GPT   Content = "gpt"
)

const sectorSize = 512

// Store is a directory of volumes.
type Store struct{ dir string }

// NewStore uses a directory that exists.
func NewStore(dir string) *Store { return &Store{dir: dir} }

func (s *Store) path(name string) string { return filepath.Join(s.dir, filepath.Base(name)+".img") }

// Create makes a volume of size bytes. One that exists keeps its data.
func (s *Store) Create(name string, size int64, content Content) error {
	f, err := os.OpenFile(s.path(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // the error that matters is the write's
	if err := f.Truncate(size); err != nil {
		return fmt.Errorf("make volume %s of %d bytes: %w", name, size, err)
	}
	switch content {
	case MBR, GPT:
		if _, err := f.WriteAt([]byte{0x55, 0xAA}, sectorSize-2); err != nil {
			return err
		}
	}
	if content == GPT {
		_, err = f.WriteAt([]byte("EFI PART"), sectorSize)
	}
	return err
}

// Open opens a volume for reading.
func (s *Store) Open(name string) (*os.File, error) { return os.Open(s.path(name)) }

// Remove deletes a volume; one that is not there is no error.
func (s *Store) Remove(name string) error {
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Names lists the volumes.
func (s *Store) Names() ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, "*.img"))
	for i, p := range paths {
		base := filepath.Base(p)
		paths[i] = base[:len(base)-len(".img")]
	}
	return paths, err
}

// Disk opens a volume for writing, empty and limited to capacity bytes: one more is ENOSPC, as on a full file system.
func (s *Store) Disk(name string, capacity int64) (*Disk, error) {
	f, err := os.OpenFile(s.path(name), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &Disk{file: f, capacity: capacity}, nil
}

// Disk is a volume being written from its start.
type Disk struct {
	file     *os.File
	capacity int64
	written  int64
}

// Write appends. Blocks of zeros become holes.
func (d *Disk) Write(p []byte) (int, error) {
	fits := p[:min(int64(len(p)), d.capacity-d.written)]
	if isZero(fits) {
		d.written += int64(len(fits))
		if _, err := d.file.Seek(d.written, io.SeekStart); err != nil {
			return 0, err
		}
	} else {
		n, err := d.file.Write(fits)
		d.written += int64(n)
		if err != nil {
			return n, err
		}
	}
	if len(fits) < len(p) {
		return len(fits), &os.PathError{Op: "write", Path: "/data/disk.img", Err: syscall.ENOSPC}
	}
	return len(p), nil
}

func isZero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}

// Written is the number of bytes so far.
func (d *Disk) Written() int64 { return d.written }

// Grow makes the disk size bytes long; it never shrinks.
func (d *Disk) Grow(size int64) error { return d.file.Truncate(max(size, d.written)) }

// Reader reads what was written.
func (d *Disk) Reader() io.Reader { return io.NewSectionReader(d.file, 0, d.written) }

// Close closes the file and keeps the data.
func (d *Disk) Close() error { return d.file.Close() }

// IsBootableDisk looks for an MBR or a GPT, as firmware does.
func IsBootableDisk(r io.ReaderAt) bool {
	b := make([]byte, 2*sectorSize)
	n, _ := r.ReadAt(b, 0)
	mbr := n >= sectorSize && b[sectorSize-2] == 0x55 && b[sectorSize-1] == 0xAA
	gpt := n >= sectorSize+8 && string(b[sectorSize:sectorSize+8]) == "EFI PART"
	return mbr || gpt
}
