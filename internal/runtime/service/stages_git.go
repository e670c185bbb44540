package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/study"
)

// archive writes lines of work into the git repository of the quest's folder: a ref for each
// branch, a commit for each checkpoint. All of it is made of the ledger alone, so that whoever
// writes it comes to the same ids; whatever is missing is written, by whoever runs the quest
// next. What a repository cannot do is told, and stops no quest.
type archive struct {
	q    *runtime.Quest
	wake chan struct{}
	done chan struct{}

	mu   sync.Mutex
	want *history // guarded by mu

	// These belong to the goroutine that writes. ids are the commits of checkpoints, nil as
	// long as nobody has looked.
	git  *repository
	ids  map[uint64]string
	refs map[string]string
	lame bool
}

// history is what the repository should hold. It is never changed.
type history struct {
	checkpoints []study.Checkpoint
	// heads are the last checkpoints of branches, by name.
	heads map[string]uint64
}

// historyOf is the part of a study that is committed. Checkpoints are only ever added, so the
// list may be looked at while the quest goes on.
func historyOf(s *study.Study) *history {
	h := &history{checkpoints: s.Checkpoints[:len(s.Checkpoints):len(s.Checkpoints)], heads: map[string]uint64{}}
	for _, b := range s.Branches {
		if b.Head != 0 {
			h.heads[b.Name] = b.Head
		}
	}
	return h
}

// startArchive begins to write what is missing, and goes on with what comes.
func startArchive(ctx context.Context, q *runtime.Quest, s *study.Study) *archive {
	a := &archive{q: q, wake: make(chan struct{}, 1), done: make(chan struct{}), want: historyOf(s)}
	a.wake <- struct{}{}
	go func() {
		defer close(a.done)
		for range a.wake {
			if ctx.Err() == nil {
				// What has been begun is finished: a git that is killed leaves locks.
				a.write(context.WithoutCancel(ctx))
			}
		}
	}()
	return a
}

// printed has the archive write what an event has changed. It is called by the owner of the
// quest and waits for nobody.
func (a *archive) printed(e event.Event, s *study.Study) {
	switch e.Body.(type) {
	case *event.BranchPrepared, *event.CheckpointMade:
	default:
		return
	}
	a.mu.Lock()
	a.want = historyOf(s)
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default: // it will see this one too
	}
}

// close waits until all is written.
func (a *archive) close() error {
	close(a.wake)
	<-a.done
	return a.git.close()
}

// commitAll writes what is missing of a quest that nobody runs.
func commitAll(ctx context.Context, q *runtime.Quest, s *study.Study) error {
	a := &archive{q: q, want: historyOf(s)}
	a.write(ctx)
	return errors.Join(ctx.Err(), a.git.close())
}

// write writes what is missing. A repository that is damaged is set aside and made anew.
func (a *archive) write(ctx context.Context) {
	a.mu.Lock()
	want := a.want
	a.mu.Unlock()
	if a.lame || len(want.checkpoints) == 0 {
		return
	}
	err := a.commit(ctx, want)
	if err != nil && ctx.Err() == nil && a.damaged(ctx, err) {
		a.q.Progress("The git repository of the quest's folder is damaged and begins anew: " + err.Error())
		if err = a.setAside(); err == nil {
			err = a.commit(ctx, want)
		}
	}
	if err != nil {
		a.lame = true
		a.q.Progress("Checkpoints are recorded, and not committed to git: " + a.q.Redact(err.Error()))
	}
}

// errNoGit says that this machine has none.
var errNoGit = errors.New("there is no git on this machine; install it, and the next run writes them")

func (a *archive) commit(ctx context.Context, want *history) (err error) {
	if a.git == nil {
		if a.git, err = openRepository(ctx, a.q.QuestDir(a.q.Key), true); err != nil {
			return err
		}
		if a.git == nil {
			return errNoGit
		}
	}
	if a.ids == nil {
		if err := a.look(ctx, want); err != nil {
			return err
		}
	}
	if err := a.bring(ctx, want); err != nil {
		a.ids = nil
		return err
	}
	return nil
}

// damaged reports whether an error is due to the repository. One that git can go through is kept,
// and so is one where git itself does not work: the disk may be full, or the program hang.
func (a *archive) damaged(ctx context.Context, err error) bool {
	if errors.Is(err, errNoGit) || errors.Is(err, errLedger) || errors.Is(err, errHangs) {
		return false
	}
	if a.git == nil {
		return works(ctx)
	}
	_, sick := a.git.run(ctx, nil, "rev-list", "--objects", "--branches", "--quiet")
	return sick != nil && works(ctx)
}

func (a *archive) setAside() error {
	err := a.git.close()
	a.git, a.ids, a.refs = nil, nil, nil
	return errors.Join(err, aside(a.q.QuestDir(a.q.Key)))
}

// eventKey is the last line of a commit's message: which event it is of.
const eventKey = "Lyceum-Event"

