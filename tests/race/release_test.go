package race

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// No flag, variable or file of the release binary can take the gate away: the only way is another build.
func TestTheReleaseBinaryHasNoWayAroundTheGate(t *testing.T) {
	files := goList(t, "")
	assert.Contains(t, files, "hold.go")
	assert.NotContains(t, files, "hold_mutant.go")
	mutant := goList(t, "mutant")
	assert.Contains(t, mutant, "hold_mutant.go", "else this test looks for the wrong name")
	assert.NotContains(t, mutant, "hold.go")

	binary, err := harness.Build(t.Context(), "")
	require.NoError(t, err)
	build, err := exec.CommandContext(t.Context(), "go", "version", "-m", binary).Output()
	require.NoError(t, err)
	assert.NotContains(t, string(build), "-tags=mutant")
	help, err := exec.CommandContext(t.Context(), binary, "serve", "--help").Output()
	require.NoError(t, err)
	require.Contains(t, string(help), "--ledger-namespace")
	for _, word := range []string{"mutant", "gate", "hold", "fence", "unsafe", "disable", "skip", "without", "no-wait"} {
		assert.NotContains(t, strings.ToLower(string(help)), word)
	}
}

func goList(t *testing.T, tags string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-tags", tags, "-f", `{{join .GoFiles "\n"}}`, "./projections")
	cmd.Dir = harness.Root()
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}
