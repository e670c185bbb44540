package runtime

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"lyceum/internal/computer"
	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// A recorder is a computer as one tool call sees it, or whoever else runs a command. It
// does what the tool asks for and writes down what happened: what a short command did
// comes with the call's result, so that it costs one flush; of a long one the ledger
// hears while it runs.
type recorder struct {
	*machine
	call   uint64
	prompt uint64 // the executor's that it is for, instead of a call

	mu     sync.Mutex
	drafts []event.Draft // not told yet
	used   bool
}

// How often the ledger hears of a command that goes on, and how much of it at most.
const (
	firstNews = time.Second
	newsEvery = 2 * time.Second
	maxNews   = 100
	newsLines = 200
)

// note keeps what happened until it is told.
func (r *recorder) note(d event.Draft) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drafts = append(r.drafts, d)
}

// take hands over what was not told yet.
func (r *recorder) take() []event.Draft {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.drafts
	r.drafts = nil
	return out
}

func (r *recorder) open(ctx context.Context) (*computer.Computer, error) {
	c, started, err := r.computer(ctx, false)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.used = true
	r.mu.Unlock()
	if started != nil {
		r.note(r.draft(r.call, started))
	}
	return c, nil
}

// begun is the event that a command begins.
func (r *recorder) begun(ctx context.Context, cmd computer.Command) (event.Draft, error) {
	args, err := json.Marshal(cmd.Args)
	if err != nil {
		return event.Draft{}, err
	}
	t := &texts{rt: r.l.rt}
	text, err := t.of(ctx, string(args), maxInline)
	if err != nil {
		return event.Draft{}, err
	}
	d := r.draft(r.call, &event.CliRun{
		Args: text, Call: r.call, Prompt: r.prompt, Command: cmd.ID, Dir: AtMost(cmd.Dir, 1000), Keep: cmd.Keep, Timeout: cmd.Timeout.Microseconds(),
	})
	d.Blobs = t.small
	return d, nil
}

// Run implements tool.Computer.
func (r *recorder) Run(ctx context.Context, cmd computer.Command) (*computer.Result, error) {
	c, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Start(ctx, cmd); err != nil {
		return nil, err
	}
	run, err := r.begun(ctx, cmd)
	if err != nil {
		return nil, err
	}
	r.note(run)
	f := &follower{machine: r.machine, c: c, call: r.call, id: cmd.ID, news: firstNews, tell: func(ds ...event.Draft) {
		r.l.mail.put(append(r.take(), ds...)...)
	}}
	res, err := f.follow(ctx)
	if ctx.Err() != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = c.Kill(last, cmd.ID)
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	ds, err := f.exit(ctx, res)
	for _, d := range ds {
		r.note(d)
	}
	return res, err
}

// Start implements tool.Computer. That the command begins is durable before it does:
// whatever then becomes of Lyceum, the next one knows what to look for.
func (r *recorder) Start(ctx context.Context, cmd computer.Command) error {
	c, err := r.open(ctx)
	if err != nil {
		return err
	}
	run, err := r.begun(ctx, cmd)
	if err != nil {
		return err
	}
	if err := r.l.mail.record(ctx, append(r.take(), run)...); err != nil {
		return err
	}
	f := &follower{machine: r.machine, c: c, call: r.call, id: cmd.ID, news: newsEvery, tell: r.l.mail.put}
	if err := c.Start(ctx, cmd); err != nil {
		r.l.mail.put(r.draft(r.call, &event.CliExit{Call: r.call, Command: cmd.ID, Exit: 127, Fingerprint: r.fingerprint()}))
		return err
	}
	r.l.followAside(f)
	return nil
}

// Wait implements tool.Computer.
func (r *recorder) Wait(ctx context.Context, id string) (*computer.Result, error) {
	if persons(id) {
		return nil, computer.ErrUnknown
	}
	c, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	return c.Wait(ctx, id)
}

// Processes implements tool.Computer.
func (r *recorder) Processes(ctx context.Context) ([]computer.Process, error) {
	c, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := c.Processes(ctx)
	return slices.DeleteFunc(list, func(p computer.Process) bool { return persons(p.ID) }), err
}

