// Command cdi runs the import controllers of the Containerized Data Importer, the real ones, against an API server:
// DataVolume import, importer pod, VolumeImportSource populator, StorageProfile and CDIConfig. The importer container
// itself is played by the node stub of the kubevirt module.
//
// With -bootstrap it installs what the controllers need (CRDs, the CDI object, StorageClasses and their profiles) and
// exits. Bootstrapping twice is harmless.
//
// The StorageClasses:
//
//	csi         default; CSI with populators: the claim stays Pending until its data is there; binds immediately
//	csi-wffc    the same, WaitForFirstConsumer
//	local       no CSI driver: the claim is Bound at once while its data still arrives
//	local-wffc  the same, WaitForFirstConsumer
//
// **A DataVolume with `storage` works on each of them**: their profiles default to ReadWriteOnce, Filesystem.
package main
