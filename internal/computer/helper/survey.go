package helper

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"lyceum/internal/computer/link"

	"golang.org/x/sys/unix"
)

// survey is what a look at all processes found. Commands can hold memory and disk in more
// ways than by what they have mapped and by files with names; whatever the kernel shows of
// that is counted here, and what it does not show leaves a trace: see dark.
type survey struct {
	home string
	// held is the memory that processes have to themselves, by the mark of their command,
	// and with it the files in memory that they were the first seen to have open.
	held  map[uint64]int64
	tasks int64
	// files are open files without a name, and how many bytes they take.
	files   map[inode]file
	inFiles int64 // bytes of those that are in memory
	// mapped are shared memory and deleted files of the home that no process was seen to
	// have open, but some have mapped: all of them, or a part.
	mapped map[inode]*mapping
	// sockets and pipes can hold data that no process has. sockets has whether descriptors
	// are on their way in one.
	sockets map[inode]bool
	pipes   map[inode]bool
	// dark are the marks of those who may hold what is not seen.
	dark map[uint64]bool
	// hidden are the marks of processes that cannot be looked at.
	hidden map[uint64]bool
	open   map[uint64]int // descriptors, by mark
	opened int
	// processes are those that could be looked at, and resident how much shared memory they
	// have mapped, by page and process.
	processes []process
	resident  int64
	deep      bool // what they have mapped was looked at
	text      int  // bytes of the kernel's lists of that
}

type process struct {
	dir    string // its folder in /proc
	mark   uint64
	shared int64
}

type inode struct{ dev, ino uint64 }

// file is an open one: its bytes, and the mark of the first that was seen to have it.
type file struct {
	bytes int64
	mark  uint64
}

// mapping is what is mapped of a file that is not seen otherwise.
type mapping struct {
	disk     bool
	resident int64
	// size is how many bytes of it the process has mapped that has mapped the most, own how
	// many the last one has that was looked at.
	size, own int64
	last      string
	marks     map[uint64]bool
}

// What a look goes through at most. Whoever makes it longer hides behind its length.
const (
	maxOpened = 1 << 16
	maxText   = 64 << 20
)

// survey looks at all processes, but not at what they have mapped.
func (h *helper) survey() *survey {
	s := &survey{
		home: h.config.Home, held: map[uint64]int64{}, files: map[inode]file{}, mapped: map[inode]*mapping{}, sockets: map[inode]bool{},
		pipes: map[inode]bool{}, dark: map[uint64]bool{}, hidden: map[uint64]bool{}, open: map[uint64]int{},
	}
	buf := make([]byte, 16<<10)
	for _, pid := range pids() {
		if mark, ok := markOf(pid); ok {
			s.process("/proc/"+strconv.Itoa(pid), mark, buf)
		}
	}
	s.memoryFiles()
	return s
}

// deepen looks at what processes have mapped as well, which takes longer.
func (s *survey) deepen() *survey {
	s.deep = true
	for _, p := range s.processes {
		s.mappings(p)
	}
	// What somebody has open was counted.
	for id := range s.files {
		delete(s.mapped, id)
	}
	for _, m := range s.mapped {
		for mark := range m.marks {
			s.dark[mark] = true
		}
	}
	return s
}

// process looks at one. buf is for what is read of it.
func (s *survey) process(dir string, mark uint64, buf []byte) {
	st, ok := statusOf(dir, buf)
	if !ok {
		return
	}
	s.tasks += st.threads
	if st.ended {
		if st.threads <= 1 {
			return // it waits to be reaped and holds nothing
		}
		// Its first thread has ended, and shows nothing. The others have all that there is.
		if dir, st, ok = livingThread(dir, buf); !ok {
			return
		}
	}
	s.held[mark] += st.memory
	if !s.descriptors(dir, mark, buf) {
		// Nobody can be looked at who is about to end.
		if st, ok = statusOf(dir, buf); ok && !st.ended {
			s.hidden[mark] = true
		}
		return
	}
	// A program's own file and its working directory are held as open files are.
	for _, link := range []string{"/exe", "/cwd"} {
		var f unix.Stat_t
		if unix.Stat(dir+link, &f) == nil {
			s.file(&f, mark)
		}
	}
	s.resident += st.shared
	s.processes = append(s.processes, process{dir, mark, st.shared})
}

