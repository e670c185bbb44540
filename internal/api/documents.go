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
	// Waits says that its text is in the quest's inbox, and counts when the quest goes on.
	Waits bool `json:"waits,omitempty"`
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
	"plan.md":            {"Plan", "it follows from the course of the study: /stage changes that, and a message says what is wanted"},
	"status.md":          {"Status", "it follows from what has happened"},
	"SUMMARY.md":         {"Summary", "it is the quest's answer"},
	"paper/checklist.md": {"paper/checklist.md", "it is computed of the paper: /waive lets an item pass"},
}

// paper is a document with its text.
type paper struct {
	documentInfo
	data []byte
}

// papersOf are the documents of a quest, with the brief that it has once it has taken what waits in its
// inbox: whoever saves another must have seen that.
func (s *Server) papersOf(ctx context.Context, b *book) (out []paper, err error) {
	files, err := service.Documents(ctx, s.rt, b.state)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		k := kinds[f.Name]
		one := paper{documentInfo{Name: f.Name, Title: cmp.Or(k.title, f.Name), Revision: event.HashOf(f.Data).String(), Reason: k.fixed}, f.Data}
		if f.Name == quest.BriefFile {
			if err := s.briefOf(ctx, b, &one); err != nil {
				return nil, err
			}
		}
		one.Size = int64(len(one.data))
		out = append(out, one)
	}
	return out, nil
}

// briefOf fills in what is to be known of a brief.
func (s *Server) briefOf(ctx context.Context, b *book, p *paper) error {
	text, waits, err := s.rt.Brief(ctx, b.name, b.state)
	if err != nil {
		return err
	}
	if waits {
		words, err := s.read(ctx, text)
		if err != nil {
			return err
		}
		p.data = []byte(words + "\n")
	}
	p.Revision, p.Waits = quest.HashOfText(text).String(), waits
	switch {
	case !b.state.HasMail():
		p.Reason = "the agents were given it once: a message says what is to be different"
	case text.Size() > quest.MaxBrief:
		p.Reason = fmt.Sprintf("it is longer than the %d bytes that can be saved", quest.MaxBrief)
	default:
		p.Editable = true
	}
	return nil
}

func (s *Server) documents(r *http.Request, b *book) (any, error) {
	all, err := s.papersOf(r.Context(), b)
	out := struct {
		Documents []documentInfo `json:"documents"`
	}{[]documentInfo{}}
	for _, p := range all {
		out.Documents = append(out.Documents, p.documentInfo)
	}
	return out, err
}

// find finds a document of a quest.
func (s *Server) find(ctx context.Context, b *book, name string) (*paper, error) {
	all, err := s.papersOf(ctx, b)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(p paper) bool { return p.Name == name })
	if i < 0 {
		return nil, missing("quest %s has no document %.80q", b.name, name)
	}
	return &all[i], nil
}

func (s *Server) document(r *http.Request, b *book) (any, error) {
	p, err := s.find(r.Context(), b, r.PathValue("document"))
	if err != nil {
		return nil, err
	}
	out := struct {
		documentInfo
		Text string `json:"text"`
		// Truncated says that Text is only its beginning.
		Truncated bool               `json:"truncated"`
		Revisions []documentRevision `json:"revisions"`
	}{documentInfo: p.documentInfo, Text: plain.Cut(string(p.data), maxDocument), Revisions: []documentRevision{}}
	out.Truncated = len(out.Text) < len(p.data)
	out.Text = strings.ToValidUTF8(out.Text, "\uFFFD")
	if p.Name == quest.BriefFile {
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
