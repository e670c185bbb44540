package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"golang.org/x/sys/unix"
)

// A claim is a lock on a file of the quest's name. It belongs to the open file,
// not to the process, so that two owners in one process exclude each other too;
// and the kernel lets go of it when the process ends, however it ends.

// Claim implements ledger.Store.
func (s *Store) Claim(quest string) (release func(), err error) {
	f, err := s.claimFile(quest)
	if err != nil {
		return nil, fmt.Errorf("claim quest %s: %w", quest, err)
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			err = ledger.ErrClaimed
		}
		return nil, fmt.Errorf("claim quest %s: %w", quest, err)
	}
	return func() {
		// Not by closing alone: a program that is being started elsewhere in this process
		// holds a copy of the file for a moment.
		_ = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK})
		_ = f.Close()
	}, nil
}

// Claimed implements ledger.Store. It only asks, so it is in nobody's way.
func (s *Store) Claimed(quest string) (bool, error) {
	f, err := s.claimFile(quest)
	if err != nil {
		return false, fmt.Errorf("ask for the owner of quest %s: %w", quest, err)
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return false, fmt.Errorf("ask for the owner of quest %s: %w", quest, err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

func (s *Store) claimFile(quest string) (*os.File, error) {
	if !event.ValidName(quest) {
		return nil, fmt.Errorf("quest name %q: want %s", quest, event.NameRule)
	}
	dir := filepath.Join(filepath.Dir(s.path), "claims")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, quest), os.O_RDWR|os.O_CREATE, 0o600)
}
