package kubevirt

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ledgerfish/ledgerfish/domain"
)

// attach does [domain.AttachMedia]. A media fence that has reached the medium without its disk in the template means that
// it was taken out since: then the log has moved on, or somebody else did it by hand.
func (c *Cluster) attach(ctx context.Context, m domain.Machine, w domain.World, e domain.AttachMedia) error {
	return c.edit(ctx, m, w, func(vm *unstructured.Unstructured, v domain.VM) (bool, error) {
		own := domain.Fence{Seq: e.Medium}
		if !precedes(v.MediaFence, own) {
			for _, claim := range v.Attached {
				if claim == e.Volume && v.MediaFence == own {
					return false, nil
				}
			}
			return false, fmt.Errorf("the VM has obeyed media intent %d: %w", v.MediaFence.Seq, ErrMoved)
		}
		if _, err := removeClaims(m, vm, append([]string{e.Volume}, e.Drop...)...); err != nil {
			return false, err
		}
		annotate(vm, domain.AnnotationMedia, own.Format(m))
		return true, addCdrom(vm, e.Volume)
	})
}

// detach does [domain.DetachMedia]. The fence is never lowered: a newer medium may be in already.
func (c *Cluster) detach(ctx context.Context, m domain.Machine, w domain.World, e domain.DetachMedia) error {
	return c.edit(ctx, m, w, func(vm *unstructured.Unstructured, v domain.VM) (bool, error) {
		changed, err := removeClaims(m, vm, e.Volume)
		if err != nil {
			return false, err
		}
		own := domain.Fence{Seq: e.Medium}
		if !precedes(v.MediaFence, own) {
			return changed, nil
		}
		annotate(vm, domain.AnnotationMedia, own.Format(m))
		return true, nil
	})
}

// drop does [domain.DropDisk].
func (c *Cluster) drop(ctx context.Context, m domain.Machine, w domain.World, e domain.DropDisk) error {
	return c.edit(ctx, m, w, func(vm *unstructured.Unstructured, v domain.VM) (bool, error) {
		return removeClaims(m, vm, e.Volume)
	})
}
