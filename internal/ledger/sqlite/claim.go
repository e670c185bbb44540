package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"golang.org/x/sys/unix"
)

// A claim is a lock on a file of the quest's name. It belongs to the open file,
// not to the process, so that two owners in one process exclude each other too;
// and the kernel lets go of it when the process ends, however it ends.

// Claim implements ledger.Store.
func (s *Store) Claim(_ context.Context, quest string) (ledger.Claim, error) {
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
	return &claim{file: f}, nil
}

type claim struct {
	once sync.Once
	file *os.File
}

// Lost implements ledger.Claim. The kernel takes no lock away.
func (c *claim) Lost() <-chan struct{} { return nil }

// Release implements ledger.Claim.
func (c *claim) Release() {
	c.once.Do(func() {
		// Not by closing alone: a program that is being started elsewhere in this process
		// holds a copy of the file for a moment.
		_ = unix.FcntlFlock(c.file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK})
		_ = c.file.Close()
	})
}

// Claimed implements ledger.Store. It only asks, so it is in nobody's way.
func (s *Store) Claimed(quest string) (bool, error) {
	if !event.ValidName(quest) {
		return false, fmt.Errorf("ask for the owner of quest %q: want %s", quest, event.NameRule)
	}
	// A list asks for each quest: without os.File, which would ask the poller, too.
	f, err := unix.Open(filepath.Join(s.claims(), quest), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return false, nil // nobody ever had it
	}
	if err != nil {
		return false, fmt.Errorf("ask for the owner of quest %s: %w", quest, err)
	}
	defer unix.Close(f)
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(uintptr(f), unix.F_OFD_GETLK, &lock); err != nil {
		return false, fmt.Errorf("ask for the owner of quest %s: %w", quest, err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

func (s *Store) claimFile(quest string) (*os.File, error) {
	if !event.ValidName(quest) {
		return nil, fmt.Errorf("quest name %q: want %s", quest, event.NameRule)
	}
	dir := s.claims()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, quest), os.O_RDWR|os.O_CREATE, 0o600)
}

func (s *Store) claims() string { return filepath.Join(filepath.Dir(s.path), "claims") }
