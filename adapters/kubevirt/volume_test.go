package kubevirt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/domain"
)

func dataVolume(phase cdiv1.DataVolumePhase, progress string, conditions ...cdiv1.DataVolumeCondition) *cdiv1.DataVolume {
	return &cdiv1.DataVolume{
		ObjectMeta: metav1.ObjectMeta{UID: "dv", Labels: labels(web, 3)},
		Status:     cdiv1.DataVolumeStatus{Phase: phase, Progress: cdiv1.DataVolumeProgress(progress), RestartCount: 2, Conditions: conditions},
	}
}

func claim(phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{UID: "pvc", Labels: labels(web, 3)},
		Status: corev1.PersistentVolumeClaimStatus{Phase: phase}}
}

// Succeeded comes up to half a second before Bound; both are required.
func TestAVolumeIsCompleteWhenItSucceededAndIsBound(t *testing.T) {
	for _, row := range []struct {
		p    pair
		want bool
	}{
		{pair{dataVolume(cdiv1.Succeeded, "100.0%"), claim(corev1.ClaimBound)}, true},
		{pair{dataVolume(cdiv1.Succeeded, "100.0%"), claim(corev1.ClaimPending)}, false},
		{pair{dataVolume(cdiv1.Succeeded, "100.0%"), nil}, false},
		{pair{dataVolume(cdiv1.ImportInProgress, "99.9%"), claim(corev1.ClaimBound)}, false},
		{pair{nil, claim(corev1.ClaimBound)}, false},
	} {
		assert.Equal(t, row.want, row.p.view(web, "v").Complete)
	}
}

func TestWhatIsReadOfAVolume(t *testing.T) {
	assert.Equal(t, domain.Volume{Name: "v", Managed: true, Medium: 3, DataVolume: true, UID: "dv", Restarts: 2, Percent: 12.5},
		pair{dataVolume(cdiv1.ImportInProgress, "12.50%"), nil}.view(web, "v"))
	assert.Equal(t, domain.Volume{Name: "v", Managed: true, Medium: 3, UID: "pvc"}, pair{nil, claim(corev1.ClaimBound)}.view(web, "v"))
	other := domain.Machine{UID: "ffffffff-1111"}
	assert.False(t, pair{nil, claim(corev1.ClaimBound)}.view(other, "v").Managed, "another machine's label is not ours")
	for progress, want := range map[string]float64{"N/A": 0, "": 0, "0.00%": 0, "100.00%": 100, "250%": 100} {
		assert.InDelta(t, want, percent(dataVolume(cdiv1.ImportInProgress, progress).Status), 0.001, progress)
	}
}

// CDI ends almost no failing import; what it tells meanwhile is what a person needs, without the secrets in it (I8).
func TestWhatIsToldOfAFailingImport(t *testing.T) {
	const secret = "http://user:hunter2@h/a.iso?sig=hunter2"
	for name, row := range map[string]struct {
		dv      *cdiv1.DataVolume
		message string
		failed  bool
	}{
		"404": {dataVolume(cdiv1.ImportInProgress, "N/A", cdiv1.DataVolumeCondition{Type: cdiv1.DataVolumeRunning, Status: "False", Reason: "Error",
			Message: `unable to connect: Get "` + secret + `": expected status code 200, got 404`}),
			`unable to connect: Get "http://h/a.iso?redacted": expected status code 200, got 404`, false},
		"retrying": {dataVolume(cdiv1.ImportInProgress, "N/A", cdiv1.DataVolumeCondition{Type: cdiv1.DataVolumeRunning, Status: "True", Reason: "Pod is running"}), "", false},
		"checksum": {dataVolume(cdiv1.Failed, "100%", cdiv1.DataVolumeCondition{Type: cdiv1.DataVolumeRunning, Status: "False", Reason: "Completed", Message: "wrong checksum"}),
			"wrong checksum", true},
		"failed without a word": {dataVolume(cdiv1.Failed, ""), "CDI says that the import failed", true},
		"quota": {dataVolume(cdiv1.Pending, "N/A", cdiv1.DataVolumeCondition{Type: cdiv1.DataVolumeBound, Status: "Unknown", Reason: "ErrExceededQuota", Message: "exceeded quota"}),
			"exceeded quota", true},
		"pending": {dataVolume(cdiv1.Pending, "N/A", cdiv1.DataVolumeCondition{Type: cdiv1.DataVolumeBound, Status: "False", Reason: "Pending", Message: "PVC v Pending"}), "", false},
	} {
		message, failed := verdict(row.dv.Status)
		assert.Equal(t, row.message, message, name)
		assert.Equal(t, row.failed, failed, name)
	}
}

