package kubevirt

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	v1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Recorder shows what went wrong as Kubernetes Events on the VM, for those who look there. It does its best: the log is
// the record. It holds no secret, for it says what the log says.
type Recorder struct {
	broadcaster events.EventBroadcaster
	recorder    events.EventRecorderLogger
}

// NewRecorder starts sending; Close ends it.
func (c *Cluster) NewRecorder(ctx context.Context) (*Recorder, error) {
	b := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.core.EventsV1()})
	if err := b.StartRecordingToSinkWithContext(ctx); err != nil {
		return nil, fmt.Errorf("start the event recorder: %w", err)
	}
	return &Recorder{broadcaster: b, recorder: b.NewRecorder(runtime.NewScheme(), fieldManager)}, nil
}

// Close stops sending.
func (r *Recorder) Close() { r.broadcaster.Shutdown() }

// Record shows those of a machine's new events that tell of a failure.
func (r *Recorder) Record(m domain.Machine, list []domain.Event) {
	vm := &corev1.ObjectReference{APIVersion: v1.GroupVersion.String(), Kind: "VirtualMachine", Namespace: m.Namespace,
		Name: m.Name, UID: types.UID(m.UID)}
	for _, e := range list {
		action, note := failure(e.Data)
		if note != "" {
			r.recorder.Eventf(vm, nil, corev1.EventTypeWarning, string(e.Type), action, "%s", cut(note))
		}
	}
}

// failure gives what was being done and what became of it; an empty note: nothing went wrong.
func failure(d domain.Data) (action, note string) {
	switch d := d.(type) {
	case domain.ImportFailed:
		return "Import", d.Reason
	case domain.ImportExpired:
		return "Import", "not done by " + d.Deadline.UTC().Format("2006-01-02T15:04:05Z")
	case domain.MediaRefused:
		return "InsertMedia", d.Image + ": " + d.Reason
	case domain.PowerRefused:
		return "Reset", string(d.ResetType) + ": " + d.Reason
	case domain.PowerCancelled:
		return "Reset", d.Reason
	case domain.PowerFailed:
		return "Reset", d.Reason
	}
	return "", ""
}

// cut keeps to the API's limit of 1 KiB for a note.
func cut(note string) string {
	const limit = 1000
	if len(note) <= limit {
		return note
	}
	return note[:limit] + "…"
}
