package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"lyceum/internal/acp/wire"
	"lyceum/internal/computer"
	"lyceum/internal/event"
)

// Prompt implements Executor.
func (e *executor) Prompt(ctx context.Context, prompt Prompt) (Turn, error) {
	if !e.turn.TryLock() {
		return Turn{}, ErrBusy
	}
	defer e.turn.Unlock()
	p := e.current()
	if p == nil || p.opened == nil {
		return Turn{}, errReady
	}
	before, t, err := e.recover(ctx, p, prompt)
	if err != nil || t != nil {
		if t == nil {
			t = &Turn{}
		}
		return *t, err
	}
	why := p.tell(ctx, prompt)
	switch {
	case why == nil:
		why = p.attend(ctx, prompt.Seq)
	case p.told(prompt.Seq): // and may have ended of it
	case ctx.Err() != nil && e.ctx.Err() == nil && p.ctx.Err() == nil:
		return Turn{Stop: event.StopInterrupted, Frames: before}, nil
	default:
		return Turn{Frames: before}, why
	}
	if e.ctx.Err() != nil {
		return Turn{}, e.ctx.Err() // it goes on without us
	}
	if why != nil {
		p.end(why)
	}
	frames, err := p.frames(e.ctx)
	if err != nil {
		return Turn{}, errors.Join(why, err)
	}
	p.mu.Lock()
	turn, err := p.d.turn()
	p.mu.Unlock()
	turn.Frames = append(before, frames...)
	if errors.Is(err, errNoAnswer) && why != nil {
		err = p.complaints.Explain(why)
	}
	return turn, err
}

// recover looks at the process before this one, which is over. If the prompt was said to it, what
// it reported is told; if it answered, that is the turn.
func (e *executor) recover(ctx context.Context, p *process, prompt Prompt) (frames []byte, t *Turn, err error) {
	e.mu.Lock()
	old := e.old
	e.mu.Unlock()
	if old == nil {
		j, err := openJournal(e.Journal + ".old")
		if j == nil {
			return nil, nil, err
		}
		old = &process{e: e, number: j.process, id: e.name(j.process), journal: j, place: math.MaxInt64}
		e.mu.Lock()
		e.old = old
		e.mu.Unlock()
	}
	old.base, old.place = (old.number-1)*ProcessSpan, math.MaxInt64
	if old.journal.prompt == nil || old.journal.prompt.id != promptID(prompt.Seq) {
		return nil, nil, nil
	}
	frames, err = old.frames(ctx)
	if errors.Is(err, computer.ErrUnknown) {
		return nil, nil, nil // nothing of it is left
	}
	if err != nil {
		return nil, nil, err
	}
	bodies, turn, err := Derive(frames)
	if errors.Is(err, errNoAnswer) {
		var d deriver
		_ = d.follow(frames)
		bodies = append(bodies, d.rest()...)
	}
	p.mu.Lock()
	told := p.asked[promptID(prompt.Seq)]
	p.mu.Unlock()
	for _, b := range bodies {
		if _, ok := b.(*event.PermissionAsked); ok || placeOf(b) <= prompt.After {
			continue // nobody waits for the answer
		}
		if err := e.Host.Report(ctx, b); err != nil {
			return nil, nil, err
		}
	}
	if errors.Is(err, errNoAnswer) || told {
		return frames, nil, nil
	}
	turn.Frames = frames
	return nil, &turn, err
}

// follow goes through frames.
func (d *deriver) follow(frames []byte) error {
	for line := range bytes.Lines(frames) {
		who, at, text, err := parseFrame(bytes.TrimSuffix(line, []byte{'\n'}))
		if err != nil {
			return err
		}
		if who == '>' {
			d.sent(parseSent(text))
		} else {
			d.received(at, wire.Parse(text))
		}
	}
	return nil
}

// tell says a prompt, unless the process was told. One before it that nobody wants any more is
// ended first.
func (p *process) tell(ctx context.Context, prompt Prompt) error {
	id := promptID(prompt.Seq)
	p.mu.Lock()
	asked := p.asked[id]
	p.mu.Unlock()
	if asked {
		last := p.journal.prompt
		if last == nil || last.id != id {
			return fmt.Errorf("the prompt %d was said before, and another after it", prompt.Seq)
		}
		p.mu.Lock()
		p.after, p.reports, p.spent = prompt.After, 0, 0
		p.mu.Unlock()
		p.pass()
		return nil
	}
	p.pass()
	if err := p.quiet(ctx); err != nil {
		return err
	}
	if prompt.Begin != nil {
		if err := prompt.Begin(ctx, p.id); err != nil {
			return err
		}
	}
	params, err := wire.Encode(map[string]any{"sessionId": p.opened.ID, "prompt": blocks(prompt)})
	if err != nil {
		return err
	}
	out := wire.Outgoing{ID: json.RawMessage(`"` + id + `"`), Method: methodPrompt, Params: params}
	return p.send(out, sent{id: id, method: methodPrompt, session: p.opened.ID}, func(r record) {
		p.asked[id] = true
		p.mark.Store(p.place)
		p.after, p.reports, p.spent, p.heard = prompt.After, 0, 0, now()
	})
}

// told reports whether a prompt is the last that the process was told, in part at least.
func (p *process) told(seq uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.journal.prompt != nil && p.journal.prompt.id == promptID(seq)
}

