package paper

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Apply takes an event in. Those that are not about papers it passes over. It
// panics on one that cannot follow from what came before it: such a ledger is
// forged.
func (l *Library) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		l.submit(e, b)
	case *event.ReproductionCall:
		p := l.must(b.Ref)
		p.Trial = e.Seq
		l.see(p)
	case *event.ReproductionResult:
		l.tried(b)
	case *event.ReviewRequested:
		l.request(b)
	case *event.ReviewExpired:
		l.expire(b)
	case *event.ReviewSubmitted:
		l.review(e, b)
	case *event.PublicationDecided:
		l.decide(e, b)
	case *event.CitationMade:
		l.cite(b)
	case *event.VoteCast:
		l.vote(e, b)
	case *event.AdvisorySent:
		l.told(b)
	}
}

// must returns a paper that an event names.
func (l *Library) must(ref string) *Paper {
	p := l.Paper(ref)
	if p == nil {
		panic(fmt.Sprintf("there is no publication %.40q", ref))
	}
	return p
}

func (l *Library) submit(e event.Event, b *event.PublicationSubmitted) {
	if l.Paper(b.Ref) != nil || !IsRef(b.Ref) {
		panic(fmt.Sprintf("the reference %.40q is taken or none", b.Ref))
	}
	p := &Paper{
		Ref: b.Ref, Title: b.Title, Author: e.Actor, Status: event.Submitted,
		Content: b.Content, Tree: b.Tree, Attachments: b.Attachments, Entrypoint: b.Entrypoint,
		Abstract: b.Abstract, Claims: b.Claims, Named: b.Named, Repeats: b.Repeats,
		Revises: b.Revises, Cites: b.Citations, Place: agent.Place{Answer: b.Answer, Part: b.Part}, Seq: e.Seq, Time: e.Time,
	}
	if b.Revises != "" {
		old := l.must(b.Revises)
		old.RevisedBy = append(old.RevisedBy, p.Ref)
	}
	x := l.at()
	p.number = len(l.Papers)
	l.Papers = append(l.Papers, p)
	x.add(p)
	l.see(p)
}

func (l *Library) tried(b *event.ReproductionResult) {
	p := l.must(l.Trial(b.Call))
	if p.Trial != b.Call {
		panic(fmt.Sprintf("reproduction.call %d has a result already", b.Call))
	}
	p.Trial, p.Reproduction = 0, b
	l.see(p)
}

func (l *Library) request(b *event.ReviewRequested) {
	p := l.must(b.Ref)
	if p.Status != event.Submitted || p.Request(b.Reviewer) != nil {
		panic(fmt.Sprintf("%s cannot be asked to review %s", b.Reviewer, b.Ref))
	}
	if len(p.Requests) == 0 {
		p.Wanted = b.Of
	}
	p.Next = ""
	p.Requests = append(p.Requests, Request{Reviewer: b.Reviewer, Deadline: b.Deadline, State: Open})
	if l.Asked == nil {
		l.Asked = map[string][]string{}
	}
	l.Asked[b.Reviewer] = append(l.Asked[b.Reviewer], p.Ref)
	l.see(p)
}

// closeRequest ends an open request.
func (l *Library) closeRequest(p *Paper, reviewer, state string) {
	r := p.Request(reviewer)
	if r == nil || r.State != Open {
		panic(fmt.Sprintf("%s has no open request to review %s", reviewer, p.Ref))
	}
	r.State = state
	rest := slices.DeleteFunc(l.Asked[reviewer], func(ref string) bool { return ref == p.Ref })
	if l.Asked[reviewer] = rest; len(rest) == 0 {
		delete(l.Asked, reviewer)
	}
}

func (l *Library) expire(b *event.ReviewExpired) {
	p := l.must(b.Ref)
	l.closeRequest(p, b.Reviewer, Expired)
	if b.Instead != "" {
		p.Wanted++
		p.Next = b.Instead
	}
	l.see(p)
}

