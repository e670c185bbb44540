package event

// The events of an architect, who plans and judges and touches no file, and of the tasks that
// executors do for it. What an executor says is a claim; what counts is the tree it leaves,
// and what the acceptance commands say of that.

// HomeCall has the home of an agent, the actor, made anew: whatever was there is gone, and the
// agent begins as one that has heard nothing, in a session of its own.
type HomeCall struct {
	// Tree is what is put into it; without one, what every home begins with.
	Tree *TreeRef `json:"tree,omitzero"`
}

// HomeRenewed is the home that an agent begins with, or why there is none.
type HomeRenewed struct {
	Call   uint64 `json:"call"`
	Error  Text   `json:"error,omitzero"`
	Stored int64  `json:"stored,omitzero"`
	// Tree is the home as it is recorded.
	Tree *TreeRef `json:"tree,omitzero"`
}

// PromptStopped ends an open prompt of an executor, the actor: it is told to stop, and ended if
// it does not. The prompt is not taken up again.
type PromptStopped struct {
	// Call is the prompt.call.
	Call   uint64 `json:"call"`
	Reason string `json:"reason"`
}

// TaskOrder is a person's word about one task: cancel, or a message to whoever works on it.
type TaskOrder struct {
	Action string `json:"action"`
	Inbox  int64  `json:"inbox,omitzero"`
	Task   string `json:"task"`
	Text   string `json:"text,omitzero"`
}

// SessionConfig are the limits under which tasks are done. It comes before the first.
type SessionConfig struct {
	Summarize int64 `json:"context_summarize_threshold"`
	// Executors are by preference.
	Executors []string `json:"executors"`
	Clarify   int64    `json:"max_clarify_rounds_per_task"`
	Calls     int64    `json:"max_cli_calls_per_task"`
	Seconds   int64    `json:"max_cli_duration_seconds"`
	Memory    int64    `json:"max_cli_memory_mb"`
	Handovers int64    `json:"max_handovers_per_task"`
	Same      int64    `json:"max_same_error_retries"`
	Tasks     int64    `json:"max_tasks"`
	Parallel  int64    `json:"parallel"`
}

// TaskScope says which files a task may change. Paths are files or folders of the repository;
// one that ends with a slash is a folder, and a point is all of it.
type TaskScope struct {
	Exclude []string `json:"exclude,omitempty"`
	Include []string `json:"include"`
	// NoTouch is closed by the quest's owner, or by the architect.
	NoTouch []string `json:"no_touch,omitempty"`
}

// TaskPlan is a unit of work.
type TaskPlan struct {
	// Acceptance are commands that must succeed after the task, and fail or lack before it.
	Acceptance []string `json:"acceptance,omitempty"`
	// After are tasks that have to be done before it.
	After []string `json:"after,omitempty"`
	// Criteria is acceptance in words: whoever accepts names the lines or the event that show it.
	Criteria []string `json:"criteria,omitempty"`
	Goal     string   `json:"goal"`
	ID       string   `json:"id"`
	// ReadOnly says that nothing may change: its work is what it says, and its artifacts.
	ReadOnly bool      `json:"read_only,omitzero"`
	Scope    TaskScope `json:"scope"`
}

// PlanProposed is what an architect, the actor, wants to have done. It stands for the one
// before, but for tasks that are under way or done.
type PlanProposed struct {
	Answer uint64     `json:"answer"`
	Part   int64      `json:"part,omitzero"`
	Tasks  []TaskPlan `json:"tasks"`
}

// PlanApproved says that a plan is to be carried out, as it stands here.
type PlanApproved struct {
	// Edited says that a person has changed it.
	Edited bool `json:"edited,omitzero"`
	// Interaction is the question that a person said yes to, 0 if nobody had to be asked.
	Interaction uint64     `json:"interaction,omitzero"`
	Plan        uint64     `json:"plan"`
	Tasks       []TaskPlan `json:"tasks"`
}

// TaskSnapshot is what the executor of a task is told of what was before. The same events give
// the same hash.
type TaskSnapshot struct {
	Events []SnapshotEvent `json:"events"`
	Hash   Hash            `json:"hash"`
	Task   string          `json:"task"`
	Text   Text            `json:"text"`
}

// SnapshotEvent is an event of a snapshot.
type SnapshotEvent struct {
	Hash Hash   `json:"hash"`
	Seq  uint64 `json:"seq"`
}

