package computertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AttemptRole is the first argument with which a test binary is a hostile program.
const AttemptRole = "lyceum-attempt"

// What such a program says: escaped before each thing that it should not have been
// able to do, tried at its end. One that never says tried has proved nothing.
const (
	escaped = "ESCAPED"
	tried   = "TRIED"
)

// Attempt is the hostile program. It runs inside a computer, and to show that it
// works, outside of one. Nothing it does harms whoever it succeeds against.
func Attempt(args []string) int {
	if dir := os.Getenv(folder); dir != "" {
		_ = os.MkdirAll(dir, 0o700)
		if err := os.Chdir(dir); err != nil {
			fmt.Println(err)
			return 2
		}
	}
	if len(args) == 0 {
		return 2
	}
	do := programs()[args[0]]
	if do == nil {
		fmt.Printf("there is no role %q\n", args[0])
		return 2
	}
	do(args[1:])
	fmt.Println(tried, args[0])
	return 0
}

// won reports a success.
func won(format string, args ...any) { fmt.Printf(escaped+" "+format+"\n", args...) }

// outcome reports what came of a try: success, or why not.
func outcome(what string, err error) {
	if err == nil {
		won("%s", what)
		return
	}
	fmt.Printf("%s: %v\n", what, err)
}

func programs() map[string]func([]string) {
	return map[string]func([]string){
		"read": each(readAll), "open": each(openRead), "open-write": each(openWrite), "walk": walkFor, "writable": writable,
		"links": links, "swap": swap, "hard-links": hardLinks, "setuid-bit": setuidBit, "lock": lockFile, "watch": watchFile,
		"processes": processes, "mount-table": mountTable, "environ": environ, "descriptors": descriptors, "privileges": privileges,
		"interfaces": interfaces, "dial": each(dial), "send": each(send), "connect": each(connect), "socket": socket,
		"link-add": linkAdd, "meet": meet, "flood-proxy": floodProxy,
		"raw": rawRequests, "twice": twice, "huge-head": hugeHeader, "hold-requests": holdRequests,
		"mount": mounts, "umount": umounts, "new-mount": newMounts, "pivot": pivot, "chroot": chroot, "namespaces": namespaces,
		"mknod": mknod, "cgroup": cgroups, "release-agent": releaseAgent,
		"trace": each(trace), "peek": each(peek), "take-descriptor": each(takeDescriptor), "write-memory": each(writeMemory),
		"call": each(call), "signal": each(signalAll), "queue-signals": queueSignals, "io-signals": ioSignals, "stop-storm": stopStorm,
		"limit-others": limitOthers, "slow-others": slowOthers,
		"setuid": each(setuidProgram), "setuid-system": setuidSystem, "whoami": whoami,
		"type": typeInto, "terminal": openTerminal, "core": core, "int80": func([]string) { int80() }, "x32": func([]string) { x32() },
		"fill": fill, "inodes": inodes, "forks": forks, "memory-file": memoryFile, "shared-memory": sharedMemory,
		"deleted-files": deletedFiles, "closed-folder": closedFolder, "sparse": sparse, "output": output, "burst": reserve,
		"deep-files": deepFiles, "hidden-files": hiddenFiles, "unreadable": unreadable, "mapped-files": mappedFiles, "sent-files": sentFiles,
		"headless": headless, "deleted-folders": deletedFolders, "left-folders": leftFolders, "program-files": programFiles, "own-files": ownFiles,
		"mapped-memory": mappedMemory, "sent-memory": sentMemory, "shared-anonymous": sharedAnonymous, "page-tables": pageTables,
		"semaphores": semaphores, "messages": messages, "sockets": manySockets, "secret-memory": secretMemory, "headless-memory": headlessMemory,
		"priority": priority, "affinity": affinity, "oom": oom, "inotify": exhaustInotify,
		"lower-mark": lowerMark, "daemon": leave, "daemon-child": leftBehind, "sleep": sleep,
	}
}

func each(do func(string)) func([]string) {
	return func(args []string) {
		for _, a := range args {
			do(a)
		}
	}
}

// Files.

func readAll(path string) {
	b, err := os.ReadFile(path)
	if errors.Is(err, unix.EISDIR) {
		entries, dirErr := os.ReadDir(path)
		for _, e := range entries {
			fmt.Println(filepath.Join(path, e.Name()))
			if b, err := os.ReadFile(filepath.Join(path, e.Name())); err == nil {
				fmt.Printf("%.4096q\n", b)
			}
		}
		err = dirErr
	}
	fmt.Printf("%s: %v %.4096q\n", path, err, b)
}

