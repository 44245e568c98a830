package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/ledgerfish/ledgerfish/tests/cluster/isoimage"
)

// ISO is a CD image.
type ISO struct {
	Label  string // volume identifier
	Data   []byte
	SHA256 string // of Data, in hex: what the node stub reports of a boot from it
}

// NewISO makes a bootable image of that size in bytes. Two labels never have the same digest.
func NewISO(label string, size int) ISO { return newISO(label, isoimage.Bootable(label, size)) }

func newISO(label string, data []byte) ISO {
	sum := sha256.Sum256(data)
	return ISO{Label: label, Data: data, SHA256: hex.EncodeToString(sum[:])}
}

// WithBrokenCatalogue is the same image with one byte of its boot catalogue changed: firmware does not boot it.
func (i ISO) WithBrokenCatalogue() ISO {
	data := bytes.Clone(i.Data)
	data[isoimage.BootCatalogue+1] ^= 0x01 // covered by the validation entry's checksum, and by nothing else
	return newISO(i.Label, data)
}

// ErrorPage is what a web server with a mistake in it sends instead of an image, with status 200.
func ErrorPage() ISO {
	page := bytes.Repeat([]byte("<p>It works, but there is no image here.</p>\n"), 2000)
	return newISO("", append([]byte("<!doctype html><title>Not found</title>\n"), page...))
}

// BootableDisk is an image of a hard disk with a boot record, of 1 MiB.
func BootableDisk() ISO {
	disk := make([]byte, 1<<20)
	disk[510], disk[511] = 0x55, 0xAA
	return newISO("", disk)
}
