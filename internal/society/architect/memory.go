package architect

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/architect/task"
)

// Memory is what is known of tasks and handovers: a fold of the ledger.
type Memory struct {
	Settings Settings
	// Configured says that session.config is there, Greeted that the architect knows which
	// executors there are.
	Configured bool `json:",omitzero"`
	Greeted    bool `json:",omitzero"`
	// Proposed is the plan that nobody has decided about, if there is one.
	Proposed *Proposed `json:",omitzero"`
	Tasks    []*Task   `json:",omitempty"`
	// Befores are what acceptance commands said of trees that nothing was done to.
	Befores []Before `json:",omitempty"`
	// Standing is the tree with all that was merged, nil while nothing was.
	Standing *event.TreeRef `json:",omitzero"`
	// Merge is the one under way or not told of yet, Merges counts those before.
	Merge  *Merge `json:",omitzero"`
	Merges int64  `json:",omitzero"`
	// Notes are the events that matter to whoever works on a task, the oldest first.
	Notes []Note `json:",omitempty"`
	// Summed is how many of Notes a summary stands for.
	Summed int64 `json:",omitzero"`
	// Orders are a person's words about tasks that nothing was done about yet.
	Orders []Order `json:",omitempty"`
	// Answer is what the quest is to end with, if the architect has said so.
	Answer *string `json:",omitzero"`
	// Wrong counts calls of the architect in a row that came to nothing.
	Wrong int64 `json:",omitzero"`
	// Done are the calls of tools that have had their effect, by their places.
	Done []Act `json:",omitempty"`
	// Asked are the permissions that executors wait for.
	Asked []Wanted `json:",omitempty"`
	// Offered are the manifests of executors that are not taken yet.
	Offered []Offer `json:",omitempty"`
}

// Proposed is a plan.
type Proposed struct {
	Seq   uint64
	Place agent.Place
	Tasks []event.TaskPlan `json:",omitempty"`
}

// Act is a call of the architect that has had its effect.
type Act struct {
	Place agent.Place
	Task  string `json:",omitzero"`
	What  string
}

// Order is a person's word about a task.
type Order struct {
	Seq                uint64
	Action, Task, Text string
}

// Wanted is a permission that an executor waits for. Tool is its name for the call.
type Wanted struct {
	Asked       uint64
	Agent, Tool string
	// Runs says that it is a command, What is its title.
	Runs bool `json:",omitzero"`
	What string
}

// Offer is a manifest that an executor hands in with a tool.
type Offer struct {
	Proposed uint64
	Text     event.Text
}

// Before is what acceptance commands said of a tree before anything was done to it.
type Before struct {
	Tree, Commands event.Hash
	// Call is the acceptance.call that is open, 0 if it has its report.
	Call uint64 `json:",omitzero"`
	// Passed says that all of them succeeded.
	Passed bool `json:",omitzero"`
}

// Note is an event that matters.
type Note struct {
	Seq  uint64
	Hash event.Hash
	// Task is the one that it is about, empty if it is about all.
	Task string `json:",omitzero"`
	Line string
	// Text is where more of it stands, if there is more.
	Text event.Text `json:",omitzero"`
}

// Task is a unit of work.
type Task struct {
	Plan event.TaskPlan
	// Status is how it ended, empty while it has not; Reason says why.
	Status string `json:",omitzero"`
	Reason string `json:",omitzero"`
	// Dropped says that the plan has it no more.
	Dropped bool `json:",omitzero"`
	// Executor is who works on it, empty until somebody does. Slot is the place.
	Executor string `json:",omitzero"`
	Slot     int64  `json:",omitzero"`
	// Begun is the tree that it begins with.
	Begun *event.TreeRef `json:",omitzero"`
	// Snapshot is the one that the next handover is made with, 0 if there is none yet.
	Snapshot     uint64     `json:",omitzero"`
	SnapshotHash event.Hash `json:",omitzero"`
	// Runs counts handovers, Handover is the last one.
	Runs     int64     `json:",omitzero"`
	Handover *Handover `json:",omitzero"`
	// Again is how it is to be handed over next, if it is without the architect's word.
	Again *Again `json:",omitzero"`
	// Calls counts commands, Rounds questions of the executor.
	Calls  int64 `json:",omitzero"`
	Rounds int64 `json:",omitzero"`
	// Sign tells the last error from others, Same counts it in a row; Repaired are the
	// categories that a repair was asked for.
	Sign     string   `json:",omitzero"`
	Same     int64    `json:",omitzero"`
	Repaired []string `json:",omitempty"`
	// Swapped and Narrowed say that this was tried; Wanted, that a smaller scope is.
	Swapped  bool `json:",omitzero"`
	Narrowed bool `json:",omitzero"`
	Wanted   bool `json:",omitzero"`
	// Clarify is the question of the executor that is open.
	Clarify *Clarify `json:",omitzero"`
	// Verdict is what the architect said of the last run, empty if nothing yet.
	Verdict string `json:",omitzero"`
	// Tried are lines that say what was tried and what came of it.
	Tried []string `json:",omitempty"`
	// Tree and Patch are what was accepted. Merged says that it is in the standing tree, and
	// Unmerged why it is not.
	Tree     *event.TreeRef `json:",omitzero"`
	Patch    *event.Ref     `json:",omitzero"`
	Merged   bool           `json:",omitzero"`
	Unmerged string         `json:",omitzero"`
}

