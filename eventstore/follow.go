package eventstore

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// follow leaves the mechanics of list and watch (expiry, bookmarks, back-off, resumption) to client-go's Reflector.
// Its first list would be answered from the API server's cache, however old; so the resourceVersion is taken out.
func (c configMaps) follow(ctx context.Context, each func(object), synced func()) error {
	open := selector(filter{open: true})
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector, o.ResourceVersion, o.ResourceVersionMatch = open, "", ""
			return c.api.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = open
			return c.api.Watch(ctx, o)
		},
	}
	cache.NewReflectorWithOptions(source, &corev1.ConfigMap{}, follower{each, synced},
		cache.ReflectorOptions{Name: "ledger"}).RunWithContext(ctx)
	return nil
}

// follower hands on what a Reflector would store.
type follower struct {
	each   func(object)
	synced func()
}

func (f follower) Add(o any) error {
	if segment := objectOf(o.(*corev1.ConfigMap)); segment.isSegment() {
		f.each(segment)
	}
	return nil
}

func (f follower) Update(o any) error { return f.Add(o) }

// Delete comes when a segment is retired, and its successor has been seen by then or will be.
func (f follower) Delete(any) error { return nil }

func (f follower) Replace(all []any, _ string) error {
	for _, o := range all {
		_ = f.Add(o)
	}
	f.synced()
	return nil
}

func (f follower) Resync() error { return nil }
