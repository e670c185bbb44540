// Package quest is the deterministic core: what a quest knows, and what follows
// from what happens to it.
//
// State is the fold of a ledger. Apply takes an event in; Decide says which
// events follow from it. Both are pure functions of the state and the event:
// the same ledger gives the same state and the same decisions on any machine,
// which is what makes recovery, replay, fork and simulation one mechanism.
//
// Decisions about agents are driven by the state, not by the event: advance looks
// at what an agent waits for and says its next step. So a quest that was paused,
// forked in the middle of a batch, or resumed after a crash goes on by the same
// rule as one that was never disturbed.
package quest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Status is where a quest stands.
type Status string

// The statuses. A quest that is not running starts no calls. From all but
// Finished it can be resumed, and from that too once there is something to say.
const (
	Created  Status = "created"
	Running  Status = "running"
	Paused   Status = "paused"
	Stopped  Status = "stopped"
	Exceeded Status = "exceeded"
	Finished Status = "finished"
	Failed   Status = "failed"
)

// State is what a quest knows.
type State struct {
	Name   string
	Status Status
	// Reason says why, where somebody gave a reason.
	Reason  string
	Rules   string
	Seed    uint64
	Problem event.Text
	Spec    event.Ref
	Data    *event.TreeRef
	// Computer is what each agent works with, nil if there are no computers.
	Computer *event.ComputerSpec `json:",omitzero"`
	Pins     []event.Pin
	Texts    map[string]string
	Limits   event.Limits
	// Policies are the rules that every proposal must pass; Broken are those that
	// broke down.
	Policies []event.PolicySpec
	Broken   []string `json:",omitempty"`
	Agents   []*agent.Agent
	Answer   *event.Text
	// Warnings are what stayed open when the quest had its answer.
	Warnings []string `json:",omitempty"`
	// Ended is when the quest last had its answer, or was refused it.
	Ended uint64 `json:",omitzero"`
	// Spoken is when a person last said something.
	Spoken uint64 `json:",omitzero"`
	// Origin is where a fork came from.
	Origin *event.QuestForked

	// Calls are those without a result, by seq.
	Calls map[uint64]Call
	// Cause is the seq of the last input.
	Cause uint64
	// Inbox is the last command taken.
	Inbox int64
	Spent Spent

	// Seq, Hash and Time are those of the last event.
	Seq  uint64
	Hash event.Hash
	Time event.Time
	// Created is the time of the first event.
	Created event.Time
	// Since is when the quest began to run, the last time it did; Ran is how
	// long it ran before, in microseconds.
	Since event.Time
	Ran   int64

	rules  rules
	memory Memory
	gate   *policy.Gate
	byName map[string]*agent.Agent

	// moving is the agent that the last input was about; all says that what
	// followed from it concerns the others too, woken are those that it concerns if
	// it is not all of them; nags counts what policies had said since. They matter
	// between an input and the next one only.
	moving string
	all    bool
	woken  []*agent.Agent
	nags   map[string]int

	// lastArgs are the arguments of lastUse, for those who ask again.
	lastUse  useKey
	lastArgs *policy.Args
}

// Call is a question to the world that has no answer yet.
type Call struct {
	Kind  event.Type
	Agent string
	// Tool is the tool's name, Timer the timer's purpose, At its time.
	Tool  string     `json:",omitzero"`
	Timer string     `json:",omitzero"`
	At    event.Time `json:",omitzero"`
}

// Spent is what a quest has used so far.
type Spent struct {
	// Cost in nanodollars. Unpriced counts the calls whose cost is unknown.
	Cost     int64
	Unpriced int64
	Turns    int64
	Tools    int64
	Usage    event.Usage
}

// UnknownRulesError says that this binary does not have the rules of a quest.
type UnknownRulesError struct {
	Rules string
	Known []string
}

func (e *UnknownRulesError) Error() string {
	return fmt.Sprintf("the quest was made with the rules %s, which this version of lyceum does not have (it has %s): use the version that made it",
		e.Rules, strings.Join(e.Known, ", "))
}

