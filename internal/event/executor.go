package event

// Executors: outside agents in computers, reached over the Agent Client Protocol alone. What
// they say is a claim. What they did themselves is marked as reported; what passed through
// Lyceum is witnessed.

// ExecutorPin is an executor that agents of a quest are, as the quest was made. What only a
// running one can tell is in no first event: see ExecutorReady.
type ExecutorPin struct {
	Name string `json:"name"`
	// Settings are what is known of it: its command, variables, the format in which it asks for
	// models, its mode. There is no secret among them.
	Settings Ref `json:"settings"`
}

// ExecutorCall has the executor of an agent, the actor, started in the agent's computer and
// made ready: greeted, signed in where it wants that, a session opened and given a mode that
// asks before it acts. It comes before the agent's first prompt.
type ExecutorCall struct {
	Executor string `json:"executor"`
}

// ExecutorReady says what an executor is, or why it cannot be used: another version of the
// protocol, a capability that is missing, no answer in time.
type ExecutorReady struct {
	Call uint64 `json:"call"`
	// Capabilities are what it says that it can do, by name and sorted.
	Capabilities []string `json:"capabilities,omitempty"`
	Error        Text     `json:"error,omitzero"`
	// Fingerprint is that of the computer it runs in, its folder with it.
	Fingerprint Hash `json:"fingerprint,omitzero"`
	// Mode is the one that it was given, empty if it has none.
	Mode string `json:"mode,omitzero"`
	// Name and Version are what it calls itself, Protocol is the version that is spoken.
	Name     string `json:"name,omitzero"`
	Protocol int64  `json:"protocol,omitzero"`
	// Reported says that it runs commands by itself, so that all that is known of them is what
	// it says.
	Reported bool   `json:"reported,omitzero"`
	Version  string `json:"version,omitzero"`
}

// SessionOpened says that an agent, the actor, has a session with its executor. All prompts go
// on in it, over restarts too. One that a new process loads or resumes is the same session.
type SessionOpened struct {
	// How it came: new, loaded or resumed.
	How string `json:"how"`
	// ID is what the executor calls it.
	ID string `json:"id"`
	// Process is the command of the computer in which it is.
	Process string `json:"process"`
}

// PromptCall is an agent's turn, where the agent is an executor: what was said to it since the
// last one is said to the executor, which then works until it stops by itself. The calls of
// tools that it makes meanwhile are proposals of the agent.
type PromptCall struct {
	// First and Last are the messages of the transcript that it is told. From message 0 on a
	// session is told that knows nothing yet, the system prompt before that.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	// Rendering is the hash of what it is told, chained message by message.
	Rendering Hash  `json:"rendering"`
	Turn      int64 `json:"turn"`
}

// PromptBegun says that a prompt is about to be written to a process. It is durable before the
// first byte is: after a crash the process is asked nothing twice.
type PromptBegun struct {
	Call    uint64 `json:"call"`
	Process string `json:"process"`
	// Session is the one it is said in.
	Session string `json:"session"`
}

// PromptResult is how a prompt ended.
type PromptResult struct {
	Call     uint64 `json:"call"`
	Duration int64  `json:"duration,omitzero"`
	// Ended is the limit for which the executor's process was ended: memory.
	Ended string `json:"ended,omitzero"`
	// Error is why there is no end that the executor told, if there is none.
	Error Text `json:"error,omitzero"`
	// Frames are all lines of both sides, from which the events of the prompt are derived.
	Frames *Ref `json:"frames,omitzero"`
	// Full is the limit on storage that kept the agent's files from being recorded after the
	// prompt.
	Full *Full `json:"full,omitzero"`
	// Stop is why the executor stopped: end_turn, max_tokens, max_turn_requests, refusal,
	// cancelled; or interrupted, if Lyceum had it stop.
	Stop string `json:"stop,omitzero"`
	// Stored is how many bytes of the disk the frames and texts took.
	Stored int64 `json:"stored,omitzero"`
	// Text is what it said to the end, its last words; Thought what it said to itself.
	Text    Text `json:"text,omitzero"`
	Thought Text `json:"thought,omitzero"`
}

// PermissionAsked says that an executor, the actor, wants to be allowed something that it does
// itself. It waits.
type PermissionAsked struct {
	// At is how far the executor's output was read, in bytes.
	At int64 `json:"at"`
	// ID is that of the request.
	ID string `json:"id"`
	// Input is what it wants to do, as it says.
	Input Text `json:"input,omitzero"`
	// Kind is what it calls it: read, edit, delete, move, search, execute, think, fetch, switch_mode, other.
	Kind    string             `json:"kind,omitzero"`
	Options []PermissionOption `json:"options"`
	// Outline is what policies see of an input that is in a blob.
	Outline string `json:"outline,omitzero"`
	// Paths are the files that it is about, as they are called in the home; one outside it is
	// absolute.
	Paths  []string `json:"paths,omitempty"`
	Prompt uint64   `json:"prompt"`
	Title  Text     `json:"title"`
	// Tool is the executor's name for the call.
	Tool string `json:"tool"`
}

