package architect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/architect/task"

	"github.com/go-json-experiment/json"
)

// Use implements quest.Toolbox.
func (Society) Use(s *quest.State, a *agent.Agent, u *agent.Use, e event.Event) []event.Draft {
	c := &using{s, a, u, e, u.Place(), Of(s)}
	switch {
	case a.Name != Architect && u.Name == artifactManifest:
		return c.manifest()
	case a.Name != Architect && u.Name == askArchitect:
		return c.ask()
	case a.Name != Architect || !slices.Contains(architectTools, u.Name):
		return c.wrong("%s is not for you.", u.Name)
	}
	if !c.m.Greeted {
		return nil // nobody could be handed anything
	}
	switch u.Name {
	case planTasks:
		return c.plan()
	case clarify:
		return c.clarify()
	case dispatch:
		return c.dispatch()
	case judge:
		return c.judge()
	}
	return c.finish()
}

// using is a call of one of the society's tools.
type using struct {
	s     *quest.State
	a     *agent.Agent
	u     *agent.Use
	e     event.Event
	place agent.Place
	m     *Memory
}

// say answers the call; wrong answers it with what is wrong.
func (c *using) say(format string, args ...any) []event.Draft {
	return c.answer(false, format, args...)
}
func (c *using) wrong(format string, args ...any) []event.Draft {
	return c.answer(true, format, args...)
}

func (c *using) answer(isError bool, format string, args ...any) []event.Draft {
	output := event.Text{Text: event.Shorten(fmt.Sprintf(format, args...), maxSaid)}
	return []event.Draft{quest.After(c.e, c.a.Name, c.u.Name, &event.ToolAnswered{Call: c.u.Call, Error: isError, Output: output})}
}

// do is the effect of a call.
func (c *using) do(b event.Body) []event.Draft {
	return []event.Draft{quest.After(c.e, c.a.Name, c.u.Name, b)}
}

// read reads the arguments strictly, and says what is wrong with them.
func (c *using) read(to any) string {
	if c.u.Args.Ref != nil {
		return "The arguments are too long: a call has about 10,000 bytes."
	}
	if err := json.Unmarshal([]byte(cmp.Or(strings.TrimSpace(c.u.Args.Text), "{}")), to, json.RejectUnknownMembers(true)); err != nil {
		for _, t := range tools {
			if t.Name == c.u.Name {
				return "The arguments do not fit the tool. They must be a JSON object of this form: " + t.Schema
			}
		}
	}
	return ""
}

// unit is a task as the architect writes it.
type unit struct {
	ID         string   `json:"id"`
	Goal       string   `json:"goal"`
	Include    []string `json:"include"`
	Exclude    []string `json:"exclude"`
	NoTouch    []string `json:"no_touch"`
	Acceptance []string `json:"acceptance"`
	Criteria   []string `json:"criteria"`
	After      []string `json:"after"`
	ReadOnly   bool     `json:"read_only"`
}

// plan takes a plan: it is proposed, a person approves it where one has to, and then it holds.
func (c *using) plan() []event.Draft {
	p := c.m.Proposed
	if p == nil || p.Place != c.place {
		if c.m.act(c.place) != nil {
			return c.say("The plan holds.\n%s", strings.Join(board(c.m), "\n"))
		}
		var args struct {
			Tasks []unit `json:"tasks"`
		}
		if bad := c.read(&args); bad != "" {
			return c.wrong("%s", bad)
		}
		var tasks []event.TaskPlan
		for _, u := range args.Tasks {
			tasks = append(tasks, event.TaskPlan{ID: u.ID, Goal: strings.TrimSpace(u.Goal), Acceptance: u.Acceptance, Criteria: u.Criteria, After: u.After, ReadOnly: u.ReadOnly,
				Scope: event.TaskScope{Include: u.Include, Exclude: u.Exclude, NoTouch: u.NoTouch}})
		}
		tasks, faults := c.m.complete(tasks)
		if len(faults) > 0 {
			return c.wrong("The plan cannot be taken:\n- %s", strings.Join(faults, "\n- "))
		}
		return c.do(&event.PlanProposed{Answer: c.place.Answer, Part: c.place.Part, Tasks: tasks})
	}
	switch q := c.question(); {
	case c.m.Settings.Approve || q != nil && q.Reply != nil: // what was said counts, whatever the mode is now
		return c.approve(p)
	case q != nil:
		return one(c.e, "core", &event.InteractionWithdrawn{Interaction: q.Seq})
	}
	return one(c.e, "core", &event.PlanApproved{Plan: p.Seq, Tasks: p.Tasks})
}

