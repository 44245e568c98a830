// Package storetest is the conformance suite of eventstore.Store: one set of requirements for the store in memory and
// the store on a real API server.
//
// **A store that passes keeps the contract of eventstore.Store as seen by one or two processes.** It does not test lost
// answers, which need a fault on the way: those tests are beside the store in memory.
//
// Start reading at [Run].
package storetest
