// Package backup copies a home while quests run in it. The copy is itself a home.
//
// The ledgers are copied first, as they are at one moment, or, where machines share them, each quest
// as it is at one; all the rest follows from that copy. Whoever has a home open holds a share in its blob store, so nobody can
// collect a blob meanwhile, and a blob is durable before the event that names it: what
// the copied ledgers refer to is there until the backup has it.
//
// Some of a home is left out, because it is made again (caches, the index), stands for
// a process (claims, sockets, where the server is, which quests it runs) or is a
// credential (the server's token, and the tokens in the ledger: one that is revoked
// must not come back). Workspaces are in the ledger as they were last recorded, and
// are restored from there; what nobody has recorded yet is copied, unless the quest is
// running.
//
// A backup is made under another name and renamed when it is whole and flushed. A
// crash leaves a folder named …unfinished, which the next backup to that place
// removes. What was damaged before is copied as it is, and named in the report.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/blob"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/runtime"

	"golang.org/x/sys/unix"
)

// Report says what a backup holds.
type Report struct {
	// Backup is where it is.
	Backup string `json:"backup"`
	Quests int    `json:"quests"`
	Events uint64 `json:"events"`
	// Blobs counts those that are files; small ones are in the database.
	Blobs int `json:"blobs"`
	// Bytes is the size of the database and the blobs.
	Bytes int64 `json:"bytes"`
	// Workspaces are those that were copied, for they are not as recorded.
	Workspaces []string `json:"workspaces"`
	// LeftOut names what is in the home and not in the backup.
	LeftOut []string `json:"left_out"`
	// Damaged is what was damaged in the home, and so is in the backup.
	Damaged []string `json:"damaged"`
}

// Progress is told how far a backup is: what is being copied, how much of it is done,
// and of how much, 0 if nobody knows.
type Progress func(what string, done, all int64)

// ErrBusy says that another process makes a backup in the same place.
var ErrBusy = errors.New("another backup to that place is under way: wait for its end, or choose another place")

// Make backs up the home of a runtime to a folder that is not there yet; or to a file,
// if its name ends with .tar.
func Make(ctx context.Context, rt *runtime.Runtime, to string, progress Progress) (*Report, error) {
	if progress == nil {
		progress = func(string, int64, int64) {}
	}
	to, err := place(rt.Home, to)
	if err != nil {
		return nil, fmt.Errorf("back up %s: %w", rt.Home, err)
	}
	m := &maker{rt: rt, progress: progress, part: to + ".unfinished", seen: map[event.Hash]bool{},
		report: &Report{Backup: to, Workspaces: []string{}, LeftOut: []string{}, Damaged: []string{}}}
	if err := m.make(ctx, to); err != nil {
		return nil, fmt.Errorf("back up %s to %s: %w", rt.Home, to, err)
	}
	return m.report, nil
}

// place says where a backup goes, or why it cannot go there.
func place(home, to string) (string, error) {
	to, err := filepath.Abs(to)
	if err != nil {
		return "", err
	}
	above, err := filepath.EvalSymlinks(filepath.Dir(to))
	if err != nil {
		return "", fmt.Errorf("there is no folder %s to put it into: make that first (%w)", filepath.Dir(to), err)
	}
	to = filepath.Join(above, filepath.Base(to))
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(home, to); err == nil && filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is inside the home: choose a place outside, best on another disk", to)
	}
	if _, err := os.Lstat(to); err == nil {
		return "", fmt.Errorf("%s is there already and is not overwritten: choose another name (%w)", to, fs.ErrExist)
	}
	return to, nil
}

// maker makes one backup.
type maker struct {
	rt       *runtime.Runtime
	progress Progress
	report   *Report
	// part is the folder that the backup is made in; copy is the home that it becomes.
	part string
	copy *runtime.Runtime
	seen map[event.Hash]bool
}

func (m *maker) home() string { return filepath.Join(m.part, "home") }

func (m *maker) make(ctx context.Context, to string) (err error) {
	unlock, err := m.begin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.part), unlock()) }()
	if err := m.fill(ctx); err != nil {
		return err
	}
	whole := m.home()
	if strings.HasSuffix(to, ".tar") {
		whole = filepath.Join(m.part, "home.tar")
		if err := m.pack(ctx, whole); err != nil {
			return err
		}
	}
	m.progress("flushing", 0, 0)
	if err := flushAll(m.part); err != nil {
		return err
	}
	// Not onto what came there meanwhile.
	if err := unix.Renameat2(unix.AT_FDCWD, whole, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE); err != nil {
		return fmt.Errorf("give it its name: %w", err)
	}
	return flushAll(filepath.Dir(to))
}

