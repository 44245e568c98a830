package kubevirt

import (
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	cdiv1 "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// view gives what matters of a DataVolume and its claim.
func (p pair) view(m domain.Machine, name string) domain.Volume {
	v := domain.Volume{Name: name}
	if p.dv == nil {
		v.UID = string(p.pvc.UID)
		v.Deleting = p.pvc.DeletionTimestamp != nil
		v.Managed, v.Medium = mark(m, p.pvc.Labels)
		return v
	}
	v.DataVolume = true
	v.UID = string(p.dv.UID)
	v.Deleting = p.dv.DeletionTimestamp != nil
	v.Managed, v.Medium = mark(m, p.dv.Labels)
	v.Complete = p.dv.Status.Phase == cdiv1.Succeeded && p.pvc != nil && p.pvc.Status.Phase == corev1.ClaimBound
	v.Restarts = int(p.dv.Status.RestartCount)
	v.Percent = percent(p.dv.Status)
	v.Message, v.Failed = verdict(p.dv.Status)
	return v
}

// mark reads our labels: whether the object is this machine's, and of which medium.
func mark(m domain.Machine, labels map[string]string) (managed bool, medium uint64) {
	medium, _ = strconv.ParseUint(labels[domain.LabelMedium], 10, 64)
	return labels[domain.LabelManaged] == "true" && labels[domain.LabelUID] == domain.LabelValue(m.UID), medium
}

// percent reads CDI's "nn.nn%"; anything else ("N/A", "") is no progress yet.
func percent(s cdiv1.DataVolumeStatus) float64 {
	if s.Phase == cdiv1.Succeeded {
		return 100
	}
	p, err := strconv.ParseFloat(strings.TrimSuffix(string(s.Progress), "%"), 64)
	if err != nil {
		return 0
	}
	return min(max(p, 0), 100)
}

// Reasons of the Bound condition with which CDI goes on trying, but not towards a volume.
const (
	reasonQuota   = "ErrExceededQuota"
	reasonInvalid = "ErrClaimNotValid"
	reasonLost    = "ErrClaimLost"
)

// verdict tells why a DataVolume does not get on, and whether that is for good. A 404, a refused connection or a bad
// certificate never is, by CDI: it restarts the importer for ever.
func verdict(s cdiv1.DataVolumeStatus) (message string, failed bool) {
	failed = s.Phase == cdiv1.Failed
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionTrue {
			continue
		}
		switch {
		case c.Type == cdiv1.DataVolumeRunning && (c.Reason == "Error" || failed || c.Reason == "Unschedulable"):
			message = c.Message
		case c.Type == cdiv1.DataVolumeBound && (c.Reason == reasonQuota || c.Reason == reasonInvalid || c.Reason == reasonLost):
			return redact(c.Message), true
		}
	}
	if failed && message == "" {
		message = "CDI says that the import failed"
	}
	return redact(message), failed
}

// movements remembers what CDI does not: when each volume last moved, and what was last said to be wrong with it, which
// CDI takes back whenever it restarts the importer. Both are as far as this process has seen.
type movements struct {
	mu sync.Mutex
	of map[string]map[string]movement // by UID of the machine, then of the volume
}

type movement struct {
	percent  float64
	complete bool
	at       time.Time
	message  string
}

// note completes a machine's volumes, which are all that it has: what is not among them is forgotten.
func (s *movements) note(machine string, volumes []domain.Volume, now time.Time) []domain.Volume {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]map[string]movement{}
	}
	before, after := s.of[machine], map[string]movement{}
	for i, v := range volumes {
		last, seen := before[v.UID]
		if !seen || last.percent != v.Percent || last.complete != v.Complete {
			last = movement{percent: v.Percent, complete: v.Complete, at: now, message: last.message}
		}
		if v.Message != "" {
			last.message = v.Message
		}
		after[v.UID], volumes[i].MovedAt, volumes[i].Message = last, last.at, last.message
	}
	if delete(s.of, machine); len(after) > 0 {
		s.of[machine] = after
	}
	return volumes
}

// hear takes in what is wrong with a volume that has been noted, from a watch, which sees more than the reads do.
func (s *movements) hear(machine, volume, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, noted := s.of[machine][volume]; noted && message != "" {
		last.message = message
		s.of[machine][volume] = last
	}
}