// HandoverBegun hands a task over to an executor, or hands it back for a repair. Each has one
// handover.ended.
type HandoverBegun struct {
	// Answer and Part are where the architect's call stands, if it dispatched it.
	Answer   uint64 `json:"answer,omitzero"`
	Executor string `json:"executor"`
	// Package is what is handed over, as YAML; of a repair, what is wrong.
	Package Text  `json:"package"`
	Part    int64 `json:"part,omitzero"`
	// Repair says that the same executor goes on in the same session and home.
	Repair bool `json:"repair,omitzero"`
	// Run counts the handovers of the task, from 1.
	Run int64 `json:"run"`
	// Snapshot is the task.snapshot that goes with it.
	Snapshot uint64 `json:"snapshot"`
	Task     string `json:"task"`
	// Worker is the agent that the executor is.
	Worker string `json:"worker"`
}

// HandoverEnded is how a handover ended: checked, if what was made stands to be judged; error;
// or cancelled.
type HandoverEnded struct {
	Outcome string `json:"outcome"`
	Run     int64  `json:"run"`
	Task    string `json:"task"`
}

// InspectionCall has the home that an executor left compared with what it began with, the
// manifest read and the patch made.
type InspectionCall struct {
	// Begun is the tree that the home began with.
	Begun TreeRef `json:"begun"`
	// Manifest is the one that was handed in by the tool, empty if it is to be a file.
	Manifest Text      `json:"manifest,omitzero"`
	ReadOnly bool      `json:"read_only,omitzero"`
	Run      int64     `json:"run"`
	Scope    TaskScope `json:"scope"`
	Task     string    `json:"task"`
	Worker   string    `json:"worker"`
}

// InspectionResult is what was found.
type InspectionResult struct {
	Call uint64 `json:"call"`
	// Changes are the first of what has changed, by path; Files counts all.
	Changes []TaskChange `json:"changes,omitempty"`
	Error   Text         `json:"error,omitzero"`
	Files   int64        `json:"files"`
	// Findings are what is wrong with the manifest, in words for the executor.
	Findings []string `json:"findings,omitempty"`
	// Full is the quest's limit on storage, if that is used up with what the call stored.
	Full *Full `json:"full,omitzero"`
	// Ignored is what is left out, as a .gitignore of the base names it.
	Ignored []Skipped `json:"ignored,omitempty"`
	// Manifest is what the executor said it made, with our own hashes; nil if it said nothing
	// that can be read.
	Manifest *ArtifactManifest `json:"manifest,omitzero"`
	More     int64             `json:"more,omitzero"`
	// Outside are the first changes that the scope does not allow, More counts the others.
	Outside []Skipped `json:"outside,omitempty"`
	// Oversized says that the error is how much was left: more than is kept or taken over.
	Oversized bool `json:"oversized,omitzero"`
	// Patch makes Tree of the base; both are absent if nothing may be taken over.
	Patch  *Ref     `json:"patch,omitzero"`
	Stored int64    `json:"stored,omitzero"`
	Tree   *TreeRef `json:"tree,omitzero"`
}

// TaskChange is a file that differs from the base: added, changed, removed, mode or link. Added
// and Removed count lines of text.
type TaskChange struct {
	Added   int64  `json:"added,omitzero"`
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Removed int64  `json:"removed,omitzero"`
}

// ArtifactManifest is what an executor says it made in a run, and what was found of it.
type ArtifactManifest struct {
	Fingerprint string         `json:"environment_fingerprint"`
	Generated   string         `json:"generated_at"`
	Items       []ArtifactItem `json:"items"`
	ID          string         `json:"manifest_id"`
	Run         int64          `json:"run"`
	Session     string         `json:"session_id"`
	Task        string         `json:"task"`
}

// ArtifactItem is one thing that was made.
type ArtifactItem struct {
	// Checksum is what the executor says, File what is there; nil if the item is no file.
	Checksum string `json:"checksum"`
	File     *Ref   `json:"file,omitzero"`
	// By is who made it, as the executor says.
	By string `json:"generated_by"`
	// Preview is the beginning of a text.
	Preview Text   `json:"preview,omitzero"`
	Ref     string `json:"ref"`
	// Type is patch, workspace_snapshot, build_output, test_report, log_bundle, doc, table or image.
	Type string `json:"type"`
}

