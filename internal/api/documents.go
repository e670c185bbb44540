package api

import (
	"net/http"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
)

// documentInfo is a document of a quest. Revision is the hash of its text.
type documentInfo struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Revision string `json:"revision"`
	Size     int64  `json:"size"`
	Editable bool   `json:"editable"`
}

// titles of documents, by name.
var titles = map[string]string{"quest.yaml": "Specification", "brief.md": "Brief", "plan.md": "Plan", "status.md": "Status", "SUMMARY.md": "Summary"}

func documentOf(f runtime.QuestFile) documentInfo {
	title, ok := titles[f.Name]
	if !ok {
		title = f.Name
	}
	return documentInfo{Name: f.Name, Title: title, Revision: event.HashOf(f.Data).String(), Size: int64(len(f.Data))}
}

func (s *Server) documents(r *http.Request, b *book) (any, error) {
	files, err := service.Documents(r.Context(), s.rt, b.state)
	if err != nil {
		return nil, err
	}
	out := struct {
		Documents []documentInfo `json:"documents"`
	}{[]documentInfo{}}
	for _, f := range files {
		out.Documents = append(out.Documents, documentOf(f))
	}
	return out, nil
}

func (s *Server) document(r *http.Request, b *book) (any, error) {
	files, err := service.Documents(r.Context(), s.rt, b.state)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files, func(f runtime.QuestFile) bool { return f.Name == r.PathValue("document") })
	if i < 0 {
		return nil, missing("quest %s has no document %.80q", b.name, r.PathValue("document"))
	}
	return struct {
		documentInfo
		Text string `json:"text"`
	}{documentOf(files[i]), strings.ToValidUTF8(event.Cut(string(files[i].Data), maxShown), "\uFFFD")}, nil
}

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
