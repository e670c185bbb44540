package view

import (
	"cmp"
	"math"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
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
	// Missing are the claims that its output does not hold.
	Missing []string `json:"missing,omitempty"`
	// Value is what it claims in a line, empty if its author named no claims.
	Value string `json:"value,omitempty"`
}

// Review is an agent's judgement of a paper.
type Review struct {
	Paper    string     `json:"paper"`
	Reviewer string     `json:"reviewer"`
	Grade    string     `json:"grade"`
	Content  string     `json:"content"`
	Seq      uint64     `json:"seq"`
	Time     event.Time `json:"time"`
	// Confidence is from 1 to 5; the others are what the review rests on.
	Confidence     int64  `json:"confidence,omitempty"`
	Claim          string `json:"claim,omitempty"`
	Ran            string `json:"ran,omitempty"`
	Counterexample string `json:"counterexample,omitempty"`
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
	Status string     `json:"status"`
	Reason string     `json:"reason,omitempty"`
	Exit   int64      `json:"exit,omitempty"`
	Output *event.Ref `json:"output,omitempty"`
	Second *event.Ref `json:"second,omitempty"`
	// Printed is the beginning of Output, Missing the claims that are not in it.
	Printed  string   `json:"printed,omitempty"`
	Missing  []string `json:"missing,omitempty"`
	Duration int64    `json:"duration_us,omitempty"`
	Seq      uint64   `json:"seq,omitempty"`
}

// Revision is how a paper differs from the one it revises.
type Revision struct {
	From    string `json:"from"`
	Unified string `json:"unified"`
}

// PaperDetail is a paper with its texts. Its files are in Tree, if it has some.
type PaperDetail struct {
	PaperHead
	Tree       *event.TreeRef `json:"-"`
	Content    string         `json:"content"`
	Entrypoint string         `json:"entrypoint,omitempty"`
	// Claims are the values that the paper stands for; Named, that its author named them.
	Claims []string `json:"claims"`
	Named  bool     `json:"named"`
	// Repeats are published papers that seem to say the same.
	Repeats      []PaperLink   `json:"repeats"`
	Reviews      []Review      `json:"reviews"`
	Requests     []RequestInfo `json:"requests"`
	Citations    []PaperLink   `json:"citations"`
	CitedBy      []PaperLink   `json:"cited_by"`
	Voters       []string      `json:"voters"`
	Reproduction *Trial        `json:"reproduction,omitempty"`
	Revision     *Revision     `json:"revision,omitempty"`
}

// ReviewList is the reviews that were handed in, in their order, and all that were asked for.
type ReviewList struct {
	Reviews  []Review      `json:"reviews"`
	Requests []RequestInfo `json:"requests"`
}

// Citation is that one paper names another; Counted, that it counts for the other.
type Citation struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Counted bool   `json:"counted"`
	Seq     uint64 `json:"seq"`
}

// Ballot is how the votes stand, and all that were cast.
type Ballot struct {
	Current map[string]string `json:"current"`
	Tally   []BallotCount     `json:"tally"`
	History []VoteEntry       `json:"history"`
}

// BallotCount is how many votes a paper has.
type BallotCount struct {
	Ref   string `json:"ref"`
	Title string `json:"title"`
	Votes int64  `json:"votes"`
}

// TextReader reads a text whole.
type TextReader func(event.Text) (string, error)

func headOf(s *quest.State, p *paper.Paper) PaperHead {
	h := PaperHead{
		Ref: p.Ref, Title: p.Title, Author: p.Author, Status: p.Status, Seq: p.Seq, Time: p.Time, Decided: p.Decided,
		Cited: p.Cited, Votes: p.Votes, Revises: p.Revises, RevisedBy: append([]string{}, p.RevisedBy...), Best: lab.Library(s).Best() == p,
	}
	h.Accepts, h.Rejects = p.Grades()
	return h
}

