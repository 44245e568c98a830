package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/eventstore"
	"github.com/ledgerfish/ledgerfish/eventstore/storetest"
)

// The API server and etcd are killed in the middle of a storm. Every event that was acknowledged before, meanwhile or
// after is in the log once; what came meanwhile waits; a watch goes on.
func TestTheStoreOutlivesItsAPIServer(t *testing.T) {
	dir := t.TempDir()
	server, err := startAPIServer(dir, 0)
	require.NoError(t, err)
	t.Cleanup(func() { server.stop() })
	port, config := server.port(t), lasting(t, server)
	patient := func() *eventstore.Log {
		return open(t, client(t, config), "default", eventstore.Options{Patience: 2 * time.Minute})
	}
	one, two := patient(), patient()
	hasty := open(t, client(t, config), "default", eventstore.Options{Patience: 100 * time.Millisecond})
	m, other := storetest.Machine("web-0"), storetest.Machine("web-1")

	follower := storetest.NewLedger(two)
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() { followed <- follower.Run(ctx, nil) }()
	<-follower.Ready()

	stormed := make(chan []storetest.Acked, 1)
	go func() { stormed <- storetest.Storm(t, m, 4, 25, storetest.NewLedger(one), storetest.NewLedger(two)) }()
	require.Eventually(t, func() bool { s, _ := follower.State(m); return s.Seq > 20 }, time.Minute, time.Millisecond)
	server.kill()

	_, _, err = hasty.Append(t.Context(), other, eventstore.Head{}, storetest.Batch(1, "x"))
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(err), "%v", err)
	_, ok := follower.State(m)
	assert.True(t, ok, "memory is still served")

	again, err := startAPIServer(dir, port)
	require.NoError(t, err)
	server = again
	acked := <-stormed
	assert.Len(t, acked, 200)
	storetest.RequireAll(t, one, m, acked)
	require.Eventually(t, func() bool { s, _ := follower.State(m); return s.Seq >= 200 }, 2*time.Minute, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-followed)
}

// lasting is a configuration that outlives a restart, which changes all certificates of the server.
func lasting(t *testing.T, s *apiServer) *rest.Config {
	c := client(t, s.config)
	_, err := c.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "bridge"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = c.RbacV1().RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bridge"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "bridge", Namespace: "default"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err := c.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "bridge", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	return &rest.Config{Host: s.config.Host, QPS: -1, BearerToken: token.Status.Token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}