// openRead wins if there is anything to read.
func openRead(path string) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		info, statErr := f.Stat()
		if statErr == nil && info.IsDir() {
			_, err = f.Readdirnames(1)
		} else {
			_, err = f.Read(make([]byte, 1))
		}
	}
	outcome("read "+path, err)
}

// openWrite only opens: to have been let to is enough.
func openWrite(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	outcome("open for writing "+path, err)
}

// walkFor looks in the whole tree below args[0] for names that hold args[1], which is
// written backwards.
func walkFor(args []string) {
	want := backwards(args[1])
	_ = filepath.WalkDir(args[0], func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if path == "/proc" || path == "/usr" || path == "/sys" {
			return fs.SkipDir
		}
		if strings.Contains(d.Name(), want) {
			won("find %s", path)
		}
		return nil
	})
}

// writable looks for places to write to besides those that are given.
func writable(args []string) {
	_ = filepath.WalkDir(args[0], func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if slices.Contains(args[1:], path) {
			return fs.SkipDir
		}
		name := filepath.Join(path, ".lyceum-escape")
		if unix.Mkdir(name, 0o700) == nil {
			_ = unix.Rmdir(name)
			won("write to %s", path)
		}
		return nil
	})
}

// links makes links in the home that lead to the targets.
func links(args []string) {
	for i, target := range args {
		_ = os.Symlink(target, fmt.Sprintf("link-%d", i))
	}
	_ = os.Symlink("..", "up")
	_ = os.Symlink("/", "top")
	_ = os.Mkdir("folder", 0o700)
	_ = os.Symlink(filepath.Dir(args[0]), "folder/out")
	_ = unix.Mkfifo("fifo", 0o600)
}

// swap changes two names for as long as it may: a file with a link to args[0], and a
// folder with a link to the folder of args[0], in which the file has the same name.
func swap(args []string) {
	name := filepath.Base(args[0])
	_ = os.WriteFile("file", []byte("harmless"), 0o600)
	_ = os.Symlink(args[0], "file-link")
	_ = os.Mkdir("dir", 0o700)
	_ = os.WriteFile("dir/"+name, []byte("harmless"), 0o600)
	_ = os.Symlink(filepath.Dir(args[0]), "dir-link")
	fmt.Println("swapping")
	for until := time.Now().Add(time.Minute); time.Now().Before(until); {
		_ = unix.Renameat2(unix.AT_FDCWD, "file", unix.AT_FDCWD, "file-link", unix.RENAME_EXCHANGE)
		_ = unix.Renameat2(unix.AT_FDCWD, "dir", unix.AT_FDCWD, "dir-link", unix.RENAME_EXCHANGE)
	}
}

func hardLinks(args []string) {
	for i, target := range args {
		outcome("hard link to "+target, os.Link(target, fmt.Sprintf("hard-%d", i)))
		fd, err := unix.Open(target, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		to := fmt.Sprintf("hard-%d-fd", i)
		outcome("hard link through /proc to "+target,
			unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, to, unix.AT_SYMLINK_FOLLOW))
		outcome("hard link of an open "+target, unix.Linkat(fd, "", unix.AT_FDCWD, to, unix.AT_EMPTY_PATH))
	}
}

// setuidBit leaves a program that makes whoever runs it the owner of the home.
func setuidBit([]string) {
	_ = os.Mkdir("shared", 0o777)
	_ = os.WriteFile("shared/gain", []byte("#!/bin/sh\n"), 0o755)
	outcome("chmod", unix.Chmod("shared/gain", 0o6755))
	if fd, err := unix.Open("shared/gain", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		outcome("fchmod", unix.Fchmod(fd, 0o6755))
	}
	if fd, err := unix.Open("shared/made", unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o6755); err == nil {
		var s unix.Stat_t
		if unix.Fstat(fd, &s) == nil && s.Mode&0o6000 != 0 {
			won("open")
		}
	}
	_ = os.Chmod(".", 0o777)
}

// lockFile keeps others from locking a file that they share with us.
func lockFile(args []string) {
	f, err := os.Open(args[0])
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	fmt.Println("locked:", err)
	rest()
}

// watchFile tells when others use a file that they share with us.
func watchFile(args []string) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(fd, args[0], unix.IN_OPEN)
	}
	fmt.Println("watching:", err)
	if err != nil {
		return
	}
	n, err := unix.Read(fd, make([]byte, 4096))
	outcome(fmt.Sprintf("see that %s is used: %d bytes", args[0], n), err)
}

// rest waits to be killed, for a minute.
func rest() { time.Sleep(time.Minute) }

