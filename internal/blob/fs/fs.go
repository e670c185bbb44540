// Package fs keeps blobs as files: ab/abcd… below one folder, each named by
// the SHA-256 of its content, and packed where that takes less room (form.go), the larger
// ones later, beside whoever writes (pack.go). Stores that are older have blobs in ab/cd/abcd…,
// nearly each in a folder of its own, which took most of the time; they stay where they are.
//
// A blob is written under a temporary name, flushed, renamed and its folder
// flushed, in that order. So a file under a final name is whole, and when Put
// returns it survives a power cut. A crash leaves at most a temporary file, which
// the next Open removes if nobody else has the store open. A write that fails,
// on a full disk say, is returned and leaves nothing behind.
//
// Everyone who has the store open holds a shared lock, from before the first
// blob is written until after the event that names it is. Collect needs the
// lock for itself and gets blob.ErrBusy otherwise. So what a ledger refers to, or is
// about to, is never collected: there is nobody who could be about to.
// The locks are flocks: the kernel drops them with the process, however it ends.
package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// ErrClosed says that the store was closed before.
var ErrClosed = errors.New("blob store is closed")

// Options are the choices of Open. The zero value is the right one outside tests.
type Options struct {
	// Volatile leaves out the flushing: blobs outlive the process but not a power
	// cut. It is for tests that write much and prove something else.
	Volatile bool
	// Reserve is how many bytes of the disk stay free: nothing is stored that would leave
	// less, and whoever tries gets a *blob.FullError.
	Reserve int64
	// Pack says when blobs are packed.
	Pack When
}

// When says when blobs are packed that take less room then.
type When int

const (
	// Later stores large blobs as they are, and packs them when nobody writes.
	Later When = iota
	// AtOnce packs each before it is written. It is for a store that is written once and
	// then put away, as a backup's.
	AtOnce
	// Never is for stores that are thrown away, and to measure what packing costs.
	Never
)

// Store is a folder of blobs. It implements blob.Store.
type Store struct {
	dir     string
	reserve int64
	when    When
	lock    *os.File
	flush   func(*os.File) error
	// sync is flush for all of the disk that a folder is on.
	sync func(*os.File) error

	// settled holds the folders whose own name is known to be on disk. Folders
	// are never removed, so what is true once stays true.
	settled sync.Map

	// mu is held shared by writers and alone by Collect and Close. It is to the
	// goroutines of this Store what the flock is to everybody else. Readers do
	// without: an open file outlives its name.
	mu     sync.RWMutex
	closed bool
	// collected is how often blobs were, guarded by mu.
	collected int

	// packing is held while a blob is packed, and by Collect and Close. It comes before mu.
	packing sync.Mutex
	press   press
	pace    pace
}

var (
	_ blob.Store  = (*Store)(nil)
	_ blob.Ranger = (*Store)(nil)

	_ blob.Batcher = (*Store)(nil)
	_ blob.Steady  = (*Store)(nil)
)

const scratch = "tmp"

// Open opens the store in dir and makes it if need be. While somebody collects
// there it waits for the end of that. The caller must Close the store, and not
// before the events that name the blobs it put are stored.
func Open(dir string, opts *Options) (*Store, error) {
	s := &Store{dir: filepath.Clean(dir), flush: (*os.File).Sync, sync: syncDisk}
	s.pace.quiet, s.pace.patience = quiet, patience
	s.pace.seen.Store(-1)
	if opts != nil {
		s.reserve, s.when = opts.Reserve, opts.Pack
	}
	if opts != nil && opts.Volatile {
		s.flush = func(*os.File) error { return nil }
		s.sync = s.flush
	}
	// Packing belongs to no call: it begins after one and ends with the store.
	s.press.ctx, s.press.stop = context.WithCancel(context.Background())
	s.press.news = make(chan struct{}, 1)
	if err := s.open(); err != nil {
		s.press.stop()
		return nil, fmt.Errorf("open blob store %s: %w", dir, err)
	}
	if s.when == Later && s.marked() {
		s.press.nudge(s)
	}
	return s, nil
}

// OpenReadOnly opens a store that cannot be written to, as one of a read-only file system.
// It holds no lock: whoever may write there may collect blobs while they are read. Whatever
// writes gets ErrClosed.
func OpenReadOnly(dir string) *Store { return &Store{dir: filepath.Clean(dir), closed: true} }

func (s *Store) open() error {
	if err := s.makeFolder(s.dir); err != nil {
		return err
	}
	for _, name := range []string{scratch, marks} {
		if err := os.MkdirAll(filepath.Join(s.dir, name), 0o700); err != nil {
			return err
		}
	}
	return s.join()
}