// livingThread finds a thread of a process that has not ended.
func livingThread(dir string, buf []byte) (string, status, bool) {
	tasks, err := os.ReadDir(dir + "/task")
	if err != nil {
		return "", status{}, false
	}
	for _, t := range tasks {
		at := dir + "/task/" + t.Name()
		if st, ok := statusOf(at, buf); ok && !st.ended {
			return at, st, true
		}
	}
	return "", status{}, false
}

// status is what a process tells of itself.
type status struct {
	// ended is also one that is about to: it has no memory any more, and shows nothing else.
	ended   bool
	threads int64
	// memory is what is its own, also if it is swapped out, with the tables that the kernel
	// keeps of it; shared is what it has mapped of shared memory.
	memory, shared int64
}

// statusOf reads a process's or a thread's status.
func statusOf(dir string, buf []byte) (st status, ok bool) {
	b := readSome(dir+"/status", buf)
	if len(b) == 0 {
		return st, false
	}
	st.threads, st.ended = 1, true
	// The first line is the program's name, which may be anything but has no line of its own.
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		name, rest, found := bytes.Cut(line, []byte{':'})
		if !found {
			continue
		}
		rest = bytes.TrimLeft(rest, " \t")
		switch string(name) {
		case "VmSize":
			// Whoever is ending has no memory any more, from a moment before it says so.
			st.ended = false
		case "Threads":
			st.threads = max(decimal(rest), 1)
		case "RssAnon", "VmSwap", "VmPTE", "HugetlbPages":
			st.memory += decimal(rest) << 10
		case "RssShmem":
			st.shared = decimal(rest) << 10
		}
	}
	return st, true
}

// decimal is the number that a text begins with.
func decimal(b []byte) (n int64) {
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// readSome reads a file of the kernel's that is no longer than the buffer.
func readSome(path string, buf []byte) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if m <= 0 {
			break
		}
		n += m
	}
	return buf[:n]
}

// descriptors looks at all that a process has open. It reports whether it may.
func (s *survey) descriptors(dir string, mark uint64, buf []byte) bool {
	fd, err := unix.Open(dir+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM)
	}
	defer unix.Close(fd)
	var names []string
	for s.opened < maxOpened {
		n, err := unix.ReadDirent(fd, buf)
		if n <= 0 || err != nil {
			return !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EPERM)
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		for _, name := range names {
			s.opened++
			s.open[mark]++
			var f unix.Stat_t
			if unix.Fstatat(fd, name, &f, 0) != nil {
				continue
			}
			switch id := (inode{uint64(f.Dev), f.Ino}); f.Mode & unix.S_IFMT {
			case unix.S_IFSOCK:
				if _, known := s.sockets[id]; !known {
					s.sockets[id] = carries(dir + "/fdinfo/" + name)
				}
				if s.sockets[id] {
					s.dark[mark] = true
				}
			case unix.S_IFIFO:
				s.pipes[id] = true
			default:
				s.file(&f, mark)
			}
		}
	}
	return true
}

// file counts one that is open, if it has no name by which it would be found.
func (s *survey) file(f *unix.Stat_t, mark uint64) {
	if f.Nlink != 0 {
		return
	}
	id := inode{uint64(f.Dev), f.Ino}
	if _, known := s.files[id]; !known {
		s.files[id] = file{f.Blocks * 512, mark}
	}
}

// carries reports whether descriptors that were sent over a socket wait in it to be
// received. Nobody has them open, and what they stand for cannot be seen.
func carries(info string) bool {
	var small [1 << 10]byte
	_, after, found := bytes.Cut(readSome(info, small[:]), []byte("scm_fds:"))
	return found && decimal(bytes.TrimLeft(after, " \t")) > 0
}

