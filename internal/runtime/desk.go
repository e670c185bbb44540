package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/computer/proxy"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// A desk is where one agent works: its home and its computer. Its tools run at the
// same time; mu guards what they share.
type desk struct {
	l     *live
	agent string
	home  *os.Root
	slots chan struct{} // for its tools

	// looking is held while the home is looked at; index and tree are those of the
	// last look.
	looking sync.Mutex
	index   *blob.Index
	tree    *event.TreeRef
	looked  bool

	mu      sync.Mutex
	machine *computer.Computer
	print   event.Hash
	busy    int  // calls under way
	dirty   bool // one of them may have changed the home
}

// openDesks makes the desks of all agents.
func (l *live) openDesks() error {
	for _, a := range homed(l.state) {
		home, err := os.OpenRoot(l.rt.agentDir(l.key, a.Name))
		if err != nil {
			return fmt.Errorf("open the home of %s: %w", a.Name, err)
		}
		l.desks[a.Name] = &desk{l: l, agent: a.Name, home: home, tree: a.Tree, print: a.Computer, slots: make(chan struct{}, maxTools)}
	}
	return nil
}

// commandID is the id of the command that a call runs, in its agent's computer.
func commandID(call uint64) string { return fmt.Sprintf("c%d", call) }

// mayRepeat reports whether an interrupted tool call can be made again: because it
// does no harm, or because the command is still known to the computer, so that
// asking for it again finds it instead of running it.
func (l *live) mayRepeat(ctx context.Context, seq uint64, c quest.Call) bool {
	if own := l.state.Own(c.Tool); own != nil {
		return true // the world's part of it is reading, or writing the same again
	}
	t := l.tool(c.Tool)
	if t.Repeatable || !t.Computer || t.Name != ExecTool || l.state.Computer == nil {
		return t.Repeatable
	}
	m, _, err := l.desks[c.Agent].computer(ctx, true)
	if err != nil {
		return false
	}
	known, err := m.Processes(ctx)
	return err == nil && slices.ContainsFunc(known, func(p computer.Process) bool { return p.ID == commandID(seq) })
}

// takeUpCommands finds out what became of the commands that ran when the last owner
// went: those that are there are followed again, of the others it is said that
// nobody knows. Commands of calls that are made again are those calls' business.
func (l *live) takeUpCommands(ctx context.Context, again []uint64) (lost []event.Draft) {
	for _, p := range l.state.Processes() {
		if slices.Contains(again, p.Call) {
			continue
		}
		d := l.desks[p.Agent]
		if l.state.Computer != nil {
			if m, _, err := d.computer(ctx, true); err == nil {
				l.followAside(&follower{desk: d, c: m, call: p.Call, id: p.Command, news: newsEvery, tell: l.mail.put})
				continue
			}
		}
		lost = append(lost, d.draft(p.Call, lostCommand(p.Call, p.Command)))
	}
	return lost
}

// endComputers ends the computers of a quest that is over. What still runs in them
// ends with that, and is told.
func (l *live) endComputers() {
	if !ended(l.state) {
		return
	}
	for _, d := range l.desks {
		l.mail.start(func() {
			if err := d.leave(true); err != nil {
				l.mail.fail(err)
			}
		})
	}
}

// forget lets a computer drop what it kept for the result that is durable now.
func (l *live) forget(e event.Event) {
	if d := l.desks[e.Actor]; d != nil && e.Tool == ExecTool {
		call := e.Body.(*event.ToolResult).Call
		l.mail.start(func() { d.forget(l.work, commandID(call)) })
	}
}

// ExecTool is the tool whose command is named after its call.
const ExecTool = "exec"

// begin counts a call, and done ends it. done reports whether the home is to be
// looked at: once for all calls that ran together, by the last of them.
func (d *desk) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy++
}

func (d *desk) done(wrote bool) (look bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy--
	d.dirty = d.dirty || wrote
	if d.busy > 0 || !d.dirty {
		return false
	}
	d.dirty = false
	return true
}

// MaxListed is how many changed files an event lists at most.
const MaxListed = 100