// Close gives the lock back. It waits for writers under way; later ones get
// ErrClosed. Readers may finish. For a moment it packs what is left of what was put, and the
// rest is for whoever opens the store next.
func (s *Store) Close() error {
	s.press.end()
	s.farewell()
	s.packing.Lock()
	defer s.packing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := release(s.lock); err != nil {
		return fmt.Errorf("close blob store %s: %w", s.dir, err)
	}
	return nil
}

// Room tells whether anything can be stored, with a *blob.FullError if not.
func (s *Store) Room() error { return s.room(0) }

// room tells whether n bytes more leave the reserve alone.
func (s *Store) room(n int64) error { return roomOn(s.dir, s.reserve, n) }

// RoomOn is Room for a folder that is no store: whether its disk has more than a reserve.
func RoomOn(dir string, reserve int64) error { return roomOn(dir, reserve, 0) }

func roomOn(dir string, reserve, n int64) error {
	if reserve <= 0 {
		return nil
	}
	left, err := free(dir)
	if err != nil {
		return fmt.Errorf("ask how much of the disk of %s is free: %w", dir, err)
	}
	if left-n < reserve {
		return &blob.FullError{Dir: dir, Free: left, Reserve: reserve}
	}
	return nil
}

// path is where the blob h is written as a plain file; the packed form has packed behind
// that name.
func (s *Store) path(h event.Hash) string {
	name := h.String()
	return filepath.Join(s.dir, name[:2], name)
}

// paths are where the blob h may be as a plain file, the place for new ones first. The other is
// in a folder that only an older store has: nobody makes or removes such folders any more.
func (s *Store) paths(h event.Hash) []string {
	name := h.String()
	now, once := s.path(h), filepath.Join(s.dir, name[:2], name[2:4])
	if info, err := os.Lstat(once); err != nil || !info.IsDir() {
		return []string{now}
	}
	return []string{now, filepath.Join(once, name)}
}

// find opens the file of a blob, the plain one if there are both, and says which it is. The
// plain one goes only after the packed one has come, so whoever looks for them in this order
// finds one.
func (s *Store) find(h event.Hash) (f *os.File, tight bool, err error) {
	paths := s.paths(h)
	for _, form := range []string{"", packed} {
		for _, path := range paths {
			if f, err = os.Open(path + form); !errors.Is(err, iofs.ErrNotExist) {
				return f, form == packed, err
			}
		}
	}
	return nil, false, err
}

// Get implements blob.Store.
func (s *Store) Get(ctx context.Context, h event.Hash) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, err := s.OpenAt(ctx, h, 0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := readAll(in)
	if err != nil {
		return nil, readError(h, err)
	}
	if event.HashOf(data) != h {
		return nil, damaged(h, in)
	}
	return data, nil
}

// readAll is io.ReadAll, but for a file of a known length without growing.
func readAll(in io.Reader) ([]byte, error) {
	f, ok := in.(*os.File)
	if !ok {
		return io.ReadAll(in)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = b.ReadFrom(f)
	return b.Bytes(), err
}

// Open implements blob.Store.
func (s *Store) Open(ctx context.Context, h event.Hash) (io.ReadCloser, error) {
	in, err := s.OpenAt(ctx, h, 0)
	if err != nil {
		return nil, err
	}
	return blob.Verify(in, h, damaged(h, in).Where), nil
}

// OpenAt implements blob.Ranger.
func (s *Store) OpenAt(ctx context.Context, h event.Hash, from int64) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, tight, err := s.find(h)
	if err != nil {
		return nil, readError(h, err)
	}
	if tight {
		return newUnpacker(f, from, &blob.DamageError{Hash: h, Where: f.Name()})
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(readError(h, err), f.Close())
	}
	return f, nil
}

// damaged says where damage is: in the file that was read.
func damaged(h event.Hash, in io.Reader) *blob.DamageError {
	f, plain := in.(*os.File)
	if !plain {
		f = in.(*unpacker).f
	}
	return &blob.DamageError{Hash: h, Where: f.Name()}
}

// tenure is a time in which nothing is collected.
type tenure struct {
	of        *Store
	collected int
}

// Since implements blob.Steady. While a store is open nobody else can collect.
func (s *Store) Since() any {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil
	}
	return tenure{s, s.collected}
}

// Has implements blob.Store.
func (s *Store) Has(ctx context.Context, h event.Hash) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	paths := s.paths(h)
	for _, form := range []string{"", packed} {
		for _, path := range paths {
			_, err := os.Lstat(path + form)
			if err == nil {
				return true, nil
			}
			if !errors.Is(err, iofs.ErrNotExist) {
				return false, fmt.Errorf("look for blob %s: %w", h, err)
			}
		}
	}
	return false, nil
}

func readError(h event.Hash, err error) error {
	if errors.Is(err, iofs.ErrNotExist) {
		err = blob.ErrNotFound
	}
	return fmt.Errorf("read blob %s: %w", h, err)
}
