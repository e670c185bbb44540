package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// labBooks keep account of a lab from its events alone, in their own plain way: they
// know nothing of the library that the rules use. The first event that a lab must not
// have is an error.
type labBooks struct {
	lab    *event.LabSpec
	report *LabSimReport
	// running says whether the quest runs: what is due is done then.
	running bool

	// parts are the tool calls that models have asked for and that were not made yet;
	// calls are those without a result, at the same by their places.
	parts map[labPlace]string
	calls map[uint64]*labCall
	at    map[labPlace]*labCall
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
	place       labPlace
	blocked     bool
	prepared    bool
	effect      event.Type
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

func newLabBooks(lab *event.LabSpec, agents int64, report *LabSimReport) *labBooks {
	b := &labBooks{
		lab: lab, report: report, parts: map[labPlace]string{}, calls: map[uint64]*labCall{}, at: map[labPlace]*labCall{},
		open: map[string]int{}, turns: map[string]int64{}, parked: map[string]bool{}, held: map[string]bool{}, papers: map[string]*labPaper{}, trials: map[uint64]*labPaper{}, asked: map[string][]string{},
		rejected: map[string][]string{}, votes: map[string]string{}, told: map[string][]labAdvice{}, seen: map[string]int64{},
	}
	for i := range agents {
		b.agents = append(b.agents, fmt.Sprint("agent-", i))
	}
	return b
}

// count takes an event into the books.
func (b *labBooks) count(e event.Event) error {
	switch x := e.Body.(type) {
	case *event.QuestStarted, *event.QuestResumed:
		b.running = true
		clear(b.parked)
		clear(b.held)
	case *event.UserMessage:
		delete(b.parked, x.To)
		delete(b.held, x.To)
	case *event.QuestPaused, *event.QuestStopped:
		b.running = false
	case *event.BudgetExceeded:
		b.running = false
		b.report.Budgets++
	case *event.QuestFailed:
		b.running = false
		b.report.Failed++
	case *event.QuestFinished:
		b.running = false
		b.report.Finished++
		return b.finished(e, x)
	case *event.ModelCall, *event.ModelResult, *event.ToolCall, *event.PolicyBlocked, *event.ToolPrepared, *event.ToolAnswered, *event.ToolResult:
		return b.countCall(e)
	case *event.MessageSent:
		delete(b.parked, x.To)
		return b.blind(x.Text.Text)
	case *event.AgentParked:
		b.parked[e.Actor] = true
		b.report.Parked++
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
	case *event.ModelCall:
		b.calls[e.Seq] = &labCall{agent: e.Actor}
		for _, ref := range b.asked[e.Actor] {
			if r := b.papers[ref].requests[e.Actor]; b.turns[e.Actor] >= r.deadline {
				return fmt.Errorf("%s begins another turn, and was to review %s by turn %d", e.Actor, ref, r.deadline)
			}
		}
		b.turns[e.Actor]++
		b.report.Turns++
		b.open[e.Actor]++
		b.asks = append(b.asks, e)
	case *event.ModelResult:
		for i, p := range x.Parts {
			if p.Kind == event.PartToolCall {
				b.parts[labPlace{e.Seq, int64(i)}] = p.Name
			}
		}
		return b.answered(e, x.Call, false)
	case *event.ToolCall:
		at := labPlace{x.Answer, x.Part}
		name, ok := b.parts[at]
		if !ok || e.Tool != "" && e.Tool != name {
			return fmt.Errorf("nobody asked for this call, or it is called already")
		}
		delete(b.parts, at)
		if e.Tool == "submit_publication" && len(b.asked[e.Actor]) > 0 {
			return fmt.Errorf("%s publishes, and is asked to review %v", e.Actor, b.asked[e.Actor])
		}
		b.calls[e.Seq] = &labCall{agent: e.Actor, tool: e.Tool, place: at}
		b.at[at] = b.calls[e.Seq]
		b.open[e.Actor]++
	case *event.PolicyBlocked:
		b.report.Blocked++
		b.held[e.Actor] = b.held[e.Actor] || x.Proposal == "model.call"
		if x.Proposal == "tool.call" {
			at := labPlace{x.Answer, x.Part}
			delete(b.parts, at)
			b.calls[e.Seq] = &labCall{agent: e.Actor, place: at, blocked: true}
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
		b.report.Refused++
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
	c.effect = e.Type
	return nil
}

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
		p.trial, b.trials[e.Seq] = e.Seq, p
	case *event.ReproductionResult:
		b.report.Reproductions++
		p := b.trials[x.Call]
		if p == nil || p.tried {
			return fmt.Errorf("no paper waits for call %d", x.Call)
		}
		p.tried = true
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
		b.report.Revisions++
	}
	b.papers[x.Ref] = p
	b.refs = append(b.refs, x.Ref)
	b.touched = append(b.touched, p)
	b.report.Papers++
	return b.effect(e, x.Answer, x.Part)
}

// requested checks who is asked: never the author, nobody twice, no more than the lab
// wants, first who reviewed what is revised, and else one of the least loaded. Of who
// might not be able to, nothing is said: only who is at work counts as able.
func (b *labBooks) requested(x *event.ReviewRequested) error {
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
	b.report.Expired++
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
	b.report.Reviews++
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
		b.report.Published++
		return nil
	}
	b.rejected[p.author] = append(b.rejected[p.author], p.ref)
	b.report.Rejected++
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
	b.report.Cited += int64(len(to))
	b.report.SelfCited += int64(len(self))
	return nil
}

