package computer

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"

	"lyceum/internal/computer/tree"

	"golang.org/x/sys/unix"
)

// The users that agents have when Lyceum is root: a range that no system gives out.
const (
	firstUser = 0x50000000
	users     = 0x10000000
)

// HomeUser is the user that a home's computer runs as, 0 if that is whoever runs
// Lyceum. When Lyceum is root, each home has a user of the host to itself, and the
// owner of the folder is where it is written down. A home that has none yet gets
// one: the folder and all in it. Nothing may run in it meanwhile.
func HomeUser(home string) (int, error) {
	if os.Geteuid() != 0 {
		return 0, nil
	}
	info, err := os.Lstat(home)
	if err != nil {
		return 0, fmt.Errorf("look at the home of a computer: %w", err)
	}
	if !info.IsDir() {
		return 0, fmt.Errorf("the home of a computer, %s, is not a folder", home)
	}
	user := int(info.Sys().(*syscall.Stat_t).Uid)
	fresh := user < firstUser || user >= firstUser+users
	if fresh {
		var b [4]byte
		if _, err := rand.Read(b[:]); err != nil {
			return 0, err
		}
		user = firstUser + int(binary.BigEndian.Uint32(b[:])%users)
	}
	if err := hand(home, user); err != nil {
		return 0, fmt.Errorf("give the home of a computer to its user: %w", err)
	}
	return user, nil
}

// hand gives everything in a home to a user, the folder itself last: until then it
// counts as not given. Links are not followed, and nothing runs in it meanwhile.
func hand(home string, user int) error {
	err := tree.Walk(home, tree.Visitor{Visit: func(dir int, name string, s *unix.Stat_t) error {
		if int(s.Uid) == user {
			return nil
		}
		if err := unix.Fchownat(dir, name, user, user, unix.AT_SYMLINK_NOFOLLOW); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
		return nil
	}})
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Chmod(".", 0o700); err != nil {
		return err
	}
	return root.Lchown(".", user, user)
}