// approve has a person decide about a plan.
func (c *using) approve(p *Proposed) []event.Draft {
	q := c.question()
	if q == nil {
		return c.askPlan(p, "")
	}
	if q.Reply == nil {
		return nil
	}
	b := &event.PlanApproved{Interaction: q.Seq, Plan: p.Seq, Tasks: p.Tasks}
	switch {
	case task.IsPlan(q.Reply.Text):
		tasks, err := task.DecodePlan([]byte(q.Reply.Text))
		if err != nil {
			return c.askPlan(p, err.Error())
		}
		tasks, faults := c.m.complete(tasks)
		if len(faults) > 0 {
			return c.askPlan(p, strings.Join(faults, "\n"))
		}
		b.Tasks, b.Edited = tasks, true
		return one(c.e, "core", b)
	case q.Reply.Choice == yes:
		return one(c.e, "core", b)
	}
	return c.wrong("The person does not approve the plan. %s", cmp.Or(strings.TrimSpace(q.Reply.Text), "They give no reason: ask with clarify."))
}

const (
	yes = "yes"
	no  = "no"
)

// question is the last one that the call has asked a person, nil if there is none.
func (c *using) question() (last *quest.Question) {
	for i := range c.s.Questions {
		if q := &c.s.Questions[i]; q.Body.Call == c.u.Call {
			last = q
		}
	}
	return last
}

func (c *using) askPlan(p *Proposed, fault string) []event.Draft {
	text := quest.Fill(c.s.Texts["approve"], "PLAN", string(task.EncodePlan(p.Tasks)))
	if fault != "" {
		text = quest.Fill(c.s.Texts["approve-again"], "FAULT", event.Shorten(fault, 1500)) + "\n\n" + text
	}
	return c.do(&event.InteractionOpened{Blocking: true, Call: c.u.Call, Options: []string{yes, no}, Question: event.Text{Text: event.Shorten(text, maxSaid)}})
}

// What fits an event together bounds a plan.
const (
	maxPlan       = 11 << 10
	maxUnit       = 5 << 10
	maxAcceptance = 8 << 10
)

// complete adds to the tasks of a plan what the owner wants of all of them, and says what is
// wrong with them. Tasks that are under way stay as they are.
func (m *Memory) complete(plan []event.TaskPlan) (out []event.TaskPlan, faults []string) {
	all, size, commands := []event.TaskPlan{}, 0, 0
	for _, t := range m.Tasks {
		if t.Runs > 0 || t.Status != "" {
			all = append(all, t.Plan)
		}
	}
	for _, p := range plan {
		if t := m.Task(p.ID); t != nil && t.Status != "" {
			faults = append(faults, fmt.Sprintf("task %s is %s: give what is left to do another id", p.ID, t.Status))
			continue
		} else if t != nil && t.Runs > 0 {
			out = append(out, t.Plan)
			continue
		}
		p.Scope = task.Of(p.Scope).With(m.Settings.NoTouch...).Recorded()
		p.Acceptance = slices.Clone(p.Acceptance)
		for _, c := range m.Settings.Acceptance {
			if !slices.Contains(p.Acceptance, c) {
				p.Acceptance = append(p.Acceptance, c)
			}
		}
		if task.Of(p.Scope).Check() == nil {
			if err := task.Of(p.Scope).Within(m.Settings.scope()); err != nil {
				faults = append(faults, fmt.Sprintf("task %s: the owner's scope is %s: %v", plain.Bare(p.ID, 40), strings.Join(m.Settings.scope().Recorded().Include, ", "), err))
			}
		}
		if w := weight(p); w > maxUnit {
			faults = append(faults, fmt.Sprintf("task %s has %d bytes: there can be %d; split it, or say less", plain.Bare(p.ID, 40), w, maxUnit))
		}
		all, out = append(all, p), append(out, p)
	}
	for _, p := range all {
		size += weight(p)
		for _, c := range p.Acceptance {
			commands += event.Weight(c)
		}
	}
	if len(all) > 0 || len(plan) > 0 || len(m.Tasks) == 0 {
		faults = append(faults, task.Faults(all)...)
	}
	if n := int64(len(all)); n > m.Settings.Session.Tasks {
		faults = append(faults, fmt.Sprintf("there would be %d tasks, with those that were begun: there can be %d", n, m.Settings.Session.Tasks))
	}
	if size > 3*maxPlan || commands > maxAcceptance || weights(out) > maxPlan {
		faults = append(faults, fmt.Sprintf("the plan is too long: a plan has at most %d bytes, and its acceptance commands %d", maxPlan, maxAcceptance))
	}
	return out, faults
}

