package need

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// Quotas names the variable with a folder on a file system of 4 GiB that holds project quotas, for a machine
// that has one: scripts/interop.d/quota makes such a machine.
const Quotas = "LYCEUM_QUOTAS"

// folders is how many there were of this process.
var folders atomic.Int64

// Quota is a new folder on a file system of 4 GiB that holds project quotas: of the one that LYCEUM_QUOTAS
// names, or of one that is mounted from a file, if this kernel can.
func Quota(t testing.TB) string {
	t.Helper()
	Root(t, "set project quotas")
	disk := os.Getenv(Quotas)
	if disk == "" {
		disk = mounted(t)
	}
	dir := filepath.Join(disk, fmt.Sprintf("quota-%d-%d", os.Getpid(), folders.Add(1)))
	if err := os.Mkdir(dir, 0o711); err != nil {
		t.Fatalf("make a folder on a disk with quotas: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove what was on a disk with quotas: %v", err)
		}
	})
	return dir
}

// mounted is where an ext4 with project quotas is mounted, from a file that has room for what is written to it only.
func mounted(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "disk")
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(4 << 30); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(Program(t, "mke2fs"), "-q", "-t", "ext4", "-O", "quota,project", "-E", "quotatype=prjquota", image).CombinedOutput(); err != nil {
		t.Fatalf("make an ext4 with project quotas: %v: %s", err, out)
	}
	if out, err := exec.Command(Program(t, "mount"), "-o", "loop,prjquota", image, at).CombinedOutput(); err != nil {
		Elsewhere(t, "this kernel mounts no ext4 with project quotas (%s); make interop PART=quota tries them in a machine of its own", strings.TrimSpace(string(out)))
	}
	t.Cleanup(func() {
		if err := unix.Unmount(at, 0); err != nil {
			t.Errorf("unmount a disk with quotas: %v", err)
		}
	})
	return at
}
