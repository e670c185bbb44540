package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

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
}

type job struct {
	paper *paper.Paper
	// decided is the event that decided it, if that is what changed.
	decided *event.Event
}

func (l *live) startPress(ctx context.Context) {
	l.press = &press{rt: l.rt, key: l.key, jobs: make(chan job, 64), done: make(chan struct{})}
	go func() {
		defer close(l.press.done)
		for j := range l.press.jobs {
			if l.press.err != nil {
				continue
			}
			if err := l.press.print(ctx, j); err != nil {
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
	return p.err
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

// printAll writes the papers that are not on disk as they should be: a process that
// was killed did not come to it.
func (l *live) printAll(ctx context.Context) error {
	for _, p := range l.state.Papers.Papers {
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
	return p.commit(ctx, j)
}

// write makes a paper's folder. The text comes last: where it is, the rest is too.
func (p *press) write(ctx context.Context, x *paper.Paper) error {
	text, err := p.markdown(ctx, x)
	if err != nil {
		return err
	}
	dir := p.folder(x)
	if _, err := os.Stat(filepath.Join(dir, paperFile)); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if x.Tree != nil {
			root, err := os.OpenRoot(dir)
			if err != nil {
				return err
			}
			defer root.Close()
			if err := blob.Restore(ctx, p.rt.Blobs, *x.Tree, root); err != nil {
				return err
			}
		}
	}
	if r := x.Reproduction; r != nil && r.Output != nil {
		if err := p.copyBlob(ctx, *r.Output, filepath.Join(dir, "reproduction.out")); err != nil {
			return err
		}
	}
	return replaceFile(filepath.Join(dir, paperFile), []byte(text))
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

// commit records a decided paper in the folder's git repository. Agents' files are in
// it, so git is kept from everything that a file or a setting could make it do.
func (p *press) commit(ctx context.Context, j job) error {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil // the folder is what counts; its history is a convenience
	}
	dir := p.rt.QuestDir(p.key)
	at := j.decided.Time.Time().UTC().Format(time.RFC3339)
	git := func(args ...string) error {
		cmd := exec.CommandContext(ctx, program, append([]string{
			"-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false",
			"-c", "core.attributesFile=/dev/null", "-c", "gc.auto=0", "-c", "safe.directory=*",
		}, args...)...)
		cmd.Dir = dir
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DIR=" + filepath.Join(dir, ".git"), "GIT_WORK_TREE=" + dir,
			"GIT_AUTHOR_NAME=Lyceum", "GIT_AUTHOR_EMAIL=lyceum@localhost", "GIT_COMMITTER_NAME=Lyceum", "GIT_COMMITTER_EMAIL=lyceum@localhost",
			"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, atMost(strings.TrimSpace(string(out)), 500))
		}
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); errors.Is(err, os.ErrNotExist) {
		if err := git("init", "--quiet", "--initial-branch=main"); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(dir, ".gitignore"), []byte("agents/\ncomputers/\n")); err != nil {
			return err
		}
	}
	if err := git("add", "--all", "--force", "publications", "quest.yaml", "brief.md", ".gitignore"); err != nil {
		return err
	}
	b := j.decided.Body.(*event.PublicationDecided)
	message := fmt.Sprintf("%s %s\n\n%s\nby %s, %d for and %d against\n", b.Status, b.Ref, oneLine(j.paper.Title), j.paper.Author, b.Accepts, b.Rejects)
	return git("commit", "--quiet", "--allow-empty", "--message", message)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
