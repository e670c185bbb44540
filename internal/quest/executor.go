package quest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// Executors. An outside agent whose executor is pinned in the quest's first event is prompted:
// a prompt is its turn. It is made ready before the first, and the calls, requests and
// permissions that come of a prompt are taken while that is open, and at no other time. How a
// process is found again, or another takes its place, is the world's affair: the rules know
// the session, and which process has been told what.

// settle answers what an executor waits for that is no tool's, whatever else there is to do
// about it.
func (s *State) settle(a *agent.Agent, e event.Event) []event.Draft {
	if a.Session == nil {
		return nil
	}
	if left := s.skipLeft(a, e); left != nil {
		return left
	}
	return s.permit(a, e)
}

// lead says the next step of an agent that is prompted.
func (s *State) lead(a *agent.Agent, phase agent.Phase, e event.Event) []event.Draft {
	if step := s.callTools(a, e); step != nil {
		return step
	}
	if step := s.passOn(a, e); step != nil {
		return step
	}
	switch phase {
	case agent.Ready:
		return s.prompt(a, e)
	case agent.Answered:
		return s.submit(a, e, s.rules.Answered(s, a, e))
	}
	return nil
}

// prompt has the executor made ready and then prompted, unless it failed for good or a policy
// is against it.
func (s *State) prompt(a *agent.Agent, e event.Event) []event.Draft {
	switch x := a.Session; {
	case a.GaveUp() || s.HasMail() && a.Failed != nil: // a sitting is one prompt
		return s.rules.Failed(s, a, e)
	case x.Call != 0 || x.Home != 0 || a.Transcript.End() == 0: // or nobody has said anything yet
		return nil
	case x.Info == nil:
		return []event.Draft{After(s.cause(a, e), a.Name, "", &event.ExecutorCall{Executor: a.Executor})}
	}
	f := s.modelFacts(a, e.Time)
	switch v := s.judge(e, turnOf(a), f); {
	case v.passes:
		return []event.Draft{After(s.cause(a, e), a.Name, "", s.nextPrompt(a, e))}
	case v.instead != nil:
		return v.instead
	case v.waits:
		return nil
	case f.Over != nil && f.Over.Of == "quest":
		return []event.Draft{exceeded(e, f.Over)}
	default:
		return []event.Draft{After(s.cause(a, e), a.Name, "", &event.PolicyBlocked{By: v.by, Proposal: "prompt.call"})}
	}
}

// nextPrompt is what a prompt begins with: the word where the agent stands, or the prompt.
func (s *State) nextPrompt(a *agent.Agent, e event.Event) event.Body {
	if frame := s.Texts[textStanding]; frame != "" && a.StandingDue() {
		return &event.StandingShown{Text: event.Text{Text: Fill(frame, "LINES", s.standing(a, e.Time))}}
	}
	return a.NextPrompt()
}

// skipLeft says of the next call that a prompt has left behind that it is not made: nobody
// waits for it, and in its next prompt the executor makes it again if it still wants to.
func (s *State) skipLeft(a *agent.Agent, e event.Event) []event.Draft {
	if a.Session == nil || a.Asked != 0 {
		return nil
	}
	for i := range a.Open {
		if u := &a.Open[i]; u.Call == 0 {
			b := &event.ToolSkipped{Answer: u.Answer, ID: u.ID, Part: u.Part, Reason: event.SkippedPrompt}
			return []event.Draft{After(e, a.Name, known(a, u.Name), b)}
		}
	}
	return nil
}

// permit answers the next permission that an executor waits for, if there is an answer.
func (s *State) permit(a *agent.Agent, e event.Event) []event.Draft {
	for i := range a.Session.Permissions {
		p := &a.Session.Permissions[i]
		if why := s.tooLate(a, p); why != "" {
			return s.reject(a, p, "", why, e)
		}
		if err := s.mayPermit(a, p); err != nil {
			return s.reject(a, p, optionOf(&p.Body, event.RejectOnce), err.Error(), e)
		}
		once := optionOf(&p.Body, event.AllowOnce)
		if once == "" {
			return s.reject(a, p, optionOf(&p.Body, event.RejectOnce), "The executor does not offer to be allowed this once.", e)
		}
		switch v := s.judge(e, permissionOf(a, p), s.permissionFacts(a, p)); {
		case v.passes:
			from := e
			from.Seq = p.Asked
			return []event.Draft{After(from, a.Name, "", &event.PermissionDecided{Asked: p.Asked, Given: true, Option: once})}
		case v.instead != nil:
			return v.instead
		case v.waits && len(v.by) == 0: // a person is asked
		default:
			// A policy that would let it pass later is against it now: the executor may ask again.
			return s.reject(a, p, optionOf(&p.Body, event.RejectOnce), refusal(&event.PolicyBlocked{By: v.by}), e)
		}
	}
	return nil
}

