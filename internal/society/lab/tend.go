package lab

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
)

// Tend implements quest.Host.
func (Society) Tend(s *quest.State, e event.Event) []event.Draft {
	for _, ref := range Library(s).Due {
		if duty := duty(s, Library(s).Paper(ref), e); duty != nil {
			return duty
		}
	}
	return end(s, e)
}

// duty is the next thing to do about a paper.
func duty(s *quest.State, p *paper.Paper, e event.Event) []event.Draft {
	if p.Status == event.Submitted {
		if p.Entrypoint != "" && p.Reproduction == nil {
			return one(e, "core", &event.ReproductionCall{Claims: p.Claims, Entrypoint: p.Entrypoint, Ref: p.Ref, Tree: *p.Tree})
		}
		if missing(p) > 0 && !p.Warned {
			return one(e, "core", &event.AdvisorySent{Kind: event.AdviseUnshown, Ref: p.Ref, Text: event.Text{Text: unshown(s, p)}, To: []string{p.Author}})
		}
		if ask := askReviewer(s, p, e); ask != nil {
			return ask
		}
		if !p.Open() {
			return decide(s, p, e)
		}
	}
	if p.Status == event.Published && !p.Counted && len(p.Cites) > 0 {
		return cite(s, p, e)
	}
	return advise(s, p, e)
}

// decide says what becomes of a paper when all reviews are in. One that nobody
// reviewed, though it should have been, is rejected.
func decide(s *quest.State, p *paper.Paper, e event.Event) []event.Draft {
	lab := settings(s)
	d := &event.PublicationDecided{Ref: p.Ref, Status: event.Rejected}
	d.Accepts, d.Rejects = p.Grades()
	switch {
	case lab.Reviewers <= 0 && len(p.Requests) == 0,
		d.Accepts > 0 && d.Rejects == 0,
		d.Accepts > d.Rejects && lab.Decision != Unanimous:
		d.Status = event.Published
	}
	return one(e, "core", d)
}

// cite counts what a paper cites. An author's own papers are named, not counted.
func cite(s *quest.State, p *paper.Paper, e event.Event) []event.Draft {
	c := &event.CitationMade{Ref: p.Ref}
	for _, ref := range p.Cites {
		if Library(s).Paper(ref).Author == p.Author {
			c.Self = append(c.Self, ref)
		} else {
			c.To = append(c.To, ref)
		}
	}
	return one(e, "core", c)
}

// advise tells the next one who has to know something about a paper.
func advise(s *quest.State, p *paper.Paper, e event.Event) []event.Draft {
	say := func(kind, text string, to ...string) []event.Draft {
		return one(e, "core", &event.AdvisorySent{Kind: kind, Ref: p.Ref, Text: event.Text{Text: text}, To: to})
	}
	if to, old := untold(s, p); len(to) > 0 {
		return say(event.AdviseRequested, requested(s, p, old), to...)
	}
	for _, r := range p.Requests {
		if r.State == paper.Expired && !r.Closed {
			return say(event.AdviseExpired, fill(s.Texts["expired"], "REF", p.Ref), r.Reviewer)
		}
	}
	for i, r := range p.Reviews {
		if !r.Told {
			return say(event.AdviseReceived, fill(s.Texts["review-received"], "REVIEWER", r.Reviewer, "REF", p.Ref, "TITLE", title(p),
				"IN", fmt.Sprint(i+1), "OF", fmt.Sprint(expected(p))), p.Author)
		}
	}
	switch {
	case p.Decided != 0 && !p.Told:
		return say(event.AdviseDecided, decided(s, p), p.Author)
	case p.Status == event.Published && !p.Announced:
		return one(e, "core", &event.AdvisorySent{Kind: event.AdviseAnnounced, Ref: p.Ref, Except: p.Author,
			Text: event.Text{Text: fill(s.Texts["announced"], "AUTHOR", p.Author, "REF", p.Ref, "TITLE", title(p))}})
	}
	return nil
}