func weights(plan []event.TaskPlan) (n int) {
	for _, p := range plan {
		n += weight(p)
	}
	return n
}

// weight is about how many bytes of an event a task takes.
func weight(p event.TaskPlan) int {
	n := 80 + event.Weight(p.Goal) + event.Weight(p.ID)
	for _, list := range [][]string{p.Acceptance, p.After, p.Criteria, p.Scope.Include, p.Scope.Exclude, p.Scope.NoTouch} {
		for _, text := range list {
			n += event.Weight(text) + 3
		}
	}
	return n
}

// clarify asks the person, or answers an executor.
func (c *using) clarify() []event.Draft {
	var args struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
		Task     string   `json:"task"`
		Answer   string   `json:"answer"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	if args.Task != "" {
		return c.answerExecutor(args.Task, strings.TrimSpace(args.Answer))
	}
	if q := c.question(); q != nil {
		switch {
		case q.Reply == nil:
			return nil
		case q.Reply.Nobody && q.Reply.Choice == "":
			return c.say("Nobody answered in time: decide by yourself.")
		}
		return c.say("A person answers: %s", (&event.InteractionAnswered{Choice: q.Reply.Choice, Text: q.Reply.Text}).Said())
	}
	text := strings.TrimSpace(args.Question)
	bad := func(o string) bool { return o == "" || event.Weight(o) > 200 }
	switch {
	case text == "":
		return c.wrong("Give a question to the person, or task and answer to answer an executor.")
	case event.Weight(text) > 4<<10 || len(args.Options) > 10 || slices.ContainsFunc(args.Options, bad):
		return c.wrong("A question has at most 4,000 bytes, and 10 options of at most 200 bytes.")
	}
	return c.do(&event.InteractionOpened{Blocking: true, Call: c.u.Call, Options: args.Options, Question: event.Text{Text: text}})
}

func (c *using) answerExecutor(id, answer string) []event.Draft {
	t := c.m.Task(id)
	if t != nil && t.Clarify != nil && t.Clarify.Answer != nil || c.m.act(c.place) != nil {
		return c.say("The executor of %s has your answer. Dispatch the task again to wait for its end.", id)
	}
	switch {
	case t == nil || t.Clarify == nil || t.Clarify.Answer != nil || t.Clarify.Over:
		return c.wrong("No executor of a task %.40q waits for an answer.", id)
	case answer == "" || event.Weight(answer) > 8<<10:
		return c.wrong("The answer is empty or has more than 8,000 bytes.")
	}
	h := t.Handover
	return append(wake(c.e, h, c.e.Time+event.Time(h.Left)), c.do(&event.TaskClarified{Clarify: t.Clarify.Seq, Task: id, Text: event.Text{Text: answer}})...)
}

// dispatch hands a task over, and waits until the run has ended.
func (c *using) dispatch() []event.Draft {
	var args struct {
		Task string `json:"task"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	t := c.m.Task(args.Task)
	if t == nil {
		return c.wrong("There is no task %.40q: plan_tasks makes them.%s", args.Task, c.tasks())
	}
	if t.busy() {
		return c.wait(t)
	}
	if h := t.Handover; t.Status != "" || h != nil && (h.Ended > c.u.Call || h.Place == c.place) {
		return c.say("%s", outcome(c.s, t))
	}
	if why, waits := c.blocked(t); waits {
		return nil
	} else if why != "" {
		return c.wrong("%s", why)
	}
	return begin(c.s, t, c.e, false, "", c)
}

// wait goes on waiting for the end of a run, unless an executor asks something.
func (c *using) wait(_ *Task) []event.Draft {
	for _, t := range c.m.Tasks {
		if q := t.Clarify; t.busy() && q != nil && q.Told && q.Answer == nil && !q.Over {
			return c.say("The executor of %s asks: %s\nAnswer with clarify, giving task and answer; then dispatch the task again to go on waiting.\n%s", t.Plan.ID, said(q.Question, ""), strings.Join(board(c.m), "\n"))
		}
	}
	return nil
}

func (c *using) tasks() string {
	if len(c.m.Tasks) == 0 {
		return " Nothing is planned."
	}
	return "\n" + strings.Join(board(c.m), "\n")
}

