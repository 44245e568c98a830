package eventstore

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Only what certainly did not happen may be taken for that.
func TestTheFateOfAWrite(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	sent := &url.Error{Op: "Put", Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}
	for name, c := range map[string]struct{ err, want error }{
		"stale":             {apierrors.NewConflict(maps, "x", nil), errStale},
		"exists":            {apierrors.NewAlreadyExists(maps, "x"), errExists},
		"too many requests": {apierrors.NewTooManyRequests("later", 1), errNotSent},
		"no connection":     {&url.Error{Op: "Put", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, errNotSent},
		"reset":             {sent, errUnsure},
		"deadline":          {context.DeadlineExceeded, errUnsure},
		"internal":          {apierrors.NewInternalError(errors.New("etcdserver: request timed out")), errUnsure},
		"unavailable":       {apierrors.NewServiceUnavailable("x"), errUnsure},
		"server timeout":    {apierrors.NewServerTimeout(maps, "update", 1), errUnsure},
		"timeout":           {apierrors.NewTimeoutError("x", 1), errUnsure},
		"forbidden":         {apierrors.NewForbidden(maps, "x", nil), nil},
		"invalid":           {apierrors.NewBadRequest("x"), nil},
		"no namespace":      {apierrors.NewNotFound(maps, "x"), nil},
	} {
		got := fate(c.err)
		assert.ErrorIs(t, got, c.err, name)
		for _, of := range []error{errStale, errExists, errNotSent, errUnsure} {
			assert.Equal(t, of == c.want, errors.Is(got, of), "%s: %v", name, of)
		}
	}
}

func TestAnObjectIsTheSameAfterStoring(t *testing.T) {
	m := domain.Machine{Namespace: "tenant-a", Name: "web-0", UID: "0f3c9a52-1111-2222-3333-444455556666"}
	long := m
	long.Name = strings.Repeat("n", 200)
	for _, o := range []object{
		{Name: "n", Machine: m, Number: 1, Log: "x\n"},
		{Name: "n", Version: "7", Machine: long, Number: 2, Sealed: true, Retired: true, Start: `{"v":1}`, Log: "x\n", Summary: "s"},
	} {
		assert.Equal(t, o, objectOf(configMap(o)))
	}
}

func TestNoUpdateGoesOutWithoutAResourceVersion(t *testing.T) {
	_, err := configMaps{}.update(t.Context(), object{Name: "x"}) // a nil client: it would panic
	require.Error(t, err)
}

func TestSelectors(t *testing.T) {
	m := domain.Machine{UID: "u"}
	assert.Equal(t, "ledgerfish.io/record=log", selector(filter{}))
	assert.Equal(t, "ledgerfish.io/record=log,!ledgerfish.io/sealed", selector(filter{open: true}))
	assert.Equal(t, "ledgerfish.io/machine-uid=u,ledgerfish.io/record=log,!ledgerfish.io/sealed", selector(filter{machine: &m, open: true}))
}

// A ConfigMap that has our label and says of no machine is no log: nothing waits for it to become readable.
func TestAStrayConfigMapIsNobodysLog(t *testing.T) {
	labels := map[string]string{domain.LabelRecord: domain.RecordLog, domain.LabelNamespace: "lab", domain.LabelMachine: "web-0",
		domain.LabelUID: "0f3c9a52-1111", domain.LabelSegment: "1"}
	whole := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "whole", Namespace: "ledger", Labels: labels}, Data: map[string]string{keyLog: "x\n"}}
	all := []any{whole}
	for name := range labels {
		if name == domain.LabelRecord {
			continue
		}
		stray := whole.DeepCopy()
		delete(stray.Labels, name)
		o := objectOf(stray)
		assert.False(t, o.isSegment(), "without %s", name)
		all = append(all, stray)
	}
	var seen []object
	require.NoError(t, follower{func(o object) { seen = append(seen, o) }, func() {}}.Replace(all, ""))
	assert.Equal(t, []object{objectOf(whole)}, seen)
}
