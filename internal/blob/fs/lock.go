package fs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lyceum/internal/blob"

	"golang.org/x/sys/unix"
)

// Two files are locked. Whoever has the store open holds .lock shared. To have
// it alone one turns that lock into an exclusive one, and a flock does not turn
// in one step: the kernel drops the old lock first and, where the new one is
// refused, does not give it back. In that gap another could collect what we have
// put. So nobody takes or turns .lock without holding .gate, shared to take it
// and alone to turn it: in the gap there is only ever one.
//
// A flock belongs to an open file, not to a process. Two Stores of one process
// are as foreign to each other as two processes.
const (
	lockFile = ".lock"
	gateFile = ".gate"
)

// join takes a share in the store. Whoever comes first finds nobody else there
// and clears away what a crash has left.
func (s *Store) join() (err error) {
	f, err := openLock(s.dir, lockFile)
	if err != nil {
		return err
	}
	s.lock = f
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	err = s.alone(s.clearScratch)
	if !errors.Is(err, blob.ErrBusy) {
		return err
	}
	gate, err := s.passGate(unix.LOCK_SH)
	if err != nil {
		return err
	}
	return errors.Join(flock(f, unix.LOCK_SH), release(gate))
}

// alone runs do while nobody else has the store open and nobody can open it.
// It returns blob.ErrBusy at once where somebody has. Afterwards, whatever happened,
// the store is held shared; only blob.ErrBusy before the first share leaves it unheld.
func (s *Store) alone(do func() error) (err error) {
	gate, err := s.passGate(unix.LOCK_EX | unix.LOCK_NB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release(gate)) }()
	// Nobody can hold .lock alone while we hold the gate, so this share is
	// granted at once.
	defer func() { err = errors.Join(err, flock(s.lock, unix.LOCK_SH)) }()
	if err := flock(s.lock, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	return do()
}

// passGate locks the gate; the caller must release it.
func (s *Store) passGate(how int) (*os.File, error) {
	f, err := openLock(s.dir, gateFile)
	if err != nil {
		return nil, err
	}
	if err := flock(f, how); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func openLock(dir, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
}

// flock returns blob.ErrBusy where the lock is held by others and how says not to
// wait for them.
func flock(f *os.File, how int) error {
	for {
		switch err := unix.Flock(int(f.Fd()), how); err {
		case nil:
			return nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return blob.ErrBusy
		default:
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
	}
}

// release unlocks before it closes: a child process that is just being started
// has a copy of the handle for a moment, and a lock lives as long as any copy.
func release(f *os.File) error {
	return errors.Join(flock(f, unix.LOCK_UN), f.Close())
}
