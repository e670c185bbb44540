package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lyceum/internal/acp/wire"
	"lyceum/internal/plain"
)

// What is said to a process: answers to its requests, and requests of ours.

// reply answers a request. Who is let go of, or has ended, gets no answer.
func (p *process) reply(id json.RawMessage, result any, failed error) error {
	out := wire.Outgoing{ID: id}
	var err error
	if failed == nil {
		out.Result, failed = wire.Encode(result)
	}
	p.mu.Lock()
	if p.spent += int64(len(out.Result)); p.spent > maxAnswers && failed == nil {
		failed = fmt.Errorf("you were given more than %d MiB in this prompt: go on with what you have", maxAnswers>>20)
	}
	p.mu.Unlock()
	if failed != nil {
		out.Result, out.Error = nil, asError(failed)
	}
	s := sent{id: string(id), answer: true}
	if err = p.send(out, s, nil); errors.Is(err, wire.ErrTooLong) {
		err = p.send(wire.Outgoing{ID: id, Error: wire.Errorf(wire.Internal, "the answer is %v", err)}, s, nil)
	}
	if p.ctx.Err() != nil {
		return nil
	}
	return err
}

func asError(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return wire.Errorf(wire.Cancelled, "the request was taken back")
	}
	return wire.Errorf(wire.Internal, "%s", plain.Cut(err.Error(), 2000))
}

// send writes a line: into the journal, then to the process. then is called between the two, and
// with mu held.
func (p *process) send(out wire.Outgoing, s sent, then func(record)) error {
	out.Version = "2.0"
	line, err := json.Marshal(out)
	if err != nil {
		return err
	}
	if len(line) > maxLine {
		return fmt.Errorf("%w: %d bytes, and at most %d are sent", wire.ErrTooLong, len(line), maxLine)
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	p.mu.Lock()
	r, err := p.journal.append(p.place, line, s)
	if err == nil {
		p.d.sent(s)
		if then != nil {
			then(r)
		}
	}
	p.mu.Unlock()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(p.ctx, writeTime, errors.New("the agent does not read what it is told"))
	defer cancel()
	if _, err := p.e.Computer.WriteAt(ctx, p.id, r.given, append(line, '\n'), false); err != nil {
		if err = fmt.Errorf("tell the agent something: %w", err); ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return p.lost(err)
	}
	return nil
}

// lost is the error of a process that takes nothing any more, and is ended. If it has ended, the
// reader finds out how.
func (p *process) lost(err error) error {
	select {
	case <-p.ctx.Done():
	case <-time.After(time.Second):
		p.stop(err)
	}
	return context.Cause(p.ctx)
}

// call asks the process something by a name, and waits for its answer. What was asked before is
// not asked again.
func (p *process) call(ctx context.Context, id, method string, params, result any) error {
	p.mu.Lock()
	asked := p.asked[id]
	p.mu.Unlock()
	if !asked {
		if err := p.ask(id, method, params); err != nil {
			return err
		}
	}
	m, err := p.await(ctx, id)
	if err != nil {
		return err
	}
	if m.Err != nil {
		return m.Err
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("read the agent's answer to %s: %w", method, err)
	}
	return nil
}

// ask writes a request.
func (p *process) ask(id, method string, params any) error {
	data, err := wire.Encode(params)
	if err != nil {
		return err
	}
	out := wire.Outgoing{ID: json.RawMessage(strconv.Quote(id)), Method: method, Params: data}
	return p.send(out, parseSent(mustLine(out)), func(record) { p.asked[id] = true })
}

// mustLine is a message as parseSent reads it.
func mustLine(out wire.Outgoing) []byte {
	out.Version = "2.0"
	line, _ := json.Marshal(out)
	return line
}

// await waits for the answer to a request.
func (p *process) await(ctx context.Context, id string) (wire.Message, error) {
	for {
		p.mu.Lock()
		m, ok := p.answers[id]
		changed := p.changed
		p.mu.Unlock()
		if ok {
			return m, nil
		}
		select {
		case <-changed:
		case <-p.over:
			// It may have been its last words.
			p.mu.Lock()
			m, ok := p.answers[id]
			p.mu.Unlock()
			if ok {
				return m, nil
			}
			return m, context.Cause(p.ctx)
		case <-ctx.Done():
			return wire.Message{}, ctx.Err()
		}
	}
}
