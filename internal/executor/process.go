package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/acp/wire"
	"lyceum/internal/computer"
	"lyceum/internal/event"
)

// ProcessSpan is how far the places of one process are from those of the next.
const ProcessSpan = 1 << 36

// Bounds of what a process may do.
const (
	// maxUpdates is how many bytes it may write in a prompt, and between two.
	maxUpdates = 64 << 20
	// maxAnswers is how many bytes it is answered in a prompt.
	maxAnswers = 64 << 20
	// maxReports is how many events come of a prompt.
	maxReports = 10_000
	// maxRequests is how many of its requests are worked on at the same time.
	maxRequests = 64
	// maxFaults is how many lines of it may be no messages, or answers to nothing.
	maxFaults = 100
)

// process is one process of an agent, and the connection to it.
//
// One goroutine reads what it writes, in order, and is the only one that reports. Requests are
// worked on by goroutines of their own. Whoever sends a line holds writing. mu guards what is
// below it.
type process struct {
	e      *executor
	id     string
	number int64
	base   int64 // the place of its first byte

	ctx   context.Context
	stop  context.CancelCauseFunc
	over  chan struct{} // closed when nothing of it goes on any more
	works sync.WaitGroup
	// complaints are what it writes to its standard error.
	complaints *computer.Complaints

	// mark is the place in its output from which its updates are counted.
	mark atomic.Int64
	// gate is closed when the last prompt of the journal is asked for; caught when all of the
	// journal has had its place in the conversation.
	gate, caught chan struct{}

	writing sync.Mutex
	journal *journal
	files   sync.Mutex // held while a file is written

	// greeted and opened are what Ready and Open have found; only they look at them.
	greeted *greeting
	opened  *session

	mu      sync.Mutex
	changed chan struct{} // closed when something below has changed
	place   int64         // how far its output was taken in
	d       deriver
	asked   map[string]bool         // our requests
	answers map[string]wire.Message // and what came
	// answered are the places of answers in the journal that no request had yet, by its id.
	answered map[string][]int64
	working  map[string]*work
	limits   map[string]int // of the output of terminals
	// after is the place up to which all of the prompt is known, MaxInt64 if nobody wants it.
	after int64
	// heard is when the last line came; spent how many bytes it was answered in the prompt, reports
	// how many events came of it, faults what was wrong.
	heard           time.Time
	spent           int64
	reports, faults int
}

// work is a request of the agent that is worked on; permission says that somebody has to decide
// about it.
type work struct {
	cancel     context.CancelFunc
	permission bool
}

func newProcess(e *executor, j *journal) *process {
	p := &process{
		e: e, id: e.name(j.process), number: j.process, base: (j.process - 1) * ProcessSpan, journal: j,
		over: make(chan struct{}), gate: make(chan struct{}), caught: make(chan struct{}),
		changed: make(chan struct{}), asked: map[string]bool{}, answers: map[string]wire.Message{}, answered: map[string][]int64{},
		working: map[string]*work{}, limits: map[string]int{}, after: math.MaxInt64, heard: now(),
	}
	p.ctx, p.stop = context.WithCancelCause(e.ctx)
	for _, r := range j.records {
		if r.answer {
			p.answered[r.id] = append(p.answered[r.id], r.at)
		} else if r.id != "" {
			p.asked[r.id] = true
		}
	}
	return p
}

// begin reads, from the first byte on, and gives the process what of the journal it was not given.
func (p *process) begin() {
	p.complaints = p.e.Computer.Complaints(p.ctx, p.id)
	go func() {
		defer close(p.over)
		err := p.read()
		p.stop(err)
		p.works.Wait()
		<-p.complaints.Over()
		if p.e.ctx.Err() != nil {
			_ = p.journal.close() // nobody comes any more
		}
	}()
	if len(p.journal.records) == 0 {
		return
	}
	p.writing.Lock()
	p.works.Go(func() {
		defer p.writing.Unlock()
		if err := p.rest(); err != nil {
			p.stop(err)
		}
	})
}

// wait waits until nothing of the process goes on.
func (p *process) wait() { <-p.over }

