package policy_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

var env *harness.Env

func TestMain(m *testing.M) {
	os.Exit(harness.Suite(m, func(_ context.Context, e *harness.Env) error {
		env = e
		return nil
	}))
}

var machine = domain.Machine{Namespace: "lab", Name: "web-0", UID: "0f3c9a52-6d5e"}

// newLog makes a segment as the store does, with one line, and waits until the policy is in force: the API server takes a
// moment for that.
func newLog(t *testing.T, namespace string, segment int) string {
	t.Helper()
	name := domain.SegmentName(machine, segment)
	_, err := env.Core.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			domain.LabelRecord: domain.RecordLog, domain.LabelMachine: machine.Name, domain.LabelNamespace: machine.Namespace,
			domain.LabelUID: machine.UID, domain.LabelSegment: fmt.Sprint(segment)}},
		Data: map[string]string{"log": "one\n"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	harness.Await(t, 30*time.Second, "the policy to be in force", func(ctx context.Context) error {
		_, err := env.Core.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, []byte(`{"data":{"log":null}}`),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("a log may be removed")
		}
		return nil
	})
	return name
}

func patch(t *testing.T, namespace, name, change string) error {
	t.Helper()
	_, err := env.Core.CoreV1().ConfigMaps(namespace).Patch(t.Context(), name, types.MergePatchType, []byte(change), metav1.PatchOptions{})
	return err
}

// as is a client with the identity of a ServiceAccount.
func as(t *testing.T, namespace, account string) kubernetes.Interface {
	t.Helper()
	config, err := env.Cluster.RESTConfig()
	require.NoError(t, err)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + account}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return client
}

// Each of these changes what was written, or hides it.
func TestHistoryCannotBeChangedByClusterAdmin(t *testing.T) {
	namespace := harness.Need(t, env).NamespaceFor(t, "policy")
	name := newLog(t, namespace, 1)
	const atItsEnd = "a log may only be extended at its end"
	for _, c := range []struct{ what, change, message string }{
		{"edit", `{"data":{"log":"uno\ntwo\n"}}`, atItsEnd},
		{"insert before", `{"data":{"log":"zero\none\n"}}`, atItsEnd},
		{"truncate", `{"data":{"log":""}}`, atItsEnd},
		{"remove the log", `{"data":{"log":null}}`, atItsEnd},
		{"remove the data", `{"data":null}`, atItsEnd},
		{"give it a start", `{"data":{"start":"{}"}}`, "the start of a segment never changes"},
		{"take the label away and edit", `{"metadata":{"labels":{"ledgerfish.io/record":null}},"data":{"log":"uno\n"}}`, atItsEnd},
		{"take the label away", `{"metadata":{"labels":{"ledgerfish.io/record":null}}}`, "keeps the labels"},
		{"take all labels away", `{"metadata":{"labels":null}}`, "keeps the labels"},
		{"give it to another machine", `{"metadata":{"labels":{"ledgerfish.io/machine-uid":"other"}}}`, "keeps the labels"},
		{"another place in the log", `{"metadata":{"labels":{"ledgerfish.io/segment":"7"}}}`, "keeps the labels"},
		{"another machine's name", `{"metadata":{"annotations":{"ledgerfish.io/machine":"web-1"}}}`, "keeps the annotation"},
		{"set an open segment aside", `{"metadata":{"labels":{"ledgerfish.io/sealed":"true"}}}`, "only a segment that can not be extended"},
	} {
		assert.ErrorContains(t, patch(t, namespace, name, c.change), c.message, c.what)
	}
	err := env.Core.CoreV1().ConfigMaps(namespace).Delete(t.Context(), name, metav1.DeleteOptions{})
	assert.ErrorContains(t, err, "only the retention account deletes logs")
	err = env.Core.CoreV1().ConfigMaps(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
	assert.ErrorContains(t, err, "only the retention account deletes logs")

	log, err := env.Core.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "one\n", log.Data["log"])
}

