package iso9660

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	catalogueSector = 19
	bootSector      = 20
	sectors         = 24
)

// bootable makes the smallest image that firmware boots.
func bootable() []byte {
	iso := make([]byte, sectors*SectorSize)
	at := func(n int) []byte { return iso[n*SectorSize : (n+1)*SectorSize] }
	primary := at(16)
	copy(primary, "\x01CD001\x01")
	copy(primary[40:72], "TEST-IMAGE                      ")
	binary.LittleEndian.PutUint32(primary[80:], sectors)
	record := at(17)
	copy(record, "\x00CD001\x01EL TORITO SPECIFICATION")
	binary.LittleEndian.PutUint32(record[71:], catalogueSector)
	copy(at(18), "\xffCD001\x01")
	catalogue := at(catalogueSector)
	catalogue[0], catalogue[30], catalogue[31] = 1, 0x55, 0xAA
	binary.LittleEndian.PutUint16(catalogue[28:], 0x55AA) // 0x0001 + 0xAA55 + 0x55AA = 0x10000
	catalogue[32] = 0x88
	binary.LittleEndian.PutUint32(catalogue[40:], bootSector)
	copy(at(bootSector), "boot code")
	return iso
}

func inspect(iso []byte) (Image, error) { return Inspect(bytes.NewReader(iso), int64(len(iso))) }

func TestBootableImage(t *testing.T) {
	iso := bootable()
	image, err := inspect(iso)
	require.NoError(t, err)
	assert.Equal(t, Image{VolumeID: "TEST-IMAGE", Sectors: sectors, BootRBA: bootSector}, image)

	grown := append(bytes.Clone(iso), make([]byte, 1<<20)...)
	same, err := inspect(grown)
	require.NoError(t, err, "a disk larger than the image on it boots too")
	a, err := image.Digest(bytes.NewReader(iso))
	require.NoError(t, err)
	b, err := same.Digest(bytes.NewReader(grown))
	require.NoError(t, err)
	assert.Equal(t, a, b)
}

// Any single byte of what firmware checks decides.
func TestOneChangedByteIsNotBootable(t *testing.T) {
	for name, offset := range map[string]int{
		"descriptor magic":    16*SectorSize + 1,
		"boot system":         17*SectorSize + 10,
		"catalogue pointer":   17*SectorSize + 71,
		"validation header":   catalogueSector * SectorSize,
		"validation platform": catalogueSector*SectorSize + 1, // covered by the checksum only
		"validation ID":       catalogueSector*SectorSize + 9,
		"checksum":            catalogueSector*SectorSize + 28,
		"key":                 catalogueSector*SectorSize + 31,
		"boot indicator":      catalogueSector*SectorSize + 32,
		"load RBA":            catalogueSector*SectorSize + 43, // far outside
	} {
		t.Run(name, func(t *testing.T) {
			iso := bootable()
			iso[offset] ^= 0xFF
			_, err := inspect(iso)
			assert.Error(t, err)
		})
	}
}

func TestNotBootable(t *testing.T) {
	truncated := bootable()[:20*SectorSize]
	emptyCode := bootable()
	clear(emptyCode[bootSector*SectorSize:])
	for name, data := range map[string][]byte{
		"empty disk":       make([]byte, 1<<20),
		"nothing":          nil,
		"error page":       []byte("<html>404</html>"),
		"half an image":    truncated,
		"empty boot image": emptyCode,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := inspect(data)
			assert.Error(t, err)
		})
	}
}
