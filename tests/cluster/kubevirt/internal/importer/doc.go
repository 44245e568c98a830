// Package importer does what CDI's importer container does (containerized-data-importer v1.65, cmd/cdi-importer and
// pkg/importer): it downloads an image over HTTP or HTTPS into a scratch volume, checks it, writes it to its volume,
// grows the disk to the requested size, and ends with an exit code and the termination message that CDI's controllers
// read.
//
//   - **The speed is the server's**: nothing here waits for time to pass.
//   - **Messages are the real importer's**, word for word where CDI or a user sees them: status codes, refused
//     connections, certificates, a disk too small, a checksum that differs.
//   - **The volume is written only when the whole image has arrived**, through the scratch volume; a pod without one
//     ends at once and asks for it, as the real one does for every HTTP source.
//
// It knows raw images only: a qcow2 or compressed image is stored as it is.
package importer
