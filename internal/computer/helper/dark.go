package helper

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dark is how much is held by what nobody can look at: a deleted file of which a page is
// mapped, shared memory of which the rest was unmapped, a descriptor that was sent and not
// received. That there is such a thing is seen, only not how large it is.
//
// The host does see how much disk and shared memory there is altogether. What it loses
// beyond what is seen to be taken here, while there is something dark, counts as taken
// here. Others on the host may have taken it; a computer that hides what it holds has to
// bear that.
type dark struct {
	begun  bool
	beyond int64 // what the host had lost at the last look beyond what was seen
	known  map[inode]int64
	sum    int64
}

// shade is what there is of it at a look.
type shade struct {
	// sizes are what is mapped, and how much of it.
	sizes map[inode]int64
	// always says that something may have changed though the sizes have not.
	always bool
}

// add takes a look into account, and returns what counts as taken.
func (d *dark) add(beyond int64, s shade) int64 {
	changed := s.always
	for id, size := range s.sizes {
		before, known := d.known[id]
		changed = changed || !known || size < before
	}
	if d.begun && changed {
		d.sum = max(0, d.sum+beyond-d.beyond)
	}
	if !s.always && len(s.sizes) == 0 {
		d.sum = 0
	}
	d.begun, d.beyond, d.known = true, beyond, s.sizes
	return d.sum
}

// sharedDark is what may hold shared memory. The kernel gives no two pieces the same
// number, so whatever is known and has not shrunk is as it was.
func (s *survey) sharedDark() (out shade) {
	out.sizes = map[inode]int64{}
	for id, m := range s.mapped {
		if !m.disk {
			out.sizes[id] = m.size
		}
	}
	out.always = s.carrying()
	return out
}

// diskDark is what may hold deleted files. Their numbers are given out again.
func (s *survey) diskDark() (out shade) {
	out.always = s.carrying()
	for _, m := range s.mapped {
		out.always = out.always || m.disk
	}
	return out
}

// carrying reports whether descriptors are on their way.
func (s *survey) carrying() bool {
	for _, carries := range s.sockets {
		if carries {
			return true
		}
	}
	return false
}

// onDisk is how much disk is held by files of the home that have no name any more.
func (s *survey) onDisk(home string) (sum int64) {
	var h unix.Stat_t
	if unix.Stat(home, &h) != nil {
		return 0
	}
	for id, f := range s.files {
		if id.dev == uint64(h.Dev) {
			sum += f.bytes
		}
	}
	for _, m := range s.mapped {
		if m.disk {
			sum += m.size
		}
	}
	return sum
}

// memoryFiles counts files that are nowhere but in memory for whoever was first seen to
// have them open.
func (s *survey) memoryFiles() {
	known := map[uint64]bool{}
	for _, dir := range []string{"/", "/tmp", "/dev/shm", s.home} {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil {
			known[uint64(st.Dev)] = true // counted as a file system, or no memory
		}
	}
	for id, f := range s.files {
		if !known[id.dev] {
			s.held[f.mark] += f.bytes
			s.inFiles += f.bytes
		}
	}
}

// shared is how much memory is held by folders in memory and by segments. seen is all that
// is seen of shared memory, with open files, as the host counts it.
func (s *survey) shared() (held, seen int64) {
	seen = s.inFiles
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		bytes, files := occupied(dir)
		held += bytes + files<<10 // a file takes memory of the kernel's as well, also an empty one
		seen += bytes
	}
	for _, f := range segments("shm") {
		if len(f) >= 16 {
			rss, _ := strconv.ParseInt(f[14], 10, 64)
			swap, _ := strconv.ParseInt(f[15], 10, 64)
			held += rss + swap
			seen += rss
		}
	}
	return held, seen
}

// sharedOnly is how much is mapped of shared memory that nobody has open.
func (s *survey) sharedOnly() (sum int64) {
	for _, m := range s.mapped {
		if !m.disk {
			// Processes may share pages, or each have touched others.
			sum += min(m.size, m.resident)
		}
	}
	return sum
}

// occupied is how many bytes a file system in memory holds, and how many files.
func occupied(dir string) (bytes, files int64) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Type != unix.TMPFS_MAGIC {
		return 0, 0
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize, int64(s.Files - s.Ffree)
}

// hostShared is how much shared memory the host has, of all its programs.
func hostShared() int64 {
	_, after, found := bytes.Cut(readSome("/proc/meminfo", make([]byte, 8<<10)), []byte("\nShmem:"))
	if !found {
		return 0
	}
	return decimal(bytes.TrimLeft(after, " ")) << 10
}

// kernelObjects is what queues of messages and sets of semaphores take, which no process
// owns: some of the first are nothing but the kernel's record of an empty message.
func kernelObjects() (sum int64) {
	for _, f := range segments("msg") {
		if len(f) > 4 {
			size, _ := strconv.ParseInt(f[3], 10, 64)
			messages, _ := strconv.ParseInt(f[4], 10, 64)
			sum += size + messages*64
		}
	}
	for _, f := range segments("sem") {
		if len(f) > 3 {
			semaphores, _ := strconv.ParseInt(f[3], 10, 64)
			sum += semaphores * 64
		}
	}
	return sum
}

// What may wait in a socket or a pipe at most. The kernel does not tell how much does, but
// for those that speak TCP.
const (
	socketHolds = 416 << 10
	pipeHolds   = 64 << 10
)

// queues is how much data may be on its way between processes.
func (s *survey) queues() (sum int64) {
	local := int64(len(s.sockets))
	if local > 0 {
		numbers := map[string]bool{}
		for id := range s.sockets {
			numbers[strconv.FormatUint(id.ino, 10)] = true
		}
		buf := make([]byte, 1<<20)
		for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
			for line := range strings.Lines(string(readSome("/proc/net/"+table, buf))) {
				f := strings.Fields(line)
				// With an open network, the host's own are listed too.
				if len(f) < 10 || !numbers[f[9]] {
					continue
				}
				out, in, _ := strings.Cut(f[4], ":")
				for _, n := range []string{out, in} {
					bytes, _ := strconv.ParseInt(n, 16, 64)
					sum += bytes
				}
				local--
			}
		}
	}
	return sum + local*socketHolds + int64(len(s.pipes))*pipeHolds
}
