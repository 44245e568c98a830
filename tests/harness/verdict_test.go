package harness

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	virtv1 "kubevirt.io/api/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

var testMachine = VM{Machine: domain.Machine{Namespace: "lab", Name: "web-0", UID: "11112222-0000"}}

const testClaim = "ledgerfish-11112222-2"

// witnessed makes what a witness has seen: the VM obeyed a fence at revision 50, an instance came at 60.
func witnessed(fence string, claims []string, volume volumeHistory) *Witness {
	vm := &virtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{domain.AnnotationPower: fence}}}
	key := testMachine.String()
	return &Witness{
		vms:     map[string][]seen[*virtv1.VirtualMachine]{key: {{10, &virtv1.VirtualMachine{}}, {50, vm}}},
		starts:  map[string][]Start{key: {{VMI: "i1", Revision: 60, Claims: claims}}},
		volumes: map[string]*volumeHistory{"lab/" + testClaim: &volume},
	}
}

func logOf(data ...domain.Data) (events []domain.Event) {
	for i, d := range data {
		e := domain.New("admin", 0, "", d)
		e.Seq = uint64(i + 1)
		events = append(events, e)
	}
	return events
}

// A witness that finds nothing wrong with anything would prove nothing.
func TestVerdictsOfAStart(t *testing.T) {
	inserted := logOf(domain.MachineAdopted{}, domain.MediaRequested{}, domain.PowerRequested{})
	ejected := logOf(domain.MachineAdopted{}, domain.MediaRequested{}, domain.EjectRequested{}, domain.PowerRequested{})
	cancelled := logOf(domain.MachineAdopted{}, domain.MediaRequested{}, domain.PowerRequested{}, domain.PowerCancelled{})
	cancelled[3].Cause = 3
	for name, row := range map[string]struct {
		fence         string
		claims        []string
		volume        volumeHistory
		log           []domain.Event
		early, broken bool
	}{
		"complete before the start":      {"11112222:3:start", []string{testClaim}, volumeHistory{40, 41}, inserted, false, false},
		"bound after the start":          {"11112222:3:start", []string{testClaim}, volumeHistory{40, 55}, inserted, true, true},
		"succeeded after the start":      {"11112222:3:start", []string{testClaim}, volumeHistory{55, 40}, inserted, true, true},
		"never complete":                 {"11112222:3:start", []string{testClaim}, volumeHistory{0, 40}, inserted, true, true},
		"without a medium":               {"11112222:3:start", nil, volumeHistory{40, 41}, inserted, true, true},
		"without one, ejected before it": {"11112222:4:start", nil, volumeHistory{}, ejected, true, false},
		"by nobody of ours":              {"", []string{testClaim}, volumeHistory{40, 41}, inserted, false, true},
		"by a fence of another machine":  {"99992222:3:start", []string{testClaim}, volumeHistory{40, 41}, inserted, false, true},
		"by a cancelled intent":          {"11112222:3:start", []string{testClaim}, volumeHistory{40, 41}, cancelled, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := witnessed(row.fence, row.claims, row.volume)
			assert.Equal(t, row.early, len(w.EarlyStarts(testMachine)) > 0, "early: %v", w.EarlyStarts(testMachine))
			assert.Equal(t, row.broken, len(w.BrokenOrders(testMachine, row.log)) > 0, "broken: %v", w.BrokenOrders(testMachine, row.log))
		})
	}
}

func TestOneIntentStartsOnce(t *testing.T) {
	w := witnessed("11112222:3:start", []string{testClaim}, volumeHistory{40, 41})
	w.starts[testMachine.String()] = append(w.starts[testMachine.String()], Start{VMI: "i2", Revision: 70, Claims: []string{testClaim}})
	log := logOf(domain.MachineAdopted{}, domain.MediaRequested{}, domain.PowerRequested{})
	assert.Len(t, w.BrokenOrders(testMachine, log), 1)
}
