package runtimetest

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
)

// labBooks keep account of a lab from its events alone, in their own plain way: they
// know nothing of the library that the rules use. The first event that a lab must not
// have is an error.
type labBooks struct {
	lab *event.LabSpec
	// saw counts what came up.
	saw func(string)
	// running says whether the quest runs: what is due is done then.
	running bool

	// parts are the tool calls that models have asked for and that were not made yet;
	// calls are those without a result, at the same by their places.
	parts map[labPlace]string
	calls map[uint64]*labCall
	at    map[labPlace]*labCall
	// did are the effects that calls have had, by their places.
	did map[labPlace]event.Type
	// open counts the calls of each agent that have no result: who has one is at work.
	open  map[string]int
	turns map[string]int64
	// parked are those who get no turns until something happens, held those who wait for
	// a person.
	parked, held map[string]bool

	papers map[string]*labPaper
	trials map[uint64]*labPaper
	// refs are those of all papers, asked the open requests of each agent, rejected
	// its papers that were.
	refs     []string
	asked    map[string][]string
	rejected map[string][]string
	votes    map[string]string
	agents   []string

	// touched are the papers that a batch is about, in their order.
	touched []*labPaper
	// told are the advisories that each agent has not been shown yet; asks are the
	// model calls that are to be looked at, seen the last message each agent was shown.
	told map[string][]labAdvice
	asks []event.Event
	seen map[string]int64
	// fault is what is wrong with something that was handed out.
	fault error
}

type labPlace struct {
	answer uint64
	part   int64
}

type labCall struct {
	agent, tool string
	// name is the tool's, as the model wrote it.
	name     string
	place    labPlace
	blocked  bool
	prepared bool
	effect   event.Type
}

type labPaper struct {
	ref, author, status, revises string
	entrypoint                   bool
	trial                        uint64
	tried                        bool
	cites                        []string
	requests                     map[string]*labRequest
	instead                      string
	accepts, rejects             int64
	reviews                      []string
	counted                      bool
	cited                        int64
	// What has been told: of reviews, how many times.
	received           int64
	decided, announced bool
	// missing says that claims are not in its output, warned that its author knows.
	missing, warned bool
	// claims is how many there are, shown what its output says to them.
	claims, shown int
}

type labRequest struct {
	state        string
	deadline     int64
	told, closed bool
}

type labAdvice struct {
	seq  uint64
	text string
}

// secretReview begins what simulated agents write in reviews.
const secretReview = "between us: "

func newLabBooks(agents int64) *labBooks {
	b := &labBooks{
		parts: map[labPlace]string{}, calls: map[uint64]*labCall{}, at: map[labPlace]*labCall{}, did: map[labPlace]event.Type{},
		open: map[string]int{}, turns: map[string]int64{}, parked: map[string]bool{}, held: map[string]bool{}, papers: map[string]*labPaper{}, trials: map[uint64]*labPaper{}, asked: map[string][]string{},
		rejected: map[string][]string{}, votes: map[string]string{}, told: map[string][]labAdvice{}, seen: map[string]int64{},
	}
	for i := range agents {
		b.agents = append(b.agents, fmt.Sprint("agent-", i))
	}
	return b
}

// count takes an event into the books.
func (b *labBooks) count(w *World, e event.Event) error {
	b.saw = w.Saw
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		b.lab = x.Lab
	case *event.QuestForked:
		b.fork()
	case *event.QuestStarted, *event.QuestResumed:
		b.running = true
		clear(b.parked)
		clear(b.held)
	case *event.UserMessage:
		if delete(b.parked, x.To); x.To == "" {
			clear(b.parked)
			clear(b.held)
		}
		delete(b.held, x.To)
	case *event.QuestPaused, *event.QuestStopped:
		b.running = false
	case *event.QuestRested:
		b.running = false
		if p := b.best(); x.Kind == event.RestNoAgreement && (p == nil || len(b.votes) > 0) {
			return fmt.Errorf("it rests without agreement: the best paper is %+v, the votes are %v", p, b.votes)
		}
	case *event.BudgetExceeded:
		b.running = false
		b.saw("budgets")
	case *event.QuestFailed:
		b.running = false
		b.saw("failed")
	case *event.QuestFinished:
		b.running = false
		b.saw("finished")
		return b.finished(e, x)
	case *event.ModelCall, *event.ModelResult, *event.PromptCall, *event.PromptResult, *event.ToolProposed, *event.ToolCall, *event.ToolSkipped, *event.PolicyBlocked, *event.ToolPrepared, *event.ToolAnswered, *event.ToolResult:
		return b.countCall(e)
	case *event.MessageSent:
		delete(b.parked, x.To)
		return b.blind(x.Text.Text)
	case *event.AgentParked:
		b.parked[e.Actor] = true
		b.saw("parked")
	case *event.AdvisorySent:
		return b.advised(e, x)
	default:
		return b.countPaper(e)
	}
	return nil
}

