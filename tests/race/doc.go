// Package race proves what the product exists for: a machine is never started before the image that was inserted for
// it is there, however soon the power-on follows the insert. And it proves that it would notice: the same test of a
// build without the gate (build tag mutant) sees machines start too early.
//
// Everything is judged on the cluster: by the revisions of its objects and by what the guests found on their CD-ROMs.
package race
