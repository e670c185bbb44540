package view

import (
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Desks are what agents heard, said and thought over time, as an index into the
// ledger: where things stand, and not what they say. A transcript in the state is only
// what a model is still shown; this is all of it.
type Desks struct {
	agents map[string]*Desk
	calls  map[uint64]place // tool calls, and refused ones, by their seq
}

// Desk is one agent's.
type Desk struct {
	Entries []Entry
	// Log are the events of its computer; Commands counts the commands.
	Log      []uint64
	Commands int64
	Mind     []Thought
	// Since is the event by which it began what it does now.
	Since uint64
	Time  event.Time
	// answers finds the entry of an answer, or of an outside agent's proposal; reports those of
	// the calls that it makes itself and that have not ended, by its names for them.
	answers map[uint64]int
	reports map[string]int
}

// Entry is one message of a transcript.
type Entry struct {
	Seq uint64
	// Said tells what the agent's model said, or the executor that the agent is, from what it
	// was told.
	Said bool
	Uses []Use
}

// Use is a tool call in an answer: which part of it, where it was made or refused, and
// where its result stands; 0 where there is none yet.
type Use struct {
	Part         int64
	Call, Result uint64
}

// Thought is an event about what an agent believes, wants or intends.
type Thought struct {
	Seq  uint64
	Body event.Body
}

type place struct {
	agent  string
	answer uint64
	part   int64
}

// Agent returns an agent's desk, nil if there is no such agent.
func (d *Desks) Agent(name string) *Desk { return d.agents[name] }

// Take adds the next event of the ledger; s is the quest's state after it.
func (d *Desks) Take(e event.Event, s *quest.State) {
	if _, ok := e.Body.(*event.QuestCreated); ok {
		d.agents, d.calls = map[string]*Desk{}, map[uint64]place{}
		for _, a := range s.Agents {
			d.agents[a.Name] = &Desk{Entries: []Entry{{Seq: e.Seq}}, answers: map[uint64]int{}, reports: map[string]int{}, Since: e.Seq, Time: e.Time}
		}
		return
	}
	switch b := e.Body.(type) {
	case *event.UserMessage:
		d.hear(e, func(name string) bool { return b.To == "" || b.To == name })
	case *event.MessageSent:
		d.hear(e, func(name string) bool { return b.To == name && !b.Quiet })
	case *event.ToolCall:
		d.use(e, b.Answer, b.Part)
	case *event.PolicyBlocked:
		d.use(e, b.Answer, b.Part)
	case *event.ToolSkipped:
		d.use(e, b.Answer, b.Part)
	case *event.ToolResult:
		d.got(e, b.Call)
	case *event.ToolAnswered:
		d.got(e, b.Call)
	default:
		d.act(e)
	}
}

// hear adds a message to those who are told it.
func (d *Desks) hear(e event.Event, told func(name string) bool) {
	for name, a := range d.agents {
		if told(name) {
			a.Entries = append(a.Entries, Entry{Seq: e.Seq})
		}
	}
}

// think adds a thought to those of an agent.
func (d *Desks) think(e event.Event) {
	if a := d.agents[e.Actor]; a != nil {
		a.Mind = append(a.Mind, Thought{e.Seq, e.Body})
	}
}

// began says that an agent does something else from now on.
func (d *Desks) began(e event.Event) {
	if a := d.agents[e.Actor]; a != nil {
		a.Since, a.Time = e.Seq, e.Time
	}
}

// act is for what an agent and its computer do.
func (d *Desks) act(e event.Event) {
	a := d.agents[e.Actor]
	if a == nil {
		return
	}
	switch b := e.Body.(type) {
	case *event.StandingShown, *event.GuidanceShown:
		a.Entries = append(a.Entries, Entry{Seq: e.Seq})
	case *event.ModelResult:
		a.answers[e.Seq] = len(a.Entries)
		a.Entries = append(a.Entries, Entry{Seq: e.Seq, Said: true})
		d.began(e)
	case *event.ToolProposed:
		a.answers[e.Seq] = len(a.Entries)
		a.Entries = append(a.Entries, Entry{Seq: e.Seq, Said: true})
	case *event.ToolReported:
		a.report(e.Seq, b)
	case *event.SaidReported:
		a.Entries = append(a.Entries, Entry{Seq: e.Seq, Said: true})
	case *event.PromptResult:
		clear(a.reports)
		a.Entries = append(a.Entries, Entry{Seq: e.Seq, Said: true})
		d.began(e)
	case *event.ModelCall, *event.PromptCall, *event.AgentParked:
		d.began(e)
	case *event.CliRun:
		a.Commands++
		a.Log = append(a.Log, e.Seq)
	case *event.ComputerStarted, *event.CliStdout, *event.CliStderr, *event.CliExit, *event.FileDiff, *event.NetConnection:
		a.Log = append(a.Log, e.Seq)
	}
}

// report notes a call that an executor makes itself: it is one entry, whatever is said of it.
func (a *Desk) report(seq uint64, b *event.ToolReported) {
	i, ok := a.reports[b.ID]
	if !ok {
		i = len(a.Entries)
		a.reports[b.ID] = i
		a.Entries = append(a.Entries, Entry{Seq: seq, Said: true, Uses: []Use{{Call: seq}}})
	}
	if b.Status == "completed" || b.Status == "failed" {
		a.Entries[i].Uses[0].Result = seq
		delete(a.reports, b.ID)
	}
}

// use notes that a tool call of an answer was made or refused. After a fork it may be
// made again; the last one counts.
func (d *Desks) use(e event.Event, answer uint64, part int64) {
	a := d.agents[e.Actor]
	if a == nil || answer == 0 {
		return
	}
	i, ok := a.answers[answer]
	if !ok {
		return
	}
	d.calls[e.Seq] = place{e.Actor, answer, part}
	a.Since, a.Time = e.Seq, e.Time
	uses := a.Entries[i].Uses
	if k := slices.IndexFunc(uses, func(u Use) bool { return u.Part == part }); k >= 0 {
		uses[k] = Use{Part: part, Call: e.Seq}
		return
	}
	a.Entries[i].Uses = append(uses, Use{Part: part, Call: e.Seq})
}

func (d *Desks) got(e event.Event, call uint64) {
	p, ok := d.calls[call]
	if !ok {
		return
	}
	delete(d.calls, call)
	uses := d.agents[p.agent].Entries[d.agents[p.agent].answers[p.answer]].Uses
	for i := range uses {
		if uses[i].Part == p.part {
			uses[i].Result = e.Seq
		}
	}
}

// Mind is what an agent believes, wants and intends.
type Mind struct {
	Beliefs    []Belief    `json:"beliefs"`
	Desires    []Desire    `json:"desires"`
	Intentions []Intention `json:"intentions"`
}

// Belief is what an agent holds to be so.
type Belief struct {
	Seq    uint64 `json:"seq"`
	Belief string `json:"belief"`
	Value  string `json:"value"`
	Reason string `json:"reason"`
}

// Desire is what an agent wants.
type Desire struct {
	Seq    uint64 `json:"seq"`
	Desire string `json:"desire"`
	Reason string `json:"reason"`
}

// Intention is what an agent has decided to do, or not to do.
type Intention struct {
	Seq       uint64   `json:"seq"`
	Intention string   `json:"intention"`
	Reason    string   `json:"reason"`
	Dropped   bool     `json:"dropped"`
	Words     []string `json:"words"`
}
