package answers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"lyceum/internal/event"

	"golang.org/x/sys/unix"
)

// Ask makes the caller the only one, of all processes that have the file, who asks a question, until it
// lets go or its process ends: false, if somebody else asks it. A question is a byte of a file that
// is locked and holds nothing, so that nobody has to tidy up after a process that was killed.
func (s *Store) Ask(key event.Hash) (release func(), ok bool, err error) {
	f, err := os.OpenFile(s.path+"-asking", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("lock a question: %w", err)
	}
	at := int64(binary.BigEndian.Uint64(key[:8]) >> 2) // an offset within what a lock can have
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: 1})
	if err == nil {
		return sync.OnceFunc(func() { _ = f.Close() }), true, nil // which lets go of it
	}
	_ = f.Close()
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("lock a question: %w", err)
}
