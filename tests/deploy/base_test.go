package deploy_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8s "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// The names in deploy/base.
const (
	namespace        = "ledgerfish"           // of the logs
	account          = "ledgerfish"           // the bridge's
	retentionAccount = "ledgerfish-retention" // the only one that may delete logs
)

// dir is a folder of deploy/.
func dir(name string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "deploy", name)
}

func build(t *testing.T, fs filesys.FileSystem, path string) []*unstructured.Unstructured {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, path)
	require.NoError(t, err)
	var objects []*unstructured.Unstructured
	for _, r := range built.Resources() {
		content, err := r.Map()
		require.NoError(t, err)
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	require.NotEmpty(t, objects)
	return objects
}

// decode reads an object as its own type, strictly: a field that the type has not, or has twice, is an error.
func decode(t *testing.T, o *unstructured.Unstructured) k8s.Object {
	t.Helper()
	raw, err := o.MarshalJSON()
	require.NoError(t, err)
	codecs := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict)
	typed, _, err := codecs.UniversalDeserializer().Decode(raw, nil, nil)
	require.NoError(t, err, "%s %s", o.GetKind(), o.GetName())
	return typed
}

// shipped gives the objects of a folder of deploy/.
func shipped(t *testing.T, folder string) []k8s.Object {
	t.Helper()
	var typed []k8s.Object
	for _, o := range build(t, filesys.MakeFsOnDisk(), dir(folder)) {
		typed = append(typed, decode(t, o))
	}
	return typed
}

// only gives the objects of one type.
func only[T k8s.Object](objects []k8s.Object) []T {
	var found []T
	for _, o := range objects {
		if typed, ok := o.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

func TestEveryObjectOfTheBaseDecodesStrictly(t *testing.T) {
	kinds := map[string]int{}
	for _, o := range shipped(t, "base") {
		kinds[o.GetObjectKind().GroupVersionKind().Kind]++
	}
	assert.Equal(t, map[string]int{"Namespace": 1, "ServiceAccount": 2, "Role": 2, "RoleBinding": 2, "ClusterRole": 2,
		"ClusterRoleBinding": 2, "ValidatingAdmissionPolicy": 1, "ValidatingAdmissionPolicyBinding": 1, "Deployment": 1, "Service": 1}, kinds)
}

func TestTheExampleHasTheAccountThatItNames(t *testing.T) {
	secrets := only[*corev1.Secret](shipped(t, "example"))
	require.Len(t, secrets, 1)
	assert.Equal(t, "ledgerfish-credentials", secrets[0].Name)
	hash, ok := strings.CutPrefix(strings.TrimSpace(secrets[0].StringData["htpasswd"]), "admin:")
	require.True(t, ok)
	assert.NoError(t, bcrypt.CompareHashAndPassword([]byte(hash), []byte("example-only")), "the password that its comment names")
}

// Nobody may do everything, the bridge can not make history go away, and it reads Secrets only beside its logs.
func TestRightsAreLeast(t *testing.T) {
	objects := shipped(t, "base")
	for _, role := range only[*rbacv1.Role](objects) {
		assert.Equal(t, namespace, role.Namespace)
		checkRules(t, role.Name, role.Rules)
	}
	for _, role := range only[*rbacv1.ClusterRole](objects) {
		checkRules(t, role.Name, role.Rules)
		for _, rule := range role.Rules {
			if slices.Contains(rule.Resources, "secrets") {
				assert.Equal(t, []string{"create"}, rule.Verbs, "in the machines' namespaces, Secrets are written and not read")
			}
			assert.NotContains(t, rule.Resources, "configmaps", "logs are in one namespace")
		}
	}
}

func checkRules(t *testing.T, role string, rules []rbacv1.PolicyRule) {
	t.Helper()
	for _, rule := range rules {
		for _, list := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs} {
			for _, word := range list {
				assert.NotContains(t, word, "*", "%s has a wildcard", role)
			}
		}
		for _, power := range []string{"deletecollection", "impersonate", "bind", "escalate"} {
			assert.NotContains(t, rule.Verbs, power, role)
		}
		if slices.Contains(rule.Resources, "configmaps") {
			assert.Equal(t, role == retentionAccount, slices.Contains(rule.Verbs, "delete"), "%s deletes logs", role)
			assert.NotContains(t, rule.Verbs, "patch", "%s: a patch needs no resourceVersion", role)
		}
	}
}

// Each account has its own roles and no other: the bridge not the retention's, nor the other way round.
func TestRolesAreBoundToTheirAccount(t *testing.T) {
	objects := shipped(t, "base")
	bound := map[string][]rbacv1.Subject{}
	for _, b := range only[*rbacv1.RoleBinding](objects) {
		bound[b.RoleRef.Name] = b.Subjects
	}
	for _, b := range only[*rbacv1.ClusterRoleBinding](objects) {
		bound[b.RoleRef.Name] = b.Subjects
	}
	bridge := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: namespace}}
	assert.Equal(t, map[string][]rbacv1.Subject{"ledgerfish-ledger": bridge, "ledgerfish-machines": bridge, "ledgerfish-cluster": bridge,
		"ledgerfish-retention": {{Kind: "ServiceAccount", Name: retentionAccount, Namespace: namespace}}}, bound)
}