// pass lets the reader go on behind the last prompt of the journal.
func (p *process) pass() {
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

// quiet waits until the process is at work on nothing. What an earlier Lyceum began there, and
// nobody wants any more, is ended.
func (p *process) quiet(ctx context.Context) error {
	if last := p.journal.prompt; last != nil {
		p.mu.Lock()
		_, answered := p.answers[last.id]
		p.mu.Unlock()
		if !answered {
			short, cancel := context.WithTimeout(ctx, p.e.Times.Grace)
			defer cancel()
			if err := p.stopped(short, last.id); err != nil {
				if ctx.Err() != nil || p.ctx.Err() != nil {
					return err
				}
				why := fmt.Errorf("the agent is at work on the prompt before, and did not stop within %v", p.e.Times.Grace)
				p.end(why)
				return fmt.Errorf("%w: %w", ErrEnded, why)
			}
		}
	}
	return p.caughtUp(ctx)
}

// caughtUp waits until all of the journal has had its place in the conversation: what is sent
// then comes behind it.
func (p *process) caughtUp(ctx context.Context) error {
	select {
	case <-p.caught:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}

// cancel tells the process to stop, once, and takes back what it waits to be allowed.
func (p *process) cancel(ctx context.Context) error {
	if err := p.caughtUp(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	told := p.d.cancelled || !p.d.open
	session := p.d.session
	p.mu.Unlock()
	if !told {
		params, err := wire.Encode(map[string]string{"sessionId": session})
		if err != nil {
			return err
		}
		if err := p.send(wire.Outgoing{Method: methodCancel, Params: params}, sent{method: methodCancel}, nil); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.working {
		if w.permission {
			w.cancel()
		}
	}
	return nil
}

// stopped tells the process to stop, and waits for the answer to what it is at work on.
func (p *process) stopped(ctx context.Context, id string) error {
	// A process that reads nothing keeps whoever writes to it longer than it is waited for.
	go func() { _ = p.cancel(ctx) }()
	_, err := p.await(ctx, id)
	return err
}

// attend waits until the prompt is answered. When ctx ends, the process is told to stop. The
// error says why there is no answer, and the process is to be ended.
func (p *process) attend(ctx context.Context, seq uint64) error {
	for {
		p.mu.Lock()
		if len(p.working) > 0 || p.e.Busy != nil && p.e.Busy() {
			p.heard = now()
		}
		left := p.e.Times.Silence - now().Sub(p.heard)
		p.mu.Unlock()
		if left <= 0 {
			return fmt.Errorf("the agent said nothing for %v, and waited for nothing", p.e.Times.Silence)
		}
		short, cancel := context.WithTimeout(ctx, left)
		_, err := p.await(short, promptID(seq))
		cancel()
		switch {
		case err == nil:
			return nil
		case p.ctx.Err() != nil || p.e.ctx.Err() != nil:
			_, err = p.await(context.WithoutCancel(ctx), promptID(seq))
			return err
		case ctx.Err() != nil:
			return p.interrupt(seq)
		}
	}
}

// interrupt has the process stop, and tells why it has to be ended.
func (p *process) interrupt(seq uint64) error {
	ctx, cancel := context.WithTimeout(p.ctx, p.e.Times.Grace)
	defer cancel()
	err := p.stopped(ctx, promptID(seq))
	if err == nil || p.ctx.Err() != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// It is, as far as anybody will know.
	p.d.cancelled = true
	return fmt.Errorf("the agent was told to stop, and did not within %v", p.e.Times.Grace)
}

// frames are the lines of both sides from the last prompt on, up to its answer, or as far as the
// output was taken in.
func (p *process) frames(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	until, first, size := p.place, p.journal.prompt, p.journal.size
	p.mu.Unlock()
	type pending struct {
		at   int64
		line []byte
	}
	var records []pending
	if err := p.journal.each(first.offset, size, func(at int64, line []byte) error {
		records = append(records, pending{at, bytes.Clone(line)})
		return nil
	}); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	flush := func(end int64) {
		for len(records) > 0 && records[0].at < end {
			out.Write(frame('>', p.base+records[0].at, bare(records[0].line)))
			records = records[1:]
		}
	}
	lines := wire.NewLines(io.LimitReader(&section{p, ctx, first.at, until}, maxUpdates+maxLine), maxLine)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, wire.ErrTooLong) {
			break
		}
		if err != nil {
			return nil, err
		}
		end := first.at + lines.Place()
		flush(end)
		out.Write(frame('<', p.base+end, line))
		if m := wire.Parse(line); m.Method == "" && string(m.ID) == `"`+first.id+`"` {
			return out.Bytes(), nil
		}
	}
	flush(math.MaxInt64)
	return out.Bytes(), nil
}

// section is a piece of a process's output.
type section struct {
	p         *process
	ctx       context.Context
	at, until int64
}

// Read implements io.Reader.
func (s *section) Read(b []byte) (int, error) {
	if s.at >= s.until {
		return 0, io.EOF
	}
	n, err := s.p.e.Computer.ReadAt(s.ctx, s.p.id, computer.Stdout, s.at, b[:min(int64(len(b)), s.until-s.at)])
	s.at += int64(n)
	return n, err
}
