package runtime

import (
	"errors"
	"syscall"
)

// Passing reports whether an error is a state of this machine that passes, and says nothing of
// the quest: no file can be opened just now. What an agent asked for is then not answered; a
// run ends with the call open, and the next one makes it again.
func Passing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
