package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lyceum/internal/runtime"
	"lyceum/internal/scratch"
)

// repository is the git repository of a quest's folder. Agents' files are in it, so
// git is kept from everything that a file or a setting could make it do.
type repository struct {
	program, dir string
	// bare says that the folder is no work tree: what is committed is not what lies there.
	bare bool
	// lock is held by this process and by every git that it starts, also by one that
	// outlives it: the next process waits for that one to end.
	lock *os.File
}

// gitPatience is how long one git may take: one that hangs must not hold up a quest for ever.
var gitPatience = 10 * time.Minute

// errHangs says that a git took longer.
var errHangs = errors.New("it took too long")

// works reports whether git can make a repository at all.
func works(ctx context.Context) bool {
	f, err := scratch.New("", "lyceum-git-")
	if err != nil {
		return false
	}
	r, err := openRepository(ctx, f.Path, true)
	return errors.Join(err, r.close(), f.Close()) == nil
}

// openRepository opens the repository of a quest's folder, and makes it if there is none. It
// is nil where there is no git: the folder is what counts, its history is a convenience.
func openRepository(ctx context.Context, dir string, bare bool) (*repository, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, nil
	}
	r := &repository{program: program, dir: dir, bare: bare}
	at := filepath.Join(r.dir, ".git")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	if r.lock, err = os.OpenFile(filepath.Join(at, "lyceum.lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := r.open(ctx, at); err != nil {
		return nil, errors.Join(fmt.Errorf("open the repository of quest %s: %w", filepath.Base(dir), err), r.close())
	}
	return r, nil
}

func (r *repository) open(ctx context.Context, at string) error {
	if err := syscall.Flock(int(r.lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	// A git that was killed has left its own locks. Nobody holds them now: only who
	// owns the quest writes here, and what the last owner started has ended.
	for _, name := range []string{"index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"} {
		if err := runtime.RemoveIfThere(filepath.Join(at, name)); err != nil {
			return err
		}
	}
	if err := unlockRefs(filepath.Join(at, "refs")); err != nil {
		return err
	}
	if err := removeHalf(at); err != nil {
		return err
	}
	if r.bare {
		// The same bytes have the same ids, whatever git makes by itself.
		_, err := r.run(ctx, []string{"GIT_DEFAULT_REF_FORMAT=files"}, "init", "--quiet", "--bare", "--object-format=sha1", "--initial-branch=main")
		return err
	}
	if _, err := r.run(ctx, nil, "init", "--quiet", "--initial-branch=main"); err != nil {
		return err
	}
	return runtime.ReplaceFile(filepath.Join(r.dir, ".gitignore"), []byte("agents/\ncomputers/\n"))
}

// removeHalf removes packs that a killed git had begun, and what it wrote of its end.
func removeHalf(at string) error {
	for _, pattern := range []string{"objects/pack/tmp_*", "fast_import_crash_*"} {
		begun, err := filepath.Glob(filepath.Join(at, pattern))
		for _, f := range begun {
			err = errors.Join(err, runtime.RemoveIfThere(f))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unlockRefs removes the locks of refs. No ref of ours ends like one.
func unlockRefs(refs string) error {
	err := filepath.WalkDir(refs, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".lock") {
			return runtime.RemoveIfThere(path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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
		out, errText, err := r.once(ctx, env, nil, args...)
		if err == nil {
			return out, nil
		}
		if ctx.Err() == nil && strings.Contains(errText, ".lock': File exists") && pause < 2*time.Second {
			time.Sleep(pause)
			continue
		}
		return "", err
	}
}

// once runs git, which may read in.
func (r *repository) once(ctx context.Context, env []string, in io.Reader, args ...string) (out, errText string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gitPatience, errHangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.program, append([]string{
		"-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false",
		"-c", "core.attributesFile=/dev/null", "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "-c", "gc.auto=0", "-c", "safe.directory=*",
	}, args...)...)
	cmd.Dir = r.dir
	cmd.Stdin = in
	cmd.ExtraFiles = []*os.File{r.lock}
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_DIR=" + filepath.Join(r.dir, ".git"), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Lyceum", "GIT_AUTHOR_EMAIL=lyceum@localhost", "GIT_COMMITTER_NAME=Lyceum", "GIT_COMMITTER_EMAIL=lyceum@localhost",
	}, env...)
	if !r.bare {
		cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+r.dir)
	}
	cmd.WaitDelay = time.Second
	var said, failed strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &failed
	if err = cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		err = fmt.Errorf("git %s: %w: %s", args[0], err, runtime.AtMost(strings.TrimSpace(failed.String()), 500))
	}
	return said.String(), failed.String(), err
}

// aside makes room for a new repository in a quest's folder.
func aside(dir string) error {
	at := filepath.Join(dir, ".git")
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s-damaged-%d", at, n)
		if _, missing := os.Lstat(to); errors.Is(missing, os.ErrNotExist) {
			return os.Rename(at, to)
		}
	}
}

// readRepository are the refs of all branches of a repository that nobody writes to now, nil if
// there is none, or no git.
func readRepository(ctx context.Context, dir string) (map[string]string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, nil
	}
	at := filepath.Join(dir, ".git")
	lock, err := os.OpenFile(filepath.Join(at, "lyceum.lock"), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	r := &repository{program: program, dir: dir, bare: true, lock: lock}
	return r.heads(ctx)
}
