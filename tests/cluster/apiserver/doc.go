// Command apiserver is a Kubernetes control plane without nodes: a real etcd, the real kube-apiserver, and the few
// controllers of kube-controller-manager that objects without a kubelet still need (namespace deletion, garbage
// collection, "default" ServiceAccounts), all in one process.
//
// It keeps everything in one directory: etcd's data, certificates, logs and `kubeconfig` (cluster-admin).
//
//   - **RBAC, admission plugins, ValidatingAdmissionPolicy and the TokenRequest API are on**, as in a cluster.
//   - **It survives kill -9**: the same directory started again serves the same objects. The service account key is
//     kept, so tokens stay valid; all other certificates are new at each start.
//   - **It ends when its standard input does** (with -until-eof), so no parent, however it dies, leaves it behind.
//   - klog.Fatal may end the process at any time: run it as a child.
//
// It does not promise durability: etcd runs without fsync, which a crash of the process survives and one of the
// machine may not.
//
// Start reading at main.go.
package main
