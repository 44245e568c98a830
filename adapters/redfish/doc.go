// Package redfish serves the machines as Redfish ComputerSystems over HTTPS (DSP0266, and DMTF's schemas and Base
// registry in the versions that representation.go and messages.go name).
//
// It translates and decides nothing: a request that is well-formed goes to [Machines].Do as a command, and what a GET
// shows is a view of projections.State.
//
// Guarantees:
//   - **A GET costs no I/O**, but for the log's entries, which are the machine's events themselves.
//   - **A 2xx to a write comes after its events are appended**, not before; 202 names the Task that stands for it.
//   - **Who calls is settled before anything else**: without credentials only the service root and the documents
//     beside it are shown, and no answer tells whether anything else exists.
//   - **While [Machines].Ready fails, every call with credentials is 503 with Retry-After**, never 401 or 404.
//   - **Every refusal has a Redfish body** with a MessageId of the Base registry; faultOf is the one table for it.
//   - **An ETag changes exactly when what is shown changes.** It is a hash of all that is shown.
//   - **Every resource's @odata.id is the URI it was asked for by**, and every link leads to something.
//   - **No password, token, query or user info of a URL is logged or shown.** What is secret of an image's URL goes to
//     the [Vault] before anything else sees it.
//   - **What a client can cost is bounded**: body, header, time, sessions, bcrypt calls at a time, wrong passwords by
//     source. No account is ever locked.
//   - **What is turned away before the gate is in the service's log**, with who and why, and not in a machine's.
//
// What it does not promise: sessions outlive no restart. Names in an image's URL are not resolved, so one that leads to
// a refused address, or a redirect to it, is for the network policy of the importer. Every account may do everything.
//
// Start reading at ports.go and service.go, then resource.go; there is one file for each resource.
package redfish
