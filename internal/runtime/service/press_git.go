package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

// repository is the git repository of a quest's folder. Agents' files are in it, so
// git is kept from everything that a file or a setting could make it do.
type repository struct {
	program, dir string
	// lock is held by this process and by every git that it starts, also by one that
	// outlives it: the next process waits for that one to end.
	lock *os.File
}

// repository opens the folder's repository, and makes it if there is none. It is nil
// where there is no git: the folder is what counts, its history is a convenience.
func (p *press) repository(ctx context.Context) (*repository, error) {
	if p.git != nil {
		return p.git, nil
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, nil
	}
	r := &repository{program: program, dir: p.q.QuestDir(p.q.Key)}
	at := filepath.Join(r.dir, ".git")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	if r.lock, err = os.OpenFile(filepath.Join(at, "lyceum.lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := r.open(ctx, at); err != nil {
		return nil, errors.Join(fmt.Errorf("open the repository of quest %s: %w", p.q.Key, err), r.close())
	}
	p.git = r
	return r, nil
}

func (r *repository) open(ctx context.Context, at string) error {
	if err := syscall.Flock(int(r.lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	// A git that was killed has left its own locks. Nobody holds them now: only who
	// owns the quest writes here, and what the last owner started has ended.
	for _, name := range []string{"index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock"} {
		if err := runtime.RemoveIfThere(filepath.Join(at, name)); err != nil {
			return err
		}
	}
	if _, err := r.run(ctx, nil, "init", "--quiet", "--initial-branch=main"); err != nil {
		return err
	}
	return runtime.ReplaceFile(filepath.Join(r.dir, ".gitignore"), []byte("agents/\ncomputers/\n"))
}

func (r *repository) close() error {
	if r == nil {
		return nil
	}
	return r.lock.Close()
}

// run runs git, again if somebody else is at the repository for a moment: an editor
// that shows the folder, say.
func (r *repository) run(ctx context.Context, env []string, args ...string) (string, error) {
	for pause := 20 * time.Millisecond; ; pause *= 2 {
		cmd := exec.CommandContext(ctx, r.program, append([]string{
			"-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false",
			"-c", "core.attributesFile=/dev/null", "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "-c", "gc.auto=0", "-c", "safe.directory=*",
		}, args...)...)
		cmd.Dir = r.dir
		cmd.ExtraFiles = []*os.File{r.lock}
		cmd.Env = append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_DIR=" + filepath.Join(r.dir, ".git"), "GIT_WORK_TREE=" + r.dir, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
			"GIT_AUTHOR_NAME=Lyceum", "GIT_AUTHOR_EMAIL=lyceum@localhost", "GIT_COMMITTER_NAME=Lyceum", "GIT_COMMITTER_EMAIL=lyceum@localhost",
		}, env...)
		var errText strings.Builder
		cmd.Stderr = &errText
		out, err := cmd.Output()
		if err == nil {
			return string(out), nil
		}
		if ctx.Err() == nil && strings.Contains(errText.String(), ".lock': File exists") && pause < 2*time.Second {
			time.Sleep(pause)
			continue
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, runtime.AtMost(strings.TrimSpace(errText.String()), 500))
	}
}

// committed are the first lines of all commits.
func (r *repository) committed(ctx context.Context) (map[string]bool, error) {
	if _, err := r.run(ctx, nil, "rev-parse", "--quiet", "--verify", "HEAD"); err != nil {
		return nil, nil // there is no commit yet
	}
	log, err := r.run(ctx, nil, "log", "--format=%s")
	have := map[string]bool{}
	for line := range strings.Lines(log) {
		have[strings.TrimSpace(line)] = true
	}
	return have, err
}

// giveUp leaves the history to the next run, which writes what is missing.
func (p *press) giveUp(err error) {
	p.lame = true
	p.q.Progress("Papers are written, and not committed to git: " + err.Error())
}

// setAside makes room for a new repository.
func (p *press) setAside() error {
	err := p.git.close()
	p.git = nil
	at := filepath.Join(p.q.QuestDir(p.q.Key), ".git")
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s-damaged-%d", at, n)
		if _, missing := os.Lstat(to); errors.Is(missing, os.ErrNotExist) {
			return errors.Join(err, os.Rename(at, to))
		}
	}
}

// commit records a decided paper in the folder's repository.
func (p *press) commit(ctx context.Context, j job) error {
	if p.lame {
		return nil
	}
	git, err := p.repository(ctx)
	if git == nil || err != nil {
		return err
	}
	add := []string{"add", "--all", "--force", "--", "publications/" + j.paper.Ref}
	for _, name := range []string{"quest.yaml", "brief.md", ".gitignore"} {
		if _, err := os.Lstat(filepath.Join(git.dir, name)); err == nil {
			add = append(add, name)
		}
	}
	if _, err := git.run(ctx, nil, add...); err != nil {
		return err
	}
	b := j.decided.Body.(*event.PublicationDecided)
	at := j.decided.Time.Time().UTC().Format(time.RFC3339)
	message := fmt.Sprintf("%s %s\n\n%s\nby %s, %d for and %d against\n", b.Status, b.Ref, oneLine(j.paper.Title), j.paper.Author, b.Accepts, b.Rejects)
	_, err = git.run(ctx, []string{"GIT_AUTHOR_DATE=" + at, "GIT_COMMITTER_DATE=" + at}, "commit", "--quiet", "--allow-empty", "--message", message)
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
