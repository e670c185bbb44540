package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"lyceum/internal/quest"
	"lyceum/internal/repo"

	sdk "github.com/coder/acp-go-sdk"
)

// The folder of a session is the repo of its quest: agents begin with what git knows of its
// work tree, and with what the client has in its editor of the files that a prompt names.

// base is what a folder is taken as: the base of the quest's repo, and an error that says why
// agents get nothing of it.
func (a *Agent) base(folder string) (string, error) {
	at, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", err
	}
	if at == filepath.Dir(at) {
		return "", errors.New("it is the root of the disk")
	}
	for _, own := range []struct{ dir, what string }{{homeFolder(), "your home folder"}, {a.rt.Home, "Lyceum's own home"}} {
		dir, err := filepath.EvalSymlinks(own.dir)
		if err != nil {
			continue
		}
		if dir == at || below(at, dir) != "" {
			return "", fmt.Errorf("it is %s, or holds it", own.what)
		}
	}
	found, err := repo.IsRepository(at)
	switch {
	case err != nil:
		return "", err
	case found:
		return quest.BaseWorktree, nil
	case slices.ContainsFunc(a.opts.Folders, func(listed string) bool { return sameFolder(listed, at) }):
		return "", nil
	}
	return "", errors.New("it is no git repository: run git init there and commit, open the folder that is the repository, or list this one under repos in config.yaml")
}

func homeFolder() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// below is the path of a file from a folder on, with slashes, empty if it is not below.
func below(folder, file string) string {
	rel, err := filepath.Rel(folder, file)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// fileOf is the file below a folder that an address names, empty if it names none, and what
// stands behind it, such as lines.
func fileOf(folder, uri string) (name, part string) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) || strings.ContainsRune(u.Path, 0) {
		return "", ""
	}
	return below(folder, filepath.Clean(u.Path)), u.Fragment
}

// How much of what a prompt names is taken, and how long a client has to read or write a file.
const (
	maxNamed     = 32
	maxNamedFile = 1 << 20
	fileTime     = 30 * time.Second
)

// project is the folder of a session, as its client and the disk have it. No link is followed
// in it.
type project struct {
	agent *Agent
	id    sdk.SessionId
	dir   string
	// mute says that the client did not answer in time: it is not waited for again.
	mute bool
}

func (a *Agent) project(s *session) *project {
	return &project{agent: a, id: sdk.SessionId(s.id), dir: s.folder}
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// named reads the files that a prompt names, in the client if it can: what stands in its
// editor counts over the disk. What cannot be read is not there.
func (p *project) named(ctx context.Context, names []string) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range names {
		if len(out) == maxNamed {
			break
		}
		data, there, err := p.current(ctx, name, maxNamedFile)
		if err == nil && there {
			out[name] = data
		}
	}
	return out
}

// current is what a file holds now: in the client, if it reads files, otherwise on the disk.
func (p *project) current(ctx context.Context, name string, most int64) (data []byte, there bool, err error) {
	data, there, err = p.stored(name, most)
	if err != nil || !p.agent.can().read {
		return data, there, err
	}
	ctx, cancel := context.WithTimeout(ctx, fileTime)
	defer cancel()
	var out sdk.ReadTextFileResponse
	var failed error
	if !p.mute {
		failed = p.agent.conn.Call(ctx, sdk.ClientMethodFsReadTextFile, sdk.ReadTextFileRequest{SessionId: p.id, Path: p.path(name)}, &out)
		p.mute = ctx.Err() != nil
	}
	switch {
	case p.mute:
		return nil, false, errors.New("the editor does not say what it holds")
	case failed != nil, out.Content == "" && !there:
		return data, there, nil // it is no text to the editor, or not there
	case int64(len(out.Content)) > most:
		return nil, false, fmt.Errorf("it has more than %d bytes", most)
	case !utf8.ValidString(out.Content):
		return nil, false, errors.New("the editor has it as something else than text")
	}
	return []byte(out.Content), true, nil
}

// stored is what a file holds on the disk.
func (p *project) stored(name string, most int64) (data []byte, there bool, err error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	info, err := plainFile(root, name)
	if info == nil || err != nil {
		return nil, false, err
	}
	// Not blocking, should it be a pipe by now.
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, bare(err)
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) {
		return nil, false, errors.New("it was replaced while it was read")
	}
	data, err = io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return data, err == nil, bare(err)
}

// errInTheWay says that a path leads through a link, or to what is no file.
var errInTheWay = errors.New("a link, or something that is no file, is in its place or on its path")

// plainFile finds a file, nil if there is none. What is reached by a link, or is no file, is an
// error.
func plainFile(root *os.Root, name string) (fs.FileInfo, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, errInTheWay
	}
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(name[:i]))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil || !info.IsDir() {
			return nil, errInTheWay
		}
	}
	info, err := root.Lstat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil || !info.Mode().IsRegular():
		return nil, errInTheWay
	}
	return info, nil
}

// bare is an error without the path in it, which its reader knows.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// write puts a text into a file, by the client if it writes files. Otherwise the file is
// replaced as a whole: who is killed in the middle leaves it as it was.
func (p *project) write(ctx context.Context, name, text string, program bool) error {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := plainFile(root, name)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(name)), 0o755); err != nil {
		return bare(err)
	}
	if p.agent.can().write {
		ctx, cancel := context.WithTimeout(ctx, fileTime)
		defer cancel()
		return p.agent.conn.Call(ctx, sdk.ClientMethodFsWriteTextFile, sdk.WriteTextFileRequest{SessionId: p.id, Path: p.path(name), Content: text}, nil)
	}
	mode := fs.FileMode(0o644)
	if program {
		mode = 0o755
	}
	if info != nil {
		mode = info.Mode().Perm()
	}
	return bare(replace(root, name, []byte(text), mode))
}

// remove takes a file away, and the folders that hold nothing without it, as git does. The
// protocol has no word for that, so it is done on the disk; there, too, the file must hold
// what the person was shown: their editor may have read it long ago.
func (p *project) remove(name, text string) error {
	data, there, err := p.stored(name, 2*maxWritten)
	switch {
	case err != nil:
		return err
	case !there:
		return nil
	case !sameText(string(data), text):
		return errors.New("on the disk it holds something else than in the editor")
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := plainFile(root, name); info == nil || err != nil {
		return err
	}
	if err := root.Remove(filepath.FromSlash(name)); err != nil {
		return bare(err)
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if root.Remove(filepath.FromSlash(dir)) != nil {
			break // it holds something
		}
	}
	return nil
}

// replace puts a file in the place of what is there, whole.
func replace(root *os.Root, name string, data []byte, mode fs.FileMode) (err error) {
	aside := filepath.FromSlash(path.Join(path.Dir(name), ".lyceum-"+strings.ToLower(rand.Text()[:12])))
	f, err := root.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(aside)
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(aside, filepath.FromSlash(name))
}
