package runtimetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
)

// netBooks keep account of a contract net from its events alone, in their own plain way:
// they know nothing of what the rules know. The first event that a net must not have is
// an error.
type netBooks struct {
	made *event.QuestCreated
	// thinks and coder say that there is a model, and who writes programs with it.
	thinks, coder bool
	saw           func(string)

	tasks  []*netTask
	byName map[string]*netTask
	// calls are the questions to the world that have no answer.
	calls map[uint64]*netTask
	// plans are the tool calls that plans were made with, messages all that can be answered.
	plans    map[labPlace]bool
	messages map[uint64]bool
	// said are the beliefs and desires that the planner has uttered.
	said map[string]int

	sources []netSource
	claims  []*netClaim
	attacks map[[2]int64]bool
	doubts  []*netDoubt
	round   int64
	weighed *event.ArgumentsWeighed
	ends    int
}

type netTask struct {
	event.PlanStep
	place labPlace
	cfp   uint64
	to    []string
	bids  []*netBid
	// award is the one that holds, worker who has it, told whether it knows.
	award  uint64
	worker string
	told   bool
	// call is open if it is not 0; answered says that one was, found is what it brought.
	call     uint64
	answered bool
	found    []int64
	tries    int
	verdict  bool
	done     bool
}

type netBid struct {
	worker  string
	seq     uint64
	score   int64
	awarded bool
	failed  bool
}

type netSource struct {
	doc       string
	paragraph int64
	hash      event.Hash
	text      string
	computed  bool
}

type netClaim struct {
	*event.ClaimMade
	by        string
	sources   []int64
	retracted bool
}

type netDoubt struct {
	*event.ChallengeRaised
	state string
	audit *netTask
}

func newNetBooks() *netBooks {
	return &netBooks{
		byName: map[string]*netTask{}, calls: map[uint64]*netTask{}, plans: map[labPlace]bool{}, messages: map[uint64]bool{}, said: map[string]int{},
		attacks: map[[2]int64]bool{},
	}
}

// count takes an event into the books.
func (n *netBooks) count(w *World, e event.Event) error {
	n.saw = w.Saw
	if event.Performative(e.Body) != "" {
		n.messages[e.Seq] = true
	}
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		n.made = x
		for _, a := range x.Agents {
			n.thinks, n.coder = n.thinks || a.Model != "", n.coder || a.Name == contract.Coder
		}
	case *event.QuestForked:
		n.fork()
	case *event.BeliefUpdated:
		return n.once(e, "belief "+x.Belief)
	case *event.DesireSet:
		return n.once(e, "desire "+x.Desire)
	case *event.PlanMade:
		return n.planned(e, x)
	case *event.CfpIssued, *event.BidSubmitted, *event.ContractAwarded, *event.TaskCompleted, *event.TaskFailed:
		return n.tendered(e)
	case *event.SearchCall, *event.ComputeCall, *event.SearchResult, *event.ComputeResult:
		return n.worked(e)
	case *event.MessageSent:
		return n.message(e, x)
	case *event.QuestFinished:
		return n.finished(e, x)
	case *event.QuestFailed:
		if !unprepared(x.Reason) {
			return fmt.Errorf("a contract net has no reason to fail: %s", x.Reason)
		}
	default:
		return n.argued(e)
	}
	return nil
}

func (n *netBooks) once(e event.Event, what string) error {
	if n.said[what]++; n.said[what] > 1 || e.Actor != contract.Planner {
		return fmt.Errorf("%s is uttered %d times, or not by the planner", what, n.said[what])
	}
	return nil
}

// fork leaves questions to the origin: they are asked again.
func (n *netBooks) fork() {
	for seq, t := range n.calls {
		t.call = 0
		t.tries--
		delete(n.calls, seq)
	}
}

