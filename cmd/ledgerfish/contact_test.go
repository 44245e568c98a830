package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What is in memory after an outage is as old as the outage: it is not shown before it was looked at again (C28).
func TestContactThatIsBackIsToldBeforeItCounts(t *testing.T) {
	now, looked := time.Unix(0, 0), 0
	c := &contact{now: func() time.Time { return now }}
	c.regained = func() { looked++; assert.True(t, c.lost(), "told first") }
	c.answered()
	now = now.Add(contactEvery)
	c.answered()
	assert.Zero(t, looked, "it was never lost")
	now = now.Add(contactLost + time.Second)
	assert.True(t, c.lost())
	c.answered()
	assert.Equal(t, 1, looked)
	assert.False(t, c.lost())
}
