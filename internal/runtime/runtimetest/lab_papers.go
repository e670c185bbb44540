package runtimetest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/event"
)

func (b *labBooks) paper(ref string) (*labPaper, error) {
	p := b.papers[ref]
	if p == nil {
		return nil, fmt.Errorf("there is no paper %q", ref)
	}
	if !slices.Contains(b.touched, p) {
		b.touched = append(b.touched, p)
	}
	return p, nil
}

func (b *labBooks) countPaper(e event.Event) error {
	switch x := e.Body.(type) {
	case *event.PublicationSubmitted:
		return b.submitted(e, x)
	case *event.ReproductionCall:
		p, err := b.paper(x.Ref)
		if err != nil {
			return err
		}
		if !p.entrypoint || p.trial != 0 || len(p.requests) > 0 {
			return fmt.Errorf("%s is run a second time, or too late", x.Ref)
		}
		p.trial, b.trials[e.Seq], p.claims = e.Seq, p, len(x.Claims)
	case *event.ReproductionResult:
		b.saw("reproductions")
		p := b.trials[x.Call]
		if p == nil || p.tried {
			return fmt.Errorf("no paper waits for call %d", x.Call)
		}
		p.tried, p.missing = true, len(x.Missing) > 0
		switch {
		case p.missing || x.Status != event.SameOutput:
			p.shown = -1
		case p.claims > 0:
			p.shown = 1
		}
		b.touched = append(b.touched, p)
	case *event.ReviewRequested:
		return b.requested(x)
	case *event.ReviewExpired:
		return b.expired(x)
	case *event.ReviewSubmitted:
		return b.reviewed(e, x)
	case *event.PublicationDecided:
		return b.decided(x)
	case *event.CitationMade:
		return b.citations(x)
	case *event.VoteCast:
		return b.voted(e, x)
	}
	return nil
}

var (
	labRef  = regexp.MustCompile(`^[0-9a-f]{32}$`)
	labCite = regexp.MustCompile(`\[([0-9a-f]{32})\]`)
	labCode = regexp.MustCompile("`[^`]*`")
)

func (b *labBooks) submitted(e event.Event, x *event.PublicationSubmitted) error {
	if b.papers[x.Ref] != nil || !labRef.MatchString(x.Ref) {
		return fmt.Errorf("the reference %q is taken or none", x.Ref)
	}
	var cites []string
	for _, m := range labCite.FindAllStringSubmatch(labCode.ReplaceAllString(x.Content.Text, ""), -1) {
		if !slices.Contains(cites, m[1]) {
			cites = append(cites, m[1])
		}
	}
	if !slices.Equal(cites, x.Citations) {
		return fmt.Errorf("it cites %v, and %v is recorded", cites, x.Citations)
	}
	for _, ref := range cites {
		if b.papers[ref] == nil {
			return fmt.Errorf("it cites %s, which there is not", ref)
		}
	}
	if x.Title == "" || strings.Contains(x.Title, "\n") || strings.TrimSpace(x.Content.Text) == "" || slices.Contains(x.Attachments, "reviews.md") {
		return fmt.Errorf("such a paper is not to be taken: %+v", x)
	}
	p := &labPaper{
		ref: x.Ref, author: e.Actor, status: event.Submitted, revises: x.Revises, entrypoint: x.Entrypoint != "", cites: cites,
		requests: map[string]*labRequest{},
	}
	if x.Revises != "" {
		old := b.papers[x.Revises]
		if old == nil || old.author != e.Actor || old.status != event.Rejected {
			return fmt.Errorf("%s cannot revise %s", e.Actor, x.Revises)
		}
		b.saw("revisions")
	}
	b.papers[x.Ref] = p
	b.refs = append(b.refs, x.Ref)
	b.touched = append(b.touched, p)
	b.saw("papers")
	return b.effect(e, x.Answer, x.Part)
}

// requested checks who is asked: never the author, nobody twice, no more than the lab
// wants, first who reviewed what is revised, and else one of the least loaded. Of who
// might not be able to, nothing is said: only who is at work counts as able.
func (b *labBooks) requested(x *event.ReviewRequested) error {
	if p := b.papers[x.Ref]; p != nil && p.missing && !p.warned {
		return fmt.Errorf("a reviewer of %s is asked before its author knows which claims are not in the output", x.Ref)
	}
	p, err := b.paper(x.Ref)
	if err != nil {
		return err
	}
	asked := 0
	for _, r := range p.requests {
		if r.state != "expired" {
			asked++
		}
	}
	switch {
	case p.status != event.Submitted || x.Reviewer == p.author || p.requests[x.Reviewer] != nil || !slices.Contains(b.agents, x.Reviewer):
		return fmt.Errorf("%s cannot be asked to review %s", x.Reviewer, x.Ref)
	case p.entrypoint && !p.tried:
		return fmt.Errorf("%s is asked before the entry point was run", x.Reviewer)
	case int64(asked) >= b.lab.Reviewers:
		return fmt.Errorf("%s is asked as number %d of %d", x.Reviewer, asked+1, b.lab.Reviewers)
	case p.instead != "" && p.instead != x.Reviewer:
		return fmt.Errorf("%s is asked, and %s should be", x.Reviewer, p.instead)
	case x.Deadline != b.turns[x.Reviewer]+b.lab.Deadline:
		return fmt.Errorf("%s, at turn %d, has until turn %d", x.Reviewer, b.turns[x.Reviewer], x.Deadline)
	}
	knows := b.knows(p, x.Reviewer)
	for _, other := range b.agents {
		if other == x.Reviewer || other == p.author || p.requests[other] != nil || b.open[other] == 0 {
			continue
		}
		if k := b.knows(p, other); k && !knows || k == knows && len(b.asked[other]) < len(b.asked[x.Reviewer]) {
			return fmt.Errorf("%s is asked, and %s should be", x.Reviewer, other)
		}
	}
	p.instead = ""
	p.requests[x.Reviewer] = &labRequest{state: "open", deadline: x.Deadline}
	b.asked[x.Reviewer] = append(b.asked[x.Reviewer], x.Ref)
	return nil
}

