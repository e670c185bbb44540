package architect

import (
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/society/architect/task"
)

// Apply implements quest.Memory.
func (m *Memory) Apply(e event.Event) {
	m.note(e)
	switch b := e.Body.(type) {
	case *event.SessionConfig:
		m.Configured = true
	case *event.MessageSent:
		m.sent(e, b)
	case *event.QuestFinished:
		m.Answer = nil
	case *event.PolicyBlocked:
		if b.Proposal == "quest.finished" {
			m.Answer = nil
		}
	case *event.PlanProposed:
		place := agent.Place{Answer: b.Answer, Part: b.Part}
		m.Proposed = &Proposed{Seq: e.Seq, Place: place, Tasks: b.Tasks}
		m.Done = append(m.Done, Act{Place: place, What: planTasks})
	case *event.PlanApproved:
		m.approve(b.Tasks)
		m.Proposed = nil
	case *event.ModeSet:
		m.Settings.Approve = b.Mode == modeApprove
	case *event.TaskOrder:
		m.Orders = append(m.Orders, Order{e.Seq, b.Action, b.Task, b.Text})
	case *event.MergeCall:
		m.Merge = &Merge{Parts: m.parts(), Call: e.Seq}
	case *event.MergeReport:
		m.merged(e.Seq, b)
	case *event.AcceptanceCall:
		m.testing(e.Seq, b)
	case *event.TestReport:
		m.tested(e.Seq, b)
	case *event.TaskSummary:
		m.Summed = int64(len(m.Notes))
	case *event.ToolAnswered:
		m.answered(e, b)
	case *event.ToolProposed, *event.ToolCall, *event.PermissionAsked, *event.PermissionDecided, *event.ToolReported, *event.CliRun, *event.CliExit:
		m.watch(e)
	default:
		m.applyTask(e)
	}
}

// applyTask takes in what happens to tasks.
func (m *Memory) applyTask(e event.Event) {
	switch b := e.Body.(type) {
	case *event.TaskSnapshot:
		t := m.Task(b.Task)
		t.Snapshot, t.SnapshotHash = e.Seq, b.Hash
	case *event.HandoverBegun:
		m.begun(e, b)
	case *event.HandoverEnded:
		m.ended(e, b)
	case *event.ArtifactManifest:
		m.Task(b.Task).Handover.Listed = true
	case *event.TaskError:
		m.failed(e, b)
	case *event.TaskClarify:
		t := m.Task(b.Task)
		t.Rounds = b.Round
		t.Clarify = &Clarify{Seq: e.Seq, Place: agent.Place{Answer: b.Answer, Part: b.Part}, Question: b.Question, Over: b.Round > m.Settings.Session.Clarify}
		t.Handover.hold(e.Time)
	case *event.TaskClarified:
		t := m.Task(b.Task)
		t.Clarify.Answer, t.Clarify.Told = &b.Text, true
		t.Tried = append(t.Tried, event.Shorten(oneLine("its executor asked: "+t.Clarify.Question.Text), 300))
		t.Handover.goOn(e.Time)
	case *event.TaskJudged:
		m.judged(b)
	case *event.TaskTurned:
		m.turned(b)
	case *event.TaskEnded:
		t := m.Task(b.Task)
		t.Status, t.Reason, t.Tree, t.Patch, t.Again, t.Clarify, t.Wanted = b.Status, b.Reason, b.Tree, b.Patch, nil, nil, false
		m.Orders = slices.DeleteFunc(m.Orders, func(o Order) bool { return o.Task == b.Task })
		m.settle()
	default:
		m.applyRun(e)
	}
}

