package redfish

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

var (
	web = domain.Machine{Namespace: "lab", Name: "web-0", UID: "0f3c9a52-1111-4222-8333-944445555666"}
	db  = domain.Machine{Namespace: "lab", Name: "db.example", UID: "7a3c9a52-1111-4222-8333-944445555666"}
)

const (
	webURI  = "/redfish/v1/Systems/lab.web-0"
	slotURI = webURI + "/VirtualMedia/Cd"
	iso     = "http://images.example/boot.iso"
)

// fakeMachines is the bridge without a cluster: the real gate on real states, in memory.
type fakeMachines struct {
	mu       sync.Mutex
	list     []domain.Hardware
	states   map[string]projections.State
	logs     map[string][]domain.Event
	worlds   map[string]domain.World
	requests []domain.Request
	now      time.Time
	notReady error
	broken   error // what Do fails with
	percent  float64
	panics   bool
}

func newFakeMachines() *fakeMachines {
	f := &fakeMachines{states: map[string]projections.State{}, logs: map[string][]domain.Event{}, worlds: map[string]domain.World{},
		now: time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC), percent: 42.7}
	for _, m := range []domain.Machine{db, web} {
		f.list = append(f.list, domain.Hardware{Machine: m, UUID: m.UID, Serial: "serial-" + m.Name, Arch: "amd64", Sockets: 2, Cores: 2,
			Threads: 1, MemoryBytes: 3 << 29, BootMode: domain.BootUEFI,
			NICs:  []domain.NIC{{Name: "default", MAC: "02:00:00:00:00:01", Up: true}, {Name: "second"}},
			Disks: []domain.Disk{{Name: "root", Kind: domain.DeviceDisk, Bus: "virtio", CapacityBytes: 10 << 30}, {Name: "data", Kind: domain.DeviceDisk}}})
		f.states[m.UID] = projections.New(m)
		f.worlds[m.UID] = domain.World{VM: &domain.VM{RunStrategy: domain.RunHalted, StatusRunStrategy: domain.RunHalted}}
		f.append(m, domain.New(domain.ByWatch, 0, "", domain.MachineAdopted{Machine: m}))
	}
	return f
}

func (f *fakeMachines) append(m domain.Machine, events ...domain.Event) {
	for _, e := range events {
		e.Seq, e.Time, e.ID = f.states[m.UID].Seq+1, f.now, uuid.NewString()
		f.logs[m.UID] = append(f.logs[m.UID], e)
		f.states[m.UID] = projections.Evolve(f.states[m.UID], e)
	}
}

// happen appends what the worker or the watch would.
func (f *fakeMachines) happen(m domain.Machine, cause uint64, data ...domain.Data) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range data {
		f.append(m, domain.New(domain.ByWorker, cause, "", d))
	}
}

func (f *fakeMachines) List() []domain.Hardware {
	if f.panics {
		panic("broken")
	}
	return f.list
}

func (f *fakeMachines) State(m domain.Machine) (projections.State, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.states[m.UID]
	return s, ok
}

func (f *fakeMachines) Do(_ context.Context, m domain.Machine, r domain.Request) (projections.State, projections.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, r)
	if f.broken != nil {
		return projections.State{}, projections.Answer{}, f.broken
	}
	events, answer, err := projections.Decide(f.states[m.UID], f.worlds[m.UID], r, f.now,
		domain.Limits{ImportDeadline: time.Hour, AttachDeadline: time.Minute, PowerDeadline: time.Minute})
	f.append(m, events...)
	return f.states[m.UID], answer, err
}

func (f *fakeMachines) Log(_ context.Context, m domain.Machine) ([]domain.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.logs[m.UID]), nil
}

func (f *fakeMachines) Progress(m domain.Machine, medium uint64) (float64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.states[m.UID].Medium(medium)
	return f.percent, ok
}

func (f *fakeMachines) Ready() error { return f.notReady }

func (f *fakeMachines) types(m domain.Machine) []domain.Type {
	f.mu.Lock()
	defer f.mu.Unlock()
	var l []domain.Type
	for _, e := range f.logs[m.UID] {
		l = append(l, e.Type)
	}
	return l
}