// knows reports whether an agent has reviewed what a paper revises.
func (b *labBooks) knows(p *labPaper, agent string) bool {
	old := b.papers[p.revises]
	return old != nil && slices.Contains(old.reviews, agent)
}

func (b *labBooks) close(p *labPaper, reviewer, state string) error {
	r := p.requests[reviewer]
	if r == nil || r.state != "open" {
		return fmt.Errorf("%s has no open request to review %s", reviewer, p.ref)
	}
	r.state = state
	b.asked[reviewer] = slices.DeleteFunc(b.asked[reviewer], func(ref string) bool { return ref == p.ref })
	return nil
}

func (b *labBooks) expired(x *event.ReviewExpired) error {
	p, err := b.paper(x.Ref)
	if err != nil {
		return err
	}
	if err := b.close(p, x.Reviewer, "expired"); err != nil {
		return err
	}
	if r := p.requests[x.Reviewer]; b.turns[x.Reviewer] < r.deadline && !b.parked[x.Reviewer] && !b.held[x.Reviewer] {
		return fmt.Errorf("%s is at work, has had %d turns of %d, and is no longer asked", x.Reviewer, b.turns[x.Reviewer], r.deadline)
	}
	p.instead = x.Instead
	b.saw("expired")
	return nil
}

func (b *labBooks) reviewed(e event.Event, x *event.ReviewSubmitted) error {
	p, err := b.paper(x.Ref)
	if err != nil {
		return err
	}
	if p.status != event.Submitted || strings.TrimSpace(x.Content.Text) == "" {
		return fmt.Errorf("a review of %s, which is %s, or an empty one", x.Ref, p.status)
	}
	if err := b.close(p, e.Actor, "done"); err != nil {
		return err
	}
	switch x.Grade {
	case event.Accept:
		p.accepts++
	case event.Reject:
		p.rejects++
	default:
		return fmt.Errorf("the grade is %q", x.Grade)
	}
	p.reviews = append(p.reviews, e.Actor)
	b.saw("reviews")
	return b.effect(e, x.Answer, x.Part)
}

// decided checks the decision against the grades.
func (b *labBooks) decided(x *event.PublicationDecided) error {
	p, err := b.paper(x.Ref)
	if err != nil {
		return err
	}
	want := event.Rejected
	switch {
	case b.lab.Reviewers == 0,
		p.accepts > 0 && p.rejects == 0,
		p.accepts > p.rejects && b.lab.Decision == "majority":
		want = event.Published
	}
	if p.status != event.Submitted || p.waits() || x.Status != want || x.Accepts != p.accepts || x.Rejects != p.rejects {
		return fmt.Errorf("%s is %s with %d for and %d against, and is now said to be %s with %d and %d", x.Ref, p.status, p.accepts, p.rejects, x.Status, x.Accepts, x.Rejects)
	}
	if p.status = x.Status; p.status == event.Published {
		b.saw("published")
		return nil
	}
	b.rejected[p.author] = append(b.rejected[p.author], p.ref)
	b.saw("rejected")
	return nil
}

// waits reports whether a paper waits for a review, or its run.
func (p *labPaper) waits() bool {
	for _, r := range p.requests {
		if r.state == "open" {
			return true
		}
	}
	return p.instead != "" || p.entrypoint && !p.tried
}

func (b *labBooks) citations(x *event.CitationMade) error {
	p, err := b.paper(x.Ref)
	if err != nil {
		return err
	}
	var to, self []string
	for _, ref := range p.cites {
		if b.papers[ref].author == p.author {
			self = append(self, ref)
			continue
		}
		to = append(to, ref)
		b.papers[ref].cited++
	}
	if p.counted || p.status != event.Published || !slices.Equal(to, x.To) || !slices.Equal(self, x.Self) {
		return fmt.Errorf("the citations of %s, which is %s, are %v and its own %v", x.Ref, p.status, to, self)
	}
	p.counted = true
	for range to {
		b.saw("cited")
	}
	for range self {
		b.saw("self-cited")
	}
	return nil
}

func (b *labBooks) voted(e event.Event, x *event.VoteCast) error {
	if p := b.papers[x.Ref]; x.Ref != "" && (p == nil || p.status != event.Published) {
		return fmt.Errorf("a vote for %s, which is not published", x.Ref)
	}
	if b.votes[e.Actor] = x.Ref; x.Ref == "" {
		delete(b.votes, e.Actor)
	}
	b.saw("votes")
	return b.effect(e, x.Answer, x.Part)
}