// Again says how a task is handed over next.
type Again struct {
	Repair bool   `json:",omitzero"`
	Text   string `json:",omitzero"`
}

// Clarify is a question of an executor.
type Clarify struct {
	Seq      uint64
	Place    agent.Place
	Question event.Text
	// Told says that the architect knows of it. Answer is what it said.
	Told   bool        `json:",omitzero"`
	Answer *event.Text `json:",omitzero"`
	// Over says that it is a question too many.
	Over bool `json:",omitzero"`
}

// Handover is one run of an executor on a task, as far as it has come.
type Handover struct {
	Seq              uint64
	Run, Slot        int64
	Worker, Executor string
	Repair           bool `json:",omitzero"`
	Place            agent.Place
	// Session and Fingerprint are what the package says, and the manifest has to.
	Session, Fingerprint string
	Package              event.Text
	Snapshot             uint64
	// Home is the home.call that is open, Ready says that there is a home, NoHome why not.
	Home   uint64 `json:",omitzero"`
	Ready  bool   `json:",omitzero"`
	NoHome string `json:",omitzero"`
	Told   bool   `json:",omitzero"`
	// Prompt is the one that is open; Due is when its time is up, Timer when somebody will be
	// woken, Left how much time it has while its clock stands still.
	Prompt uint64     `json:",omitzero"`
	Due    event.Time `json:",omitzero"`
	Timer  event.Time `json:",omitzero"`
	Left   int64      `json:",omitzero"`
	Wake   uint64     `json:",omitzero"` // the timer.set
	// Seen are the executor's names of commands that were counted, or refused. Pending are
	// those that it has announced and that are not counted yet, Permitted those that are and
	// that no terminal has started.
	Seen      []string `json:",omitempty"`
	Pending   []string `json:",omitempty"`
	Permitted []string `json:",omitempty"`
	// Over says that a command was refused because there were as many as there can be; Denied are
	// the first that were refused for whatever reason, with it.
	Over   bool     `json:",omitzero"`
	Denied []string `json:",omitempty"`
	// Memory says that a command had no memory left, or the executor itself.
	Memory bool `json:",omitzero"`
	// Stopping is the prompt that was told to stop, and Stopped the category for which.
	Stopping uint64 `json:",omitzero"`
	Stopped  string `json:",omitzero"`
	// Returned says that the prompt has ended, Stop how, Failed why it has no end; Logs are
	// what was said.
	Returned bool       `json:",omitzero"`
	Stop     string     `json:",omitzero"`
	Failed   string     `json:",omitzero"`
	Logs     *event.Ref `json:",omitzero"`
	// Manifest is the one that was handed in with the tool.
	Manifest event.Text `json:",omitzero"`
	// Inspect is the inspection.call that is open, Result what was found, Listed says that the
	// manifest is recorded.
	Inspect uint64     `json:",omitzero"`
	Result  *Inspected `json:",omitzero"`
	Listed  bool       `json:",omitzero"`
	// After is the acceptance.call that is open, Report what it said.
	After  uint64  `json:",omitzero"`
	Report *Report `json:",omitzero"`
	// Error is what went wrong, Outcome how it ended; both empty until then. Ended is when.
	Error   *Fault `json:",omitzero"`
	Outcome string `json:",omitzero"`
	Ended   uint64 `json:",omitzero"`
	// Known says that the architect has heard how it ended.
	Known bool `json:",omitzero"`
}

