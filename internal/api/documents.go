package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
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
	// Reason is why nobody can change it.
	Reason string `json:"reason,omitempty"`
}

// documentRevision is a text that a document has or had, and the event that has it.
type documentRevision struct {
	Revision string     `json:"revision"`
	Seq      uint64     `json:"seq"`
	Time     event.Time `json:"time"`
	By       string     `json:"by"`
	Size     int64      `json:"size"`
}

// kinds of documents: what each is called, and why people do not write it, if they do not.
var kinds = map[string]struct{ title, fixed string }{
	"quest.yaml":         {"Specification", "it is what the quest was made of, and stays as it was"},
	quest.BriefFile:      {title: "Brief"},
	"plan.md":            {"Plan", "it follows from the stages: /stage moves the study, and a message says what is wanted"},
	"status.md":          {"Status", "it follows from what has happened"},
	"SUMMARY.md":         {"Summary", "it is the quest's answer"},
	"paper/checklist.md": {"paper/checklist.md", "it is computed of the paper: /waive lets an item pass"},
}

func documentOf(s *quest.State, f runtime.QuestFile) documentInfo {
	k := kinds[f.Name]
	out := documentInfo{Name: f.Name, Title: cmp.Or(k.title, f.Name), Revision: event.HashOf(f.Data).String(), Size: int64(len(f.Data)), Reason: k.fixed}
	if f.Name != quest.BriefFile {
		return out
	}
	out.Revision = s.BriefRevision().String()
	switch {
	case !s.HasMail():
		out.Reason = "the agents were given it once: a message says what is to be different"
	case s.Brief().Size() > quest.MaxBrief:
		out.Reason = fmt.Sprintf("it is longer than the %d bytes that can be saved", quest.MaxBrief)
	default:
		out.Editable = true
	}
	return out
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
		out.Documents = append(out.Documents, documentOf(b.state, f))
	}
	return out, nil
}

// find finds a document of a quest.
func (s *Server) find(ctx context.Context, b *book, name string) (documentInfo, []byte, error) {
	files, err := service.Documents(ctx, s.rt, b.state)
	if err != nil {
		return documentInfo{}, nil, err
	}
	i := slices.IndexFunc(files, func(f runtime.QuestFile) bool { return f.Name == name })
	if i < 0 {
		return documentInfo{}, nil, missing("quest %s has no document %.80q", b.name, name)
	}
	return documentOf(b.state, files[i]), files[i].Data, nil
}

func (s *Server) document(r *http.Request, b *book) (any, error) {
	info, data, err := s.find(r.Context(), b, r.PathValue("document"))
	if err != nil {
		return nil, err
	}
	out := struct {
		documentInfo
		Text string `json:"text"`
		// Truncated says that Text is only its beginning.
		Truncated bool               `json:"truncated"`
		Revisions []documentRevision `json:"revisions"`
	}{documentInfo: info, Text: plain.Cut(string(data), maxDocument), Revisions: []documentRevision{}}
	out.Truncated = len(out.Text) < len(data)
	out.Text = strings.ToValidUTF8(out.Text, "\uFFFD")
	if info.Name == quest.BriefFile {
		out.Revisions = briefings(b.state)
	}
	return out, nil
}

// maxDocument is how much of a document is shown: all that people can write, and the line break at
// its end.
const maxDocument = quest.MaxBrief + 1

// briefings are the texts that the brief of a quest has and had, the newest first.
func briefings(st *quest.State) []documentRevision {
	first := documentRevision{quest.HashOfText(st.Problem).String(), 1, st.Created, "person", st.Problem.Size()}
	out := []documentRevision{first}
	for _, b := range st.Briefings {
		out = append(out, documentRevision{b.Hash.String(), b.Seq, b.Time, cmp.Or(b.Sender, "person"), b.Size})
	}
	slices.Reverse(out)
	return out
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
