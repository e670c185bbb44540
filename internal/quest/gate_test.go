package quest_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/solo"

	"github.com/google/go-cmp/cmp"
)

// guarded is solo with threads of its own at the gate.
type guarded struct {
	solo.Society
	threads func() []behavior.Thread
}

func (g guarded) Policies() []behavior.Thread {
	if g.threads == nil {
		return nil
	}
	return g.threads()
}

// story plays inputs against the rules, and checks after each that the state is
// the fold of what was recorded, and that a saved state goes on in the same way.
type story struct {
	t       *testing.T
	society quest.Society
	state   *quest.State
	events  []event.Event
	now     event.Time
}

func tell(t *testing.T, policies string, limits event.Limits, threads func() []behavior.Thread) *story {
	t.Helper()
	chosen, err := policy.ParseFile("policies.yaml", []byte(policies))
	must(t, err)
	all, err := policy.Complete(chosen)
	must(t, err)
	ref := event.RefOf([]byte("pinned"))
	s := &story{t: t, society: guarded{threads: threads}}
	e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Actor: "person", Body: &event.QuestCreated{
		Name: "q", Rules: "solo/4", Problem: event.Text{Text: "?"}, Spec: ref, Limits: limits, Policies: all,
		Agents: []event.AgentSpec{{Name: "agent-0", Model: "m", System: ref, Tools: ref, ToolNames: []string{"look", "write"}, Window: 200_000}},
		Tools:  []event.ToolTraits{{Name: "look", Paths: []string{"path"}, Reads: true}, {Name: "write", Parallel: true, Paths: []string{"path"}}},
	}})
	must(t, err)
	s.state, err = quest.New(e, []quest.Society{s.society})
	must(t, err)
	s.record(e)
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *story) record(e event.Event) {
	s.state.Apply(e)
	s.events = append(s.events, e)
}

// take feeds one input and returns what followed.
func (s *story) take(actor string, b event.Body) []string {
	s.t.Helper()
	must(s.t, s.state.Check(actor, b))
	s.now += 1000
	queue := []event.Draft{{Time: s.now, Actor: actor, Body: b}}
	var out []string
	for i := 0; len(queue) > 0; i++ {
		if i > 200 {
			s.t.Fatalf("it never ends: %q", out[len(out)-5:])
		}
		e, err := event.Seal("q", s.state.Seq+1, s.state.Hash, queue[0])
		must(s.t, err)
		s.record(e)
		if i > 0 {
			out = append(out, brief(e))
		}
		queue = append(queue[1:], quest.Decide(s.state, e)...)
	}
	s.sound()
	return out
}

// sound checks that folding and restoring give the state there is.
func (s *story) sound() {
	s.t.Helper()
	want, err := s.state.Encode()
	must(s.t, err)
	folded := s.foldTo(len(s.events))
	got, err := folded.Encode()
	must(s.t, err)
	if !bytes.Equal(got, want) {
		s.t.Fatalf("the fold differs: %s", cmp.Diff(string(want), string(got)))
	}
	back, err := quest.Decode(want, []quest.Society{s.society})
	must(s.t, err)
	if got, err = back.Encode(); err != nil || !bytes.Equal(got, want) {
		s.t.Fatalf("what was saved comes back as another: %v %s", err, cmp.Diff(string(want), string(got)))
	}
	if diff := cmp.Diff(s.state.Explain(), back.Explain()); diff != "" {
		s.t.Fatalf("a restored gate stands elsewhere: %s", diff)
	}
	s.state = back // and goes on from there
}

func (s *story) foldTo(n int) *quest.State {
	s.t.Helper()
	folded, err := quest.New(s.events[0], []quest.Society{s.society})
	must(s.t, err)
	for _, e := range s.events[:n] {
		must(s.t, folded.Fold(e))
	}
	return folded
}

func brief(e event.Event) string {
	switch b := e.Body.(type) {
	case *event.ModelCall:
		return fmt.Sprintf("ask %d", b.Turn)
	case *event.ToolCall:
		return "use " + e.Tool
	case *event.ToolAnswered:
		return "answer: " + b.Output.Text
	case *event.MessageSent:
		return "say: " + b.Text.Text
	case *event.PolicyBlocked:
		var by []string
		for _, x := range b.By {
			by = append(by, x.Policy)
		}
		return fmt.Sprintf("block %s by %s", b.Proposal, strings.Join(by, ", "))
	case *event.PolicyFailed:
		return fmt.Sprintf("broken %s: %s", b.Policy, b.Reason)
	case *event.QuestFailed:
		return "failed: " + b.Reason
	case *event.QuestFinished:
		return "finished: " + b.Answer.Text
	case *event.BudgetExceeded:
		return "exceeded " + b.Limit
	}
	return string(e.Type)
}