// fakeVault remembers what it was given.
type fakeVault struct{ url, user, password string }

func (v *fakeVault) Keep(_ context.Context, _ domain.Machine, requestID, url, user, password string) (string, error) {
	v.url, v.user, v.password = url, user, password
	return "secret-of-" + requestID, nil
}

// fakeAccounts counts how often a hash was asked for.
type fakeAccounts struct {
	mu      sync.Mutex
	hashes  map[string][]byte
	version string
	asked   int
}

func (a *fakeAccounts) Hash(user string) ([]byte, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	h, ok := a.hashes[user]
	return h, ok
}

func (a *fakeAccounts) Version() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.version
}

func (a *fakeAccounts) set(t *testing.T, user, password, version string) {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	require.NoError(t, err)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hashes[user], a.version = h, version
}

// rig is a service with everything behind it faked, served over HTTP.
type rig struct {
	t        *testing.T
	service  *Service
	machines *fakeMachines
	vault    *fakeVault
	accounts *fakeAccounts
	log      *bytes.Buffer
	url      string
	client   *http.Client
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, machines: newFakeMachines(), vault: &fakeVault{}, accounts: &fakeAccounts{hashes: map[string][]byte{}}, log: &bytes.Buffer{}}
	r.accounts.set(t, "admin", "secret", "1")
	log := logrus.New()
	log.SetOutput(r.log)
	log.SetLevel(logrus.DebugLevel)
	r.service = New(Config{Machines: r.machines, Vault: r.vault, Accounts: r.accounts, Log: log, Version: "1.2.3",
		UUID: uuid.MustParse("92384634-2938-2342-8820-489239905423"),
		Now:  func() time.Time { r.machines.mu.Lock(); defer r.machines.mu.Unlock(); return r.machines.now }})
	server := httptest.NewServer(r.service)
	t.Cleanup(server.Close)
	r.url, r.client = server.URL, server.Client()
	r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return r
}

func (r *rig) pass(d time.Duration) {
	r.machines.mu.Lock()
	defer r.machines.mu.Unlock()
	r.machines.now = r.machines.now.Add(d)
}

// answered is an answer that has been read.
type answered struct {
	status int
	header http.Header
	raw    string
	body   object
}

// send sends a call as admin; header is "Name: value" pairs that replace what is usual. An empty value removes it.
func (r *rig) send(method, path, body string, header ...string) answered {
	r.t.Helper()
	req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.SetBasicAuth("admin", "secret")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	return r.do(req)
}

func (r *rig) do(req *http.Request) answered {
	r.t.Helper()
	res, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	a := answered{status: res.StatusCode, header: res.Header, raw: string(raw)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") && len(raw) > 0 {
		require.NoError(r.t, json.Unmarshal(raw, &a.body), a.raw)
	}
	return a
}

func (r *rig) get(path string, header ...string) answered {
	r.t.Helper()
	return r.send(http.MethodGet, path, "", header...)
}

func (r *rig) post(path, body string, header ...string) answered {
	r.t.Helper()
	return r.send(http.MethodPost, path, body, header...)
}

// key is the MessageKey of an error's first message.
func (a answered) key() string {
	e, _ := a.body["error"].(object)
	code, _ := e["code"].(string)
	return strings.TrimPrefix(code, baseRegistry)
}

// at reads a value below the body by its path of names.
func (a answered) at(path ...string) any {
	var v any = a.body
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

func insertBody(image string) string { return `{"Image":"` + image + `"}` }

func (r *rig) insert() answered {
	r.t.Helper()
	a := r.post(slotURI+"/Actions/VirtualMedia.InsertMedia", insertBody(iso))
	require.Equal(r.t, http.StatusAccepted, a.status, a.raw)
	return a
}

func (r *rig) reset(kind string) answered {
	r.t.Helper()
	return r.post(webURI+"/Actions/ComputerSystem.Reset", `{"ResetType":"`+kind+`"}`)
}
