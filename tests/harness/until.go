package harness

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// ErrNever is wrapped by the error of a condition that can not come to hold any more.
var ErrNever = errors.New("it never will")

// Until polls until the condition holds. The error tells what was waited for, and what the condition said last.
func Until(ctx context.Context, limit time.Duration, what string, holds func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last := errors.New("not asked yet")
	for {
		err := holds(ctx)
		if err == nil || errors.Is(err, ErrNever) {
			return err
		}
		if ctx.Err() == nil {
			last = err // not that this very question was cut short
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited at most %s for %s: %w", limit, what, last)
		}
	}
}

// Await fails the test when a condition does not come to hold in time; it says what was waited for.
func Await(t *testing.T, limit time.Duration, what string, holds func(context.Context) error) {
	t.Helper()
	if err := Until(t.Context(), limit, what, holds); err != nil {
		t.Fatal(err)
	}
}