func (s *story) open(kind event.Type) (out []uint64) {
	for seq, c := range s.state.Calls {
		if c.Kind == kind {
			out = append(out, seq)
		}
	}
	slices.Sort(out)
	return out
}

func (s *story) start() []string {
	s.t.Helper()
	return s.take("person", &event.QuestStarted{})
}

// says answers the open model call with text.
func (s *story) says(text string) []string {
	s.t.Helper()
	return s.take("agent-0", &event.ModelResult{Call: s.open("model.call")[0], Stop: model.StopEnd, Cost: 10,
		Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: text}}}, Usage: event.Usage{Input: 5, Output: 5}})
}

// calls answers the open model call with tool calls, written tool{args}.
func (s *story) calls(list ...string) []string {
	s.t.Helper()
	r := &event.ModelResult{Call: s.open("model.call")[0], Stop: model.StopTools, Cost: 10}
	for i, c := range list {
		name, args, _ := strings.Cut(c, "{")
		r.Parts = append(r.Parts, event.Part{Kind: event.PartToolCall, ID: fmt.Sprint(i), Name: name, Args: &event.Text{Text: "{" + args}})
	}
	return s.take("agent-0", r)
}

// gives answers an open tool call.
func (s *story) gives(i int, text string, failed bool) []string {
	s.t.Helper()
	return s.take("agent-0", &event.ToolResult{Call: s.open("tool.call")[i], Output: event.Text{Text: text}, Error: failed})
}

func (s *story) expect(got []string, want ...string) {
	s.t.Helper()
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Fatalf("want -, got +\n%s", diff)
	}
}

func TestARefusedToolCallComesBackAsAnErrorAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	s := tell(t, "[{use: no-touch, paths: [secret]}]", event.Limits{}, nil)
	s.expect(s.start(), "ask 1")
	s.expect(s.calls(`look{"path":"a"}`, `write{"path":"x/../secret/y"}`, `look{"path":"b"}`), "use look")
	s.expect(s.gives(0, "a", false), "block tool.call by no-touch",
		"answer: Refused by the policy no-touch: secret must not be touched. Leave it as it is, and work elsewhere.", "use look")
	s.expect(s.gives(0, "b", false), "ask 2")
	msgs := s.state.Agents[0].Transcript.Messages
	last := msgs[len(msgs)-1]
	if len(last.Parts) != 3 || !last.Parts[1].Error || !strings.Contains(last.Parts[1].Text.Text, "no-touch") {
		t.Errorf("the agent is told %+v", last.Parts)
	}
	if s.state.Spent.Tools != 2 {
		t.Errorf("%d tools were used", s.state.Spent.Tools)
	}
}

func TestEachProposalIsJudgedAfterTheOneBefore(t *testing.T) {
	t.Parallel()
	s := tell(t, "[{use: max-calls, max: 2, tools: [look]}]", event.Limits{}, nil)
	s.start()
	got := s.calls(`look{}`, `look{"n":1}`, `look{"n":2}`)
	s.expect(got, "use look", "use look", "block tool.call by max-calls",
		"answer: Refused by the policy max-calls: You have made all 2 calls of look that this task allows. Answer with what you have.")
}

func TestARefusedAnswerIsToldToTheAgent(t *testing.T) {
	t.Parallel()
	s := tell(t, `
- name: look-first
  steps: [{wait: {type: tool.result, where: {tool: look, error: false}}, block: {type: quest.finished, reason: Look first.}}]`, event.Limits{}, nil)
	s.start()
	s.expect(s.says("41"), "block quest.finished by look-first", "say: Refused by the policy look-first: Look first.", "ask 2")
	s.expect(s.calls(`look{}`), "use look")
	s.expect(s.gives(0, "42", false), "ask 3")
	s.expect(s.says("42"), "finished: 42")
}

