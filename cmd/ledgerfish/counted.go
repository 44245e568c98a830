package main

import (
	"context"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
)

// counted is a store whose appends are counted.
type counted struct {
	eventstore.Store
	metrics *metrics
}

// Append is the store's.
func (c counted) Append(ctx context.Context, m domain.Machine, after eventstore.Head, b eventstore.Batch) (eventstore.Head, []domain.Event, error) {
	head, events, err := c.Store.Append(ctx, m, after, b)
	for _, e := range events {
		c.metrics.appended.WithLabelValues(string(e.Type)).Inc()
	}
	return head, events, err
}
