package api

import (
	"math"
	"net/http"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/view"
)

func (s *Server) papers(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	order := q.choice("order", "latest", "citations", "votes")
	status := q.choice("status", event.Submitted, event.Published, event.Rejected)
	limit, offset := q.number("limit", 1, 1000, 100), q.number("offset", 0, math.MaxInt32, 0)
	b, done, err := s.opened(r, q)
	if err != nil {
		return err
	}
	defer done()
	out := struct {
		Papers []view.Paper      `json:"papers"`
		Total  int64             `json:"total"`
		Counts *view.PaperCounts `json:"counts"`
	}{Counts: view.CountPapers(b.state)}
	out.Papers, out.Total = view.Papers(b.state, order, status, limit, offset)
	return s.sendAndClose(w, out, done)
}

// attachment is a file of a paper.
type attachment struct {
	Name       string `json:"name"`
	Size       int64  `json:"size"`
	Hash       string `json:"hash"`
	Entrypoint bool   `json:"entrypoint"`
}

func (s *Server) paper(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	ref := r.PathValue("ref")
	if !view.IsPaper(ref) {
		return missing("%.80q is not a paper's reference: want 32 hex digits", ref)
	}
	b, done, err := s.shelf.open(r.Context(), r.PathValue("quest"))
	if err != nil {
		return err
	}
	defer done()
	p, err := b.Paper(b.state, ref, s.reader(r))
	switch {
	case err != nil:
		return err
	case p == nil:
		return missing("quest %s has no paper %s", b.name, ref)
	}
	out := struct {
		*view.PaperDetail
		Attachments []attachment `json:"attachments"`
	}{p, []attachment{}}
	if p.Tree != nil {
		tree, err := blob.ReadTree(r.Context(), s.rt.Blobs, *p.Tree)
		if err != nil {
			return err
		}
		for _, e := range tree {
			if e.Kind == blob.File {
				out.Attachments = append(out.Attachments, attachment{e.Name, e.Size, e.Hash.String(), e.Name == p.Entrypoint})
			}
		}
	}
	return s.sendAndClose(w, out, done)
}

// reader reads texts for as long as a request lasts.
func (s *Server) reader(r *http.Request) view.TextReader {
	return func(t event.Text) (string, error) { return s.read(r.Context(), t) }
}

func (s *Server) reviews(r *http.Request, b *book) (any, error) {
	return b.Reviews(b.state, s.reader(r))
}

func (s *Server) citations(_ *http.Request, b *book) (any, error) {
	return struct {
		Citations []view.Citation `json:"citations"`
	}{b.Citations(b.state)}, nil
}

func (s *Server) votes(_ *http.Request, b *book) (any, error) {
	return b.Ballot(b.state), nil
}
