package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/plain"
)

// place is where the parts of a repository are.
type place struct {
	// dir is the folder of the work tree, gitDir its .git, common where the objects and
	// branches are: gitDir too, unless the work tree is one of several.
	dir, gitDir, common string
	bare                bool
}

// maxWalk is how many names of a repository are looked at.
const maxWalk = 2_000_000

// locate finds the repository of a folder; found is false for a folder that has none of
// its own. One that is spread over places that it chose itself is refused: it could show
// what is not its own.
func locate(dir string) (p place, found bool, err error) {
	dot := filepath.Join(dir, ".git")
	info, err := os.Lstat(dot)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !looksBare(dir) {
			return place{}, false, nil
		}
		p = place{dir: dir, gitDir: dir, common: dir, bare: true}
	case err != nil:
		return place{}, false, err
	case info.IsDir():
		p = place{dir: dir, gitDir: dot, common: dot}
	case info.Mode().IsRegular():
		if p, err = linked(dir, dot); err != nil {
			return place{}, false, err
		}
	default:
		return place{}, false, errors.New(".git is neither a folder nor a file: clone the repository anew")
	}
	return p, true, p.check()
}

// looksBare tells a repository without a work tree by what git goes by.
func looksBare(dir string) bool {
	head, err := os.Lstat(filepath.Join(dir, "HEAD"))
	if err != nil || !head.Mode().IsRegular() {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// linked finds the repository of a work tree that git worktree made. The repository must
// know of this work tree: otherwise anybody's .git file could name anybody's repository.
func linked(dir, dot string) (place, error) {
	stray := errors.New(".git names a repository elsewhere that does not know of this folder: give the repository itself, or a clone of it")
	text, err := readShort(dot)
	if err != nil {
		return place{}, err
	}
	gitDir, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return place{}, errors.New(".git is a file, and names no repository: clone the repository anew")
	}
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(dir, gitDir)
	}
	back, err := readShort(filepath.Join(gitDir, "gitdir"))
	if err != nil || !sameFile(back, dot, gitDir) {
		return place{}, stray
	}
	common, err := readShort(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return place{}, stray
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(gitDir, common)
	}
	return place{dir: dir, gitDir: filepath.Clean(gitDir), common: filepath.Clean(common)}, nil
}

// sameFile reports whether a path that a repository has written down is that of a file.
func sameFile(written, file, from string) bool {
	if !filepath.IsAbs(written) {
		written = filepath.Join(from, written)
	}
	a, err := os.Stat(written)
	if err != nil {
		return false
	}
	b, err := os.Stat(file)
	return err == nil && os.SameFile(a, b)
}

// readShort reads a file of one line.
func readShort(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 4<<10))
	return strings.TrimRight(string(data), "\r\n"), err
}

// check refuses a repository whose objects or branches are elsewhere.
func (p place) check() error {
	if p.gitDir == p.common {
		if _, err := os.Lstat(filepath.Join(p.gitDir, "commondir")); err == nil {
			return errors.New("the repository names another one for its objects (.git/commondir): clone it anew")
		}
	}
	for _, name := range []string{"alternates", "http-alternates"} {
		text, err := os.ReadFile(filepath.Join(p.common, "objects", "info", name))
		if err == nil && strings.TrimSpace(string(text)) != "" {
			return errors.New("the repository takes objects from another one (.git/objects/info/alternates): run git repack -a -d in it and remove that file, or clone it anew")
		}
	}
	left := maxWalk
	for _, name := range []string{"HEAD", "packed-refs", "refs", "objects", "config", "index", "shallow", "reftable"} {
		for _, dir := range []string{p.common, p.gitDir} {
			if err := noLinks(filepath.Join(dir, name), &left); err != nil {
				return err
			}
			if p.common == p.gitDir {
				break
			}
		}
	}
	return nil
}

// noLinks refuses a link, or anything else that is neither file nor folder, at a path and
// below.
func noLinks(path string, left *int) error {
	return filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if *left--; *left < 0 {
			return errors.New("the repository has too many files: run git gc in it")
		}
		if t := d.Type(); t != 0 && t != fs.ModeDir {
			return fmt.Errorf("the repository has a link or something else that is no file in its .git (%s): clone it anew", d.Name())
		}
		return nil
	})
}

// hidden is what errors of a git must not tell: where things lie on this machine.
func (p place) hidden() map[string]string {
	return map[string]string{p.gitDir: "the repository", p.common: "the repository", p.dir: "the folder"}
}

// own runs git on the repository itself, with its settings: for what is in no other place,
// its branches.
func (p place) own() *git { return &git{gitDir: p.gitDir, hide: p.hidden()} }

// through runs git on the objects of the repository, without its settings.
func (p place) through(b *bench) *git {
	g := b.git()
	g.objects = filepath.Join(p.common, "objects")
	for path, word := range p.hidden() {
		g.hide[path] = word
	}
	return g
}

// commit finds the commit that a name stands for.
func (p place) commit(ctx context.Context, name string) (id string, err error) {
	if name == "" || len(name) > maxBase || strings.HasPrefix(name, "-") || strings.Contains(name, " ") || !plain.Printable(name) {
		return "", fmt.Errorf("base %.80q names no commit", name)
	}
	id, err = p.own().line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("there is no commit %.80q in the repository: name a branch, a tag or a commit, or make a first commit", name)
	}
	if !isID(id) {
		return "", errors.New("git rev-parse answered with something else than a commit")
	}
	return id, nil
}

// maxBase is how long the name of a base may be.
const maxBase = 200

// isID reports whether a text is the id of an object.
func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// format is the hash that the repository names objects with.
func (p place) format(id string) string {
	if len(id) == 64 {
		return "sha256"
	}
	return "sha1"
}