// applyRun takes in what a worker does, and what was found of that.
func (m *Memory) applyRun(e event.Event) {
	switch b := e.Body.(type) {
	case *event.HomeCall:
		if t := m.at(e.Actor); t != nil {
			t.Handover.Home = e.Seq
		}
	case *event.HomeRenewed:
		if t := m.at(e.Actor); t != nil && t.Handover.Home == b.Call {
			h := t.Handover
			if h.Home, h.Ready = 0, b.Error.Len() == 0; !h.Ready {
				h.NoHome = said(b.Error, "the home could not be made")
			}
		}
	case *event.PromptCall:
		if t := m.at(e.Actor); t != nil && t.Handover.prompts() {
			h := t.Handover
			h.Prompt, h.Left = e.Seq, m.Settings.Session.Seconds*1_000_000
			h.goOn(e.Time)
		}
	case *event.TimerSet:
		for _, t := range m.Tasks {
			if t.busy() && timerOf(t.Handover.Worker) == b.Purpose {
				t.Handover.Timer, t.Handover.Wake = b.At, e.Seq
			}
		}
	case *event.TimerFired:
		for _, t := range m.Tasks {
			if t.busy() && t.Handover.Wake == b.Call {
				t.Handover.Timer, t.Handover.Wake = 0, 0
			}
		}
	case *event.PromptStopped:
		if t := m.at(e.Actor); t != nil && t.Handover.Prompt == b.Call {
			t.Handover.Stopping, t.Handover.Stopped = b.Call, b.Reason
		}
	case *event.PromptResult:
		m.returned(e, b)
	case *event.InspectionCall:
		m.Task(b.Task).Handover.Inspect = e.Seq
	case *event.InspectionResult:
		for _, t := range m.Tasks {
			if t.busy() && t.Handover.Inspect == b.Call {
				t.Handover.Inspect = 0
				t.Handover.Result = &Inspected{Seq: e.Seq, Error: said(b.Error, ""), Oversized: b.Oversized, Files: b.Files, Changes: b.Changes, Findings: b.Findings,
					Outside: b.Outside, More: b.More, Manifest: b.Manifest, Tree: b.Tree, Patch: b.Patch}
			}
		}
	}
}

// hold has the clock of a prompt stand still, goOn has it run again.
func (h *Handover) hold(now event.Time) {
	if h.Due != 0 {
		h.Left, h.Due = max(int64(h.Due-now), 0), 0
	}
}

func (h *Handover) goOn(now event.Time) {
	if h.Prompt != 0 && h.Due == 0 {
		h.Due = now + event.Time(h.Left)
	}
}

// said is a text that may stand in a blob.
func said(t event.Text, otherwise string) string {
	if t.Text == "" && t.Ref != nil {
		return "a long text: see the event"
	}
	if t.Text == "" {
		return otherwise
	}
	return event.Shorten(t.Text, 2000)
}

// sent takes in what somebody was told: a worker its task, the architect who its executors
// are, what one of them asks, or what became of a merge.
func (m *Memory) sent(e event.Event, b *event.MessageSent) {
	if e.Actor == Architect && e.Tool == finish {
		m.Answer = &b.Text.Text
		m.Done = append(m.Done, Act{Place: agent.Place{Answer: b.Answer, Part: b.Part}, What: finish})
		return
	}
	if b.Policy != "" || b.Performative != event.Inform {
		return
	}
	if b.To != Architect {
		if t := m.at(b.To); t != nil && t.Handover.Seq == b.Reply {
			t.Handover.Told = true
		}
		return
	}
	m.Greeted = true
	for _, t := range m.Tasks {
		if t.Clarify != nil && t.Clarify.Seq == b.Reply {
			t.Clarify.Told = true
		}
		if t.Handover != nil && t.Handover.Outcome != "" && t.Handover.Ended == b.Reply {
			t.Handover.Known = true
		}
	}
	if m.Merge != nil && m.Merge.Over && m.Merge.Seq == b.Reply {
		m.Merge = nil
		m.Merges++
	}
	m.Orders = slices.DeleteFunc(m.Orders, func(o Order) bool { return o.Seq == b.Reply })
}

// approve takes a plan over: what is under way or done stays as it is, what was not begun is
// as the plan says.
func (m *Memory) approve(plan []event.TaskPlan) {
	var kept []*Task
	for _, t := range m.Tasks {
		if t.Runs == 0 && t.Status == "" {
			continue
		}
		named := slices.ContainsFunc(plan, func(p event.TaskPlan) bool { return p.ID == t.Plan.ID })
		t.Dropped = t.Status == "" && !t.busy() && !named
		kept = append(kept, t)
	}
	for _, p := range plan {
		if !slices.ContainsFunc(kept, func(t *Task) bool { return t.Plan.ID == p.ID }) {
			kept = append(kept, &Task{Plan: p})
		}
	}
	m.Tasks = kept
}

func (m *Memory) begun(e event.Event, b *event.HandoverBegun) {
	t := m.Task(b.Task)
	h := &Handover{
		Seq: e.Seq, Run: b.Run, Worker: b.Worker, Executor: b.Executor, Repair: b.Repair, Place: agent.Place{Answer: b.Answer, Part: b.Part}, Package: b.Package, Snapshot: b.Snapshot,
	}
	if b.Answer != 0 {
		m.Done = append(m.Done, Act{Place: h.Place, Task: b.Task, What: dispatch})
	}
	for slot := range m.Settings.Parallel {
		if worker(b.Executor, slot, m.Settings.Parallel) == b.Worker {
			h.Slot = slot
		}
	}
	if old := t.Handover; b.Repair && old != nil {
		h.Ready, h.Session, h.Fingerprint = old.Ready, old.Session, old.Fingerprint
	} else if p, err := task.DecodePackage([]byte(b.Package.Text)); err == nil {
		h.Session, h.Fingerprint = p.Session, p.Runtime.Fingerprint
	}
	if t.Runs == 0 || !b.Repair && t.Begun == nil {
		t.Begun = m.Standing
	}
	if t.Handover != nil && t.Handover.Error != nil && b.Repair {
		t.Repaired = append(t.Repaired, t.Handover.Error.Category)
	}
	t.Runs, t.Handover, t.Executor, t.Slot = b.Run, h, b.Executor, h.Slot
	t.Snapshot, t.Again, t.Clarify, t.Verdict = 0, nil, nil, ""
}

