package api

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/view"
)

// PaperHead is what a paper is in every list.
type PaperHead struct {
	Ref       string     `json:"ref"`
	Title     string     `json:"title"`
	Author    string     `json:"author"`
	Status    string     `json:"status"`
	Seq       uint64     `json:"seq"`
	Time      event.Time `json:"time"`
	Decided   uint64     `json:"decided,omitempty"`
	Cited     int64      `json:"cited"`
	Votes     int64      `json:"votes"`
	Accepts   int64      `json:"accepts"`
	Rejects   int64      `json:"rejects"`
	Revises   string     `json:"revises,omitempty"`
	RevisedBy []string   `json:"revised_by"`
	Best      bool       `json:"best"`
}

// Paper is a paper at a glance.
type Paper struct {
	PaperHead
	Reviews      int    `json:"reviews"`
	Attachments  int    `json:"attachments"`
	Reproduction string `json:"reproduction,omitempty"`
}

func headOf(b *book, p *paper.Paper) PaperHead {
	h := PaperHead{
		Ref: p.Ref, Title: p.Title, Author: p.Author, Status: p.Status, Seq: p.Seq, Time: p.Time, Decided: p.Decided,
		Cited: p.Cited, Votes: p.Votes, Revises: p.Revises, RevisedBy: append([]string{}, p.RevisedBy...), Best: lab.Library(b.state).Best() == p,
	}
	for _, r := range p.Reviews {
		if r.Grade == event.Accept {
			h.Accepts++
		} else {
			h.Rejects++
		}
	}
	return h
}

func paperOf(b *book, p *paper.Paper) Paper {
	return Paper{PaperHead: headOf(b, p), Reviews: len(p.Reviews), Attachments: len(p.Attachments), Reproduction: reproduction(p)}
}

func reproduction(p *paper.Paper) string {
	switch {
	case p.Reproduction != nil:
		return p.Reproduction.Status
	case p.Trial != 0:
		return "running"
	}
	return ""
}

func (s *Server) papers(w http.ResponseWriter, r *http.Request) error {
	q := paramsOf(r)
	order := q.choice("order", "latest", "citations", "votes")
	status := q.choice("status", event.Submitted, event.Published, event.Rejected)
	limit, offset := q.number("limit", 1, 1000, 100), q.number("offset", 0, math.MaxInt32, 0)
	if err := q.done(); err != nil {
		return err
	}
	b, done, err := s.shelf.open(r.Context(), r.PathValue("quest"))
	if err != nil {
		return err
	}
	defer done()
	list, total := listPapers(lab.Library(b.state), order, status, limit, offset)
	out := struct {
		Papers []Paper      `json:"papers"`
		Total  int64        `json:"total"`
		Counts *PaperCounts `json:"counts"`
	}{[]Paper{}, total, countPapers(b.state)}
	for _, p := range list {
		out.Papers = append(out.Papers, paperOf(b, p))
	}
	return s.sendAndClose(w, out, done)
}

func listPapers(l *paper.Library, order, status string, limit, offset int64) ([]*paper.Paper, int64) {
	if order != "votes" {
		return l.List(paper.Order(cmp.Or(order, "latest")), status, limit, offset)
	}
	all, n := l.List(paper.Latest, status, math.MaxInt64, 0)
	slices.SortStableFunc(all, func(a, b *paper.Paper) int {
		return cmp.Or(cmp.Compare(b.Votes, a.Votes), cmp.Compare(b.Cited, a.Cited), cmp.Compare(a.Seq, b.Seq))
	})
	from := min(offset, n)
	return all[from:min(from+limit, n)], n
}

// Review is an agent's judgement of a paper.
type Review struct {
	Paper    string     `json:"paper"`
	Reviewer string     `json:"reviewer"`
	Grade    string     `json:"grade"`
	Content  string     `json:"content"`
	Seq      uint64     `json:"seq"`
	Time     event.Time `json:"time"`
}