// windUp ends what executors wait for in a quest that rests, one thing after another: calls of
// prompts that are over are not made, permissions are refused, and nobody is asked about
// either any more.
func (s *State) windUp(e event.Event) []event.Draft {
	if a := s.Agent(e.Actor); e.Type == "tool.answered" && (a == nil || a.Session == nil) {
		return nil // it is no step of this
	}
	for i := range s.Questions {
		if q := &s.Questions[i]; q.Reply == nil && s.gone(q) {
			return []event.Draft{After(e, "core", "", &event.InteractionWithdrawn{Interaction: q.Seq})}
		}
	}
	for _, a := range s.Agents {
		if a.Session == nil {
			continue
		}
		if left := s.skipLeft(a, e); left != nil {
			return left
		}
		if len(a.Session.Permissions) > 0 {
			p := &a.Session.Permissions[0]
			return s.reject(a, p, "", s.tooLate(a, p), e)
		}
	}
	return nil
}

func (s *State) reject(a *agent.Agent, p *agent.Permission, option, why string, e event.Event) []event.Draft {
	e.Seq = p.Asked
	return []event.Draft{After(e, a.Name, "", &event.PermissionDecided{Asked: p.Asked, Option: option, Reason: event.Shorten(why, maxReasons/2)})}
}

// tooLate says why a permission cannot be given any more, whoever would; nothing, if it can.
func (s *State) tooLate(a *agent.Agent, p *agent.Permission) string {
	switch {
	case s.Status != Running:
		return "The quest is " + string(s.Status) + "."
	case a.Asked != p.Body.Prompt:
		return "The prompt is over."
	case a.Session.Stopped != "":
		return "The prompt is stopped: " + a.Session.Stopped
	case a.Session.Process != p.Process:
		return "The process that asked is gone."
	}
	return ""
}

// optionOf is the id of the first option of a kind, empty if none is offered.
func optionOf(b *event.PermissionAsked, kind string) string {
	for _, o := range b.Options {
		if o.Kind == kind {
			return o.ID
		}
	}
	return ""
}

func permissionOf(a *agent.Agent, p *agent.Permission) matter {
	return matter{kind: "permission.decided", actor: a.Name, at: agent.Place{Answer: p.Asked}}
}

// permissionFacts is what policies are told of something that an executor wants to do itself.
// All of it is what the executor says.
func (s *State) permissionFacts(a *agent.Agent, p *agent.Permission) *policy.Facts {
	b := &p.Body
	return &policy.Facts{
		Agent: a.Name, Tool: callKind(b.Kind), Turn: a.Turns, Source: a.Executor, Trust: event.TrustStranger, Text: b.Title.Text, Hidden: b.Title.Ref != nil,
		Args: &policy.Args{Text: b.Input, Outline: b.Outline}, Named: b.Paths, Spent: s.used(s.Time), AgentSpent: usedBy(a),
	}
}

// PermissionTime is how long a person may think about a permission, in microseconds, unless
// the quest.yaml says otherwise: an executor waits for it, and no policy makes that longer.
const PermissionTime = 10 * 60 * 1_000_000

// What a quest.yaml may say instead. An executor keeps its prompt and its computer while it
// waits.
const (
	minPermissionTime = 1_000_000
	maxPermissionTime = 24 * 60 * 60 * 1_000_000
)

