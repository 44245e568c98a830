package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// credentialsKey is the key of the credentials Secret: lines of <account>:<bcrypt hash>, as htpasswd -B writes them.
const credentialsKey = "htpasswd"

// accounts are those of the credentials Secret, as it is now.
type accounts struct {
	current atomic.Pointer[accountSet]
	log     logrus.FieldLogger
}

type accountSet struct {
	hashes  map[string][]byte
	version string
}

// Hash implements redfish.Accounts.
func (a *accounts) Hash(user string) ([]byte, bool) {
	hash, ok := a.current.Load().hashes[user]
	return hash, ok
}

// Version implements redfish.Accounts.
func (a *accounts) Version() string { return a.current.Load().version }

// watchAccounts follows the Secret until ctx ends. A Secret that is missing or malformed lets nobody in, and says so.
func watchAccounts(ctx context.Context, client kubernetes.Interface, namespace, name string, log logrus.FieldLogger) (*accounts, error) {
	a := &accounts{log: log.WithField("secret", namespace+"/"+name)}
	a.set(nil)
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
		}))
	informer := factory.Core().V1().Secrets().Informer()
	seen, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { a.set(o) },
		UpdateFunc: func(_, o any) { a.set(o) },
		DeleteFunc: func(any) { a.set(nil) },
	})
	if err != nil {
		return nil, fmt.Errorf("follow the credentials: %w", err)
	}
	factory.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), seen.HasSynced) // not only read, but set: else the first calls would get a 401
	if len(a.current.Load().hashes) == 0 {
		a.log.Warn("there are no accounts: nobody can log in")
	}
	return a, nil
}

func (a *accounts) set(o any) {
	next := &accountSet{hashes: map[string][]byte{}}
	if secret, ok := o.(*corev1.Secret); ok {
		next.version = secret.ResourceVersion
		next.hashes = parseAccounts(secret.Data[credentialsKey], a.log)
	}
	if before := a.current.Swap(next); before != nil && !maps.EqualFunc(before.hashes, next.hashes, func(x, y []byte) bool { return string(x) == string(y) }) {
		a.log.WithField("accounts", len(next.hashes)).Info("accounts changed")
	}
}

// parseAccounts reads htpasswd lines. A line that is no bcrypt hash is left out, and named by its number only.
func parseAccounts(raw []byte, log logrus.FieldLogger) map[string][]byte {
	hashes := map[string][]byte{}
	for i, line := range strings.Split(string(raw), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		user, hash, ok := strings.Cut(line, ":")
		if _, err := bcrypt.Cost([]byte(hash)); !ok || user == "" || err != nil {
			log.WithField("line", i+1).Warn("not an htpasswd line with a bcrypt hash; left out")
			continue
		}
		hashes[user] = []byte(hash)
	}
	return hashes
}