// blocked says why a task cannot be handed over now; waits, that it can soon.
func (c *using) blocked(t *Task) (why string, waits bool) {
	l := c.m.Settings.Session
	if c.m.Proposed != nil && c.m.Settings.Approve {
		return "A plan waits for approval.", false
	}
	if faults := task.Faults([]event.TaskPlan{{ID: t.Plan.ID, Goal: t.Plan.Goal, Scope: t.Plan.Scope, Acceptance: t.Plan.Acceptance, Criteria: t.Plan.Criteria}}); len(faults) > 0 {
		return "It cannot be handed over: " + strings.Join(faults, "; "), false
	}
	switch {
	case t.checked():
		return t.Plan.ID + " has a checked run: judge it.\n" + outcome(c.s, t), false
	case t.Wanted:
		return "The same error came again and again. It is handed over only with a strictly smaller scope: judge it with narrow.", false
	case t.Runs >= l.Handovers:
		return fmt.Sprintf("%s was handed over %d times, which is all there can be.", t.Plan.ID, t.Runs), false
	case c.m.Merge != nil || len(c.m.parts()) > 0 && !c.m.open():
		return "", true // what was made is being put together
	}
	for _, id := range t.Plan.After {
		if a := c.m.Task(id); a == nil || !a.Merged {
			return fmt.Sprintf("%s comes after %s, which is not accepted and merged: %s.", t.Plan.ID, id, standsAs(a)), false
		}
	}
	for _, o := range c.m.Tasks {
		apart := o == t || o.Runs == 0 || o.Plan.ReadOnly || t.Plan.ReadOnly || o.Status != "" && (o.Status != event.TaskAccepted || o.Merged || o.Unmerged != "")
		if !apart && o.scope().Meets(t.scope()) {
			return fmt.Sprintf("Its files meet those of %s, which has not ended: %s. End that one first, or plan them apart.", o.Plan.ID, standsAs(o)), false
		}
	}
	if c.m.free() < 0 {
		return c.m.full(), false
	}
	return "", false
}

func (m *Memory) full() string {
	return fmt.Sprintf("%d tasks are under way or wait to be judged, which is all there can be at a time.", m.Settings.Parallel)
}

