// Command cluster runs a whole KubeVirt cluster on this machine, without containers, virtualisation or privileges:
// etcd and kube-apiserver, KubeVirt's virt-api and virt-controller, CDI's import controllers, and a stub that plays two
// nodes. It starts them in order, prints the kubeconfig, and stays in the foreground until it is interrupted.
//
//   - **No process outlives it.** SIGINT and SIGTERM end every child in order; children also end when the supervisor is
//     killed with SIGKILL (a parent-death signal, and a pipe on standard input where the child watches it).
//   - **One supervisor per state directory**: a second one says whose it is and exits.
//   - **The state directory can be started again**, also after SIGKILL: objects and volumes are kept. -fresh empties it.
//   - **A child that dies ends the cluster**, with its name, the end of its log and a non-zero exit.
//
// All ports are free ones on 127.0.0.1, chosen anew at each start. <state>/kubeconfig is a cluster-admin's,
// <state>/cluster.json describes the rest (see package cluster), <state>/logs has one log per child.
package main