// TestAPolicySeesHowACommandEnded: by the outcome of its result, however long that is.
func TestAPolicySeesHowACommandEnded(t *testing.T) {
	t.Parallel()
	s := tell(t, `
- name: tests-pass
  steps: [{wait: {type: tool.result, where: {tool: look, output.exit: 0}}, block: {type: quest.finished, reason: The tests must pass.}}]`, event.Limits{}, nil)
	s.start()
	long := event.Text{Ref: new(event.RefOf([]byte("a long output")))}
	for i, outcome := range []string{"", `{"exit":1}`, `{"exit":0}`} {
		s.expect(s.calls(`look{}`), "use look")
		s.take("agent-0", &event.ToolResult{Call: s.open("tool.call")[0], Output: long, Outcome: outcome})
		got := s.says("done")
		if passed := slices.Contains(got, "finished: done"); passed != (i == 2) {
			t.Errorf("after the outcome %q: got %q", outcome, got)
		}
	}
}

func TestACallThatIsToWaitIsMadeWhenItsTimeHasCome(t *testing.T) {
	t.Parallel()
	s := tell(t, "[{use: one-at-a-time, domains: [a]}]", event.Limits{}, nil)
	s.start()
	s.expect(s.calls(`write{"path":"a/1","parallel":true}`, `write{"path":"a/2","parallel":true}`, `write{"path":"b","parallel":true}`), "use write", "use write")
	s.expect(s.gives(1, "b is written", false))
	s.expect(s.gives(0, "1 is written", false), "use write")
	s.expect(s.gives(0, "2 is written", false), "ask 2")
}

func TestAWaitForNothingIsARefusal(t *testing.T) {
	t.Parallel()
	s := tell(t, "[{name: never, steps: [{block: {type: tool.call, later: true, reason: Later.}}]}]", event.Limits{}, nil)
	s.start()
	s.expect(s.calls(`look{}`), "block tool.call by never", "answer: Refused by the policy never: Later.", "ask 2")
}

func TestRepetitionWarnsThenParksAndAPersonFrees(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{}, nil)
	s.start()
	for turn := 1; turn <= 5; turn++ {
		s.expect(s.calls(`look{"n":1}`), "use look")
		got := s.gives(0, "nothing", false)
		if turn == 3 {
			s.expect(got, "say: You have called look in the same way, with the same result, 3 times, with nothing new in between. Doing it again will not change it: try something else, or answer with what you have.", "ask 4")
			continue
		}
		s.expect(got, fmt.Sprintf("ask %d", turn+1))
	}
	s.calls(`look{"n":1}`)
	s.expect(s.gives(0, "nothing", false), "block model.call by repetition",
		"failed: agent-0 is parked. Refused by the policy repetition: agent-0 has called look in the same way, with the same result, 6 times, with nothing new in between.")
	s.expect(s.take("person", &event.UserMessage{Text: event.Text{Text: "Try the other one."}}))
	s.expect(s.take("person", &event.QuestResumed{}), "ask 7")
}

func TestAgentLimitsParkTheAgent(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]event.Share{
		"turns": {Turns: new(int64(1))}, "cost": {Cost: new(int64(10))}, "tokens": {Tokens: new(int64(10))}, "duration": {Duration: new(int64(5))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := new(int64(1000))
			s := tell(t, "[]", event.Limits{Agent: &share}, nil)
			s.expect(s.start(), "ask 1")
			s.take("agent-0", &event.ModelResult{Call: s.open("model.call")[0], Cost: 10, Duration: 3, Stop: model.StopTools, Usage: event.Usage{Input: 6, Output: 4},
				Parts: []event.Part{{Kind: event.PartToolCall, ID: "1", Name: "look"}}})
			got := s.take("agent-0", &event.ToolResult{Call: s.open("tool.call")[0], Duration: 3, Output: event.Text{Text: "x"}})
			if len(got) != 2 || got[0] != "block model.call by budget" || !strings.Contains(got[1], "agent-0 has used") {
				t.Errorf("got %q", got)
			}
			s.expect(s.take("person", &event.QuestResumed{Limits: event.Limits{Agent: &event.Share{Turns: more, Cost: more, Tokens: more, Duration: more}}}), "ask 2")
		})
	}
}