// Inspected is what was found of a run.
type Inspected struct {
	Seq       uint64
	Error     string                  `json:",omitzero"`
	Oversized bool                    `json:",omitzero"`
	Files     int64                   `json:",omitzero"`
	Changes   []event.TaskChange      `json:",omitempty"`
	Findings  []string                `json:",omitempty"`
	Outside   []event.Skipped         `json:",omitempty"`
	More      int64                   `json:",omitzero"`
	Manifest  *event.ArtifactManifest `json:",omitzero"`
	Tree      *event.TreeRef          `json:",omitzero"`
	Patch     *event.Ref              `json:",omitzero"`
}

// Report is what acceptance commands said of a run.
type Report struct {
	Seq                               uint64
	Error                             string     `json:",omitzero"`
	Command                           string     `json:",omitzero"` // the first that failed
	Exit                              int64      `json:",omitzero"`
	Line                              string     `json:",omitzero"`
	Tail                              string     `json:",omitzero"`
	Output                            *event.Ref `json:",omitzero"`
	Passed, Failed, Skipped, Commands int64      `json:",omitzero"`
}

// Good reports whether all commands succeeded.
func (r *Report) Good() bool { return r.Error == "" && r.Command == "" }

// Fault is an error of a run.
type Fault struct {
	Seq      uint64
	Category string
	Text     string
}

// Merge is what tasks made, put together.
type Merge struct {
	Parts []string
	// Call is the merge.call, Test the acceptance.call that is open.
	Call uint64         `json:",omitzero"`
	Test uint64         `json:",omitzero"`
	Tree *event.TreeRef `json:",omitzero"`
	// Failed says why nothing is taken over. Over says that it has ended, with the event Seq.
	Seq    uint64 `json:",omitzero"`
	Failed string `json:",omitzero"`
	Over   bool   `json:",omitzero"`
}

var (
	_ quest.Tasker   = (*Memory)(nil)
	_ quest.Runner   = Society{}
	_ quest.Producer = Society{}
	_ quest.Listener = Society{}
)

// Begin implements quest.Knower.
func (Society) Begin(_ *quest.State, b *event.QuestCreated) quest.Memory {
	m := &Memory{Settings: settingsOf(nil)}
	if err := quest.Recorded(b, &m.Settings); err != nil {
		panic(err)
	}
	if len(m.Settings.Executors) == 0 || m.Settings.Parallel < 1 || m.Settings.Parallel > maxParallel {
		panic(fmt.Errorf("the settings of quest %s have %d executors at %d places", b.Name, len(m.Settings.Executors), m.Settings.Parallel))
	}
	return m
}

// Blank implements quest.Knower.
func (Society) Blank() quest.Memory { return &Memory{} }

// Of is what the architect of a quest knows, nil if the quest has none.
func Of(s *quest.State) *Memory {
	m, _ := s.Memory().(*Memory)
	return m
}

// Task is the one of that name, nil if there is none.
func (m *Memory) Task(id string) *Task {
	for _, t := range m.Tasks {
		if t.Plan.ID == id {
			return t
		}
	}
	return nil
}

// at is the task that a worker works on, nil if it has none.
func (m *Memory) at(worker string) *Task {
	for _, t := range m.Tasks {
		if t.busy() && t.Handover.Worker == worker {
			return t
		}
	}
	return nil
}

// busy reports whether a handover is under way.
func (t *Task) busy() bool { return t.Handover != nil && t.Handover.Outcome == "" }

// prompts reports whether the executor has its turn.
func (h *Handover) prompts() bool { return h.Ready && h.Told && !h.Returned && h.Error == nil }

// holds reports whether a task keeps its place: it is under way, or waits for a verdict.
func (t *Task) holds() bool {
	return t.Status == "" && (t.busy() || t.Again != nil || t.Handover != nil && t.Handover.Outcome == event.OutcomeChecked)
}

// scope is what a task may change.
func (t *Task) scope() task.Scope { return task.Of(t.Plan.Scope) }

// checked reports whether the last run stands to be judged.
func (t *Task) checked() bool {
	return t.Status == "" && t.Again == nil && t.Handover != nil && t.Handover.Outcome == event.OutcomeChecked && t.Verdict == ""
}

// Happened implements quest.Memory.
func (m *Memory) Happened(_ string, at agent.Place) bool {
	return m.act(at) != nil || slices.ContainsFunc(m.Tasks, func(t *Task) bool { return t.Clarify != nil && t.Clarify.Place == at })
}