// What there is to see.

// processes looks for one whose command line or environment holds args[0], which is
// written backwards.
func processes(args []string) {
	want := []byte(backwards(args[0]))
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range names {
		for _, file := range []string{"cmdline", "environ"} {
			if b, err := os.ReadFile(dir + "/" + file); err == nil && bytes.Contains(b, want) {
				won("see %s/%s", dir, file)
			}
		}
	}
}

// mountTable looks for a path that holds args[0], which is written backwards, in every table
// of mounts that can be read.
func mountTable(args []string) {
	want := []byte(backwards(args[0]))
	names, _ := filepath.Glob("/proc/[0-9]*/mount*")
	more, _ := filepath.Glob("/proc/*self/mount*")
	for _, name := range append(append(names, more...), "/proc/mounts") {
		b, err := os.ReadFile(name)
		fmt.Printf("%s: %d bytes %v\n", name, len(b), err)
		if bytes.Contains(b, want) {
			won("see it in %s", name)
		}
	}
}

func environ([]string) {
	fmt.Println(strings.Join(os.Environ(), "\n"))
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, n := range names {
		b, err := os.ReadFile(n)
		fmt.Printf("%s: %v %q\n", n, err, b)
	}
}

func descriptors([]string) {
	names, err := os.ReadDir("/proc/self/fd")
	fmt.Println("descriptors:", err)
	for _, n := range names {
		fd, _ := strconv.Atoi(n.Name())
		link, err := os.Readlink("/proc/self/fd/" + n.Name())
		// What the language opens for itself, and the folder that is being read.
		ours := strings.HasPrefix(link, "anon_inode:[event") || strings.HasPrefix(link, "/proc/") || err != nil
		fmt.Println(fd, link)
		if fd > 2 && !ours {
			won("inherit descriptor %d, %s", fd, link)
		}
	}
}

// privileges looks at what this process may do by its credentials.
func privileges([]string) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.HasPrefix(name, "Cap") && strings.Trim(value, "0") != "",
			name == "NoNewPrivs" && value != "1", name == "Seccomp" && value != "2",
			name == "Uid" && strings.HasPrefix(value, "0\t"):
			won("have %s %s", name, value)
		}
	}
	outcome("become root", unix.Setuid(0))
	outcome("become the group root", unix.Setgid(0))
	outcome("change groups", unix.Setgroups([]int{0}))
}

func whoami([]string) { fmt.Printf("euid %d egid %d\n", unix.Geteuid(), unix.Getegid()) }

func setuidProgram(path string) {
	out, err := exec.Command(path, AttemptRole, "whoami").CombinedOutput()
	mine := fmt.Sprintf("euid %d egid %d\n", unix.Geteuid(), unix.Getegid())
	fmt.Printf("%s: %v %s", path, err, out)
	if bytes.HasPrefix(out, []byte("euid")) && !bytes.HasPrefix(out, []byte(mine)) {
		won("become another by %s: %s", path, out)
	}
}

// setuidSystem asks the programs of the system that have rights to lend.
func setuidSystem([]string) {
	for _, line := range [][]string{
		{"su", "-c", "id -u", "root"}, {"sudo", "-n", "id", "-u"}, {"pkexec", "id", "-u"}, {"doas", "-n", "id", "-u"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		out, err := exec.CommandContext(ctx, line[0], line[1:]...).Output()
		cancel()
		fmt.Printf("%v: %v %q\n", line, err, out)
		if strings.TrimSpace(string(out)) == "0" {
			won("become root by %s", line[0])
		}
	}
	// A program that adds to what its caller may do has that in its file, and a mount
	// that honours it, in a process that may still gain something.
	if barred, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err == nil && barred == 1 {
		return
	}
	for _, dir := range []string{"/usr", "/bin", "/home/agent", "/tmp", "/dev/shm"} {
		var s unix.Statfs_t
		if unix.Statfs(dir, &s) == nil && s.Flags&unix.ST_NOSUID == 0 {
			won("find %s mounted so that programs can add rights", dir)
		}
	}
}

// Network.

func interfaces([]string) {
	all, err := net.Interfaces()
	fmt.Println("interfaces:", err)
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 {
			won("see the interface %s", i.Name)
		}
	}
}

func dial(address string) {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err == nil {
		c.Close()
	}
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		err = nil // there is a way there
	}
	outcome("connect to "+address, err)
}

