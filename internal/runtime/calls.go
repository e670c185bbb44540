package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/plain"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/tool"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

// startModel renders what the call asks for and has the model answer it.
func (l *live) startModel(ctx context.Context, e event.Event, c *event.ModelCall) error {
	seq, name := e.Seq, e.Actor
	a := l.state.Agent(name)
	req, err := l.request(ctx, a, c)
	if err != nil {
		return fmt.Errorf("render model.call %d: %w", seq, err)
	}
	q, err := l.recallable(e, a, c)
	if err != nil {
		return err
	}
	m, resolveErr := l.model(ctx, c.Model)
	says := l.newVoice(name, seq)
	l.settleDown()
	if l.enough != nil {
		ctx = model.WithHurry(ctx, l.wanted)
	}
	empty, w := max(a.Empty, a.Broken), l.newWaiter(m, c.Model)
	turn, cut := context.WithCancel(ctx)
	l.turns[seq] = cut
	if l.state.Cut(seq) {
		cut() // as it was by the last owner, who did not come to say so
	}
	l.launch(ctx, seq, func(ctx context.Context) (drafts []event.Draft, failed error) {
		defer cut()
		defer q.unless(&drafts)
		pauseAfter(turn, empty)
		begun := l.rt.Clock()
		if d := l.knownAnswer(turn, name, q); d != nil {
			d.Body.(*event.ModelResult).Duration = int64(max(d.Time-begun, 0))
			return []event.Draft{*d}, nil
		}
		answer, err := (*model.Answer)(nil), resolveErr
		if err == nil && turn.Err() == nil {
			answer, err = w.ask(turn, m, req, says.emit())
		}
		if answer == nil && turn.Err() != nil {
			err = &model.Error{Kind: event.KindStopped, Text: "the turn was cut short"}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		says.end()
		tab := l.storage.tab(name)
		d, packErr := l.pack(tab.after(ctx), seq, answer, err)
		if packErr != nil {
			return nil, packErr
		}
		d.Parent, d.Actor, d.Time = seq, name, l.rt.Clock()
		body := d.Body.(*event.ModelResult)
		body.Duration, body.Stored = w.worked(d.Time-begun), tab.taken()
		return w.back(d), nil
	})
	return nil
}

// pauseAfter waits before a model is asked again that has answered nothing, or broken off,
// so many times in a row: what made it do so may pass. It does not wait once the quest has come
// to rest.
func pauseAfter(ctx context.Context, empty int64) {
	if empty == 0 {
		return
	}
	timer := time.NewTimer(emptyPause << (empty - 1))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-model.Wanted(ctx).Done():
	case <-ctx.Done():
	}
}

// emptyPause is the first pause after an empty answer; the next is twice as long.
const emptyPause = 500 * time.Millisecond

// request builds what the model is shown. The prompt and the tools are those
// the quest was made with, whatever this binary has.
func (l *live) request(ctx context.Context, a *agent.Agent, c *event.ModelCall) (*model.Request, error) {
	read := func(ref event.Ref) ([]byte, error) { return l.rt.Blob(ctx, ref) }
	pinned, err := l.prompt(a, read)
	if err != nil {
		return nil, err
	}
	r := l.rendered[a.Name]
	if r == nil {
		r = &agent.Rendering{Memo: new(model.Memo)}
		l.rendered[a.Name] = r
	}
	messages, err := r.Messages(&a.Transcript, c, read)
	if err != nil {
		return nil, err
	}
	memo := r.Memo
	if c.Compact != nil {
		memo = nil // it is another conversation, for once
	}
	return &model.Request{
		Quest: l.key, Agent: a.Name, Model: c.Model, Turn: c.Turn, System: pinned.system, Tools: pinned.tools,
		Messages: messages, Thinking: c.Thinking, Effort: model.Effort(c.Effort), MaxTokens: c.MaxTokens, Once: a.Strict,
		Pictureless: c.Compact == nil && r.Pictureless(), Memo: memo,
	}, nil
}

