// Command boot prepares a bare API server for the real virt-api and virt-controller and exits: certificates,
// kubeconfigs, KubeVirt's CRDs, RBAC, webhook configurations, APIServices and the KubeVirt object; what KubeVirt's
// operator does in a cluster, from the operator's own generators.
//
//   - **Booting twice is harmless**, with other ports too: every object is created or brought up to date.
//   - Each component gets a kubeconfig that acts as its ServiceAccount by impersonation, so **KubeVirt's RBAC is in
//     force and its admission webhooks see KubeVirt's identities**.
//
// virt-api is reached through an ExternalName Service that points at localhost; webhooks and APIServices name its port.
package main
