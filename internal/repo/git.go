package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lyceum/internal/plain"
	"lyceum/internal/scratch"
)

// ErrNoGit says that this machine has no git.
var ErrNoGit = errors.New("there is no git on this machine: install git, or give a folder without a repository")

// patience is how long one git may take. A hostile repository can make it wait for ever, for
// instance with a pipe in the place of a file.
const patience = 5 * time.Minute

// git is one way of running git: with settings of ours, and none of anybody else's but
// those of the repository itself where gitDir is a person's.
type git struct {
	// gitDir is the repository. objects, index and work stand in the place of its own.
	gitDir, objects, index, work string
	// dir is where git runs, the repository itself if it is empty.
	dir string
	// magic has git take paths with signs that mean something, where it must.
	magic bool
	// extra are further variables.
	extra []string
	// hide is what must not be told of this machine, and what is said for it.
	hide map[string]string
}

// settings are those that a repository must not have a say in. Each of them could run a
// program, or lead out of the repository.
var settings = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false",
	"core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "core.pager=cat", "core.editor=false", "core.askPass=",
	"core.sshCommand=false", "core.gitProxy=", "core.alternateRefsCommand=false", "core.protectHFS=true", "core.protectNTFS=true",
	"core.bigFileThreshold=512m", "core.autocrlf=false", "core.quotePath=true", "credential.helper=", "protocol.allow=never", "diff.external=",
	"diff.noprefix=false", "diff.mnemonicPrefix=false", "gc.auto=0", "maintenance.auto=false", "commit.gpgSign=false", "gpg.program=false",
}

// environment is all that git sees of this process.
func environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/dev/null", "XDG_CONFIG_HOME=/dev/null",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_PROTOCOL_FROM_USER=0", "GIT_CEILING_DIRECTORIES=/",
	}
}

// command makes a git that is ready to start. The caller cancels it.
func (g *git) command(ctx context.Context, args ...string) (*exec.Cmd, context.CancelFunc, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, nil, ErrNoGit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("git took longer than %s", patience))
	all := []string{"--no-pager", "--no-optional-locks", "--no-replace-objects"}
	if !g.magic {
		all = append(all, "--literal-pathspecs")
	}
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, program, append(all, args...)...)
	cmd.Dir = g.dir
	if cmd.Dir == "" {
		cmd.Dir = g.gitDir
	}
	cmd.Env = append(environment(), "GIT_DIR="+g.gitDir)
	for name, value := range map[string]string{"GIT_OBJECT_DIRECTORY": g.objects, "GIT_INDEX_FILE": g.index, "GIT_WORK_TREE": g.work} {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, g.extra...)
	cmd.WaitDelay = time.Second
	return cmd, cancel, nil
}

// run has git read in, and returns what it writes, at most so many bytes.
func (g *git) run(ctx context.Context, most int64, in io.Reader, args ...string) ([]byte, error) {
	cmd, cancel, err := g.command(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer cancel()
	out, errs := &limited{most: most}, &limited{most: 4 << 10, cut: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	err = cmd.Run()
	if out.over {
		return nil, errTooLong
	}
	if err != nil {
		return nil, g.failed(cmd, args[0], errs.kept.Bytes(), err)
	}
	return out.kept.Bytes(), nil
}

// line is run for an answer of one line.
func (g *git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, 64<<10, nil, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// errTooLong says that git wrote more than is taken.
var errTooLong = errors.New("git wrote too much")

// GitError is a git that did not succeed.
type GitError struct {
	Command string
	// Text is what it said, made safe to read.
	Text string
	Err  error
}

func (e *GitError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("git %s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("git %s: %s", e.Command, e.Text)
}

func (e *GitError) Unwrap() error { return e.Err }

func (g *git) failed(cmd *exec.Cmd, command string, said []byte, err error) error {
	text := string(said)
	// The longest first: one may be part of another.
	for _, path := range slices.SortedFunc(mapKeys(g.hide), func(a, b string) int { return len(b) - len(a) }) {
		text = strings.ReplaceAll(text, path, g.hide[path])
	}
	return &GitError{Command: command, Text: plain.Brief(plain.Line(text), 500), Err: err}
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if k != "" && !yield(k) {
				return
			}
		}
	}
}

// limited keeps what is written up to a bound. Beyond that it fails or, with cut, forgets.
type limited struct {
	kept bytes.Buffer // not embedded: a buffer reads for itself, and knows no bound
	most int64
	cut  bool
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := max(l.most-int64(l.kept.Len()), 0)
	if int64(len(p)) <= room {
		return l.kept.Write(p)
	}
	l.kept.Write(p[:room])
	if l.cut {
		return len(p), nil
	}
	l.over = true
	return int(room), errTooLong
}

// bench is a repository of ours for a moment: with our settings and nothing else. Another's
// objects can be read and written through it without a look at the other's settings.
type bench struct{ *scratch.Folder }

// newBench makes one in the folder for temporary files. format is sha1 or sha256.
func newBench(format string) (*bench, error) {
	f, err := scratch.New("", "lyceum-git-")
	if err != nil {
		return nil, err
	}
	b := &bench{f}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if format == "sha256" {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
	}
	for _, sub := range []string{"git/objects/pack", "git/refs/heads", "work"} {
		err = errors.Join(err, os.MkdirAll(b.path(sub), 0o700))
	}
	// There is no such branch: attributes are not taken from a tree either.
	err = errors.Join(err, os.WriteFile(b.path("git/HEAD"), []byte("ref: refs/heads/none\n"), 0o600),
		os.WriteFile(b.path("git/config"), []byte(config), 0o600))
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *bench) path(name string) string { return filepath.Join(b.Path, filepath.FromSlash(name)) }

// git runs git on the bench.
func (b *bench) git() *git {
	return &git{gitDir: b.path("git"), hide: map[string]string{b.Path: "lyceum"}}
}
