package eventstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Keys of a log ConfigMap's data.
const (
	keyLog   = "log"
	keyStart = "start"
)

// annotationMachine holds a machine's name in full where it does not fit in a label.
const annotationMachine = domain.LabelMachine

// NewConfigMaps is the store that keeps logs as ConfigMaps in one namespace. The client's own limits apply: client-go
// sends 5 requests a second unless it is configured otherwise. The account needs get, list, watch, create and update.
func NewConfigMaps(client kubernetes.Interface, ledgerNamespace string, o Options) *Log {
	return newLog(configMaps{client.CoreV1().ConfigMaps(ledgerNamespace)}, o)
}

// configMaps is the backing of NewConfigMaps.
type configMaps struct {
	api typedcorev1.ConfigMapInterface
}

func (c configMaps) create(ctx context.Context, o object) (object, error) {
	stored, err := c.api.Create(ctx, configMap(o), metav1.CreateOptions{})
	if err != nil {
		return object{}, fate(err)
	}
	return objectOf(stored), nil
}

func (c configMaps) update(ctx context.Context, o object) (object, error) {
	if o.Version == "" {
		return object{}, domain.Errorf(domain.CodeInternal, "update %s without a resourceVersion", o.Name)
	}
	stored, err := c.api.Update(ctx, configMap(o), metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return object{}, fmt.Errorf("%w: %w", errStale, err)
	}
	if err != nil {
		return object{}, fate(err)
	}
	return objectOf(stored), nil
}

func (c configMaps) get(ctx context.Context, name string) (object, error) {
	stored, err := c.api.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return object{}, errAbsent
	}
	if err != nil {
		return object{}, err
	}
	return objectOf(stored), nil
}

// list reads from etcd, or from a cache that is certain to be as new: no resourceVersion is named.
func (c configMaps) list(ctx context.Context, what filter) ([]object, error) {
	var objects []object
	options := metav1.ListOptions{LabelSelector: selector(what), Limit: 500}
	for {
		page, err := c.api.List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			if o := objectOf(&page.Items[i]); o.isSegment() {
				objects = append(objects, o)
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return objects, nil
		}
	}
}

func selector(what filter) string {
	want := labels.Set{domain.LabelRecord: domain.RecordLog}
	if what.machine != nil {
		want[domain.LabelUID] = domain.LabelValue(what.machine.UID)
	}
	s := labels.SelectorFromSet(want)
	if what.open {
		unsealed, _ := labels.NewRequirement(domain.LabelSealed, selection.DoesNotExist, nil) // no value to be wrong
		s = s.Add(*unsealed)
	}
	return s.String()
}

// fate tells from an error whether the write was done. What is not certain is errUnsure: an answer of the kind 5xx may
// come from before or after the write, and so may anything that is no answer at all.
func fate(err error) error {
	status := apierrors.APIStatus(nil)
	dial := (*net.OpError)(nil)
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w: %w", errStale, err)
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("%w: %w", errExists, err)
	case apierrors.IsTooManyRequests(err):
		return fmt.Errorf("%w: %w", errNotSent, err)
	case errors.As(err, &status) && status.Status().Code >= http.StatusBadRequest &&
		status.Status().Code < http.StatusInternalServerError && !apierrors.IsTimeout(err):
		return err
	case errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	return fmt.Errorf("%w: %w", errUnsure, err)
}

func configMap(o object) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            o.Name,
			ResourceVersion: o.Version,
			Labels: map[string]string{
				domain.LabelRecord:    domain.RecordLog,
				domain.LabelMachine:   domain.LabelValue(o.Machine.Name),
				domain.LabelNamespace: domain.LabelValue(o.Machine.Namespace),
				domain.LabelUID:       domain.LabelValue(o.Machine.UID),
				domain.LabelSegment:   strconv.Itoa(o.Number),
			},
			Annotations: map[string]string{},
		},
		Data: map[string]string{keyLog: o.Log},
	}
	if o.Start != "" {
		cm.Data[keyStart] = o.Start
	}
	if o.Sealed {
		sealed := true
		cm.Immutable = &sealed
	}
	if o.Retired {
		cm.Labels[domain.LabelSealed] = "true"
	}
	if o.Summary != "" {
		cm.Annotations[domain.AnnotationSummary] = o.Summary
	}
	if cm.Labels[domain.LabelMachine] != o.Machine.Name {
		cm.Annotations[annotationMachine] = o.Machine.Name
	}
	return cm
}

func objectOf(cm *corev1.ConfigMap) object {
	number, _ := strconv.Atoi(cm.Labels[domain.LabelSegment]) // 0, which is no segment, when somebody broke it
	name, ok := cm.Annotations[annotationMachine]
	if !ok {
		name = cm.Labels[domain.LabelMachine]
	}
	return object{
		Name:    cm.Name,
		Version: cm.ResourceVersion,
		Machine: domain.Machine{Namespace: cm.Labels[domain.LabelNamespace], Name: name, UID: cm.Labels[domain.LabelUID]},
		Number:  number,
		Sealed:  cm.Immutable != nil && *cm.Immutable,
		Retired: cm.Labels[domain.LabelSealed] != "",
		Start:   cm.Data[keyStart],
		Log:     cm.Data[keyLog],
		Summary: cm.Annotations[domain.AnnotationSummary],
	}
}