// PermissionOption is an answer that the executor takes.
type PermissionOption struct {
	ID string `json:"id"`
	// Kind is allow_once, allow_always, reject_once or reject_always.
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// PermissionDecided answers an executor that asked: it may do it once, or it may not. Policies
// are asked before it may, and the person, if they say so. It may not if one of them is against
// it, if nobody answers in time, and if the prompt is over.
type PermissionDecided struct {
	// Asked is the permission.asked.
	Asked uint64 `json:"asked"`
	// Given says that it may.
	Given bool `json:"given,omitzero"`
	// Option is the id of what is answered, one of those that were offered and never one that
	// holds for more than once; empty if the request is cancelled.
	Option string `json:"option,omitzero"`
	// Reason is why it may not.
	Reason string `json:"reason,omitzero"`
}

// ToolReported is a call that an executor, the actor, made itself, as far as it says: there is
// one when it begins, and one when it has ended.
type ToolReported struct {
	At int64 `json:"at"`
	// ID is the executor's name for the call.
	ID    string `json:"id"`
	Input Text   `json:"input,omitzero"`
	Kind  string `json:"kind,omitzero"`
	// Output is what came of it.
	Output Text     `json:"output,omitzero"`
	Paths  []string `json:"paths,omitempty"`
	Prompt uint64   `json:"prompt"`
	// Status is pending, in_progress, completed or failed.
	Status string `json:"status"`
	Title  Text   `json:"title,omitzero"`
}

// PlanReported is the plan of an executor, the actor, whole: it stands for the one before.
type PlanReported struct {
	At      int64       `json:"at"`
	Entries []PlanEntry `json:"entries"`
	// More counts those that are not listed.
	More   int64  `json:"more,omitzero"`
	Prompt uint64 `json:"prompt"`
}

// PlanEntry is a step of such a plan.
type PlanEntry struct {
	Priority string `json:"priority,omitzero"`
	Status   string `json:"status"`
	Text     string `json:"text"`
}

// SaidReported is what an executor, the actor, said in front of a call of its own, or between
// two of them; its last words are in the prompt's result.
type SaidReported struct {
	At     int64  `json:"at"`
	Prompt uint64 `json:"prompt"`
	Text   Text   `json:"text"`
	// Thought says that it was said to itself.
	Thought bool `json:"thought,omitzero"`
}

// CallKinds are what executors call the kinds of their own calls, in permission.asked and
// tool.reported. A kind that is none of them is other.
var CallKinds = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}

// How a session came to be.
const (
	SessionNew     = "new"
	SessionLoaded  = "loaded"
	SessionResumed = "resumed"
)

// Why an executor stopped.
const (
	StopEnd       = "end_turn"
	StopTokens    = "max_tokens"
	StopRequests  = "max_turn_requests"
	StopRefusal   = "refusal"
	StopCancelled = "cancelled"
	// StopInterrupted is the stop of a prompt that Lyceum ended: the quest was paused or
	// stopped, or a limit was reached. It goes on in the same session.
	StopInterrupted = "interrupted"
)

// KindStopped is the kind of the error of a prompt that the rules stopped, or of a turn that
// was cut short.
const KindStopped = "stopped"

// KindExecutor is the kind of the error of an executor that cannot be used.
const KindExecutor = "executor"

// The kinds of answers that an executor takes for a permission. Those that hold for ever are
// never given.
const (
	AllowOnce  = "allow_once"
	RejectOnce = "reject_once"
)

// Failed reports whether there is no end that the executor told.
func (b *PromptResult) Failed() bool { return b.Error.Len() > 0 }

// Type implements Body.
func (*ExecutorCall) Type() Type { return "executor.call" }

// Type implements Body.
func (*ExecutorReady) Type() Type { return "executor.ready" }

// Type implements Body.
func (*SessionOpened) Type() Type { return "session.opened" }

// Type implements Body.
func (*PromptCall) Type() Type { return "prompt.call" }

// Type implements Body.
func (*PromptBegun) Type() Type { return "prompt.begun" }

// Type implements Body.
func (*PromptResult) Type() Type { return "prompt.result" }

// Type implements Body.
func (*PermissionAsked) Type() Type { return "permission.asked" }

// Type implements Body.
func (*PermissionDecided) Type() Type { return "permission.decided" }

// Type implements Body.
func (*ToolReported) Type() Type { return "tool.reported" }

// Type implements Body.
func (*PlanReported) Type() Type { return "plan.reported" }

// Type implements Body.
func (*SaidReported) Type() Type { return "said.reported" }

// Reported implements Report.
func (b *PermissionAsked) Reported() (uint64, int64) { return b.Prompt, b.At }

// Reported implements Report.
func (b *ToolReported) Reported() (uint64, int64) { return b.Prompt, b.At }

// Reported implements Report.
func (b *PlanReported) Reported() (uint64, int64) { return b.Prompt, b.At }

// Reported implements Report.
func (b *SaidReported) Reported() (uint64, int64) { return b.Prompt, b.At }

// Answers implements Result.
func (b *ExecutorReady) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *PromptResult) Answers() uint64 { return b.Call }

// Took implements Timed.
func (b *PromptResult) Took() int64 { return b.Duration }