func (m *Memory) ended(e event.Event, b *event.HandoverEnded) {
	t := m.Task(b.Task)
	h := t.Handover
	h.Outcome, h.Ended = b.Outcome, e.Seq
	t.Clarify = nil
	line := "run " + number(h.Run) + " by " + h.Executor + ": "
	switch {
	case h.Error != nil:
		line += h.Error.Category + ": " + h.Error.Text
	default:
		line += b.Outcome
	}
	t.Tried = append(t.Tried, event.Shorten(oneLine(line), 300))
	for i, o := range m.Orders { // what a person said is what it ended for
		if o.Task == b.Task && b.Outcome == event.OutcomeCancelled && h.Error == nil {
			t.Again = &Again{Repair: true, Text: o.Text}
			m.Orders = slices.Delete(m.Orders, i, i+1)
			break
		}
	}
}

func (m *Memory) failed(e event.Event, b *event.TaskError) {
	t := m.Task(b.Task)
	t.Sign, t.Same = task.Same(b.Category, b.Exit, b.Line), b.Same
	if t.Handover != nil && t.Handover.Outcome == "" {
		t.Handover.Error = &Fault{Seq: e.Seq, Category: b.Category, Text: said(b.Text, b.Category)}
	}
	if b.Category == event.ErrorCancelled {
		m.Orders = slices.DeleteFunc(m.Orders, func(o Order) bool { return o.Task == b.Task })
	}
}

func (m *Memory) judged(b *event.TaskJudged) {
	t := m.Task(b.Task)
	m.Done = append(m.Done, Act{Place: agent.Place{Answer: b.Answer, Part: b.Part}, Task: b.Task, What: judge + " " + b.Verdict})
	t.Verdict = b.Verdict
	switch b.Verdict {
	case event.VerdictRefuse:
		t.Again = &Again{Repair: true, Text: b.Reasons.Text}
		t.Tried = append(t.Tried, event.Shorten(oneLine("run "+number(b.Run)+" refused: "+b.Reasons.Text), 300))
	case event.VerdictNarrow:
		t.Plan.Scope = *b.Scope
		t.Again = &Again{Text: b.Reasons.Text}
		if t.Wanted {
			t.Narrowed, t.Wanted = true, false
			t.renew()
		}
	}
}

// turned takes in that a task goes on in another way, with new counters.
func (m *Memory) turned(b *event.TaskTurned) {
	t := m.Task(b.Task)
	switch b.How {
	case event.TurnedSwap:
		t.Swapped, t.Executor, t.Again = true, b.Executor, &Again{}
		t.renew()
	case event.TurnedNarrow:
		t.Wanted = true
	}
	t.Tried = append(t.Tried, event.Shorten(b.Reason, 300))
}

func (t *Task) renew() { t.Calls, t.Rounds, t.Sign, t.Same, t.Repaired = 0, 0, "", 0, nil }

func (m *Memory) returned(e event.Event, b *event.PromptResult) {
	t := m.at(e.Actor)
	if t == nil || t.Handover.Prompt != b.Call {
		return
	}
	h := t.Handover
	h.hold(e.Time)
	h.Prompt = 0
	if b.Stop == event.StopInterrupted && h.Stopping != b.Call {
		return // it goes on when the quest does
	}
	t.begun("")
	h.Returned, h.Stop, h.Logs = true, b.Stop, b.Frames
	if b.Failed() {
		h.Failed = said(b.Error, "it failed")
		h.Memory = h.Memory || b.Ended == endMemory
	}
}

// answered takes in what the architect was answered.
func (m *Memory) answered(e event.Event, b *event.ToolAnswered) {
	if e.Actor != Architect {
		return
	}
	if m.Wrong++; !b.Error {
		m.Wrong = 0
	}
	if e.Tool != dispatch && e.Tool != judge {
		return
	}
	for _, t := range m.Tasks { // such an answer tells of all of them
		if t.Handover != nil && t.Handover.Outcome != "" {
			t.Handover.Known = true
		}
	}
}

