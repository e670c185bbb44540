package architect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/architect/task"
)

// run takes the next step of a handover that is under way: a home, the prompt, and then what
// is checked, one after another. The first that is wrong ends it.
func run(s *quest.State, t *Task, e event.Event) []event.Draft {
	h := t.Handover
	a := s.Agent(h.Worker)
	if h.Error != nil {
		how := event.OutcomeError
		if h.Error.Category == event.ErrorCancelled {
			how = event.OutcomeCancelled
		}
		return ended(t, e, how)
	}
	if step, over := ordered(s, t, e); over {
		return step
	}
	switch {
	case a == nil || a.Session == nil:
		return wrong(t, e, event.ErrorExecutor, 0, "no executor", h.Worker+" is no executor of this quest.")
	case h.NoHome != "":
		return wrong(t, e, event.ErrorBase, 0, h.NoHome, "The home of the task could not be made: "+h.NoHome)
	case !h.Ready:
		if h.Home != 0 || !a.Renewable() {
			return nil
		}
		return one(e, h.Worker, &event.HomeCall{Tree: t.Begun})
	case h.Prompt == 0 && !h.Returned && a.Session.Failed != "":
		return wrong(t, e, event.ErrorExecutor, 0, "not ready", a.Session.Failed)
	case h.Told && h.Prompt == 0 && !h.Returned && a.Failed != nil && a.GaveUp():
		return wrong(t, e, event.ErrorExecutor, 0, "interrupted", "The executor could not be told its task: "+a.Failed.Text)
	case h.Prompt == 0 && !h.Returned && a.Held:
		return wrong(t, e, event.ErrorExecutor, 0, "held", "It may not go on: "+a.Parked)
	case !h.Told:
		// Nothing follows from a timer: it comes first.
		at := e.Time + event.Time(Of(s).Settings.Session.Seconds*1_000_000)
		return append(wake(e, h, at), inform(e, h.Worker, h.Seq, words(s, t))...)
	case h.Prompt != 0:
		return watch(s, t, e)
	case !h.Returned:
		return nil
	}
	return check(s, t, e)
}

// ordered does what a person says of a task that is under way. over says that nothing else is
// to be done.
func ordered(s *quest.State, t *Task, e event.Event) (step []event.Draft, over bool) {
	m, h := Of(s), t.Handover
	i := slices.IndexFunc(m.Orders, func(o Order) bool { return o.Task == t.Plan.ID })
	if i < 0 {
		return nil, false
	}
	switch {
	case m.Orders[i].Action != event.OrderCancel && h.Prompt == 0 && !h.Returned:
		return nil, false // it has not heard of its task yet
	case h.Prompt != 0 && h.Stopping != h.Prompt:
		return stop(t, e, event.ErrorCancelled), true
	case h.Prompt != 0:
		return nil, true
	case m.Orders[i].Action == event.OrderCancel:
		return wrong(t, e, event.ErrorCancelled, 0, "", "A person cancelled it."), true
	}
	return ended(t, e, event.OutcomeCancelled), true // it is handed over again with what was said
}

func ended(t *Task, e event.Event, how string) []event.Draft {
	return one(e, "core", &event.HandoverEnded{Outcome: how, Run: t.Handover.Run, Task: t.Plan.ID})
}

// stop has the executor stop, for a category of errors.
func stop(t *Task, e event.Event, category string) []event.Draft {
	return one(e, t.Handover.Worker, &event.PromptStopped{Call: t.Handover.Prompt, Reason: category})
}

// wrong is an error of the run.
func wrong(t *Task, e event.Event, category string, exit int64, line, text string) []event.Draft {
	h := t.Handover
	b := &event.TaskError{Category: category, Exit: exit, Line: event.Shorten(oneLine(line), 400), Logs: h.Logs, Run: h.Run, Same: 1, Task: t.Plan.ID}
	if t.Sign != "" && t.Sign == task.Same(category, exit, b.Line) {
		b.Same = t.Same + 1
	}
	b.Text.Text = event.Shorten(text, 6<<10)
	return one(e, "core", b)
}

// alarms wake the rules when an executor's time is up. They come last: they lead to nothing by
// themselves.
func alarms(m *Memory, e event.Event) (out []event.Draft) {
	for _, t := range m.Tasks {
		if h := t.Handover; t.busy() && h.Prompt != 0 && h.Stopping != h.Prompt && h.Due != 0 && h.Timer == 0 {
			out = append(out, wake(e, h, h.Due)...)
		}
	}
	return out
}

// watch keeps an executor within its limits while it works. The clock stands still while it
// waits for the architect.
func watch(s *quest.State, t *Task, e event.Event) []event.Draft {
	h := t.Handover
	if h.Stopping == h.Prompt {
		return nil
	}
	if over := limit(s, t, e.Time); over != "" {
		return stop(t, e, over)
	}
	if c := t.Clarify; c != nil && !c.Told {
		return inform(e, Architect, c.Seq, quest.Fill(s.Texts["asked"], "TASK", t.Plan.ID, "QUESTION", said(c.Question, "")))
	}
	return nil
}

