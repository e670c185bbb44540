package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/model"
	"lyceum/internal/plain"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/workspace"
)

// errPromptOver is what an executor is told that does something when it has not been asked to.
var errPromptOver = errors.New("no prompt is under way")

// host is what an executor reaches of the quest. It is the same for all its prompts.
type host struct{ o *outsider }

// hosting says which prompt is under way, nil if none is.
func (o *outsider) hosting(p *prompting) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.prompting = p
}

// prompt is the one under way.
func (h host) prompt() (*prompting, error) {
	h.o.mu.Lock()
	defer h.o.mu.Unlock()
	if h.o.prompting == nil {
		return nil, errPromptOver
	}
	return h.o.prompting, nil
}

// Report implements executor.Host. It returns when the report is durable, so that an executor
// that reports faster than the disk writes has to wait.
func (h host) Report(ctx context.Context, b event.Body) error {
	p, err := h.prompt()
	if err != nil {
		return nil // it comes too late, and nobody is harmed by that
	}
	d, err := p.report(ctx, b)
	if err != nil {
		return err
	}
	return h.o.l.mail.record(ctx, d)
}

// report is the input that a report becomes.
func (p *prompting) report(ctx context.Context, b event.Body) (event.Draft, error) {
	t := &texts{rt: p.l.rt}
	if err := t.reported(p.tab.after(ctx), b, p.seq); err != nil {
		return event.Draft{}, err
	}
	p.tab.small(t.small)
	d := p.desk.draft(p.seq, b)
	d.Blobs = t.small
	return d, nil
}

// How much of a report stands in an event.
const (
	maxToolID  = 128
	maxTitle   = 1 << 10
	maxPaths   = 20
	maxPath    = 300
	maxPlan    = 40
	maxStep    = 200
	maxOptions = 12
)

// The words of the protocol.
var (
	toolKinds    = []string{"other", "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode"}
	toolStatuses = []string{"pending", "in_progress", "completed", "failed"}
	planStatuses = []string{"pending", "in_progress", "completed"}
	priorities   = []string{"medium", "high", "low"}
	optionKinds  = []string{"reject_once", "reject_always", "allow_once", "allow_always"}
)

// reported makes what an executor says fit for the ledger: without secrets, its names and
// titles in characters that can be printed, and short; its longest texts in blobs. What it says
// at length stays as it said it.
func (t *texts) reported(ctx context.Context, b event.Body, prompt uint64) error {
	r := t.rt
	line := func(s string, most int) string { return AtMost(plain.Line(r.Redact(s)), most) }
	clean := func(t *event.Text) *event.Text {
		t.Text = Clean(r.Redact(t.Text))
		return t
	}
	title := func(t *event.Text) { *t = event.Text{Text: line(t.Text, maxTitle)} }
	paths := func(list []string) (out []string) {
		for _, p := range list[:min(len(list), maxPaths)] {
			out = append(out, line(p, maxPath))
		}
		return out
	}
	var long []*event.Text
	switch b := b.(type) {
	case *event.ToolReported:
		b.ID, b.Prompt, b.Paths = line(b.ID, maxToolID), prompt, paths(b.Paths)
		b.Status = oneOf(b.Status, toolStatuses...)
		if b.Kind != "" {
			b.Kind = oneOf(b.Kind, toolKinds...)
		}
		title(&b.Title)
		long = []*event.Text{clean(&b.Input), clean(&b.Output)}
	case *event.PermissionAsked:
		b.ID, b.Tool, b.Prompt, b.Paths = line(b.ID, maxToolID), line(b.Tool, maxToolID), prompt, paths(b.Paths)
		if b.Kind != "" {
			b.Kind = oneOf(b.Kind, toolKinds...)
		}
		title(&b.Title)
		b.Options = slices.Clone(b.Options[:min(len(b.Options), maxOptions)])
		for i := range b.Options {
			o := &b.Options[i]
			*o = event.PermissionOption{ID: line(o.ID, maxToolID), Kind: oneOf(o.Kind, optionKinds...), Name: line(o.Name, maxStep)}
		}
		long = []*event.Text{clean(&b.Input)}
	case *event.PlanReported:
		if n := len(b.Entries) - maxPlan; n > 0 {
			b.More += int64(n)
			b.Entries = b.Entries[:maxPlan]
		}
		b.Prompt, b.Entries = prompt, slices.Clone(b.Entries)
		for i := range b.Entries {
			e := &b.Entries[i]
			*e = event.PlanEntry{Status: oneOf(e.Status, planStatuses...), Text: line(e.Text, maxStep), Priority: e.Priority}
			if e.Priority != "" {
				e.Priority = oneOf(e.Priority, priorities...)
			}
		}
	case *event.SaidReported:
		b.Prompt = prompt
		long = []*event.Text{clean(&b.Text)}
	default:
		return fmt.Errorf("%s is nothing that an executor reports", b.Type())
	}
	said := ""
	if a, ok := b.(*event.PermissionAsked); ok {
		said = a.Input.Text
	}
	fits, err := t.fit(ctx, b, long)
	if err == nil && !fits {
		err = fmt.Errorf("a %s is too long for an event", b.Type())
	}
	if a, ok := b.(*event.PermissionAsked); ok && a.Input.Ref != nil {
		a.Outline = policy.Outline(said, maxOutlines/2)
		if _, err := event.EncodeBody(a); err != nil {
			a.Outline = ""
		}
	}
	return err
}

