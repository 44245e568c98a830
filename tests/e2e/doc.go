// Package e2e drives the real bridge on the real control plane through what goes wrong: images that do not come, power
// actions in between, guests that do not obey, a bridge that is killed. Cases are named as in their tests' first lines.
//
// One cluster and one bridge serve all tests. Those that need the bridge for themselves run first, one after the other;
// the rest run at the same time, each in a namespace of its own.
//
// Start reading at failures_test.go, then killed_test.go.
package e2e