// expected is how many reviews a paper will have, if all come.
func expected(p *paper.Paper) (n int) {
	for _, r := range p.Requests {
		if r.State != paper.Expired {
			n++
		}
	}
	return n
}

// untold are the reviewers who do not know yet that they are asked: those who know
// the paper that it revises, as they are told something else, and then the others.
func untold(s *quest.State, p *paper.Paper) (to []string, old bool) {
	var others []string
	for _, r := range p.Requests {
		switch {
		case r.State != paper.Open || r.Told:
		case reviewed(Library(s).Paper(p.Revises), r.Reviewer):
			to = append(to, r.Reviewer)
		default:
			others = append(others, r.Reviewer)
		}
	}
	if len(to) > 0 {
		return to, true
	}
	return others, false
}

func reviewed(p *paper.Paper, name string) bool {
	return p != nil && slices.ContainsFunc(p.Reviews, func(r paper.Review) bool { return r.Reviewer == name })
}

// unshown tells an author which claims the output of its program does not hold.
func unshown(s *quest.State, p *paper.Paper) string {
	return fill(s.Texts["unshown"], "REF", p.Ref, "TITLE", title(p), "ENTRYPOINT", paper.Quote(p.Entrypoint), "STATUS", p.Shown(),
		"MISSING", paper.Quotes(p.Reproduction.Missing), "PRINTED", printed(p))
}

// ran tells what became of a paper's program, and what that says to its claims.
func ran(p *paper.Paper) string {
	r := p.Reproduction
	if r == nil {
		if p.Entrypoint == "" && len(p.Claims) > 0 {
			return "It claims " + paper.Quotes(p.Claims) + " and has no program that shows it. "
		}
		return ""
	}
	text := fmt.Sprintf("The lab ran its program %s: %s. It printed %s. ", paper.Quote(p.Entrypoint), r.Status, printed(p))
	switch {
	case len(p.Claims) == 0:
		return text + "The paper claims no values. "
	case len(r.Missing) > 0:
		return text + fmt.Sprintf("Of what the paper claims this is NOT in the output: %s. ", paper.Quotes(r.Missing))
	}
	return text + fmt.Sprintf("What the paper claims is in the output: %s. That does not make it right. ", paper.Quotes(p.Claims))
}

// printed is the beginning of what a paper's program printed.
func printed(p *paper.Paper) string {
	if p.Reproduction.Printed == "" {
		return "nothing"
	}
	return shown(p.Reproduction.Printed, maxPrinted)
}

func requested(s *quest.State, p *paper.Paper, old bool) string {
	revision := ""
	if old {
		revision = fill(s.Texts["revision"], "OLD", p.Revises)
	}
	return fill(s.Texts["review-requested"], "REF", p.Ref, "AUTHOR", p.Author, "TITLE", title(p),
		"TURNS", fmt.Sprint(settings(s).Deadline), "REVISION", revision, "REPRODUCTION", ran(p))
}

func decided(s *quest.State, p *paper.Paper) string {
	accepts, rejects := p.Grades()
	next := "The others can read it now, cite it and vote for it."
	switch {
	case p.Status == event.Published:
	case len(p.Reviews) == 0:
		next = "Nobody reviewed it. Submit it again with revises when others are at work."
	default:
		next = "Read the reviews with get_publication, deal with every point, and submit it again with revises; or drop it."
	}
	return fill(s.Texts["decided"], "REF", p.Ref, "TITLE", title(p), "STATUS", p.Status,
		"ACCEPTS", fmt.Sprint(accepts), "REJECTS", fmt.Sprint(rejects), "NEXT", next)
}

// Before implements quest.Minder: a review that an agent had enough turns for, or
// will not get to because it is parked, is asked of another.
func (Society) Before(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	for _, ref := range Library(s).Asked[a.Name] {
		p := Library(s).Paper(ref)
		if a.Parked != "" || a.Turns >= p.Request(a.Name).Deadline {
			return one(e, "core", &event.ReviewExpired{Instead: pick(s, p), Ref: ref, Reviewer: a.Name})
		}
	}
	return nil
}

