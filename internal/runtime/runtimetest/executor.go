package runtimetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/solo"

	"github.com/go-json-experiment/json"
)

// Executor is the part of one agent that is an executor: it is prompted, and works while a
// prompt is open. Now and then it does so at other times as well, and its processes come and
// go. What it is not allowed must come to nothing.
type Executor struct {
	guests guests
	work   executorBooks
}

// NewExecutor returns the part of one quest.
func NewExecutor() *Executor { return &Executor{work: newExecutorBooks()} }

// executorPolicies look at prompts and permissions.
const executorPolicies = `
- name: deleting
  steps:
    - block: {type: permission.decided, where: {tool: delete}, reason: Nothing is deleted.}
- name: ask-first
  steps:
    - ask: {type: permission.decided, where: {tool: execute}, reason: Shall it?}
- name: unsure
  per: agent
  repeat: true
  steps:
    - wait: {type: tool.call}
      times: 3
    - wait: {type: tool.call}
      ask: {type: tool.call, default: "no", within: 2s}
- name: few-prompts
  per: agent
  repeat: true
  steps:
    - wait: {type: prompt.call}
      times: 2
    - wait: {type: prompt.call}
      ask: {type: prompt.call, default: "yes", within: 1s}
`

// Society implements Part.
func (*Executor) Society() quest.Society { return solo.Society{} }

// Make implements Part.
func (*Executor) Make(w *World, b *event.QuestCreated) {
	host(b, &b.Agents[0])
	judged(w, b, executorPolicies)
	if w.Chance(300) {
		b.Limits.Turns = new(1 + w.Int64N(30))
	}
	if w.Chance(200) {
		b.Limits.Cost = new(w.Int64N(5000))
	}
	if w.Chance(200) {
		b.Limits.Agent = &event.Share{Turns: new(1 + w.Int64N(20))}
	}
}

// host makes an agent an executor.
func host(b *event.QuestCreated, a *event.AgentSpec) {
	a.Executor, a.Gateway = "guest", &event.GatewaySpec{Any: true}
	b.Executors = []event.ExecutorPin{{Name: "guest", Settings: event.RefOf([]byte("guest"))}}
	for _, text := range quest.ExecutorTexts() {
		if !quest.IsPrompt(text.Name) {
			b.Texts = append(b.Texts, text)
		}
	}
}

// Visit implements Visitor.
func (x *Executor) Visit(w *World) []event.Draft {
	return x.guests.visit(w, func(string) (string, event.Text) {
		return []string{Safe, Unsafe, "ask_person"}[w.IntN(3)], event.Text{Text: `{"question":"` + w.Word() + `"}`}
	})
}

// Call implements Part. Nobody here has a model that is asked turn by turn.
func (*Executor) Call(*World, string) (string, any) { return Safe, event.Text{Text: "{}"} }

// Count implements Part.
func (x *Executor) Count(w *World, e event.Event) error { return x.work.count(w, e) }

// Settled implements Settled.
func (x *Executor) Settled(w *World) error { return x.work.settled(w) }

// readied is the row of executor.call: the executor can be used, or not.
func readied(w *World, call event.Event) event.Body {
	r := &event.ExecutorReady{Call: call.Seq}
	if w.Chance(100) {
		r.Error.Text = "it does not answer"
		w.Saw("executors away")
		return r
	}
	r.Name, r.Version, r.Protocol = "guest", "1", 1
	w.Saw("executors ready")
	return r
}

// returned is the row of prompt.call: how the prompt ended.
func returned(w *World, call event.Event) event.Body {
	r := &event.PromptResult{Call: call.Seq, Duration: w.Int64N(100), Stored: w.Int64N(50)}
	s := w.State()
	x := s.Agent(call.Actor).Session
	switch n := w.IntN(20); {
	case s.Status != quest.Running:
		r.Stop = event.StopInterrupted
		w.Saw("prompts interrupted")
	case x.Begun == "" || x.Begun != x.Process: // nobody was told, or whoever was is gone
		r.Stop = event.StopInterrupted
		w.Saw("prompts untold")
	case n == 0:
		if r.Error.Text = "it died"; w.Chance(300) {
			r.Ended = "memory"
		}
	case n == 1:
		r.Stop = []string{event.StopEnd, event.StopCancelled, event.StopRequests}[w.IntN(3)]
	case n == 2:
		r.Stop = event.StopRefusal
	case n == 3:
		r.Stop, r.Text = event.StopTokens, w.Text()
	default:
		r.Stop, r.Text = event.StopEnd, w.Text()
		w.Saw("prompts ended")
	}
	return r
}

