package architect

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Tend implements quest.Host.
func (Society) Tend(s *quest.State, e event.Event) []event.Draft {
	m := Of(s)
	if !m.Configured {
		return one(e, "core", m.config())
	}
	if step := greet(s, e); step != nil || !m.Greeted {
		return step
	}
	for _, t := range m.Tasks {
		if step := tendTask(s, t, e); step != nil {
			return step
		}
	}
	if step := obey(s, e); step != nil {
		return step
	}
	if step := merge(s, e); step != nil {
		return step
	}
	if step := conclude(s, e); step != nil {
		return step
	}
	return alarms(m, e)
}

// config are the limits that tasks are done under.
func (m *Memory) config() *event.SessionConfig {
	l := m.Settings.Session
	return &event.SessionConfig{Summarize: l.Summarize, Executors: m.Settings.Executors, Clarify: l.Clarify, Calls: l.Calls, Seconds: l.Seconds,
		Memory: l.Memory, Handovers: l.Handovers, Same: l.Same, Tasks: l.Tasks, Parallel: m.Settings.Parallel}
}

// greet has each executor made ready once before the architect does anything, and tells it who
// there is. Without any the quest does not start.
func greet(s *quest.State, e event.Event) []event.Draft {
	m := Of(s)
	if m.Greeted {
		return nil
	}
	var lines []string
	waits := false
	for _, x := range m.Settings.Executors {
		a := s.Agent(worker(x, 0, m.Settings.Parallel))
		switch {
		case a == nil || a.Session == nil:
			lines = append(lines, x+" cannot be used: it is no executor of this quest.")
		case a.Session.Failed != "":
			lines = append(lines, event.Shorten(oneLine(a.Session.Failed), 400))
		case a.Session.Info != nil:
			how := "its commands are witnessed"
			if a.Session.Info.Reported {
				how = "of its commands is known what it reports"
			}
			lines = append(lines, fmt.Sprintf("%s is ready: %s %s; %s.", x, oneLine(a.Session.Info.Name), oneLine(a.Session.Info.Version), how))
		case a.Session.Call == 0:
			return s.MakeReady(a, e)
		default:
			waits = true
		}
	}
	if waits {
		return nil
	}
	text := strings.Join(lines, "\n")
	if len(ready(s)) == 0 {
		return one(e, "core", &event.QuestFailed{Reason: "No executor is ready. " + event.Shorten(oneLine(text), 2000)})
	}
	return inform(e, Architect, 0, quest.Fill(s.Texts["greeting"], "EXECUTORS", text))
}

// ready are the executors that can be used, by preference.
func ready(s *quest.State) (out []string) {
	m := Of(s)
	for _, x := range m.Settings.Executors {
		if a := s.Agent(worker(x, 0, m.Settings.Parallel)); a != nil && a.Session != nil && a.Session.Info != nil && a.Session.Failed == "" {
			out = append(out, x)
		}
	}
	return out
}

// inform tells an agent something that is about an event.
func inform(e event.Event, to string, about uint64, text string) []event.Draft {
	return one(e, "core", &event.MessageSent{Performative: event.Inform, Reply: about, Text: event.Text{Text: event.Shorten(text, maxSaid)}, To: to})
}

// maxSaid is how much one is told at once, in bytes of JSON.
const maxSaid = 14 << 10

// tendTask is the next thing to do about a task.
func tendTask(s *quest.State, t *Task, e event.Event) []event.Draft {
	m := Of(s)
	if t.Status != "" {
		return news(s, t, e)
	}
	switch {
	case t.busy():
		return run(s, t, e)
	case t.Dropped:
		return end(t, e, event.TaskFailedFor, "The plan has it no more.")
	case t.Verdict == event.VerdictAccept:
		h := t.Handover
		return one(e, "core", &event.TaskEnded{Patch: h.Result.Patch, Run: h.Run, Status: event.TaskAccepted, Task: t.Plan.ID, Tree: h.Result.Tree})
	case t.Again != nil:
		return again(s, t, e)
	case t.Handover != nil && t.Handover.Outcome == event.OutcomeError:
		return follow(s, t, e)
	case t.Handover != nil && t.Handover.Outcome == event.OutcomeCancelled:
		return end(t, e, event.TaskCancelled, "A person cancelled it.")
	case t.Runs == 0:
		for _, id := range t.Plan.After {
			if a := m.Task(id); a != nil && a.Status != "" && (a.Status != event.TaskAccepted || a.Unmerged != "") {
				return end(t, e, event.TaskFailedFor, "It comes after "+id+", which is "+a.Status+cause(a)+".")
			}
		}
		return nil
	}
	return news(s, t, e)
}

