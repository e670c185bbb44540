package computer

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"

	"lyceum/internal/computer/quota"
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

// spare is by how much more than its limit the kernel lets a home take. The helper's watchdog looks whether the limit itself
// is passed, and says of whom; this is for what is faster than that.
func spare(disk int64) int64 { return 256<<10 + disk/64 }

// maxFiles is how many files the kernel lets a home have: more than the helper lets it.
const maxFiles = 2_100_000

// holdDisk has the kernel hold the limit on a home by a project quota, where one can be had, and reports whether it does. Nothing
// may run in the home meanwhile. The home's user, who has no other, is the number of its project too.
func holdDisk(home string, disk int64) (bool, error) {
	if why, _ := quota.Lacking(home); why != "" {
		return false, nil
	}
	user, err := HomeUser(home)
	if err != nil || user == 0 {
		return false, err
	}
	return true, quota.Hold(home, uint32(user), disk+spare(disk), maxFiles)
}

// end ends a sandbox, and what the kernel held for it.
func end(ctx context.Context, d Driver, handle, home string) error {
	return errors.Join(d.Kill(ctx, handle), quota.Release(home))
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