// look finds out what the home holds now, and tells of it: with a draft if that is
// something else than before. call is the one that changed it, 0 if none did that we
// know of. Who looks later also tells later, so that the last word is the newest.
func (d *desk) look(ctx context.Context, call uint64, tell func(...event.Draft)) error {
	d.looking.Lock()
	defer d.looking.Unlock()
	diff, err := d.compare(ctx, call)
	if err != nil {
		return err
	}
	if diff == nil {
		tell()
	} else {
		tell(d.draft(call, diff))
	}
	return nil
}

func (d *desk) compare(ctx context.Context, call uint64) (*event.FileDiff, error) {
	if d.tree == nil && !d.looked {
		// Most homes begin empty, and stay so until the first tool.
		if list, err := fs.ReadDir(d.home.FS(), "."); err == nil && len(list) == 0 {
			d.looked = true
			return nil, nil
		}
	}
	tree, index, skipped, err := blob.Snapshot(ctx, d.l.rt.Blobs, d.home, d.index)
	if err != nil {
		return nil, err
	}
	d.index, d.looked = index, true
	if d.tree != nil && d.tree.Hash == tree.Hash || d.tree == nil && tree.Hash == EmptyTree {
		return nil, nil
	}
	diff := &event.FileDiff{After: tree, Before: d.tree, Call: call, Cause: event.CauseTool}
	if call == 0 {
		diff.Cause = event.CauseOutside
	}
	diff.Changes, diff.More, err = blob.Diff(ctx, d.l.rt.Blobs, d.tree, tree, MaxListed)
	if err != nil {
		return nil, err
	}
	for _, s := range skipped[:min(len(skipped), MaxListed)] {
		diff.Skipped = append(diff.Skipped, event.Skipped(s))
	}
	diff.Fit()
	d.tree = &tree
	return diff, nil
}

var EmptyTree = func() event.Hash {
	data, err := blob.Tree{}.Encode()
	if err != nil {
		panic(err) // it is ours
	}
	return event.HashOf(data)
}()

// lookFirst finds what was changed while nobody was looking: by a person, or by
// commands that were running when the last owner went. It is called before the
// first tool that may change something.
func (d *desk) lookFirst(ctx context.Context) error {
	d.looking.Lock()
	looked := d.looked
	d.looking.Unlock()
	if looked {
		return nil
	}
	return d.look(ctx, 0, d.l.mail.put)
}

// Place is where an agent's computer lives.
func (r *Runtime) Place(name, agent string) computer.Place {
	return computer.Place{Home: r.agentDir(name, agent), Dir: filepath.Join(r.QuestDir(name), "computers", agent)}
}

// driver finds the driver that a quest's computers are made with. auto is the first
// that works here.
func (r *Runtime) driver(ctx context.Context, name string) (computer.Driver, error) {
	var why []error
	for _, d := range r.Computers {
		if name != "auto" {
			if d.Name() == name {
				return d, nil
			}
			continue
		}
		err := d.Check(ctx)
		if err == nil {
			return d, nil
		}
		why = append(why, err)
	}
	if len(why) == 0 {
		return nil, fmt.Errorf("there is no driver %q for computers", name)
	}
	return nil, fmt.Errorf("no sandbox works here, and agents never run on the bare host:\n%w", errors.Join(why...))
}

// openComputers finds the driver and has it make what computers are booted from, so
// that what is missing is told before anything is recorded.
func (l *live) openComputers(ctx context.Context) (err error) {
	c := l.state.Computer
	if c == nil {
		return nil
	}
	if l.driver, l.spec, err = l.rt.Machine(ctx, c); err != nil {
		return err
	}
	if l.rules, err = proxy.Parse(c.Network.Allow); err != nil {
		return err
	}
	_, err = l.driver.Prepare(ctx, l.spec, l.progress)
	return err
}

func (l *live) progress(line string) {
	if l.opts.OnProgress != nil {
		l.speaking.Lock()
		defer l.speaking.Unlock()
		l.opts.OnProgress(line)
	}
}