// DeriveReports derives what the frames of a prompt say that the executor reported, as the ledger
// has it, and what came of it. Nothing is stored.
func (r *Runtime) DeriveReports(ctx context.Context, frames []byte, prompt uint64) ([]event.Body, executor.Turn, error) {
	bodies, turn, failed := executor.Derive(frames)
	for _, b := range bodies {
		t := &texts{rt: r, dry: true}
		if err := t.reported(ctx, b, prompt); err != nil {
			return nil, turn, err
		}
	}
	return bodies, turn, failed
}

// Live implements executor.Host.
func (h host) Live(kind, text string) {
	p, err := h.prompt()
	if err != nil || h.o.l.opts.OnDelta == nil {
		return
	}
	d := model.Delta{Kind: event.PartText, Text: text}
	if kind == "thought" {
		d.Kind = event.PartThinking
	}
	p.speaking.Lock()
	defer p.speaking.Unlock()
	p.says.say(d)
}

// endVoice tells what was held back of what it said.
func (p *prompting) endVoice() {
	p.speaking.Lock()
	defer p.speaking.Unlock()
	if p.l.opts.OnDelta != nil {
		p.says.end()
	}
}

// Permit implements executor.Host.
func (h host) Permit(ctx context.Context, b *event.PermissionAsked) (string, error) {
	p, err := h.prompt()
	if err != nil {
		return "", err
	}
	offered := slices.Clone(b.Options)
	d, err := p.report(ctx, b)
	if err != nil {
		return "", err
	}
	asked, done, news := h.o.permits.ask(b.ID)
	if news {
		h.o.l.mail.put(d)
	}
	option, err := h.o.wait(ctx, asked, done)
	if err != nil || option == "" {
		return "", err
	}
	// Its own name for what the ledger calls so.
	if i := slices.IndexFunc(b.Options, func(o event.PermissionOption) bool { return o.ID == option }); i >= 0 {
		return offered[i].ID, nil
	}
	return "", nil
}

// Write implements executor.Host. What was written is seen when the home is next looked at:
// before the next command at the latest, so that the ledger has what a command begins with.
func (h host) Write(_ context.Context, path string) error {
	p, err := h.prompt()
	if err != nil {
		return err
	}
	name, err := workspace.Path(path)
	if err != nil {
		return err
	}
	if dir := workspace.Closed(name, p.closed); dir != "" {
		return fmt.Errorf("%s is closed by a policy (%s); leave it as it is, and work elsewhere", plain.Quoted(path, maxPath), dir)
	}
	if err := p.mayWrite(name); err != nil {
		return err
	}
	p.wrote.Store(true)
	return nil
}

