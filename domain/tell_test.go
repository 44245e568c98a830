package domain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every type has a sentence of its own, or a new one would go unexplained.
func TestEveryEventIsToldInASentence(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range strings.Split(golden, "\n") {
		e, err := Decode([]byte(line))
		require.NoError(t, err)
		message, severity := Tell(e)
		assert.NotEqual(t, string(e.Type)+".", message)
		assert.Regexp(t, `^[A-Z].*[^.]\.$`, message)
		assert.NotContains(t, message, "%!")
		assert.Contains(t, []string{SeverityOK, SeverityWarning, SeverityCritical}, severity)
		assert.False(t, seen[message], message)
		seen[message] = true
	}
}
