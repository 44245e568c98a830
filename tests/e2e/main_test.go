package e2e

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// Of this package's tests; set once, by TestMain.
var (
	env    *harness.Env
	bridge *harness.Bridge
	secure *harness.Images // over HTTPS, with an authority that only imageCA knows
)

// imageCA is the ConfigMap with the authority of the image servers, in every namespace of the tests.
const imageCA = "image-ca"

func TestMain(m *testing.M) {
	os.Exit(harness.Suite(m, func(ctx context.Context, e *harness.Env) (err error) {
		bridge, err = e.StartBridge(ctx, harness.Options{Flags: []string{"--import-stall", "25s", "--import-restarts", "1", "--image-ca", imageCA}})
		if err != nil {
			return err
		}
		e.Cleanup(bridge.Stop)
		if secure, err = harness.ServeImages(true); err != nil {
			return err
		}
		e.Cleanup(func() error { secure.Close(); return nil })
		env = e
		return nil
	}))
}

// newNamespace makes a namespace for one test's machines, as an operator prepares it.
func newNamespace(t *testing.T, prefix string) string {
	t.Helper()
	namespace := env.NamespaceFor(t, prefix)
	ca := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: imageCA}, Data: map[string]string{"ca.pem": string(secure.CA)}}
	_, err := env.Core.CoreV1().ConfigMaps(namespace).Create(t.Context(), ca, metav1.CreateOptions{})
	require.NoError(t, err)
	return namespace
}