// Attachment is a file of a paper.
type Attachment struct {
	Name       string `json:"name"`
	Size       int64  `json:"size"`
	Hash       string `json:"hash"`
	Entrypoint bool   `json:"entrypoint"`
}

// PaperLink is another paper.
type PaperLink struct {
	Ref    string `json:"ref"`
	Title  string `json:"title"`
	Author string `json:"author"`
	Status string `json:"status"`
	Self   bool   `json:"self"`
}

// RequestInfo is that an agent review a paper.
type RequestInfo struct {
	Paper    string `json:"paper,omitempty"`
	Reviewer string `json:"reviewer"`
	State    string `json:"state"`
	Deadline int64  `json:"deadline"`
}

// Trial is what came of running a paper's program.
type Trial struct {
	Status   string   `json:"status"`
	Reason   string   `json:"reason,omitempty"`
	Exit     int64    `json:"exit,omitempty"`
	Output   *refJSON `json:"output,omitempty"`
	Second   *refJSON `json:"second,omitempty"`
	Duration int64    `json:"duration_us,omitempty"`
	Seq      uint64   `json:"seq,omitempty"`
}

// Revision is how a paper differs from the one it revises.
type Revision struct {
	From    string `json:"from"`
	Unified string `json:"unified"`
}

// PaperDetail is a paper, whole.
type PaperDetail struct {
	PaperHead
	Content      string        `json:"content"`
	Entrypoint   string        `json:"entrypoint,omitempty"`
	Attachments  []Attachment  `json:"attachments"`
	Reviews      []Review      `json:"reviews"`
	Requests     []RequestInfo `json:"requests"`
	Citations    []PaperLink   `json:"citations"`
	CitedBy      []PaperLink   `json:"cited_by"`
	Voters       []string      `json:"voters"`
	Reproduction *Trial        `json:"reproduction,omitempty"`
	Revision     *Revision     `json:"revision,omitempty"`
}

func (s *Server) paper(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	ref := r.PathValue("ref")
	if !paper.IsRef(ref) {
		return missing("%.80q is not a paper's reference: want 32 hex digits", ref)
	}
	b, done, err := s.shelf.open(r.Context(), r.PathValue("quest"))
	if err != nil {
		return err
	}
	defer done()
	p := lab.Library(b.state).Paper(ref)
	if p == nil {
		return missing("quest %s has no paper %s", b.name, ref)
	}
	d := &PaperDetail{PaperHead: headOf(b, p), Entrypoint: p.Entrypoint, Requests: requests(p, false), Voters: voters(b, ref), Reproduction: trialOf(b, p)}
	d.Citations, d.CitedBy = links(b, p, p.Cites), links(b, p, b.Papers.CitedBy[ref])
	if err := s.fill(r.Context(), b, p, d); err != nil {
		return err
	}
	return s.sendAndClose(w, d, done)
}

// fill reads the texts and files of a paper.
func (s *Server) fill(ctx context.Context, b *book, p *paper.Paper, d *PaperDetail) (err error) {
	if d.Content, err = s.read(ctx, p.Content); err != nil {
		return err
	}
	if d.Reviews, err = s.reviewsOf(ctx, b, p); err != nil {
		return err
	}
	d.Attachments = []Attachment{}
	if p.Tree != nil {
		tree, err := blob.ReadTree(ctx, s.rt.Blobs, *p.Tree)
		if err != nil {
			return err
		}
		for _, e := range tree {
			if e.Kind == blob.File {
				d.Attachments = append(d.Attachments, Attachment{e.Name, e.Size, e.Hash.String(), e.Name == p.Entrypoint})
			}
		}
	}
	if old := lab.Library(b.state).Paper(p.Revises); old != nil {
		before, err := s.read(ctx, old.Content)
		if err != nil {
			return err
		}
		d.Revision = &Revision{p.Revises, view.Patch(before, d.Content)}
	}
	return nil
}