// guests are the executors of a quest, as they behave.
type guests struct{ named int }

// visit is what they do by themselves; call is a call of a tool that one makes.
func (g *guests) visit(w *World, call func(agent string) (string, event.Text)) (out []event.Draft) {
	for _, a := range w.State().Agents {
		if a.Session == nil {
			continue
		}
		for _, b := range g.acts(w, a, call) {
			out = append(out, event.Draft{Time: w.Now, Actor: a.Name, Body: b})
			if w.Chance(w.rates.Doubled) {
				out = append(out, out[len(out)-1])
			}
		}
	}
	return out
}

func (g *guests) name(w *World, kind string) string {
	g.named++
	return fmt.Sprint(kind, w.Seq(), "-", g.named) // a fork has others than its origin
}

// acts are what an executor does in one step. What comes at a wrong time is refused.
func (g *guests) acts(w *World, a *agent.Agent, call func(agent string) (string, event.Text)) (out []event.Body) {
	x := a.Session
	id, process, begun := x.ID, x.Process, x.Begun
	if working := a.Asked != 0 || x.Call != 0; working && (process == "" || w.Chance(60)) || w.Chance(10) {
		o := &event.SessionOpened{How: []string{event.SessionLoaded, event.SessionResumed}[w.IntN(2)], ID: id, Process: g.name(w, "p")}
		if id == "" || w.Chance(300) {
			o.How, o.ID = event.SessionNew, g.name(w, "s")
		}
		id, process = o.ID, o.Process
		out = append(out, o)
		w.Saw("sessions " + o.How)
	}
	if a.Asked != 0 && begun != process && w.Chance(800) || w.Chance(10) {
		out = append(out, &event.PromptBegun{Call: a.Asked, Process: process, Session: id})
	}
	at := x.At
	place := func() int64 {
		at += w.Int64N(20)
		return at
	}
	for range w.IntN(4) {
		switch w.IntN(7) {
		case 0:
			name, args := call(a.Name)
			out = append(out, &event.ToolProposed{ID: g.name(w, "t"), Name: name, Args: args})
		case 1:
			out = append(out, &event.GatewayAsked{ID: g.name(w, "g"), Wire: event.WireChat, Path: "/v1/chat/completions", Model: "any", Count: w.Chance(100), Size: 100,
				Most: event.Usage{Input: 1 + w.Int64N(2000), Output: 1 + w.Int64N(300)}})
		case 2:
			out = append(out, g.wants(w, a.Asked, place()))
		case 3:
			out = append(out, &event.ToolReported{At: place(), ID: g.name(w, "c"), Status: "pending", Prompt: a.Asked, Paths: []string{"a/x"}})
		case 4:
			out = append(out, &event.SaidReported{At: place(), Prompt: a.Asked, Text: w.Text(), Thought: w.Chance(300)})
		case 5:
			out = append(out, &event.PlanReported{At: place(), Prompt: a.Asked, Entries: []event.PlanEntry{{Status: "pending", Text: "x"}}})
		default:
			c := g.name(w, "run")
			out = append(out, &event.CliRun{Args: event.Text{Text: `["ls"]`}, Command: c, Prompt: a.Asked, Reported: true},
				&event.CliStdout{Command: c, Text: event.Text{Text: "x\n"}}, g.exit(w, c))
		}
	}
	if a.Asked != 0 && w.Chance(100) {
		out = append(out, &event.FileDiff{After: event.TreeRef{Hash: event.HashOf(fmt.Append(nil, w.IntN(3)))}, Before: a.Tree, Call: a.Asked, Cause: event.CausePrompt})
	}
	return out
}