// prompt is what an agent is pinned to.
type prompt struct {
	system string
	tools  []model.Tool
}

// prompts keeps those that were read, for all quests: they are named by their
// hashes and never change, and most quests share one.
type prompts struct {
	mu   sync.Mutex
	read map[[2]event.Hash]*prompt
}

// maxPrompts is how many are kept.
const maxPrompts = 256

// prompt reads what an agent is pinned to, once.
func (l *live) prompt(a *agent.Agent, read agent.Blobs) (*prompt, error) {
	key := [2]event.Hash{a.System.Hash, a.Tools.Hash}
	if p := l.rt.prompts.get(key); p != nil {
		return p, nil
	}
	system, err := read(a.System)
	if err != nil {
		return nil, err
	}
	list, err := read(a.Tools)
	if err != nil {
		return nil, err
	}
	p := &prompt{system: string(system)}
	if err := json.Unmarshal(list, &p.tools); err != nil {
		return nil, fmt.Errorf("read the pinned tools: %w", err)
	}
	l.rt.prompts.put(key, p)
	return p, nil
}

func (ps *prompts) get(key [2]event.Hash) *prompt {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.read[key]
}

func (ps *prompts) put(key [2]event.Hash, p *prompt) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.read == nil || len(ps.read) >= maxPrompts {
		ps.read = map[[2]event.Hash]*prompt{}
	}
	ps.read[key] = p
}

// openModels finds the models of all agents, so that a missing key or a wrong
// name is told before anything is recorded.
func (l *live) openModels(ctx context.Context) error {
	if err := l.state.CheckLimits(l.opts.Limits); err != nil {
		return &PlanError{err}
	}
	for _, a := range l.state.Agents {
		if a.Mind() == agent.ByOutside {
			if err := l.openGateway(ctx, a); err != nil {
				return err
			}
		}
		if a.Mind() != agent.ByModel {
			continue
		}
		for _, limits := range []event.Limits{l.state.Limits, l.opts.Limits} {
			if err := l.rt.CheckCost(a.Model, limits); err != nil {
				return err
			}
		}
		if err := l.rt.checkPrice(a); err != nil {
			return err
		}
		m, err := l.rt.Models(a.Model, l.pin(ctx))
		if err != nil {
			return BadPlan("model %s: %w", a.Model, err)
		}
		l.models[a.Model] = m
	}
	return nil
}

// model finds a model once for each name.
func (l *live) model(ctx context.Context, name string) (model.Model, error) {
	if m := l.models[name]; m != nil {
		return m, nil
	}
	m, err := l.rt.Models(name, l.pin(ctx))
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Text: err.Error()}
	}
	l.models[name] = m
	return m, nil
}

// pin reads a file that the quest was made with.
func (l *live) pin(ctx context.Context) func(string) ([]byte, error) {
	pins := l.state.Pins
	return func(name string) ([]byte, error) {
		for _, p := range pins {
			if p.Name == name {
				return l.rt.Blob(ctx, p.Ref)
			}
		}
		return nil, fmt.Errorf("the quest has no file %q", name)
	}
}

// generate asks the model; a driver that panics has failed like any other.
func generate(ctx context.Context, m model.Model, r *model.Request, emit func(model.Delta)) (a *model.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &model.Error{Kind: model.Invalid, Text: fmt.Sprintf("the model driver panicked: %v", p)}
		}
	}()
	a, err = m.Generate(ctx, r, emit)
	if err == nil && a == nil {
		err = &model.Error{Kind: model.Invalid, Text: "the model driver returned nothing"}
	}
	return a, err
}

// maxParts is how many pieces an answer may have. No model needs more, and an
// event could not hold them.
const maxParts = 100

// maxRequest is how much is kept of what a provider calls a request by.
const maxRequest = 128