// watch takes in what executors do themselves: the commands they run, and manifests.
func (m *Memory) watch(e event.Event) {
	t := m.at(e.Actor)
	if t == nil {
		return
	}
	h := t.Handover
	switch b := e.Body.(type) {
	case *event.ToolProposed:
		if b.Name == artifactManifest {
			m.Offered = append(m.Offered, Offer{e.Seq, b.Args})
		}
	case *event.ToolCall:
		for i, o := range m.Offered {
			if o.Proposed == b.Answer {
				h.Manifest = o.Text
				m.Offered = slices.Delete(m.Offered, i, i+1)
				break
			}
		}
	case *event.PermissionAsked:
		runs := b.Kind == kindExecute
		m.Asked = append(m.Asked, Wanted{e.Seq, e.Actor, b.Tool, runs, event.Shorten(oneLine(b.Title.Text), 100)})
		if runs {
			h.Pending = without(h.Pending, b.Tool) // what is decided counts
		}
	case *event.PermissionDecided:
		if i := slices.IndexFunc(m.Asked, func(w Wanted) bool { return w.Asked == b.Asked }); i >= 0 {
			w := m.Asked[i]
			m.Asked = slices.Delete(m.Asked, i, i+1)
			m.decided(t, w, b)
		}
	case *event.ToolReported:
		if b.Kind == kindExecute {
			m.reported(t, b)
		}
	case *event.CliRun:
		if b.Prompt != 0 && b.Prompt == h.Prompt {
			t.started(b.Command)
		}
	case *event.CliExit:
		if h.Prompt != 0 && (b.End == endMemory || b.Met == endMemory && m.Settings.Rules > 0) {
			h.Memory = true
		}
	}
}

// decided takes in what was decided about what an executor wants to do. It hears no reason: the
// protocol has no place for one, so it is told with what is wrong with its run.
func (m *Memory) decided(t *Task, w Wanted, b *event.PermissionDecided) {
	h := t.Handover
	if !b.Given && b.Reason != "" && len(h.Denied) < maxDenied {
		h.Denied = append(h.Denied, w.What+": "+event.Shorten(oneLine(b.Reason), 200))
	}
	switch {
	case !w.Runs:
	case b.Given:
		t.ran(w.Tool)
		h.Permitted = append(h.Permitted, w.Tool)
	default:
		h.saw(w.Tool)
		h.Over = h.Over || t.Calls >= m.Settings.Session.Calls
	}
}

// maxDenied is how many refusals an executor is told again.
const maxDenied = 5

// kindExecute is the kind of what an executor does that is a command, endMemory how a process
// ends that had no memory left, and what a command has met one of whose children had none.
const (
	kindExecute = "execute"
	endMemory   = "memory"
)

// reported takes in what an executor says of a command. One that is pending may still be asked
// about, and be refused: it counts with the next word about it, or when another one begins.
func (m *Memory) reported(t *Task, b *event.ToolReported) {
	h := t.Handover
	if b.Status == "pending" {
		t.begun(b.ID)
		if !slices.Contains(h.Seen, b.ID) && !slices.ContainsFunc(m.Asked, func(w Wanted) bool { return w.Runs && w.Agent == h.Worker && w.Tool == b.ID }) {
			h.Pending = []string{b.ID}
		}
		return
	}
	h.Pending = without(h.Pending, b.ID)
	t.ran(b.ID)
	if b.Status != "in_progress" {
		h.Permitted = without(h.Permitted, b.ID)
	}
}

// begun counts what was pending, but for one.
func (t *Task) begun(but string) {
	for _, id := range t.Handover.Pending {
		if id != but {
			t.ran(id)
		}
	}
	t.Handover.Pending = nil
}

// started takes in a command of a terminal. One that was permitted, or announced, is the same
// command, and counts once.
func (t *Task) started(command string) {
	h := t.Handover
	if len(h.Permitted) > 0 {
		h.Permitted = h.Permitted[1:]
		h.saw("command " + command)
		return
	}
	for _, id := range h.Pending {
		h.saw(id)
	}
	h.Pending = nil
	t.ran("command " + command)
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == name })
}

// ran counts a command, once.
func (t *Task) ran(name string) {
	if name == "" || !slices.Contains(t.Handover.Seen, event.Cut(name, 128)) {
		t.Calls++
		t.Handover.saw(name)
	}
}

// saw notes a command that is counted, or is not to be.
func (h *Handover) saw(name string) {
	h.Seen = append(h.Seen, event.Cut(name, 128))
	if most := 256; len(h.Seen) > most { // of those long past nothing more is heard
		h.Seen = slices.Delete(h.Seen, 0, len(h.Seen)-most)
	}
}
