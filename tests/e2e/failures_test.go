package e2e

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/tests/cluster"
	"github.com/ledgerfish/ledgerfish/tests/harness"
)

// C9, C10: the image is not there, and the client's power sync asks for the machine again and again.
func TestAnImageThatIsNotThere(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	missing, _ := h.image("missing.iso", harness.Image{Status: http.StatusNotFound})
	task := h.insert(missing).Header.Get("Location")
	h.reset(domain.ResetOn)
	h.awaitPower(domain.PowerPoweringOn)
	h.awaitEvent(domain.ImportFailedType, 1)
	h.awaitPower(domain.PowerOff)
	reply, err := h.client.Do(t.Context(), http.MethodGet, task, nil)
	require.NoError(t, err)
	assert.Contains(t, string(reply.Raw), "404", "the Task says why")
	for range 3 {
		h.refused(domain.ResetOn)
	}
	h.reset(domain.ResetForceOff)
	harness.Await(t, patience, "its volume to be deleted", func(ctx context.Context) error { return env.NothingLeft(ctx, h.Namespace) })
	assert.Zero(t, h.starts())

	good, iso := h.image("good.iso", harness.Image{Takes: time.Second})
	h.insert(good)
	h.reset(domain.ResetOn)
	h.booted(1, iso)
	h.putAway()
}

// C9: after an eject instead of a new insert, the machine can be started again.
func TestEjectMakesAFailedImportForgotten(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	missing, _ := h.image("missing.iso", harness.Image{Refuse: true})
	h.insert(missing)
	h.awaitEvent(domain.ImportFailedType, 1)
	h.refused(domain.ResetOn)
	h.eject()
	h.reset(domain.ResetOn)
	h.awaitRunning()
	h.putAway()
}

// C11, C14: the server stops sending. ForceOff, On, eject and insert work all the while.
func TestAnImageThatStopsComing(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	hang, _ := h.image("hang.iso", harness.Image{Hang: true, Takes: time.Second})
	h.insert(hang)
	h.reset(domain.ResetOn)
	h.awaitPower(domain.PowerPoweringOn)
	h.reset(domain.ResetForceOff)
	h.awaitPower(domain.PowerOff)
	h.reset(domain.ResetOn)
	h.awaitPower(domain.PowerPoweringOn)
	failed := h.awaitEvent(domain.ImportFailedType, 1)
	t.Logf("%+v", failed.Data)
	h.awaitPower(domain.PowerOff)
	h.refused(domain.ResetOn)
	h.reset(domain.ResetForceOff)
	assert.Zero(t, h.starts())

	h.eject()
	good, iso := h.image("good.iso", harness.Image{Takes: time.Second})
	h.insert(good)
	h.reset(domain.ResetOn)
	h.booted(1, iso)
	h.putAway()
}

// C6, C12: ejected in mid-import while the start is held; then the same URL has new content.
func TestEjectDuringTheImport(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	url, _ := h.image("boot.iso", harness.Image{Takes: time.Hour, ISO: harness.NewISO("OLD", 256<<10)})
	h.insert(url)
	h.reset(domain.ResetOn)
	h.awaitEvent(domain.ImportStartedType, 1)
	h.eject()
	h.awaitPower(domain.PowerOff)
	assert.True(t, has(h.log(), domain.PowerCancelledType))
	assert.Zero(t, h.starts())

	_, fresh := h.image("boot.iso", harness.Image{Takes: time.Second, ISO: harness.NewISO("NEW", 256<<10)})
	h.insert(url)
	h.reset(domain.ResetOn)
	h.booted(1, fresh)
	assert.Equal(t, 1, h.starts())
	h.putAway()
}

// C4, C5, C7: what is sent again does nothing again; another image is refused.
func TestRequestsThatAreSentAgain(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	url, iso := h.image("boot.iso", harness.Image{Takes: 3 * time.Second})
	other, _ := h.image("other.iso", harness.Image{})
	tasks := map[string]bool{}
	for range 3 {
		tasks[h.insert(url).Header.Get("Location")] = true
	}
	assert.Len(t, tasks, 1, "the same Task")
	reply, err := h.client.Insert(t.Context(), h.VM, other)
	require.NoError(t, err)
	assert.Equal(t, http.StatusConflict, reply.Status)
	for range 3 {
		h.reset(domain.ResetOn)
	}
	h.booted(1, iso)
	h.reset(domain.ResetOn)
	h.awaitEvent(domain.RequestRepeatedType, 1)
	assert.Equal(t, 1, h.starts())
	h.putAway()
	assert.Equal(t, 1, h.starts())
}

// C12: the machine is deleted while its start is held.
func TestAMachineThatIsDeletedWhileItIsHeld(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	url, _ := h.image("boot.iso", harness.Image{Takes: time.Hour})
	h.insert(url)
	h.reset(domain.ResetOn)
	h.awaitEvent(domain.ImportStartedType, 1)
	_, err := env.Kubectl(t.Context(), "-n", h.Namespace, "delete", "vm", h.Name, "--wait=false")
	require.NoError(t, err)
	h.awaitEvent(domain.MachineLostType, 1)
	harness.Await(t, patience, "nothing to be left in the cluster", func(ctx context.Context) error { return env.NothingLeft(ctx, h.Namespace) })
	harness.Await(t, patience, "404", func(ctx context.Context) error {
		reply, err := h.client.System(ctx, h.VM)
		if err == nil && reply.Status != http.StatusNotFound {
			err = errors.New(http.StatusText(reply.Status))
		}
		return err
	})
	assert.Zero(t, h.starts())
}

// C22: what arrives is no image that boots. The guest tells, by the bytes on its CD-ROM.
func TestAnImageWithOneWrongByte(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	url, _ := h.image("broken.iso", harness.Image{ISO: harness.NewISO("BROKEN", 256<<10).WithBrokenCatalogue(), NoLength: true, NoHead: true})
	h.insert(url)
	h.reset(domain.ResetOn)
	assert.Equal(t, cluster.NoBootableDevice, h.awaitBoot(1).Result)
	h.putAway()
}

// C24: an image server with a certificate of a private authority. Another authority's is a failure that says so.
func TestAnImageOverHTTPS(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Shape{})
	strange, err := harness.ServeImages(true)
	require.NoError(t, err)
	t.Cleanup(strange.Close)
	h.insert(strange.Put("boot.iso", harness.Image{ISO: harness.NewISO("STRANGE", 256<<10)}))
	h.reset(domain.ResetOn)
	failed := h.awaitEvent(domain.ImportFailedType, 1)
	assert.Contains(t, failed.Data.(domain.ImportFailed).Reason, "certificate")
	assert.Zero(t, h.starts())

	iso := harness.NewISO("PRIVATE", 256<<10)
	h.insert(secure.Put(h.ID()+".iso", harness.Image{ISO: iso}))
	h.reset(domain.ResetOn)
	h.booted(1, iso)
	h.putAway()
}
