package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
)

// The press writes papers into the quest's folder, where they can be read without
// Lyceum, and commits each decided one to the folder's git repository. Everything it
// writes follows from the ledger and can be written again.

// press is told which papers have changed, and writes them one after another.
type press struct {
	q    *runtime.Quest
	jobs chan job
	done chan struct{}
	err  error // read after done
	// git is the folder's repository, nil before it is needed; lame says that it cannot
	// be written in this run.
	git  *repository
	lame bool
	// asIs has reviews stand as they did in the files of an earlier time.
	asIs bool
}

type job struct {
	paper *paper.Paper
	// decided is the event that decided it, if that is what changed.
	decided *event.Event
}

// start begins to write papers. When ctx ends the rest is left to the next run,
// which writes what it finds missing.
func (p *press) start(ctx context.Context) {
	p.jobs, p.done = make(chan job, 64), make(chan struct{})
	go func() {
		defer close(p.done)
		for j := range p.jobs {
			if p.err != nil || ctx.Err() != nil {
				continue
			}
			// What has been begun is finished: a git that is killed leaves locks.
			if err := p.print(context.WithoutCancel(ctx), j); err != nil {
				p.err = fmt.Errorf("write paper %s: %w", j.paper.Ref, err)
				p.q.Fail(p.err)
			}
		}
	}()
}

// stop waits until everything is written.
func (p *press) stop() error {
	close(p.jobs)
	<-p.done
	return errors.Join(p.err, p.git.close())
}

// printed has the press write what an event has changed.
func (p *press) printed(e event.Event) {
	library := lab.Library(p.q.State)
	ref, decided := "", (*event.Event)(nil)
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		ref = b.Ref
	case *event.PublicationDecided:
		ref, decided = b.Ref, &e
	case *event.ReproductionResult:
		ref = library.Trial(b.Call)
	default:
		return
	}
	if x := library.Paper(ref); x != nil {
		p.jobs <- job{x.Clone(), decided}
	}
}

// printAll writes the papers that are not on disk as they should be, and commits those
// that were decided and are not in the history: a process that was killed did not come
// to it. It is called before there are jobs.
func (p *press) printAll(ctx context.Context) error {
	var decided []*paper.Paper
	for _, x := range lab.Library(p.q.State).Papers {
		if x.Decided != 0 {
			decided = append(decided, x)
		}
		files, err := p.files(ctx, x)
		if err != nil {
			return fmt.Errorf("write paper %s: %w", x.Ref, err)
		}
		if p.has(x, files) {
			continue
		}
		if err := p.write(ctx, x); err != nil {
			return fmt.Errorf("write paper %s: %w", x.Ref, err)
		}
	}
	slices.SortFunc(decided, func(a, b *paper.Paper) int { return cmp.Compare(a.Decided, b.Decided) })
	return p.commitAll(ctx, decided)
}

// commitAll commits the papers that the history does not have. A repository that is
// damaged is set aside and made anew. The papers are what counts, and they are written;
// a history that cannot be is no reason to stop a quest.
func (p *press) commitAll(ctx context.Context, decided []*paper.Paper) error {
	if len(decided) == 0 {
		return nil
	}
	err := p.commitMissing(ctx, decided)
	if err != nil && ctx.Err() == nil {
		p.q.Progress("The git repository of the quest's folder is damaged and begins anew: " + err.Error())
		if err = p.setAside(); err == nil {
			err = p.commitMissing(ctx, decided)
		}
	}
	if err != nil && ctx.Err() == nil {
		p.giveUp(err)
	}
	return ctx.Err()
}

func (p *press) commitMissing(ctx context.Context, decided []*paper.Paper) error {
	git, err := p.repository(ctx)
	if git == nil || err != nil {
		return err
	}
	have, err := git.committed(ctx)
	if err != nil {
		return err
	}
	for _, x := range decided {
		if have[x.Status+" "+x.Ref] {
			continue
		}
		for e, err := range p.q.Ledger.Read(ctx, p.q.Key, x.Decided) {
			if err == nil {
				err = p.commit(ctx, job{x, &e})
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
	return filepath.Join(p.q.QuestDir(p.q.Key), "publications", paper.Ref)
}

// files are what Lyceum writes into a paper's folder beside the attachments. The text
// comes last: where it is, the rest is too.
func (p *press) files(ctx context.Context, x *paper.Paper) (out []runtime.QuestFile, err error) {
	for _, o := range paper.Outputs(x.Reproduction) {
		data, err := p.output(ctx, o.Ref)
		if err != nil {
			return nil, err
		}
		out = append(out, runtime.QuestFile{Name: o.File, Data: data})
	}
	if parts := x.ReviewTexts(); len(parts) > 0 {
		reviews, err := agent.Join(parts, p.asIs, func(ref event.Ref) ([]byte, error) { return p.q.Blob(ctx, ref) })
		if err != nil {
			return nil, fmt.Errorf("read the reviews: %w", err)
		}
		out = append(out, runtime.QuestFile{Name: paper.FileReviews, Data: []byte(reviews)})
	}
	text, err := paper.Markdown(x, func(t event.Text) (string, error) { return p.q.Joined(ctx, []event.Text{t}) })
	return append(out, runtime.QuestFile{Name: paper.FilePaper, Data: []byte(text)}), err
}

// has reports whether a paper's folder has these files as they should be.
func (p *press) has(x *paper.Paper, files []runtime.QuestFile) bool {
	return !slices.ContainsFunc(files, func(f runtime.QuestFile) bool {
		have, err := os.ReadFile(filepath.Join(p.folder(x), f.Name))
		return err != nil || !bytes.Equal(have, f.Data)
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

// write makes a paper's folder.
func (p *press) write(ctx context.Context, x *paper.Paper) error {
	files, err := p.files(ctx, x)
	if err != nil {
		return err
	}
	dir := p.folder(x)
	if _, err := os.Stat(filepath.Join(dir, paper.FilePaper)); errors.Is(err, os.ErrNotExist) {
		if err := p.attachments(ctx, x, dir); err != nil {
			return err
		}
	}
	if err := p.tidy(x, dir); err != nil {
		return err
	}
	for _, f := range files {
		if err := runtime.ReplaceFile(filepath.Join(dir, f.Name), f.Data); err != nil {
			return err
		}
	}
	return nil
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
	return p.q.PutAttached(ctx, quest.Attached{Path: x.Ref, Tree: *x.Tree, Files: x.Attachments}, root)
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

func (p *press) output(ctx context.Context, ref event.Ref) ([]byte, error) {
	if ref.Size > maxPrinted {
		return fmt.Appendf(nil, "%d bytes: blob sha256:%s\n", ref.Size, ref.Hash), nil
	}
	data, err := p.q.Blob(ctx, ref)
	if errors.Is(err, ledger.ErrNoBlob) {
		err = fmt.Errorf("the output of its entry point is missing: %w", err)
	}
	return data, err
}
