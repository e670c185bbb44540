package local

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cell"
)

// folders are the toolchain: what programs need of a host to run.
var folders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/run/current-system/sw"}

// settings are the files of /etc that programs look for and that tell nothing of
// whose host it is.
var settings = []string{
	"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "ssl/certs", "ssl/openssl.cnf", "ca-certificates",
	"ca-certificates.conf", "pki/tls/certs", "pki/ca-trust", "localtime", "mime.types", "protocols", "services", "os-release",
	"debian_version", "fonts", "python3*", "perl", "java*", "R", "texmf",
}

// made is what programs of the toolchain have made when they were installed, and do not run
// without: the formats of TeX.
var made = []string{"/var/lib/texmf"}

// network are those that only a computer with an open network needs.
var network = []string{"resolv.conf", "hosts", "gai.conf"}

// programs is where commands are looked for.
var programs = []string{
	"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/go/bin", "/run/current-system/sw/bin",
}

// masked are files of /proc that tell of the kernel and the host, or command them.
var masked = []string{
	"/proc/keys", "/proc/key-users", "/proc/kcore", "/proc/kallsyms", "/proc/timer_list", "/proc/sched_debug", "/proc/sysrq-trigger",
	"/proc/kpagecount", "/proc/kmsg",
}

// Root is what the file system of the computer is made of, in the order in which it is
// laid out; and it completes the helper's configuration. For root, the home, the folders and
// the program are found where Start puts them.
func (l *Launch) Root() (parts []cell.Part) {
	b, staged := l.Boot, l.User != 0
	add := func(kind cell.Kind, path, from string) {
		parts = append(parts, cell.Part{Kind: kind, Path: path, From: from})
	}
	memory := func(path string, size int64) {
		parts = append(parts, cell.Part{Kind: cell.Memory, Path: path, Size: size})
	}
	open := b.Spec.Network.Open
	for _, f := range folders {
		parts = append(parts, tool(f)...)
	}
	for _, pattern := range settings {
		parts = append(parts, setting(pattern)...)
	}
	add(cell.Text, "/etc/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:"+computer.HomeDir+":/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")
	add(cell.Text, "/etc/group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n")
	add(cell.Text, "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
	if open {
		for _, name := range network {
			parts = append(parts, setting(name)...)
		}
	} else {
		add(cell.Text, "/etc/hosts", "127.0.0.1 localhost lyceum\n::1 localhost lyceum\n")
	}
	add(cell.Proc, "/proc", "")
	add(cell.Devices, "/dev", "")
	for _, path := range masked {
		if _, err := os.Stat(path); err == nil {
			add(cell.Mask, path, "")
		}
	}
	memory("/dev/shm", b.Spec.Limits.Memory/4)
	add(cell.Close, "/dev", "")
	memory("/tmp", b.Spec.Limits.Memory/2)
	if !b.Spec.Bounds.Temporary() {
		add(cell.Close, "/dev/shm", "")
		add(cell.Close, "/tmp", "")
	}
	for i, f := range b.Spec.Folders {
		from := f.Path
		if staged {
			from = stagedFolder(i)
		}
		add(cell.Show, f.Inside(), from)
	}
	if l.Shown != "" {
		from := l.Shown
		if staged {
			from = stagedProgram
		}
		add(cell.Show, computer.Program, from)
	}
	home := b.Home
	if staged {
		home = stagedHome
	}
	add(cell.Dir, "/var", "")
	add(cell.Link, "/var/tmp", "/tmp")
	for _, f := range made {
		parts = append(parts, tool(f)...)
	}
	parts = append(parts, homeParts(b, home)...)
	for _, name := range b.Spec.Fixed {
		add(cell.Show, computer.HomeDir+"/"+name, filepath.Join(home, name))
	}
	for _, m := range b.Masks {
		if m.Dir {
			add(cell.Cover, m.Path, "")
		} else {
			add(cell.Mask, m.Path, "")
		}
	}
	add(cell.Close, "/", "")
	b.Config.Read = []string{"/"}
	b.Config.Write = b.Spec.Writes()
	b.Config.Env = computer.Environment(strings.Join(slices.DeleteFunc(slices.Clone(programs), missing), ":"), b.Spec.Network)
	return parts
}

// homeParts show the home: as a whole to be written to, or only some folders of it.
func homeParts(b *computer.Boot, home string) []cell.Part {
	folders := b.Spec.Bounds.Folders()
	whole := slices.Equal(folders, []string{"."})
	parts := []cell.Part{{Kind: cell.Home, Path: computer.HomeDir, From: home, Fixed: !whole}}
	if whole {
		return parts
	}
	for _, at := range folders {
		parts = append(parts, cell.Part{Kind: cell.Home, Path: computer.HomeDir + "/" + at, From: filepath.Join(home, at)})
	}
	return parts
}

func missing(dir string) bool {
	info, err := os.Stat(dir)
	return err != nil || !info.IsDir()
}

// tool shows a folder of the host, or the link that stands in its place.
func tool(path string) []cell.Part {
	info, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	if info.Mode().Type() == fs.ModeSymlink {
		if target, err := os.Readlink(path); err == nil && filepath.Dir(path) == "/" {
			return []cell.Part{{Kind: cell.Link, Path: path, From: target}}
		}
	}
	return []cell.Part{{Kind: cell.Show, Path: path, From: path}}
}

func setting(pattern string) (parts []cell.Part) {
	found, _ := filepath.Glob("/etc/" + pattern)
	for _, path := range found {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			parts = append(parts, cell.Part{Kind: cell.Show, Path: path, From: real})
		}
	}
	return parts
}
