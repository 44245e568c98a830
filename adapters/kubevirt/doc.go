// Package kubevirt is the way out to the cluster: it finds the machines, observes them, and does the effects that their
// logs ask for.
//
// Guarantees:
//   - **The log is the outbox.** A [Worker] keeps nothing that it could not lose: it looks at the world, then at the log,
//     and acts on the difference. It may crash or stall between any two calls.
//   - **The world is read before the log.** The other order would delete imports that were asked for in between.
//   - **NotFound is an observation, every other error is an error.** A machine is never gone because an API server could
//     not be asked, or does not know the kind.
//   - **A VM is changed only as it was read**: each write carries the resourceVersion of the observed object, and power
//     and media writes carry a fence, so a late or a second worker can not undo what a newer intent did. The one exception
//     is [domain.ForceStop], see power.go.
//   - **Fields that this build does not know survive**: VMs are written as unstructured objects, and only our own disk,
//     volume, boot orders, run strategy and annotations are touched.
//   - **A boot override is undone field for field**: the original orders are kept in the update that changes them.
//   - **No object of somebody else is touched**: a DataVolume, claim or disk that has a name of ours but not our mark is a
//     clear failure.
//   - **A volume is complete only when the import has Succeeded and its claim is Bound.**
//   - **Status messages of importers are redacted** before anyone sees them.
//
// It does not promise that a Kubernetes Event reaches the API server, that the size of an image could be found out (a
// configured default is used then), or that CDI's importer resolves an image's host as the size probe did.
//
// Start reading at worker.go and step.go, then world.go and effects.go.
package kubevirt
