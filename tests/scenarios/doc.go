// Package scenarios is the readable proof of the rules: scripts of what clients, the cluster and the clock do, with what
// the log, the gate and the worker make of it. The decisions are the product's own; the cluster is played (cluster_test.go)
// by the facts that were measured on the real one.
//
// Each testdata/*.txt tells one story. To accept a change of behaviour: go test ./tests/scenarios -rewrite, then read
// the difference.
package scenarios
