package fs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// Put implements blob.Store. It does not write what is there already.
func (s *Store) Put(ctx context.Context, data []byte) (event.Ref, error) {
	ref := event.RefOf(data)
	err := s.writing(ctx, func() error {
		held, err := s.holds(ref)
		if err != nil {
			return err
		}
		if held {
			return s.settle(ref.Hash)
		}
		_, err = s.write(bytes.NewReader(data))
		return err
	})
	if err != nil {
		return event.Ref{}, fmt.Errorf("put blob %s: %w", ref.Hash, err)
	}
	return ref, nil
}

// Create implements blob.Store.
func (s *Store) Create(ctx context.Context, r io.Reader) (ref event.Ref, err error) {
	err = s.writing(ctx, func() error {
		ref, err = s.write(blob.Interruptible(ctx, r))
		return err
	})
	if err != nil {
		return event.Ref{}, fmt.Errorf("put blob: %w", err)
	}
	return ref, nil
}

// writing runs do while the store is open and not being collected.
func (s *Store) writing(ctx context.Context, do func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return do()
}

// holds reports whether a blob is there in its full size. One of another size
// is damaged, and being written anew is the best that can happen to it.
func (s *Store) holds(ref event.Ref) (bool, error) {
	info, err := os.Lstat(s.path(ref.Hash))
	if errors.Is(err, iofs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return info.Mode().IsRegular() && info.Size() == ref.Size, nil
}

// write stores what r reads. The temporary file is gone afterwards in any case,
// under its final name or altogether.
func (s *Store) write(r io.Reader) (event.Ref, error) {
	f, err := os.CreateTemp(filepath.Join(s.dir, scratch), "put-*")
	if err != nil {
		return event.Ref{}, err
	}
	ref, err := s.fill(f, r)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = s.place(f.Name(), ref.Hash)
	}
	if err != nil {
		return event.Ref{}, errors.Join(err, removeIfThere(f.Name()))
	}
	return ref, s.settle(ref.Hash)
}

func (s *Store) fill(f *os.File, r io.Reader) (event.Ref, error) {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), r)
	if err != nil {
		return event.Ref{}, err
	}
	// Before the rename, or the name could reach the disk before the content.
	return event.Ref{Hash: event.Hash(sum.Sum(nil)), Size: n}, s.flush(f)
}

func (s *Store) place(tmp string, h event.Hash) error {
	final := s.path(h)
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		return err
	}
	return os.Rename(tmp, final)
}

// settle sees to it that the name of a blob is on disk, whoever made it: another
// process may have renamed the file a moment ago and not flushed the folder yet.
func (s *Store) settle(h event.Hash) error {
	leaf := filepath.Dir(s.path(h))
	if err := s.flushFolder(leaf); err != nil {
		return err
	}
	for dir := leaf; dir != s.dir; dir = filepath.Dir(dir) {
		if _, ok := s.settled.Load(dir); ok {
			continue
		}
		if err := s.flushFolder(filepath.Dir(dir)); err != nil {
			return err
		}
		s.settled.Store(dir, true)
	}
	return nil
}

func (s *Store) flushFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = s.flush(f)
	return errors.Join(err, f.Close())
}

// makeFolder makes dir and the folders above it, and flushes each into its own.
func (s *Store) makeFolder(dir string) error {
	above := filepath.Dir(dir)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, iofs.ErrNotExist) && above != dir {
		if err := s.makeFolder(above); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	made := err == nil
	if err != nil && !errors.Is(err, iofs.ErrExist) {
		return err
	}
	err = s.flushFolder(above)
	// Somebody else made dir, perhaps just now, so the flush is worth a try. To
	// open the folder above takes a right that we may well not have.
	if !made && errors.Is(err, iofs.ErrPermission) {
		return nil
	}
	return err
}

func (s *Store) clearScratch() error {
	dir := filepath.Join(s.dir, scratch)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := removeIfThere(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return nil
}