// faulty are threads that go wrong in every way that the gate must hold out.
var faulty = map[string]struct {
	thread behavior.Thread
	want   []string
}{
	"OneThatPanicsWhenItIsAsked": {behavior.Thread{Start: func() behavior.Behavior {
		return machine{bids: behavior.Bids{Block: []behavior.Ban{{Match: broken{on: "tool.call"}}}}}
	}}, []string{"broken bad: out of order", "block tool.call by bad", "answer: Refused by the policy bad: the policy bad broke down (out of order) and lets nothing pass any more",
		"block model.call by bad", "failed: agent-0 is parked. Refused by the policy bad: the policy bad broke down (out of order) and lets nothing pass any more"}},
	"OneThatPanicsWhenItHears": {behavior.Thread{Scope: behavior.Of("tool.call"), Start: func() behavior.Behavior {
		return machine{bids: behavior.Bids{Wait: behavior.Of("model.result")}, next: func() { panic("deaf") }}
	}}, []string{"broken bad: deaf", "block tool.call by bad", "answer: Refused by the policy bad: the policy bad broke down (deaf) and lets nothing pass any more", "ask 2"}},
	"OneThatPanicsWhenItWaits": {behavior.Thread{Scope: behavior.Of("tool.call"), Start: func() behavior.Behavior {
		return machine{bids: behavior.Bids{Wait: broken{on: "tool.call"}}}
	}}, []string{"broken bad: out of order", "block tool.call by bad", "answer: Refused by the policy bad: the policy bad broke down (out of order) and lets nothing pass any more", "ask 2"}},
	"OneThatAsksForMessagesForEver": {behavior.Thread{Scope: behavior.Of("quest.finished"), Repeat: true, Start: func() behavior.Behavior {
		return machine{bids: behavior.Bids{Request: []behavior.Event{{Type: "message.sent", Detail: &policy.Facts{Text: "Hurry."}}}}}
	}}, nil},
	"OneThatBlocksEverything": {behavior.Thread{Start: func() behavior.Behavior {
		return machine{bids: behavior.Bids{Block: []behavior.Ban{{Match: behavior.Of("*"), Reason: "No."}}}}
	}}, []string{"block model.call by bad", "failed: agent-0 is parked. Refused by the policy bad: No."}},
	"OneThatNeverWaits": {behavior.Thread{Repeat: true, Start: func() behavior.Behavior { return nil }},
		[]string{"broken bad: it repeats, but never waits for anything", "block model.call by bad",
			"failed: agent-0 is parked. Refused by the policy bad: the policy bad broke down (it repeats, but never waits for anything) and lets nothing pass any more"}},
	"OneThatPanicsAtOnce": {behavior.Thread{Start: func() behavior.Behavior { panic("no start") }},
		[]string{"broken bad: no start", "block model.call by bad", "failed: agent-0 is parked. Refused by the policy bad: the policy bad broke down (no start) and lets nothing pass any more"}},
}

// machine is a thread that stands at one point.
type machine struct {
	bids behavior.Bids
	next func()
}

func (m machine) Bids() behavior.Bids { return m.bids }
func (m machine) Next(behavior.Event) bool {
	if m.next != nil {
		m.next()
	}
	return true
}
func (machine) Save() string         { return "" }
func (machine) Restore(string) error { return nil }

// broken is a matcher that panics.
type broken struct{ on string }

func (b broken) Match(e behavior.Event) behavior.Truth {
	if e.Type == b.on {
		panic("out of order")
	}
	return behavior.No
}
func (broken) String() string { return "broken" }

func TestAPolicyThatFailsNeverOpensTheGate(t *testing.T) {
	t.Parallel()
	for name, c := range faulty {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.thread.Name = "bad"
			s := tell(t, "[]", event.Limits{}, func() []behavior.Thread { return []behavior.Thread{c.thread} })
			got := s.start()
			if slices.Equal(got, []string{"ask 1"}) {
				got = s.calls(`look{}`)
			}
			if c.want != nil {
				s.expect(got, c.want...)
				return
			}
			// The nag is cut off after a while, and from then on nothing that it could
			// have blocked passes.
			if n := len(got); n < 3 || got[0] != "say: Hurry." || got[n-2] != "broken bad: it asks for one message after another and never waits" || got[n-1] != "ask 1" {
				t.Fatalf("got %d: %q", len(got), got)
			}
			s.expect(s.says("42")[:1], "block quest.finished by bad")
		})
	}
}