// news tells the architect how a run ended, if no call of its own waits for that.
func news(s *quest.State, t *Task, e event.Event) []event.Draft {
	a, h := s.Agent(Architect), t.Handover
	if h == nil || h.Outcome == "" || h.Known || a == nil || len(a.Open) > 0 || a.Asked != 0 {
		return nil
	}
	return inform(e, Architect, h.Ended, outcome(s, t))
}

func cause(t *Task) string {
	if t.Unmerged != "" {
		return " and not merged"
	}
	return ""
}

// end ends a task that was not accepted.
func end(t *Task, e event.Event, status, reason string) []event.Draft {
	return one(e, "core", &event.TaskEnded{Reason: event.Shorten(reason, 2000), Run: t.Runs, Status: status, Task: t.Plan.ID})
}

// follow says what follows from an error: a repair, once for each kind of error; another way,
// if it is the same again; the end, if there is none. Otherwise it is the architect's turn.
func follow(s *quest.State, t *Task, e event.Event) []event.Draft {
	m, h := Of(s), t.Handover
	l := m.Settings.Session
	switch {
	case h.Error.Category == event.ErrorCancelled:
		return end(t, e, event.TaskCancelled, "A person cancelled it.")
	case h.Error.Category == event.ErrorClarify:
		return end(t, e, event.TaskFailedFor, fmt.Sprintf("It is unresolved: its executor asked more than %d times.", l.Clarify))
	case t.Runs >= l.Handovers:
		return end(t, e, event.TaskFailedFor, fmt.Sprintf("It was handed over %d times, which is all there can be. The last error: %s: %s", t.Runs, h.Error.Category, h.Error.Text))
	case t.Wanted:
		return nil
	case t.Same >= l.Same:
		return turn(s, t, e)
	case (mendable(h.Error.Category) || h.Error.Category == event.ErrorCalls && h.Over) && !slices.Contains(t.Repaired, h.Error.Category) && !m.taken(t):
		return begin(s, t, e, true, repairText(s, t), nil)
	}
	return nil
}

// mendable reports whether an executor is told of an error and goes on: not where it ran out
// of what it may use, or has no home. One whose command did not start can go on without any.
func mendable(category string) bool {
	switch category {
	case event.ErrorScope, event.ErrorManifest, event.ErrorAcceptance, event.ErrorSize, event.ErrorExecutor:
		return true
	}
	return false
}

// turn has a task go on in another way, each once.
func turn(s *quest.State, t *Task, e event.Event) []event.Draft {
	m := Of(s)
	why := fmt.Sprintf("the same error came %d times: %s", t.Same, event.Shorten(t.Handover.Error.Category+": "+oneLine(t.Handover.Error.Text), 600))
	if next := nextExecutor(s, t); next != "" && m.Settings.Repeated == repeatSwap && !t.Swapped {
		return one(e, "core", &event.TaskTurned{Executor: next, How: event.TurnedSwap, Reason: "It goes on with " + next + ": " + why, Task: t.Plan.ID})
	}
	if m.Settings.Repeated != repeatFail && !t.Narrowed && !t.Plan.ReadOnly {
		return one(e, "core", &event.TaskTurned{How: event.TurnedNarrow, Reason: "A smaller scope is wanted: " + why, Task: t.Plan.ID})
	}
	return end(t, e, event.TaskFailedFor, "It failed: "+why)
}