// planned checks that parts of a plan have names of their own, and that no tool call makes
// two plans.
func (n *netBooks) planned(e event.Event, x *event.PlanMade) error {
	at := labPlace{x.Answer, x.Part}
	if x.Answer != 0 && n.plans[at] || e.Actor != contract.Planner || len(x.Steps) == 0 {
		return fmt.Errorf("the tool call at part %d of answer %d makes a second plan, or it has no steps, or is not the planner's", x.Part, x.Answer)
	}
	n.plans[at] = true
	for _, step := range x.Steps {
		if n.byName[step.Task] != nil || !slices.Contains([]string{"research", "compute", "audit", "wait"}, step.Kind) {
			return fmt.Errorf("two parts of the plan are called %s, or it is none: %s", step.Task, step.Kind)
		}
		t := &netTask{PlanStep: step, place: at}
		n.tasks = append(n.tasks, t)
		n.byName[step.Task] = t
	}
	n.saw("plans")
	return nil
}

// able are the workers that could do a part, by what the quest was made with.
func (n *netBooks) able(t *netTask) (out []string) {
	pinned := slices.ContainsFunc(n.made.Pins, func(p event.Pin) bool { return p.Name == "program:"+t.Text })
	switch {
	case t.Kind == "research":
		out = append(out, contract.Lexical)
		if n.made.Contract.Embedder != "" {
			out = append(out, contract.Hybrid)
		}
	case t.Kind == "audit":
		out = append(out, contract.Auditor, contract.Recompute)
	case t.Kind == "compute" && pinned:
		out = append(out, contract.Builtin)
		if n.made.Computer != nil {
			out = append(out, contract.Python)
		}
	}
	if t.Kind == "compute" && n.coder {
		out = append(out, contract.Coder)
	}
	return out
}

// tendered checks the way from a part of the plan to who does it: bids are called for
// once, of those who are able, one part after another; each bids once, by the formula;
// the best that has not failed gets the award, and never twice.
func (n *netBooks) tendered(e event.Event) error {
	switch x := e.Body.(type) {
	case *event.CfpIssued:
		return n.called(e, x)
	case *event.BidSubmitted:
		return n.bid(e, x)
	case *event.ContractAwarded:
		return n.awarded(e, x)
	case *event.TaskCompleted:
		return n.completed(e, x)
	case *event.TaskFailed:
		return n.gaveUp(e, x)
	}
	return nil
}

func (n *netBooks) open(name string) (*netTask, error) {
	t := n.byName[name]
	if t == nil || t.done {
		return nil, fmt.Errorf("there is no part %q of the plan, or it is done", name)
	}
	return t, nil
}

func (n *netBooks) called(e event.Event, x *event.CfpIssued) error {
	t, err := n.open(x.Task)
	if err != nil {
		return err
	}
	for _, before := range n.tasks {
		if before == t {
			break
		}
		if !before.done && before.Kind != "audit" {
			return fmt.Errorf("bids for %s are called for, and %s is not done", t.Task, before.Task)
		}
	}
	able := n.able(t)
	for _, worker := range x.To {
		if !slices.Contains(able, worker) {
			return fmt.Errorf("%s is asked to bid for %s, and those who can are %v", worker, t.Task, able)
		}
	}
	if t.cfp != 0 || len(x.To) == 0 || !slices.IsSorted(x.To) || len(slices.Compact(slices.Clone(x.To))) != len(x.To) || e.Actor != contract.Planner || t.Kind == "wait" {
		return fmt.Errorf("bids for %s are called for a second time, of nobody, or of one twice: %v", t.Task, x.To)
	}
	t.cfp, t.to = e.Seq, x.To
	return nil
}