// countCall checks that every call has one result, that what an agent asked for had
// its effect if and only if it was told so, and that nobody publishes who is asked for
// reviews.
func (b *labBooks) countCall(e event.Event) error {
	switch x := e.Body.(type) {
	case *event.PromptCall:
		b.asks = append(b.asks, e)
		return b.turn(e)
	case *event.PromptResult:
		if x.Stop == event.StopInterrupted {
			b.turns[e.Actor]--
		}
		return b.answered(e, x.Call, false)
	case *event.ToolProposed:
		b.parts[labPlace{e.Seq, 0}] = x.Name
	case *event.ModelCall:
		if x.Compact == nil { // a summary is of what was shown before
			b.asks = append(b.asks, e)
		}
		return b.turn(e)
	case *event.ModelResult:
		for i, p := range x.Parts {
			if p.Kind == event.PartToolCall {
				b.parts[labPlace{e.Seq, int64(i)}] = p.Name
			}
		}
		if x.Untaken() {
			b.turns[e.Actor]--
		}
		return b.answered(e, x.Call, false)
	case *event.ToolCall:
		at := labPlace{x.Answer, x.Part}
		name, ok := b.parts[at]
		if !ok || e.Tool != "" && e.Tool != name {
			return fmt.Errorf("nobody asked for this call, or it is called already")
		}
		delete(b.parts, at)
		if e.Tool == "submit_publication" && len(b.asked[e.Actor]) > 0 && b.did[at] == "" {
			return fmt.Errorf("%s publishes, and is asked to review %v", e.Actor, b.asked[e.Actor])
		}
		b.calls[e.Seq] = &labCall{agent: e.Actor, tool: e.Tool, name: name, place: at, effect: b.did[at]}
		b.at[at] = b.calls[e.Seq]
		b.open[e.Actor]++
	case *event.ToolSkipped:
		at := labPlace{x.Answer, x.Part}
		b.calls[e.Seq] = &labCall{agent: e.Actor, name: b.parts[at], place: at, blocked: true}
		delete(b.parts, at)
		b.open[e.Actor]++
	case *event.PolicyBlocked:
		b.saw("blocked")
		b.held[e.Actor] = b.held[e.Actor] || x.Proposal == "model.call" || x.Proposal == "prompt.call"
		if x.Proposal == "tool.call" {
			at := labPlace{x.Answer, x.Part}
			b.calls[e.Seq] = &labCall{agent: e.Actor, name: b.parts[at], place: at, blocked: true}
			delete(b.parts, at)
			b.open[e.Actor]++
		}
	case *event.ToolPrepared:
		c := b.calls[x.Call]
		if c == nil || c.prepared || c.agent != e.Actor {
			return fmt.Errorf("call %d is prepared a second time, or not open", x.Call)
		}
		c.prepared = true
	case *event.ToolAnswered:
		if err := b.blind(x.Output.Text); err != nil {
			return err
		}
		return b.answered(e, x.Call, x.Error)
	case *event.ToolResult:
		return b.answered(e, x.Call, x.Error)
	}
	return nil
}

// turn checks that an agent may have another.
func (b *labBooks) turn(e event.Event) error {
	b.calls[e.Seq] = &labCall{agent: e.Actor}
	for _, ref := range b.asked[e.Actor] {
		if r := b.papers[ref].requests[e.Actor]; b.turns[e.Actor] >= r.deadline {
			return fmt.Errorf("%s begins another turn, and was to review %s by turn %d", e.Actor, ref, r.deadline)
		}
	}
	b.turns[e.Actor]++
	b.saw("turns")
	b.open[e.Actor]++
	return nil
}