func (b *labBooks) voted(e event.Event, x *event.VoteCast) error {
	if p := b.papers[x.Ref]; x.Ref != "" && (p == nil || p.status != event.Published) {
		return fmt.Errorf("a vote for %s, which is not published", x.Ref)
	}
	if b.votes[e.Actor] = x.Ref; x.Ref == "" {
		delete(b.votes, e.Actor)
	}
	b.report.Votes++
	return b.effect(e, x.Answer, x.Part)
}

// advised checks that each is told once what concerns it, and none what does not.
func (b *labBooks) advised(e event.Event, x *event.AdvisorySent) error {
	p, err := b.paper(x.Ref)
	if err != nil {
		return err
	}
	if err := b.blind(x.Text.Text); err != nil {
		return err
	}
	to := x.To
	if len(to) == 0 {
		to = slices.DeleteFunc(slices.Clone(b.agents), func(name string) bool { return name == x.Except })
	}
	for _, name := range to {
		if x.Kind != event.AdviseExpired {
			delete(b.parked, name)
		}
		b.told[name] = append(b.told[name], labAdvice{e.Seq, x.Text.Text})
		r := p.requests[name]
		ok := false
		switch x.Kind {
		case event.AdviseRequested:
			if ok = r != nil && r.state == "open" && !r.told; ok {
				r.told = true
			}
		case event.AdviseExpired:
			if ok = r != nil && r.state == "expired" && !r.closed; ok {
				r.closed = true
			}
		case event.AdviseReceived:
			p.received++
			ok = name == p.author && p.received <= int64(len(p.reviews)) && len(to) == 1
		case event.AdviseDecided:
			ok = name == p.author && p.status != event.Submitted && !p.decided && len(to) == 1
			p.decided = true
		case event.AdviseAnnounced:
			ok = name != p.author && p.status == event.Published && x.Except == p.author && !p.announced
		}
		if !ok {
			return fmt.Errorf("%s is told that %s is %s, wrongly or a second time", name, x.Ref, x.Kind)
		}
	}
	b.report.Advisories++
	p.announced = p.announced || x.Kind == event.AdviseAnnounced
	return nil
}

// blind refuses a text that quotes a review: reviews come with the paper's folder, and
// there once it is decided.
func (b *labBooks) blind(text string) error {
	if strings.Contains(text, secretReview) {
		return fmt.Errorf("it quotes a review: %.200q", text)
	}
	return nil
}

