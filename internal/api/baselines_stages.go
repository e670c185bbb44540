package api

import (
	"net/http"

	"lyceum/internal/event"
	"lyceum/internal/runtime/service"
)

// baselineOfHome is a baseline that any study of the home can attach.
type baselineOfHome struct {
	Name       string         `json:"name"`
	Title      string         `json:"title,omitempty"`
	Quest      string         `json:"quest,omitempty"`
	Result     string         `json:"result,omitempty"`
	Entrypoint string         `json:"entrypoint,omitempty"`
	Metrics    []event.Metric `json:"metrics"`
	Event      string         `json:"event,omitempty"`
	Broken     string         `json:"broken,omitempty"`
}

func (s *Server) baselines(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	list, err := service.Baselines(s.rt.Home)
	if err != nil {
		return err
	}
	out := struct {
		Baselines []baselineOfHome `json:"baselines"`
	}{[]baselineOfHome{}}
	for _, b := range list {
		one := baselineOfHome{Name: b.Name, Metrics: []event.Metric{}, Broken: s.rt.Redact(b.Broken)}
		if x := b.Entry; x != nil {
			one.Title, one.Quest, one.Result, one.Entrypoint, one.Metrics, one.Event = x.Title, x.Quest, x.Result, x.Entrypoint, x.Metrics, x.Event.String()
		}
		out.Baselines = append(out.Baselines, one)
	}
	return s.send(w, http.StatusOK, out)
}