// computer opens the agent's computer, or finds it if it is up. If it is new to the
// ledger, started says so.
func (d *desk) computer(ctx context.Context, found bool) (c *computer.Computer, started *event.ComputerStarted, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.machine != nil {
		return d.machine, nil, nil
	}
	l := d.l
	opts := computer.Options{Progress: l.progress, Found: found}
	if len(l.spec.Network.Allow) > 0 {
		p := &proxy.Proxy{Rules: l.rules, Log: d.connected}
		opts.Serve = p.Serve
	}
	c, err = computer.Open(ctx, l.driver, l.rt.Place(l.key, d.agent), l.spec, opts)
	if err != nil {
		return nil, nil, err
	}
	started, err = describe(c)
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	d.machine = c
	if d.print == started.Fingerprint {
		return c, nil, nil
	}
	d.print = started.Fingerprint
	return c, started, nil
}

// limitsOf and recorded turn limits from what the ledger says to what computers
// take, and back.
func limitsOf(l event.ComputerLimits) computer.Limits {
	return computer.Limits{
		Memory: l.Memory, Processes: l.Processes, CPUs: l.CPUs, Files: l.Files, Disk: l.Disk, Wall: time.Duration(l.Wall) * time.Microsecond,
	}.OrDefault()
}

func recorded(l computer.Limits) event.ComputerLimits {
	return event.ComputerLimits{
		CPUs: l.CPUs, Disk: l.Disk, Files: l.Files, Memory: l.Memory, Processes: l.Processes, Wall: l.Wall.Microseconds(),
	}
}

// describe is what the ledger is told of a computer.
func describe(c *computer.Computer) (*event.ComputerStarted, error) {
	f := c.Fingerprint()
	b := &event.ComputerStarted{
		Arch: f.Arch, Base: f.Base, Confinement: c.Confinement(), Driver: f.Driver, Kernel: AtMost(f.Kernel, 200),
		Limits:  recorded(f.Limits),
		Network: event.ComputerNetwork{Open: f.Network.Open, Allow: f.Network.Allow},
	}
	var err error
	b.Fingerprint, err = b.Sum()
	return b, err
}

// connected records a connection that a program made or tried to make.
func (d *desk) connected(c computer.Connection) {
	d.l.mail.put(d.draft(0, &event.NetConnection{
		Address: AtMost(c.Address, 100), Duration: c.Duration.Microseconds(), Host: AtMost(d.l.rt.Redact(c.Host), 300), Port: int64(c.Port),
		Received: count(c.Received), Refused: AtMost(d.l.rt.Redact(c.Refused), 500), Sent: count(c.Sent),
	}))
}

func (d *desk) draft(parent uint64, b event.Body) event.Draft {
	return event.Draft{Parent: parent, Time: d.l.rt.Clock(), Actor: d.agent, Body: b}
}

// forget lets the computer drop what it keeps of a command whose outcome is durable
// now.
func (d *desk) forget(ctx context.Context, id string) {
	d.mu.Lock()
	m := d.machine
	d.mu.Unlock()
	if m != nil {
		_ = m.Forget(ctx, id) // it is dropped at the latest when the computer ends
	}
}

// leave lets go of the computer, or ends it if the quest needs it no more. Whoever
// follows its commands is told.
func (d *desk) leave(end bool) error {
	d.mu.Lock()
	m := d.machine
	d.machine = nil
	d.mu.Unlock()
	if !end {
		if m == nil {
			return nil
		}
		return m.Close()
	}
	// Whatever broke the run off, its computer is ended.
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if m != nil {
		return m.Stop(ctx)
	}
	if d.l.driver == nil {
		return nil
	}
	// One that a killed process left up, and that nobody has used since.
	return computer.StopAt(ctx, d.l.rt.Place(d.l.key, d.agent), d.l.driver)
}

// ended reports whether a quest is over: its computers are needed no more.
func ended(s *quest.State) bool {
	return s.Status == quest.Finished || s.Status == quest.Failed || s.Status == quest.Stopped
}
