package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"k8s.io/client-go/discovery"
)

// How contact with the API server is watched: asked every contactEvery, lost once it was not answered for contactLost.
const (
	contactEvery   = time.Second
	contactTimeout = 2 * time.Second
	contactLost    = 4 * time.Second
)

// contact knows whether the API server answers. Without that, what is in memory may be old, and is not shown.
type contact struct {
	last     atomic.Pointer[time.Time] // of the last answer; nil: none yet
	now      func() time.Time
	regained func() // called before contact counts as there again
	log      logrus.FieldLogger
}

func (c *contact) run(ctx context.Context, client discovery.DiscoveryInterface) {
	tick := time.NewTicker(contactEvery)
	defer tick.Stop()
	for lost := true; ; {
		ask, cancel := context.WithTimeout(ctx, contactTimeout)
		if err := client.RESTClient().Get().AbsPath("/livez/ping").Do(ask).Error(); err == nil {
			c.answered()
		}
		cancel()
		if now := c.lost(); now != lost && ctx.Err() == nil {
			lost = now
			if lost {
				c.log.Error("the API server does not answer: no call is served")
			} else {
				c.log.Info("the API server answers")
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// answered takes note of an answer. The watches may take half a minute more to come back: until then, what is in memory is
// as old as the last contact.
func (c *contact) answered() {
	if c.last.Load() != nil && c.lost() {
		c.regained()
	}
	at := c.now()
	c.last.Store(&at)
}

func (c *contact) lost() bool {
	last := c.last.Load()
	return last == nil || c.now().Sub(*last) > contactLost
}