// effectful are the tools that have effects.
var effectful = map[string]event.Type{
	"submit_publication": "publication.submitted", "submit_review": "review.submitted", "vote_solution": "vote.cast",
}

func (b *labBooks) answered(e event.Event, call uint64, failed bool) error {
	c := b.calls[call]
	if c == nil || c.agent != e.Actor {
		return fmt.Errorf("call %d has a second result, or is not there, or not of %s", call, e.Actor)
	}
	delete(b.calls, call)
	delete(b.at, c.place)
	b.open[c.agent]--
	if failed {
		b.saw("refused")
	}
	switch want := effectful[c.tool]; {
	case c.blocked && !failed:
		return fmt.Errorf("call %d was blocked, and is said to have gone well", call)
	case failed && c.effect != "":
		return fmt.Errorf("call %d is said to have failed, and had its effect: %s", call, c.effect)
	case !failed && c.effect != want:
		return fmt.Errorf("call %d of %q is said to have gone well, and its effect is %q", call, c.tool, c.effect)
	}
	return nil
}

// effect notes what came of a tool call, which must be open and of that kind.
func (b *labBooks) effect(e event.Event, answer uint64, part int64) error {
	c := b.at[labPlace{answer, part}]
	if c == nil || c.agent != e.Actor || effectful[c.tool] != e.Type || c.effect != "" {
		return fmt.Errorf("the call at part %d of answer %d has a second effect, or one that is not its own", part, answer)
	}
	c.effect, b.did[c.place] = e.Type, e.Type
	return nil
}

// fork leaves open calls to the origin: what was asked for is asked for again, and what
// had its effect is not to have it again.
func (b *labBooks) fork() {
	b.running = false
	for seq, c := range b.calls {
		if b.open[c.agent]--; c.place == (labPlace{}) {
			b.turns[c.agent]--
		} else {
			b.parts[c.place] = c.name
			delete(b.at, c.place)
		}
		delete(b.calls, seq)
	}
	for seq, p := range b.trials {
		if !p.tried {
			p.trial = 0
			delete(b.trials, seq)
		}
	}
}

// best is the published paper with the most votes; ties go to more citations, then to
// the earlier.
func (b *labBooks) best() (best *labPaper) {
	votes := map[string]int{}
	for _, ref := range b.votes {
		votes[ref]++
	}
	for _, ref := range b.refs {
		p := b.papers[ref]
		if p.status != event.Published {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(votes[ref], votes[best.ref]), cmp.Compare(p.cited, best.cited), cmp.Compare(p.shown, best.shown),
			cmp.Compare(p.accepts-p.rejects, best.accepts-best.rejects)) > 0 {
			best = p
		}
	}
	return best
}

func (b *labBooks) finished(e event.Event, x *event.QuestFinished) error {
	if p := b.best(); p == nil || e.Actor != p.author || !strings.Contains(x.Answer.Text, p.ref) {
		return fmt.Errorf("the answer is not the best paper, %+v", p)
	}
	return nil
}

// end checks what must hold when the lab is over, and the state against the books.
func (b *labBooks) end(s *quest.State) error {
	for seq, c := range b.calls {
		return fmt.Errorf("call %d of %s has no result", seq, c.agent)
	}
	votes := map[string]int64{}
	for _, ref := range b.votes {
		votes[ref]++
	}
	if !maps.Equal(b.votes, lab.Library(s).Votes) || len(lab.Library(s).Papers) != len(b.refs) {
		return fmt.Errorf("the votes are %v, or not %d papers: %d", lab.Library(s).Votes, len(b.refs), len(lab.Library(s).Papers))
	}
	for _, p := range b.papers {
		x := lab.Library(s).Paper(p.ref)
		if p.status == event.Submitted || p.waits() {
			return fmt.Errorf("%s is %s at the end, its requests %+v", p.ref, p.status, p.requests)
		}
		if x == nil || x.Status != p.status || x.Votes != votes[p.ref] || x.Cited != p.cited || len(x.Reviews) != len(p.reviews) {
			return fmt.Errorf("paper %+v should have %d votes, %d citations, status %s", x, votes[p.ref], p.cited, p.status)
		}
	}
	for _, name := range b.agents {
		if len(b.asked[name]) > 0 {
			return fmt.Errorf("%s is still asked to review %v", name, b.asked[name])
		}
	}
	return nil
}
