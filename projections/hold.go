//go:build !mutant

package projections

// mustHold is the rule that the product exists for: nothing is started while the slot's medium is still to come.
func mustHold(s State) (Medium, bool) { return s.ImportPending() }