// look records what the home holds now, as the prompt's doing. What there is no room for is
// left to the look at the prompt's end.
func (p *prompting) look(ctx context.Context) error {
	return p.desk.look(p.tab.on(ctx), p.doing, func(seen sight) error {
		p.l.mail.put(seen.diff...)
		return nil
	})
}

// allowed records that a command begins, and tells why it must not, if the rules are against it.
func (p *prompting) allowed(ctx context.Context, id string, run event.Draft) error {
	p.running.Lock()
	defer p.running.Unlock()
	if err := p.l.mail.record(ctx, run); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ran != id {
		return cmp.Or(p.unfit, errPromptOver)
	}
	return nil
}

// refuse notes that a command is not in the ledger, and why. It runs on the owner's goroutine.
func (o *outsider) refuse(s *quest.State, b *event.CliRun) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ran != b.Command {
		o.unfit = s.Check(o.name, b)
	}
}

// unstarted notes a command that the last owner recorded and was killed before it began: the
// computer is as it was, and does not know it. The executor has had no answer and asks again.
func (o *outsider) unstarted(ctx context.Context, c *computer.Computer, cmd quest.Process) bool {
	if o == nil || cmd.Prompt == 0 || cmd.Prompt != o.l.state.Agent(o.name).Asked {
		return false
	}
	list, err := c.Processes(ctx)
	if err != nil || knows(list, cmd.Command) {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recorded = append(o.recorded, cmd.Command)
	return true
}

// starts reports whether a command is one that is recorded and has not begun, which it does now.
func (o *outsider) starts(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.Index(o.recorded, id)
	if i >= 0 {
		o.recorded = slices.Delete(o.recorded, i, i+1)
	}
	return i >= 0
}

// neverStarted ends the commands that the executor has not asked for again.
func (p *prompting) neverStarted() (out []event.Draft) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range p.recorded {
		out = append(out, p.desk.draft(p.seq, lostCommand(0, id)))
	}
	p.recorded = nil
	return out
}

// Run implements executor.Host: a command of the executor's terminal. That it begins is durable
// before it does; one that runs already is found.
func (h host) Run(ctx context.Context, cmd computer.Command) error {
	p, err := h.prompt()
	if err != nil {
		return err
	}
	c, _, err := p.desk.computer(ctx, false)
	if err != nil {
		return err
	}
	list, err := c.Processes(ctx)
	if err != nil {
		return err
	}
	if knows(list, cmd.ID) {
		return c.Start(ctx, cmd) // it has been followed since, or is over
	}
	if !p.starts(cmd.ID) {
		if err := p.record(ctx, cmd); err != nil {
			return err
		}
	}
	if err := c.Start(ctx, cmd); err != nil {
		p.l.mail.put(p.desk.draft(p.seq, &event.CliExit{Command: cmd.ID, Exit: 127, Fingerprint: p.desk.fingerprint()}))
		return err
	}
	f := &follower{machine: p.desk.machine, c: c, id: cmd.ID, news: newsEvery, tell: p.l.mail.put}
	p.l.mail.start(func() {
		p.l.followToEnd(f)
		if err := p.look(p.l.work); err != nil && p.l.work.Err() == nil {
			p.l.failed(p.seq, err)
		}
	})
	return nil
}

// record makes durable that a command begins, and before it what the home holds.
func (p *prompting) record(ctx context.Context, cmd computer.Command) error {
	if p.wrote.Swap(false) {
		if err := p.look(ctx); err != nil {
			return err
		}
	}
	r := &recorder{machine: p.desk.machine, prompt: p.seq}
	run, err := r.begun(ctx, cmd)
	if err != nil {
		return err
	}
	return p.allowed(ctx, cmd.ID, run)
}
