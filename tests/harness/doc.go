// Package harness is what a test of the whole product stands on: images and a server for them, a cluster, machines in
// it, the bridge as a real process under the rights that deploy/ ships, a client that speaks Redfish, and a witness.
//
//	env, err := harness.Open(ctx)                   // a cluster, the rights, a witness; see harness.Main for tests
//	bridge, err := env.StartBridge(ctx, harness.Options{})
//	m, err := env.NewMachine(ctx, namespace, "web-0", harness.Halted)
//	client := bridge.Client()
//	...
//	starts := env.Witness.Starts(m)                 // what really happened, judged on the cluster
//
// Guarantees:
//
//   - **The verdict is the cluster's.** Witness and Boots read API objects and what the guests found on their disks,
//     never the bridge's own API.
//   - **The bridge runs with exactly the shipped rights**: by a token of the ServiceAccount in deploy/, nothing else.
//   - **No process is left**: the bridge and the cluster end with the process that started them, also when that is
//     killed.
//   - Nothing sleeps to wait: [Until] polls with a deadline.
//
// It needs the binaries of `make cluster-build`. Without them a test is skipped with the reason; with CI=true it fails.
//
// Start reading at env.go, then witness.go.
package harness
