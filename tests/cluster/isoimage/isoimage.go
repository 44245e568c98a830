// Package isoimage makes CD images for tests and the demo: the least that firmware boots by ISO 9660 (ECMA-119) and
// El Torito 1.0, padded to any size. There is nothing to run on them.
//
// **The same arguments make the same bytes**, and different volume identifiers different ones, so a test can tell which
// image a guest has booted.
package isoimage

import (
	"encoding/binary"
	"fmt"
)

const sectorSize = 2048

// Sectors of what an image consists of.
const (
	primarySector    = 16
	recordSector     = 17
	terminatorSector = 18
	catalogueSector  = 19
	bootSector       = 20
	sectorsAtLeast   = 21
)

// MinSize is the size of the smallest image in bytes.
const MinSize = sectorsAtLeast * sectorSize

// BootCatalogue is the offset of the boot catalogue's validation entry; one changed byte in its 32 makes the image one
// that does not boot.
const BootCatalogue = catalogueSector * sectorSize

// Bootable makes an image of size bytes, rounded up to whole sectors, with a volume identifier of at most 32
// characters. The rest of the image is filled with a pattern, so that it neither compresses nor becomes a hole.
func Bootable(volumeID string, size int) []byte {
	sectors := max(sectorsAtLeast, (size+sectorSize-1)/sectorSize)
	image := make([]byte, sectors*sectorSize)
	sector := func(n int) []byte { return image[n*sectorSize : (n+1)*sectorSize] }

	primary := sector(primarySector)
	copy(primary, "\x01CD001\x01")
	copy(primary[40:72], fmt.Sprintf("%-32s", volumeID))
	binary.LittleEndian.PutUint32(primary[80:], uint32(sectors))
	binary.BigEndian.PutUint32(primary[84:], uint32(sectors))

	record := sector(recordSector)
	copy(record, "\x00CD001\x01EL TORITO SPECIFICATION")
	binary.LittleEndian.PutUint32(record[71:], catalogueSector)
	copy(sector(terminatorSector), "\xffCD001\x01")

	catalogue := sector(catalogueSector)
	catalogue[0], catalogue[30], catalogue[31] = 1, 0x55, 0xAA
	binary.LittleEndian.PutUint16(catalogue[28:], 0x55AA) // the 16 words of the entry add up to 0
	catalogue[32] = 0x88                                  // bootable
	binary.LittleEndian.PutUint16(catalogue[38:], 4)      // sectors to load
	binary.LittleEndian.PutUint32(catalogue[40:], bootSector)
	copy(sector(bootSector), "boot code of "+volumeID)

	state := uint32(len(volumeID)) + 2463534242
	for i := MinSize; i < len(image); i += 4 {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		binary.LittleEndian.PutUint32(image[i:], state)
	}
	return image
}