func (s *Server) reviewsOf(ctx context.Context, b *book, p *paper.Paper) ([]Review, error) {
	out := []Review{}
	for _, r := range p.Reviews {
		text, err := s.read(ctx, r.Content)
		if err != nil {
			return nil, err
		}
		out = append(out, Review{p.Ref, r.Reviewer, r.Grade, text, r.Seq, b.Papers.Reviewed[r.Seq]})
	}
	return out, nil
}

func requests(p *paper.Paper, named bool) []RequestInfo {
	out := []RequestInfo{}
	for _, r := range p.Requests {
		info := RequestInfo{Reviewer: r.Reviewer, State: r.State, Deadline: r.Deadline}
		if named {
			info.Paper = p.Ref
		}
		out = append(out, info)
	}
	return out
}

func voters(b *book, ref string) []string {
	out := []string{}
	for name, vote := range lab.Library(b.state).Votes {
		if vote == ref {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func links(b *book, p *paper.Paper, refs []string) []PaperLink {
	out := []PaperLink{}
	for _, ref := range refs {
		if o := lab.Library(b.state).Paper(ref); o != nil {
			out = append(out, PaperLink{o.Ref, o.Title, o.Author, o.Status, o.Author == p.Author})
		}
	}
	return out
}

func trialOf(b *book, p *paper.Paper) *Trial {
	t := &Trial{Status: reproduction(p), Seq: b.Papers.Tried[p.Ref]}
	if t.Status == "" {
		return nil
	}
	if r := p.Reproduction; r != nil {
		t.Reason, t.Exit, t.Duration = r.Reason, r.Exit, r.Duration
		if r.Output != nil {
			t.Output = refOf(*r.Output)
		}
		if r.Second != nil {
			t.Second = refOf(*r.Second)
		}
	}
	return t
}

func (s *Server) reviews(r *http.Request, b *book) (any, error) {
	out := struct {
		Reviews  []Review      `json:"reviews"`
		Requests []RequestInfo `json:"requests"`
	}{[]Review{}, []RequestInfo{}}
	for _, p := range lab.Library(b.state).Papers {
		list, err := s.reviewsOf(r.Context(), b, p)
		if err != nil {
			return nil, err
		}
		out.Reviews = append(out.Reviews, list...)
		out.Requests = append(out.Requests, requests(p, true)...)
	}
	slices.SortFunc(out.Reviews, func(a, b Review) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

func (s *Server) citations(r *http.Request, b *book) (any, error) {
	type citation struct {
		From    string `json:"from"`
		To      string `json:"to"`
		Counted bool   `json:"counted"`
		Seq     uint64 `json:"seq"`
	}
	out := []citation{}
	for _, c := range b.Papers.Citations {
		from, to := lab.Library(b.state).Paper(c.From), lab.Library(b.state).Paper(c.To)
		if from != nil && to != nil {
			out = append(out, citation{c.From, c.To, from.Counted && from.Author != to.Author, c.Seq})
		}
	}
	return struct {
		Citations []citation `json:"citations"`
	}{out}, nil
}

func (s *Server) votes(r *http.Request, b *book) (any, error) {
	type count struct {
		Ref   string `json:"ref"`
		Title string `json:"title"`
		Votes int64  `json:"votes"`
	}
	out := struct {
		Current map[string]string `json:"current"`
		Tally   []count           `json:"tally"`
		History []view.VoteEntry  `json:"history"`
	}{map[string]string{}, []count{}, append([]view.VoteEntry{}, b.Papers.Votes...)}
	for name, ref := range lab.Library(b.state).Votes {
		out.Current[name] = ref
	}
	list, _ := listPapers(lab.Library(b.state), "votes", "", math.MaxInt64/2, 0)
	for _, p := range list {
		if p.Votes > 0 {
			out.Tally = append(out.Tally, count{p.Ref, p.Title, p.Votes})
		}
	}
	return out, nil
}
