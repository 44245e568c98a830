package harness

import (
	"fmt"
	"os"
)

// ResultVariable names a file to which results are appended besides, for a target that ends with them.
const ResultVariable = "LEDGERFISH_RESULTS"

// Result prints the one line by which scripts know how a long run went.
func Result(format string, args ...any) {
	line := "RESULT " + fmt.Sprintf(format, args...)
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
