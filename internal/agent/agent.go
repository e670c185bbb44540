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
	Name  string
	Model string
	// Executor is the outside agent that acts, if one does.
	Executor  string `json:",omitzero"`
	System    event.Ref
	Tools     event.Ref
	ToolNames []string
	// Sources are where tools come from that are not Lyceum's own.
	Sources  map[string]event.ShownTool `json:",omitempty"`
	Thinking bool
	// Effort is how much the model is to think, where somebody said so.
	Effort string `json:",omitzero"`
	// MaxOutput is how many tokens an answer may have, 0 what the provider takes;
	// RaisedOutput is what it is raised to when one is cut off, 0 if it is not, and Raised
	// says that it was.
	MaxOutput, RaisedOutput int64 `json:",omitzero"`
	Raised                  bool  `json:",omitzero"`
	// Strict says that no call may use more than Bound says; Price is what its tokens cost
	// then, if that is known. Broken counts calls in a row that broke off after they had
	// cost something.
	Strict bool         `json:",omitzero"`
	Price  *event.Price `json:",omitzero"`
	Broken int64        `json:",omitzero"`
	// Limit is how many tokens a request may have.
	Limit int64
	// Compacts says that the model sums up what its window has no room for any more.
	Compacts bool `json:",omitzero"`

	Transcript Transcript
	// Asked is the model.call or prompt.call that has no result yet, 0 for none.
	Asked uint64
	// Compacting is what it asks for, if that is a summary. Uncompacted says that the last
	// one failed, and the window is to be cut.
	Compacting  *event.Compaction `json:",omitzero"`
	Uncompacted bool              `json:",omitzero"`
	// Stood is the turn before which the agent was last told where it stands, Seen the
	// computer that it was told of.
	Stood int64      `json:",omitzero"`
	Seen  event.Hash `json:",omitzero"`
	// Open are the tool calls of the last answer, in its order, until all of
	// them have results.
	Open []Use
	// Results are the last long results of its calls, the oldest first.
	Results []LongResult `json:",omitempty"`
	// Proposed are the last calls of an outside agent that have their results.
	Proposed []Proposed `json:",omitempty"`
	// Gateway is what an outside agent may ask of models besides its own. Requests are those
	// that it has sent to the gateway and that have no answer, and Requested counts those
	// that went out: each is a turn as far as limits go.
	Gateway   *event.GatewaySpec `json:",omitzero"`
	Requests  []Request          `json:",omitempty"`
	Requested int64              `json:",omitzero"`
	// Session is what is known of the executor that the agent is, nil if nobody prompts it.
	Session *Session `json:",omitzero"`
	// Blocks are those that the agent was told in its window, if it works in sittings.
	Blocks []Known `json:",omitempty"`
	// Queue is what was said to the agent while it was busy.
	Queue []Word

	// Turns counts model calls, and prompts.
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
	// Computer is the fingerprint of its computer, once that has been started, and Has what
	// is in it, if that is known.
	Computer event.Hash           `json:",omitzero"`
	Has      *event.ComputerHolds `json:",omitzero"`
	// Network is where its computer's programs can connect to, if that is not what the
	// quest asks for: of an imported quest, less may be allowed.
	Network *event.ComputerNetwork `json:",omitzero"`
	// Notes is the size of the notes that it keeps for itself, 0 if it has none.
	Notes int64 `json:",omitzero"`
	// Commands are those that have begun in it and not ended, by their ids, and
	// those that have ended while the call they were run for is open.
	Commands map[string]Command `json:",omitempty"`
	// Cost, Tokens and Duration are what the agent has used: nanodollars, and
	// microseconds of its calls.
	Cost, Tokens, Duration int64
	// Stored is how many bytes of the disk are taken for it. Full is the limit on that which
	// was last reached, and Unkept how often in a row its files could not be recorded for it.
	Stored int64       `json:",omitzero"`
	Full   *event.Full `json:",omitzero"`
	Unkept int64       `json:",omitzero"`
	// Unpriced counts the answers whose cost is unknown.
	Unpriced int64
	// Parked says why the agent is not to be asked until somebody speaks to it.
	// It is empty while it may be. Held says that a policy did it: then only a person
	// can give it its turn back.
	Parked string
	Held   bool `json:",omitzero"`
}

