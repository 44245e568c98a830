package kubevirt

import (
	"context"
	"fmt"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/ledgerfish/ledgerfish/domain"
)

// Secrets keeps what is too secret for the log in one Kubernetes Secret per insert, beside the logs.
type Secrets struct {
	core      kubernetes.Interface
	namespace string
}

// recordImage is the [domain.LabelRecord] of such a Secret.
const recordImage = "image"

// Keys of such a Secret.
const (
	keyURL      = "url"
	keyUser     = "user"
	keyPassword = "password"
)

// Keep stores an image's full URL and credentials before the log refers to them, and gives the Secret's name, which
// follows from the request: the same request again is the same Secret. Credentials in the URL move out of it.
func (s *Secrets) Keep(ctx context.Context, m domain.Machine, requestID, image, user, password string) (name string, err error) {
	if u, err := url.Parse(image); err == nil && u.User != nil {
		if user == "" {
			user = u.User.Username()
			password, _ = u.User.Password()
		}
		u.User = nil
		image = u.String()
	}
	name, immutable := "ledgerfish-image-"+requestID, true
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			domain.LabelRecord: recordImage, domain.LabelUID: domain.LabelValue(m.UID),
			domain.LabelNamespace: domain.LabelValue(m.Namespace), domain.LabelMachine: domain.LabelValue(m.Name),
		}},
		StringData: map[string]string{keyURL: image, keyUser: user, keyPassword: password},
		Immutable:  &immutable,
	}
	_, err = s.core.CoreV1().Secrets(s.namespace).Create(ctx, secret, metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("keep the image's URL for %s: %w", m, err)
	}
	return name, nil
}

// Read gives them back. An error with [domain.CodeNotFound] means that they are gone; a Secret of another machine is not
// found either.
func (s *Secrets) Read(ctx context.Context, m domain.Machine, name string) (image, user, password string, err error) {
	secret, err := s.core.CoreV1().Secrets(s.namespace).Get(ctx, name, metav1.GetOptions{})
	if missing(err) || err == nil && secret.Labels[domain.LabelUID] != domain.LabelValue(m.UID) {
		return "", "", "", domain.Errorf(domain.CodeNotFound, "there is no Secret %s of %s", name, m)
	}
	if err != nil {
		return "", "", "", fmt.Errorf("read Secret %s of %s: %w", name, m, err)
	}
	return string(secret.Data[keyURL]), string(secret.Data[keyUser]), string(secret.Data[keyPassword]), nil
}

// Sweep deletes the Secrets that were made before that time and that no log wants. Younger ones may belong to a request
// that has not reached its log yet.
func (s *Secrets) Sweep(ctx context.Context, before time.Time, wanted map[string]bool) error {
	list, err := s.core.CoreV1().Secrets(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: domain.LabelRecord + "=" + recordImage})
	if err != nil {
		return fmt.Errorf("list the Secrets of images: %w", err)
	}
	for _, secret := range list.Items {
		if wanted[secret.Name] || secret.CreationTimestamp.After(before) {
			continue
		}
		err := s.core.CoreV1().Secrets(s.namespace).Delete(ctx, secret.Name,
			metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(secret.UID))})
		if err != nil && !missing(err) {
			return fmt.Errorf("delete Secret %s: %w", secret.Name, err)
		}
	}
	return nil
}