// persons reports whether a command is a person's terminal, the program of an MCP server or
// the executor that the agent is, which is none of the agent's business.
func persons(id string) bool {
	return strings.HasPrefix(id, ShellPrefix) || strings.HasPrefix(id, ServerPrefix) || strings.HasPrefix(id, ExecutorPrefix)
}

// Read implements tool.Computer.
func (r *recorder) Read(ctx context.Context, id string, from int64, most int) (*computer.Lines, error) {
	if persons(id) {
		return nil, computer.ErrUnknown
	}
	c, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	return c.Read(ctx, id, from, most)
}

// Write implements tool.Computer.
func (r *recorder) Write(ctx context.Context, id string, data []byte, end bool) error {
	if persons(id) {
		return computer.ErrUnknown
	}
	c, err := r.open(ctx)
	if err != nil {
		return err
	}
	return c.Write(ctx, id, data, end)
}

// Kill implements tool.Computer.
func (r *recorder) Kill(ctx context.Context, id string) error {
	if persons(id) {
		return computer.ErrUnknown
	}
	c, err := r.open(ctx)
	if err != nil {
		return err
	}
	return c.Kill(ctx, id)
}

// A follower waits for a command and tells the ledger what it writes.
type follower struct {
	*machine
	c    *computer.Computer
	call uint64
	id   string
	news time.Duration // until the first news of it
	tell func(...event.Draft)
	// quiet leaves what it writes to whoever speaks with it, but for short complaints.
	quiet bool

	next int64    // the line to read next
	told [2]int64 // bytes of each stream that were told
	sent int      // how often
}

// follow returns the result of the command, which goes on if ctx ends.
func (f *follower) follow(ctx context.Context) (*computer.Result, error) {
	if f.quiet {
		return f.c.Wait(ctx, f.id)
	}
	f.next = 1
	for wait := f.news; ; wait = newsEvery {
		short, cancel := context.WithTimeout(ctx, wait)
		res, err := f.c.Wait(short, f.id)
		cancel()
		if err == nil || !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return res, err
		}
		if err := f.progress(ctx); err != nil {
			return nil, err
		}
	}
}

// progress tells what the command has written since, up to a limit: the end brings
// the whole.
func (f *follower) progress(ctx context.Context) error {
	if f.sent >= maxNews {
		return nil
	}
	lines, err := f.c.Read(ctx, f.id, f.next, newsLines)
	if err != nil {
		return err
	}
	f.next = lines.Next
	var out [2][]byte
	for _, line := range lines.Lines {
		b := append(out[line.Stream-1], line.Text...)
		if !line.Cut {
			b = append(b, '\n')
		}
		out[line.Stream-1] = b
	}
	drafts := []event.Draft{}
	for i, b := range out {
		if len(b) == 0 {
			continue
		}
		d, err := f.piece(ctx, computer.Stream(i+1), b)
		if err != nil {
			return err
		}
		f.sent++
		drafts = append(drafts, d)
	}
	// Also with nothing to say: that it has begun may not have been told.
	f.tell(drafts...)
	return nil
}

// piece is the event of a piece of output.
func (f *follower) piece(ctx context.Context, s computer.Stream, b []byte) (event.Draft, error) {
	t := &texts{rt: f.l.rt}
	text, err := t.of(ctx, string(b), maxInline)
	from := f.told[s-1]
	f.told[s-1] += int64(len(b))
	var d event.Draft
	if s == computer.Stderr {
		d = f.draft(f.call, &event.CliStderr{Call: f.call, Command: f.id, From: from, Text: text})
	} else {
		d = f.draft(f.call, &event.CliStdout{Call: f.call, Command: f.id, From: from, Text: text})
	}
	d.Blobs = t.small
	return d, err
}

