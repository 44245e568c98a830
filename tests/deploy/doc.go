// Package deploy builds what is in deploy/ as an operator's kustomize does, and brings it to a test's cluster, so that the
// bridge runs in the tests and in the demo with exactly the rights that are shipped.
//
// Guarantees:
//   - **What is tested is what is shipped**: objects come from the files in deploy/ and are not changed on the way.
//   - **An identity is the ServiceAccount's own**: a token that the API server issued for it, nothing of the admin's.
//
// It does not promise that an admission policy is in force when Apply returns: the API server takes up to a few seconds.
//
// Start reading at deploy.go. base_test.go says what the rights must never be, policy_test.go what no client may do to a log.
package deploy
