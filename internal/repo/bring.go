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
	"strconv"
	"strings"
	"time"
)

// Commit is what a branch is made with.
type Commit struct {
	// Branch is its name, such as lyceum/primes.
	Branch string
	// Base is the commit that the changes were made of. Was is what named it then, HEAD if
	// empty: if that names another now, the base has moved.
	Base, Was string
	// Message is the commit's whole text, Time its time. The same changes make the same commit.
	Message string
	Time    time.Time
}

// Branched is a branch that was made.
type Branched struct {
	Branch, Commit string
	// Moved is the commit that the base's name stands for by now, empty if it has not moved.
	Moved string
	// Already says that the branch was there as it should be.
	Already bool
}

// ErrNoRepository says that a folder has no branches.
var ErrNoRepository = errors.New("the folder is no git repository of its own, so that there are no branches: use --apply, or print the patch")

// BranchExistsError says that a branch of that name is another.
type BranchExistsError struct{ Branch, At string }

func (e *BranchExistsError) Error() string {
	return fmt.Sprintf("there is a branch %s already, at %.12s: name another with --branch=<name>, or remove that one with git branch -D %s", e.Branch, e.At, e.Branch)
}

// Branch makes a commit of a delivery in the repository of a folder, and a branch that has
// it. Work tree, index and hooks are left alone, and no setting of the repository is looked at
// but who its owner is. A branch that is there is not moved. If it is cut short, the branch is
// there whole or not at all, and making it again succeeds.
func (d *Delivery) Branch(ctx context.Context, dir string, c Commit) (*Branched, error) {
	p, found, err := locate(dir)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrNoRepository
	}
	if len(d.Changes) == 0 {
		return nil, errors.New("nothing has changed: there is nothing to commit")
	}
	ref := "refs/heads/" + c.Branch
	if _, err := p.own().line(ctx, "check-ref-format", ref); err != nil || strings.HasPrefix(c.Branch, "-") {
		return nil, fmt.Errorf("%.100q is no name for a branch", c.Branch)
	}
	out := &Branched{Branch: c.Branch}
	if base, err := p.commit(ctx, c.Base); err != nil || base != c.Base {
		return nil, fmt.Errorf("the repository does not have the commit %.12s that the quest began with: name the right one with --repo, or fetch it", c.Base)
	}
	was := c.Was
	if was == "" {
		was = "HEAD"
	}
	if now, err := p.commit(ctx, was); err == nil && now != c.Base {
		out.Moved = now
	}
	if out.Commit, err = d.commit(ctx, p, c); err != nil {
		return nil, fmt.Errorf("make the commit: %w", err)
	}
	at, err := p.own().line(ctx, "for-each-ref", "--format=%(objectname)", ref)
	switch {
	case err != nil:
		return nil, err
	case at == out.Commit:
		out.Already = true
		return out, nil
	case at != "":
		return nil, &BranchExistsError{c.Branch, at}
	}
	// Only if there is none: whoever made one meanwhile keeps it.
	none := strings.Repeat("0", len(out.Commit))
	if _, err := p.own().line(ctx, "update-ref", "-m", "lyceum deliver", ref, out.Commit, none); err != nil {
		return nil, fmt.Errorf("make the branch: %w", err)
	}
	return out, nil
}