// nextExecutor is the one after that of a task, empty if there is none.
func nextExecutor(s *quest.State, t *Task) string {
	all := ready(s)
	if i := slices.Index(all, t.Executor); i >= 0 && i+1 < len(all) {
		return all[i+1]
	}
	return ""
}

// again hands a task over that does not wait for the architect's word.
func again(s *quest.State, t *Task, e event.Event) []event.Draft {
	l := Of(s).Settings.Session
	if t.Runs >= l.Handovers {
		return end(t, e, event.TaskFailedFor, fmt.Sprintf("It was handed over %d times, which is all there can be.", t.Runs))
	}
	if t.Again.Repair {
		return begin(s, t, e, true, quest.Fill(s.Texts["refused"], "TASK", t.Plan.ID, "REASONS", t.Again.Text), nil)
	}
	return begin(s, t, e, false, "", nil)
}

// begin hands a task over: what it is to know first, then the handover. at is where the
// architect's call stands, if there is one.
func begin(s *quest.State, t *Task, e event.Event, repair bool, text string, at *using) []event.Draft {
	m := Of(s)
	slot := t.Slot
	if at != nil || m.taken(t) {
		if slot = m.free(); slot < 0 {
			return nil // it is handed over when another has left its place
		}
	}
	if t.Snapshot == 0 {
		return one(e, "core", m.snapshot(t))
	}
	b := &event.HandoverBegun{Executor: t.Executor, Repair: repair, Run: t.Runs + 1, Snapshot: t.Snapshot, Task: t.Plan.ID}
	if at != nil {
		b.Answer, b.Part = at.place.Answer, at.place.Part
	}
	if b.Executor == "" || !slices.Contains(ready(s), b.Executor) && !repair {
		if all := ready(s); len(all) > 0 {
			b.Executor = all[0]
		}
	}
	b.Worker = worker(b.Executor, slot, m.Settings.Parallel)
	if b.Package.Text = text; !repair {
		packed, err := pack(s, t, b.Executor)
		if err != nil {
			return end(t, e, event.TaskFailedFor, "Its package cannot be made: "+err.Error())
		}
		b.Package.Text = packed
	}
	return one(e, "core", b)
}

// free is the first place at which no task is, -1 if there is none.
func (m *Memory) free() int64 {
	for slot := range m.Settings.Parallel {
		if !slices.ContainsFunc(m.Tasks, func(t *Task) bool { return t.holds() && t.Slot == slot }) {
			return slot
		}
	}
	return -1
}

// taken reports whether another task has got the place of one that had left it, after an error.
// Its executor works on the other then: it can be handed over at another place, and what it was
// doing cannot be repaired.
func (m *Memory) taken(t *Task) bool {
	return slices.ContainsFunc(m.Tasks, func(o *Task) bool { return o != t && o.holds() && o.Slot == t.Slot })
}

// obey does what a person says of a task that is not under way: of one that is, run does.
func obey(s *quest.State, e event.Event) []event.Draft {
	m := Of(s)
	for _, o := range m.Orders {
		t := m.Task(o.Task)
		switch {
		case t == nil || t.Status != "":
			return inform(e, Architect, o.Seq, quest.Fill(s.Texts["order"], "TASK", oneLine(event.Shorten(o.Task, 80)), "TEXT", o.Action+". "+o.Text))
		case t.busy():
		case o.Action == event.OrderCancel:
			return end(t, e, event.TaskCancelled, "A person cancelled it.")
		default:
			return inform(e, Architect, o.Seq, quest.Fill(s.Texts["order"], "TASK", t.Plan.ID, "TEXT", o.Text))
		}
	}
	return nil
}

