// Package iso9660 says whether an image is a CD that firmware would boot, by reading what firmware reads: the volume
// descriptors of ISO 9660 (ECMA-119) and the boot catalogue of the El Torito specification 1.0.
//
//   - **Only bytes decide**: a bootable image with one changed byte in its validation entry is not bootable.
//   - Nothing is executed and no file system is traversed.
package iso9660

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// SectorSize is a CD's logical block.
const SectorSize = 2048

// descriptorStart is the sector of the first volume descriptor; maxDescriptors bounds the search for the last one.
const (
	descriptorStart = 16
	maxDescriptors  = 64
)

const bootSystem = "EL TORITO SPECIFICATION"

// ErrNotISO is returned for data that has no primary volume descriptor.
var ErrNotISO = errors.New("no ISO 9660 volume descriptor at sector 16")

// Image is what the descriptors say.
type Image struct {
	VolumeID string
	Sectors  uint32 // of the volume space; the data may be longer, padded to the size of its disk
	BootRBA  uint32 // sector of the boot image
}

// Digest is the SHA-256 of the volume space in hex: of the original image, when that was no longer than its volume
// space says, however much the disk has grown since.
func (i Image) Digest(r io.ReaderAt) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, int64(i.Sectors)*SectorSize)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Inspect reads an image of size bytes. The error says why firmware would not boot it.
func Inspect(r io.ReaderAt, size int64) (Image, error) {
	var image Image
	primary, err := sector(r, descriptorStart)
	if err != nil || primary[0] != 1 || string(primary[1:6]) != "CD001" {
		return image, ErrNotISO
	}
	image.VolumeID = strings.TrimRight(string(primary[40:72]), " \x00")
	image.Sectors = binary.LittleEndian.Uint32(primary[80:84])
	if int64(image.Sectors)*SectorSize > size {
		return image, fmt.Errorf("the volume space has %d sectors, more than the %d bytes there are", image.Sectors, size)
	}
	catalogue, err := bootCatalogue(r)
	if err != nil {
		return image, err
	}
	image.BootRBA, err = initialEntry(catalogue)
	if err != nil {
		return image, err
	}
	if image.BootRBA == 0 || image.BootRBA >= image.Sectors {
		return image, fmt.Errorf("the boot image at sector %d lies outside the volume space of %d sectors", image.BootRBA, image.Sectors)
	}
	code, err := sector(r, image.BootRBA)
	if err != nil {
		return image, fmt.Errorf("read boot image: %w", err)
	}
	if len(bytes.Trim(code, "\x00")) == 0 {
		return image, fmt.Errorf("the boot image at sector %d is empty", image.BootRBA)
	}
	return image, nil
}

// bootCatalogue follows the boot record, which is one of the volume descriptors after the primary one.
func bootCatalogue(r io.ReaderAt) ([]byte, error) {
	for n := uint32(descriptorStart + 1); n < descriptorStart+maxDescriptors; n++ {
		d, err := sector(r, n)
		if err != nil || string(d[1:6]) != "CD001" || d[0] == 255 {
			break
		}
		if d[0] == 0 && string(d[7:7+len(bootSystem)]) == bootSystem {
			catalogue, err := sector(r, binary.LittleEndian.Uint32(d[71:75]))
			if err != nil {
				return nil, fmt.Errorf("read boot catalogue: %w", err)
			}
			return catalogue, nil
		}
	}
	return nil, errors.New("no El Torito boot record")
}

// initialEntry checks the validation entry (El Torito 2.1) and returns the load RBA of the initial entry (2.2).
func initialEntry(catalogue []byte) (rba uint32, err error) {
	validation, initial := catalogue[:32], catalogue[32:64]
	if validation[0] != 1 {
		return 0, fmt.Errorf("validation entry: header ID is %d, not 1", validation[0])
	}
	if validation[30] != 0x55 || validation[31] != 0xAA {
		return 0, fmt.Errorf("validation entry: key bytes are %02x %02x, not 55 aa", validation[30], validation[31])
	}
	var sum uint16
	for i := 0; i < 32; i += 2 {
		sum += binary.LittleEndian.Uint16(validation[i : i+2])
	}
	if sum != 0 {
		return 0, fmt.Errorf("validation entry: checksum is %#04x, not 0", sum)
	}
	if initial[0] != 0x88 {
		return 0, fmt.Errorf("initial entry: boot indicator is %#02x, not 0x88", initial[0])
	}
	return binary.LittleEndian.Uint32(initial[8:12]), nil
}

func sector(r io.ReaderAt, n uint32) ([]byte, error) {
	b := make([]byte, SectorSize)
	_, err := r.ReadAt(b, int64(n)*SectorSize)
	return b, err
}