// pack makes an input of what the model said. Whatever that was, the input fits
// an event: an answer that cannot be made to fit is a failed one.
func (l *live) pack(ctx context.Context, seq uint64, a *model.Answer, failed error) (event.Draft, error) {
	out, secrets := &event.ModelResult{Call: seq}, l.rt.hidden()
	if a != nil {
		out.Cost, out.Unpriced, out.Stop = count(a.Cost), a.Unpriced, oneOf(a.Stop, model.StopEnd, model.StopTools, model.StopLength, model.StopRefusal)
		out.Usage, out.Price, out.Estimated = counted(a.Usage), a.Price, a.Estimated
		out.Request = AtMost(plain.Line(secrets.redact(a.Request)), maxRequest)
		if a.Wasted != (event.Usage{}) {
			out.Wasted = new(counted(a.Wasted))
		}
	}
	if failed != nil {
		return event.Draft{Body: l.asFailed(out, failed)}, nil
	}
	t := &texts{rt: l.rt}
	var all []*event.Text
	var args []string
	keep := func(s string) *event.Text {
		if s == "" {
			return nil
		}
		x := &event.Text{Text: Clean(secrets.redact(s))}
		all = append(all, x)
		return x
	}
	for _, p := range a.Parts {
		given := l.told(p.Name, Clean(secrets.redact(p.Args)))
		part := event.Part{
			Args: keep(given), ID: AtMost(secrets.redact(p.ID), 128), Kind: oneOf(p.Kind, event.PartText, event.PartThinking, event.PartToolCall),
			Name: AtMost(secrets.redact(p.Name), 64), Opaque: keep(p.Opaque), Text: keep(p.Text),
		}
		if part.Kind == event.PartToolCall || part.Text != nil || part.Opaque != nil {
			out.Parts = append(out.Parts, part)
			args = append(args, given)
		}
	}
	// What is known later has its place: how long it took, and what it stored.
	out.Duration, out.Stored = most, most
	defer func() { out.Duration, out.Stored = 0, 0 }()
	fits, err := t.fit(ctx, out, all)
	if fits = fits && len(out.Parts) <= maxParts; !fits && err == nil {
		fits = cutCalls(out)
	}
	if fits || err != nil {
		outlineArgs(out, args)
		return event.Draft{Body: out, Blobs: t.small}, err
	}
	tooMuch := &model.Error{Kind: model.Invalid, Text: fmt.Sprintf("the answer has %d parts, more than fit into an event", len(out.Parts))}
	out.Parts = nil
	return event.Draft{Body: l.asFailed(out, tooMuch)}, nil
}

// cutCalls leaves the last calls of an answer out until it fits. The first of them stays, with words in the
// place of its arguments, so that who made it is told. It reports whether the answer fits.
func cutCalls(r *event.ModelResult) bool {
	all := r.Parts
	for n := min(len(all), maxParts) - 1; n > 0; n-- {
		cut := all[n]
		if cut.Kind != event.PartToolCall || slices.ContainsFunc(all[n:], func(p event.Part) bool { return p.Kind != event.PartToolCall }) {
			return false
		}
		cut.Args = &event.Text{Text: fmt.Sprintf("not read: there is room for %d parts in an answer like this. Make this call and the %d behind it again, in turns of fewer calls.", n, len(all)-n-1)}
		cut.Opaque, cut.Text = nil, nil
		r.Parts = append(slices.Clone(all[:n]), cut)
		if _, err := event.EncodeBody(r); err == nil {
			return true
		}
	}
	return false
}

// maxOutlines is how much of an event the outlines of arguments take, together.
const maxOutlines = 3 << 10

// outlineArgs keeps at hand what policies look at of arguments that are in blobs.
// What there is no room for, they cannot see, and take for the worst.
func outlineArgs(r *event.ModelResult, args []string) {
	room := maxOutlines
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Kind != event.PartToolCall || p.Args == nil || p.Args.Ref == nil {
			continue
		}
		p.Outline = policy.Outline(args[i], room/2)
		room -= event.Weight(p.Outline)
		if _, err := event.EncodeBody(r); err != nil {
			p.Outline = ""
			return
		}
	}
}

// longestAfter is what is recorded of a provider that asks to be left alone for longer: an event takes no larger number.
const longestAfter = 366 * 24 * time.Hour

