package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	code int
}

func (r *recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what can flush.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// meter counts requests by route and code. Routes are those of the mux and never what a
// caller sent, so that there are only so many.
type meter struct {
	mu       sync.Mutex
	requests map[answered]int64
}

type answered struct {
	route string
	code  int
}

func newMeter() *meter { return &meter{requests: map[answered]int64{}} }

func (m *meter) count(rec *recorder, r *http.Request) {
	route := r.Pattern
	if route == "" {
		route = "none"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[answered{route, rec.code}]++
}

func (m *meter) lines() (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, n := range m.requests {
		out = append(out, fmt.Sprintf("lyceum_http_requests_total{route=%q,code=\"%d\"} %d", k.route, k.code, n))
	}
	slices.Sort(out)
	return out
}

// metrics answers in the text format of Prometheus.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	all, err := s.lookAtAll(r.Context(), func(string) bool { return true })
	if err != nil {
		return err
	}
	var events uint64
	var cost float64
	byStatus := map[string]int{}
	for _, q := range all {
		events += q.Events
		if known := cmp.Or(q.Cost, q.AtLeast); known != nil {
			cost += float64(*known) / 1e9
		}
		byStatus[q.Status]++
	}
	var b strings.Builder
	family := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	family("lyceum_quests", "gauge", "Quests by status.")
	for _, status := range sorted(byStatus) {
		fmt.Fprintf(&b, "lyceum_quests{status=%q} %d\n", status, byStatus[status])
	}
	family("lyceum_events", "gauge", "Events in all ledgers.")
	fmt.Fprintf(&b, "lyceum_events %d\n", events)
	family("lyceum_cost_usd", "gauge", "What all quests have cost, in US dollars.")
	fmt.Fprintf(&b, "lyceum_cost_usd %.9f\n", cost)
	family("lyceum_quests_held", "gauge", "Quests that this server runs.")
	fmt.Fprintf(&b, "lyceum_quests_held %d\n", s.keeper.Running())
	if err := s.nodeFigures(r.Context(), &b, family); err != nil {
		return err
	}
	readers, cuts := s.hub.figures()
	family("lyceum_stream_readers", "gauge", "Readers of live streams.")
	fmt.Fprintf(&b, "lyceum_stream_readers %d\n", readers)
	family("lyceum_stream_cuts_total", "counter", "Readers that were cut off because they were too slow.")
	fmt.Fprintf(&b, "lyceum_stream_cuts_total %d\n", cuts)
	family("lyceum_http_requests_total", "counter", "Requests by route and code.")
	for _, line := range s.meter.lines() {
		b.WriteString(line + "\n")
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, err = w.Write([]byte(b.String()))
	return err
}

func sorted(m map[string]int) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