func (n *netBooks) bid(e event.Event, x *event.BidSubmitted) error {
	t, err := n.open(x.Task)
	if err != nil {
		return err
	}
	if t.cfp != x.Cfp || !slices.Contains(t.to, e.Actor) || slices.ContainsFunc(t.bids, func(b *netBid) bool { return b.worker == e.Actor }) || t.worker != "" {
		return fmt.Errorf("%s bids for %s, for which it was not asked, or has bid", e.Actor, t.Task)
	}
	// 0.4 p + 0.3 cap + 0.15/(1+cost) + 0.15/(1+latency), rounded to the nearest billionth.
	share := func(of int64) int64 { return (2*150_000_000_000 + 1000 + of) / (2 * (1000 + of)) }
	want := 400_000*x.Probability + 300_000*x.Capability + share(x.Cost) + share(x.Latency)
	if x.Score-want > 1 || want-x.Score > 1 || x.Probability < 0 || x.Probability > 1000 || x.Capability < 0 || x.Capability > 1000 {
		return fmt.Errorf("the bid %+v is worth %d", *x, want)
	}
	t.bids = append(t.bids, &netBid{worker: e.Actor, seq: e.Seq, score: x.Score})
	n.saw("bids")
	return nil
}

func (n *netBooks) awarded(e event.Event, x *event.ContractAwarded) error {
	t, err := n.open(x.Task)
	if err != nil {
		return err
	}
	if t.worker != "" || len(t.bids) != len(t.to) || e.Actor != contract.Planner {
		return fmt.Errorf("%s is awarded to %s; %q has it, and %d of %d have bid", t.Task, x.To, t.worker, len(t.bids), len(t.to))
	}
	left := slices.DeleteFunc(slices.Clone(t.bids), func(b *netBid) bool { return b.failed })
	if len(left) == 0 {
		return fmt.Errorf("%s is awarded, and everybody has failed at it", t.Task)
	}
	best := slices.MinFunc(left, func(a, b *netBid) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.worker, b.worker))
	})
	if best.worker != x.To || best.seq != x.Bid || best.score != x.Score || best.awarded {
		return fmt.Errorf("%s is awarded to %s with %d; the best bid is %+v", t.Task, x.To, x.Score, *best)
	}
	if best.awarded = true; len(left) < len(t.bids) {
		n.saw("second bidders")
	}
	t.award, t.worker, t.told, t.answered, t.found, t.tries, t.verdict = e.Seq, x.To, false, false, nil, 0, false
	n.saw("awards")
	return nil
}

func (n *netBooks) completed(e event.Event, x *event.TaskCompleted) error {
	t, err := n.open(x.Task)
	if err != nil {
		return err
	}
	t.done = true
	switch {
	case t.Kind == "wait":
		n.saw("waits")
		if e.Time < t.Until {
			return fmt.Errorf("%s is over at %s, and was to wait until %s", t.Task, e.Time, t.Until)
		}
	case t.award == 0 || t.award != x.Award || t.worker != e.Actor || !t.told || t.call != 0:
		return fmt.Errorf("%s completes %s, which %q has, or has not heard of, or which waits for call %d", e.Actor, t.Task, t.worker, t.call)
	case t.Kind == "audit" && !t.verdict:
		return fmt.Errorf("%s is over without a verdict", t.Task)
	case t.Kind != "audit" && (len(t.found) == 0 || !slices.Equal(t.found, x.Sources)):
		return fmt.Errorf("%s is said to have brought %v, and brought %v", t.Task, x.Sources, t.found)
	}
	n.saw("tasks completed")
	return nil
}

func (n *netBooks) gaveUp(e event.Event, x *event.TaskFailed) error {
	t, err := n.open(x.Task)
	if err != nil {
		return err
	}
	n.saw("tasks failed")
	if x.Reason == "" {
		return fmt.Errorf("%s failed, and nobody says why", t.Task)
	}
	if x.Award == 0 {
		t.done = true
		if t.worker != "" || t.cfp != 0 || len(n.able(t)) > 0 && t.Text != "" && !n.coder {
			return fmt.Errorf("nobody is said to be able to do %s, and %v are", t.Task, n.able(t))
		}
		return nil
	}
	if t.award != x.Award || t.worker != e.Actor || t.Kind == "audit" || t.call != 0 {
		return fmt.Errorf("%s gives up %s, which %q has, or which waits for call %d", e.Actor, t.Task, t.worker, t.call)
	}
	left := 0
	for _, b := range t.bids {
		if b.failed = b.failed || b.worker == e.Actor; !b.failed {
			left++
		}
	}
	t.award, t.worker, t.told = 0, "", false
	t.done = left == 0
	return nil
}