// gone reports whether what a question is about is over: the permission was refused, or the
// call or request left behind by its prompt.
func (s *State) gone(q *Question) bool {
	a := s.Agent(q.Asker)
	if a == nil || a.Session == nil && q.Body.Proposal != "gateway.call" {
		return false
	}
	at := agent.Place{Answer: q.Body.Answer, Part: q.Body.Part}
	switch q.Body.Proposal {
	case "permission.decided":
		return a.Permission(at.Answer) == nil
	case "tool.call":
		return !slices.ContainsFunc(a.Open, func(u agent.Use) bool { return u.Place() == at && u.Call == 0 })
	case "gateway.call":
		r := a.Request(at.Answer)
		return r == nil || r.Call != 0
	}
	return false
}

// applyExecutor takes in what has to do with executors.
func (s *State) applyExecutor(e event.Event) {
	switch e.Body.(type) {
	case *event.ToolReported, *event.PlanReported, *event.SaidReported:
		s.came(e.Actor)
	}
	a := s.Agent(e.Actor)
	switch b := e.Body.(type) {
	case *event.HomeCall, *event.HomeRenewed:
		s.applyHome(e)
	case *event.ExecutorCall:
		s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor}
		a.Session.Call = e.Seq
	case *event.ExecutorReady:
		delete(s.Calls, b.Call)
		a.Session.Call = 0
		if b.Error.Len() > 0 {
			a.Session.Failed = "The executor " + a.Executor + " cannot be used: " + cmp.Or(b.Error.Text, "see the event executor.ready")
			a.Failed = &event.ModelError{Kind: event.KindExecutor, Text: a.Session.Failed}
			return
		}
		a.Session.Info = b
	case *event.SessionOpened:
		a.Opened(b)
	case *event.PromptCall:
		s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor, First: b.First}
		s.Spent.Turns++
		a.Prompted(e.Seq, b)
	case *event.PromptBegun:
		a.Began(b)
	case *event.PromptResult:
		delete(s.Calls, b.Call)
		s.kept(e.Actor, b.Stored, b.Full)
		if b.Stop == event.StopInterrupted && a.Session.Stopped == "" {
			s.Spent.Turns--
		}
		a.Returned(b, event.Text{Text: s.Texts[textAgain]})
	case *event.PromptStopped:
		a.Halt(b.Reason)
	case *event.PermissionAsked:
		a.Reported(b.At, reported(b))
		a.Wants(e.Seq, b)
	case *event.PermissionDecided:
		a.Permitted(e.Seq, b)
	case *event.ToolReported:
		a.Session.Used++
		a.Reported(b.At, reported(b))
	case *event.PlanReported:
		a.Reported(b.At, reported(b))
	case *event.SaidReported:
		a.Spoke(b)
	}
}

// reported tells what an executor reported from other things at the same place of its output.
func reported(b event.Body) string {
	switch b := b.(type) {
	case *event.PermissionAsked:
		return "permission " + b.ID
	case *event.ToolReported:
		return "tool " + b.Status + " " + b.ID
	case *event.PlanReported:
		return "plan"
	}
	return ""
}

// What an executor may say at most. Texts that may be longer are fitted before they come here.
const (
	maxID       = 256
	maxName     = 200
	maxChoices  = 16
	maxPaths    = 64
	maxPath     = 1024
	maxPlan     = 64
	maxHere     = 64
	maxCommand  = 64
	maxFeatures = 64
)

// executor is the agent that a word of an executor is about, if there is one that is prompted.
func (s *State) executor(name string) (*agent.Agent, error) {
	a := s.Agent(name)
	if a == nil || a.Session == nil {
		return nil, fmt.Errorf("quest %s has no agent %s that an executor is", s.Name, name)
	}
	return a, nil
}

