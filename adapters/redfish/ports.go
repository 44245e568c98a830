package redfish

import (
	"context"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// Machines is the bridge behind the API.
type Machines interface {
	// List gives the machines that are served, sorted by ID, bytewise. From memory; the caller does not change it.
	List() []domain.Hardware
	// State is what a machine's log means, from memory. false: its log has not been read yet.
	State(m domain.Machine) (projections.State, bool)
	// Do passes a request through the gate and appends what follows, before it returns: the state is the one after it.
	// The context does not end with the client's connection; Do bounds its own time.
	//
	// Errors: a *domain.Error; CodeConflict when the gate refuses, CodeNotFound, CodeInvalid, CodeUnavailable when the
	// log or the cluster could not be reached, or when it is not known whether the events were written.
	Do(ctx context.Context, m domain.Machine, r domain.Request) (projections.State, projections.Answer, error)
	// Log is the machine's whole log, in order. Errors: CodeNotFound, CodeUnavailable.
	Log(ctx context.Context, m domain.Machine) ([]domain.Event, error)
	// Progress is how far the import of a medium is, 0 to 100, by the bytes it has moved. false: not known.
	Progress(m domain.Machine, medium uint64) (percent float64, ok bool)
	// Ready is nil when what is in memory may be shown, else why not: still starting, or cut off from the API server.
	Ready() error
}

// Vault keeps what must not be in an event: the full URL of an image, and the credentials for it.
type Vault interface {
	// Keep gives the name under which the worker finds them. The same request gives the same name.
	Keep(ctx context.Context, m domain.Machine, requestID, url, user, password string) (name string, err error)
}

// Accounts are who may log in, kept current by the caller.
type Accounts interface {
	// Hash is the account's bcrypt hash.
	Hash(user string) (hash []byte, ok bool)
	// Version changes whenever any account does.
	Version() string
}