// rest gives the process what it was not given of the journal, by a Lyceum that was killed.
func (p *process) rest() error {
	taken, err := p.e.Computer.WriteAt(p.ctx, p.id, 0, nil, false)
	if err != nil {
		return fmt.Errorf("ask how much the agent was told: %w", err)
	}
	given := int64(0)
	return p.journal.each(p.journal.records[0].offset, p.journal.size, func(_ int64, line []byte) error {
		begin := given
		given += int64(len(line)) + 1
		if given <= taken {
			return nil
		}
		_, err := p.e.Computer.WriteAt(p.ctx, p.id, begin, append(line, '\n'), false)
		return err
	})
}

// output reads what the process writes, as far as it may go.
type output struct {
	p     *process
	place int64
}

// Read implements io.Reader.
func (o *output) Read(b []byte) (int, error) {
	if o.place-o.p.mark.Load() > maxUpdates {
		return 0, fmt.Errorf("the agent wrote more than %d MiB for one prompt, or without any", maxUpdates>>20)
	}
	if o.place > ProcessSpan/2 {
		return 0, fmt.Errorf("the agent has written %d bytes, more than one process may", o.place)
	}
	n, err := o.p.e.Computer.ReadAt(o.p.ctx, o.p.id, computer.Stdout, o.place, b)
	o.place += int64(n)
	return n, err
}

// read takes what the process writes, until it ends or must end. The error says why.
func (p *process) read() error {
	records := p.journal.records
	if err := p.recall(&records); err != nil {
		return err
	}
	lines := wire.NewLines(&output{p: p}, maxLine)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			err = p.ended()
		case errors.Is(err, wire.ErrTooLong):
			err = fmt.Errorf("the agent wrote a line of more than %d MiB", maxLine>>20)
		case err == nil:
			if err = p.take(lines.Place(), wire.Parse(line)); err == nil {
				err = p.recall(&records)
			}
		}
		if err != nil {
			p.kill(err)
			return err
		}
	}
}

// ended is the error of a process that is not there any more.
func (p *process) ended() error {
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	ctx, cancel := context.WithTimeout(p.ctx, endTime)
	defer cancel()
	r, err := p.e.Computer.Wait(ctx, p.id)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrEnded, err)
	case r.End == computer.EndMemory:
		return ErrMemory
	case r.End != "":
		return fmt.Errorf("%w: it was ended (%s)", ErrEnded, r.End)
	case r.Signal != "":
		return fmt.Errorf("%w, by the signal %s", ErrEnded, r.Signal)
	}
	return fmt.Errorf("%w, with the exit code %d", ErrEnded, r.Exit)
}

// kill ends the process and all that it has started, unless it is let go of: then it stays.
func (p *process) kill(why error) {
	p.stop(why)
	if p.e.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), endTime)
	defer cancel()
	// What cannot be killed now is when the next one comes.
	if known, err := p.e.commands(ctx); err == nil {
		_ = p.e.killAll(ctx, known)
	}
}

// end kills the process and waits until nothing of it goes on.
func (p *process) end(why error) {
	p.kill(why)
	p.wait()
}

// stir tells whoever waits that something has changed. mu is held.
func (p *process) stir() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// recall has records of the journal take their place in the conversation, those that were sent
// when so much of the output was read. At the last prompt it waits until somebody asks for it.
func (p *process) recall(records *[]record) error {
	for len(*records) > 0 && (*records)[0].at <= p.place {
		r := (*records)[0]
		if r.method == methodPrompt {
			p.mark.Store(r.at)
			if last := p.journal.prompt; last != nil && r.offset == last.offset {
				select {
				case <-p.gate:
				case <-p.ctx.Done():
					return context.Cause(p.ctx)
				}
			}
		}
		p.mu.Lock()
		p.d.sent(r.sent)
		p.mu.Unlock()
		*records = (*records)[1:]
	}
	if len(*records) == 0 {
		select {
		case <-p.caught:
		default:
			close(p.caught)
		}
	}
	return nil
}