// exit is the end of a command, now and then for want of memory.
func (g *guests) exit(w *World, command string) *event.CliExit {
	b := &event.CliExit{Command: command, Stdout: event.CommandOutput{Size: 2}}
	if w.Chance(100) {
		b.Exit, b.End = 137, "memory"
		w.Saw("executors' commands without memory")
	} else if w.Chance(100) {
		b.Exit, b.Met = 1, "memory"
	}
	return b
}

// wants is a permission that an executor asks for, now and then with odd options.
func (g *guests) wants(w *World, prompt uint64, at int64) *event.PermissionAsked {
	b := &event.PermissionAsked{
		At: at, ID: g.name(w, "r"), Kind: []string{"edit", "delete", "execute"}[w.IntN(3)], Prompt: prompt, Title: event.Text{Text: w.Word()}, Tool: "c",
		Options: []event.PermissionOption{{ID: "ever", Kind: "allow_always"}, {ID: "once", Kind: event.AllowOnce}, {ID: "no", Kind: event.RejectOnce}},
	}
	if w.Chance(150) {
		b.Options = b.Options[:w.IntN(3)]
	}
	return b
}

// executorBooks hold what executors do against what they may, by the events alone.
type executorBooks struct {
	running bool
	// ready and prompts are the open executor.call and prompt.call of agents.
	ready, prompts map[string]uint64
	// told are the processes that were told a prompt.
	told map[string]bool
	// asked are the permissions without an answer, made the prompts that calls came of.
	asked map[uint64]event.Event
	made  map[uint64]uint64
}

func newExecutorBooks() executorBooks {
	return executorBooks{ready: map[string]uint64{}, prompts: map[string]uint64{}, told: map[string]bool{}, asked: map[uint64]event.Event{}, made: map[uint64]uint64{}}
}

func (x *executorBooks) count(w *World, e event.Event) error {
	prompt := x.prompts[e.Actor]
	inPrompt := func(of uint64) error {
		if prompt == 0 || of != prompt {
			return fmt.Errorf("%s does something of prompt %d, and %d is open", e.Actor, of, prompt)
		}
		return nil
	}
	if a := w.books.shadow.Agent(e.Actor); a != nil && a.Session == nil {
		return nil // it is none
	}
	switch b := e.Body.(type) {
	case *event.QuestStarted, *event.QuestResumed:
		x.running = true
	case *event.QuestPaused, *event.QuestStopped, *event.QuestFinished, *event.QuestFailed, *event.QuestRested, *event.BudgetExceeded:
		x.running = w.books.shadow.Status == quest.Running
	case *event.QuestForked:
		*x = newExecutorBooks()
	case *event.ExecutorCall:
		if prompt != 0 || x.ready[e.Actor] != 0 {
			return fmt.Errorf("%s is made ready while it works", e.Actor)
		}
		x.ready[e.Actor] = e.Seq
	case *event.ExecutorReady:
		delete(x.ready, e.Actor)
	case *event.PromptCall:
		if prompt != 0 || x.ready[e.Actor] != 0 {
			return fmt.Errorf("%s is prompted twice at once, or before it is ready", e.Actor)
		}
		x.prompts[e.Actor] = e.Seq
		w.Saw("prompts")
	case *event.PromptBegun:
		key := fmt.Sprint(b.Call, " ", b.Process)
		if x.told[key] {
			return fmt.Errorf("process %s is told prompt %d twice", b.Process, b.Call)
		}
		x.told[key] = true
		return inPrompt(b.Call)
	case *event.PromptResult:
		delete(x.prompts, e.Actor)
		return inPrompt(b.Call)
	case *event.ToolProposed:
		x.made[e.Seq] = prompt
		return inPrompt(prompt)
	case *event.ToolCall:
		if p, ok := x.made[b.Answer]; ok && p != prompt {
			return fmt.Errorf("a call of prompt %d is made, and that is over", p)
		}
	case *event.GatewayAsked, *event.GatewayCall:
		if x.ready[e.Actor] == 0 {
			return inPrompt(prompt)
		}
	case event.Report:
		if _, asks := b.(*event.PermissionAsked); asks {
			x.asked[e.Seq] = e
		}
		p, _ := b.Reported()
		return inPrompt(p)
	case *event.PermissionDecided:
		return x.decided(w, e, b)
	}
	return nil
}

