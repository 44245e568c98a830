//go:build mutant

package projections

// mustHold without the rule. Only a build of the tests has it: it shows that they notice.
func mustHold(State) (Medium, bool) { return Medium{}, false }
