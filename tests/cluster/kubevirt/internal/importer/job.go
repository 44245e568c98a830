package importer

import (
	"context"
	"crypto/md5"  //nolint:gosec // one of CDI's checksum algorithms
	"crypto/sha1" //nolint:gosec // one of CDI's checksum algorithms
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"sync/atomic"

	"github.com/ledgerfish/ledgerfish/tests/cluster/kubevirt/internal/volume"
)

// Job is one run of the container.
type Job struct {
	Source   Source
	Checksum string // "<algorithm>:<hex>", or empty
	Size     int64  // requested size of the disk in bytes, 0 when unknown
	// Scratch opens the scratch volume; nil when the pod has none.
	Scratch func() (*volume.Disk, error)
	// Target opens the volume of the disk for writing, of at most the capacity of its claim.
	Target   func() (*volume.Disk, error)
	Capacity int64 // of the target

	// Gate, if set, is called before each read of data and may block: how a test makes a download hang.
	Gate func(context.Context) error

	received, total atomic.Int64
}

// Result is how the container ended.
type Result struct {
	ExitCode int32
	Message  string // termination message
}

// The steps as CDI names them in its messages.
const (
	transfer = "Unable to transfer source data to scratch space"
	convert  = "Unable to convert source data to target format"
)

var errChecksum = errors.New("checksum mismatch")

// Progress is the part that has arrived in percent; ok is false while it is unknown.
func (j *Job) Progress() (percent float64, ok bool) {
	total := j.total.Load()
	if total <= 0 {
		return 0, false
	}
	return min(100*float64(j.received.Load())/float64(total), 100), true
}

// Received is the number of bytes that have arrived.
func (j *Job) Received() int64 { return j.received.Load() }

// Run downloads until it is done, has failed or ctx ends.
func (j *Job) Run(ctx context.Context) Result {
	body, err := j.connect(ctx)
	if err != nil {
		return Result{1, fmt.Sprintf("Unable to connect to http data source: %v", err)}
	}
	defer body.Close() //nolint:errcheck // a reader
	if j.Scratch == nil {
		return completed(true, "")
	}
	err = j.process(body)
	if errors.Is(err, errChecksum) { // exit code 0, so that the kubelet does not restart it: CDI reads the message
		return completed(false, fmt.Sprintf("Unable to process data: %v", err))
	}
	if err != nil {
		return Result{1, fmt.Sprintf("Unable to process data: %v", err)}
	}
	return completed(false, "Import Complete")
}

func (j *Job) connect(ctx context.Context) (io.ReadCloser, error) {
	algorithm, err := j.hash()
	if err != nil {
		return nil, fmt.Errorf("invalid checksum: %w", err)
	}
	d, err := j.Source.open(ctx)
	if err != nil {
		return nil, err
	}
	j.total.Store(d.length)
	var r io.Reader = &counter{&gated{ctx, d.body, j.Gate}, &j.received}
	if algorithm != nil {
		r = &verifier{Reader: io.TeeReader(r, algorithm), hash: algorithm, want: strings.ToLower(j.Checksum)}
	}
	return &struct {
		io.Reader
		io.Closer
	}{r, d.body}, nil
}

// process is TransferScratch, Convert and Resize of CDI's data processor.
func (j *Job) process(body io.Reader) error {
	if err := j.fits(j.total.Load()); err != nil {
		return err
	}
	scratch, err := j.Scratch()
	if err != nil {
		return fmt.Errorf("%s: %w", transfer, err)
	}
	defer scratch.Close() //nolint:errcheck // thrown away
	if _, err := io.Copy(scratch, body); err != nil {
		if errors.Is(err, errChecksum) {
			return fmt.Errorf("%s: checksum validation failed: %w", transfer, err)
		}
		return fmt.Errorf("%s: %w", transfer, err)
	}
	if err := j.fits(scratch.Written()); err != nil {
		return fmt.Errorf("%s: %w", convert, err)
	}
	target, err := j.Target()
	if err != nil {
		return fmt.Errorf("%s: %w", convert, err)
	}
	defer target.Close() //nolint:errcheck // the error that matters is the write's
	if _, err := io.Copy(target, scratch.Reader()); err != nil {
		return fmt.Errorf("%s: Conversion to Raw failed: %w", convert, err)
	}
	return target.Grow(j.Size)
}

// fits is qemu-img's and CDI's check of the virtual size against the smaller of volume and requested size.
func (j *Job) fits(size int64) error {
	available := j.Capacity
	if j.Size > 0 {
		available = min(available, j.Size)
	}
	if size > available {
		return fmt.Errorf("virtual image size %d is larger than the reported available storage %d. A larger PVC is required", size, available)
	}
	return nil
}

func (j *Job) hash() (hash.Hash, error) {
	if j.Checksum == "" {
		return nil, nil
	}
	algorithm, _, _ := strings.Cut(j.Checksum, ":")
	switch algorithm {
	case "md5":
		return md5.New(), nil //nolint:gosec // see above
	case "sha1":
		return sha1.New(), nil //nolint:gosec // see above
	case "sha256":
		return sha256.New(), nil
	case "sha512":
		return sha512.New(), nil
	}
	return nil, fmt.Errorf("unsupported hash algorithm: %s", algorithm)
}

type gated struct {
	ctx context.Context //nolint:containedctx // of this download
	io.Reader
	gate func(context.Context) error
}

func (g *gated) Read(p []byte) (int, error) {
	if g.gate != nil {
		if err := g.gate(g.ctx); err != nil {
			return 0, err
		}
	}
	return g.Reader.Read(p)
}

// counter counts what has arrived.
type counter struct {
	io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// verifier turns the end of the data into an error when the checksum differs.
type verifier struct {
	io.Reader
	hash hash.Hash
	want string
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.Reader.Read(p)
	if err == io.EOF {
		algorithm, _, _ := strings.Cut(v.want, ":")
		if got := algorithm + ":" + hex.EncodeToString(v.hash.Sum(nil)); got != v.want {
			return n, fmt.Errorf("%w: expected %s, calculated %s", errChecksum, v.want, got)
		}
	}
	return n, err
}

// completed is the JSON form of the message, which CDI parses when the exit code is 0.
func completed(scratchSpaceRequired bool, message string) Result {
	m := struct {
		ScratchSpaceRequired bool   `json:"scratchSpaceRequired"`
		PreallocationApplied bool   `json:"preallocationApplied"`
		Message              string `json:"message,omitempty"`
	}{scratchSpaceRequired, false, message}
	text, _ := json.Marshal(m) // a struct of bools and a string
	return Result{0, string(text)}
}
