// Package lab is a society of equals: agents work on one problem, publish papers,
// review each other, cite, and vote for the best answer.
//
// What an agent does to the lab it does with tools that the rules answer. Each
// effect is one event, found again by the place of the tool call that it came from:
// a quest that is cut anywhere and goes on does nothing twice. What follows from an
// effect, such as asking reviewers or deciding, the rules do one step at a time, and
// what is still to be done stands in the state, never in the order of events.
//
// An agent that does nothing, or whose model fails, is parked, and the others go
// on. The quest ends when all agree, or when nobody is left who would do something and
// there are votes. Without any it rests, and can be gone on with.
package lab

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
)

// Society is the rules of the lab.
type Society struct{}

var (
	_ quest.Society   = Society{}
	_ quest.Knower    = Society{}
	_ quest.Toolbox   = Society{}
	_ quest.Minder    = Society{}
	_ quest.Host      = Society{}
	_ quest.Scanner   = Society{}
	_ quest.Deliverer = Society{}
	_ quest.Keyed     = Society{}
	_ quest.Sampler   = Society{}
	_ quest.Checker   = (*Memory)(nil)
)

// Rules implements quest.Society.
func (Society) Rules() string { return "lab/2" }

// Traits implements quest.Society.
func (Society) Traits() quest.Traits { return quest.Traits{Many: true, Profile: DefaultProfile} }

// Policies implements quest.Society.
func (Society) Policies() []behavior.Thread { return policies() }

// Texts implements quest.Society.
func (Society) Texts() []event.NamedText { return texts }

// Own implements quest.Toolbox.
func (Society) Own() []quest.OwnTool { return tools }

// Scan implements quest.Scanner: a publication has an abstract with numbers, and cites
// others.
func (Society) Scan(tool, text string) (f quest.Found) {
	if tool != submitPublication {
		return f
	}
	f.Abstract, f.Numbers = paper.Abstract(text)
	f.Citations, f.Loose = paper.Brackets(text)
	f.Citations = f.Citations[:min(len(f.Citations), maxCitations+1)] // one too many is enough to refuse them
	return f
}

// settings are how the lab works. A quest that does not say has the usual ones.
func settings(s *quest.State) event.LabSpec {
	lab := event.LabSpec{Deadline: DefaultDeadline, Decision: Decisions[0], Reviewers: DefaultReviewers}
	if m := Of(s); m.Spec != nil {
		lab = *m.Spec
	}
	lab.Reviewers = min(lab.Reviewers, int64(len(s.Agents))-1)
	return lab
}

// The ways to decide: more reviews accept than reject, or all of them accept.
const (
	Majority  = "majority"
	Unanimous = "unanimous"
)

// maxIdle is how many turns in a row without a tool call park an agent.
const maxIdle = 3

// Answered implements quest.Society: nobody reads what an agent says. It is told so,
// and what it could do; and parked, if that does not help.
func (Society) Answered(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if a.Idle >= maxIdle {
		return one(e, a.Name, &event.AgentParked{Reason: fmt.Sprintf("%s has answered %d times in a row without calling a tool.", a.Name, a.Idle)})
	}
	text := "idle"
	if a.Stop == model.StopLength {
		text = "cut"
	}
	return one(e, "core", &event.MessageSent{To: a.Name, Text: event.Text{Text: fill(s.Texts[text],
		"REVIEWS", reviews(s, a), "PAPERS", papers(s, a))}})
}

// Failed implements quest.Society: the others go on.
func (Society) Failed(_ *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	reason := "the model answered nothing, three times in a row"
	if a.Failed != nil {
		reason = event.Shorten(a.Failed.Text, 2000)
	}
	who := "The model"
	if a.Session != nil {
		who = "The executor"
	}
	return one(e, a.Name, &event.AgentParked{Reason: who + " of " + a.Name + " failed: " + reason})
}

// Parked implements quest.Society: the others go on. What the agent leaves undone is
// dealt with by Before.
func (Society) Parked(*quest.State, *agent.Agent, event.Event) []event.Draft { return nil }

// one drafts the one event that follows.
func one(e event.Event, actor string, b event.Body) []event.Draft {
	return []event.Draft{quest.After(e, actor, "", b)}
}

// reviews lists what an agent is asked to review.
func reviews(s *quest.State, a *agent.Agent) string {
	open := Library(s).Asked[a.Name]
	if len(open) == 0 {
		return "You are not asked to review anything."
	}
	var b strings.Builder
	b.WriteString("You are asked to review these publications, and should do that first:")
	for i, ref := range open {
		if i == maxShown {
			fmt.Fprintf(&b, "\n- and %d more: see list_review_requests", len(open)-i)
			break
		}
		b.WriteString("\n- " + request(Library(s).Paper(ref), a))
	}
	return b.String()
}

// request says what an agent is asked.
func request(p *paper.Paper, a *agent.Agent) string {
	left := p.Request(a.Name).Deadline - a.Turns
	return fmt.Sprintf("%s by %s, titled %s%s: due within %d of your turns", p.Ref, p.Author, title(p), reproduction(p), max(left, 0))
}

// papers lists an agent's own publications, the latest first.
func papers(s *quest.State, a *agent.Agent) string {
	own := Library(s).By(a.Name)
	if len(own) == 0 {
		return "You have published nothing yet."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your publications (%d), the latest first:", len(own))
	for i := len(own) - 1; i >= max(0, len(own)-maxShown); i-- {
		b.WriteString("\n- " + line(own[i]))
	}
	return b.String()
}

// maxShown is how many papers a message lists.
const maxShown = 10

// line describes a paper.
func line(p *paper.Paper) string {
	more := reproduction(p)
	if accepts, rejects := p.Grades(); p.Decided != 0 {
		more += fmt.Sprintf(", reviews %d accept %d reject", accepts, rejects)
	} else if n := len(p.Reviews); n > 0 {
		more += fmt.Sprintf(", reviews %d of %d", n, expected(p))
	}
	return fmt.Sprintf("%s %s by %s, titled %s (cited %d, votes %d%s)", p.Ref, p.Status, p.Author, title(p), p.Cited, p.Votes, more)
}

// reproduction says what became of a paper's program, nothing if it has none.
func reproduction(p *paper.Paper) string {
	text := ""
	if shown := p.Shown(); shown != "" {
		text = ", reproduction: " + shown
	}
	if n := missing(p); n > 0 {
		text += fmt.Sprintf(", %d of %d claims not in the output", n, len(p.Claims))
	}
	return text
}

// missing is how many of a paper's claims are not in what its program printed.
func missing(p *paper.Paper) int {
	if p.Reproduction == nil {
		return 0
	}
	return len(p.Reproduction.Missing)
}

// title is a paper's title as others are shown it: its author's words, on one line, in
// quotes that it cannot end.
func title(p *paper.Paper) string {
	return shown(p.Title, maxTitleShown)
}

// shown is a text in quotes that it cannot end, of at most so many bytes of JSON.
func shown(text string, most int) string {
	quoted := paper.Quote(text)
	if event.Weight(quoted) > most {
		quoted = paper.Quote(event.Cut(text, most/7) + "…") // a character takes 7 bytes at most
	}
	return quoted
}

// fill puts values in the place of {{NAMES}}.
var fill = quest.Fill
