// Package kubevirt exercises adapters/kubevirt on the real control plane of tests/cluster, with the rights that
// deploy/ gives to the bridge.
//
// Every verdict is read from the cluster: the VM objects, the volumes, and what the guests found when they booted. The
// logs are kept in memory, for it is not them that is tested here.
//
// With LEDGERFISH_CLUSTER_STATE set to the state directory of a running cluster the tests use that one.
//
// Start reading at strategies_test.go.
package kubevirt
