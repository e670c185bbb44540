package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// Session is what is known of the executor that an agent is: whether it can be used, the
// session with it, and what it waits for while a prompt is open. Only agents have one whose
// executor is pinned in the quest's first event: they are prompted. Others that are none of
// ours come by themselves.
type Session struct {
	// Call is the executor.call without an answer, 0 for none. Info is what the executor said
	// of itself once it was ready, and Failed why it cannot be used.
	Call   uint64               `json:",omitzero"`
	Info   *event.ExecutorReady `json:",omitzero"`
	Failed string               `json:",omitzero"`
	// Home is the home.call without an answer, 0 for none.
	Home uint64 `json:",omitzero"`
	// ID and Process are those of the session that was opened last.
	ID      string `json:",omitzero"`
	Process string `json:",omitzero"`
	// Told is how many messages of the transcript were said in it. Last is the last one of
	// the open prompt, Begun the process that was told that, Used how many calls came of it,
	// and Before what the agent had used of its time.
	Told   int64  `json:",omitzero"`
	Last   int64  `json:",omitzero"`
	Begun  string `json:",omitzero"`
	Used   int64  `json:",omitzero"`
	Before int64  `json:",omitzero"`
	// Stopped says why the open prompt was stopped, if it was.
	Stopped string `json:",omitzero"`
	// Cut is how many prompts in a row were interrupted before anything came of them.
	Cut int64 `json:",omitzero"`
	// At is how far the output of the process is known, in bytes, and Here what was told of
	// that very place, so that nothing is told twice. Said and Thought are where the last words
	// stand: words are told when something else follows, which may be later.
	At      int64    `json:",omitzero"`
	Here    []string `json:",omitempty"`
	Said    int64    `json:",omitzero"`
	Thought int64    `json:",omitzero"`
	// Brought are words that the executor has heard in answers of tools while the prompt is open,
	// and that are not in the transcript yet.
	Brought []Brought `json:",omitempty"`
	// Permissions are those that the executor waits for, Decided the last ones that it has
	// an answer to.
	Permissions []Permission `json:",omitempty"`
	Decided     []Decided    `json:",omitempty"`
}

// Brought is a word that an answer of a tool has brought, because of the event Seq.
type Brought struct {
	Seq uint64
	Word
}

// Permission is what an executor wants to be allowed, and waits for.
type Permission struct {
	// Asked is the permission.asked.
	Asked   uint64
	Process string
	Body    event.PermissionAsked
}

// Decided is an answer that an executor was given, the event of that seq.
type Decided struct {
	ID     string
	Seq    uint64
	Option string `json:",omitzero"`
}

// MaxPermissions is how many permissions of an executor may be open at a time, and how many
// answers are remembered.
const MaxPermissions = 32

// MaxRuns is how many commands are run for one prompt.
const MaxRuns = 1024

// Working reports whether an executor has something to do: it is made ready, or a prompt is
// open. Only then it may ask for models.
func (a *Agent) Working() bool {
	return a.Session == nil || a.Asked != 0 || a.Session.Call != 0
}

// Renewable reports whether the agent is an executor that does nothing, so that it can begin
// anew.
func (a *Agent) Renewable() bool {
	x := a.Session
	return x != nil && a.Asked == 0 && x.Call == 0 && x.Home == 0 && len(a.Open) == 0 && len(x.Permissions) == 0 && len(a.Requests) == 0
}

// Renew has an executor begin as one that has heard nothing, in a home that is made by a
// home.call. What it can do is still known, and what it has used still counts. Whatever it is
// told from now on, it hears once the home is there.
func (a *Agent) Renew(seq uint64) {
	a.Session = &Session{Info: a.Session.Info, Failed: a.Session.Failed, Home: seq}
	a.Transcript, a.Queue, a.Results, a.Proposed = Transcript{}, nil, nil, nil
	a.Failed, a.Empty, a.Overflows, a.Broken, a.Idle, a.Stop, a.Unkept = nil, 0, 0, 0, 0, "", 0
	a.Stood, a.Seen = a.Turns, event.Hash{}
}