// AcceptanceCall has commands run in a fresh computer without network on a tree.
type AcceptanceCall struct {
	Commands []string `json:"commands"`
	// Seconds is how long each command may take.
	Seconds int64 `json:"seconds"`
	// Side is before, after or merged.
	Side string  `json:"side"`
	Task string  `json:"task,omitzero"`
	Tree TreeRef `json:"tree"`
}

// TestReport is what the commands said.
type TestReport struct {
	Call        uint64    `json:"call"`
	Commands    []TestRun `json:"commands"`
	Duration    int64     `json:"duration,omitzero"`
	Error       Text      `json:"error,omitzero"`
	Fingerprint Hash      `json:"fingerprint,omitzero"`
	// Full is the quest's limit on storage, if that is used up with what the call stored.
	Full   *Full `json:"full,omitzero"`
	Stored int64 `json:"stored,omitzero"`
}

// TestRun is one command.
type TestRun struct {
	Command string `json:"command"`
	// End is the limit that was met, if one was.
	End  string `json:"end,omitzero"`
	Exit int64  `json:"exit"`
	// Failed, Passed and Skipped count tests, where the output tells.
	Failed  int64 `json:"failed,omitzero"`
	Output  Ref   `json:"output"`
	Passed  int64 `json:"passed,omitzero"`
	Skipped int64 `json:"skipped,omitzero"`
	// Tail is the end of the output.
	Tail string `json:"tail,omitzero"`
}

// Good reports whether a command succeeded.
func (r *TestRun) Good() bool { return r.Exit == 0 && r.End == "" }

// TaskError says what went wrong with a run.
type TaskError struct {
	// Category is scope, manifest, acceptance, timeout, memory, calls, executor, refused, size,
	// clarify, base or cancelled.
	Category string `json:"category"`
	Exit     int64  `json:"exit,omitzero"`
	// Line is the first that failed.
	Line string `json:"line,omitzero"`
	// Logs are what was said so far, if it is kept.
	Logs *Ref  `json:"logs,omitzero"`
	Run  int64 `json:"run"`
	// Same counts how often it was the same error in a row.
	Same int64  `json:"same,omitzero"`
	Task string `json:"task"`
	Text Text   `json:"text"`
}

// TaskClarify is a question of the executor of a task, the actor, to the architect.
type TaskClarify struct {
	Answer   uint64 `json:"answer"`
	Part     int64  `json:"part,omitzero"`
	Question Text   `json:"question"`
	Round    int64  `json:"round"`
	Task     string `json:"task"`
}

// TaskClarified is the architect's answer to it.
type TaskClarified struct {
	Clarify uint64 `json:"clarify"`
	Task    string `json:"task"`
	Text    Text   `json:"text"`
}

// TaskJudged is what the architect says of a run that was checked: accept, refuse, or narrow.
type TaskJudged struct {
	Answer  uint64 `json:"answer"`
	Part    int64  `json:"part,omitzero"`
	Reasons Text   `json:"reasons,omitzero"`
	Run     int64  `json:"run"`
	// Scope is the smaller one that is asked for.
	Scope *TaskScope `json:"scope,omitzero"`
	// Shown are the lines or events that show acceptance in words, in the order of the criteria.
	Shown   []string `json:"shown,omitempty"`
	Task    string   `json:"task"`
	Verdict string   `json:"verdict"`
}

// TaskTurned says that a task goes on in another way because the same error came again: with
// the next executor, or with a smaller scope that is wanted.
type TaskTurned struct {
	Executor string `json:"executor,omitzero"`
	How      string `json:"how"`
	Reason   string `json:"reason"`
	Task     string `json:"task"`
}

// TaskEnded is the end of a task: accepted, failed or cancelled.
type TaskEnded struct {
	Patch  *Ref     `json:"patch,omitzero"`
	Reason string   `json:"reason,omitzero"`
	Run    int64    `json:"run,omitzero"`
	Status string   `json:"status"`
	Task   string   `json:"task"`
	Tree   *TreeRef `json:"tree,omitzero"`
}

// TaskSummary stands in the architect's context for the events that it names.
type TaskSummary struct {
	// First and Last are messages of the architect's transcript that it stands for; Events are
	// the events behind them.
	Events []uint64 `json:"events"`
	First  int64    `json:"first"`
	Last   int64    `json:"last"`
	Text   Text     `json:"text"`
}

// MergeCall has what tasks made put together on the base.
type MergeCall struct {
	Base  TreeRef     `json:"base"`
	Parts []MergePart `json:"parts"`
}

// MergePart is what one task made of the base.
type MergePart struct {
	Task string  `json:"task"`
	Tree TreeRef `json:"tree"`
}

