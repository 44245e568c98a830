// Package deploy tests what is in deploy/, built as an operator's kustomize builds it: every object is one that Kubernetes
// knows, nobody has more rights than it needs, the pod is confined, and an overlay may move all of it to another namespace.
//
// It does not promise that the rights suffice: the cluster tests do, which run the bridge with them. What the admission
// policy refuses is in tests/policy.
package deploy
