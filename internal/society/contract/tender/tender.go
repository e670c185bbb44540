// Package tender is what a contract net knows: the parts of the plan and who does
// them, what was found and computed, the claims that rest on it and what was said
// against them, and what each agent believes, wants and intends.
//
// It is a fold of events and decides nothing. It panics on events that cannot follow
// from each other, such as an award without a bid: only a forged ledger has them, and
// whoever folds one is told.
package tender

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Net is the state of a contract net.
type Net struct {
	Spec event.ContractSpec
	// Plans counts plans; the tasks of the last one are those that Planned counts.
	Plans   int64
	Tasks   []*Task
	Sources []Source
	// Words are what the words of the last search are worth.
	Words    []event.WordWeight `json:",omitempty"`
	Claims   []Claim
	Attacks  []event.ClaimAttacked `json:",omitempty"`
	Doubts   []Doubt
	Weighed  *event.ArgumentsWeighed
	Minds    map[string]*Mind
	Messages map[uint64]Message
	// Round is how often the work was to be planned again, Planned the round of the last
	// plan.
	Round, Planned int64
	// Places are the tool calls of agents that have had their effect.
	Places []agent.Place `json:",omitempty"`
}

// Task is a part of the plan.
type Task struct {
	event.PlanStep
	// Plan is the number of its plan, Place the tool call it was made with.
	Plan  int64
	Place agent.Place
	Cfp   uint64   `json:",omitzero"`
	To    []string `json:",omitempty"`
	Bids  []Bid    `json:",omitempty"`
	// Award is the contract.awarded that holds, Worker who has it.
	Award  uint64 `json:",omitzero"`
	Worker string `json:",omitzero"`
	// Told says that the worker knows.
	Told bool `json:",omitzero"`
	// Call is the question to the world that is open, or the last one; Result is what
	// came back.
	Call    uint64 `json:",omitzero"`
	Open    bool   `json:",omitzero"`
	Compute *event.ComputeCall
	Result  *Result
	// Tries counts the calls.
	Tries int64 `json:",omitzero"`
	// Done says that it is over, Failed why nobody could do it.
	Done   bool
	Failed string  `json:",omitzero"`
	Found  []int64 `json:",omitempty"`
	// Informed says that the planner has been told of the result.
	Informed bool `json:",omitzero"`
}

// Bid is a worker's offer.
type Bid struct {
	Worker string
	Seq    uint64
	Score  int64
	// Failed says why the worker could not do it, after it had the award.
	Failed string `json:",omitzero"`
}

// Result is what the world answered to the call of a task.
type Result struct {
	Seq     uint64
	Error   string  `json:",omitzero"`
	Sources []int64 `json:",omitempty"`
}

// Source is what an answer can cite: a paragraph, or what a program printed.
type Source struct {
	// Number is how it is cited, from 1 on.
	Number int64
	Seq    uint64
	Task   string
	Anchor *event.Anchor
	// Compute is what a program printed, Asked how it was run.
	Compute *event.ComputeResult
	Asked   *event.ComputeCall
}

// Text is what a claim can rest on.
func (s *Source) Text() string {
	if s.Anchor != nil {
		return s.Anchor.Snippet
	}
	return s.Compute.Output.Text
}

// Claim is a sentence of the answer.
type Claim struct {
	event.ClaimMade
	By        string
	Seq       uint64
	Retracted string `json:",omitzero"`
}

// Place is the tool call that a claim was made with.
func (c *Claim) Place() agent.Place { return agent.Place{Answer: c.Answer, Part: c.Part} }

// Doubt is a challenge and what became of it.
type Doubt struct {
	event.ChallengeRaised
	By  string
	Seq uint64
	// Justified is the reason that was given, Justifier the event it was given in.
	Justified string `json:",omitzero"`
	Justifier uint64 `json:",omitzero"`
	Retracted bool   `json:",omitzero"`
	// Replanned says that the work went into another round because of it.
	Replanned bool `json:",omitzero"`
}

// Open reports whether nobody has answered it.
func (d *Doubt) Open() bool { return d.Justified == "" && !d.Retracted && !d.Replanned }

// Mind is what an agent believes, wants and intends.
type Mind struct {
	Beliefs    []event.BeliefUpdated
	Desires    []event.DesireSet
	Intentions []event.IntentionFormed
}

// Message is one that can be answered.
type Message struct {
	From         string
	To           []string
	Performative string
}

// New returns a net before its first event.
func New(spec event.ContractSpec) *Net {
	return &Net{Spec: spec, Minds: map[string]*Mind{}, Messages: map[uint64]Message{}}
}

// Task returns the part of the plan of that name, nil if there is none.
func (n *Net) Task(name string) *Task {
	for i := len(n.Tasks) - 1; i >= 0; i-- {
		if n.Tasks[i].Task == name {
			return n.Tasks[i]
		}
	}
	return nil
}

// Source returns the source of that number, nil if there is none.
func (n *Net) Source(number int64) *Source {
	if number < 1 || number > int64(len(n.Sources)) {
		return nil
	}
	return &n.Sources[number-1]
}

// Claim returns the claim of that number, nil if there is none.
func (n *Net) Claim(number int64) *Claim {
	if number < 1 || number > int64(len(n.Claims)) {
		return nil
	}
	return &n.Claims[number-1]
}

// Happened reports whether a tool call has had its effect.
func (n *Net) Happened(_ string, at agent.Place) bool { return slices.Contains(n.Places, at) }

// Idle reports whether all parts of the plan are over.
func (n *Net) Idle() bool {
	return !slices.ContainsFunc(n.Tasks, func(t *Task) bool { return !t.Done })
}

// Abandon forgets what the net waits for, as a fork does: it is asked for again. So a tool
// call that had a program run has had no effect yet.
func (n *Net) Abandon() {
	for _, t := range n.Tasks {
		if !t.Open {
			continue
		}
		t.Call, t.Open = 0, false
		t.Tries--
		if c := t.Compute; c != nil && c.Answer != 0 {
			n.Places = slices.DeleteFunc(n.Places, func(p agent.Place) bool { return p == agent.Place{Answer: c.Answer, Part: c.Part} })
		}
	}
}

func (n *Net) mind(name string) *Mind {
	m := n.Minds[name]
	if m == nil {
		m = &Mind{}
		n.Minds[name] = m
	}
	return m
}

// did notes that a tool call has had its effect.
func (n *Net) did(answer uint64, part int64) {
	if p := (agent.Place{Answer: answer, Part: part}); answer != 0 && !slices.Contains(n.Places, p) {
		n.Places = append(n.Places, p)
	}
}

// must is for what cannot be in a ledger that the rules wrote.
func must(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}
