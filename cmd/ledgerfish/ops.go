package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ledgerfish/ledgerfish/domain"
	"github.com/ledgerfish/ledgerfish/projections"
)

// metrics are counted as things happen, or read off the states when they are scraped.
type metrics struct {
	registry *prometheus.Registry
	appended *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{registry: prometheus.NewRegistry(), appended: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "ledgerfish_events_appended_total", Help: "Events this process has appended, by type."}, []string{"type"})}
	m.registry.MustRegister(m.appended, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// states is what the gauges are read from.
type states interface {
	Machines() []domain.Machine
	State(domain.Machine) (projections.State, bool)
}

// observe adds the gauges that are counted over all machines at each scrape.
func (m *metrics) observe(s states, ready func() error) {
	count := func(name, help string, is func(projections.State) bool) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			n := 0
			for _, machine := range s.Machines() {
				if state, ok := s.State(machine); ok && !state.Lost && is(state) {
					n++
				}
			}
			return float64(n)
		})
	}
	m.registry.MustRegister(
		count("ledgerfish_machines", "Machines with a log that are not lost.", func(projections.State) bool { return true }),
		count("ledgerfish_machines_on", "Machines that show On.", func(s projections.State) bool { return s.PowerState() == domain.PowerOn }),
		count("ledgerfish_machines_held", "Machines whose power is held until an import is done.", func(s projections.State) bool { return s.Waiting() != "" }),
		count("ledgerfish_imports_pending", "Media that are requested or being imported.", func(s projections.State) bool { _, pending := s.ImportPending(); return pending }),
		count("ledgerfish_imports_failed", "Slots whose medium has failed.", func(s projections.State) bool { _, failed := s.ImportFailed(); return failed }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ledgerfish_ready", Help: "1 when calls are served."}, func() float64 {
			if ready() != nil {
				return 0
			}
			return 1
		}))
}

// opsServer serves liveness, readiness and metrics, in plain HTTP: there is nothing secret in them.
func opsServer(m *metrics, ready func() error) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3, Timeout: 10 * time.Second}))
	return &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 15 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 8 << 10}
}