// An overlay that only names another namespace is a whole installation there.
func TestAnotherNamespace(t *testing.T) {
	objects := overlay(t, "namespace: elsewhere\n")
	for _, o := range objects {
		raw, err := o.MarshalJSON()
		require.NoError(t, err)
		assert.NotContains(t, string(raw), `"namespace":"ledgerfish"`, "%s %s", o.GetKind(), o.GetName())
		assert.NotContains(t, string(raw), `:ledgerfish:`, "%s %s", o.GetKind(), o.GetName())
	}
}

// The pod has nothing that the restricted level of the pod security standards forbids, and writes to no disk.
func TestThePodIsConfined(t *testing.T) {
	for name, deployment := range map[string]*appsv1.Deployment{
		"base":     only[*appsv1.Deployment](shipped(t, "base"))[0],
		"with TLS": tlsDeployment(t),
	} {
		pod := deployment.Spec.Template.Spec
		assert.True(t, *pod.SecurityContext.RunAsNonRoot, name)
		assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type, name)
		require.Len(t, pod.Containers, 1, name)
		c := pod.Containers[0]
		assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, name)
		assert.False(t, *c.SecurityContext.AllowPrivilegeEscalation, name)
		assert.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop, name)
		assert.Equal(t, "/livez", c.LivenessProbe.HTTPGet.Path, name)
		assert.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path, name)
		assert.Equal(t, account, pod.ServiceAccountName, name)
		assert.False(t, strings.Contains(strings.Split(c.Image, ":")[0], "."), "the base names no registry")
	}
}

func tlsDeployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	for _, o := range overlay(t, "components: [../tls]\n") {
		if deployment, ok := decode(t, o).(*appsv1.Deployment); ok {
			require.Len(t, deployment.Spec.Template.Spec.Containers[0].VolumeMounts, 1)
			return deployment
		}
	}
	require.Fail(t, "no Deployment")
	return nil
}

// overlay builds a kustomization on top of the base, in a copy of deploy/ in memory.
func overlay(t *testing.T, extra string) []*unstructured.Unstructured {
	t.Helper()
	disk, fs := filesys.MakeFsOnDisk(), filesys.MakeFsInMemory()
	for _, folder := range []string{"base", "tls"} {
		files, err := filepath.Glob(filepath.Join(dir(folder), "*.yaml"))
		require.NoError(t, err)
		for _, file := range files {
			content, err := disk.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, fs.WriteFile(filepath.Join("/", folder, filepath.Base(file)), content))
		}
	}
	require.NoError(t, fs.WriteFile("/overlay/kustomization.yaml", []byte("resources: [../base]\n"+extra)))
	return build(t, fs, "/overlay")
}