// end says whether the quest is over: all agents want the same paper and none waits
// for a review, or nobody would do anything any more. Without a single vote there is no
// answer then, at best a candidate: the quest rests until somebody has more to say.
func end(s *quest.State, e event.Event) []event.Draft {
	if !agreed(s) && !deserted(s) {
		return nil
	}
	best := Library(s).Best()
	if best == nil {
		return one(e, "core", &event.QuestFailed{Reason: "Nothing was published. " + excuses(s)})
	}
	if best.Votes == 0 {
		return one(e, "core", &event.QuestRested{Kind: event.RestNoAgreement, Reason: fmt.Sprintf(
			"Nobody has voted, and nobody is left who would act. The candidate is %s by %s, titled %s. %s", best.Ref, best.Author, title(best), excuses(s))})
	}
	return one(e, best.Author, &event.QuestFinished{Answer: answer(best)})
}

// agreed reports whether every agent's vote is for the same paper, of those that can
// still vote: one whose model is out of reach does not keep the others. Once a quest
// has ended, or was not allowed to, it takes another vote to end it.
func agreed(s *quest.State) bool {
	if Library(s).Voted <= s.Ended || Library(s).Count(event.Submitted) > 0 {
		return false
	}
	best := ""
	for _, a := range s.Agents {
		vote := Library(s).Votes[a.Name]
		if slices.ContainsFunc(a.Open, func(u agent.Use) bool { return !u.Done && answers(u.Name) }) {
			return false // what becomes of its paper, review or vote is not decided, or it has yet to hear
		}
		switch {
		case a.Held || a.GaveUp():
		case vote == "" || best != "" && vote != best:
			return false
		default:
			best = vote
		}
	}
	if best == "" {
		return false
	}
	// Whoever voted last hears that the vote was taken, before all is over.
	a := s.Moving()
	return a == nil || a.Phase() != agent.Acting
}

// answers reports whether the rules answer a tool, which they do only while the quest
// runs.
func answers(name string) bool {
	return slices.ContainsFunc(tools, func(t quest.OwnTool) bool { return t.Name == name && t.Step != quest.DeliveredTool })
}

// deserted reports whether all agents are parked and nothing is under way. Only what
// happens to a parked agent, or to none, can make it so.
func deserted(s *quest.State) bool {
	if a := s.Moving(); a != nil && a.Parked == "" {
		return false
	}
	return !slices.ContainsFunc(s.Agents, func(a *agent.Agent) bool { return a.Parked == "" || len(Library(s).Asked[a.Name]) > 0 }) && !s.Busy()
}

// excuses say why agents do nothing any more.
func excuses(s *quest.State) string {
	var b strings.Builder
	for i, a := range s.Agents {
		if i == 3 {
			fmt.Fprintf(&b, "And %d more agents are parked.", len(s.Agents)-i)
			break
		}
		b.WriteString(event.Shorten(a.Parked, 500) + " ")
	}
	return strings.TrimSpace(b.String())
}

// answer is the best paper as the quest's answer. A long content stands in its blob:
// then the answer says what it is, and refers to it.
func answer(p *paper.Paper) event.Text {
	head := fmt.Sprintf("%s\n\nPublication %s by %s, votes %d, cited %d", p.Title, p.Ref, p.Author, p.Votes, p.Cited)
	if shown := p.Shown(); shown != "" {
		head += ", reproduction: " + shown
	}
	if n := missing(p); n > 0 {
		head += ", " + p.Unheld()
	}
	head += ".\n\n"
	if p.Content.Ref != nil {
		return event.Text{Ref: p.Content.Ref, Text: head + "Its content is long: lyceum publication view " + p.Ref + " shows it."}
	}
	text := event.Cut(head+p.Content.Text, maxPaper)
	if len(text) < len(head)+len(p.Content.Text) {
		text += "…\n\nlyceum publication view " + p.Ref + " shows the rest."
	}
	return event.Text{Text: text}
}
