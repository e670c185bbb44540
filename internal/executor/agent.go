package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/workspace"
)

// Agent is what an Executor is made of.
type Agent struct {
	// Computer is the one that the agent runs in.
	Computer *computer.Computer
	// ID is what the agent's commands are called by in the computer: its processes <ID>-1,
	// <ID>-2, its terminals <ID>-1-t4711. It is the same for every Lyceum that comes to the agent,
	// and short.
	ID string
	// Settings are those of the agent, with all words filled in.
	Settings Settings
	// Journal is the path of a file on the host that is the agent's alone. Another stands beside
	// it, with .old after its name. They are removed by Close.
	Journal string
	// Servers are the MCP servers that a session is given.
	Servers []Server
	Host    Host
	// Asks says that the host answers questions: the agent may ask by a form.
	Asks bool
	// Busy, if set, reports whether the agent waits for something of ours that does not pass here:
	// a model, a tool. Its silence then counts for nothing.
	Busy func() bool
	// Version is that of Lyceum.
	Version string
	Times   Times
}

// Server is an MCP server, at a URL or as a program in the computer.
type Server struct {
	Name string
	URL  string
	// Headers are sent to the URL.
	Headers map[string]string
	// Command are a program and its arguments, Variables are added to its environment.
	Command   []string
	Variables map[string]string
}

// Times are how long things may take. What is zero is as the constants say.
type Times struct {
	// Ready is for Ready, and for Open.
	Ready time.Duration
	// Grace is for an agent that is told to stop.
	Grace time.Duration
	// Silence is for an agent that has a prompt and waits for nothing of us.
	Silence time.Duration
}

// The times of an agent that says no others.
const (
	ReadyTime   = time.Minute
	GraceTime   = 5 * time.Second
	SilenceTime = 15 * time.Minute
	// writeTime is how long an agent may leave its input unread.
	writeTime = 2 * time.Minute
	// endTime is how long a process may take to end that was killed.
	endTime = 10 * time.Second
)

// SettingsDir is where an agent's own settings are, in its home.
const SettingsDir = ".executor"

// ErrEnded says that the agent's process is not there any more. Ready starts another.
var ErrEnded = errors.New("the agent has ended")

// ErrMemory says that its process has ended for want of memory.
var ErrMemory = fmt.Errorf("%w: it was ended (%s)", ErrEnded, computer.EndMemory)

// ErrBusy says that the agent has a prompt already.
var ErrBusy = errors.New("the agent is at work on another prompt: wait until that is over")

// errReady says what comes first.
var errReady = errors.New("the agent is not ready: call Ready, then Open")

// New returns the executor of an agent, which is neither started nor looked for before Ready.
// When ctx ends, it is let go of: the agent goes on without us, and the next one finds it.
func New(ctx context.Context, a Agent) (Executor, error) {
	switch {
	case a.Computer == nil || a.Host == nil || a.Journal == "":
		return nil, errors.New("an executor needs a computer, a host and a journal")
	case !computer.ValidID(a.ID) || len(a.ID) > 24:
		return nil, fmt.Errorf("%q is not what commands of an agent can be called by: take at most 24 letters and digits", a.ID)
	case len(a.Settings.Command) == 0:
		return nil, errors.New("the executor has no command: say which program it is")
	}
	a.Times.Ready = cmp.Or(a.Times.Ready, ReadyTime)
	a.Times.Grace = cmp.Or(a.Times.Grace, GraceTime)
	a.Times.Silence = cmp.Or(a.Times.Silence, SilenceTime)
	return &executor{Agent: a, ctx: ctx}, nil
}

// executor is the one implementation. turn is held by whoever calls one of its methods but
// Close; mu guards what Close looks at, too.
type executor struct {
	Agent
	ctx  context.Context
	turn sync.Mutex

	mu     sync.Mutex
	p      *process
	closed bool
	// old is the process before, which is over; see Prompt.
	old *process
}

// Ready implements Executor.
func (e *executor) Ready(ctx context.Context) (Info, error) {
	if !e.turn.TryLock() {
		return Info{}, ErrBusy
	}
	defer e.turn.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, e.Times.Ready, fmt.Errorf("the agent was not ready within %v", e.Times.Ready))
	defer cancel()
	p, err := e.process(ctx)
	if err != nil {
		return Info{}, err
	}
	info, err := p.greet(ctx)
	if err != nil {
		return Info{}, e.spoiled(ctx, p, err)
	}
	return info, nil
}

// Open implements Executor.
func (e *executor) Open(ctx context.Context, id string) (Session, error) {
	if !e.turn.TryLock() {
		return Session{}, ErrBusy
	}
	defer e.turn.Unlock()
	p := e.current()
	if p == nil || p.greeted == nil {
		return Session{}, errReady
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.Times.Ready, fmt.Errorf("the agent opened no session within %v", e.Times.Ready))
	defer cancel()
	s, err := p.open(ctx, id)
	if err != nil {
		return Session{}, e.spoiled(ctx, p, err)
	}
	return s, nil
}

// spoiled ends a process that could not be made ready, so that the next try has a new one. One
// that is let go of stays, and what the caller took back is not its fault.
func (e *executor) spoiled(ctx context.Context, p *process, err error) error {
	if e.ctx.Err() != nil {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = cmp.Or(context.Cause(ctx), err)
	}
	p.end(errors.New("it could not be made ready"))
	return p.complaints.Explain(err)
}

// current is the process, if there is one that runs.
func (e *executor) current() *process {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.p == nil || e.p.ctx.Err() != nil {
		return nil
	}
	return e.p
}