// worked checks that only who has a contract, and has said so, asks the world, one
// question at a time, and that what comes back has its number.
func (n *netBooks) worked(e event.Event) error {
	switch x := e.Body.(type) {
	case *event.SearchCall:
		method := map[string]string{contract.Lexical: "lexical", contract.Hybrid: "hybrid"}[e.Actor]
		if t := n.byName[x.Task]; t != nil && (t.Kind != "research" || x.Method != method || x.Query != t.Text || x.Limit != t.Limit) {
			return fmt.Errorf("%s searches by %s for %s: %+v", e.Actor, x.Method, t.Task, *x)
		}
		return n.asks(e, x.Task)
	case *event.ComputeCall:
		engine := map[string]string{contract.Builtin: "builtin", contract.Python: "python", contract.Coder: "python"}[e.Actor]
		code := event.RefOf([]byte(x.Program))
		if t := n.byName[x.Task]; t != nil && (t.Kind != "compute" || x.Engine != engine || e.Actor != contract.Coder && (x.Program != t.Text || x.Code == nil || *x.Code != code)) {
			return fmt.Errorf("%s computes by %s for %s: %+v", e.Actor, x.Engine, t.Task, *x)
		}
		if (e.Actor == contract.Coder) != (x.Tree != nil) || (e.Actor == contract.Coder) != (x.Answer != 0) {
			return fmt.Errorf("%s runs a program that is not its own, or was not asked for by a tool", e.Actor)
		}
		return n.asks(e, x.Task)
	case *event.SearchResult:
		t := n.calls[x.Call]
		if t == nil {
			return fmt.Errorf("nobody waits for call %d", x.Call)
		}
		n.got(t, x.Call)
		for _, a := range x.Anchors {
			n.anchor(t, a)
		}
	case *event.ComputeResult:
		t := n.calls[x.Call]
		if t == nil {
			return fmt.Errorf("nobody waits for call %d", x.Call)
		}
		if n.got(t, x.Call); x.Error == "" {
			n.sources = append(n.sources, netSource{text: x.Output.Text, computed: true})
			t.found = []int64{int64(len(n.sources))}
		}
	}
	return nil
}

func (n *netBooks) asks(e event.Event, name string) error {
	t, err := n.open(name)
	if err != nil {
		return err
	}
	again := t.answered && len(t.found) == 0 && e.Actor == contract.Coder
	if t.worker != e.Actor || !t.told || t.call != 0 || t.answered && !again {
		return fmt.Errorf("%s asks the world for %s, which %q has, with call %d open, answered %v", e.Actor, name, t.worker, t.call, t.answered)
	}
	if t.tries++; t.tries > 5 {
		return fmt.Errorf("%s tries %s for the %dth time", e.Actor, name, t.tries)
	}
	t.call, t.answered = e.Seq, false
	n.calls[e.Seq] = t
	n.saw("questions to the world")
	return nil
}

func (n *netBooks) got(t *netTask, call uint64) {
	delete(n.calls, call)
	t.call, t.answered, t.found = 0, true, nil
}

// anchor gives a paragraph its number. One that is known keeps its own.
func (n *netBooks) anchor(t *netTask, a event.Anchor) {
	i := slices.IndexFunc(n.sources, func(s netSource) bool {
		return !s.computed && s.doc == a.Doc && s.paragraph == a.Paragraph && s.hash == a.Hash
	})
	if i < 0 {
		i = len(n.sources)
		n.sources = append(n.sources, netSource{doc: a.Doc, paragraph: a.Paragraph, hash: a.Hash, text: a.Snippet})
	}
	t.found = append(t.found, int64(i)+1)
}

