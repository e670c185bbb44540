package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/quest"
)

// promptService says to executors what their agents were told, and waits for the end of their
// turns. A prompt that was under way when the last owner went is gone on with: the process that
// has it is found, or another one is told.
type promptService struct{}

func (promptService) start(ctx context.Context, l *live, e event.Event) error {
	b, o := e.Body.(*event.PromptCall), l.executors.of(e.Actor)
	if o == nil {
		return fmt.Errorf("quest %s has no executor for %s", l.key, e.Actor)
	}
	say, err := l.promptOf(ctx, l.state.Agent(e.Actor), e.Seq, b)
	if err != nil {
		return fmt.Errorf("render prompt.call %d: %w", e.Seq, err)
	}
	before := recall(l.state.Agent(e.Actor).Session)
	o.permits.begin(before)
	stop, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o.mu.Lock()
	o.cancel, o.told, o.halted = cancel, before.process, l.state.Agent(e.Actor).Session.Stopped != ""
	if o.halted || l.state.Cut(e.Seq) {
		cancel() // as it was by the last owner
	}
	o.mu.Unlock()
	l.settleDown() // from now on a rest of the quest is heard of
	p := &prompting{outsider: o, seq: e.Seq, first: b.First, says: l.newVoice(e.Actor, e.Seq), closed: append(l.state.Closed("write_file"), fixed(l.state)...), mayWrite: l.state.MayWrite(l.state.Agent(e.Actor)), tab: l.storage.tab(e.Actor), begun: l.rt.Clock()}
	l.launch(ctx, e.Seq, func(ctx context.Context) ([]event.Draft, error) {
		defer cancel()
		return p.run(ctx, stop, say, before)
	})
	return nil
}

// mayRepeat says that a prompt is gone on with wherever there are computers: no process is told
// twice.
func (promptService) mayRepeat(_ context.Context, l *live, _ uint64, c quest.Call) bool {
	return l.executors.of(c.Agent) != nil && l.driver != nil
}

func (promptService) lost(seq uint64, c quest.Call, _ func(string) Known) event.Draft {
	return lostPrompt(seq, c, "interrupted, outcome unknown: nobody here can go on with it")
}

// promptOf is what an executor is told. Pictures go to those who say that they see them; to
// others they are only named.
func (l *live) promptOf(ctx context.Context, a *agent.Agent, seq uint64, b *event.PromptCall) (p executor.Prompt, err error) {
	most := int64(0)
	if info := a.Session.Info; info != nil && slices.Contains(info.Capabilities, executor.CanSee) {
		most = executor.MaxPrompt
	}
	p.Seq = seq
	text, pictures, err := a.Prompt(b, most, func(ref event.Ref) ([]byte, error) { return l.rt.Blob(ctx, ref) })
	p.Text = text
	for _, x := range pictures {
		p.Pictures = append(p.Pictures, executor.Picture{Media: x.Media, Data: x.Data})
	}
	return p, err
}

// recalled is what the ledger says of a prompt that was under way when the last owner went.
type recalled struct {
	// process is the one that was told, and at how far its output is known.
	process string
	at      int64
	asked   map[string]*permit // by the ids of requests
}

// recall takes from the state what it says of the prompt that is open.
func recall(x *agent.Session) recalled {
	out := recalled{process: x.Begun, at: x.At, asked: map[string]*permit{}}
	for _, d := range x.Decided {
		out.asked[d.ID] = &permit{decided: true, option: d.Option}
	}
	for _, p := range x.Permissions {
		out.asked[p.Body.ID] = &permit{seq: p.Asked}
	}
	return out
}

// prompting is a prompt under way.
type prompting struct {
	*outsider
	seq   uint64
	first int64
	tab   *tab
	begun event.Time
	// closed is what policies keep its agent away from, mayWrite what its society does.
	closed   []string
	mayWrite func(path string) error

	wrote    atomic.Bool // a file, since the home was last looked at for a command
	over     bool        // its result is told; the desk's look guards it
	running  sync.Mutex  // held while a command begins
	speaking sync.Mutex  // guards says
	says     *voice
}

// run says the prompt, and packs what came of it. ctx ends with the run, which leaves the
// executor as it is; stop when it is to be interrupted.
func (p *prompting) run(ctx, stop context.Context, prompt executor.Prompt, before recalled) ([]event.Draft, error) {
	if err := p.hold(ctx); err != nil {
		return nil, err
	}
	defer p.release()
	turn, failed := p.say(stop, prompt, before)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if p.stopped() {
		p.endCommands(ctx, failed == nil && len(turn.Frames) > 0)
	}
	if _, missing := lack(failed); missing || Passing(failed) {
		return nil, failed
	}
	p.endVoice()
	result, err := p.result(ctx, turn, failed)
	if err != nil {
		return nil, fmt.Errorf("prompt.call %d: %w", p.seq, err)
	}
	return nil, p.desk.look(p.tab.on(ctx), p.doing, func(seen sight) error {
		p.over = true
		body := result.Body.(*event.PromptResult)
		p.tab.small(result.Blobs)
		body.Stored, body.Full = p.tab.taken(), seen.full
		p.l.mail.put(append(append(seen.diff, p.neverStarted()...), result)...)
		return nil
	})
}

