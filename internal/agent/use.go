package agent

import "lyceum/internal/event"

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
	// Call is the tool.call, or the policy.blocked or tool.skipped, 0 until there is one.
	Call uint64
	// Refused is what the agent is to be told, if the use was blocked or skipped.
	Refused string `json:",omitzero"`
	// Changed says that the call has changed the agent's files.
	Changed bool `json:",omitzero"`
	// Prepared is what the world found in the arguments, where the rules need that.
	Prepared *event.ToolPrepared `json:",omitzero"`
	// Free says that it has no effect on other calls of the turn that are free: they may be
	// made at the same time.
	Free bool `json:",omitzero"`
	// Outside says that it was proposed by an outside agent: no answer of a model waits
	// for its result.
	Outside bool `json:",omitzero"`
	Done    bool
	Output  event.Text
	Error   bool
	// Attached is what the tool gave besides its output.
	Attached []event.Attachment `json:",omitempty"`
}

// Word is something said to an agent, with the files that came with it.
type Word struct {
	Text     event.Text
	Attached []event.Attachment `json:",omitempty"`
}

func (w *Word) part() Part { return Part{Kind: event.PartText, Text: w.Text, Attached: w.Attached} }

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
	// Call is the tool.call it was run for, Prompt the prompt of an executor.
	Call   uint64
	Prompt uint64 `json:",omitzero"`
	// Keep says that it may outlive its call.
	Keep bool `json:",omitzero"`
	// Ended says that it has; it is remembered so that it does not a second time.
	Ended bool `json:",omitzero"`
}

// Proposed is a call of an outside agent that has its result, the event of that seq.
type Proposed struct {
	ID     string
	Result uint64
}

// MaxProposed is how many calls of an outside agent may be open at a time, and how many
// are remembered, so that one which is proposed again is not made again.
const MaxProposed = 64

// LongResult is a result that stands in a blob, or a message that the agent was shown the
// beginning of: then Call is the message.
type LongResult struct {
	Call uint64
	Ref  event.Ref `json:",omitzero"`
	Text string    `json:",omitzero"`
}

// MaxLong is how many long results of an agent are remembered.
const MaxLong = 256

// Long is where the long result of a call of the agent's stands.
func (a *Agent) Long(call uint64) (LongResult, bool) {
	for _, r := range a.Results {
		if r.Call == call {
			return r, true
		}
	}
	return LongResult{}, false
}

// Keep remembers where something stands that the agent was not shown whole.
func (a *Agent) Keep(call uint64, t event.Text) {
	r := LongResult{Call: call, Text: t.Text}
	if t.Ref != nil {
		r.Ref = *t.Ref
	}
	a.Results = append(a.Results, r)
	a.Results = a.Results[max(0, len(a.Results)-MaxLong):]
}
