// Package layout keeps the repository's shape: who may import whom, how large a file may be, and what product code does
// without. Each rule prints its reason.
package layout