// look finds which checkpoints are commits already: those whose message says so, and whose
// parent is the commit of the parent. Whether their trees are right, verify looks.
func (a *archive) look(ctx context.Context, want *history) error {
	refs, err := a.git.heads(ctx)
	if err != nil {
		return err
	}
	a.refs, a.ids = refs, map[uint64]string{}
	if len(refs) == 0 {
		return nil
	}
	log, err := a.git.run(ctx, nil, "log", "--branches", "--format=%H %P%x09%(trailers:key="+eventKey+",valueonly,separator=%x2C)")
	if err != nil {
		a.ids = nil
		return err
	}
	parents := map[uint64]string{}
	for line := range strings.Lines(log) {
		commit, said, _ := strings.Cut(strings.TrimSpace(line), "\t")
		id, parent, _ := strings.Cut(strings.TrimSpace(commit), " ")
		seq, err := strconv.ParseUint(said[strings.LastIndexByte(said, ',')+1:], 10, 64)
		if err == nil {
			a.ids[seq], parents[seq] = id, parent
		}
	}
	for _, c := range want.checkpoints { // parents come first
		if id := a.ids[c.Seq]; id != "" && parents[c.Seq] != a.ids[c.Parent] {
			delete(a.ids, c.Seq)
		}
	}
	return nil
}

// heads are the refs of all branches.
func (r *repository) heads(ctx context.Context) (map[string]string, error) {
	list, err := r.run(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
	out := map[string]string{}
	for line := range strings.Lines(list) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " refs/heads/"); ok {
			out[name] = id
		}
	}
	return out, err
}

// bring has git take in what is missing, in one stream, and looks whether it did.
func (a *archive) bring(ctx context.Context, want *history) error {
	w := &stream{store: a.q.Blobs, ids: a.ids, marks: map[uint64]int{}, blobs: map[event.Hash]int{}, trees: map[uint64]event.TreeRef{}}
	var fresh []study.Checkpoint
	for _, c := range want.checkpoints {
		if w.trees[c.Seq] = c.Tree; a.ids[c.Seq] == "" {
			fresh = append(fresh, c)
		}
	}
	moved := map[string]string{} // what refs of ours had that is not of the ledger
	known := map[string]bool{}
	for _, id := range a.ids {
		known[id] = true
	}
	for name := range want.heads {
		if id := a.refs[name]; id != "" && !known[id] {
			moved[name] = id
		}
	}
	late := map[string]uint64{}
	for name, head := range want.heads {
		if a.ids[head] == "" || a.refs[name] != a.ids[head] {
			late[name] = head
		}
	}
	if len(fresh)+len(late) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(moved)) {
		a.q.Progress(fmt.Sprintf("The branch %s of the quest's repository had a commit that is not of the ledger: it is kept as refs/set-aside/%s", name, moved[name]))
	}
	ids, err := a.git.imports(ctx, func(out *bufio.Writer) error { return w.write(ctx, out, fresh, late, moved) })
	if err != nil {
		return err
	}
	if len(ids) != len(fresh) {
		return fmt.Errorf("git fast-import made %d commits of %d", len(ids), len(fresh))
	}
	for i, c := range fresh {
		a.ids[c.Seq] = ids[i]
	}
	if a.refs, err = a.git.heads(ctx); err != nil {
		return err
	}
	for name, head := range want.heads {
		if a.refs[name] != a.ids[head] {
			return fmt.Errorf("git fast-import has left the branch %s at %q, and not at %s", name, a.refs[name], a.ids[head])
		}
	}
	return nil
}

// imports runs git fast-import on what write writes. It returns the ids that it was asked for.
func (r *repository) imports(ctx context.Context, write func(*bufio.Writer) error) ([]string, error) {
	in, to := io.Pipe()
	var failed error
	var writing sync.WaitGroup
	writing.Go(func() {
		out := bufio.NewWriterSize(to, 256<<10)
		failed = write(out)
		if failed == nil {
			failed = out.Flush()
		}
		_ = to.CloseWithError(failed) // without an error it is the end
	})
	said, _, err := r.once(ctx, nil, in, "fast-import", "--quiet", "--force", "--done", "--date-format=raw")
	_ = in.CloseWithError(errStopped)
	writing.Wait()
	if failed != nil && !errors.Is(failed, errStopped) {
		err = failed // git only broke off
	}
	return strings.Fields(said), err
}

// errStopped ends what would be written for a git that has ended.
var errStopped = errors.New("git has ended")

// errLedger says that the ledger's own files are to blame, and not the repository.
var errLedger = errors.New("what is recorded cannot be read")

// stream is what git fast-import reads.
type stream struct {
	store blob.Store
	ids   map[uint64]string
	// marks are the commits of this stream, blobs the files; mark is the last that was given.
	marks map[uint64]int
	blobs map[event.Hash]int
	mark  int
	trees map[uint64]event.TreeRef
}

// write writes commits, each as what differs from its parent, and then where branches are.
func (w *stream) write(ctx context.Context, out *bufio.Writer, fresh []study.Checkpoint, late map[string]uint64, moved map[string]string) error {
	for _, id := range moved {
		fmt.Fprintf(out, "reset refs/set-aside/%s\nfrom %s\n\n", id, id)
	}
	for _, c := range fresh {
		if err := w.commit(ctx, out, &c); err != nil {
			return fmt.Errorf("checkpoint %d: %w", c.Seq, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(late)) {
		fmt.Fprintf(out, "reset refs/heads/%s\nfrom %s\n\n", name, w.at(late[name]))
	}
	_, err := out.WriteString("done\n")
	return err
}

// at names a commit.
func (w *stream) at(seq uint64) string {
	if mark, ok := w.marks[seq]; ok {
		return fmt.Sprintf(":%d", mark)
	}
	return w.ids[seq]
}

func (w *stream) commit(ctx context.Context, out *bufio.Writer, c *study.Checkpoint) error {
	var before *event.TreeRef
	if c.Parent != 0 {
		before = new(w.trees[c.Parent])
	}
	changes, err := repo.Changes(ctx, w.store, before, &c.Tree)
	if err != nil {
		return fmt.Errorf("%w: %w", errLedger, err)
	}
	for _, x := range changes {
		if x.New != nil && x.New.Kind == blob.File {
			if err := w.blob(ctx, out, x.New.Ref()); err != nil {
				return err
			}
		}
	}
	w.mark++
	w.marks[c.Seq] = w.mark
	message := fmt.Sprintf("%s\n\n%s: %d\n", messageOf(c), eventKey, c.Seq)
	who := fmt.Sprintf("%s <%s@lyceum> %d +0000", c.Actor, c.Actor, c.Time.Time().Unix())
	fmt.Fprintf(out, "commit refs/heads/%s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\n", c.Branch, w.mark, who, who, len(message), message)
	if c.Parent != 0 {
		fmt.Fprintf(out, "from %s\n", w.at(c.Parent))
	} else {
		out.WriteString("deleteall\n")
	}
	for _, x := range changes {
		if x.New == nil {
			fmt.Fprintf(out, "D %s\n", quoted(x.Path))
		}
	}
	for _, x := range changes {
		switch {
		case x.New == nil:
		case x.New.Kind == blob.Link:
			fmt.Fprintf(out, "M 120000 inline %s\ndata %d\n%s\n", quoted(x.Path), len(x.New.Target), x.New.Target)
		case x.New.Mode == blob.ModeExec:
			fmt.Fprintf(out, "M 100755 :%d %s\n", w.blobs[x.New.Hash], quoted(x.Path))
		default:
			fmt.Fprintf(out, "M 100644 :%d %s\n", w.blobs[x.New.Hash], quoted(x.Path))
		}
	}
	_, err = fmt.Fprintf(out, "\nget-mark :%d\n", w.mark)
	return err
}

// messageOf is what a commit says, without what a terminal would obey. It is part of the id, and
// so stays as it is for ever.
func messageOf(c *study.Checkpoint) string {
	lines := strings.Split(strings.TrimSpace(c.Message), "\n")
	for i := range lines {
		lines[i] = plain.Escape(lines[i])
	}
	return strings.Join(lines, "\n")
}

// blob writes a file, once.
func (w *stream) blob(ctx context.Context, out *bufio.Writer, ref event.Ref) error {
	if w.blobs[ref.Hash] != 0 {
		return nil
	}
	in, err := w.store.Open(ctx, ref.Hash)
	if err != nil {
		return fmt.Errorf("%w: %w", errLedger, err)
	}
	defer in.Close()
	w.mark++
	w.blobs[ref.Hash] = w.mark
	fmt.Fprintf(out, "blob\nmark :%d\ndata %d\n", w.mark, ref.Size)
	n, err := io.Copy(out, in)
	switch {
	case errors.Is(err, errStopped):
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errLedger, err)
	case n != ref.Size:
		return fmt.Errorf("%w: blob %s has %d bytes, its tree says %d", errLedger, ref.Hash, n, ref.Size)
	}
	return out.WriteByte('\n')
}

// quoted is a path as git reads it, whatever is in it.
func quoted(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// changedCommits names the branches of a repository whose last commits are not those that
// follow from the ledger. One that stands at an earlier commit is yet to be written.
func changedCommits(ctx context.Context, q *runtime.Quest, s *study.Study, scratch string) ([]string, error) {
	want := historyOf(s)
	at := q.QuestDir(q.Key)
	if len(want.checkpoints) == 0 {
		return nil, nil
	}
	have, err := readRepository(ctx, at)
	if have == nil || err != nil {
		return nil, err
	}
	made, err := openRepository(ctx, scratch, true)
	if made == nil || err != nil {
		return nil, err
	}
	again := &archive{q: q, git: made, want: want}
	if err := errors.Join(again.commit(ctx, want), made.close()); err != nil {
		return nil, err
	}
	line := map[string]map[string]bool{} // the commits that a branch may stand at
	for _, name := range slices.Sorted(maps.Keys(want.heads)) {
		line[name] = map[string]bool{}
		for c := s.Checkpoint(want.heads[name]); c != nil; c = s.Checkpoint(c.Parent) {
			line[name][again.ids[c.Seq]] = true
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(line)) {
		if id := have[name]; id != "" && !line[name][id] {
			out = append(out, filepath.Join(at, ".git", "refs", "heads", name))
		}
	}
	return out, nil
}