// send sends a question, such as one to a name server. To a loopback address it may
// always be sent: whether it arrives, the listener knows.
func send(address string) {
	c, err := net.Dial("udp", address)
	if err == nil {
		_, err = c.Write([]byte("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03org\x00\x00\x01\x00\x01"))
		c.Close()
	}
	if strings.HasPrefix(address, "127.") || strings.HasPrefix(address, "[::1]") {
		fmt.Println("send to", address, err)
		return
	}
	outcome("send to "+address, err)
}

func connect(path string) {
	for _, kind := range []string{"unix", "unixgram", "unixpacket"} {
		c, err := net.DialUnix(kind, nil, &net.UnixAddr{Name: path, Net: kind})
		if err == nil {
			_, _ = c.Write([]byte("hello"))
			c.Close()
		}
		outcome("connect to "+path, err)
	}
}

func socket(args []string) {
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(args[i])
	}
	fd, err := unix.Socket(n[0], n[1], n[2])
	if err == nil {
		unix.Close(fd)
	}
	outcome(fmt.Sprintf("socket %v", n), err)
}

// linkAdd asks for a new network interface.
func linkAdd([]string) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		fmt.Println(err)
		return
	}
	attribute := func(kind uint16, data []byte) []byte {
		b := make([]byte, 4, 4+len(data)+3)
		*(*uint16)(unsafe.Pointer(&b[0])), *(*uint16)(unsafe.Pointer(&b[2])) = uint16(4+len(data)), kind
		b = append(b, data...)
		return append(b, make([]byte, (4-len(b)%4)%4)...)
	}
	body := make([]byte, unix.SizeofIfInfomsg)
	body = append(body, attribute(unix.IFLA_IFNAME, []byte("lyc0\x00"))...)
	body = append(body, attribute(unix.IFLA_LINKINFO, attribute(unix.IFLA_INFO_KIND, []byte("bridge\x00")))...)
	head := unix.NlMsghdr{
		Len: uint32(unix.SizeofNlMsghdr + len(body)), Type: unix.RTM_NEWLINK, Seq: 1,
		Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK | unix.NLM_F_CREATE | unix.NLM_F_EXCL,
	}
	b := append(unsafe.Slice((*byte)(unsafe.Pointer(&head)), unix.SizeofNlMsghdr), body...)
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		fmt.Println(err)
		return
	}
	reply := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, reply, 0)
	if err != nil || n < unix.SizeofNlMsghdr+4 {
		fmt.Println("no answer", err)
		return
	}
	code := *(*int32)(unsafe.Pointer(&reply[unix.SizeofNlMsghdr]))
	if code == 0 {
		won("add a network interface")
		return
	}
	fmt.Println("add an interface:", unix.Errno(-code))
}

// meet waits for another computer at every address that the two might share, and
// says so if one comes. args[0] is "wait" or "come".
func meet(args []string) {
	names := []string{"@lyceum-meet-" + args[1], "/tmp/lyceum-meet-" + args[1], "/dev/shm/lyceum-meet-" + args[1]}
	if args[0] == "come" {
		for _, n := range names {
			connect(n)
		}
		dial("127.0.0.1:47113")
		return
	}
	come := make(chan string, 16)
	for _, n := range names {
		if l, err := net.Listen("unix", n); err == nil {
			go func() {
				if _, err := l.Accept(); err == nil {
					come <- n
				}
			}()
		}
	}
	if l, err := net.Listen("tcp", "127.0.0.1:47113"); err == nil {
		go func() {
			if _, err := l.Accept(); err == nil {
				come <- "tcp"
			}
		}()
	}
	fmt.Println("waiting")
	select {
	case n := <-come:
		won("meet another computer at %s", n)
	case <-time.After(time.Minute):
	}
}

// floodProxy keeps as many connections to the proxy as it can.
func floodProxy(args []string) {
	want, _ := strconv.Atoi(args[1])
	var all []net.Conn
	for len(all) < want {
		c, err := net.DialTimeout("tcp", args[0], time.Second)
		if err != nil {
			fmt.Println(err)
			break
		}
		all = append(all, c)
		_, _ = c.Write([]byte("CONNECT example.org:443 HTTP/1.1\r\n"))
	}
	fmt.Println("connections:", len(all))
	rest()
	runtime.KeepAlive(all)
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func sleep(args []string) {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		d = time.Minute
	}
	time.Sleep(d)
}

// start runs this program again in another role.
func start(args ...string) (*exec.Cmd, error) {
	cmd := exec.Command("/proc/self/exe", append([]string{AttemptRole}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// It is in the folder already. One that begins late would make the folder again, after the
	// test has removed it.
	cmd.Env = append(os.Environ(), folder+"=")
	return cmd, cmd.Start()
}
