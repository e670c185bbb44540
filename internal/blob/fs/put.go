package fs

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"golang.org/x/sys/unix"
)

// Put implements blob.Store. It does not write what is there already.
func (s *Store) Put(ctx context.Context, data []byte) (event.Ref, error) {
	ref := event.RefOf(data)
	err := s.writing(ctx, func() error {
		at, err := s.holds(ref)
		if err != nil {
			return err
		}
		if at != "" {
			return s.settle(filepath.Dir(at))
		}
		return s.write(ctx, func(d *draft) (event.Ref, error) { return ref, d.whole(data) })
	})
	if err != nil {
		return event.Ref{}, fmt.Errorf("put blob %s: %w", ref.Hash, err)
	}
	return ref, nil
}

// Create implements blob.Store.
func (s *Store) Create(ctx context.Context, r io.Reader) (ref event.Ref, err error) {
	err = s.writing(ctx, func() error {
		return s.write(ctx, func(d *draft) (event.Ref, error) {
			ref, err = d.stream(blob.Interruptible(ctx, r))
			return ref, err
		})
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
	defer s.pace.begin()()
	return do()
}

// holds returns the file of a blob that is there in its full size, in either form, or "". One
// of another size is damaged, and being written anew is the best that can happen to it.
func (s *Store) holds(ref event.Ref) (at string, err error) {
	f, tight, err := s.find(ref.Hash)
	if errors.Is(err, iofs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if tight {
		_, plain, err := readTable(f)
		if errors.Is(err, errForm) || err == nil && plain != ref.Size {
			return "", nil
		}
		return f.Name(), err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != ref.Size {
		return "", err
	}
	return f.Name(), nil
}

// write stores what fill writes. The temporary file is gone afterwards in any case,
// under its final name or altogether.
func (s *Store) write(ctx context.Context, fill func(*draft) (event.Ref, error)) (err error) {
	d := &draft{ctx: ctx, s: s}
	if err := d.room(0); err != nil {
		return err
	}
	if d.f, err = os.CreateTemp(filepath.Join(s.dir, scratch), "put-*"); err != nil {
		return err
	}
	ref, err := fill(d)
	if err == nil {
		// Before the rename, or the name could reach the disk before the content.
		err = s.flush(d.f)
	}
	err = errors.Join(err, d.f.Close())
	held := ""
	if err == nil {
		held, err = s.holds(ref)
	}
	if err == nil {
		err = d.place(ref)
	}
	if err != nil {
		d.giveBack()
		return errors.Join(err, removeIfThere(d.f.Name()))
	}
	if held != "" {
		d.giveBack() // a whole blob that was there is worth what it was before
	}
	if err := s.settle(filepath.Dir(s.path(ref.Hash))); err != nil || !d.tight {
		return err
	}
	// Only now, for until the folder was flushed the plain file was the one that is safe.
	return s.removePlain(ref.Hash)
}

// removePlain removes the plain file of a blob whose packed one is on disk, name and all.
func (s *Store) removePlain(h event.Hash) (err error) {
	for _, path := range s.paths(h) {
		err = errors.Join(err, removeIfThere(path))
	}
	return err
}

// place gives a draft its name. A packed file beside a plain one stays until the plain one
// is packed anew: who took it away could take away what another process has just written.
func (d *draft) place(ref event.Ref) error {
	final := d.s.path(ref.Hash)
	if d.tight {
		final += packed
	}
	later := !d.tight && d.s.when == Later && ref.Size > promptly
	if later {
		d.s.mark(ref.Hash)
	}
	// The call itself: os.Rename looks at what it replaces first.
	err := unix.Rename(d.f.Name(), final)
	if errors.Is(err, iofs.ErrNotExist) { // the first in its folder, of which there are 256
		if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
			return err
		}
		err = unix.Rename(d.f.Name(), final)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: d.f.Name(), New: final, Err: err}
	}
	if later {
		// The first mark is for a process that dies here. Another packer may have taken it
		// away since, with the plain file that was there before.
		d.s.mark(ref.Hash)
		d.s.press.used.Store(true)
		d.s.press.nudge(d.s)
	}
	return nil
}

// settle sees to it that the names of a blobs' folder are on disk, whoever made them: another
// process may have renamed a file a moment ago and not flushed the folder yet.
func (s *Store) settle(leaf string) error {
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