// wake asks to be woken when the time of a worker is up.
func wake(e event.Event, h *Handover, at event.Time) []event.Draft {
	return one(e, "core", &event.TimerSet{At: at, Purpose: timerOf(h.Worker)})
}

// Idle implements quest.Idler: the clock of a worker runs while it is at work.
func (m *Memory) Idle(purpose string) bool {
	for _, t := range m.Tasks {
		if t.busy() && t.Handover.Due != 0 && timerOf(t.Handover.Worker) == purpose {
			return false
		}
	}
	return true
}

// timerOf is the purpose of the timer of a worker.
func timerOf(worker string) string { return "handover/" + worker }

// limit is the category of the limit that an executor has passed, empty if it has none.
func limit(s *quest.State, t *Task, now event.Time) string {
	m, h := Of(s), t.Handover
	a := s.Agent(Architect)
	switch {
	case h.Due != 0 && now >= h.Due:
		return event.ErrorTimeout
	case h.Memory:
		return event.ErrorMemory
	case t.Calls > m.Settings.Session.Calls:
		return event.ErrorCalls
	case t.Clarify != nil && (t.Clarify.Over || t.Clarify.Answer == nil && silent(a, t.Clarify.Told)):
		return event.ErrorClarify
	}
	return ""
}

// silent reports whether the architect answers no more: it may not go on, or has heard the
// question and has been parked since.
func silent(a *agent.Agent, heard bool) bool {
	return a == nil || a.Held || heard && a.Parked != "" && a.Parked != waitsForExecutors
}

// check looks at what an executor has left behind.
func check(s *quest.State, t *Task, e event.Event) []event.Draft {
	m, h := Of(s), t.Handover
	l := m.Settings.Session
	switch category := cmp.Or(h.Stopped, limit(s, t, 0)); category {
	case "":
	case event.ErrorTimeout:
		return wrong(t, e, category, 0, "", fmt.Sprintf("It took longer than %d seconds, and was stopped.", l.Seconds))
	case event.ErrorMemory:
		if h.Stopped == "" && h.Failed != "" {
			return wrong(t, e, category, 0, "", fmt.Sprintf("The executor had no memory left: a computer has %d MB.", l.Memory))
		}
		return wrong(t, e, category, 0, "", fmt.Sprintf("A command had no memory left: a computer has %d MB. The executor was stopped.", l.Memory))
	case event.ErrorCalls:
		return wrong(t, e, category, 0, "", fmt.Sprintf("It ran more than %d commands, and was stopped.", l.Calls))
	case event.ErrorClarify:
		return wrong(t, e, category, 0, "", fmt.Sprintf("It asked more than %d times, or nobody can answer it.", l.Clarify))
	default:
		return wrong(t, e, event.ErrorExecutor, 0, category, "It was stopped: "+category)
	}
	switch {
	case h.Over:
		return wrong(t, e, event.ErrorCalls, 0, "", fmt.Sprintf("It wanted to run more than %d commands: the one over the limit did not start.", l.Calls))
	case h.Failed != "":
		return wrong(t, e, event.ErrorExecutor, 0, firstLine(h.Failed), "The executor broke off: "+h.Failed)
	case h.Stop == event.StopRefusal:
		return wrong(t, e, event.ErrorRefused, 0, "refusal", "The executor refuses to go on.")
	case h.Result == nil && h.Inspect == 0:
		return one(e, "core", &event.InspectionCall{Begun: baseOf(s, t), Manifest: h.Manifest, ReadOnly: t.Plan.ReadOnly, Run: h.Run, Scope: t.Plan.Scope, Task: t.Plan.ID, Worker: h.Worker})
	case h.Result == nil:
		return nil
	}
	return inspected(s, t, e)
}