// delivered checks the folder that an agent gets: without reviews until the paper is
// decided, and with all of them after.
func (b *labBooks) delivered(d *quest.Delivery) {
	b.report.Delivered++
	p := b.papers[strings.TrimPrefix(d.Path, "publications/")]
	reviews := 0
	for _, t := range d.Texts {
		if t.Name == "revised-reviews.md" {
			continue
		}
		for _, part := range t.Parts {
			reviews += strings.Count(part.Text, secretReview)
		}
	}
	want := len(p.reviews)
	if p.status == event.Submitted {
		want = 0
	}
	if reviews != want {
		b.fault = fmt.Errorf("the folder of %s, which is %s, has %d reviews of %d", p.ref, p.status, reviews, len(p.reviews))
	}
}

// batch checks what must be done when an input and all it led to are in: what can be
// decided is, citations are counted with the decision, everybody is told, and whoever
// takes another's place is asked.
func (b *labBooks) batch() error {
	touched := b.touched
	if !b.running || b.fault != nil {
		return b.fault // what is due is done when the quest goes on
	}
	b.touched = nil
	for _, p := range touched {
		var left string
		switch {
		case p.instead != "":
			left = p.instead + " is to be asked"
		case p.status == event.Submitted && !p.waits():
			left = "it can be decided"
		case p.entrypoint && p.trial == 0:
			left = "it is to be run"
		case p.status == event.Published && !p.counted && len(p.cites) > 0:
			left = "its citations are to be counted"
		case p.received < int64(len(p.reviews)) || p.status != event.Submitted && !p.decided || p.status == event.Published && !p.announced && len(b.agents) > 1:
			left = "somebody is to be told of it"
		}
		for name, r := range p.requests {
			if r.state == "open" && !r.told || r.state == "expired" && !r.closed {
				left = name + " is to be told"
			}
		}
		if left != "" {
			return fmt.Errorf("paper %s is %s, and %s", p.ref, p.status, left)
		}
	}
	return nil
}

// shown checks that each advisory comes to its agent once: with the next turn, after
// the results of the last one's tools.
func (b *labBooks) shown(s *quest.State) error {
	asks := b.asks
	b.asks = nil
	for _, e := range asks {
		call := e.Body.(*event.ModelCall)
		a := s.Agent(e.Actor)
		due := b.told[e.Actor]
		late := slices.IndexFunc(due, func(x labAdvice) bool { return x.seq > e.Seq })
		if late < 0 {
			late = len(due)
		}
		want := map[string]int{}
		for _, x := range due[:late] {
			want[x.text]++
		}
		b.told[e.Actor] = due[late:]
		from := b.seen[e.Actor]
		b.seen[e.Actor] = call.Last + 1
		for i := max(from, a.Transcript.First); i <= call.Last; i++ {
			results := false
			for j, part := range a.Transcript.Messages[i-a.Transcript.First].Parts {
				results = results || part.ID != ""
				if !strings.HasPrefix(part.Text.Text, "Advisory (") {
					continue
				}
				if want[part.Text.Text]--; want[part.Text.Text] < 0 || results && j == 0 {
					return fmt.Errorf("%s is shown at %d what it was shown before, or not told: %q", e.Actor, e.Seq, part.Text.Text)
				}
			}
		}
		for text, n := range want {
			if n != 0 && a.Transcript.First <= from {
				return fmt.Errorf("%s is not shown at %d what it was told: %q", e.Actor, e.Seq, text)
			}
		}
	}
	return nil
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
		if best == nil || votes[ref] > votes[best.ref] || votes[ref] == votes[best.ref] && p.cited > best.cited {
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
	if !maps.Equal(b.votes, s.Papers.Votes) || len(s.Papers.Papers) != len(b.refs) {
		return fmt.Errorf("the votes are %v, or not %d papers: %d", s.Papers.Votes, len(b.refs), len(s.Papers.Papers))
	}
	for _, p := range b.papers {
		x := s.Papers.Paper(p.ref)
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

// sameState reports where two states differ, which should not.
func sameState(a, b *quest.State) error {
	x, err := a.Encode()
	if err != nil {
		return err
	}
	y, err := b.Encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return errors.New("the live state is not the fold of the ledger")
	}
	return nil
}