// What the store does goes through: append, summary, seal, set aside.
func TestALogCanBeExtendedAndSealed(t *testing.T) {
	namespace := harness.Need(t, env).NamespaceFor(t, "policy")
	name := newLog(t, namespace, 1)
	for _, change := range []string{
		`{"data":{"log":"one\ntwo\n"}}`,
		`{"metadata":{"annotations":{"ledgerfish.io/summary":"Off"}}}`,
		`{"data":{"log":"one\ntwo\nthree\n"},"immutable":true}`,
		`{"metadata":{"labels":{"ledgerfish.io/sealed":"true"}}}`,
	} {
		require.NoError(t, patch(t, namespace, name, change), change)
	}
	assert.ErrorContains(t, patch(t, namespace, name, `{"metadata":{"labels":{"ledgerfish.io/sealed":null}}}`), "only a segment that can not be extended")
	assert.True(t, apierrors.IsInvalid(patch(t, namespace, name, `{"data":{"log":"one\ntwo\nthree\nfour\n"}}`)), "an immutable segment")
}

// The account of that name in the log's own namespace, and no other.
func TestOnlyTheRetentionAccountDeletesLogs(t *testing.T) {
	namespace := harness.Need(t, env).NamespaceFor(t, "policy")
	elsewhere := env.NamespaceFor(t, "policy")
	allowDelete(t, namespace, namespace, elsewhere)
	name := newLog(t, namespace, 1)
	for client, who := range map[kubernetes.Interface]string{
		as(t, namespace, "ledgerfish"):           "the bridge, even if it had the right",
		as(t, elsewhere, "ledgerfish-retention"): "another namespace's account",
	} {
		err := client.CoreV1().ConfigMaps(namespace).Delete(t.Context(), name, metav1.DeleteOptions{})
		assert.ErrorContains(t, err, "only the retention account deletes logs", who)
	}
	assert.NoError(t, as(t, namespace, "ledgerfish-retention").CoreV1().ConfigMaps(namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

// allowDelete lets every ServiceAccount of some namespaces delete ConfigMaps in one, so that only the policy is left to
// refuse it.
func allowDelete(t *testing.T, in string, of ...string) {
	t.Helper()
	const name = "delete-configmaps"
	rbac := env.Core.RbacV1()
	_, err := rbac.Roles(in).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"delete"}}}}, metav1.CreateOptions{})
	require.NoError(t, err)
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}
	for _, namespace := range of {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts:" + namespace})
	}
	_, err = rbac.RoleBindings(in).Create(t.Context(), binding, metav1.CreateOptions{})
	require.NoError(t, err)
}

// The policy must not make a namespace immortal.
func TestANamespaceWithLogsCanBeDeleted(t *testing.T) {
	namespace, err := harness.Need(t, env).NewNamespace(t.Context(), "policy")
	require.NoError(t, err)
	newLog(t, namespace, 1)
	newLog(t, namespace, 2)
	require.NoError(t, env.Core.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}))
	harness.Await(t, time.Minute, "the namespace to be gone", func(ctx context.Context) error {
		_, err := env.Core.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there: %v", err)
	})
}

// A ConfigMap without the label is changed and deleted at will, except that it cannot be made a log afterwards.
func TestOtherConfigMapsAreLeftAlone(t *testing.T) {
	namespace := harness.Need(t, env).NamespaceFor(t, "policy")
	newLog(t, namespace, 1)
	maps := env.Core.CoreV1().ConfigMaps(namespace)
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"log": "one\n"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, patch(t, namespace, "settings", `{"data":{"log":"uno\n"}}`))
	assert.ErrorContains(t, patch(t, namespace, "settings", `{"metadata":{"labels":{"ledgerfish.io/record":"log"}}}`), "keeps the labels")
	assert.NoError(t, maps.Delete(t.Context(), "settings", metav1.DeleteOptions{}))
}
