package projections

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ledgerfish/ledgerfish/domain"
)

// A VM whose media fence has reached a medium has obeyed it already: the medium was attached and taken out again, and is not
// put back behind whoever did that.
func TestAMediumIsAttachedOnce(t *testing.T) {
	s := New(domain.Machine{Namespace: "lab", Name: "web-0", UID: "0f3c9a52-6d5e"})
	s.Media, s.Current = []Medium{{Seq: 2, Phase: MediumImported, Volume: "v"}}, 2
	w := domain.World{VM: &domain.VM{RunStrategy: domain.RunHalted}, Volumes: []domain.Volume{{Name: "v", Managed: true, Medium: 2}}}
	assert.Equal(t, []domain.Effect{domain.AttachMedia{Medium: 2, Volume: "v"}}, Pending(s, w))
	w.VM.MediaFence = domain.Fence{Seq: 2}
	assert.Empty(t, Pending(s, w))
}