// begin makes the folder, and removes what a killed process left in it.
func (m *maker) begin() (unlock func() error, err error) {
	if err := os.MkdirAll(m.part, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(m.part, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, errors.Join(err, lock.Close())
	}
	err = errors.Join(os.RemoveAll(m.home()), os.RemoveAll(filepath.Join(m.part, "scratch")), os.RemoveAll(filepath.Join(m.part, "home.tar")))
	if err == nil {
		err = os.Mkdir(m.home(), 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock.Close, nil
}

// fill makes the home that the backup is.
func (m *maker) fill(ctx context.Context) (err error) {
	if err := m.studies(ctx); err != nil {
		return fmt.Errorf("studies: %w", err)
	}
	path := filepath.Join(m.home(), "lyceum.db")
	source, atOnce := m.rt.Ledger.(interface {
		Backup(ctx context.Context, path string, progress func(done, all int64)) error
	})
	if atOnce {
		err = source.Backup(ctx, path, func(done, all int64) { m.report.Bytes = done; m.progress("ledgers", done, all) })
		if err != nil {
			return err
		}
	}
	if err := m.open(ctx, path, !atOnce); err != nil {
		return err
	}
	if err := m.files(ctx); err != nil {
		return err
	}
	// What opening the copy made.
	for _, name := range []string{"claims", "cache", "lyceum-index.db", "lyceum-index.db-wal", "lyceum-index.db-shm", "blobs/.lock", "blobs/.gate"} {
		if err := os.RemoveAll(filepath.Join(m.home(), name)); err != nil {
			return err
		}
	}
	return nil
}

// open opens the copied ledgers, fills them if they are empty yet, and brings along what they refer to.
func (m *maker) open(ctx context.Context, path string, empty bool) (err error) {
	store, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	// Everything is flushed at once, at the end.
	blobs, err := blobfs.Open(filepath.Join(m.home(), "blobs"), &blobfs.Options{Volatile: true, Pack: blobfs.AtOnce})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	m.copy = &runtime.Runtime{Ledger: store, Blobs: blobs, Societies: m.rt.Societies, Home: m.home(), Clock: m.rt.Clock, Version: m.rt.Version}
	if empty {
		if err := m.ledgers(ctx); err != nil {
			return err
		}
	}
	heads, err := store.Quests(ctx)
	if err != nil {
		return err
	}
	if err := m.blobs(ctx, heads); err != nil {
		return err
	}
	for i, h := range heads {
		m.progress("folders of quests", int64(i), int64(len(heads)))
		if err := m.quest(ctx, h); err != nil {
			return fmt.Errorf("quest %s: %w", h.Quest, err)
		}
	}
	return nil
}

// ledgers copies those of a store that has no copy of itself to give, such as one that is shared by machines: quest by quest, each as
// it is at one moment. Others remove quests meanwhile, and those are in no backup.
func (m *maker) ledgers(ctx context.Context) error {
	heads, err := m.rt.Ledger.Quests(ctx)
	if err != nil {
		return err
	}
	// The large blobs come later, with those of all quests.
	bare := &runtime.Runtime{Ledger: m.copy.Ledger, Blobs: m.rt.Blobs, Societies: m.rt.Societies, Home: m.home(), Clock: m.rt.Clock, Version: m.rt.Version}
	for i, h := range heads {
		m.progress("quests", int64(i), int64(len(heads)))
		_, err := m.rt.Copy(ctx, bare, h.Quest)
		switch {
		case errors.Is(err, ledger.ErrNoQuest):
			if err := m.copy.Ledger.Remove(ctx, h.Quest); err != nil && !errors.Is(err, ledger.ErrNoQuest) {
				return err
			}
		case isDamage(err):
			m.report.Damaged = append(m.report.Damaged, err.Error()+"; what is before that is in the backup")
		case err != nil:
			return err
		}
	}
	return nil
}

// blobs copies those that the copied ledgers refer to. If it cannot be known which
// those are, because a ledger is damaged, it copies all there are.
func (m *maker) blobs(ctx context.Context, heads []ledger.Head) error {
	whole := true
	reach := runtime.NewReach(m.copy.Ledger, m.rt.Blobs, func(h event.Hash) error { return m.blob(ctx, h, true) })
	for _, h := range heads {
		m.report.Quests++
		m.report.Events += h.Seq
		err := reach.Quest(ctx, h.Quest)
		switch {
		case err == nil:
		case isDamage(err):
			whole = false
			m.report.Damaged = append(m.report.Damaged, err.Error())
			reach = runtime.NewReach(m.copy.Ledger, m.rt.Blobs, func(h event.Hash) error { return m.blob(ctx, h, true) })
		default:
			return err
		}
	}
	all, ok := m.rt.Blobs.(*blobfs.Store)
	if whole || !ok {
		return nil
	}
	for ref, err := range all.List(ctx) {
		if err == nil {
			err = m.blob(ctx, ref.Hash, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isDamage reports whether an error is about what is kept, not about keeping it.
func isDamage(err error) bool {
	_, chain := errors.AsType[*ledger.DamageError](err)
	_, content := errors.AsType[*blob.DamageError](err)
	return chain || content || errors.Is(err, blob.ErrNotFound) || errors.Is(err, ledger.ErrCorrupt)
}

// blob copies a blob and checks it on the way, unless it came with the database.
func (m *maker) blob(ctx context.Context, h event.Hash, needed bool) error {
	if m.seen[h] {
		return nil
	}
	m.seen[h] = true
	in, err := m.rt.Blobs.Open(ctx, h)
	if errors.Is(err, blob.ErrNotFound) {
		if _, missing := m.copy.Ledger.Blob(ctx, h); missing == nil {
			return nil
		}
	}
	if err == nil {
		var ref event.Ref
		ref, err = m.copy.Blobs.Create(ctx, in)
		err = errors.Join(err, in.Close())
		if err == nil {
			m.report.Blobs++
			m.report.Bytes += ref.Size
			m.progress("blobs", int64(m.report.Blobs), 0)
			return nil
		}
	}
	if isDamage(err) {
		if needed {
			m.report.Damaged = append(m.report.Damaged, err.Error())
		}
		return nil
	}
	return err
}
