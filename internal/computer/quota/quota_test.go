package quota_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer/quota"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

// held is a new folder that is held to so many bytes and files.
func held(t *testing.T, project uint32, bytes, files int64) string {
	t.Helper()
	dir := need.Quota(t)
	if why, _ := quota.Lacking(dir); why != "" {
		t.Fatalf("a disk with project quotas lacks something: %s", why)
	}
	if err := quota.Hold(dir, project, bytes, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asOthers does something as those do whom limits are for: the kernel lets root go beyond them, for one of root's
// rights.
func asOthers(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error)
	go func() {
		// The thread ends with this function, for what it has given up nobody else is to miss.
		runtime.LockOSThread()
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var rights [2]unix.CapUserData
		err := unix.Capget(&header, &rights[0])
		rights[0].Effective &^= 1 << unix.CAP_SYS_RESOURCE
		if err == nil {
			err = unix.Capset(&header, &rights[0])
		}
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// fill writes to a file until it may not, and returns how much that was.
func fill(f *os.File, most int) (n int, err error) {
	b := make([]byte, 64<<10)
	for n < most && err == nil {
		var m int
		m, err = f.Write(b)
		n += m
	}
	if err == nil {
		err = f.Sync()
	}
	return n, err
}

// filled fills a new file of a folder.
func filled(t *testing.T, dir, name string, most int) (n int, err error) {
	t.Helper()
	err = asOthers(t, func() error {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		n, err = fill(f, most)
		return errors.Join(err, f.Close())
	})
	return n, err
}

// full wants that something could not be written, for want of quota.
func full(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, unix.EDQUOT) && !errors.Is(err, unix.ENOSPC) { // as XFS says it
		t.Errorf("%s: got %v, want that the quota has no room", what, err)
	}
}

func taken(t *testing.T, dir string) int64 {
	t.Helper()
	n, err := quota.Taken(dir)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestHold(t *testing.T) {
	t.Parallel()
	t.Run("RefusesWhatIsBeyondTheLimit", func(t *testing.T) {
		t.Parallel()
		dir := held(t, 7001, 2*mib, 100)
		n, err := filled(t, dir, "file", 8*mib)
		full(t, "8 MiB where there are 2", err)
		if n < mib || n > 2*mib {
			t.Errorf("%d bytes were written, want nearly the 2 MiB that there are", n)
		}
		if got := taken(t, dir); got < mib || got > 2*mib {
			t.Errorf("the kernel counts %d bytes, want nearly 2 MiB", got)
		}
		if err := os.Remove(filepath.Join(dir, "file")); err != nil {
			t.Fatal(err)
		}
		if _, err := filled(t, dir, "small", 100<<10); err != nil {
			t.Errorf("after clearing up: %v", err)
		}
	})
	t.Run("LeavesOthersAlone", func(t *testing.T) {
		t.Parallel()
		dir := held(t, 7002, mib, 100)
		beside := dir + "-beside"
		if err := os.Mkdir(beside, 0o755); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(beside)
		if _, err := filled(t, beside, "file", 4*mib); err != nil {
			t.Errorf("a folder beside one that is held to 1 MiB: %v", err)
		}
		if got := taken(t, dir); got > mib/4 {
			t.Errorf("what is beside counts: %d bytes", got)
		}
	})
	t.Run("CountsFilesWithoutAName", func(t *testing.T) {
		t.Parallel()
		dir := held(t, 7003, 2*mib, 100)
		f, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := os.Remove(f.Name()); err != nil {
			t.Fatal(err)
		}
		full(t, "8 MiB in a file without a name", asOthers(t, func() error { _, err := fill(f, 8*mib); return err }))
		if got := taken(t, dir); got < mib {
			t.Errorf("the kernel counts %d bytes of a file without a name, want nearly 2 MiB", got)
		}
		_, err = filled(t, dir, "another", mib)
		full(t, "another file beside it", err)
	})
	t.Run("CountsWhatNoPathLeadsTo", func(t *testing.T) {
		t.Parallel()
		dir := held(t, 7004, 4*mib, 1000)
		at, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Repeat("d", 200)
		for range 30 { // 6,000 bytes of path, where 4,096 can be said
			if err := unix.Mkdirat(at, name, 0o755); err != nil {
				t.Fatal(err)
			}
			next, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_ = unix.Close(at)
			at = next
		}
		defer unix.Close(at)
		fd, err := unix.Openat(at, "file", unix.O_CREAT|unix.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "deep")
		defer f.Close()
		full(t, "8 MiB far below", asOthers(t, func() error { _, err := fill(f, 8*mib); return err }))
	})
	t.Run("CountsWhatWasThere", func(t *testing.T) {
		t.Parallel()
		dir := need.Quota(t)
		for _, d := range []string{"sub", "sub/below"} {
			if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		then := time.Unix(1_000_000_000, 0)
		for _, d := range []string{".", "sub/below"} {
			if err := os.WriteFile(filepath.Join(dir, d, "file"), make([]byte, mib), 0o600); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(dir, d, "link")
			if err := os.Symlink("nowhere", link); err != nil {
				t.Fatal(err)
			}
			if err := unix.Lchown(link, 1234, 4321); err != nil {
				t.Fatal(err)
			}
			when := unix.NsecToTimespec(then.UnixNano())
			if err := unix.UtimesNanoAt(unix.AT_FDCWD, link, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				t.Fatal(err)
			}
		}
		unix.Sync() // what is not on the disk yet may not be counted yet
		if err := quota.Hold(dir, 7005, 3*mib, 100); err != nil {
			t.Fatal(err)
		}
		if got := taken(t, dir); got < 2*mib {
			t.Errorf("the kernel counts %d bytes, want the 2 MiB that were there", got)
		}
		_, err := filled(t, dir, "sub/below/more", 4*mib)
		full(t, "4 MiB more in a folder that was there", err)
		for _, d := range []string{".", "sub/below"} {
			link := filepath.Join(dir, d, "link")
			var s unix.Stat_t
			if err := unix.Lstat(link, &s); err != nil {
				t.Fatal(err)
			}
			if to, err := os.Readlink(link); err != nil || to != "nowhere" || s.Uid != 1234 || s.Gid != 4321 || s.Mtim.Sec != then.Unix() {
				t.Errorf("%s leads to %q, %v, and is %d's of %d, want it as it was", link, to, err, s.Uid, s.Mtim.Sec)
			}
			for _, name := range []string{"link", "file"} {
				from := filepath.Join(dir, d, name)
				if err := os.Rename(from, filepath.Join(dir, "sub", "moved-"+name+strconv.Itoa(len(d)))); err != nil {
					t.Errorf("what was there is moved: %v", err)
				}
			}
		}
	})
	t.Run("CountsFiles", func(t *testing.T) {
		t.Parallel()
		dir := held(t, 7006, 16*mib, 50)
		full(t, "60 files where there may be 50", asOthers(t, func() error {
			for n := range 60 {
				if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(n)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		}))
	})
	t.Run("CanBeChanged", func(t *testing.T) {
		t.Parallel()
		dir := held(t, 7007, mib, 100)
		if err := quota.Hold(dir, 7007, 4*mib, 200); err != nil {
			t.Fatal(err)
		}
		if bytes, files, err := quota.Limits(dir); err != nil || bytes != 4*mib || files != 200 {
			t.Errorf("the limits: got %d, %d, %v, want those that were said last", bytes, files, err)
		}
		if _, err := filled(t, dir, "file", 2*mib); err != nil {
			t.Errorf("2 MiB of 4: %v", err)
		}
		// A home that a computer left is another computer's, of another user.
		if err := quota.Hold(dir, 7008, mib, 100); err != nil {
			t.Errorf("to hold it to less than it takes: %v", err)
		}
		if got := taken(t, dir); got < mib {
			t.Errorf("the other project has %d bytes, want the 2 MiB that are there", got)
		}
		_, err := filled(t, dir, "more", mib)
		full(t, "more, where there is too much already", err)
	})
}

func TestRelease(t *testing.T) {
	t.Parallel()
	dir := held(t, 7010, mib, 100)
	_, err := filled(t, dir, "file", 2*mib)
	full(t, "2 MiB where there is one", err)
	if err := quota.Release(dir); err != nil {
		t.Fatal(err)
	}
	if bytes, files, err := quota.Limits(dir); err != nil || bytes != 0 || files != 0 {
		t.Errorf("the limits: got %d, %d, %v, want none", bytes, files, err)
	}
	if _, err := filled(t, dir, "more", 2*mib); err != nil {
		t.Errorf("without a limit: %v", err)
	}
	never := need.Quota(t)
	for _, d := range []string{dir, never, filepath.Join(never, "missing")} {
		if err := quota.Release(d); err != nil {
			t.Errorf("to release %s: %v", d, err)
		}
	}
}

// TestLacking says in words why there is none where there is none, which every machine has such places of.
func TestLacking(t *testing.T) {
	t.Parallel()
	why, _ := quota.Lacking("/proc")
	switch {
	case os.Geteuid() != 0:
		if !strings.Contains(why, "only root") {
			t.Errorf("as an ordinary user: got %q, want that it takes root", why)
		}
	case strings.Contains(why, "Linux 5.14"): // an old kernel has said so
	case !strings.Contains(why, "has no project quotas"):
		t.Errorf("of /proc: got %q, want that its file system has none", why)
	}
	if why, _ := quota.Lacking(filepath.Join(t.TempDir(), "missing")); why == "" {
		t.Error("a folder that is not there can be held, it says")
	}
	if err := quota.Release("/proc"); err != nil {
		t.Errorf("to release what cannot be held: %v", err)
	}
}

// TestLackingSaysWhatToDo: an ext4 can have quotas, and it is said how.
func TestLackingSaysWhatToDo(t *testing.T) {
	t.Parallel()
	need.Root(t, "ask for project quotas")
	var s unix.Statfs_t
	dir := t.TempDir()
	if err := unix.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	why, fix := quota.Lacking(dir)
	switch {
	case why == "" || strings.Contains(why, "Linux 5.14"): // it has them, or the kernel is too old
	case s.Type == unix.EXT4_SUPER_MAGIC && !strings.Contains(fix, "tune2fs"), s.Type == unix.XFS_SUPER_MAGIC && !strings.Contains(fix, "prjquota"):
		t.Errorf("of a file system that could have some: %q, %q, want what to do", why, fix)
	}
}
