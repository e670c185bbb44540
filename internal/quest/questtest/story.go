// Package questtest plays inputs against the rules of a quest and keeps what they
// lead to, as an owner would, without a ledger, a clock or a world.
//
// A story stops a test at the first thing that cannot be: an input that is refused,
// decisions without an end, or a state that is not the fold of its events.
package questtest

import (
	"bytes"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
)

// T is what a story needs of a test.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Story is a quest under way.
type Story struct {
	T       T
	Society quest.Society
	State   *quest.State
	Events  []event.Event
	// Now is the time of the last input.
	Now event.Time
	// Reply, if set, answers a call of the rules at once; nil leaves it open.
	Reply func(call event.Event) event.Body
}

// Created is a quest by the rules of a society, as it might be made: agent-0 and so
// on, with some tools, and the policies that every quest has.
func Created(society quest.Society, agents int64, tools ...string) *event.QuestCreated {
	ref := event.RefOf([]byte("pinned"))
	policies, err := policy.Complete(nil)
	if err != nil {
		panic(err)
	}
	b := &event.QuestCreated{
		Name: "q", Rules: society.Rules(), Policies: policies, Problem: event.Text{Text: "?"}, Spec: ref,
		Agents: []event.AgentSpec{{Name: "agent", Count: agents, Model: "m", System: ref, Tools: ref, ToolNames: tools, Window: 200_000}},
	}
	for _, text := range quest.TextsOf(society, event.ContextCompact) {
		if !quest.IsPrompt(text.Name) { // it is pinned as a blob
			b.Texts = append(b.Texts, text)
		}
	}
	return b
}

// Begin begins a story with the first event of a quest.
func Begin(t T, society quest.Society, created *event.QuestCreated) *Story {
	t.Helper()
	s := &Story{T: t, Society: society}
	e, err := event.Seal(created.Name, 1, event.Hash{}, event.Draft{Actor: "person", Body: created})
	s.must(err)
	s.State, err = quest.New(e, []quest.Society{society})
	s.must(err)
	s.record(e)
	return s
}

func (s *Story) must(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatalf("%v", err)
	}
}

func (s *Story) record(e event.Event) {
	s.State.Apply(e)
	s.Events = append(s.Events, e)
}

// Start starts the quest.
func (s *Story) Start() []event.Event {
	s.T.Helper()
	return s.Take("person", &event.QuestStarted{})
}

// Take feeds one input, and returns what followed.
func (s *Story) Take(actor string, b event.Body) []event.Event {
	s.T.Helper()
	followed, err := s.Try(actor, b)
	s.must(err)
	return followed
}

// Try feeds one input, if it may come now, and returns what followed.
func (s *Story) Try(actor string, b event.Body) ([]event.Event, error) {
	s.T.Helper()
	if err := s.State.Check(actor, b); err != nil {
		return nil, err
	}
	s.Now += 1000
	from := len(s.Events) + 1
	queue := []event.Draft{{Time: s.Now, Actor: actor, Body: b}}
	for i := 0; i < len(queue); i++ {
		name := s.State.Name
		if f, ok := queue[i].Body.(*event.QuestForked); ok {
			name = f.Name
		}
		e, err := event.Seal(name, s.State.Seq+1, s.State.Hash, queue[i])
		s.must(err)
		s.record(e)
		queue = append(queue, quest.Decide(s.State, e)...)
		if s.Reply != nil && e.Type.Call() {
			if b := s.Reply(e); b != nil {
				queue = append(queue, event.Draft{Time: s.Now, Actor: e.Actor, Body: b})
			}
		}
		if i > 50*len(s.State.Agents)+2000 {
			s.T.Fatalf("it never ends: %s, %s, …", s.Events[len(s.Events)-2].Line(), e.Line())
		}
	}
	return s.Events[from:], nil
}

// Sound checks that the state is the fold of the events, and that one that was saved
// is the same; the story goes on with that.
func (s *Story) Sound() {
	s.T.Helper()
	want, err := s.State.Encode()
	s.must(err)
	got, err := s.Fold(len(s.Events)).Encode()
	s.must(err)
	if !bytes.Equal(got, want) {
		s.T.Fatalf("the fold differs: %s", difference(want, got))
	}
	back, err := quest.Decode(want, []quest.Society{s.Society})
	s.must(err)
	if got, err = back.Encode(); err != nil || !bytes.Equal(got, want) {
		s.T.Fatalf("what was saved comes back as another: %v %s", err, difference(want, got))
	}
	s.State = back
}

// difference shows where two states part.
func difference(want, got []byte) string {
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	cut := func(b []byte) []byte { return b[max(0, i-100):min(len(b), i+100)] }
	return fmt.Sprintf("at byte %d\n%s\nis not\n%s", i, cut(want), cut(got))
}

// Fold returns the state after the first n events.
func (s *Story) Fold(n int) *quest.State {
	s.T.Helper()
	state, err := quest.New(s.Events[0], []quest.Society{s.Society})
	s.must(err)
	for _, e := range s.Events[:n] {
		s.must(state.Fold(e))
	}
	return state
}

// Fork returns a story that parts from this one after its first n events, wherever in
// a batch that is. state must be the one after them, and is the fork's from now on;
// nil has it folded.
func (s *Story) Fork(n int, state *quest.State) *Story {
	s.T.Helper()
	if state == nil {
		state = s.Fold(n)
	}
	f := &Story{T: s.T, Society: s.Society, State: state, Events: slices.Clone(s.Events[:n]), Now: s.Now, Reply: s.Reply}
	f.Take("person", &event.QuestForked{At: uint64(n), From: s.State.Name, Hash: s.Events[n-1].Hash, Name: "fork"})
	return f
}

// Open returns the calls of a kind that have no result, of an agent or, if none is
// named, of all, in order.
func (s *Story) Open(kind event.Type, agent string) (out []uint64) {
	for seq, c := range s.State.Calls {
		if c.Kind == kind && (agent == "" || c.Agent == agent) {
			out = append(out, seq)
		}
	}
	slices.Sort(out)
	return out
}

// Answer answers an agent's open model call.
func (s *Story) Answer(agent string, r event.ModelResult) []event.Event {
	s.T.Helper()
	open := s.Open("model.call", agent)
	if len(open) == 0 {
		s.T.Fatalf("%s is not asked", agent)
	}
	r.Call = open[0]
	return s.Take(agent, &r)
}

// Says is an answer without a tool call.
func Says(text string) event.ModelResult {
	return event.ModelResult{Stop: model.StopEnd, Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: text}}}, Cost: 10, Usage: event.Usage{Input: 5, Output: 5}}
}

// Call is a call of a tool.
type Call struct{ Tool, Args string }

// Calls is an answer that calls tools.
func Calls(calls ...Call) event.ModelResult {
	r := event.ModelResult{Stop: model.StopTools, Cost: 10, Usage: event.Usage{Input: 5, Output: 5}}
	for i, c := range calls {
		r.Parts = append(r.Parts, event.Part{Kind: event.PartToolCall, ID: fmt.Sprint(i), Name: c.Tool, Args: &event.Text{Text: c.Args}})
	}
	return r
}

// Fails is a model that gives no answer.
func Fails(kind model.Kind) event.ModelResult {
	return event.ModelResult{Error: &event.ModelError{Kind: string(kind), Text: "trouble"}}
}