// Mind is what decides what an agent does.
type Mind int

// The minds.
const (
	ByRules   Mind = iota // the society's rules alone
	ByModel               // a model, which is asked turn by turn
	ByOutside             // an agent of its own, which proposes what it wants to do
)

// Mind is what decides what the agent does.
func (a *Agent) Mind() Mind {
	switch {
	case a.Executor != "":
		return ByOutside
	case a.Model != "":
		return ByModel
	}
	return ByRules
}

// NotesFile is where agents are advised to keep their notes, in their homes.
const NotesFile = "notes.md"

// MaxCommands is how many commands of an agent are kept account of.
const MaxCommands = 256

// New returns an agent as a quest begins with it.
func New(spec event.AgentSpec, thinking bool) *Agent {
	a := &Agent{
		Name: spec.Name, Model: spec.Model, Executor: spec.Executor, System: spec.System, Tools: spec.Tools,
		Gateway: spec.Gateway, ToolNames: spec.ToolNames, Limit: spec.Window, Thinking: thinking, MaxOutput: spec.MaxOutput, RaisedOutput: spec.RaisedOutput, Price: spec.Price,
	}
	switch spec.Thinking {
	case "": // as the quest says
	case model.NoEffort:
		a.Thinking = false
	case "true":
		a.Thinking = true
	default:
		a.Thinking, a.Effort = true, spec.Thinking
	}
	return a
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

// Told adds a person's or the rules' words, with the files that come with them. A busy
// agent hears them after the results of its tools.
func (a *Agent) Told(t event.Text, attached ...event.Attachment) {
	w := Word{t, attached}
	if a.Asked != 0 || len(a.Open) > 0 || a.Session != nil && a.Session.Home != 0 {
		a.Queue = append(a.Queue, w)
		return
	}
	a.Transcript.add(model.User, []Part{w.part()})
}

// Called notes that the model was asked, with the window it is shown.
func (a *Agent) Called(seq uint64, c *event.ModelCall) {
	a.Asked = seq
	a.Turns++
	a.Failed = nil
	if a.Compacting = c.Compact; c.Compact == nil {
		a.Uncompacted = false
	}
	a.Transcript.moveTo(c.Head, c.First)
}

// Heard takes the model's result in.
func (a *Agent) Heard(seq uint64, r *event.ModelResult) {
	a.Asked = 0
	a.Failed = r.Error
	a.Stop = r.Stop
	a.Cost += r.Cost
	if r.Unpriced {
		a.Unpriced++
	}
	a.Tokens += r.Usage.Input + r.Usage.Output
	if r.Wasted != nil {
		a.Tokens += r.Wasted.Input + r.Wasted.Output
	}
	a.Duration += r.Duration
	if r.Untaken() {
		// Nobody was asked, in the end: the turn, or the summary, is still to be taken.
		a.Turns--
		a.Failed, a.Compacting = nil, nil
		a.flushQueue()
		return
	}
	if a.Compacting != nil {
		a.compacted(r)
		return
	}
	a.broke(r)
	if r.Error != nil {
		switch r.Error.Kind {
		case string(model.ContextTooLong):
			a.Overflows++
		case event.KindStopped:
			a.Failed = nil // the rules wanted that: it is asked again, with what was said to it
		}
		a.flushQueue()
		return
	}
	a.Overflows = 0
	if r.Stop == model.StopLength && a.RaisedOutput > a.MaxOutput {
		a.MaxOutput, a.Raised = a.RaisedOutput, true
	}
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
	if !r.Estimated {
		a.Transcript.measured(r.Usage)
	}
	a.Idle++
	if len(a.Open) > 0 {
		a.Idle = 0
	}
	if len(a.Open) == 0 {
		a.flushQueue()
	}
}

// Propose notes that an outside agent wants to use a tool.
func (a *Agent) Propose(seq uint64, b *event.ToolProposed) {
	if a.Session != nil {
		a.Session.Used++
	}
	a.Open = append(a.Open, Use{ID: b.ID, Name: b.Name, Answer: seq, Args: b.Args, Outline: b.Outline, Outside: true})
}

// Shown gives the agent another list of tools.
func (a *Agent) Shown(b *event.ToolsShown) {
	a.Tools, a.ToolNames, a.Sources = b.Tools, make([]string, len(b.Shown)), nil
	for i, t := range b.Shown {
		a.ToolNames[i] = t.Name
		if t.Source == "" {
			continue
		}
		if a.Sources == nil {
			a.Sources = map[string]event.ShownTool{}
		}
		a.Sources[t.Name] = t
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

// Blocked notes that the use of a tool was refused or is not made, and what the agent is
// told.
func (a *Agent) Blocked(seq uint64, answer uint64, part int64, why string) {
	for i := range a.Open {
		if u := &a.Open[i]; u.Answer == answer && u.Part == part {
			u.Call, u.Refused = seq, why
		}
	}
}

// GaveUp reports whether the model has failed for good. A context that was too
// long is cut and tried again, once; an empty answer is asked for again, and so is one
// that broke off, where the call itself could not.
func (a *Agent) GaveUp() bool {
	overflow := a.Failed != nil && a.Failed.Kind == string(model.ContextTooLong) && a.Overflows == 1
	broken := a.Failed != nil && a.Broken > 0 && a.Broken < maxBroken
	if a.Session != nil && a.Session.Failed != "" {
		return true
	}
	return a.Failed != nil && !overflow && !broken || a.Empty >= maxEmpty
}

// maxEmpty is how many answers without content in a row an agent may give.
const maxEmpty = 3

// Retry gives the agent another chance, because a person wants it.
func (a *Agent) Retry() {
	if a.Session != nil {
		a.Session.Failed, a.Session.Cut = "", 0
	}
	a.Empty, a.Broken, a.Idle, a.Unkept, a.Parked, a.Held = 0, 0, 0, 0, "", false
	if a.Failed != nil && a.Failed.Kind == event.KindStopped {
		return // the rules wanted that, and go on when they say something
	}
	a.Failed = nil
}

// Wake gives the agent another chance, because something has happened that concerns
// it. What a policy has decided stands, and an executor that cannot be used stays so.
func (a *Agent) Wake() {
	if a.Held {
		return
	}
	if a.Session != nil && a.Session.Failed != "" {
		a.Parked = ""
		return
	}
	a.Retry()
}

// Prepared notes what the world found in the arguments of a call.
func (a *Agent) Prepared(b *event.ToolPrepared) {
	for i := range a.Open {
		if u := &a.Open[i]; u.Call == b.Call && !u.Done {
			u.Prepared = b
		}
	}
}

// Got takes the result of a tool in, the event of that seq, with the files that come with
// it. When it is the last one, the agent is told all of them at once, in the order of the
// calls, and then what waited. An outside agent hears each result by itself.
func (a *Agent) Got(seq, call uint64, output event.Text, failed bool, attached ...event.Attachment) {
	maps.DeleteFunc(a.Commands, func(_ string, c Command) bool { return c.Ended && c.Call == call })
	if output.Ref != nil {
		a.Keep(call, event.Text{Ref: output.Ref})
	}
	if i := slices.IndexFunc(a.Open, func(u Use) bool { return u.Outside && u.Call == call }); i >= 0 {
		a.Proposed = append(a.Proposed, Proposed{a.Open[i].ID, seq})
		a.Proposed = a.Proposed[max(0, len(a.Proposed)-MaxProposed):]
		if a.Open = slices.Delete(a.Open, i, i+1); len(a.Open) == 0 {
			a.flushQueue()
		}
		return
	}
	waiting := false
	for i := range a.Open {
		if u := &a.Open[i]; u.Call == call && !u.Done {
			u.Done, u.Output, u.Error, u.Attached = true, output, failed, attached
		}
		waiting = waiting || !a.Open[i].Done
	}
	if waiting || len(a.Open) == 0 {
		return
	}
	var parts []Part
	for _, u := range a.Open {
		parts = append(parts, Part{Kind: model.PartToolResult, ID: u.ID, Name: u.Name, Text: u.Output, Error: u.Error, Attached: u.Attached})
	}
	for _, w := range a.Queue {
		parts = append(parts, w.part())
	}
	a.Open, a.Queue = nil, nil
	a.Transcript.add(model.User, parts)
}

// Ran notes that a command has begun.
func (a *Agent) Ran(b *event.CliRun) {
	if a.Commands == nil {
		a.Commands = map[string]Command{}
	}
	a.Commands[b.Command] = Command{Call: b.Call, Prompt: b.Prompt, Keep: b.Keep}
}

// Exited notes that a command has ended. One that has outlived its call is
// forgotten: none can be begun for that call any more.
func (a *Agent) Exited(b *event.CliExit) {
	if p := a.Commands[b.Command].Prompt; p != 0 {
		if p != a.Asked {
			delete(a.Commands, b.Command)
			return
		}
		a.Commands[b.Command] = Command{Prompt: p, Ended: true}
		return
	}
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
	a.Tree, a.Unkept = &b.After, 0
	for _, c := range b.Changes {
		if c.Path == NotesFile {
			if a.Notes = c.Size; c.Kind == event.Removed {
				a.Notes = 0
			}
		}
	}
	for i := range a.Open {
		if u := &a.Open[i]; b.Call != 0 && u.Call == b.Call {
			u.Changed = true
		}
	}
}

func (a *Agent) flushQueue() {
	queue := a.Queue
	a.Queue = nil
	for _, w := range queue {
		a.Told(w.Text, w.Attached...)
	}
}

// Become gives the agent another model. What was known of the one before, such as how
// long its answers can be, is not known of this one.
func (a *Agent) Become(model string) {
	a.Model, a.RaisedOutput = model, 0
	if a.Raised {
		a.MaxOutput, a.Raised = 0, false
	}
}

// Abandon forgets what the agent waits for, as a fork does: the calls of the
// origin are not the fork's. A turn that had no answer is taken again, and tools
// that had no result are called for again. The origin's computer, and what runs in
// it, are the origin's too.
func (a *Agent) Abandon() {
	a.Computer, a.Has, a.Commands = event.Hash{}, nil, nil
	if a.Asked != 0 {
		a.Asked, a.Compacting = 0, nil
		a.Turns--
		a.flushQueue()
	}
	// An outside agent is the origin's: what it wanted nobody waits for here.
	a.Open = slices.DeleteFunc(a.Open, func(u Use) bool { return u.Outside })
	a.Proposed = nil
	if a.Session != nil {
		a.Session = &Session{}
		a.flushQueue()
	}
	for _, r := range a.Requests {
		if r.Call != 0 && !r.Count {
			a.Requested--
		}
	}
	a.Requests = nil
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
	head, first := a.window()
	c := a.call(head, first, a.Transcript.End()-1)
	c.Rendering = a.Transcript.rendering(c)
	return c
}

func (a *Agent) call(head, first, last int64) *event.ModelCall {
	c := &event.ModelCall{
		First: first, Head: head, Last: last, MaxTokens: a.MaxOutput, Model: a.Model, Thinking: a.Thinking,
		System: a.System.Hash, Tools: a.Tools.Hash, Turn: a.Turns + 1,
	}
	if a.Thinking {
		c.Effort = a.Effort
	}
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
