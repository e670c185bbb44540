// Package agent keeps an agent's side of a quest: its transcript, the window of
// it that a model is shown, and what the agent is waiting for.
//
// Everything here is a fold of events, so it is pure: no clock, no randomness,
// nothing outside. A transcript holds only what is still in the window; what was
// cut away stays in the ledger. Texts too long for an event are held as
// references, and only Render, which is given a way to read blobs, sees them.
package agent

import (
	"fmt"
	"maps"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// Agent is an actor with a transcript.
type Agent struct {
	Name      string
	Model     string
	System    event.Ref
	Tools     event.Ref
	ToolNames []string
	Thinking  bool
	// Limit is how many tokens a request may have.
	Limit int64

	Transcript Transcript
	// Asked is the model.call that has no result yet, 0 for none.
	Asked uint64
	// Open are the tool calls of the last answer, in its order, until all of
	// them have results.
	Open []Use
	// Queue is what was said to the agent while it was busy.
	Queue []event.Text

	// Turns counts model calls.
	Turns int64
	// Empty counts answers without content in a row, Overflows context errors.
	Empty, Overflows int64
	// Failed is the error of the last model call, if it failed.
	Failed *event.ModelError
	// Idle counts answers in a row that called for no tool.
	Idle int64 `json:",omitzero"`
	// Stop is why the model ended its last answer.
	Stop string
	// Tree is the agent's workspace as last recorded.
	Tree *event.TreeRef
	// Computer is the fingerprint of its computer, once that has been started.
	Computer event.Hash `json:",omitzero"`
	// Commands are those that have begun in it and not ended, by their ids, and
	// those that have ended while the call they were run for is open.
	Commands map[string]Command `json:",omitempty"`
	// Cost, Tokens and Duration are what the agent has used: nanodollars, and
	// microseconds of its calls.
	Cost, Tokens, Duration int64
	// Parked says why the agent is not to be asked until somebody speaks to it.
	// It is empty while it may be. Held says that a policy did it: then only a person
	// can give it its turn back.
	Parked string
	Held   bool `json:",omitzero"`
}

// Use is one use of a tool.
type Use struct {
	ID   string
	Name string
	// Answer and Part say where the arguments stand.
	Answer uint64
	Part   int64
	Args   event.Text
	// Outline is what policies see of arguments that are in a blob.
	Outline string `json:",omitzero"`
	// Call is the tool.call, or the policy.blocked, 0 until there is one.
	Call uint64
	// Refused is what the agent is to be told, if the use was blocked.
	Refused string `json:",omitzero"`
	// Changed says that the call has changed the agent's files.
	Changed bool `json:",omitzero"`
	// Prepared is what the world found in the arguments, where the rules need that.
	Prepared *event.ToolPrepared `json:",omitzero"`
	Done     bool
	Output   event.Text
	Error    bool
}

// Place is where a tool call stands: the event that it was made by, and the part of
// it. It tells whether a call has had its effect, also when it is made again after a
// fork.
type Place struct {
	Answer uint64
	Part   int64
}

// Place is where the use stands.
func (u *Use) Place() Place { return Place{u.Answer, u.Part} }

// Command is one that was begun in an agent's computer.
type Command struct {
	// Call is the tool.call it was run for.
	Call uint64
	// Keep says that it may outlive its call.
	Keep bool `json:",omitzero"`
	// Ended says that it has; it is remembered so that it does not a second time.
	Ended bool `json:",omitzero"`
}

// MaxCommands is how many commands of an agent are kept account of.
const MaxCommands = 256

// New returns an agent as a quest begins with it.
func New(spec event.AgentSpec, thinking bool) *Agent {
	return &Agent{
		Name: spec.Name, Model: spec.Model, System: spec.System, Tools: spec.Tools,
		ToolNames: spec.ToolNames, Limit: spec.Window, Thinking: thinking,
	}
}

// Phase is what an agent is about to do.
type Phase int

// The phases.
const (
	Ready    Phase = iota // it has been spoken to, and the model's turn is next
	Thinking              // the model has been asked
	Acting                // tools have been called for
	Answered              // the model has spoken, and called for nothing
)

func (p Phase) String() string {
	return [...]string{"ready", "thinking", "acting", "answered"}[p]
}

// Phase follows from what the agent waits for and who spoke last.
func (a *Agent) Phase() Phase {
	switch {
	case a.Asked != 0:
		return Thinking
	case len(a.Open) > 0:
		return Acting
	case a.Transcript.lastRole() == model.Assistant:
		return Answered
	}
	return Ready
}

// Told adds a person's or the rules' words. A busy agent hears them after the
// results of its tools.
func (a *Agent) Told(t event.Text) {
	if a.Asked != 0 || len(a.Open) > 0 {
		a.Queue = append(a.Queue, t)
		return
	}
	a.Transcript.add(model.User, []Part{{Kind: event.PartText, Text: t}})
}

// Called notes that the model was asked, with the window it is shown.
func (a *Agent) Called(seq uint64, c *event.ModelCall) {
	a.Asked = seq
	a.Turns++
	a.Failed = nil
	a.Transcript.moveTo(c.Head, c.First)
}

// Heard takes the model's result in.
func (a *Agent) Heard(seq uint64, r *event.ModelResult) {
	a.Asked = 0
	a.Failed = r.Error
	a.Stop = r.Stop
	a.Cost += r.Cost
	a.Tokens += r.Usage.Input + r.Usage.Output
	if r.Wasted != nil {
		a.Tokens += r.Wasted.Input + r.Wasted.Output
	}
	a.Duration += r.Duration
	if r.Error != nil {
		if r.Error.Kind == string(model.ContextTooLong) {
			a.Overflows++
		}
		a.flushQueue()
		return
	}
	a.Overflows = 0
	if empty(r.Parts) && r.Stop == model.StopRefusal {
		a.Failed = &event.ModelError{Kind: string(model.Refused), Text: "the model refused to answer"}
		a.flushQueue()
		return
	}
	if empty(r.Parts) {
		a.Empty++
		a.flushQueue()
		return
	}
	a.Empty = 0
	parts := make([]Part, len(r.Parts))
	for i, p := range r.Parts {
		parts[i] = partOf(p)
		if p.Kind == event.PartToolCall {
			a.Open = append(a.Open, Use{ID: p.ID, Name: p.Name, Answer: seq, Part: int64(i), Args: parts[i].Args, Outline: p.Outline})
		}
	}
	a.Transcript.add(model.Assistant, parts)
	a.Transcript.measured(r.Usage)
	a.Idle++
	if len(a.Open) > 0 {
		a.Idle = 0
	}
	if len(a.Open) == 0 {
		a.flushQueue()
	}
}

// Used notes that a tool was called.
func (a *Agent) Used(seq uint64, c *event.ToolCall) {
	for i := range a.Open {
		if u := &a.Open[i]; u.Answer == c.Answer && u.Part == c.Part {
			u.Call = seq
		}
	}
}

// Blocked notes that the use of a tool was refused, and what the agent is told.
func (a *Agent) Blocked(seq uint64, answer uint64, part int64, why string) {
	for i := range a.Open {
		if u := &a.Open[i]; u.Answer == answer && u.Part == part {
			u.Call, u.Refused = seq, why
		}
	}
}

// GaveUp reports whether the model has failed for good. A context that was too
// long is cut and tried again, once; an empty answer is asked for again.
func (a *Agent) GaveUp() bool {
	overflow := a.Failed != nil && a.Failed.Kind == string(model.ContextTooLong) && a.Overflows == 1
	return a.Failed != nil && !overflow || a.Empty >= maxEmpty
}

// maxEmpty is how many answers without content in a row an agent may give.
const maxEmpty = 3

// Retry gives the agent another chance, because a person wants it.
func (a *Agent) Retry() { a.Failed, a.Empty, a.Idle, a.Parked, a.Held = nil, 0, 0, "", false }

// Wake gives the agent another chance, because something has happened that concerns
// it. What a policy has decided stands.
func (a *Agent) Wake() {
	if !a.Held {
		a.Retry()
	}
}

// Prepared notes what the world found in the arguments of a call.
func (a *Agent) Prepared(b *event.ToolPrepared) {
	for i := range a.Open {
		if u := &a.Open[i]; u.Call == b.Call && !u.Done {
			u.Prepared = b
		}
	}
}

// Got takes the result of a tool in. When it is the last one, the agent is told
// all of them at once, in the order of the calls, and then what waited.
func (a *Agent) Got(call uint64, output event.Text, failed bool) {
	maps.DeleteFunc(a.Commands, func(_ string, c Command) bool { return c.Ended && c.Call == call })
	waiting := false
	for i := range a.Open {
		if u := &a.Open[i]; u.Call == call && !u.Done {
			u.Done, u.Output, u.Error = true, output, failed
		}
		waiting = waiting || !a.Open[i].Done
	}
	if waiting || len(a.Open) == 0 {
		return
	}
	var parts []Part
	for _, u := range a.Open {
		parts = append(parts, Part{Kind: model.PartToolResult, ID: u.ID, Name: u.Name, Text: u.Output, Error: u.Error})
	}
	for _, t := range a.Queue {
		parts = append(parts, Part{Kind: event.PartText, Text: t})
	}
	a.Open, a.Queue = nil, nil
	a.Transcript.add(model.User, parts)
}

// Ran notes that a command has begun.
func (a *Agent) Ran(b *event.CliRun) {
	if a.Commands == nil {
		a.Commands = map[string]Command{}
	}
	a.Commands[b.Command] = Command{Call: b.Call, Keep: b.Keep}
}

// Exited notes that a command has ended. One that has outlived its call is
// forgotten: none can be begun for that call any more.
func (a *Agent) Exited(b *event.CliExit) {
	if !slices.ContainsFunc(a.Open, func(u Use) bool { return u.Call == b.Call && !u.Done }) {
		delete(a.Commands, b.Command)
		return
	}
	c := a.Commands[b.Command]
	c.Ended = true
	a.Commands[b.Command] = c
}

// Wrote notes that the agent's files are others, and which call did it, if one did.
func (a *Agent) Wrote(b *event.FileDiff) {
	a.Tree = &b.After
	for i := range a.Open {
		if u := &a.Open[i]; b.Call != 0 && u.Call == b.Call {
			u.Changed = true
		}
	}
}

func (a *Agent) flushQueue() {
	queue := a.Queue
	a.Queue = nil
	for _, t := range queue {
		a.Told(t)
	}
}

// Abandon forgets what the agent waits for, as a fork does: the calls of the
// origin are not the fork's. A turn that had no answer is taken again, and tools
// that had no result are called for again. The origin's computer, and what runs in
// it, are the origin's too.
func (a *Agent) Abandon() {
	a.Computer, a.Commands = event.Hash{}, nil
	if a.Asked != 0 {
		a.Asked = 0
		a.Turns--
		a.flushQueue()
	}
	for i := range a.Open {
		if !a.Open[i].Done {
			a.Open[i].Call, a.Open[i].Refused, a.Open[i].Changed, a.Open[i].Prepared = 0, "", false, nil
		}
	}
}

// Use returns the tool call with the given seq.
func (a *Agent) Use(call uint64) (Use, error) {
	for _, u := range a.Open {
		if u.Call == call && call != 0 {
			return u, nil
		}
	}
	return Use{}, fmt.Errorf("agent %s has no open tool call %d", a.Name, call)
}

// NextCall is the model.call that the agent's transcript asks for now. A window
// that is full is cut first; so is one that the provider refused as too long.
func (a *Agent) NextCall() *event.ModelCall {
	t := &a.Transcript
	head, first := t.Head, t.First
	total := t.tokens(a.System.Size + a.Tools.Size)
	switch {
	case a.Overflows > 0:
		head, first = t.cut(total, total/2)
	case total > a.Limit:
		head, first = t.cut(total, a.Limit/2)
	}
	c := &event.ModelCall{
		First: first, Head: head, Last: t.End() - 1, Model: a.Model, Thinking: a.Thinking,
		System: a.System.Hash, Tools: a.Tools.Hash, Turn: a.Turns + 1,
	}
	c.Rendering = t.rendering(c)
	return c
}

// Said is the text of the agent's last answer. If it has several parts, the
// last one is it: what came before a tool call or a thought is not the answer.
func (a *Agent) Said() event.Text {
	msgs := a.Transcript.Messages
	if len(msgs) == 0 {
		return event.Text{}
	}
	parts := msgs[len(msgs)-1].Parts
	for j := len(parts) - 1; j >= 0; j-- {
		if parts[j].Kind == event.PartText {
			return parts[j].Text
		}
	}
	return event.Text{}
}

// empty reports whether an answer says nothing and calls for nothing. Thoughts
// alone are no answer.
func empty(parts []event.Part) bool {
	for _, p := range parts {
		if p.Kind == event.PartToolCall || p.Kind == event.PartText && p.Text != nil && p.Text.Len() > 0 {
			return false
		}
	}
	return true
}