func TestTheGateStandsTheSameAfterAFork(t *testing.T) {
	t.Parallel()
	s := tell(t, "[{use: max-calls, max: 3, tools: [look]}, {use: one-at-a-time, domains: [a]}]", event.Limits{}, nil)
	s.start()
	s.calls(`look{}`, `write{"path":"a"}`, `write{"path":"a/b"}`)
	s.gives(0, "x", false)
	at := len(s.events)
	s.gives(0, "y", false)
	fork := s.foldTo(at)
	fork.Apply(seal(t, fork, &event.QuestForked{At: fork.Seq, From: "q", Hash: fork.Hash, Name: "other"}))
	e := seal(t, fork, &event.QuestResumed{})
	fork.Apply(e)
	// The origin's call in a is the origin's: the fork makes it anew, and the one
	// that waits behind it goes on waiting.
	var got []string
	queue := quest.Decide(fork, e)
	for len(queue) > 0 {
		e, err := event.Seal(fork.Name, fork.Seq+1, fork.Hash, queue[0])
		must(t, err)
		fork.Apply(e)
		got = append(got, brief(e))
		queue = append(queue[1:], quest.Decide(fork, e)...)
	}
	s.expect(got, "use write")
}

func seal(t *testing.T, s *quest.State, b event.Body) event.Event {
	t.Helper()
	name := s.Name
	if f, ok := b.(*event.QuestForked); ok {
		name = f.Name
	}
	e, err := event.Seal(name, s.Seq+1, s.Hash, event.Draft{Time: s.Time, Actor: "person", Body: b})
	must(t, err)
	return e
}

func TestALedgerWithAProposalThatWasBlockedIsForged(t *testing.T) {
	t.Parallel()
	s := tell(t, "[{use: no-touch, paths: [secret]}]", event.Limits{}, nil)
	s.start()
	s.take("agent-0", &event.ModelResult{Call: s.open("model.call")[0], Stop: model.StopTools, Parts: []event.Part{{Kind: event.PartToolCall, ID: "1", Name: "write", Args: &event.Text{Text: `{"path":"secret/x"}`}}}})
	i := slices.IndexFunc(s.events, func(e event.Event) bool { return e.Type == "policy.blocked" })
	before := s.foldTo(i)
	forged, err := event.Seal("q", before.Seq+1, before.Hash, event.Draft{Time: before.Time, Actor: "agent-0", Tool: "write", Parent: before.Seq, Body: &event.ToolCall{Answer: before.Seq, ID: "1"}})
	must(t, err)
	if err := before.Fold(forged); err == nil || !strings.Contains(err.Error(), "no-touch") {
		t.Errorf("got %v", err)
	}
}

func TestExplainSaysWhatIsEnabledAndWhoBlocksTheRest(t *testing.T) {
	t.Parallel()
	s := tell(t, `
- {use: allowed-tools, role: agent, tools: [look]}
- {use: no-touch, paths: [secret], tools: [look]}
- name: look-first
  steps: [{wait: {type: tool.result}, block: {type: quest.finished, reason: Look first.}}]`, event.Limits{}, nil)
	s.start()
	x := s.state.Explain()
	var got []string
	for _, p := range x.Agents[0].Proposals {
		line := fmt.Sprint(p.Proposal, " ", p.Tool, ": ", p.Verdict)
		for _, b := range p.By {
			line += " by " + b.Thread
		}
		got = append(got, line)
	}
	s.expect(got, "model.call : enabled", "tool.call look: depends by no-touch", "tool.call write: blocked by allowed-tools", "quest.finished : blocked by look-first")
	if len(x.Policies) != 6 || x.Policies[5].Name != "look-first" || len(x.Policies[5].States) != 2 {
		t.Errorf("policies %+v", x.Policies)
	}
}

// refused returns why quest.New does not take a quest.
func refused(t *testing.T, change func(*event.QuestCreated)) string {
	t.Helper()
	s := tell(t, "[]", event.Limits{}, nil)
	b := *s.events[0].Body.(*event.QuestCreated)
	change(&b)
	e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Actor: "person", Body: &b})
	must(t, err)
	if _, err := quest.New(e, []quest.Society{s.society}); err != nil {
		return err.Error()
	}
	return ""
}

func TestAQuestThatCouldNotBeRunIsRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*event.QuestCreated){
		"at least one agent": func(b *event.QuestCreated) { b.Agents = nil },
		"keeps its limits":   func(b *event.QuestCreated) { b.Policies = b.Policies[1:] },
		"repetition/9": func(b *event.QuestCreated) {
			b.Policies = append([]event.PolicySpec{{Name: "x", Use: "repetition/9"}}, b.Policies...)
		},
		"cannot be read": func(b *event.QuestCreated) {
			b.Policies = append([]event.PolicySpec{{Name: "x", Use: "no-touch/1", Settings: "{"}}, b.Policies...)
		},
	} {
		if got := refused(t, change); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestARefusalAlwaysFitsAnEvent: however long the reasons are that an agent brings
// about.
func TestARefusalAlwaysFitsAnEvent(t *testing.T) {
	t.Parallel()
	var policies string
	for i := range 10 {
		policies += fmt.Sprintf("- {use: analysis-first, name: a%d, analysis: [look], execution: [write]}\n", i)
	}
	s := tell(t, policies, event.Limits{}, nil)
	s.start()
	got := s.calls(`write{"path":"` + strings.Repeat(`\u0001`, 1200) + `"}`)
	if len(got) != 3 || !strings.HasPrefix(got[0], "block tool.call by a0, a1, a2") {
		t.Errorf("got %.300q", got)
	}
}

func TestManyPoliciesMayEachSaySomething(t *testing.T) {
	t.Parallel()
	var policies string
	for i := range 20 {
		policies += fmt.Sprintf("- {name: p%d, steps: [{request: {type: message.sent, with: {text: t%d}}}]}\n", i, i)
	}
	s := tell(t, policies, event.Limits{}, nil)
	if got := s.start(); len(got) != 21 || got[20] != "ask 1" {
		t.Errorf("got %q", got)
	}
}

func TestACallThatTheForkMakesAgainCountsOnce(t *testing.T) {
	t.Parallel()
	s := tell(t, "[{use: max-calls, max: 1, tools: [look]}]", event.Limits{}, nil)
	s.start()
	s.expect(s.calls(`look{}`), "use look")
	s.take("person", &event.QuestForked{At: s.state.Seq, From: "q", Hash: s.state.Hash, Name: "q"})
	s.expect(s.take("person", &event.QuestResumed{}), "use look")
}

func TestALimitOnACostThatNobodyKnowsIsReached(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{Cost: new(int64(1_000_000))}, nil)
	s.start()
	s.expect(s.take("agent-0", &event.ModelResult{Call: s.open("model.call")[0], Unpriced: true, Stop: model.StopLength,
		Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: "I begin"}}}}), "say: ", "exceeded cost")
}

func TestARefusalWithoutAWordIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{}, nil)
	s.start()
	s.expect(s.take("agent-0", &event.ModelResult{Call: s.open("model.call")[0], Stop: model.StopRefusal}), "failed: the model refused to answer")
}

// TestAForkIsNotChargedForTheTimeSinceItsOrigin: nobody ran it then.
func TestAForkIsNotChargedForTheTimeSinceItsOrigin(t *testing.T) {
	t.Parallel()
	s := tell(t, "[]", event.Limits{Duration: new(int64(1_000_000))}, nil)
	s.start()
	s.now += 500_000
	s.calls(`look{}`)
	s.now += 3600_000_000
	s.take("person", &event.QuestForked{At: s.state.Seq, From: "q", Hash: s.state.Hash, Name: "q"})
	if s.state.Ran != 501_000 {
		t.Errorf("the fork has run %d µs", s.state.Ran)
	}
	s.expect(s.take("person", &event.QuestResumed{}), "timer.set", "use look")
}

// TestAnswersThatAreRefusedAgainAndAgainPark: however they are worded.
func TestAnswersThatAreRefusedAgainAndAgainPark(t *testing.T) {
	t.Parallel()
	s := tell(t, "[{name: never, steps: [{block: {type: quest.finished, reason: No.}}]}]", event.Limits{}, nil)
	s.start()
	for i := range 5 {
		if got := s.says(fmt.Sprint("answer ", i)); len(got) < 3 {
			t.Fatalf("got %q", got)
		}
	}
	got := s.says("the last")
	if n := len(got); !strings.Contains(got[n-1], "agent-0 is parked") {
		t.Errorf("got %q", got)
	}
}
