package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func settings() map[string]*pflag.Flag {
	flags := map[string]*pflag.Flag{}
	serveCommand().Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = f })
	return flags
}

// The README's table names every setting and no other.
func TestEverySettingIsDocumented(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	documented := map[string]bool{}
	for _, line := range strings.Split(string(readme), "\n") {
		if !strings.HasPrefix(line, "| `--") {
			continue
		}
		for _, name := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
			documented[name[1]] = true
		}
	}
	flags := settings()
	for name := range flags {
		assert.True(t, documented[name], "--%s is not in the README", name)
	}
	for name := range documented {
		assert.Contains(t, flags, name, "the README has a setting that there is not")
	}
}

// An environment variable that no flag answers to would be ignored without a word.
func TestWhatIsDeployedSetsOnlyWhatThereIs(t *testing.T) {
	flags, found := settings(), 0
	files, err := filepath.Glob("../../deploy/*/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`name: LEDGERFISH_([A-Z_]+)`).FindAllStringSubmatch(string(content), -1) {
			found++
			assert.Contains(t, flags, strings.ToLower(strings.ReplaceAll(name[1], "_", "-")), file)
		}
	}
	assert.NotZero(t, found)
}
