package harness

import (
	"fmt"
	"os"
	"testing"
)

// ResultVariable names a file to which results are appended besides, for a target that ends with them: go test shows
// what a package prints only when that fails.
const ResultVariable = "LEDGERFISH_RESULTS"

// Result prints the one line by which scripts know how a long run went.
func Result(format string, args ...any) { announce("RESULT " + fmt.Sprintf(format, args...)) }

// Skip skips a test for want of something that can be installed, and says so where a person sees it. With CI=true that
// is a failure.
func Skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	announce("SKIP " + t.Name() + ": " + reason)
	t.Skip(reason)
}

func announce(line string) {
	fmt.Println(line)
	path := os.Getenv(ResultVariable)
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
		return
	}
	defer file.Close() //nolint:errcheck // the error that matters is the write's
	if _, err := fmt.Fprintln(file, line); err != nil {
		fmt.Fprintln(os.Stderr, "harness:", err)
	}
}