func (l *live) asFailed(r *event.ModelResult, err error) *event.ModelResult {
	text, after := err.Error(), time.Duration(0)
	if e, ok := errors.AsType[*model.Error](err); ok {
		text, after = e.Text, min(max(e.After, 0), longestAfter)
	}
	r.Error = &event.ModelError{After: after.Microseconds(), Kind: AtMost(string(model.KindOf(err)), 32), Text: AtMost(l.rt.Redact(text), 2000)}
	return r
}

// count bounds a number of the world: nothing is negative, and an event holds
// integers up to 2^53.
func count(n int64) int64 { return min(max(n, 0), most) }

// most is the largest number that is taken from the world.
const most = 1 << 50

func counted(u event.Usage) event.Usage {
	return event.Usage{CacheWrites: count(u.CacheWrites), Cached: count(u.Cached), Input: count(u.Input), Output: count(u.Output), Thinking: count(u.Thinking)}
}

// oneOf returns s if it is one of the words, and the first of them otherwise.
func oneOf(s string, words ...string) string {
	if slices.Contains(words, s) {
		return s
	}
	return words[0]
}

// startTool runs a tool of the world.
func (l *live) startTool(ctx context.Context, seq uint64, name, toolName string) error {
	u, err := l.state.Agent(name).Use(seq)
	if err != nil {
		return err
	}
	args, err := agent.Read(u.Args, func(ref event.Ref) ([]byte, error) { return l.rt.Blob(ctx, ref) })
	if err != nil {
		return fmt.Errorf("arguments of tool.call %d: %w", seq, err)
	}
	if own := l.state.Own(toolName); own != nil {
		use := u // of its own: u stays off the heap
		l.startOwn(ctx, seq, name, &use, own, args)
		return nil
	}
	d, spec, on := l.desks[name], l.tool(toolName), l.terms(name, toolName)
	d.begin()
	l.launch(ctx, seq, func(ctx context.Context) ([]event.Draft, error) {
		select {
		case d.slots <- struct{}{}:
			defer func() { <-d.slots }()
		case <-ctx.Done():
			d.done(false)
			return nil, ctx.Err()
		}
		drafts, err := l.runTool(ctx, d, seq, spec, args, on)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("tool.call %d: %w", seq, err)
		}
		return drafts, nil
	})
	return nil
}

// terms are what the state says of a call when it begins.
type terms struct {
	// closed is what policies keep the tool away from.
	closed []string
	// bounds are those of the computer, for tools that work on its home from outside.
	bounds workspace.Bounds
	// readable says that the agent can read a long result again.
	readable bool
}

func (l *live) terms(agent, tool string) terms {
	closed := l.state.Closed(tool)
	if t := l.tool(tool); t.Writes && !t.Computer {
		closed = append(closed, fixed(l.state)...) // programs find it so, too
	}
	return terms{closed, l.spec.Bounds, slices.Contains(l.state.Agent(agent).ToolNames, quest.ReadResult)}
}

// tool is what is known of a tool. Of one that this binary does not have, the
// registry tells the agent.
func (l *live) tool(name string) tool.Tool {
	t, _ := l.tools.Lookup(name)
	t.Name = name
	return t
}

// runTool runs a tool at an agent's desk, and returns what happened: what was
// changed before by nobody we know, what commands did, what the home holds now, and
// last the result.
func (l *live) runTool(ctx context.Context, d *desk, seq uint64, spec tool.Tool, args string, on terms) ([]event.Draft, error) {
	r, call := l.newToolRun(d, seq, spec, args, on)
	ctx = r.tab.on(ctx)
	if l.state.Computer != nil {
		call.Computer = r.rec
	}
	if spec.Writes {
		if err := d.lookFirst(ctx); err != nil {
			d.done(false)
			return nil, err
		}
	}
	r.out = l.perform(ctx, spec, call)
	look := d.done(spec.Writes)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if Passing(r.out.Cause) {
		return nil, r.out.Cause // no agent need hear of it: the call is made again
	}
	if !look {
		return r.end(ctx, sight{})
	}
	return nil, d.look(ctx, byTool(seq), func(seen sight) error {
		drafts, err := r.end(ctx, seen)
		if err == nil {
			l.mail.put(drafts...)
		}
		return err
	})
}