// decided checks that a permission is answered once, and given once at most.
func (x *executorBooks) decided(w *World, e event.Event, b *event.PermissionDecided) error {
	asked, ok := x.asked[b.Asked]
	if !ok {
		return fmt.Errorf("permission %d is decided twice, or nobody asked for it", b.Asked)
	}
	delete(x.asked, b.Asked)
	p := asked.Body.(*event.PermissionAsked)
	kind := ""
	for _, o := range p.Options {
		if o.ID == b.Option {
			kind = o.Kind
		}
	}
	switch {
	case asked.Actor != e.Actor:
		return fmt.Errorf("permission %d of %s is decided for %s", b.Asked, asked.Actor, e.Actor)
	case !b.Given && kind != "" && kind != event.RejectOnce:
		return fmt.Errorf("permission %d is refused by an option that is %s", b.Asked, kind)
	case !b.Given:
		w.Saw("permissions refused")
	case kind != event.AllowOnce || !x.running || x.prompts[e.Actor] != p.Prompt:
		return fmt.Errorf("permission %d is given by an option that is %q, to prompt %d", b.Asked, kind, p.Prompt)
	default:
		for _, q := range w.books.shadow.Policies {
			if q.Name == "deleting" && p.Kind == "delete" {
				return fmt.Errorf("permission %d is given, and a policy is against it", b.Asked)
			}
		}
		w.Saw("permissions given")
	}
	return nil
}

// settled checks that nobody waits for a permission that cannot come.
func (x *executorBooks) settled(w *World) error {
	for _, seq := range slices.Sorted(maps.Keys(x.asked)) {
		e := x.asked[seq]
		if x.prompts[e.Actor] != e.Body.(*event.PermissionAsked).Prompt || !x.running {
			return fmt.Errorf("permission %d waits, and its prompt is over, or the quest rests", seq)
		}
	}
	return nil
}

// MixedLab is the part of a lab some of whose agents are executors: they publish, review and
// vote by calls that they propose while they are prompted.
type MixedLab struct {
	*Lab
	guests guests
	work   executorBooks
}

// NewMixedLab returns the part of one lab: so many agents with so many turns each, every second
// of them an executor.
func NewMixedLab(agents, turns int64) *MixedLab {
	return &MixedLab{Lab: NewLab(agents, turns), work: newExecutorBooks()}
}

// Make implements Part.
func (l *MixedLab) Make(w *World, b *event.QuestCreated) {
	l.Lab.Make(w, b)
	all := b.Agents[0]
	b.Agents = nil
	for i := range all.Count {
		a := all
		a.Count, a.First = 1, i
		if i%2 == 0 {
			host(b, &a)
		}
		b.Agents = append(b.Agents, a)
	}
	// Each says once what all of them are told.
	slices.SortStableFunc(b.Texts, func(x, y event.NamedText) int { return strings.Compare(x.Name, y.Name) })
	b.Texts = slices.Compact(b.Texts)
}

// Visit implements Visitor.
func (l *MixedLab) Visit(w *World) []event.Draft {
	return l.guests.visit(w, func(agent string) (string, event.Text) {
		tool, args := l.Call(w, agent)
		data, err := json.Marshal(args, json.Deterministic(true))
		if err != nil {
			panic(err)
		}
		return tool, event.Text{Text: string(data)}
	})
}

// Count implements Part.
func (l *MixedLab) Count(w *World, e event.Event) error {
	if err := l.work.count(w, e); err != nil {
		return err
	}
	return l.Lab.Count(w, e)
}

// Settled implements Settled.
func (l *MixedLab) Settled(w *World) error {
	if err := l.work.settled(w); err != nil {
		return err
	}
	return l.Lab.Settled(w)
}