// mappings looks for what is mapped and cannot be seen otherwise: deleted files of the
// home, and shared memory.
func (s *survey) mappings(p process) {
	name := "/maps"
	if p.shared > 0 {
		name = "/smaps" // as the other, and how much of each is there
	}
	if s.text > maxText {
		return
	}
	b, err := os.ReadFile(p.dir + name)
	if err != nil {
		return // it has ended
	}
	s.text += len(b)
	var at *mapping
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		if len(line) == 0 || line[0] >= 'A' && line[0] <= 'Z' { // the addresses have small letters
			if at != nil && bytes.HasPrefix(line, []byte("Rss:")) {
				at.resident += decimal(bytes.TrimLeft(line[4:], " ")) << 10
			}
			continue
		}
		at = nil
		// Most lines have no file behind them, or one with a name. Shared memory may have a
		// name that its owner gave it.
		if !bytes.HasSuffix(line, []byte(" (deleted)")) && !bytes.Contains(line, []byte(namedShared)) {
			continue
		}
		at = s.mapping(p, string(line))
	}
}

// namedShared is what the kernel puts before the name of a piece of shared memory.
const namedShared = "[anon_shmem:"

// mapping adds a line of the kernel's list, if it is of a kind that counts.
func (s *survey) mapping(p process, line string) *mapping {
	// Addresses, rights, offset, device, inode, and a name that may have spaces.
	f := strings.Fields(line)
	if len(f) < 6 {
		return nil
	}
	disk := strings.HasPrefix(f[5], s.home+"/")
	if !disk && f[5] != "/dev/zero" && !strings.HasPrefix(f[5], "/memfd:") && !strings.HasPrefix(f[5], namedShared) {
		return nil // in a folder, or a segment: both are counted as such
	}
	from, to, _ := strings.Cut(f[0], "-")
	low, _ := strconv.ParseUint(from, 16, 64)
	high, _ := strconv.ParseUint(to, 16, 64)
	major, minor, _ := strings.Cut(f[3], ":")
	ma, _ := strconv.ParseUint(major, 16, 32)
	mi, _ := strconv.ParseUint(minor, 16, 32)
	ino, _ := strconv.ParseUint(f[4], 10, 64)
	id := inode{unix.Mkdev(uint32(ma), uint32(mi)), ino}
	m := s.mapped[id]
	if m == nil {
		m = &mapping{disk: disk, marks: map[uint64]bool{}}
		s.mapped[id] = m
	}
	if m.last != p.dir {
		m.last, m.own = p.dir, 0
	}
	m.own += int64(high - low)
	m.size = max(m.size, m.own)
	m.marks[p.mark] = true
	return m
}

// unseen are the marks of those who cannot be looked at, or only at a cost that nobody
// would pay.
func (s *survey) unseen() map[uint64]bool {
	if s.opened >= maxOpened || s.text > maxText {
		most := uint64(0)
		for mark, n := range s.open {
			if n > s.open[most] {
				most = mark
			}
		}
		s.hidden[most] = true
	}
	return s.hidden
}

// mayWatch refuses a limit on memory that the watchdog is to hold and cannot, because this
// kernel does not show all that a look must see, unless a weak one is good enough.
func mayWatch(c link.Config, proc string) error {
	if c.Memory == 0 || c.Weak {
		return nil
	}
	if what := unshown(proc); what != "" {
		return fmt.Errorf("there are no control groups to hold the limit on memory, and this kernel does not show %s, so a watchdog cannot hold it either: "+
			"give Lyceum control groups (systemd-run --user --scope lyceum ...), or say that less is enough, with --weak-limits or with weak_limits: true in config.yaml", what)
	}
	return nil
}

// unshown names the first thing that the kernel does not show and a look must see.
func unshown(proc string) string {
	text := readSome(proc+"/self/status", make([]byte, 16<<10))
	for _, field := range []string{"VmSize", "RssAnon", "RssShmem", "VmPTE"} {
		if !bytes.Contains(text, []byte("\n"+field+":")) {
			return field + " of processes"
		}
	}
	if !bytes.Contains(readSome(proc+"/meminfo", make([]byte, 8<<10)), []byte("\nShmem:")) {
		return "how much shared memory there is"
	}
	if _, err := os.Stat(proc + "/sysvipc/shm"); err != nil {
		return "segments of shared memory"
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "sockets"
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if !bytes.Contains(readSome(proc+"/self/fdinfo/"+strconv.Itoa(pair[0]), make([]byte, 1<<10)), []byte("scm_fds:")) {
		return "descriptors that are on their way between processes"
	}
	return ""
}