func (l *Library) review(e event.Event, b *event.ReviewSubmitted) {
	p := l.must(b.Ref)
	l.closeRequest(p, e.Actor, Done)
	r := Review{Reviewer: e.Actor, Grade: b.Grade, Content: b.Content, Confidence: b.Confidence,
		Claim: b.Claim, Ran: b.Ran, Counterexample: b.Counterexample, Place: agent.Place{Answer: b.Answer, Part: b.Part}, Seq: e.Seq}
	p.Reviews = append(p.Reviews, r)
	l.at().places[r.Place] = p
	l.see(p)
}

func (l *Library) decide(e event.Event, b *event.PublicationDecided) {
	p := l.must(b.Ref)
	if p.Decided != 0 {
		panic(fmt.Sprintf("publication %s was decided before", b.Ref))
	}
	l.at().move(p, func() { p.Status = b.Status })
	p.Decided = e.Seq
	l.see(p)
}

func (l *Library) cite(b *event.CitationMade) {
	p := l.must(b.Ref)
	if p.Counted {
		panic(fmt.Sprintf("the citations of %s were counted before", b.Ref))
	}
	for _, ref := range b.To {
		to := l.must(ref)
		l.at().move(to, func() { to.Cited++ })
	}
	p.Counted = true
	l.see(p)
}

func (l *Library) vote(e event.Event, b *event.VoteCast) {
	if old := l.Paper(l.Votes[e.Actor]); old != nil {
		old.Votes--
	}
	// Each by itself: a map that was empty when it was saved comes back as nil.
	if l.Votes == nil {
		l.Votes = map[string]string{}
	}
	if l.Cast == nil {
		l.Cast = map[string]agent.Place{}
	}
	delete(l.Votes, e.Actor)
	if b.Ref != "" {
		l.must(b.Ref).Votes++
		l.Votes[e.Actor] = b.Ref
	}
	l.Cast[e.Actor] = agent.Place{Answer: b.Answer, Part: b.Part}
	l.Voted = e.Seq
}

// told notes whom an advisory has reached.
func (l *Library) told(b *event.AdvisorySent) {
	p := l.Paper(b.Ref)
	if p == nil {
		return
	}
	switch b.Kind {
	case event.AdviseRequested, event.AdviseExpired:
		for _, name := range b.To {
			if r := p.Request(name); r != nil {
				r.Told = true
				r.Closed = b.Kind == event.AdviseExpired
			}
		}
	case event.AdviseReceived:
		// They are told of in order, one at a time.
		if i := slices.IndexFunc(p.Reviews, func(r Review) bool { return !r.Told }); i >= 0 {
			p.Reviews[i].Told = true
		}
	case event.AdviseUnshown:
		p.Warned = true
	case event.AdviseDecided:
		p.Told = true
	case event.AdviseAnnounced:
		p.Announced = true
	}
	l.see(p)
}

// see puts a paper among those that are due, or takes it out.
func (l *Library) see(p *Paper) {
	if p.Trial != 0 {
		l.at().trials[p.Trial] = p.Ref
	}
	i, due := slices.Index(l.Due, p.Ref), l.due(p)
	switch {
	case due && i < 0:
		l.Due = append(l.Due, p.Ref)
	case !due && i >= 0:
		l.Due = slices.Delete(l.Due, i, i+1)
	}
}

// due reports whether the rules have something to do about p now.
func (l *Library) due(p *Paper) bool {
	if p.Trial != 0 {
		return false // it waits for the world
	}
	open := false
	for _, r := range p.Requests {
		if r.State == Open && !r.Told || r.State == Expired && !r.Closed {
			return true
		}
		open = open || r.State == Open
	}
	if slices.ContainsFunc(p.Reviews, func(r Review) bool { return !r.Told }) {
		return true
	}
	switch p.Status {
	case event.Submitted:
		return !open || int64(len(p.Requests)) < p.Wanted
	case event.Published:
		return !p.Told || !p.Counted && len(p.Cites) > 0 || !p.Announced && l.Readers > 1
	}
	return !p.Told
}

// Abandon forgets what was asked of the world, as a fork does: it is asked again.
func (l *Library) Abandon() {
	for _, p := range l.Papers {
		if p.Trial != 0 {
			delete(l.at().trials, p.Trial)
			p.Trial = 0
			l.see(p)
		}
	}
}
