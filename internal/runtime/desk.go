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

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/computer/proxy"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// A desk is where one agent works: its home and its computer. Its tools run at the
// same time; mu guards what they share.
type desk struct {
	*machine
	// home is nil for an agent without one, whose tools only read what is recorded.
	home  *os.Root
	slots chan struct{} // for its tools
	// private are folders at the top of the home that nobody records.
	private []string

	// looking is held while the home is looked at; index, tree and what was left out are
	// those of the last look.
	looking sync.Mutex
	index   *blob.Index
	tree    *event.TreeRef
	skipped []blob.Skipped
	looked  bool
	// refused is why the last look recorded nothing, empty if it did.
	refused string

	// removing is what was a home before.
	removing sync.WaitGroup

	mu    sync.Mutex
	busy  int  // calls under way
	dirty bool // one of them may have changed the home
}

// openDesks makes the desks of all agents.
func (l *live) openDesks() error {
	for _, a := range seated(l.state) {
		var home *os.Root
		if l.state.Houses(a) {
			var err error
			if home, err = openHome(l.rt.agentDir(l.key, a.Name)); err != nil {
				return fmt.Errorf("open the home of %s: %w", a.Name, err)
			}
			if err := l.rt.mendSkills(l.work, l.state, home); err != nil {
				return fmt.Errorf("put skills into the home of %s: %w", a.Name, err)
			}
		}
		m := &machine{l: l, actor: a.Name, place: l.rt.Place(l.key, a.Name), spec: l.spec, rules: l.rules, print: a.Computer}
		d := &desk{machine: m, home: home, tree: a.Tree, slots: make(chan struct{}, maxTools), private: Lent(l.state)}
		l.desks[a.Name] = d
		if o := l.executors.of(a.Name); o != nil {
			if err := o.sit(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// openHome opens an agent's home. An agent can take away everybody's right to it; as the
// owner of it we take that back.
func openHome(dir string) (*os.Root, error) {
	home, err := os.OpenRoot(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return home, err
	}
	info, failed := os.Lstat(dir)
	if failed != nil || !info.IsDir() || os.Chmod(dir, info.Mode()|0o700) != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
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
	if t.Repeatable || !t.Computer || t.Name != ExecTool && !isScript(t) && !(t.Name == awaitTool && l.stillRuns(seq)) || l.state.Computer == nil {
		return t.Repeatable
	}
	m, _, err := l.desks[c.Agent].computer(ctx, true)
	if err != nil {
		return false
	}
	known, err := m.Processes(ctx)
	return err == nil && slices.ContainsFunc(known, func(p computer.Process) bool { return p.ID == commandID(seq) })
}

// stillRuns reports whether the command that a call has begun runs, as far as the ledger knows.
func (l *live) stillRuns(call uint64) bool {
	return slices.ContainsFunc(l.state.Processes(), func(p quest.Process) bool { return p.Call == call && p.Command == commandID(call) })
}

// takeUpCommands finds out what became of the commands that ran when the last owner
// went: those that are there are followed again, of the others it is said that
// nobody knows. Commands of calls that are made again are those calls' business.
func (l *live) takeUpCommands(ctx context.Context, again []uint64) (lost []event.Draft) {
	for _, p := range l.state.Processes() {
		if p.Owner != "" || slices.Contains(again, p.Call) {
			continue
		}
		d := l.desks[p.Agent]
		if l.state.Computer != nil {
			if m, _, err := d.computer(ctx, true); err == nil {
				if l.executors.of(p.Agent).unstarted(ctx, m, p) {
					continue
				}
				l.followAside(&follower{machine: d.machine, c: m, call: p.Call, id: p.Command, news: newsEvery, tell: l.mail.put})
				continue
			}
		}
		lost = append(lost, d.draft(p.Call, lostCommand(p.Call, p.Command)))
	}
	return append(lost, l.stations.lost(ctx)...)
}

// endComputers ends the computers of a quest that is over. What still runs in them
// ends with that, and is told.
func (l *live) endComputers() {
	if !ended(l.state) {
		return
	}
	l.executors.leave()
	for _, d := range l.desks {
		l.mail.start(func() {
			if err := d.leave(true); err != nil {
				l.mail.fail(err)
			}
		})
	}
	l.mail.start(func() {
		if err := l.stations.end(l.mail.put); err != nil {
			l.mail.fail(err)
		}
	})
}

// forget lets a computer drop what it kept for the result that is durable now.
func (l *live) forget(e event.Event) {
	if d := l.desks[e.Actor]; d != nil && (e.Tool == ExecTool || isScript(l.tool(e.Tool))) {
		call := e.Body.(*event.ToolResult).Call
		l.mail.start(func() { d.forget(l.work, commandID(call)) })
	}
}

// ExecTool is the tool whose command is named after its call.
const ExecTool = "exec"

// awaitTool names its command after its call, too, and waits for its end. The command may outlive
// the call.
const awaitTool = "await"

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

// sight is what a look at a home has found.
type sight struct {
	// diff is how it differs from what was known, if it does.
	diff []event.Draft
	// note is what the agent should know of it: that something cannot be recorded.
	note string
	// full is the limit on storage for which nothing was recorded, and refusal what the
	// agent is told then.
	full    *event.Full
	refusal string
}

// doer is who has changed a home: a call, and which kind of one; nobody that is known, if the
// call is 0.
type doer struct {
	call  uint64
	cause string
}

// byTool is a tool call.
func byTool(call uint64) func() doer { return func() doer { return doer{call, event.CauseTool} } }

// byNobody is whoever does something without a call.
func byNobody() doer { return doer{cause: event.CauseOutside} }

// look finds out what the home holds now, and tells of it. by is who changed it, and is asked
// when it is this look's turn. Who looks later also tells later, so that the last word is
// the newest. A home that cannot be recorded is told too: that is its agent's affair, and
// nobody else's.
func (d *desk) look(ctx context.Context, by func() doer, tell func(sight) error) error {
	d.looking.Lock()
	defer d.looking.Unlock()
	who := by()
	diff, skipped, err := d.compare(ctx, who)
	var seen sight
	switch closed, ok := errors.AsType[*blob.UnreadableError](err); {
	case ok:
		skipped, err = []blob.Skipped{{Path: ".", Reason: closed.Reason}}, nil
	case err != nil:
		if seen.full, seen.refusal = unkept(err); seen.full == nil {
			return err
		}
	case diff != nil:
		seen.diff = []event.Draft{d.draft(who.call, diff)}
	}
	d.looked, d.refused = true, seen.refusal
	if seen.full == nil && !slices.Equal(skipped, d.skipped) {
		d.skipped = skipped
		seen.note = leftOut(skipped)
	}
	return tell(seen)
}

func (d *desk) compare(ctx context.Context, by doer) (*event.FileDiff, []blob.Skipped, error) {
	// Whoever has taken away their own right to their home runs nothing in it any more, not even what gives it
	// back. Who is not root finds out by not getting in, and takes it back then.
	if info, err := d.home.Stat("."); err == nil && info.Mode()&0o500 != 0o500 {
		if err := d.home.Chmod(".", info.Mode()|0o700); err != nil {
			return nil, nil, fmt.Errorf("give an agent its home back: %w", err)
		}
	}
	if d.tree == nil && !d.looked {
		// Most homes begin empty, and stay so until the first tool.
		if list, err := fs.ReadDir(d.home.FS(), "."); err == nil && len(list) == 0 {
			return nil, nil, nil
		}
	}
	store, err := d.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	tree, index, skipped, err := SnapshotHome(ctx, store, d.home, d.index, d.private)
	if err != nil {
		return nil, nil, err
	}
	d.index = index
	if d.tree != nil && d.tree.Hash == tree.Hash || d.tree == nil && tree.Hash == EmptyTree {
		return nil, skipped, nil
	}
	diff := &event.FileDiff{After: tree, Before: d.tree, Call: by.call, Cause: by.cause}
	diff.Changes, diff.More, err = blob.Diff(ctx, d.l.rt.Blobs, d.tree, tree, MaxListed)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range skipped[:min(len(skipped), MaxListed)] {
		diff.Skipped = append(diff.Skipped, event.Skipped(s))
	}
	diff.Fit()
	d.tree = &tree
	return diff, skipped, nil
}

// store is where the home's files go. The first look at a home reads all of it; what the ledger
// has of it is on disk, and need not be put there again, which takes long for many files.
func (d *desk) store(ctx context.Context) (blob.Store, error) {
	if d.index != nil || d.tree == nil {
		return d.l.rt.Blobs, nil
	}
	known := map[event.Hash]bool{}
	err := blob.Walk(ctx, d.l.rt.Blobs, *d.tree, func(ref event.Ref) error {
		known[ref.Hash] = true
		return nil
	})
	return &settled{d.l.rt.Blobs, known}, err
}

// settled is a store of which some blobs are known to be on disk.
type settled struct {
	blob.Store
	known map[event.Hash]bool
}

// Put implements blob.Store.
func (s *settled) Put(ctx context.Context, data []byte) (event.Ref, error) {
	if ref := event.RefOf(data); s.known[ref.Hash] {
		if ok, err := s.Held(ctx, ref.Hash); ok && err == nil {
			return ref, nil
		}
	}
	return s.Store.Put(ctx, data)
}

// Held implements blob.Holder.
func (s *settled) Held(ctx context.Context, h event.Hash) (bool, error) {
	return blob.Held(ctx, s.Store, h)
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
// first tool that may change something. What there is no room for is left to the look after
// the tool, which may make some.
func (d *desk) lookFirst(ctx context.Context) error {
	d.looking.Lock()
	looked := d.looked
	d.looking.Unlock()
	if looked {
		return nil
	}
	return d.look(ctx, byNobody, func(seen sight) error {
		d.l.mail.put(seen.diff...)
		d.skipped = nil // nobody was told
		return nil
	})
}

// Place is where the computer of an agent lives, or one with another purpose.
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
	if l.driver, l.spec, err = l.rt.machine(ctx, l.key, l.state); err != nil {
		return err
	}
	if c.Driver != "auto" && l.state.Driver == "" {
		// Of auto, what was found has shown that it works.
		if err := l.driver.Check(ctx); err != nil {
			return err
		}
	}
	if l.imported, err = l.rt.Imported(ctx, l.key); err != nil {
		return err
	}
	if l.rules, err = proxy.Parse(l.spec.Network.Allow); err != nil {
		return err
	}
	lines, err := l.rt.Restrictions(ctx, l.key, l.state)
	if err != nil {
		return err
	}
	for _, line := range lines {
		l.progress(line)
	}
	_, err = l.driver.Prepare(ctx, l.spec, l.progress)
	if _, unusable := errors.AsType[*computer.Unusable](err); unusable && c.Driver == "auto" && l.state.Driver != "" {
		err = fmt.Errorf("%w; the quest's computers so far were made with %s; a fork chooses anew: lyceum fork %s", err, l.driver.Name(), l.key)
	}
	return err
}

func (l *live) progress(line string) {
	if l.opts.OnProgress != nil {
		l.speaking.Lock()
		defer l.speaking.Unlock()
		l.opts.OnProgress(line)
	}
}

// ended reports whether a quest is over: its computers are needed no more.
func ended(s *quest.State) bool {
	return s.Status == quest.Finished || s.Status == quest.Failed || s.Status == quest.Stopped
}