// checkExecutor tells whether a word of an executor may come now.
func (s *State) checkExecutor(actor string, b event.Body) error {
	a, err := s.executor(actor)
	if err != nil {
		return err
	}
	x := a.Session
	switch b := b.(type) {
	case *event.ExecutorReady:
		return s.checkReady(a, b)
	case *event.SessionOpened:
		switch {
		case !a.Working():
			return fmt.Errorf("agent %s has no open prompt, and no session is opened for it", a.Name)
		case b.ID == "" || len(b.ID) > maxID || b.Process == "" || len(b.Process) > maxCommand:
			return fmt.Errorf("the session of %s has the id %.80q and the process %.80q: want both, of at most %d and %d bytes", a.Name, b.ID, b.Process, maxID, maxCommand)
		case b.How != event.SessionNew && b.How != event.SessionLoaded && b.How != event.SessionResumed:
			return fmt.Errorf("the session of %s is %.40q: want new, loaded or resumed", a.Name, b.How)
		// Some count their sessions: a new one in another process may have the name of the last.
		case (b.How == event.SessionNew) == (b.ID == x.ID) && (b.How != event.SessionNew || b.Process == x.Process):
			return fmt.Errorf("the session %.80q of %s is %s, and the one before was %.80q", b.ID, a.Name, b.How, x.ID)
		}
	case *event.PromptBegun:
		switch {
		case a.Asked == 0 || a.Asked != b.Call:
			return fmt.Errorf("agent %s has no open prompt.call %d", a.Name, b.Call)
		case b.Process == "" || b.Process != x.Process || b.Session != x.ID:
			return fmt.Errorf("the session of %s is %.80q in process %.80q, not %.80q in %.80q", a.Name, x.ID, x.Process, b.Session, b.Process)
		case x.Begun == b.Process:
			return fmt.Errorf("process %.80q has been told prompt %d already", b.Process, b.Call)
		case x.Begun == "" && x.Told != s.Calls[b.Call].First, x.Begun != "" && x.Told == 0 && s.Calls[b.Call].First != 0:
			return fmt.Errorf("the session of %s knows nothing of what was said before prompt %d: end it, and the next one tells all", a.Name, b.Call)
		}
	case *event.PromptResult:
		return s.checkReturned(a, b)
	case *event.PermissionAsked:
		return s.checkPermission(a, b)
	case *event.ToolReported:
		switch {
		case b.ID == "" || len(b.ID) > maxID || len(b.Kind) > maxName:
			return fmt.Errorf("%s reports a call with the id %.80q of kind %.80q", a.Name, b.ID, b.Kind)
		case !slices.Contains(statuses, b.Status):
			return fmt.Errorf("%s reports a call that is %.40q: want %s", a.Name, b.Status, spoken(statuses, "or"))
		}
		return cmp.Or(checkPaths(a, b.Paths), checkReport(a, b))
	case *event.PlanReported:
		if len(b.Entries) > maxPlan || b.More < 0 {
			return fmt.Errorf("%s reports a plan of %d steps: want at most %d, and more counts the others", a.Name, len(b.Entries), maxPlan)
		}
		return checkReport(a, b)
	case *event.SaidReported:
		return checkReport(a, b)
	}
	return nil
}

// statuses are those of calls that executors report.
var statuses = []string{"pending", "in_progress", "completed", "failed"}

// checkReady tells whether an executor can be ready now, or not to be used.
func (s *State) checkReady(a *agent.Agent, b *event.ExecutorReady) error {
	switch {
	case a.Session.Call == 0 || a.Session.Call != b.Call:
		return fmt.Errorf("quest %s has no open executor.call %d of %s", s.Name, b.Call, a.Name)
	case len(b.Name) > maxName || len(b.Version) > maxName || len(b.Mode) > maxName:
		return fmt.Errorf("the executor of %s says of itself more than %d bytes", a.Name, maxName)
	case len(b.Capabilities) > maxFeatures || slices.ContainsFunc(b.Capabilities, func(c string) bool { return len(c) > maxName }):
		return fmt.Errorf("the executor of %s has %d capabilities: want at most %d of %d bytes", a.Name, len(b.Capabilities), maxFeatures, maxName)
	}
	return nil
}

// ends are the reasons for which prompts end.
var ends = []string{event.StopEnd, event.StopTokens, event.StopRequests, event.StopRefusal, event.StopCancelled, event.StopInterrupted}