// take takes in a line that ends at a place of the output.
func (p *process) take(end int64, m wire.Message) error {
	p.mu.Lock()
	at := p.base + end
	bodies, said := p.d.received(at, m)
	wanted := at > p.after
	p.place, p.heard = end, now()
	p.mu.Unlock()
	if wanted && said.text != "" {
		p.e.Host.Live(said.kind, said.text)
	}
	var permission *event.PermissionAsked
	for _, b := range bodies {
		if asked, ok := b.(*event.PermissionAsked); ok {
			permission = asked
		} else if err := p.report(b); err != nil {
			return err
		}
	}
	switch {
	case m.Fault != "":
		return p.fault(end, m)
	case m.Method == "":
		return p.answer(end, m)
	case m.ID != nil:
		return p.request(end, m, permission)
	case m.Method == methodTakenBack:
		p.takenBack(m.Params)
	}
	p.mu.Lock()
	p.stir()
	p.mu.Unlock()
	return nil
}

// report tells the host, unless it knows.
func (p *process) report(b event.Body) error {
	p.mu.Lock()
	known := placeOf(b) <= p.after
	p.reports++
	many := p.reports > maxReports
	p.mu.Unlock()
	switch {
	case known:
		return nil
	case many:
		return fmt.Errorf("the agent reported more than %d things in one prompt", maxReports)
	}
	return p.e.Host.Report(p.ctx, b)
}

// fault counts what is wrong with the process. What has an id is answered.
func (p *process) fault(end int64, m wire.Message) error {
	p.mu.Lock()
	p.faults++
	many := p.faults > maxFaults
	done := p.had(m.ID, end)
	p.mu.Unlock()
	if many {
		return fmt.Errorf("the agent wrote %d lines that are no messages, or answers to nothing: it does not speak the protocol; the last: %s", maxFaults+1, m.Fault)
	}
	if m.ID != nil && m.Method != "" && !done {
		return p.reply(m.ID, nil, wire.Errorf(wire.InvalidRequest, "%s", m.Fault))
	}
	return nil
}

// answer takes an answer to a request of ours.
func (p *process) answer(end int64, m wire.Message) error {
	var id string
	_ = json.Unmarshal(m.ID, &id)
	p.mu.Lock()
	_, twice := p.answers[id]
	ok := p.asked[id] && !twice
	if ok {
		p.answers[id] = m
		p.mark.Store(p.place)
	}
	p.stir()
	p.mu.Unlock()
	if !ok {
		return p.fault(end, wire.Message{Fault: fmt.Sprintf("an answer to %.40s, which was not asked or has its answer", m.ID)})
	}
	return nil
}

// takenBack ends the work of a request.
func (p *process) takenBack(params []byte) {
	var r struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &r) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.working[string(r.RequestID)]; w != nil {
		w.cancel()
	}
}

// had reports whether the journal has an answer to a request, which is then used up. mu is held.
func (p *process) had(id json.RawMessage, end int64) bool {
	given := p.answered[string(id)]
	for len(given) > 0 && given[0] < end {
		given = given[1:]
	}
	if len(given) == 0 {
		return false
	}
	p.answered[string(id)] = given[1:]
	return true
}

// request begins to work on a request of the agent's, unless the journal has its answer.
func (p *process) request(end int64, m wire.Message, asked *event.PermissionAsked) error {
	id := string(m.ID)
	p.prepare(end, m)
	p.mu.Lock()
	if p.had(m.ID, end) {
		p.released(m)
		p.mu.Unlock()
		return nil
	}
	_, twice := p.working[id]
	full := len(p.working) >= maxRequests
	w := &work{permission: m.Method == methodPermission || m.Method == methodElicit}
	ctx, cancel := context.WithCancel(p.ctx)
	w.cancel = cancel
	if !twice && !full {
		p.working[id] = w
	}
	p.mu.Unlock()
	switch {
	case twice:
		cancel()
		return p.fault(end, wire.Message{ID: m.ID, Method: m.Method, Fault: fmt.Sprintf("the request %.40s is still being worked on: give each its own id", id)})
	case full:
		cancel()
		return p.reply(m.ID, nil, wire.Errorf(wire.InvalidRequest, "%d requests are being worked on already: wait for their answers", maxRequests))
	}
	p.works.Go(func() {
		result, err := p.serve(ctx, end, m, asked)
		cancel()
		p.mu.Lock()
		delete(p.working, id)
		p.heard = now()
		p.stir()
		p.mu.Unlock()
		if errors.Is(err, errUnanswered) {
			return
		}
		if err := p.reply(m.ID, result, err); err != nil {
			p.stop(err) // what it does not hear it waits for
		}
	})
	return nil
}