// merge puts together what tasks made, when all that began with the same tree have ended.
func merge(s *quest.State, e event.Event) []event.Draft {
	m := Of(s)
	g := m.Merge
	switch {
	case g != nil && g.Over:
		text := "merged"
		if g.Failed != "" {
			text = "unmerged"
		}
		return inform(e, Architect, g.Seq, quest.Fill(s.Texts[text], "TASKS", strings.Join(g.Parts, ", "), "WHY", g.Failed))
	case g != nil && g.Tree != nil && g.Test == 0:
		return one(e, "core", m.testMerged(*g.Tree, g.Parts))
	case g != nil || m.open():
		return nil
	}
	parts := m.parts()
	if len(parts) == 0 {
		return nil
	}
	if len(parts) == 1 { // what it has was made of all that was merged before
		return one(e, "core", m.testMerged(*m.Task(parts[0]).Tree, parts))
	}
	call := &event.MergeCall{Base: baseOf(s, m.Task(parts[0]))}
	for _, id := range parts {
		call.Parts = append(call.Parts, event.MergePart{Task: id, Tree: *m.Task(id).Tree})
	}
	return one(e, "core", call)
}

func (m *Memory) testMerged(tree event.TreeRef, parts []string) *event.AcceptanceCall {
	return &event.AcceptanceCall{Commands: append([]string{}, m.union(parts)...), Seconds: m.Settings.Session.Seconds, Side: event.SideMerged, Tree: tree}
}

// baseOf is the tree that a task begins with.
func baseOf(s *quest.State, t *Task) event.TreeRef {
	if t.Begun != nil {
		return *t.Begun
	}
	if begun := s.Begun(); begun != nil {
		return *begun
	}
	return event.TreeRef{}
}

// conclude ends a quest whose architect does nothing more: the answer says what was tried.
func conclude(s *quest.State, e event.Event) []event.Draft {
	a, m := s.Agent(Architect), Of(s)
	if m.Answer != nil && len(a.Open) == 0 {
		return one(e, Architect, finished(m, *m.Answer))
	}
	if a == nil || a.Parked == "" || a.Parked == waitsForExecutors || m.Merge != nil || len(a.Open) > 0 {
		return nil
	}
	if slices.ContainsFunc(m.Tasks, (*Task).busy) {
		return nil
	}
	if a.Held { // only a person can give it its turn back
		return one(e, "core", &event.QuestFailed{Reason: event.Shorten("The architect may not go on. "+a.Parked+"\n"+finished(m, "").Answer.Text, 6<<10)})
	}
	if len(m.Tasks) == 0 {
		return one(e, "core", &event.QuestFailed{Reason: "Nothing was planned. " + a.Parked})
	}
	return one(e, Architect, finished(m, "The architect has not concluded. "+a.Parked))
}

// finished is the quest's answer: what the architect says, and what was done by the books.
func finished(m *Memory, answer string) *event.QuestFinished {
	b := &event.QuestFinished{}
	accepted, tried := 0, []string{}
	for _, t := range m.Tasks {
		line := "- " + t.Plan.ID + ": " + word(t)
		tried = append(tried, event.Shorten(line, 400))
		for _, try := range t.Tried {
			if t.Status != event.TaskAccepted {
				tried = append(tried, event.Shorten("  - "+try, 320))
			}
		}
		switch {
		case t.Status == event.TaskAccepted && t.Unmerged == "":
			accepted++
		case t.Unmerged != "":
			b.Warnings = append(b.Warnings, event.Shorten(t.Plan.ID+" is not merged: "+t.Unmerged, 300))
		default:
			b.Warnings = append(b.Warnings, event.Shorten(t.Plan.ID+" is "+strings.TrimSpace(word(t)), 300))
		}
	}
	b.NotFound = accepted == 0 && len(m.Tasks) > 0
	text := strings.TrimSpace(answer)
	if len(tried) > 0 {
		text += "\n\n## Tasks\n\n" + strings.Join(tried, "\n") + "\n"
	}
	b.Answer.Text = event.Shorten(text, 12<<10-warned(b.Warnings))
	return b
}

func warned(list []string) (n int) {
	for _, w := range list {
		n += event.Weight(w) + 3
	}
	return n
}

// word says what became of a task.
func word(t *Task) string {
	switch {
	case t.Status == event.TaskAccepted && t.Unmerged != "":
		return "accepted and not merged: " + oneLine(t.Unmerged)
	case t.Status != "":
		return strings.TrimSpace(t.Status + ". " + oneLine(t.Reason))
	case t.Runs == 0:
		return "not begun"
	}
	return "not ended"
}
