// Package store tests eventstore on a real kube-apiserver and etcd, because nothing that imitates them enforces
// resourceVersion and immutability.
//
// **It runs the conformance suite that the store in memory passes, and the storm of writers that loses events as soon as
// one guard is taken away**, which is shown beside it.
//
// It starts an API server of its own, from the binaries that `make cluster-build` leaves; without them it says so and
// passes, and fails where CI=true.
//
// Start reading at main_test.go; bench_test.go has the measurement behind the size of a segment.
package store