// stopped reports whether the rules have stopped the prompt.
func (o *outsider) stopped() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.halted
}

// endCommands ends what still runs for a prompt that was stopped. The executor itself stays if it
// has said that it stopped. What cannot be ended now ends with the computer.
func (p *prompting) endCommands(ctx context.Context, answered bool) {
	c, _, err := p.desk.computer(ctx, true)
	if err != nil {
		return // there is none that runs
	}
	list, err := c.Processes(ctx)
	if err != nil {
		return
	}
	for _, cmd := range list {
		if cmd.Running && !(answered && cmd.ID == p.process) {
			_ = c.Kill(ctx, cmd.ID)
		}
	}
}

// doing is who changes the home while the prompt is under way, and after.
func (p *prompting) doing() doer {
	if p.over {
		return byNobody()
	}
	return doer{p.seq, event.CausePrompt}
}

// errAnew ends a prompt that the executor must not be told as it is.
var errAnew = errors.New("it is to be told something else")

// say has the executor take the turn.
func (p *prompting) say(stop context.Context, prompt executor.Prompt, before recalled) (turn executor.Turn, err error) {
	p.hosting(p)
	defer p.hosting(nil)
	_, s, err := p.start(stop)
	if stop.Err() != nil {
		return executor.Turn{Stop: event.StopInterrupted}, nil // it was not told yet
	}
	if err != nil {
		return turn, fmt.Errorf("the executor %s cannot be used: %w", p.pin, err)
	}
	prompt.After = before.at
	prompt.Begin = func(ctx context.Context, process string) error {
		switch {
		case s.How == event.SessionNew && p.first > 0:
			return errAnew // it knows nothing of what came before: the next prompt begins there
		case s.How != event.SessionNew && before.process != "" && before.process != process:
			// The session has heard this one, and the process that was about to answer is gone:
			// it is told to go on.
			return errAnew
		}
		return p.begins(s, process, before)
	}
	turn, err = p.exec.Prompt(stop, prompt)
	if errors.Is(err, errAnew) {
		return executor.Turn{Stop: event.StopInterrupted, Frames: turn.Frames}, nil
	}
	return turn, err
}

// begins records that a process is about to be told. What the ledger does not have, nobody is
// told.
func (p *prompting) begins(s executor.Session, process string, before recalled) error {
	if before.process == process {
		return nil // it is recorded, and the crash came before the first byte
	}
	b := &event.PromptBegun{Call: p.seq, Process: process, Session: AtMost(p.l.rt.Redact(s.ID), maxSession)}
	if err := p.l.mail.record(p.l.work, p.desk.draft(p.seq, b)); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told != process {
		return errAnew // the quest has come to rest, say
	}
	return nil
}

// stops are the reasons for which a turn ends.
var stops = []string{event.StopEnd, event.StopTokens, event.StopRequests, event.StopRefusal, event.StopCancelled, event.StopInterrupted}

// result packs what came of a prompt.
func (p *prompting) result(ctx context.Context, turn executor.Turn, failed error) (event.Draft, error) {
	l := p.l
	clean := func(s string) event.Text { return event.Text{Text: Clean(l.rt.Redact(s))} }
	b := &event.PromptResult{Call: p.seq, Text: clean(turn.Text), Thought: clean(turn.Thought), Stop: turn.Stop}
	if !slices.Contains(stops, b.Stop) {
		b.Stop = ""
		if failed == nil {
			failed = errors.New("the executor gave no reason for its end that the protocol has")
		}
	}
	if failed != nil {
		b.Stop = ""
		b.Error.Text = AtMost(l.rt.Redact(failed.Error()), 2000)
		if errors.Is(failed, executor.ErrMemory) {
			b.Ended = event.ErrorMemory
		}
	}
	t := &texts{rt: l.rt}
	if _, err := t.fit(p.tab.after(ctx), b, []*event.Text{&b.Text, &b.Thought}); err != nil {
		return event.Draft{}, err
	}
	if len(turn.Frames) > 0 {
		ref, err := t.put(p.tab.on(ctx), []byte(l.rt.Redact(string(turn.Frames))))
		if full, _ := unkept(err); full == nil { // or there is no room: then it is only told
			if err != nil {
				return event.Draft{}, err
			}
			b.Frames = &ref
		}
	}
	d := p.desk.draft(p.seq, b)
	d.Blobs, b.Duration = t.small, int64(max(d.Time-p.begun, 0))
	return d, nil
}