// checkReturned tells whether a prompt can have ended now.
func (s *State) checkReturned(a *agent.Agent, b *event.PromptResult) error {
	switch {
	case a.Asked == 0 || a.Asked != b.Call:
		return fmt.Errorf("agent %s has no open prompt.call %d", a.Name, b.Call)
	case b.Failed() == (b.Stop != ""):
		return fmt.Errorf("prompt %d of %s ended by %.40q, with an error or without: want one of both", b.Call, a.Name, b.Stop)
	case b.Stop != "" && !slices.Contains(ends, b.Stop):
		return fmt.Errorf("prompt %d of %s ended by %.40q: want %s", b.Call, a.Name, b.Stop, spoken(ends, "or"))
	case b.Duration < 0 || b.Stored < 0:
		return fmt.Errorf("prompt %d of %s took less than nothing", b.Call, a.Name)
	}
	return nil
}

// checkPermission tells whether an executor may ask for something now. It may while its prompt
// is open, also if the quest rests already: then it is refused.
func (s *State) checkPermission(a *agent.Agent, b *event.PermissionAsked) error {
	x := a.Session
	switch {
	case b.ID == "" || len(b.ID) > maxID || len(b.Kind) > maxName || len(b.Tool) > maxID:
		return fmt.Errorf("%s asks for a permission with the id %.80q of kind %.80q", a.Name, b.ID, b.Kind)
	case slices.ContainsFunc(x.Permissions, func(p agent.Permission) bool { return p.Body.ID == b.ID && p.Process == x.Process }),
		slices.ContainsFunc(x.Decided, func(d agent.Decided) bool { return d.ID == b.ID }):
		return fmt.Errorf("%s has asked for the permission %.80q already", a.Name, b.ID)
	case len(x.Permissions) >= agent.MaxPermissions:
		return fmt.Errorf("%s waits for %d permissions: it must wait for one of them", a.Name, len(x.Permissions))
	case len(b.Options) > maxChoices:
		return fmt.Errorf("%s offers %d options: want at most %d", a.Name, len(b.Options), maxChoices)
	}
	seen := map[string]bool{}
	for _, o := range b.Options {
		if o.ID == "" || len(o.ID) > maxID || len(o.Kind) > maxName || len(o.Name) > maxPath || seen[o.ID] {
			return fmt.Errorf("%s offers the option %.80q twice, or without an id, or it is too long", a.Name, o.ID)
		}
		seen[o.ID] = true
	}
	return cmp.Or(checkPaths(a, b.Paths), checkReport(a, b))
}

func checkPaths(a *agent.Agent, paths []string) error {
	if len(paths) > maxPaths || slices.ContainsFunc(paths, func(p string) bool { return len(p) > maxPath }) {
		return fmt.Errorf("%s names %d paths: want at most %d of %d bytes", a.Name, len(paths), maxPaths, maxPath)
	}
	return nil
}

// checkReport tells whether something that stands in an executor's output comes in its place:
// of the open prompt, which a process has been told, and not before what is known.
func checkReport(a *agent.Agent, b event.Report) error {
	x := a.Session
	prompt, at := b.Reported()
	// What a process said before it was gone is told when the next one has the session. That
	// one asks for nothing any more.
	_, asks := b.(*event.PermissionAsked)
	switch {
	case a.Asked == 0 || a.Asked != prompt:
		return fmt.Errorf("agent %s has no open prompt.call %d", a.Name, prompt)
	case x.Begun == "" || asks && x.Begun != x.Process:
		return fmt.Errorf("the process of %s has not been told prompt %d", a.Name, prompt)
	case at < 0 || at > 1<<53 || isKnown(x, at, b):
		return fmt.Errorf("what %s says at byte %d of its output is known, up to byte %d", a.Name, at, x.At)
	case at == x.At && len(x.Here) >= maxHere:
		return fmt.Errorf("%s says more than %d things at byte %d", a.Name, maxHere, at)
	}
	return nil
}

func isKnown(x *agent.Session, at int64, b event.Body) bool {
	if said, ok := b.(*event.SaidReported); ok {
		return x.Heard(said)
	}
	return x.Knows(at, reported(b))
}