// process is the one that runs: ours, one that an earlier Lyceum started, or a new one.
func (e *executor) process(ctx context.Context) (*process, error) {
	if err := e.ctx.Err(); err != nil {
		return nil, err
	}
	if p := e.current(); p != nil {
		return p, nil
	}
	e.mu.Lock()
	closed, last := e.closed, e.p
	e.mu.Unlock()
	if closed {
		return nil, ErrEnded
	}
	if last != nil {
		last.wait() // nobody writes to its journal any more
		_ = last.journal.close()
	}
	j, err := openJournal(e.Journal)
	if err != nil {
		return nil, err
	}
	known, err := e.commands(ctx)
	if err != nil {
		return nil, errors.Join(err, j.close())
	}
	n := int64(1)
	for c := range known {
		n = max(n, c.process+1)
	}
	if j != nil {
		running := known[command{process: j.process}]
		if running || len(j.records) == 0 && !e.has(known, j.process) {
			// It runs, or was about to be started when a crash came.
			return e.attach(ctx, j, running)
		}
		n = max(n, j.process+1)
		e.mu.Lock()
		e.old = &process{e: e, number: j.process, id: e.name(j.process), journal: j}
		e.mu.Unlock()
		if err := errors.Join(e.killAll(ctx, known), j.rename(e.Journal+".old")); err != nil {
			return nil, err
		}
	} else if err := e.killAll(ctx, known); err != nil { // nobody knows what it was told
		return nil, err
	}
	if j, err = createJournal(e.Journal, n); err != nil {
		return nil, err
	}
	return e.attach(ctx, j, false)
}

// attach makes a process of a journal, and starts it if it does not run.
func (e *executor) attach(ctx context.Context, j *journal, running bool) (*process, error) {
	p := newProcess(e, j)
	if !running {
		if err := e.start(ctx, p.id); err != nil {
			p.stop(err)
			return nil, errors.Join(fmt.Errorf("start the agent: %w", err), j.close())
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		p.stop(ErrEnded)
		return nil, errors.Join(ErrEnded, j.close())
	}
	e.p = p
	p.begin()
	return p, nil
}

// aheadOf is how many bytes an agent may write before they are read.
const aheadOf = 1 << 20

// start writes the agent's files and starts it.
func (e *executor) start(ctx context.Context, id string) error {
	for _, name := range slices.Sorted(maps.Keys(e.Settings.Files)) {
		where, err := workspace.Path(path.Join(SettingsDir, name))
		if err != nil {
			return err
		}
		if err := writeFile(e.Computer.Home(), where, e.Settings.Files[name]); err != nil {
			return err
		}
	}
	if err := makeFolder(e.Computer.Home(), SettingsDir); err != nil {
		return err
	}
	cmd := computer.Command{ID: id, Args: e.Settings.Command, Input: true, Keep: true, Ahead: aheadOf}
	for _, name := range slices.Sorted(maps.Keys(e.Settings.Variables)) {
		cmd.Env = append(cmd.Env, name+"="+e.Settings.Variables[name])
	}
	return e.Computer.Start(ctx, cmd)
}

// command is one of the agent's: a process, or the terminal that a process asked for at a place
// of its output.
type command struct{ process, terminal int64 }

// name is that of a process.
func (e *executor) name(n int64) string { return fmt.Sprintf("%s-%d", e.ID, n) }

// command is the name of a command.
func (e *executor) command(c command) string {
	if c.terminal > 0 {
		return terminalName(e.name(c.process), c.terminal)
	}
	return e.name(c.process)
}

// parse reads the name of a command of the agent.
func (e *executor) parse(id string) (c command, ok bool) {
	rest, ok := strings.CutPrefix(id, e.ID+"-")
	if !ok {
		return c, false
	}
	if _, err := fmt.Sscanf(rest, "%d-t%d", &c.process, &c.terminal); err != nil {
		c.terminal = 0
	}
	if c.terminal == 0 {
		return c, c.process > 0 && id == e.name(c.process)
	}
	return c, id == terminalName(e.name(c.process), c.terminal)
}

// commands are all that the computer knows of the agent, and whether they run.
func (e *executor) commands(ctx context.Context) (map[command]bool, error) {
	all, err := e.Computer.Processes(ctx)
	if err != nil {
		return nil, err
	}
	out := map[command]bool{}
	for _, p := range all {
		if c, ok := e.parse(p.ID); ok {
			out[c] = p.Running
		}
	}
	return out, nil
}

func (e *executor) has(known map[command]bool, n int64) bool {
	_, ok := known[command{process: n}]
	return ok
}

// killAll ends commands that run.
func (e *executor) killAll(ctx context.Context, known map[command]bool) error {
	var errs []error
	for c, running := range known {
		if !running {
			continue
		}
		if err := e.Computer.Kill(ctx, e.command(c)); err != nil && !errors.Is(err, computer.ErrUnknown) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Close implements Executor.
func (e *executor) Close() error {
	e.mu.Lock()
	p, old := e.p, e.old
	again := e.closed
	e.closed = true
	e.mu.Unlock()
	if again {
		return nil
	}
	if p != nil {
		p.stop(ErrEnded)
		p.wait()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), endTime)
	defer cancel()
	known, err := e.commands(ctx)
	if err != nil {
		return err
	}
	err = e.killAll(ctx, known)
	for c := range known {
		id := e.command(c)
		_, _ = e.Computer.Wait(ctx, id) // Forget says so if it has not ended
		// What a terminal wrote somebody may yet want to read.
		if c.terminal == 0 {
			err = errors.Join(err, e.Computer.Forget(ctx, id))
		}
	}
	for _, q := range []*process{p, old} {
		if q != nil {
			err = errors.Join(err, q.journal.close())
		}
	}
	return errors.Join(err, removeJournal(e.Journal), removeJournal(e.Journal+".old"))
}
