package eventstore_test

import (
	"testing"

	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/eventstore/storetest"
)

func TestMemoryConforms(t *testing.T) {
	storetest.Run(t, func(t *testing.T, o eventstore.Options) (one, two eventstore.Store) {
		m := eventstore.NewMemoryWith(o)
		other := m.Another()
		t.Cleanup(m.Close)
		t.Cleanup(other.Close)
		return m, other
	})
}