func paperOf(s *quest.State, p *paper.Paper) Paper {
	out := Paper{PaperHead: headOf(s, p), Reviews: len(p.Reviews), Attachments: len(p.Attachments), Reproduction: reproduction(p), Missing: missing(p)}
	if p.Named {
		out.Value = valueOf(p)
	}
	return out
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

func missing(p *paper.Paper) []string {
	if p.Reproduction == nil {
		return nil
	}
	return p.Reproduction.Missing
}

// CountPapers counts a quest's papers.
func CountPapers(s *quest.State) *PaperCounts {
	lib := lab.Library(s)
	return &PaperCounts{lib.Count(event.Published), lib.Count(event.Submitted), lib.Count(event.Rejected)}
}

// Papers are a quest's, of one status or of all, ordered by latest, citations or votes;
// total is how many there are besides the ones between offset and limit.
func Papers(s *quest.State, order, status string, limit, offset int64) (list []Paper, total int64) {
	papers, total := listPapers(lab.Library(s), order, status, limit, offset)
	list = []Paper{}
	for _, p := range papers {
		list = append(list, paperOf(s, p))
	}
	return list, total
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

// IsPaper reports whether a word could be a paper's reference.
func IsPaper(ref string) bool { return paper.IsRef(ref) }

// trail is what the views keep of papers, nothing where there are none.
func (v *Views) trail() *paperTrail {
	if p, ok := v.society.(*paperTrail); ok {
		return p
	}
	return &paperTrail{}
}

// Paper is one paper, nil if there is none of that reference.
func (v *Views) Paper(s *quest.State, ref string, read TextReader) (*PaperDetail, error) {
	lib := lab.Library(s)
	p := lib.Paper(ref)
	if p == nil {
		return nil, nil
	}
	d := &PaperDetail{
		PaperHead: headOf(s, p), Tree: p.Tree, Entrypoint: p.Entrypoint, Requests: requests(p, false), Voters: []string{},
		Claims: append([]string{}, p.Claims...), Named: p.Named, Repeats: links(lib, p, p.Repeats),
		Citations: links(lib, p, p.Cites), CitedBy: links(lib, p, v.trail().CitedBy[ref]), Reproduction: v.trial(p),
	}
	for name, vote := range lib.Votes {
		if vote == ref {
			d.Voters = append(d.Voters, name)
		}
	}
	slices.Sort(d.Voters)
	var err error
	if d.Content, err = read(p.Content); err != nil {
		return nil, err
	}
	if d.Reviews, err = v.reviewsOf(p, read); err != nil {
		return nil, err
	}
	if old := lib.Paper(p.Revises); old != nil {
		before, err := read(old.Content)
		if err != nil {
			return nil, err
		}
		d.Revision = &Revision{p.Revises, unified(diffLines(before, d.Content))}
	}
	return d, nil
}

func (v *Views) reviewsOf(p *paper.Paper, read TextReader) ([]Review, error) {
	out := []Review{}
	for _, r := range p.Reviews {
		text, err := read(r.Content)
		if err != nil {
			return nil, err
		}
		out = append(out, Review{
			Paper: p.Ref, Reviewer: r.Reviewer, Grade: r.Grade, Content: text, Seq: r.Seq, Time: v.trail().Reviewed[r.Seq],
			Confidence: r.Confidence, Claim: r.Claim, Ran: r.Ran, Counterexample: r.Counterexample,
		})
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

func links(lib *paper.Library, p *paper.Paper, refs []string) []PaperLink {
	out := []PaperLink{}
	for _, ref := range refs {
		if o := lib.Paper(ref); o != nil {
			out = append(out, PaperLink{o.Ref, o.Title, o.Author, o.Status, o.Author == p.Author})
		}
	}
	return out
}

func (v *Views) trial(p *paper.Paper) *Trial {
	t := &Trial{Status: reproduction(p), Seq: v.trail().Tried[p.Ref]}
	if t.Status == "" {
		return nil
	}
	if r := p.Reproduction; r != nil {
		t.Reason, t.Exit, t.Duration, t.Output, t.Second = r.Reason, r.Exit, r.Duration, r.Output, r.Second
		t.Printed, t.Missing = r.Printed, r.Missing
	}
	return t
}

// Reviews are those of a quest.
func (v *Views) Reviews(s *quest.State, read TextReader) (*ReviewList, error) {
	out := &ReviewList{[]Review{}, []RequestInfo{}}
	for _, p := range lab.Library(s).Papers {
		list, err := v.reviewsOf(p, read)
		if err != nil {
			return nil, err
		}
		out.Reviews = append(out.Reviews, list...)
		out.Requests = append(out.Requests, requests(p, true)...)
	}
	slices.SortFunc(out.Reviews, func(a, b Review) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, nil
}

// Citations are those among a quest's papers.
func (v *Views) Citations(s *quest.State) []Citation {
	out := []Citation{}
	for _, c := range v.trail().Citations {
		from, to := lab.Library(s).Paper(c.From), lab.Library(s).Paper(c.To)
		if from != nil && to != nil {
			out = append(out, Citation{c.From, c.To, from.Counted && from.Author != to.Author, c.Seq})
		}
	}
	return out
}

// Ballot is how a quest's votes stand.
func (v *Views) Ballot(s *quest.State) Ballot {
	out := Ballot{map[string]string{}, []BallotCount{}, append([]VoteEntry{}, v.trail().Votes...)}
	for name, ref := range lab.Library(s).Votes {
		out.Current[name] = ref
	}
	list, _ := listPapers(lab.Library(s), "votes", "", math.MaxInt64/2, 0)
	for _, p := range list {
		if p.Votes > 0 {
			out.Tally = append(out.Tally, BallotCount{p.Ref, p.Title, p.Votes})
		}
	}
	return out
}