// decidable is an error if a permission could not have been decided so.
func (s *State) decidable(e event.Event, b *event.PermissionDecided) error {
	a := s.Agent(e.Actor)
	if a == nil || a.Permission(b.Asked) == nil {
		return fmt.Errorf("%s has asked for no permission %d", e.Actor, b.Asked)
	}
	p := a.Permission(b.Asked)
	if !b.Given {
		if b.Option != "" && b.Option != optionOf(&p.Body, event.RejectOnce) {
			return fmt.Errorf("permission %d is refused by the option %.80q", b.Asked, b.Option)
		}
		return nil // nobody asks policies whether something may be refused
	}
	if s.tooLate(a, p) != "" || b.Option == "" || b.Option != optionOf(&p.Body, event.AllowOnce) {
		return fmt.Errorf("permission %d is given by the option %.80q, and could not be", b.Asked, b.Option)
	}
	if err := s.mayPermit(a, p); err != nil {
		return err
	}
	return s.let(permissionOf(a, p), s.permissionFacts(a, p))
}

// MakeReady has the executor that an agent is made ready before anybody has said something to
// it; nothing, if it is, or is about to be, or cannot be used.
func (s *State) MakeReady(a *agent.Agent, e event.Event) []event.Draft {
	if x := a.Session; x == nil || x.Info != nil || x.Failed != "" || x.Call != 0 || x.Home != 0 || a.Asked != 0 {
		return nil
	}
	return []event.Draft{After(s.cause(a, e), a.Name, "", &event.ExecutorCall{Executor: a.Executor})}
}

// Stop stops the open prompt of an executor; nothing, if there is none or it is stopped. What
// the executor says then is no answer: the rules are told that it failed (event.KindStopped).
func (s *State) Stop(a *agent.Agent, why string, e event.Event) []event.Draft {
	if a.Session == nil || a.Asked == 0 || a.Session.Stopped != "" {
		return nil
	}
	return []event.Draft{After(e, a.Name, "", &event.PromptStopped{Call: a.Asked, Reason: event.Shorten(why, maxReasons/2)})}
}

// Runner is a society that limits the commands of its executors.
type Runner interface {
	// MayRun says why an executor runs no further command, in words for it; nil, if it may.
	// It is asked before one is permitted, and before a command of a terminal starts.
	MayRun(s *State, a *agent.Agent, starts bool) error
}

// mayRun asks the society whether an executor may run a command.
func (s *State) mayRun(a *agent.Agent, starts bool) error {
	if r, ok := s.rules.Society.(Runner); ok {
		return r.MayRun(s, a, starts)
	}
	return nil
}

// Writer is a society that says which files its executors write.
type Writer interface {
	// MayWrite is asked when a prompt begins. What it returns says of a path in the home why
	// the executor does not write there, in words for it; nil lets it write everywhere. It
	// stays true for that prompt, and looks at nothing but what it was made of.
	MayWrite(s *State, a *agent.Agent) func(path string) error
}

// MayWrite is what the society has to say about files that an executor wants Lyceum to write.
func (s *State) MayWrite(a *agent.Agent) func(path string) error {
	if w, ok := s.rules.Society.(Writer); ok {
		if may := w.MayWrite(s, a); may != nil {
			return may
		}
	}
	return func(string) error { return nil }
}

// mayPermit tells whether a permission is one for a command that may not be run.
func (s *State) mayPermit(a *agent.Agent, p *agent.Permission) error {
	if p.Body.Kind != "execute" {
		return nil
	}
	return s.mayRun(a, false)
}

// prompted panics if an agent could not have been made ready, or prompted, now.
func (s *State) prompted(e event.Event) *agent.Agent {
	a := s.Agent(e.Actor)
	if a == nil || a.Session == nil || a.Asked != 0 || a.Session.Call != 0 || a.Session.Home != 0 {
		panic(fmt.Errorf("%s is no executor that could be told something now", e.Actor))
	}
	return a
}

// ExecutorNames are the executors of the quest, sorted.
func (s *State) ExecutorNames() (out []string) {
	for _, p := range s.Executors {
		out = append(out, p.Name)
	}
	return out
}

// callKind is what policies know a call of an executor by. One that does not say is other, as the
// protocol has it.
func callKind(said string) string { return cmp.Or(said, otherKind) }

const otherKind = "other"

// ofTitle is what an executor wants, for a person: its own words.
func ofTitle(f *policy.Facts) string {
	kind := f.Tool
	if kind == otherKind {
		kind = "something"
	}
	return strings.TrimSpace(kind + " " + short(f.Text))
}