func (l *live) newToolRun(d *desk, seq uint64, spec tool.Tool, args string, on terms) (*toolRun, tool.Call) {
	r := &toolRun{
		desk: d, tab: l.storage.tab(d.actor), rec: &recorder{machine: d.machine, call: seq}, spec: spec, begun: l.rt.Clock(),
		texts: &texts{rt: l.rt}, window: l.state.Agent(d.actor).Limit, mark: Mark(l.state, spec, args),
	}
	if on.readable {
		r.readable = seq
	}
	return r, tool.Call{ID: commandID(seq), Agent: d.actor, Args: []byte(args), Home: d.home, Closed: on.closed, Bounds: on.bounds}
}

// toolRun is a tool that has run, and what is needed to tell of it.
type toolRun struct {
	desk     *desk
	tab      *tab
	rec      *recorder
	spec     tool.Tool
	out      tool.Result
	begun    event.Time
	texts    *texts
	window   int64
	readable uint64
	// mark is what stands before what the agent is told.
	mark string
}

// end is what happened, with the result at the end. What there is no more room for is left
// out, and the agent is told; a disk that is full is no agent's fault, and an error.
func (r *toolRun) end(ctx context.Context, seen sight) ([]event.Draft, error) {
	body := &event.ToolResult{Call: r.rec.call, Error: r.out.Error}
	if len(r.out.Outcome) <= event.MaxOutcome {
		body.Outcome = r.out.Outcome
	}
	attached, note, err := r.texts.attach(ctx, r.out.Files, r.window)
	full, refusal := unkept(err)
	if err != nil && full == nil {
		return nil, err
	}
	if seen.full != nil {
		full, refusal = seen.full, seen.refusal
	}
	body.Attachments = attached
	words := r.mark + r.out.Text + note + seen.note + r.tab.warning()
	if full != nil {
		words = refusal + "\n\n" + words
	}
	body.Output, err = r.texts.shown(ctx, words, r.window, r.readable)
	if over, text := unkept(err); over != nil {
		full = over
		body.Output, err = event.Text{Text: AtMost(text+"\n\n"+Clean(r.desk.l.rt.Redact(words)), min(maxInline, mostShown(r.window)))}, nil
	}
	if err != nil {
		return nil, err
	}
	body.Full, body.Error = full, body.Error || full != nil
	r.tab.small(r.texts.small)
	body.Stored = r.tab.taken()
	result := r.desk.draft(r.rec.call, body)
	result.Tool, result.Blobs = r.spec.Name, r.texts.small
	body.Duration = int64(max(result.Time-r.begun, 0))
	if r.rec.used {
		body.Computer = r.desk.fingerprint()
	}
	return append(append(r.rec.take(), seen.diff...), result), nil
}

// perform runs a tool of the registry, or one that was made for this call.
func (l *live) perform(ctx context.Context, spec tool.Tool, call tool.Call) tool.Result {
	if _, ok := l.tools.Lookup(spec.Name); ok || spec.Run == nil && spec.Give == nil && spec.Tell == nil {
		return l.tools.Do(ctx, spec.Name, call)
	}
	r, err := tool.New(spec)
	if err != nil {
		return tool.Result{Output: tool.Output{Text: err.Error(), Error: true}}
	}
	return r.Do(ctx, spec.Name, call)
}

// cutTurn ends the turn under way of an agent that is to hear something now, or the prompt of an
// executor. Without an answer it is asked again, with what was said.
func (l *live) cutTurn(b *event.MailDelivered) {
	a := l.state.Agent(b.To)
	if a == nil || b.With != event.WithNow {
		return
	}
	if cut, ok := l.turns[a.Asked]; ok {
		cut()
	}
	if o := l.executors.of(b.To); o != nil {
		o.interrupt()
	}
}
