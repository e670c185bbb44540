// Package fs keeps blobs as files: ab/cd/abcd… below one folder, each named by
// the SHA-256 of its content.
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
}

// Store is a folder of blobs. It implements blob.Store.
type Store struct {
	dir   string
	lock  *os.File
	flush func(*os.File) error

	// settled holds the folders whose own name is known to be on disk. Folders
	// are never removed, so what is true once stays true.
	settled sync.Map

	// mu is held shared by writers and alone by Collect and Close. It is to the
	// goroutines of this Store what the flock is to everybody else. Readers do
	// without: an open file outlives its name.
	mu     sync.RWMutex
	closed bool
}

var _ blob.Store = (*Store)(nil)

const scratch = "tmp"

// Open opens the store in dir and makes it if need be. While somebody collects
// there it waits for the end of that. The caller must Close the store, and not
// before the events that name the blobs it put are stored.
func Open(dir string, opts *Options) (*Store, error) {
	s := &Store{dir: filepath.Clean(dir), flush: (*os.File).Sync}
	if opts != nil && opts.Volatile {
		s.flush = func(*os.File) error { return nil }
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open blob store %s: %w", dir, err)
	}
	return s, nil
}

func (s *Store) open() error {
	if err := s.makeFolder(s.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, scratch), 0o700); err != nil {
		return err
	}
	return s.join()
}

// Close gives the lock back. It waits for writers under way; later ones get
// ErrClosed. Readers may finish.
func (s *Store) Close() error {
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

// path is where the blob h is or would be.
func (s *Store) path(h event.Hash) string {
	name := h.String()
	return filepath.Join(s.dir, name[:2], name[2:4], name)
}

// Get implements blob.Store.
func (s *Store) Get(ctx context.Context, h event.Hash) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(s.path(h))
	if err != nil {
		return nil, readError(h, err)
	}
	if event.HashOf(data) != h {
		return nil, &blob.DamageError{Hash: h, Where: s.path(h)}
	}
	return data, nil
}

// Open implements blob.Store.
func (s *Store) Open(ctx context.Context, h event.Hash) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(s.path(h))
	if err != nil {
		return nil, readError(h, err)
	}
	return blob.Verify(f, h, s.path(h)), nil
}

// Has implements blob.Store.
func (s *Store) Has(ctx context.Context, h event.Hash) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	_, err := os.Lstat(s.path(h))
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for blob %s: %w", h, err)
	}
	return true, nil
}

func readError(h event.Hash, err error) error {
	if errors.Is(err, iofs.ErrNotExist) {
		err = blob.ErrNotFound
	}
	return fmt.Errorf("read blob %s: %w", h, err)
}
