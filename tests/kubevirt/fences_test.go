package kubevirt_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ledgerfish/ledgerfish/adapters/kubevirt"
	"github.com/ledgerfish/ledgerfish/domain"
)

// What a stalled worker does late, on the world that it read before, changes nothing (I5, I7).
func TestALateEffectDoesNothing(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	world := func() domain.World {
		w, err := b.worker.World(b.ctx, m)
		require.NoError(t, err)
		return w
	}
	late := func(w domain.World, e domain.Effect) {
		t.Helper()
		before := b.vm(m)
		_, err := b.cluster.Do(b.ctx, m, w, e)
		assert.ErrorIs(t, err, kubevirt.ErrMoved, "%T", e)
		assert.Equal(t, before.ResourceVersion, b.vm(m).ResourceVersion)
	}
	empty := world()
	b.mustDo(m, insert(b.image("CD", nil)))
	medium, _ := b.atRest(m).CurrentMedium()
	attach := domain.AttachMedia{Medium: medium.Seq, Volume: medium.Volume}
	late(empty, attach)
	b.mustDo(m, domain.EjectMedia{Slot: domain.SlotCd})
	b.atRest(m)
	late(empty, attach)
	late(world(), attach) // even on the newest world: the fence of the detach forbids it

	off := world()
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	uid := b.on(m, "")
	start := b.atRest(m).Power.Intent.Seq
	late(off, domain.StartMachine{Seq: start})
	late(world(), domain.StopMachine{Seq: start - 1, VMI: uid})
	late(world(), domain.StopMachine{Seq: start, VMI: uid})
	late(world(), domain.StopMachine{Seq: start + 1, VMI: "another"})
	late(world(), domain.ForceStop{Seq: start, VMI: uid})
	assert.Equal(t, uid, b.instance(m))

	b.mustDo(m, domain.Reset{ResetType: domain.ResetForceOff})
	b.off(m)
	b.atRest(m)
	b.eventually("virt-controller has seen the VM Halted", func() bool { return world().VM.StatusRunStrategy != domain.RunRerunOnFailure })
	late(world(), domain.StartMachine{Seq: start})
	late(off, domain.StartMachine{Seq: start + 100})
	assert.Empty(t, b.instance(m))
}

// C24, I8: an image behind a password is imported with it, and the log shows neither that nor the URL's query. CDI's copy
// goes with the volume.
func TestAnImageBehindAPassword(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	url := b.image("SECRET", func(w http.ResponseWriter, r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		if user == "u" && password == "hunter2" && r.URL.Query().Get("sig") == "hunter3" {
			return true
		}
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}) + "?sig=hunter3"
	name, err := b.cluster.Secrets().Keep(b.ctx, m, uuid.NewString(), url, "u", "hunter2")
	require.NoError(t, err)
	command := insert(url)
	command.Secret = name
	b.mustDo(m, command)
	b.eventually("inserted", func() bool { medium, _ := b.state(m).CurrentMedium(); return medium.Phase == "Inserted" })
	medium, _ := b.atRest(m).CurrentMedium()
	secrets := b.core.CoreV1().Secrets(b.namespace)
	secret, err := secrets.Get(b.ctx, medium.Volume, metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, medium.UID, string(secret.OwnerReferences[0].UID))
	log := b.timeline(m)
	assert.NotContains(t, log, "hunter2")
	assert.NotContains(t, log, "hunter3")
	b.mustDo(m, domain.EjectMedia{Slot: domain.SlotCd})
	b.atRest(m)
	b.eventually("CDI's copy is gone", func() bool {
		list, err := secrets.List(b.ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 0
	})

	// Ours goes when no log refers to it; a younger one may belong to a request that is just coming.
	kept := func() bool {
		_, err := b.core.CoreV1().Secrets(ledgerNamespace).Get(b.ctx, name, metav1.GetOptions{})
		return err == nil
	}
	mine := map[string]bool{} // other tests' Secrets stay
	all, err := b.core.CoreV1().Secrets(ledgerNamespace).List(b.ctx, metav1.ListOptions{})
	require.NoError(t, err)
	for _, s := range all.Items {
		mine[s.Name] = s.Name != name
	}
	require.NoError(t, b.cluster.Secrets().Sweep(b.ctx, time.Now().Add(-time.Hour), mine))
	assert.True(t, kept())
	require.NoError(t, b.cluster.Secrets().Sweep(b.ctx, time.Now().Add(time.Hour), map[string]bool{name: true}))
	assert.True(t, kept())
	require.NoError(t, b.cluster.Secrets().Sweep(b.ctx, time.Now().Add(time.Hour), mine))
	assert.False(t, kept())
}

// C6: the same URL again is a fresh import under a new name, at once.
func TestEjectAndInsertTheSameURL(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	url := b.image("AGAIN", nil)
	b.mustDo(m, insert(url))
	first, _ := b.atRest(m).CurrentMedium()
	b.mustDo(m, domain.EjectMedia{Slot: domain.SlotCd})
	b.mustDo(m, insert(url))
	b.mustDo(m, once(domain.BootCd))
	b.mustDo(m, domain.Reset{ResetType: domain.ResetOn})
	b.on(m, "")
	second, _ := b.atRest(m).CurrentMedium()
	assert.NotEqual(t, first.Volume, second.Volume)
	assert.Equal(t, []string{"cdrom:ledgerfish-cd:AGAIN"}, b.boots(m))
	b.eventually("only the new volume is left", func() bool { return len(b.leftovers()) == 2 })
}

// An object with our label that no log wants is removed, and the log says so (I3).
func TestALateCreateIsSwept(t *testing.T) {
	t.Parallel()
	b := newBridge(t)
	m := b.newVM("web-0", "runStrategy: Halted", 30)
	w, err := b.worker.World(b.ctx, m)
	require.NoError(t, err)
	_, err = b.cluster.Do(b.ctx, m, w, domain.CreateVolume{Medium: 999, Volume: domain.VolumeName(m, 999), Image: b.image("LATE", nil)})
	require.NoError(t, err)
	b.eventually("swept", func() bool { return len(b.leftovers()) == 0 })
	b.atRest(m)
	assert.Contains(t, b.timeline(m), string(domain.VolumeSweptType))
}

// A machine is never lost because the API server could not be asked, or because this process may not ask it.
func TestARefusedReadIsNotAnObservation(t *testing.T) {
	t.Parallel()
	config, err := asBridge()
	require.NoError(t, err)
	config.Impersonate.UserName = "nobody"
	config.Impersonate.Groups = nil
	c, err := kubevirt.New(config, kubevirt.Options{LedgerNamespace: ledgerNamespace, Now: time.Now})
	require.NoError(t, err)
	_, err = c.World(t.Context(), domain.Machine{Namespace: corev1.NamespaceDefault, Name: "web-0", UID: "u"})
	assert.ErrorContains(t, err, "forbidden")
}