func (m *Memory) act(at agent.Place) *Act {
	for i := range m.Done {
		if m.Done[i].Place == at {
			return &m.Done[i]
		}
	}
	return nil
}

// Abandon implements quest.Memory.
func (m *Memory) Abandon() {
	m.Asked, m.Offered, m.Greeted = nil, nil, false // the processes are the origin's
	m.Befores = slices.DeleteFunc(m.Befores, func(b Before) bool { return b.Call != 0 })
	if g := m.Merge; g != nil && !g.Over {
		if g.Test = 0; g.Tree == nil {
			m.Merge = nil
		}
	}
	for _, t := range m.Tasks {
		t.Clarify = nil
		if !t.busy() {
			continue
		}
		h := t.Handover
		h.Home, h.Inspect, h.After, h.Prompt, h.Timer, h.Wake, h.Due, h.Stopping, h.Stopped = 0, 0, 0, 0, 0, 0, 0, 0, ""
	}
}

// Facts implements quest.Memory.
func (m *Memory) Facts(e event.Event, f *policy.Facts) {
	switch b := e.Body.(type) {
	case *event.HandoverBegun:
		f.Ref, f.To = b.Task, b.Worker
	case *event.TaskEnded:
		f.Ref, f.Status = b.Task, b.Status
	case *event.TaskJudged:
		f.Ref, f.Status = b.Task, b.Verdict
	}
}

// CallFacts implements quest.Memory.
func (m *Memory) CallFacts(f *policy.Facts) {
	id := f.Field([]string{"args", "task"}).Text
	if t := m.Task(id); t != nil {
		f.Ref, f.Status = id, t.Status
	}
}

// Check implements quest.Checker: a result that says that all is well has to have what that
// needs.
func (m *Memory) Check(b event.Result) error {
	switch b := b.(type) {
	case *event.InspectionResult:
		if b.Error.Len() == 0 && len(b.Outside) == 0 && (b.Tree == nil || b.Patch == nil && b.Files > 0) {
			return fmt.Errorf("an inspection found nothing wrong, and has no tree or no patch")
		}
		if len(b.Outside) > 0 && b.Tree != nil {
			return fmt.Errorf("an inspection found changes outside the scope, and has a tree to take over")
		}
	case *event.TestReport:
		want := m.commands(b.Call)
		if b.Error.Len() == 0 && len(b.Commands) != want {
			return fmt.Errorf("a report has %d commands: want %d", len(b.Commands), want)
		}
	case *event.MergeReport:
		if (b.Tree == nil) == (len(b.Conflicts) == 0 && b.Error.Len() == 0) {
			return fmt.Errorf("a merge has a tree and conflicts, or neither")
		}
	}
	return nil
}

// MayOrder implements quest.Tasker.
func (m *Memory) MayOrder(b *event.TaskOrder) error {
	t := m.Task(b.Task)
	switch {
	case t == nil:
		return fmt.Errorf("there is no task %.40q", b.Task)
	case t.Status != "":
		return fmt.Errorf("the task %s is %s", b.Task, t.Status)
	case len(m.Orders) >= 16:
		return fmt.Errorf("%d words about tasks wait already", len(m.Orders))
	}
	return nil
}

// commands is how many commands an open acceptance.call has.
func (m *Memory) commands(call uint64) int {
	if g := m.Merge; g != nil && g.Test == call {
		return len(m.union(g.Parts))
	}
	for _, t := range m.Tasks {
		if t.busy() && (t.Handover.After == call || m.before(t) != nil && m.before(t).Call == call) {
			return len(t.Plan.Acceptance)
		}
	}
	return 0
}

// base is the tree that a task begins with, of which a saved one is nil if homes are empty.
func (t *Task) base() event.TreeRef {
	if t.Begun == nil {
		return event.TreeRef{}
	}
	return *t.Begun
}

// before is what the acceptance commands of a task said of what it begins with, nil if nobody
// has asked.
func (m *Memory) before(t *Task) *Before {
	sum := commandsHash(t.Plan.Acceptance)
	for i := range m.Befores {
		if b := &m.Befores[i]; b.Tree == t.base().Hash && b.Commands == sum {
			return b
		}
	}
	return nil
}

// union are the acceptance commands of all tasks that are merged, and of parts, each once.
func (m *Memory) union(parts []string) (out []string) {
	for _, t := range m.Tasks {
		if t.Status != event.TaskAccepted || !t.Merged && !slices.Contains(parts, t.Plan.ID) {
			continue
		}
		for _, c := range t.Plan.Acceptance {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}