// CDI copies our labels onto the claims that it makes for its importer: they are not volumes of ours to delete.
func TestTheImportersClaimsAreNotOurs(t *testing.T) {
	yes := true
	pvc := claim(corev1.ClaimBound)
	assert.False(t, importersOwn(pvc))
	rest := withScratch(web, nil, []*corev1.PersistentVolumeClaim{pvc, pvc})
	assert.Equal(t, []domain.Volume{{Name: "ledgerfish-0f3c9a52-3", Managed: true, Medium: 3, UID: "pvc", Deleting: true}}, rest,
		"but as long as there is one, something of the medium is left")
	assert.Equal(t, rest, withScratch(web, rest, []*corev1.PersistentVolumeClaim{pvc}))
	for kind, want := range map[string]bool{"DataVolume": false, "PersistentVolumeClaim": true, "Pod": true} {
		pvc.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Controller: &yes}}
		assert.Equal(t, want, importersOwn(pvc), kind)
	}
}

func TestMovedAtIsWhenTheImportLastMoved(t *testing.T) {
	var s movements
	at := func(sec int) time.Time { return time.Unix(int64(sec), 0) }
	note := func(now int, percent float64, uid string) time.Time {
		return s.note("machine", []domain.Volume{{UID: uid, Percent: percent}}, at(now))[0].MovedAt
	}
	assert.Equal(t, at(1), note(1, 0, "a"))
	assert.Equal(t, at(1), note(5, 0, "a"))
	assert.Equal(t, at(7), note(7, 0.5, "a"))
	assert.Equal(t, at(7), note(9, 0.5, "a"))
	assert.Equal(t, at(10), note(10, 0, "a"), "a restarted importer begins anew, and that is a move")
	assert.Equal(t, at(11), note(11, 0, "b"), "another volume")
	assert.Equal(t, at(12), note(12, 0, "a"), "forgotten when it was not there")
	s.note("machine", nil, at(13))
	assert.Empty(t, s.of)
}

// The importer's reason is there only between its restarts; it is what a person needs when the restarts were too many.
func TestTheLastReasonIsRemembered(t *testing.T) {
	var s movements
	note := func(message string) string {
		return s.note("machine", []domain.Volume{{UID: "a", Message: message}}, time.Unix(1, 0))[0].Message
	}
	s.hear("machine", "a", "too early")
	assert.Empty(t, note(""))
	assert.Equal(t, "404", note("404"))
	assert.Equal(t, "404", note(""))
	s.hear("machine", "a", "refused")
	s.hear("machine", "a", "")
	assert.Equal(t, "refused", note(""))
}

// An image server with a private CA: the importer gets it by the ConfigMap that the operator names.
func TestTheImageCAIsHandedToTheImporter(t *testing.T) {
	c := &Cluster{Options: Options{ImageCA: "image-servers"}}
	for url, want := range map[string]string{"https://h/a.iso": "image-servers", "http://h/a.iso": ""} {
		dv := c.dataVolume(web, domain.CreateVolume{Medium: 3, Volume: "v"}, image{url: url}, mebibyte)
		assert.Equal(t, want, dv.Spec.Source.HTTP.CertConfigMap, url)
	}
}
