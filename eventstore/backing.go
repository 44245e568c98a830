package eventstore

import (
	"context"
	"errors"

	"github.com/ledgerfish/ledgerfish/domain"
)

// backing is where segments are stored. Reads are never stale: they see every write that was acknowledged before.
type backing interface {
	// create stores a new object and returns it with its version.
	create(ctx context.Context, o object) (object, error)
	// update replaces the object that has o's name and version, and returns it with its new version. Without a version
	// it does nothing and fails.
	update(ctx context.Context, o object) (object, error)
	get(ctx context.Context, name string) (object, error)
	list(ctx context.Context, what filter) ([]object, error)
	// follow calls each for all open objects, then synced, then each for every open object that changes, one at a
	// time, until ctx ends.
	follow(ctx context.Context, each func(object), synced func()) error
}

// filter selects objects.
type filter struct {
	machine *domain.Machine // by UID; nil selects all
	open    bool            // only those that are not retired
}

// What can become of a write. Any other error says that it was refused and did not happen.
var (
	errExists  = errors.New("the object exists already")
	errStale   = errors.New("the object has changed, or is gone")
	errNotSent = errors.New("the write did not get through")
	errUnsure  = errors.New("the write was cut off: it may have been applied, or may be later")
)

// errAbsent says that a read object does not exist.
var errAbsent = errors.New("no such object")
