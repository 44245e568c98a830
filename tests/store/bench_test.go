package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/eventstore/storetest"
)

// What a segment's size costs: the time of an append, and the bytes it sends, which are what etcd keeps until it is
// compacted. The events are of the usual size, the snapshot of 1 KiB.
//
//	go test ./tests/store -run '^$' -bench SegmentSize -benchtime 512x
func BenchmarkSegmentSize(b *testing.B) {
	for _, size := range []int{16, 32, 64, 128} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			count := &requests{}
			s := open(b, wrapped(b, count.wrap), namespace(b), eventstore.Options{SegmentEvents: size, SegmentBytes: 1 << 20})
			m, head := storetest.Machine("web-0"), eventstore.Head{}
			count.bytes = 0
			for b.Loop() {
				batch := storetest.Batch(1, strings.Repeat("x", 120))
				batch.Snapshot = func() ([]byte, error) { return []byte(`"` + strings.Repeat("s", 1022) + `"`), nil }
				var err error
				head, _, err = s.Append(b.Context(), m, head, batch)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(count.bytes)/float64(b.N), "B-sent/op")
		})
	}
}
