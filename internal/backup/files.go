package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/blob"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"

	"golang.org/x/sys/unix"
)

// leftOut reports whether something at the top of a home is not copied: it comes in
// another way, is made again, stands for a process or is a credential.
func leftOut(name string) bool {
	return slices.Contains([]string{"blobs", "cache", "claims", "quests", "server", "serving", "studies", "token"}, name) ||
		strings.HasPrefix(name, "lyceum.db") || strings.HasPrefix(name, "lyceum-index.db") || strings.HasPrefix(name, ".token-")
}

// files copies what people put into a home: config.yaml, profiles, and whatever else is
// there. Links to files are followed, for a config.yaml often is one.
func (m *maker) files(ctx context.Context) error {
	list, err := os.ReadDir(m.rt.Home)
	if err != nil {
		return err
	}
	for _, e := range list {
		switch {
		case e.Name() == "token":
			m.report.LeftOut = append(m.report.LeftOut, "token (the credential of lyceum serve, which makes a new one)")
		case leftOut(e.Name()):
		case e.Name() == "config.yaml":
			if err := errors.Join(m.file(ctx, e.Name()), m.keptHere()); err != nil {
				return err
			}
		default:
			if err := m.file(ctx, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// elsewhere are the lines of a config.yaml that say where ledgers and blobs are kept.
var elsewhere = regexp.MustCompile(`(?m)^(ledger|blobs)[ \t]*:`)

// keptHere has the copied config.yaml not lead whoever opens the backup to the stores that it was made of: what was
// there is here.
func (m *maker) keptHere() error {
	path := filepath.Join(m.home(), "config.yaml")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !elsewhere.Match(text) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, elsewhere.ReplaceAll(text, []byte("# in the home that this is a backup of: $0")), 0o600)
}

// file copies a file or a folder of the home. One that went meanwhile is no more.
func (m *maker) file(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	from, to := filepath.Join(m.rt.Home, name), filepath.Join(m.home(), name)
	info, err := os.Lstat(from)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if target, broken := os.Stat(from); broken == nil && target.Mode().IsRegular() {
			info = target
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return m.folder(ctx, name, info.Mode().Perm())
	case !info.Mode().IsRegular():
		m.report.LeftOut = append(m.report.LeftOut, name+" (no plain file)")
		return nil
	}
	err = copyFile(ctx, from, to, info.Mode().Perm())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (m *maker) folder(ctx context.Context, name string, mode fs.FileMode) error {
	if err := os.Mkdir(filepath.Join(m.home(), name), mode|0o700); err != nil {
		return err
	}
	list, err := os.ReadDir(filepath.Join(m.rt.Home, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range list {
		if err := m.file(ctx, filepath.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(ctx context.Context, from, to string, mode fs.FileMode) error {
	in, err := os.OpenFile(from, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, blob.Interruptible(ctx, in))
	return errors.Join(err, out.Close())
}

// quest writes the folder of a quest as its copied ledger says it should be, and copies
// workspaces that are not as the ledger has them.
func (m *maker) quest(ctx context.Context, h ledger.Head) error {
	s, err := m.copy.Load(ctx, h.Quest)
	if err == nil {
		err = m.copy.WriteFolder(ctx, h.Quest, s)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, ledger.ErrFull) {
			return err
		}
		// The ledger is copied, whatever it says; who runs the quest writes its folder.
		if !isDamage(err) {
			m.report.LeftOut = append(m.report.LeftOut, fmt.Sprintf("the folder of quest %s, which follows from its ledger (%v)", h.Quest, err))
		}
		return nil
	}
	agents, err := os.ReadDir(filepath.Join(m.rt.QuestDir(h.Quest), "agents"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range agents {
		if a := s.Agent(e.Name()); a != nil && e.IsDir() && err == nil {
			err = m.workspace(ctx, h, a.Name, a.Tree)
		}
	}
	return err
}

// workspace copies a workspace that is not as recorded, if the quest stands still:
// a person's hand was in it. Of a quest that runs, or ran since, the ledger has the
// workspace that belongs to it.
func (m *maker) workspace(ctx context.Context, h ledger.Head, agent string, recorded *event.TreeRef) error {
	still, err := m.still(ctx, h)
	if err != nil || !still {
		return err
	}
	if err = m.lookAt(ctx, h, agent, recorded); err != nil {
		// Whoever runs the quest, or removes it, takes folders away while they are read.
		if still, unknown := m.still(ctx, h); unknown == nil && !still {
			return os.RemoveAll(filepath.Join(m.copy.QuestDir(h.Quest), "agents", agent))
		}
	}
	return err
}

func (m *maker) lookAt(ctx context.Context, h ledger.Head, agent string, recorded *event.TreeRef) error {
	from, err := os.OpenRoot(filepath.Join(m.rt.QuestDir(h.Quest), "agents", agent))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	now, _, _, err := blob.Snapshot(ctx, sums{}, from, nil)
	if err != nil || recorded != nil && now == *recorded {
		return err
	}
	to := filepath.Join(m.copy.QuestDir(h.Quest), "agents", agent)
	if err := m.copyFolder(ctx, from, to); err != nil {
		return err
	}
	if still, err := m.still(ctx, h); err != nil || !still {
		return errors.Join(err, os.RemoveAll(to))
	}
	m.report.Workspaces = append(m.report.Workspaces, h.Quest+"/"+agent)
	return nil
}

// still reports whether nobody runs a quest, nor has since its ledger was copied.
func (m *maker) still(ctx context.Context, h ledger.Head) (bool, error) {
	claimed, err := m.rt.Ledger.Claimed(h.Quest)
	if err != nil || claimed {
		return false, err
	}
	now, err := m.rt.Ledger.Head(ctx, h.Quest)
	if errors.Is(err, ledger.ErrNoQuest) {
		return false, nil
	}
	return now == h, err
}

// copyFolder copies a folder that hostile programs may have filled: as a tree, as
// whatever else is read from a workspace.
func (m *maker) copyFolder(ctx context.Context, from *os.Root, to string) (err error) {
	scratch := filepath.Join(m.part, "scratch")
	store, err := blobfs.Open(scratch, &blobfs.Options{Volatile: true, Pack: blobfs.Never})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close(), os.RemoveAll(scratch)) }()
	tree, _, _, err := blob.Snapshot(ctx, store, from, nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	return blob.Restore(ctx, store, tree, root)
}

// sums is a store that keeps nothing: a snapshot into it only finds out the tree.
type sums struct{}

func (sums) Put(_ context.Context, data []byte) (event.Ref, error) { return event.RefOf(data), nil }

func (sums) Create(ctx context.Context, r io.Reader) (event.Ref, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, blob.Interruptible(ctx, r))
	return event.Ref{Hash: event.Hash(sum.Sum(nil)), Size: n}, err
}

func (sums) Get(context.Context, event.Hash) ([]byte, error) { return nil, blob.ErrNotFound }

func (sums) Open(context.Context, event.Hash) (io.ReadCloser, error) { return nil, blob.ErrNotFound }

func (sums) Has(context.Context, event.Hash) (bool, error) { return false, nil }

// pack writes the home into one file.
func (m *maker) pack(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := tar.NewWriter(f)
	err = filepath.WalkDir(m.home(), func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = m.packOne(w, path)
		}
		return err
	})
	return errors.Join(err, w.Close(), f.Close())
}

func (m *maker) packOne(w *tar.Writer, path string) error {
	name, err := filepath.Rel(m.home(), path)
	if err != nil || name == "." {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	h.Name, h.Uname, h.Gname, h.Uid, h.Gid = filepath.ToSlash(name), "", "", 0, 0
	if info.IsDir() {
		h.Name += "/"
	}
	if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(w, in)
	return err
}

// flushAll flushes the disk that a folder is on: one flush for many thousand files.
func flushAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// studies copies the ledgers of studies, as they are at one moment. They come before those of quests: a
// study that goes on in the backup finds quests that it does not know of yet, and takes them for its
// own; it never misses one.
func (m *maker) studies(ctx context.Context) (err error) {
	const name = "studies/lyceum.db"
	from := filepath.Join(m.rt.Home, name)
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	store, err := sqlite.Open(from, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	to := filepath.Join(m.home(), name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return store.Backup(ctx, to, nil)
}
