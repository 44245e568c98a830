// Package node plays what a cluster's nodes do: scheduler, volume binder, attach/detach controller, kubelet, the
// importer container, virt-handler with virt-launcher, and the guest. Everything above it (API server, virt-api,
// virt-controller, CDI's controllers) is real and takes it for the real thing.
//
// One loop looks at the informers' caches several times a second and moves each object one step; a step that meets a
// conflict is tried again with the next look. What a real node would do by itself (downloads, guests) is remembered
// here by UID.
//
// Guarantees:
//
//   - **ReadWriteOnce holds**: a volume that a started pod on one node uses cannot be attached to another node; the pod
//     stays in ContainerCreating with the Multi-Attach Event, until the first is gone. On the same node an importer
//     that meets a running guest's disk fails with "permission denied".
//   - **Bytes follow the volume**: they are kept per PersistentVolume, so a populator's rebind hands them over.
//   - **A guest boots what its disks hold at that moment**, in KubeVirt's boot order; see guest.go.
//   - **A graceful stop honours terminationGracePeriodSeconds**; a grace period of 0 kills at once.
//   - Faults that tests ask for (control.go) change none of these rules, only what happens within them.
//
// It does not promise: container images, logs, exec, networking between pods, topology (a scheduler without it meets an
// attached volume's node only by chance, as here), live migration, or a container restart back-off as long as a
// kubelet's (a tenth of it).
//
// Start reading at node.go.
package node
