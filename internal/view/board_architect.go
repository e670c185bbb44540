package view

import (
	"slices"

	"lyceum/internal/event"
)

// Board is the work of an architect, folded from the events alone: what is planned, who works
// on what, what came of each run, and what was put together. Its JSON is what the API sends
// and what is saved.
type Board struct {
	Plan   *PlanInfo            `json:"plan,omitempty"`
	Limits *event.SessionConfig `json:"limits,omitempty"`
	Tasks  []*Task              `json:"tasks"`
	Merges []*Merge             `json:"merges"`
	// Whole is what the acceptance commands said of all that was made.
	Whole *Tests `json:"whole,omitempty"`
	// Calls says what an inspection, acceptance or merge that is under way is about.
	Calls map[uint64]boardCall `json:"calls,omitempty"`
}

// boardCall is what a call of a service is about.
type boardCall struct {
	Task string `json:"task,omitempty"`
	Run  int64  `json:"run,omitempty"`
	Side string `json:"side,omitempty"`
}

// PlanInfo is the plan that stands, or that a person is asked about.
type PlanInfo struct {
	Seq uint64 `json:"seq"`
	// Approved is the event that made it stand, 0 while it is only proposed.
	Approved uint64 `json:"approved,omitempty"`
	Edited   bool   `json:"edited,omitempty"`
	// Question is the one that a person said yes to.
	Question uint64 `json:"question,omitempty"`
}

// Task is a unit of work and all that has come of it.
type Task struct {
	Plan event.TaskPlan `json:"plan"`
	// Seq is the event that planned it, Last the latest about it.
	Seq    uint64      `json:"seq"`
	Last   uint64      `json:"last"`
	Runs   []*Handover `json:"runs"`
	Asked  []*Clarify  `json:"asked"`
	Turned []Turned    `json:"turned"`
	Orders []Ordered   `json:"orders"`
	// Before is what the acceptance commands said without it.
	Before *Tests    `json:"before,omitempty"`
	Ended  *TaskEnds `json:"ended,omitempty"`
	// Shot is a snapshot whose handover is still to come.
	Shot *Snapshot `json:"shot,omitempty"`
}

// TaskEnds is how a task ended.
type TaskEnds struct {
	Seq    uint64     `json:"seq"`
	Status string     `json:"status"`
	Reason string     `json:"reason,omitempty"`
	Run    int64      `json:"run,omitempty"`
	Patch  *event.Ref `json:"patch,omitempty"`
	Tree   string     `json:"tree,omitempty"`
}

// Handover is one run of a task: what the executor was given, and what was found of what it left.
type Handover struct {
	Run      int64      `json:"run"`
	Repair   bool       `json:"repair,omitempty"`
	Executor string     `json:"executor"`
	Worker   string     `json:"worker"`
	Seq      uint64     `json:"seq"`
	Time     event.Time `json:"time"`
	// Ended is the event that ended it, with Outcome; 0 while it is under way.
	Ended   uint64     `json:"ended,omitempty"`
	Outcome string     `json:"outcome,omitempty"`
	Package event.Text `json:"package"`
	// Snapshot is what the executor is told of what was before.
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	// Commands counts what it ran.
	Commands int64        `json:"commands"`
	Found    *Inspection  `json:"found,omitempty"`
	Manifest *Manifest    `json:"manifest,omitempty"`
	After    *Tests       `json:"after,omitempty"`
	Errors   []*TaskFault `json:"errors"`
	Judged   *Judgement   `json:"judged,omitempty"`
}

// Snapshot is what a run began with of what is known.
type Snapshot struct {
	Seq    uint64     `json:"seq"`
	Hash   event.Hash `json:"hash"`
	Events int        `json:"events"`
	Text   event.Text `json:"text"`
}

// Inspection is what differs in the files.
type Inspection struct {
	Seq      uint64             `json:"seq"`
	Error    event.Text         `json:"error"`
	Files    int64              `json:"files"`
	Changes  []event.TaskChange `json:"changes"`
	Findings []string           `json:"findings"`
	Ignored  []event.Skipped    `json:"ignored"`
	Outside  []event.Skipped    `json:"outside"`
	// More counts changes out of scope that are not listed.
	More  int64      `json:"more,omitempty"`
	Patch *event.Ref `json:"patch,omitempty"`
	Tree  string     `json:"tree,omitempty"`
}