// MergeReport is what came of it. With a conflict there is no tree, and the base stays.
type MergeReport struct {
	Call      uint64    `json:"call"`
	Conflicts []Skipped `json:"conflicts,omitempty"`
	Error     Text      `json:"error,omitzero"`
	Files     int64     `json:"files"`
	// Full is the quest's limit on storage, if that is used up with what the call stored.
	Full   *Full    `json:"full,omitzero"`
	Patch  *Ref     `json:"patch,omitzero"`
	Stored int64    `json:"stored,omitzero"`
	Tree   *TreeRef `json:"tree,omitzero"`
}

// ArtifactsDropped says that artifacts of runs that were refused are no longer kept.
type ArtifactsDropped struct {
	Files []Hash `json:"files"`
	Inbox int64  `json:"inbox,omitzero"`
}

// What becomes of handovers and tasks.
const (
	OutcomeChecked   = "checked"
	OutcomeError     = "error"
	OutcomeCancelled = "cancelled"

	TaskAccepted  = "accepted"
	TaskFailedFor = "failed"
	TaskCancelled = "cancelled"

	VerdictAccept = "accept"
	VerdictRefuse = "refuse"
	VerdictNarrow = "narrow"

	OrderCancel  = "cancel"
	OrderMessage = "message"

	SideBefore = "before"
	SideAfter  = "after"
	SideMerged = "merged"

	TurnedSwap   = "swap"
	TurnedNarrow = "narrow"
)

// The categories of a task.error.
const (
	ErrorScope      = "scope"
	ErrorManifest   = "manifest"
	ErrorAcceptance = "acceptance"
	ErrorTimeout    = "timeout"
	ErrorMemory     = "memory"
	ErrorCalls      = "calls"
	ErrorExecutor   = "executor"
	ErrorRefused    = "refused"
	ErrorSize       = "size"
	ErrorClarify    = "clarify"
	ErrorBase       = "base"
	ErrorCancelled  = "cancelled"
)

func (*HomeCall) Type() Type         { return "home.call" }
func (*HomeRenewed) Type() Type      { return "home.renewed" }
func (*PromptStopped) Type() Type    { return "prompt.stopped" }
func (*TaskOrder) Type() Type        { return "task.order" }
func (*SessionConfig) Type() Type    { return "session.config" }
func (*PlanProposed) Type() Type     { return "plan.proposed" }
func (*PlanApproved) Type() Type     { return "plan.approved" }
func (*TaskSnapshot) Type() Type     { return "task.snapshot" }
func (*HandoverBegun) Type() Type    { return "handover.begun" }
func (*HandoverEnded) Type() Type    { return "handover.ended" }
func (*InspectionCall) Type() Type   { return "inspection.call" }
func (*InspectionResult) Type() Type { return "inspection.result" }
func (*ArtifactManifest) Type() Type { return "artifact.manifest" }
func (*AcceptanceCall) Type() Type   { return "acceptance.call" }
func (*TestReport) Type() Type       { return "test.report" }
func (*TaskError) Type() Type        { return "task.error" }
func (*TaskClarify) Type() Type      { return "task.clarify" }
func (*TaskClarified) Type() Type    { return "task.clarified" }
func (*TaskJudged) Type() Type       { return "task.judged" }
func (*TaskTurned) Type() Type       { return "task.turned" }
func (*TaskEnded) Type() Type        { return "task.ended" }
func (*TaskSummary) Type() Type      { return "task.summary" }
func (*MergeCall) Type() Type        { return "merge.call" }
func (*MergeReport) Type() Type      { return "merge.report" }
func (*ArtifactsDropped) Type() Type { return "artifacts.dropped" }

// Answers implements Result.
func (b *HomeRenewed) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *InspectionResult) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *TestReport) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *MergeReport) Answers() uint64 { return b.Call }

// Number implements Order.
func (b *TaskOrder) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *TaskOrder) SetNumber(n int64) { b.Inbox = n }

// Number implements Order.
func (b *ArtifactsDropped) Number() int64 { return b.Inbox }

// SetNumber implements Order.
func (b *ArtifactsDropped) SetNumber(n int64) { b.Inbox = n }

// Kept implements Keeper.
func (b *InspectionResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *InspectionResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }

// Kept implements Keeper.
func (b *TestReport) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *TestReport) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }

// Kept implements Keeper.
func (b *MergeReport) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *MergeReport) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }
