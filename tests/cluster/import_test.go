package cluster_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/tests/cluster"
	"github.com/ledgerfish/ledgerfish/tests/cluster/isoimage"
)

// An import shows its real progress, and a guest boots the very bytes that the server sent, on every StorageClass.
func TestImportAtTheServersSpeedThenBoot(t *testing.T) {
	for _, class := range []string{"csi", "csi-wffc", "local", "local-wffc"} {
		t.Run(class, func(t *testing.T) {
			w := newWorld(t)
			image := isoimage.Bootable("IMAGE-"+strings.ToUpper(class), 1<<20)
			url, release := w.halves(image)
			w.dataVolume("cd", class, url)
			w.eventually("progress of about a half", func() bool {
				percent, err := strconv.ParseFloat(strings.TrimSuffix(string(w.status("cd").Progress), "%"), 64)
				return err == nil && percent > 40 && percent < 60
			})
			assert.Equal(t, cdiv1.ImportInProgress, w.status("cd").Phase)
			release()
			w.imported("cd")

			w.startVM("vm", "cd", "")
			boot := w.booted("vm")
			sum := sha256.Sum256(image)
			assert.Equal(t, "cdrom:cd:IMAGE-"+strings.ToUpper(class), boot.Result)
			assert.Equal(t, hex.EncodeToString(sum[:]), boot.SHA256)
			require.NoError(t, w.node.Reboot(t.Context(), boot.VMI))
			w.eventually("reboot", func() bool {
				boots, err := w.node.Boots(t.Context(), boot.VMI)
				return err == nil && len(boots) == 2 && boots[1].Cause == "reboot" && boots[1].Result == boot.Result
			})
		})
	}
}

// The verdict comes from the bytes: one of 2048 in the boot catalogue differs.
func TestOneCorruptByteInTheBootCatalogueDoesNotBoot(t *testing.T) {
	w := newWorld(t)
	image := isoimage.Bootable("CORRUPT", 1<<20)
	image[isoimage.BootCatalogue+9] ^= 1
	w.dataVolume("cd", "csi", w.serve(image))
	w.imported("cd")
	w.startVM("vm", "cd", "")
	boot := w.booted("vm")
	assert.Equal(t, cluster.NoBootableDevice, boot.Result)
	require.Len(t, boot.Tried, 1)
	assert.Contains(t, boot.Tried[0].Found, "checksum")
}

// CDI never gives up: the phase stays, the container restarts, the condition carries the importer's message.
func TestFailedImportsRestartForEver(t *testing.T) {
	w := newWorld(t)
	notFound := httptest.NewServer(http.NotFoundHandler())
	defer notFound.Close()
	private := httptest.NewTLSServer(http.NotFoundHandler())
	defer private.Close()
	refused := httptest.NewServer(http.NotFoundHandler())
	refused.Close()
	large := w.serve(isoimage.Bootable("LARGE", 9<<20))
	for name, c := range map[string]struct{ url, message string }{
		"missing": {notFound.URL, "Unable to connect to http data source: expected status code 200, got 404. Status: 404 Not Found"},
		"refused": {refused.URL, "connection refused"},
		"private": {private.URL, "x509"},
		"large":   {large, "DataVolume too small to contain image"},
	} {
		w.dataVolume(name, "csi", c.url)
		w.eventually(name+" restarts with its message", func() bool {
			status := w.status(name)
			return status.RestartCount >= 2 && strings.Contains(runningMessage(status), c.message)
		})
		assert.Equal(t, cdiv1.ImportInProgress, w.status(name).Phase, name)
	}
}

func runningMessage(status cdiv1.DataVolumeStatus) string {
	for _, c := range status.Conditions {
		if c.Type == cdiv1.DataVolumeRunning && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// A fault that a test asked for holds for one import, and can be taken back.
func TestImportFaultsCanBeTakenBack(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.node.HangImport(t.Context(), w.namespace+"/cd"))
	w.dataVolume("cd", "local", w.serve(isoimage.Bootable("HANGING", 1<<20)))
	w.dataVolume("other", "local", w.serve(isoimage.Bootable("OTHER", 1<<20)))
	w.imported("other")
	w.eventually("the hanging import to begin", func() bool {
		imports, err := w.node.Imports(t.Context())
		require.NoError(t, err)
		return slices.ContainsFunc(imports, func(i cluster.Import) bool { return i.Name == w.namespace+"/cd" })
	})
	require.NoError(t, w.node.FailImport(t.Context(), w.namespace+"/cd", "Unable to process data: by request"))
	w.eventually("the message", func() bool { return runningMessage(w.status("cd")) == "Unable to process data: by request" })
	require.NoError(t, w.node.HealImport(t.Context(), w.namespace+"/cd"))
	w.imported("cd")
}