// Manifest is what an executor says it made, with what was found of it.
type Manifest struct {
	Seq         uint64               `json:"seq"`
	ID          string               `json:"manifest_id"`
	Generated   string               `json:"generated_at"`
	Fingerprint string               `json:"environment_fingerprint"`
	Items       []event.ArtifactItem `json:"items"`
}

// Tests are acceptance commands that were run on a tree.
type Tests struct {
	// Call is the event that had them run, Seq the one with what they said; 0 until then.
	Call     uint64          `json:"call"`
	Seq      uint64          `json:"seq,omitempty"`
	Wanted   []string        `json:"wanted"`
	Commands []event.TestRun `json:"commands"`
	Error    event.Text      `json:"error"`
	Duration int64           `json:"duration_us,omitempty"`
}

// Good reports whether all commands have run and succeeded.
func (t *Tests) Good() bool {
	return t != nil && t.Seq > 0 && t.Error.Len() == 0 && !slices.ContainsFunc(t.Commands, func(r event.TestRun) bool { return !r.Good() })
}

// TaskFault is a task.error.
type TaskFault struct {
	Seq      uint64     `json:"seq"`
	Category string     `json:"category"`
	Exit     int64      `json:"exit,omitempty"`
	Line     string     `json:"line,omitempty"`
	Logs     *event.Ref `json:"logs,omitempty"`
	Same     int64      `json:"same,omitempty"`
	Text     event.Text `json:"text"`
}

// Judgement is what the architect says of a run.
type Judgement struct {
	Seq     uint64           `json:"seq"`
	Verdict string           `json:"verdict"`
	Reasons event.Text       `json:"reasons"`
	Shown   []string         `json:"shown"`
	Scope   *event.TaskScope `json:"scope,omitempty"`
}

// Clarify is a question of an executor to the architect, and its answer.
type Clarify struct {
	Seq      uint64     `json:"seq"`
	Round    int64      `json:"round"`
	Asker    string     `json:"asker"`
	Question event.Text `json:"question"`
	Answered uint64     `json:"answered,omitempty"`
	Answer   event.Text `json:"answer"`
}

// Turned is that a task went on in another way.
type Turned struct {
	Seq      uint64 `json:"seq"`
	How      string `json:"how"`
	Executor string `json:"executor,omitempty"`
	Reason   string `json:"reason"`
}

// Ordered is what a person said about a task.
type Ordered struct {
	Seq    uint64 `json:"seq"`
	Action string `json:"action"`
	By     string `json:"by"`
	Text   string `json:"text,omitempty"`
}

// Merge is what came of putting tasks together.
type Merge struct {
	Call      uint64          `json:"call"`
	Seq       uint64          `json:"seq,omitempty"`
	Tasks     []string        `json:"tasks"`
	Files     int64           `json:"files"`
	Conflicts []event.Skipped `json:"conflicts"`
	Error     event.Text      `json:"error"`
	Patch     *event.Ref      `json:"patch,omitempty"`
	Tree      string          `json:"tree,omitempty"`
}

// The states of a task, as a board has columns for them; others are how it ended.
const (
	TaskPlanned = "planned"
	TaskWorking = "working"
	TaskToJudge = "judging"
)

// NewBoard is one on which there is nothing yet.
func NewBoard() *Board {
	return &Board{Tasks: []*Task{}, Merges: []*Merge{}, Calls: map[uint64]boardCall{}}
}

// Task finds a task, nil if there is none of that name.
func (b *Board) Task(id string) *Task {
	if i := slices.IndexFunc(b.Tasks, func(t *Task) bool { return t.Plan.ID == id }); i >= 0 {
		return b.Tasks[i]
	}
	return nil
}

// State is where a task stands.
func (t *Task) State() string {
	switch last := t.last(); {
	case t.Ended != nil:
		return t.Ended.Status
	case last == nil:
		return TaskPlanned
	case last.Outcome == event.OutcomeChecked && last.Judged == nil:
		return TaskToJudge
	}
	return TaskWorking
}

// last is the latest run, nil before the first.
func (t *Task) last() *Handover {
	if len(t.Runs) == 0 {
		return nil
	}
	return t.Runs[len(t.Runs)-1]
}

