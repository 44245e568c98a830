package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const help = `The node stub's control port. Names are namespace/name; "*" stands for all where it is given.

GET  /boots[?vmi=NAME]                         what each guest found when it booted, oldest first
GET  /importers                                downloads going on
GET  /faults                                   what was asked for below
POST /poweroff?vmi=NAME                        the guest powers itself off
POST /reboot?vmi=NAME                          the guest reboots: it boots again by the same order
POST /acpi?vmi=NAME|*[&ignore=true][&delay=2s] how the guest answers an ACPI shutdown (at first: * in 500ms)
POST /importer?name=NAME|*&mode=ok|hang|fail[&message=TEXT]
                                               the importer of that DataVolume or claim hangs, or ends with exit code 1
POST /node?name=node1&away=true|false          the node is NotReady and nothing on it moves
POST /hold?pod=TEXT   POST /release?pod=TEXT   pods whose namespace/name contains TEXT stay as they are
POST /netboot?on=true|false                    a network boot server answers (at first: no)
`

// Import is one importer container.
type Import struct {
	Name     string  `json:"name"` // of the DataVolume or claim, namespace/name
	Pod      string  `json:"pod"`
	Node     string  `json:"node"`
	Received int64   `json:"received"` // bytes, of this run
	Percent  float64 `json:"percent"`  // -1 while the size is unknown
}

// Control serves the control port.
func (n *Node) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, help) })
	mux.HandleFunc("GET /boots", func(w http.ResponseWriter, r *http.Request) {
		boots := n.history.list()
		if vmi := r.FormValue("vmi"); vmi != "" {
			boots = slices.DeleteFunc(boots, func(b Boot) bool { return b.VMI != vmi })
		}
		answer(w, boots)
	})
	mux.HandleFunc("GET /importers", func(w http.ResponseWriter, _ *http.Request) { answer(w, *n.imports.Load()) })
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { answer(w, n.faults.state()) })

	f := n.faults
	order := func(path, parameter string, do func(name string, r *http.Request) error) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			name := r.FormValue(parameter)
			if name == "" {
				http.Error(w, "missing parameter "+parameter, http.StatusBadRequest)
				return
			}
			if err := do(name, r); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
			}
		})
	}
	order("/poweroff", "vmi", func(name string, _ *http.Request) error { f.change(func() { f.powerOff[name] = true }); return nil })
	order("/reboot", "vmi", func(name string, _ *http.Request) error { f.change(func() { f.reboot[name] = true }); return nil })
	order("/hold", "pod", func(name string, _ *http.Request) error { f.change(func() { f.held[name] = true }); return nil })
	order("/release", "pod", func(name string, _ *http.Request) error { f.change(func() { delete(f.held, name) }); return nil })
	order("/netboot", "on", func(on string, _ *http.Request) error { f.change(func() { f.netboot = on == "true" }); return nil })
	order("/acpi", "vmi", f.setACPI)
	order("/importer", "name", f.setImporter)
	order("/node", "name", f.setAway)
	return mux
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

func (f *faults) setACPI(name string, r *http.Request) error {
	a := acpiBehaviour{ignore: r.FormValue("ignore") == "true"}
	if text := r.FormValue("delay"); text != "" {
		var err error
		if a.delay, err = time.ParseDuration(text); err != nil {
			return err
		}
	}
	f.change(func() { f.acpi[name] = a })
	return nil
}

func (f *faults) setImporter(name string, r *http.Request) error {
	mode, message := r.FormValue("mode"), r.FormValue("message")
	if message == "" {
		message = "Unable to process data: fault asked for by a test"
	}
	if !slices.Contains([]string{"ok", "hang", "fail"}, mode) {
		return fmt.Errorf("mode is %q, not ok, hang or fail", mode)
	}
	f.change(func() {
		delete(f.hang, name)
		delete(f.fail, name)
		switch mode {
		case "hang":
			f.hang[name] = true
		case "fail":
			f.fail[name] = message
		}
	})
	return nil
}

func (f *faults) setAway(name string, r *http.Request) error {
	if !slices.Contains(names(), name) {
		return fmt.Errorf("no node %q", name)
	}
	f.change(func() { f.away[name] = r.FormValue("away") == "true" })
	return nil
}

// publishImports lets the control port see what belongs to the loop.
func (n *Node) publishImports() {
	list := []Import{}
	for _, pod := range n.cache.pods() {
		s := n.states[pod.UID]
		if s == nil || s.importer == nil || terminal(pod) {
			continue
		}
		i := Import{Name: n.importName(pod), Pod: pod.Namespace + "/" + pod.Name, Node: pod.Spec.NodeName, Received: s.importer.run.job.Received(), Percent: -1}
		if p, ok := s.importer.progress(); ok {
			i.Percent = p
		}
		list = append(list, i)
	}
	n.imports.Store(&list)
}