// Renewed gives the executor its home. Without one, because of an error, it has what is there.
func (a *Agent) Renewed(b *event.HomeRenewed) {
	a.Session.Home = 0
	if b.Error.Len() == 0 {
		a.Tree, a.Notes = b.Tree, 0
	}
	a.flushQueue()
}

// NextPrompt is the prompt.call that the transcript asks for now.
func (a *Agent) NextPrompt() *event.PromptCall {
	c := &event.PromptCall{First: a.Session.Told, Last: a.Transcript.End() - 1, Turn: a.Turns + 1}
	c.Rendering = a.prompting(c)
	return c
}

// Prompted notes that the executor is prompted.
func (a *Agent) Prompted(seq uint64, c *event.PromptCall) {
	x := a.Session
	a.Asked, a.Failed = seq, nil
	a.Turns++
	x.Last, x.Begun, x.Used, x.Before, x.Stopped = c.Last, "", 0, a.Duration, ""
	x.Decided = nil
}

// Brings notes a word that an answer of a tool brings an executor while its prompt is open. A
// session that takes the place of this one is told.
func (a *Agent) Brings(seq uint64, t event.Text) {
	a.Session.Brought = append(a.Session.Brought, Brought{seq, Word{Text: t}})
}

// unheard has words that only an earlier session has heard be told like any others.
func (a *Agent) unheard() {
	var queue []Word
	for _, h := range a.Session.Brought {
		queue = append(queue, h.Word)
	}
	a.Queue, a.Session.Brought = append(queue, a.Queue...), nil
}

// noteBrought puts the words that came in answers of tools into the transcript: they were said.
func (a *Agent) noteBrought() {
	x := a.Session
	if len(x.Brought) == 0 {
		return
	}
	if x.Told < a.Transcript.End() {
		a.unheard() // who has not heard what came before has not heard these
		return
	}
	for _, h := range x.Brought {
		a.Transcript.add(model.User, []Part{h.Word.part()})
	}
	x.Brought, x.Told = nil, a.Transcript.End()
}

// Opened notes that there is a session. A new one has been told nothing, and another process
// begins its output anew.
func (a *Agent) Opened(b *event.SessionOpened) {
	x := a.Session
	if b.ID != x.ID || b.How == event.SessionNew {
		x.Told = 0
		a.unheard()
	}
	if b.Process != x.Process {
		x.At, x.Here, x.Said, x.Thought, x.Decided = 0, nil, 0, 0, nil
	}
	x.ID, x.Process = b.ID, b.Process
}

// Began notes that the executor has heard the prompt.
func (a *Agent) Began(b *event.PromptBegun) {
	a.Session.Begun, a.Session.Told = b.Process, a.Session.Last+1
}

// Returned takes in how a prompt ended. What the executor said last is its answer. If there is
// none, the executor is told again to go on: it has heard what was said.
func (a *Agent) Returned(r *event.PromptResult, again event.Text) {
	x := a.Session
	begun := x.Begun != ""
	a.Asked, x.Begun, a.Stop = 0, "", stops[r.Stop]
	a.Duration = max(a.Duration, x.Before+r.Duration)
	maps.DeleteFunc(a.Commands, func(_ string, c Command) bool { return c.Ended && c.Prompt != 0 })
	defer a.flushQueue()
	a.noteBrought()
	answered := false
	why := x.Stopped
	x.Stopped = ""
	switch {
	case why != "": // whatever it says, nobody takes it up
		a.Failed, a.Broken, again = &event.ModelError{Kind: event.KindStopped, Text: why}, 0, event.Text{}
	case r.Stop == event.StopInterrupted: // the turn is still to be taken
		a.Turns--
		a.cut(r)
	case r.Failed():
		a.Failed = &event.ModelError{Kind: string(model.Unavailable), Text: cmp.Or(r.Error.Text, "the prompt failed")}
		a.Broken++
	case r.Text.Len() == 0 && r.Stop == event.StopRefusal:
		a.Failed, a.Broken = &event.ModelError{Kind: string(model.Refused), Text: "the executor refused to answer"}, 0
	case r.Text.Len() == 0:
		a.Empty++
	default:
		answered = true
		a.Empty, a.Broken, x.Cut = 0, 0, 0
		if a.Idle++; x.Used > 0 {
			a.Idle = 0
		}
		a.Transcript.add(model.Assistant, []Part{{Kind: event.PartText, Text: r.Text}})
		x.Told = a.Transcript.End()
	}
	if !begun {
		return
	}
	if !answered && again.Len() > 0 {
		a.Transcript.addAside(again)
	}
	a.Transcript.moveTo(a.window())
}

// maxCut is how often an executor is prompted again that is gone before anything came of it.
const maxCut = 5

// cut notes that a prompt was interrupted. One that is, again and again, before anything came of
// it has an executor that cannot live where it is.
func (a *Agent) cut(r *event.PromptResult) {
	x := a.Session
	if x.Cut++; x.Used > 0 || r.Text.Len() > 0 {
		x.Cut = 0
	}
	if x.Cut >= maxCut {
		a.Failed = &event.ModelError{Kind: string(model.Unavailable), Text: fmt.Sprintf("its prompts were interrupted %d times in a row before it did anything", x.Cut)}
		a.Broken = maxBroken
	}
}

// Halt notes that the open prompt is stopped: how it ends then is no answer.
func (a *Agent) Halt(why string) { a.Session.Stopped = why }

// Heed has an executor whose prompt was stopped, or could not be said, go on: somebody has said
// something to it.
func (a *Agent) Heed() {
	lost := a.Session != nil && a.Session.Cut >= maxCut
	if a.Failed != nil && (lost || a.Failed.Kind == event.KindStopped) {
		a.Failed = nil
	}
	if lost {
		a.Session.Cut, a.Broken = 0, 0
	}
}

// stops are the reasons of models for those of executors.
var stops = map[string]string{
	event.StopEnd: model.StopEnd, event.StopTokens: model.StopLength, event.StopRequests: model.StopEnd,
	event.StopRefusal: model.StopRefusal, event.StopCancelled: model.StopEnd,
}

// Reported notes how far the executor's output is known, and what was told of that place.
func (a *Agent) Reported(at int64, what string) {
	x := a.Session
	if at > x.At {
		x.At, x.Here = at, nil
	}
	x.Here = append(x.Here, what)
}

// Spoke notes words that the executor reported.
func (a *Agent) Spoke(b *event.SaidReported) {
	x := a.Session
	*x.words(b.Thought) = b.At
	if b.At > x.At {
		x.At, x.Here = b.At, nil
	}
}

// Heard reports whether words that the executor reported are known already.
func (x *Session) Heard(b *event.SaidReported) bool { return b.At <= *x.words(b.Thought) }

func (x *Session) words(thought bool) *int64 {
	if thought {
		return &x.Thought
	}
	return &x.Said
}

// Knows reports whether something that the executor reported is known already.
func (x *Session) Knows(at int64, what string) bool {
	return at < x.At || at == x.At && slices.Contains(x.Here, what)
}

// Permission returns the one that a permission.asked made, nil if it is not open.
func (a *Agent) Permission(asked uint64) *Permission {
	if a.Session == nil {
		return nil
	}
	for i := range a.Session.Permissions {
		if p := &a.Session.Permissions[i]; p.Asked == asked {
			return p
		}
	}
	return nil
}

// Wants notes that the executor waits for a permission.
func (a *Agent) Wants(seq uint64, b *event.PermissionAsked) {
	a.Session.Permissions = append(a.Session.Permissions, Permission{Asked: seq, Process: a.Session.Process, Body: *b})
}

// Permitted notes what the executor was answered. One of a process that is gone hears nothing.
func (a *Agent) Permitted(seq uint64, b *event.PermissionDecided) {
	x := a.Session
	p := a.Permission(b.Asked)
	if p.Process == x.Process {
		x.Decided = append(x.Decided, Decided{ID: p.Body.ID, Seq: seq, Option: b.Option})
		x.Decided = x.Decided[max(0, len(x.Decided)-MaxPermissions):]
	}
	x.Permissions = slices.DeleteFunc(x.Permissions, func(p Permission) bool { return p.Asked == b.Asked })
}