// judge takes a verdict, and waits for what follows from it.
func (c *using) judge() []event.Draft {
	var args struct {
		Task    string   `json:"task"`
		Verdict string   `json:"verdict"`
		Reasons string   `json:"reasons"`
		Shown   []string `json:"shown"`
		Include []string `json:"include"`
		Exclude []string `json:"exclude"`
		NoTouch []string `json:"no_touch"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	t := c.m.Task(args.Task)
	if t == nil {
		return c.wrong("There is no task %.40q.%s", args.Task, c.tasks())
	}
	if c.m.act(c.place) != nil {
		if t.busy() {
			return c.wait(t)
		}
		return c.say("%s", outcome(c.s, t))
	}
	b := &event.TaskJudged{Answer: c.place.Answer, Part: c.place.Part, Reasons: event.Text{Text: event.Shorten(strings.TrimSpace(args.Reasons), 4<<10)}, Run: t.Runs, Task: t.Plan.ID, Verdict: args.Verdict}
	switch {
	case t.Status != "":
		return c.wrong("%s is %s: it is judged no more.", t.Plan.ID, t.Status)
	case t.busy():
		return c.wrong("A run of %s is under way: dispatch it again to wait for its end.", t.Plan.ID)
	case t.Runs == 0:
		return c.wrong("%s was not handed over yet: there is nothing to judge.", t.Plan.ID)
	}
	switch args.Verdict {
	case event.VerdictAccept:
		if why := c.m.acceptable(t, args.Shown, c.s.Seq); why != "" {
			return c.wrong("%s", why)
		}
		b.Shown = args.Shown
	case event.VerdictRefuse:
		if !t.checked() || b.Reasons.Text == "" {
			return c.wrong("Only a checked run can be refused, and with reasons: say what is to be done. Of an error: dispatch the task again, narrow it, or plan without it.")
		}
	case event.VerdictNarrow:
		scope := task.Of(event.TaskScope{Include: args.Include, Exclude: args.Exclude, NoTouch: args.NoTouch}).With(t.Plan.Scope.NoTouch...)
		err := scope.Check()
		if err == nil {
			err = scope.Narrower(t.scope())
		}
		if err != nil || weight(event.TaskPlan{Goal: t.Plan.Goal, Scope: scope.Recorded()}) > maxUnit {
			return c.wrong("The scope must be strictly smaller than before: %v", err)
		}
		if c.m.taken(t) && c.m.free() < 0 {
			return c.wrong("%s", c.m.full())
		}
		b.Scope = new(scope.Recorded())
	default:
		return c.wrong("verdict must be accept, refuse or narrow.")
	}
	if args.Verdict != event.VerdictAccept && t.Runs >= c.m.Settings.Session.Handovers {
		return c.wrong("%s was handed over %d times, which is all there can be: accept it, or plan without it.", t.Plan.ID, t.Runs)
	}
	return c.do(b)
}

// acceptable says why the last run of a task cannot be accepted. head is the last event.
func (m *Memory) acceptable(t *Task, shown []string, head uint64) string {
	if !t.checked() {
		return t.Plan.ID + " has no run that was checked: only what passed every check can be accepted."
	}
	if len(shown) > task.MaxAcceptance || len(shown) < len(t.Plan.Criteria) {
		return fmt.Sprintf("%s has %d criteria in words: give shown, for each the number of the event or the lines that show it:\n- %s", t.Plan.ID, len(t.Plan.Criteria), strings.Join(t.Plan.Criteria, "\n- "))
	}
	for i, what := range shown {
		text := strings.TrimSpace(what)
		n, err := strconv.ParseUint(strings.Trim(text, "[]#"), 10, 64)
		switch {
		case text == "" || event.Weight(text) > 500:
			return fmt.Sprintf("shown %d is empty or has more than 500 bytes.", i+1)
		case err == nil && (n == 0 || n > head):
			return fmt.Sprintf("shown %d: there is no event %d.", i+1, n)
		case err != nil && len(text) < 8:
			return fmt.Sprintf("shown %d: %.40q is no number of an event, and no line that shows something.", i+1, text)
		}
	}
	return ""
}

// finish ends the quest.
func (c *using) finish() []event.Draft {
	var args struct {
		Answer string `json:"answer"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	if strings.TrimSpace(args.Answer) == "" {
		return c.wrong("The answer is empty.")
	}
	var open []string
	for _, t := range c.m.Tasks {
		if t.Status == "" {
			open = append(open, t.Plan.ID+": "+standsAs(t))
		}
	}
	switch {
	case len(open) > 0:
		return c.wrong("These tasks have not ended:\n- %s\nDispatch and judge them, or hand in a plan without them.", strings.Join(open, "\n- "))
	case c.m.Merge != nil || len(c.m.parts()) > 0:
		return nil // what was made is being put together
	case c.m.act(c.place) == nil:
		return c.do(&event.MessageSent{Answer: c.place.Answer, Part: c.place.Part, Performative: event.Inform, Quiet: true, Text: event.Text{Text: event.Shorten(strings.TrimSpace(args.Answer), 12<<10)}, To: Architect})
	}
	return c.say("The quest ends with your answer.")
}

// manifest takes what an executor says it made. Whether it is true is found out when the run
// has ended.
func (c *using) manifest() []event.Draft {
	t := c.m.at(c.a.Name)
	switch {
	case t == nil || t.Handover.Prompt == 0:
		return c.wrong("You have no task under way.")
	case c.u.Args.Ref != nil:
		return c.wrong("The manifest is too long: bundle files.")
	}
	m, findings := task.DecodeManifest([]byte(c.u.Args.Text))
	if m != nil {
		findings = task.Strange(m.Recorded(t.Plan.ID, t.Handover.Run), t.Handover.Session, t.Handover.Fingerprint)
	}
	if len(findings) > 0 {
		return c.wrong("The manifest is not right, hand in another:\n- %s", strings.Join(findings, "\n- "))
	}
	return c.say("The manifest is taken. Its files are looked at when your turn has ended; hand in another if they change.")
}

// ask puts an executor's question to the architect.
func (c *using) ask() []event.Draft {
	t := c.m.at(c.a.Name)
	if t == nil || t.Handover.Prompt == 0 {
		return c.wrong("You have no task under way: nobody answers.")
	}
	if q := t.Clarify; q != nil && q.Place == c.place {
		switch {
		case q.Over:
			return c.wrong("You have asked more than %d times: nobody answers.", c.m.Settings.Session.Clarify)
		case q.Answer == nil:
			return nil
		}
		return c.say("%s%s", answers, said(*q.Answer, ""))
	} else if q != nil && q.Answer == nil {
		return nil // one question at a time
	}
	var args struct {
		Question string `json:"question"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	text := strings.TrimSpace(args.Question)
	if text == "" || event.Weight(text) > 6<<10 {
		return c.wrong("The question is empty or has more than 6,000 bytes.")
	}
	return c.do(&event.TaskClarify{Answer: c.place.Answer, Part: c.place.Part, Question: event.Text{Text: text}, Round: t.Rounds + 1, Task: t.Plan.ID})
}
