package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/paper"
)

// The press writes papers into the quest's folder, where they can be read without
// Lyceum, and commits each decided one to the folder's git repository. Everything it
// writes follows from the ledger and can be written again.

const paperFile = "publication.md"

// press is told which papers have changed, and writes them one after another.
type press struct {
	rt   *Runtime
	key  string
	jobs chan job
	done chan struct{}
	err  error // read after done
	// trials are the places for papers' entry points that run.
	trials chan struct{}
	// git is the folder's repository, nil before it is needed; lame says that it cannot
	// be written in this run.
	git  *repository
	lame bool
	// say tells a person.
	say func(string)
}

type job struct {
	paper *paper.Paper
	// decided is the event that decided it, if that is what changed.
	decided *event.Event
}

// startPress begins to write papers. When ctx ends the rest is left to the next run,
// which writes what it finds missing.
func (l *live) startPress(ctx context.Context) {
	l.press = &press{rt: l.rt, key: l.key, jobs: make(chan job, 64), done: make(chan struct{}), trials: make(chan struct{}, maxTrials), say: l.progress}
	go func() {
		defer close(l.press.done)
		for j := range l.press.jobs {
			if l.press.err != nil || ctx.Err() != nil {
				continue
			}
			// What has been begun is finished: a git that is killed leaves locks.
			if err := l.press.print(context.WithoutCancel(ctx), j); err != nil {
				l.press.err = fmt.Errorf("write paper %s: %w", j.paper.Ref, err)
				l.mail.fail(l.press.err)
			}
		}
	}()
}

// stop waits until everything is written.
func (p *press) stop() error {
	if p == nil {
		return nil
	}
	close(p.jobs)
	<-p.done
	return errors.Join(p.err, p.git.close())
}

// print has the press write what an event has changed.
func (l *live) print(e event.Event) {
	ref, decided := "", (*event.Event)(nil)
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		ref = b.Ref
	case *event.PublicationDecided:
		ref, decided = b.Ref, &e
	case *event.ReproductionResult:
		ref = l.state.Papers.Trial(b.Call)
	default:
		return
	}
	if p := l.state.Papers.Paper(ref); p != nil && l.press != nil {
		l.press.jobs <- job{p.Clone(), decided}
	}
}

// printAll writes the papers that are not on disk as they should be, and commits those
// that were decided and are not in the history: a process that was killed did not come
// to it. It is called before there are jobs.
func (l *live) printAll(ctx context.Context) error {
	var decided []*paper.Paper
	for _, p := range l.state.Papers.Papers {
		if p.Decided != 0 {
			decided = append(decided, p)
		}
		have, err := os.ReadFile(filepath.Join(l.press.folder(p), paperFile))
		if err == nil {
			want, err := l.press.markdown(ctx, p)
			if err != nil {
				return err
			}
			if string(have) == want {
				continue
			}
		}
		if err := l.press.write(ctx, p); err != nil {
			return fmt.Errorf("write paper %s: %w", p.Ref, err)
		}
	}
	slices.SortFunc(decided, func(a, b *paper.Paper) int { return cmp.Compare(a.Decided, b.Decided) })
	return l.commitAll(ctx, decided)
}

// commitAll commits the papers that the history does not have. A repository that is
// damaged is set aside and made anew. The papers are what counts, and they are written;
// a history that cannot be is no reason to stop a quest.
func (l *live) commitAll(ctx context.Context, decided []*paper.Paper) error {
	if len(decided) == 0 {
		return nil
	}
	err := l.commitMissing(ctx, decided)
	if err != nil && ctx.Err() == nil {
		l.progress("The git repository of the quest's folder is damaged and begins anew: " + err.Error())
		if err = l.press.setAside(); err == nil {
			err = l.commitMissing(ctx, decided)
		}
	}
	if err != nil && ctx.Err() == nil {
		l.press.giveUp(err)
	}
	return ctx.Err()
}

func (l *live) commitMissing(ctx context.Context, decided []*paper.Paper) error {
	git, err := l.press.repository(ctx)
	if git == nil || err != nil {
		return err
	}
	have, err := git.committed(ctx)
	if err != nil {
		return err
	}
	for _, p := range decided {
		if have[p.Status+" "+p.Ref] {
			continue
		}
		for e, err := range l.rt.Ledger.Read(ctx, l.key, p.Decided) {
			if err == nil {
				err = l.press.commit(ctx, job{p, &e})
			}
			if err != nil {
				return err
			}
			break
		}
	}
	return nil
}

func (p *press) folder(paper *paper.Paper) string {
	return filepath.Join(p.rt.QuestDir(p.key), "publications", paper.Ref)
}

func (p *press) markdown(ctx context.Context, x *paper.Paper) (string, error) {
	return paper.Markdown(x, func(t event.Text) (string, error) {
		return agent.Read(t, func(ref event.Ref) ([]byte, error) { return p.rt.Blob(ctx, ref) })
	})
}

func (p *press) print(ctx context.Context, j job) error {
	if err := p.write(ctx, j.paper); err != nil {
		return err
	}
	if j.decided == nil {
		return nil
	}
	if err := p.commit(ctx, j); err != nil {
		p.giveUp(err)
	}
	return nil
}

// write makes a paper's folder. The text comes last: where it is, the rest is too.
func (p *press) write(ctx context.Context, x *paper.Paper) error {
	text, err := p.markdown(ctx, x)
	if err != nil {
		return err
	}
	dir := p.folder(x)
	if _, err := os.Stat(filepath.Join(dir, paperFile)); errors.Is(err, os.ErrNotExist) {
		if err := p.attachments(ctx, x, dir); err != nil {
			return err
		}
	}
	if err := p.tidy(x, dir); err != nil {
		return err
	}
	if r := x.Reproduction; r != nil {
		// Attachments cannot have these names.
		for name, output := range map[string]*event.Ref{"reproduction.txt": r.Output, "reproduction-2.txt": r.Second} {
			if output == nil {
				continue
			}
			if err := p.copyBlob(ctx, *output, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return replaceFile(filepath.Join(dir, paperFile), []byte(text))
}

// attachments begins a paper's folder.
func (p *press) attachments(ctx context.Context, x *paper.Paper, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil || x.Tree == nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return blob.Restore(ctx, p.rt.Blobs, *x.Tree, root)
}

// tidy removes files that a killed process had begun to write.
func (p *press) tidy(x *paper.Paper, dir string) error {
	begun, err := filepath.Glob(filepath.Join(dir, ".new-*"))
	for _, f := range begun {
		if !slices.Contains(x.Attachments, filepath.Base(f)) {
			err = errors.Join(err, os.Remove(f))
		}
	}
	return err
}

// maxPrinted is how much of a program's output is put beside a paper; the rest is in
// its blob.
const maxPrinted = 1 << 20

func (p *press) copyBlob(ctx context.Context, ref event.Ref, to string) error {
	if ref.Size > maxPrinted {
		return replaceFile(to, fmt.Appendf(nil, "%d bytes: blob sha256:%s\n", ref.Size, ref.Hash))
	}
	data, err := p.rt.Blob(ctx, ref)
	if errors.Is(err, ledger.ErrNoBlob) {
		return fmt.Errorf("the output of its entry point is missing: %w", err)
	}
	if err != nil {
		return err
	}
	return replaceFile(to, data)
}