// exit is how a command ended, with what it wrote and was not told yet. What is too
// much for events, or no text, is kept whole as a blob.
func (f *follower) exit(ctx context.Context, res *computer.Result) ([]event.Draft, error) {
	x := &event.CliExit{
		Call: f.call, Command: f.id, Duration: res.Duration.Microseconds(), End: res.End, Exit: int64(res.Exit),
		Fingerprint: f.fingerprint(), Met: res.Met, Signal: AtMost(res.Signal, 20),
	}
	var drafts []event.Draft
	for _, s := range []computer.Stream{computer.Stdout, computer.Stderr} {
		o, into := &res.Stdout, &x.Stdout
		if s == computer.Stderr {
			o, into = &res.Stderr, &x.Stderr
		}
		into.Size = count(o.Size)
		if f.quiet && (s == computer.Stdout || o.Size > maxComplaints) {
			continue
		}
		told := f.told[s-1]
		if o.Whole() && told <= o.Size && utf8.Valid(o.Head) && f.l.rt.Redact(string(o.Head)) == string(o.Head) {
			if rest := o.Head[told:]; len(rest) > 0 {
				d, err := f.piece(ctx, s, rest)
				if err != nil {
					return nil, err
				}
				drafts = append(drafts, d)
			}
			continue
		}
		ref, err := f.keep(ctx, o)
		if err != nil {
			return nil, err
		}
		into.Ref = ref
	}
	return append(drafts, f.draft(f.call, x)), nil
}

// maxComplaints is how much a command of no agent may complain for it to be kept.
const maxComplaints = 1 << 20

// keep stores a whole output as a blob, without secrets, whatever its length; nothing, if
// the agent's storage has no room for it.
func (f *follower) keep(ctx context.Context, o *computer.Output) (*event.Ref, error) {
	in, err := o.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	ref, err := f.l.rt.Blobs.Create(ctx, f.l.rt.Redacting(in))
	if full, _ := unkept(err); full != nil {
		return nil, nil // its size says that there was more
	}
	return &ref, err
}

// Redacting takes secrets out of a stream.
func (r *Runtime) Redacting(in io.Reader) io.Reader {
	secrets := r.secrets()
	if len(secrets) == 0 {
		return in
	}
	longest := 0
	for _, s := range secrets {
		longest = max(longest, len(s))
	}
	return &redactor{rt: r, in: in, overlap: longest}
}

// redactor holds back as much as the longest secret could have begun in.
type redactor struct {
	rt      *Runtime
	in      io.Reader
	overlap int
	held    []byte // read and not looked at to the end
	out     []byte
	err     error
}

func (r *redactor) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		chunk := make([]byte, 64<<10)
		n, err := io.ReadFull(r.in, chunk)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		r.err = err
		b := append(r.held, chunk[:n]...)
		b = []byte(r.rt.Redact(string(b)))
		keep := min(r.overlap, len(b))
		if err != nil {
			keep = 0
		}
		r.out, r.held = b[:len(b)-keep], bytes.Clone(b[len(b)-keep:])
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// followAside follows a command that outlives its call, until it ends or the run
// does.
func (l *live) followAside(f *follower) { l.mail.start(func() { l.followToEnd(f) }) }

func (l *live) followToEnd(f *follower) {
	ctx := l.work
	res, err := f.follow(ctx)
	if ctx.Err() != nil {
		return
	}
	var ds []event.Draft
	switch {
	case err == nil:
		ds, err = f.exitAside(ctx, res)
	case errors.Is(err, computer.ErrUnknown), errors.Is(err, computer.ErrStopped):
		ds, err = []event.Draft{f.draft(f.call, lostCommand(f.call, f.id))}, nil
	}
	if err != nil {
		if ctx.Err() == nil {
			l.failed(0, err)
		}
		return
	}
	l.mail.put(ds...)
}

// exitAside is exit for a command that outlived its call: what is stored for it, no call
// counts.
func (f *follower) exitAside(ctx context.Context, res *computer.Result) ([]event.Draft, error) {
	tab := f.l.storage.tab(f.payer())
	ds, err := f.exit(tab.on(ctx), res)
	if err != nil {
		return nil, err
	}
	for _, d := range ds {
		tab.small(d.Blobs)
	}
	ds[len(ds)-1].Body.(*event.CliExit).Stored = tab.taken()
	return ds, nil
}

// payer is whose storage it is that what happens in the computer takes.
func (m *machine) payer() string {
	if m.owned {
		return nobody
	}
	return m.actor
}

// lostCommand is the end of a command of which nobody can tell how it ended.
func lostCommand(call uint64, id string) *event.CliExit {
	return &event.CliExit{Call: call, Command: id, Exit: -1, End: "lost"}
}
