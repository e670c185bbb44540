package bubblewrap

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/computer"
)

// folders are the toolchain: what programs need of a host to run.
var folders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/run/current-system/sw"}

// settings are the files of /etc that programs look for and that tell nothing of
// whose host it is.
var settings = []string{
	"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "ssl/certs", "ssl/openssl.cnf", "ca-certificates",
	"ca-certificates.conf", "pki/tls/certs", "pki/ca-trust", "localtime", "mime.types", "protocols", "services", "os-release",
	"debian_version", "fonts", "python3*", "perl", "java*", "R",
}

// network are those that only a computer with an open network needs.
var network = []string{"resolv.conf", "hosts", "gai.conf"}

// programs is where commands are looked for.
var programs = []string{
	"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/go/bin", "/run/current-system/sw/bin",
}

// arguments says what the sandbox looks like, and completes the helper's
// configuration.
func (w *launch) arguments() ([]string, error) {
	b := w.boot
	args := []string{
		"--unshare-all", "--unshare-user", "--disable-userns", "--uid", "1000", "--gid", "1000", "--hostname", "lyceum",
		"--as-pid-1", "--cap-drop", "ALL", "--clearenv", "--chdir", "/",
	}
	if b.Spec.Network.Open {
		args = append(args, "--share-net")
	}
	for _, f := range folders {
		args = append(args, bindTool(f)...)
	}
	for _, pattern := range settings {
		args = append(args, bindSetting(pattern)...)
	}
	if b.Spec.Network.Open {
		for _, name := range network {
			args = append(args, bindSetting(name)...)
		}
	}
	texts := []struct{ path, text string }{
		{"/etc/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:" + computer.HomeDir + ":/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
		{"/etc/group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n"},
		{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
	}
	if !b.Spec.Network.Open {
		texts = append(texts, struct{ path, text string }{"/etc/hosts", "127.0.0.1 localhost lyceum\n::1 localhost lyceum\n"})
	}
	for _, t := range texts {
		n, err := w.text(t.text)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", t.path, err)
		}
		args = append(args, "--perms", "0444", "--ro-bind-data", strconv.Itoa(n), t.path)
	}
	memory := b.Spec.Limits.Memory
	sized := func(size int64, path string) []string {
		return []string{"--size", strconv.FormatInt(size, 10), "--perms", "1777", "--tmpfs", path}
	}
	args = append(args, "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev")
	for _, hidden := range []string{"/proc/keys", "/proc/key-users", "/proc/kcore", "/proc/kallsyms", "/proc/timer_list", "/proc/sched_debug", "/proc/sysrq-trigger", "/proc/kpagecount", "/proc/kmsg"} {
		if _, err := os.Stat(hidden); err == nil {
			args = append(args, "--ro-bind", "/dev/null", hidden)
		}
	}
	args = append(args, sized(memory/4, "/dev/shm")...)
	args = append(args, "--remount-ro", "/dev")
	args = append(args, sized(memory/2, "/tmp")...)
	home := b.Home
	if w.user != 0 {
		home = staged
	}
	args = append(args, "--dir", "/var", "--symlink", "/tmp", "/var/tmp", "--bind", home, computer.HomeDir, "--remount-ro", "/")
	b.Config.Read = []string{"/"}
	b.Config.Write = []string{computer.HomeDir, "/tmp", "/dev", "/proc"}
	b.Config.Env = computer.Environment(strings.Join(slices.DeleteFunc(slices.Clone(programs), missing), ":"), b.Spec.Network)
	return args, nil
}

func missing(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || !info.IsDir()
}

// bindTool shows a folder of the host, or the link that stands in its place.
func bindTool(path string) []string {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if info.Mode().Type() == fs.ModeSymlink {
		if target, err := os.Readlink(path); err == nil && filepath.Dir(path) == "/" {
			return []string{"--symlink", target, path}
		}
	}
	return []string{"--ro-bind", path, path}
}

func bindSetting(pattern string) (args []string) {
	found, _ := filepath.Glob("/etc/" + pattern)
	for _, path := range found {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			args = append(args, "--ro-bind", real, path)
		}
	}
	return args
}

// toolchain is the digest of what the toolchain folders hold: the package manager's
// list of what is installed, and the names, sizes and times of the programs.
func toolchain() (string, error) {
	h := sha256.New()
	for _, list := range []string{"/etc/os-release", "/var/lib/dpkg/status", "/lib/apk/db/installed", "/var/lib/rpm/rpmdb.sqlite", "/run/current-system/nixos-version"} {
		b, err := os.ReadFile(list)
		if err == nil {
			fmt.Fprintf(h, "%s %d\n", list, len(b))
			h.Write(b)
		}
	}
	for _, dir := range programs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
				fmt.Fprintf(h, "%s/%s %d %d\n", dir, e.Name(), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