// run finds a run by its number.
func (t *Task) run(n int64) *Handover {
	if i := slices.IndexFunc(t.Runs, func(r *Handover) bool { return r.Run == n }); i >= 0 {
		return t.Runs[i]
	}
	return nil
}

// TaskCard is a task at a glance.
type TaskCard struct {
	ID       string `json:"id"`
	Goal     string `json:"goal"`
	State    string `json:"state"`
	Executor string `json:"executor,omitempty"`
	Worker   string `json:"worker,omitempty"`
	// Handovers counts its runs, Repairs those among them that went back; Commands is what the
	// last run ran.
	Handovers int   `json:"handovers"`
	Repairs   int   `json:"repairs"`
	Commands  int64 `json:"commands"`
	Files     int64 `json:"files"`
	Added     int64 `json:"added"`
	Removed   int64 `json:"removed"`
	// Errors counts what went wrong, Error is the category of the last one.
	Errors int    `json:"errors"`
	Error  string `json:"error,omitempty"`
	// Waits counts questions to the architect without an answer.
	Waits int      `json:"waits"`
	After []string `json:"after"`
	// Before and Passed say how acceptance went: pass, fail, or empty where it has not run.
	Before string `json:"tests_before,omitempty"`
	Passed string `json:"tests_after,omitempty"`
	Reason string `json:"reason,omitempty"`
	Seq    uint64 `json:"seq"`
	Last   uint64 `json:"last"`
}

// TaskDetail is a task with all that has come of it.
type TaskDetail struct {
	TaskCard
	Plan   event.TaskPlan `json:"plan"`
	Runs   []*Handover    `json:"runs"`
	Asked  []*Clarify     `json:"asked"`
	Turned []Turned       `json:"turned"`
	Orders []Ordered      `json:"orders"`
	Before *Tests         `json:"before,omitempty"`
	Ended  *TaskEnds      `json:"ended,omitempty"`
}

// Detail is a task with all that has come of it.
func (t *Task) Detail() *TaskDetail {
	return &TaskDetail{t.Card(), t.Plan, t.Runs, t.Asked, t.Turned, t.Orders, t.Before, t.Ended}
}

// TaskList is what is planned and what has come of it, each task at a glance.
type TaskList struct {
	Plan   *PlanInfo            `json:"plan,omitempty"`
	Limits *event.SessionConfig `json:"limits,omitempty"`
	Tasks  []TaskCard           `json:"tasks"`
	Merges []*Merge             `json:"merges"`
	Whole  *Tests               `json:"whole,omitempty"`
}

// List is the board at a glance.
func (b *Board) List() *TaskList {
	return &TaskList{b.Plan, b.Limits, b.Cards(), b.Merges, b.Whole}
}

// Board is the board of a quest, an empty one if its society has none.
func (v *Views) Board() *Board {
	if t, ok := v.society.(*taskTrail); ok {
		return &t.Board
	}
	return NewBoard()
}

// Card is a task at a glance.
func (t *Task) Card() TaskCard {
	c := TaskCard{ID: t.Plan.ID, Goal: t.Plan.Goal, State: t.State(), Handovers: len(t.Runs), After: append([]string{}, t.Plan.After...), Before: t.Before.word(), Seq: t.Seq, Last: t.Last}
	for _, r := range t.Runs {
		c.Executor, c.Worker, c.Commands, c.Passed = r.Executor, r.Worker, r.Commands, r.After.word()
		if r.Repair {
			c.Repairs++
		}
		for _, f := range r.Errors {
			c.Errors++
			c.Error = f.Category
		}
		if r.Found != nil {
			c.Files, c.Added, c.Removed = r.Found.Files, 0, 0
			for _, x := range r.Found.Changes {
				c.Added, c.Removed = c.Added+x.Added, c.Removed+x.Removed
			}
		}
	}
	for _, q := range t.Asked {
		if q.Answered == 0 {
			c.Waits++
		}
	}
	if t.Ended != nil {
		c.Reason = t.Ended.Reason
	}
	return c
}

// word is how tests went, in a word.
func (t *Tests) word() string {
	switch {
	case t == nil || t.Seq == 0:
		return ""
	case t.Good():
		return "pass"
	}
	return "fail"
}

// Cards are all tasks at a glance, in the order of the plan.
func (b *Board) Cards() []TaskCard {
	out := []TaskCard{}
	for _, t := range b.Tasks {
		out = append(out, t.Card())
	}
	return out
}
