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
	// Skills are what agents can look up, in the folder SkillsDir of their homes; nil for none.
	Skills *event.SkillSet `json:",omitzero"`
	// Knowledge is what agents that find their tools find besides; nil for nothing.
	Knowledge *event.Knowledge `json:",omitzero"`
	// Repo are the files that agents work on, nil if they have no others than Data.
	Repo *event.RepoSpec `json:",omitzero"`
	// Preparing is what is done in the home that agents begin with, nil if nothing is.
	Preparing *Preparing `json:",omitzero"`
	// Cache is exact or near, if answers that models gave before may stand for new ones.
	Cache string `json:",omitzero"`
	// Computer is what each agent works with, nil if there are no computers.
	Computer *event.ComputerSpec `json:",omitzero"`
	// Driver is what the first computer was made with, empty if there was none yet. Where
	// the spec says auto, it is the choice that was made.
	Driver string `json:",omitzero"`
	// Machines are the computers that belong to no agent, by their owners.
	Machines map[string]*Machine `json:",omitempty"`
	Pins     []event.Pin
	Texts    map[string]string
	Limits   event.Limits
	// Policies are the rules that every proposal must pass; Broken are those that
	// broke down.
	Policies []event.PolicySpec
	Broken   []string `json:",omitempty"`
	Agents   []*agent.Agent
	// Tools are what is known of the world's tools, sorted by name.
	Tools  []event.ToolTraits `json:",omitempty"`
	Answer *event.Text
	// Answerer is the agent whose answer that is, if it is an agent's.
	Answerer string `json:",omitzero"`
	// Warnings are what stayed open when the quest had its answer.
	Warnings []string `json:",omitempty"`
	// NotFound says that the answer is that there is none in what was searched.
	NotFound bool `json:",omitzero"`
	// Ended is when the quest last had its answer, or was refused it.
	Ended uint64 `json:",omitzero"`
	// Spoken is when a person last said something.
	Spoken uint64 `json:",omitzero"`
	// Origin is where a fork came from.
	Origin *event.QuestForked

	// Outages are the providers that are away, in the order in which that was noticed.
	Outages []Outage `json:",omitempty"`
	// Rested is the kind of rest that the rules brought the quest to, if they did.
	Rested string `json:",omitzero"`
	// Lack is what the quest ran out of, if there was something left, but less than the next
	// call can use.
	Lack *event.BudgetExceeded `json:",omitzero"`
	// Full is the limit of the quest on storage that was last reached.
	Full *event.Full `json:",omitzero"`

	// Executors are those that agents of the quest are, sorted by name; PermissionTimeout is
	// how long they wait for a person, in microseconds, 0 for PermissionTime.
	Executors         []event.ExecutorPin `json:",omitempty"`
	PermissionTimeout event.Time          `json:",omitzero"`
	// Servers are the MCP servers of the quest, sorted by name; Offers are what agents have
	// of them; Changed are the keys of offers that a person is to be asked about.
	Servers []event.ServerPin `json:",omitempty"`
	Offers  map[string]*Offer `json:",omitempty"`
	Changed []string          `json:",omitempty"`
	// Said are the settings of servers that came later, by name; Removed are the names of those
	// that a person has taken away.
	Said    map[string]string `json:",omitempty"`
	Removed []string          `json:",omitempty"`
	// Finders are agents that find their tools in the catalogue, by name.
	Finders map[string]*Finder `json:",omitempty"`
	// Related is what agents have noted about how things belong together, nil if nothing.
	Related *Related `json:",omitzero"`
	// Forms are what servers want to know of people, the oldest first.
	Forms []Form `json:",omitempty"`

	// Questions are those to people that are open, or whose answer was not used yet.
	Questions []Question `json:",omitempty"`

	// Dropped are the artifacts that are no longer kept.
	Dropped []event.Hash `json:",omitempty"`

	// Mail is what people said and nobody was told yet, the oldest first; Sitting is the one
	// under way. Both are for societies that have mail.
	Mail    []Letter `json:",omitempty"`
	Sitting *Sitting `json:",omitzero"`
	// Briefings are the texts of the brief that people saved, the last one last.
	Briefings []Briefing `json:",omitempty"`

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
	// Activity is how busy the quest was when.
	Activity Activity
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
	// Model, Count and Most are those of a request to the gateway: which model it is for,
	// that nothing is generated, and what it uses at most, if anything is known of that. It
	// is a pointer because a map keeps values of more than 128 bytes in places of their own.
	Model string       `json:",omitzero"`
	Count bool         `json:",omitzero"`
	Most  *event.Usage `json:",omitzero"`
	// First is the first message that a prompt tells.
	First int64 `json:",omitzero"`
	// Cost and Tokens are what is reserved for it, where limits are strict.
	Cost, Tokens int64 `json:",omitzero"`
	// Cache is how an earlier answer may stand for that of a model.call, empty for not at all.
	Cache string `json:",omitzero"`
}

// Spent is what a quest has used so far.
type Spent struct {
	// Cost in nanodollars. Unpriced counts the calls whose cost is unknown, Estimated
	// those of which an upper bound is known.
	Cost      int64
	Unpriced  int64
	Estimated int64
	// Recalled counts the answers that were given before, and cost nothing.
	Recalled int64 `json:",omitzero"`
	Turns    int64
	Tools    int64
	Usage    event.Usage
	// Stored is how many bytes of the disk are taken.
	Stored int64 `json:",omitzero"`
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
const snapshotFormat = 16

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

// Rest is why the quest does not go on by itself and has no answer, in a word; it is
// empty of one that runs, was never started, or has its answer.
func (s *State) Rest() string {
	switch {
	case s.Waiting():
		return "waiting"
	case s.Status == Paused && s.Rested != "":
		return s.Rested
	case s.Status == Exceeded:
		return "budget"
	case s.Status == Paused, s.Status == Stopped, s.Status == Failed:
		return string(s.Status)
	}
	return ""
}

// Elapsed is how long the quest has run up to now, in microseconds. While it waits for a
// person, or for a provider that is away, its clock stands still.
func (s *State) Elapsed(now event.Time) int64 {
	if s.still() {
		now = s.Time
	}
	if s.Status == Running && now > s.Since {
		return s.Ran + int64(now-s.Since)
	}
	return s.Ran
}