// message checks that a reply names a message, and notes what workers have said of their
// contracts.
func (n *netBooks) message(e event.Event, x *event.MessageSent) error {
	if x.Performative == "" {
		return nil
	}
	if !slices.Contains(event.Performatives, x.Performative) || x.Reply != 0 && x.Answer == 0 && !n.messages[x.Reply] {
		return fmt.Errorf("a message is %q, or answers event %d, which is none", x.Performative, x.Reply)
	}
	if needs := []string{event.Confirm, event.Disconfirm, event.Commit, event.Justify, event.Bid, event.Award}; slices.Contains(needs, x.Performative) && !n.messages[x.Reply] {
		return fmt.Errorf("%s answers nothing: %d", x.Performative, x.Reply)
	}
	for _, t := range n.tasks {
		if t.award == 0 || x.Reply != t.award {
			continue
		}
		switch {
		case x.Performative == event.Commit && e.Actor == t.worker, x.Performative == event.Request && e.Actor == contract.Planner && t.worker == contract.Coder:
			t.told = true
		case t.Kind == "audit" && e.Actor == t.worker && (x.Performative == event.Confirm || x.Performative == event.Disconfirm):
			// Of two drafts that were handed in at once, the first one's audit counts older
			// challenges too.
			t.verdict = true
			if only := t == n.lastAudit(); only && (x.Performative == event.Confirm) != (n.openDoubts(t) == 0) {
				return fmt.Errorf("the verdict is %s, and %d challenges are open", x.Performative, n.openDoubts(t))
			}
		}
	}
	return nil
}

// watch holds what the rules know against the books.
func (n *netBooks) watch(s *quest.State) error {
	net := contract.Net(s)
	if len(net.Tasks) != len(n.tasks) || len(net.Sources) != len(n.sources) || len(net.Claims) != len(n.claims) || len(net.Doubts) != len(n.doubts) || net.Round != n.round {
		return fmt.Errorf("the net has %d parts, %d sources, %d claims, %d challenges in round %d, and the books have %d, %d, %d, %d in %d",
			len(net.Tasks), len(net.Sources), len(net.Claims), len(net.Doubts), net.Round, len(n.tasks), len(n.sources), len(n.claims), len(n.doubts), n.round)
	}
	for i, t := range n.tasks {
		if x := net.Tasks[i]; x.Task != t.Task || x.Worker != t.worker || x.Award != t.award || x.Done != t.done || x.Open != (t.call != 0) {
			return fmt.Errorf("part %+v of the net is by the books %+v", *x, *t)
		}
	}
	for i, src := range n.sources {
		if x := &net.Sources[i]; x.Text() != src.text || x.Number != int64(i)+1 {
			return fmt.Errorf("source %d of the net is %q, and should be %q", i+1, x.Text(), src.text)
		}
	}
	for i, c := range n.claims {
		if x := &net.Claims[i]; (x.Retracted != "") != c.retracted || !slices.Equal(x.Sources, c.sources) {
			return fmt.Errorf("claim %+v of the net rests by the books on %v, and is taken back: %v", *x, c.sources, c.retracted)
		}
	}
	return nil
}

// unprepared reports whether a quest has failed before anybody did anything.
func unprepared(reason string) bool { return strings.HasPrefix(reason, "prepare: ") }

// end checks what must hold when the net is over.
func (n *netBooks) end(s *quest.State) error {
	if s.Status == quest.Failed && unprepared(s.Reason) {
		return nil
	}
	if s.Status != quest.Finished || n.ends == 0 {
		return fmt.Errorf("the net is %s (%s), and has ended %d times", s.Status, s.Reason, n.ends)
	}
	for _, t := range n.tasks {
		if !t.done || t.call != 0 {
			return fmt.Errorf("%s is not done at the end, or waits for call %d", t.Task, t.call)
		}
	}
	n.saw("audits " + n.made.Contract.Audit)
	switch {
	case n.coder:
		n.saw("with a coder")
	case n.thinks:
		n.saw("with a model")
	default:
		n.saw("by rules alone")
	}
	if strings.TrimSpace(s.Answer.Text) == "" {
		return fmt.Errorf("the answer is empty")
	}
	return nil
}
