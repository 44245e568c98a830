// Package cluster gives tests and the demo a real KubeVirt control plane on this machine: etcd, kube-apiserver,
// virt-api, virt-controller and CDI's import controllers are the real programs; two nodes with kubelet, virt-handler,
// guest and importer container are played by a stub (module kubevirt, command node).
//
// The binaries come from `make cluster-build`; command cluster (cmd/cluster) supervises them, and this package starts
// that supervisor or attaches to a running one:
//
//	c, err := cluster.Start(ctx, t.TempDir())   // 25 to 30 s; ErrNotBuilt without the binaries
//	defer c.Stop()
//	config, err := c.RESTConfig()               // cluster-admin
//	boots, err := c.Node().Boots(ctx)           // what each guest found when it booted
//
// Guarantees:
//
//   - **A cluster started here does not outlive the process that started it**, however that ends.
//   - **A boot's verdict comes from the bytes of its volumes**, never from elapsed time.
//   - This package imports none of the nested modules.
//
// It does not promise performance like a real cluster's, nor durability against a crash of the machine.
//
// Start reading at cluster.go, then node.go for the faults a test can make.
package cluster
