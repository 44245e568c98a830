// Command demo shows what the product exists for, on a real KubeVirt control plane on this machine: Ironic's sequence on
// eight halted machines at the same time, with images that take a while to come.
//
//   - **The verdict is the cluster's**: which instances were started at which revision, and what their guests found on
//     their CD-ROMs. The bridge's own API has no say in it.
//   - **The exit code is 0 only when all of it is so**; the last line, RESULT, is for scripts.
//   - **Ctrl-C leaves no process**, and with -keep everything runs until then.
package main