// New returns the state before the first event, which must be created.
func New(created event.Event, societies []Society) (*State, error) {
	b, ok := created.Body.(*event.QuestCreated)
	if !ok || created.Seq != 1 {
		return nil, fmt.Errorf("a ledger begins with quest.created, not with %s", created.Type)
	}
	names := map[string]bool{}
	if n := count(b.Agents); n > MaxAgents {
		return nil, fmt.Errorf("a quest of %d agents: there can be %d", n, MaxAgents)
	}
	for _, a := range each(b.Agents) {
		// A name becomes a folder's, and the ledger may be a stranger's.
		if !event.ValidName(a.Name) || names[a.Name] {
			return nil, fmt.Errorf("agent name %q is taken or not allowed: want %s", a.Name, event.NameRule)
		}
		names[a.Name] = true
	}
	if len(b.Agents) == 0 {
		return nil, errors.New("a quest has at least one agent")
	}
	if !slices.ContainsFunc(b.Policies, func(p event.PolicySpec) bool { return strings.HasPrefix(p.Use, "budget/") }) {
		return nil, errors.New("the quest has no policy that keeps its limits (budget): it was not made by lyceum")
	}
	s := &State{Calls: map[uint64]Call{}, Texts: map[string]string{}, nags: map[string]int{}}
	if err := s.adopt(b.Rules, societies); err != nil {
		return nil, err
	}
	var err error
	if s.gate, err = policy.New(b.Policies, s.rules.Policies()...); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *State) adopt(rules string, societies []Society) error {
	var known []string
	for _, soc := range societies {
		if soc.Rules() == rules {
			s.rules = rulesOf(soc)
			return nil
		}
		known = append(known, soc.Rules())
	}
	return &UnknownRulesError{Rules: rules, Known: known}
}

// snapshotFormat changes whenever the meaning of State does.
const snapshotFormat = 6

type snapshot struct {
	Format int
	State  *State
	Gate   []behavior.Saved
	Memory jsontext.Value `json:",omitzero"`
}

// Encode writes the state as bytes, the same for equal states.
func (s *State) Encode() ([]byte, error) {
	snap := snapshot{Format: snapshotFormat, State: s, Gate: s.gate.Save()}
	var err error
	if s.memory != nil {
		snap.Memory, err = json.Marshal(s.memory, json.Deterministic(true))
	}
	var data []byte
	if err == nil {
		data, err = json.Marshal(snap, json.Deterministic(true))
	}
	if err != nil {
		return nil, fmt.Errorf("encode the state of quest %s: %w", s.Name, err)
	}
	return data, nil
}

// Decode reads what Encode wrote. A snapshot of another format is an error; the
// caller then folds the ledger instead.
func Decode(data []byte, societies []Society) (*State, error) {
	var snap snapshot
	if err := json.Unmarshal(data, &snap, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("decode state: %w", err)
	}
	if snap.Format != snapshotFormat || snap.State == nil {
		return nil, fmt.Errorf("decode state: format %d, want %d", snap.Format, snapshotFormat)
	}
	s := snap.State
	s.nags = map[string]int{}
	s.index()
	if err := s.adopt(s.Rules, societies); err != nil {
		return nil, err
	}
	if k, ok := s.rules.Society.(Knower); ok {
		s.memory = k.Blank()
		if err := json.Unmarshal(snap.Memory, s.memory, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("decode state: what the society knows: %w", err)
		}
	}
	var err error
	if s.gate, err = policy.New(s.Policies, s.rules.Policies()...); err != nil {
		return nil, err
	}
	return s, s.gate.Restore(snap.Gate)
}

// Agent returns the agent of that name, or nil.
func (s *State) Agent(name string) *agent.Agent { return s.byName[name] }

// index makes agents be found by their names at once.
func (s *State) index() {
	s.byName = make(map[string]*agent.Agent, len(s.Agents))
	for _, a := range s.Agents {
		s.byName[a.Name] = a
	}
}

// MaxAgents is how many agents a quest may have.
const MaxAgents = 1024

// count and each take groups of agents apart: those of a group differ by the number
// at the end of their names.
func count(groups []event.AgentSpec) (n int64) {
	for _, g := range groups {
		n += max(g.Count, 1)
		if n < 0 || n > MaxAgents || g.Count > MaxAgents {
			return MaxAgents + 1
		}
	}
	return n
}

func each(groups []event.AgentSpec) (out []event.AgentSpec) {
	for _, g := range groups {
		if g.Count == 0 {
			out = append(out, g)
			continue
		}
		for i := range g.Count {
			one := g
			one.Name = fmt.Sprintf("%s-%d", g.Name, g.First+i)
			out = append(out, one)
		}
	}
	return out
}

// Elapsed is how long the quest has run up to now, in microseconds.
func (s *State) Elapsed(now event.Time) int64 {
	if s.Status == Running && now > s.Since {
		return s.Ran + int64(now-s.Since)
	}
	return s.Ran
}