// commit writes the objects of a commit and returns its id. Nothing names it yet.
func (d *Delivery) commit(ctx context.Context, p place, c Commit) (string, error) {
	who, err := p.author(ctx, c.Time)
	if err != nil {
		return "", err
	}
	b, err := newBench(p.format(c.Base))
	if err != nil {
		return "", err
	}
	defer b.Close()
	g := p.through(b)
	g.index, g.extra = b.path("index"), who
	ids, err := d.objects(ctx, g, b)
	if err != nil {
		return "", err
	}
	if _, err := g.line(ctx, "read-tree", "--no-sparse-checkout", c.Base); err != nil {
		return "", err
	}
	if _, err := g.run(ctx, 1<<10, d.indexInfo(ids, len(c.Base)), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	tree, err := g.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	id, err := g.run(ctx, 1<<10, strings.NewReader(c.Message), "commit-tree", "-p", c.Base, tree)
	if name := strings.TrimSpace(string(id)); err == nil && isID(name) {
		return name, nil
	}
	return "", errors.Join(err, errors.New("git commit-tree named no commit"))
}

// objects writes the new contents as objects, and returns their ids in the order of the
// changes, empty for what is gone.
func (d *Delivery) objects(ctx context.Context, g *git, b *bench) ([]string, error) {
	ids := make([]string, len(d.Changes))
	var names bytes.Buffer
	var which []int
	for i, c := range d.Changes {
		if c.New == nil {
			continue
		}
		name := b.path("work/" + strconv.Itoa(i))
		if err := d.writeTo(ctx, name, c); err != nil {
			return nil, fmt.Errorf("%s: %w", shown(c.Path), err)
		}
		names.WriteString(name + "\n")
		which = append(which, i)
	}
	out, err := g.run(ctx, 1<<20, &names, "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return nil, err
	}
	made := strings.Fields(string(out))
	if len(made) != len(which) {
		return nil, errors.New("git hash-object did not store all files")
	}
	for k, i := range which {
		ids[i] = made[k]
	}
	return ids, nil
}

func (d *Delivery) writeTo(ctx context.Context, name string, c Change) error {
	in, err := d.content(ctx, c.New)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// indexInfo is what update-index is told: what is gone first, for a folder may stand in the
// place of a file.
func (d *Delivery) indexInfo(ids []string, length int) io.Reader {
	var gone, come bytes.Buffer
	none := strings.Repeat("0", length)
	for i, c := range d.Changes {
		if c.Old != nil {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", none, c.Path)
		}
		if c.New != nil {
			fmt.Fprintf(&come, "%s %s\t%s\x00", gitMode(*c.New), ids[i], c.Path)
		}
	}
	return io.MultiReader(&gone, &come)
}

// author says who makes commits here, from a person's own settings of git: those are asked for
// two words, and nothing else.
func (p place) author(ctx context.Context, at time.Time) ([]string, error) {
	name, email := os.Getenv("GIT_AUTHOR_NAME"), os.Getenv("GIT_AUTHOR_EMAIL")
	for key, to := range map[string]*string{"user.name": &name, "user.email": &email} {
		if *to != "" {
			continue
		}
		var err error
		if *to, err = p.setting(ctx, key); err != nil {
			return nil, err
		}
	}
	when := fmt.Sprintf("%d +0000", at.Unix())
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_AUTHOR_DATE=" + when,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email, "GIT_COMMITTER_DATE=" + when,
	}, nil
}

// setting reads one of git's settings, the person's own and the machine's included.
func (p place) setting(ctx context.Context, key string) (string, error) {
	cmd, cancel, err := p.own().command(ctx, "config", "--get", key)
	if err != nil {
		return "", err
	}
	defer cancel()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_DIR=" + p.gitDir}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out := &limited{most: 1 << 10}
	cmd.Stdout = out
	err = cmd.Run()
	value := strings.TrimSpace(out.kept.String())
	if _, none := errors.AsType[*exec.ExitError](err); none || err == nil && value == "" {
		return "", fmt.Errorf("git does not know who makes the commit: set %s with git config --global %s <yours>", key, key)
	}
	return value, err
}

// Apply writes a patch into the files of a folder, be it a repository or not; index and hooks
// are left alone, and no filter is run. If any part of it does not fit, nothing is written.
func Apply(ctx context.Context, dir string, patch []byte) error {
	if _, _, err := locate(dir); err != nil {
		return err
	}
	b, err := newBench("sha1")
	if err != nil {
		return err
	}
	defer b.Close()
	g := b.git()
	g.work, g.dir = dir, dir
	g.hide[filepath.Clean(dir)] = "the folder"
	for _, args := range [][]string{{"apply", "--check"}, {"apply"}} {
		if _, err := g.run(ctx, 1<<20, bytes.NewReader(patch), append(args, "--whitespace=nowarn", "-p1", "-")...); err != nil {
			return fmt.Errorf("the patch does not fit the files as they are now, and nothing was written: %w; commit or take back your own changes, or use --branch", err)
		}
	}
	return nil
}
