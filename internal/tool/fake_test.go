package tool

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/computer"
)

// fake is a computer whose commands do what the test says.
type fake struct {
	mu sync.Mutex
	// begin is told of each command that is run or started.
	begin func(c *fakeCommand)
	known []*fakeCommand
	// broken is what everything answers, if it is set.
	broken error
	// stuck commands take no input, and do not die.
	stuck bool
}

type fakeCommand struct {
	on *fake
	computer.Command
	log     []computer.Line
	partial map[computer.Stream][]byte
	result  computer.Result
	done    chan struct{}
	input   bytes.Buffer
	closed  bool
}

// prints adds lines to the command's log.
func (c *fakeCommand) prints(s computer.Stream, lines ...string) {
	c.on.mu.Lock()
	defer c.on.mu.Unlock()
	for _, l := range lines {
		c.log = append(c.log, computer.Line{Seq: int64(len(c.log)) + 1, Stream: s, Text: []byte(l)})
	}
}

// ends ends the command, once.
func (c *fakeCommand) ends(r computer.Result) {
	c.on.mu.Lock()
	defer c.on.mu.Unlock()
	select {
	case <-c.done:
	default:
		r.ID, c.result = c.ID, r
		close(c.done)
	}
}

func (c *fakeCommand) process() computer.Process {
	p := computer.Process{ID: c.ID, Args: c.Args, Lines: int64(len(c.log))}
	select {
	case <-c.done:
		p.Exit, p.Signal, p.End = c.result.Exit, c.result.Signal, c.result.End
	default:
		p.Running = true
	}
	return p
}

func (f *fake) add(cmd computer.Command) *fakeCommand {
	c := &fakeCommand{on: f, Command: cmd, done: make(chan struct{}), partial: map[computer.Stream][]byte{}}
	f.mu.Lock()
	f.known = append(f.known, c)
	f.mu.Unlock()
	if f.begin != nil {
		f.begin(c)
	}
	return c
}

func (f *fake) find(id string) (*fakeCommand, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		return nil, f.broken
	}
	i := slices.IndexFunc(f.known, func(c *fakeCommand) bool { return c.ID == id })
	if i < 0 {
		return nil, computer.ErrUnknown
	}
	return f.known[i], nil
}

func (f *fake) Run(ctx context.Context, cmd computer.Command) (*computer.Result, error) {
	if err := f.Start(ctx, cmd); err != nil {
		return nil, err
	}
	return f.Wait(ctx, cmd.ID)
}

func (f *fake) Start(_ context.Context, cmd computer.Command) error {
	if f.broken != nil {
		return f.broken
	}
	f.add(cmd)
	return nil
}

func (f *fake) Wait(ctx context.Context, id string) (*computer.Result, error) {
	c, err := f.find(id)
	if err != nil {
		return nil, err
	}
	select {
	case <-c.done:
		return &c.result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fake) Processes(context.Context) ([]computer.Process, error) {
	if f.broken != nil {
		return nil, f.broken
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []computer.Process
	for i, c := range f.known {
		p := c.process()
		p.Started = time.UnixMilli(int64(i))
		all = append(all, p)
	}
	return all, nil
}

func (f *fake) Read(_ context.Context, id string, from int64, max int) (*computer.Lines, error) {
	c, err := f.find(id)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if from < 0 {
		from += int64(len(c.log)) + 1
	}
	from = min(int64(len(c.log))+1, from)
	if from < 1 {
		from = 1
	}
	l := &computer.Lines{Partial: map[computer.Stream][]byte{}, Process: c.process()}
	l.Lines = c.log[from-1 : min(len(c.log), int(from)-1+max)]
	l.Next = from + int64(len(l.Lines))
	for s, text := range c.partial {
		l.Partial[s] = text
	}
	return l, nil
}

func (f *fake) Write(ctx context.Context, id string, data []byte, end bool) error {
	c, err := f.find(id)
	if err != nil {
		return err
	}
	if f.stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	c.input.Write(data)
	c.closed = c.closed || end
	return nil
}

func (f *fake) Kill(_ context.Context, id string) error {
	c, err := f.find(id)
	if err != nil {
		return err
	}
	if !f.stuck {
		c.ends(computer.Result{Exit: 137, Signal: "SIGKILL", End: computer.EndKilled})
	}
	return nil
}

// use calls a tool on the computer.
func (f *fake) use(t *testing.T, tool, args string) Output {
	t.Helper()
	return Builtin().Run(t.Context(), tool, Call{ID: "c17", Args: []byte(args), Computer: f})
}

// output is what a command wrote, kept as a computer keeps it.
func output(text string) computer.Output {
	o := computer.Output{Head: []byte(text), Size: int64(len(text))}
	if len(text) > computer.MaxHead {
		o.Head, o.Tail = []byte(text[:computer.MaxHead]), []byte(text[max(computer.MaxHead, len(text)-computer.MaxTail):])
	}
	return o
}

// at once makes every command end as it begins.
func atOnce(r computer.Result) *fake {
	return &fake{begin: func(c *fakeCommand) { c.ends(r) }}
}

func contains(t *testing.T, got Output, failed bool, parts ...string) {
	t.Helper()
	if got.Error != failed {
		t.Errorf("error is %v, want %v: %.500s", got.Error, failed, got.Text)
	}
	for _, p := range parts {
		if !strings.Contains(got.Text, p) {
			t.Errorf("%q is not in %.1000q", p, got.Text)
		}
	}
}

func same(t *testing.T, got, want Output) {
	t.Helper()
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