// inspected goes on from what was found: nothing outside the scope, a manifest that is true,
// and then the acceptance commands, before and after.
func inspected(s *quest.State, t *Task, e event.Event) []event.Draft {
	m, h := Of(s), t.Handover
	r := h.Result
	findings := r.Findings
	if r.Manifest == nil && len(findings) == 0 {
		findings = []string{"there is no manifest: hand one in with the tool artifact_manifest, or leave it in " + task.Files[0]}
	} else if r.Manifest != nil {
		findings = append(slices.Clone(findings), task.Strange(r.Manifest, h.Session, h.Fingerprint)...)
	}
	switch {
	case r.Oversized:
		return wrong(t, e, event.ErrorSize, 0, "", r.Error)
	case r.Error != "":
		return wrong(t, e, event.ErrorExecutor, 0, firstLine(r.Error), "What it left could not be looked at: "+r.Error)
	case len(r.Outside) > 0:
		return wrong(t, e, event.ErrorScope, 0, paths(r.Outside), fmt.Sprintf("Outside the scope something has changed, and nothing is taken over (%d in all): %s", int64(len(r.Outside))+r.More, skipped(r.Outside)))
	case len(findings) > 0:
		return wrong(t, e, event.ErrorManifest, 0, findings[0], "The manifest: "+strings.Join(findings, "; "))
	case !h.Listed:
		return one(e, h.Worker, r.Manifest)
	case len(t.Plan.Acceptance) == 0:
		return ended(t, e, event.OutcomeChecked)
	}
	call := &event.AcceptanceCall{Commands: t.Plan.Acceptance, Seconds: m.Settings.Session.Seconds, Task: t.Plan.ID}
	switch before := m.before(t); {
	case before == nil:
		call.Side, call.Tree = event.SideBefore, baseOf(s, t)
		return one(e, "core", call)
	case before.Call != 0:
		return nil
	case h.Report == nil && h.After == 0:
		call.Side, call.Tree = event.SideAfter, *r.Tree
		return one(e, "core", call)
	case h.Report == nil:
		return nil
	case !h.Report.Good():
		line := cmp.Or(h.Report.Line, firstLine(h.Report.Error), h.Report.Command)
		return wrong(t, e, event.ErrorAcceptance, h.Report.Exit, line, "Acceptance: "+h.Report.words()+"\n"+h.Report.Tail)
	}
	return ended(t, e, event.OutcomeChecked)
}

// paths are the places of what is outside, as the line by which errors are told apart.
func paths(list []event.Skipped) string {
	var out []string
	for _, s := range list[:min(len(list), 4)] {
		out = append(out, plain.Bare(strings.ReplaceAll(s.Path, "/", " "), 80))
	}
	return strings.Join(out, ", ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// words are what a worker is told: the package and the snapshot, or what is wrong.
func words(s *quest.State, t *Task) string {
	h := t.Handover
	if h.Repair {
		return h.Package.Text
	}
	text := "" // of the snapshot, which is the notes up to it
	m := Of(s)
	for _, n := range m.snapshotNotes(t, h.Snapshot) {
		text += fmt.Sprintf("[%d] %s\n", n.Seq, n.Line)
	}
	return quest.Fill(s.Texts["task"], "PACKAGE", h.Package.Text, "SNAPSHOT", cmp.Or(text, "nothing\n"))
}

// repairText is what an executor is told of an error, precisely.
func repairText(s *quest.State, t *Task) string {
	f := t.Handover.Error
	how := s.Texts["repair-"+f.Category]
	if denied := t.Handover.Denied; len(denied) > 0 {
		how = strings.TrimSpace("You asked for these, and were refused:\n- " + strings.Join(denied, "\n- ") + "\n\n" + how)
	}
	return event.Shorten(quest.Fill(s.Texts["repair"], "TASK", t.Plan.ID, "RUN", number(t.Handover.Run), "CATEGORY", f.Category, "FINDINGS", f.Text, "HOW", how,
		"SCOPE", strings.Join(t.Plan.Scope.Include, ", ")), 10<<10)
}

// MayRun says why a worker may run no further command, nothing if it may. What was permitted is
// counted, and may start.
func (Society) MayRun(s *quest.State, a *agent.Agent, starts bool) error {
	m := Of(s)
	if a.Name == Architect {
		return fmt.Errorf("the architect runs no commands")
	}
	t := m.at(a.Name)
	if t == nil {
		return fmt.Errorf("%s has no task", a.Name)
	}
	if starts && len(t.Handover.Permitted) > 0 {
		return nil
	}
	if most := m.Settings.Session.Calls; t.Calls >= most {
		return fmt.Errorf("%d commands were run for the task %s, which is all there can be: finish with what there is, and hand in the manifest", most, t.Plan.ID)
	}
	return nil
}

// MayWrite implements quest.Writer: an executor writes what its task may change, and the
// manifest. What its own commands write is found when the run is inspected.
func (Society) MayWrite(s *quest.State, a *agent.Agent) func(path string) error {
	t := Of(s).at(a.Name)
	if t == nil {
		return nil
	}
	scope, id, readOnly := t.scope(), t.Plan.ID, t.Plan.ReadOnly
	return func(path string) error {
		switch ok, why := scope.Allows(path); {
		case slices.Contains(task.Files, path):
			return nil
		case readOnly:
			return fmt.Errorf("the task %s changes no file: say what you found, and hand in the manifest", id)
		case !ok:
			return fmt.Errorf("%s is outside the scope of the task %s: %s; leave it as it is", plain.Quoted(path, 200), id, why)
		}
		return nil
	}
}
