package helper

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// limit sets what every process inherits.
func (h *helper) limit() error {
	c := h.config
	set := []struct {
		resource int
		value    int64
	}{
		// No core dumps: they are written where the host says.
		{unix.RLIMIT_CORE, 0},
		// Nor any way past the host's own processes, which users of sound have.
		{unix.RLIMIT_RTPRIO, 0},
		{unix.RLIMIT_NICE, 0},
		{unix.RLIMIT_NOFILE, orSkip(c.Files)},
		{unix.RLIMIT_FSIZE, orSkip(c.Disk)},
		// Memory is watched, which tells whoever takes too much; this is for what is
		// faster than that.
		{unix.RLIMIT_DATA, beyond(c.Memory)},
		{unix.RLIMIT_NPROC, orSkip(c.Processes)},
	}
	for _, s := range set {
		if s.value < 0 {
			continue
		}
		var old syscall.Rlimit
		if err := syscall.Getrlimit(s.resource, &old); err != nil {
			return fmt.Errorf("read limit %d: %w", s.resource, err)
		}
		// What is lower already stays so: nobody without rights may raise it.
		v := min(uint64(s.value), old.Max)
		if err := syscall.Setrlimit(s.resource, &syscall.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("set limit %d: %w", s.resource, err)
		}
	}
	return nil
}

// beyond is more than a process should ever hold, this one included, which needs some
// however little the commands have.
func beyond(memory int64) int64 {
	if memory == 0 {
		return -1
	}
	return 2*memory + 256<<20
}

func orSkip(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}

// pinTo keeps this process and all it starts to n of the processors it may use,
// others for each computer. It is called before there are other threads that run
// commands: new ones inherit from the one that starts them, so all are set.
func pinTo(n int) error {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return fmt.Errorf("read the processors: %w", err)
	}
	if may.Count() <= n {
		return nil
	}
	var use unix.CPUSet
	for i, first := 0, int(now().UnixNano()%int64(may.Count())); use.Count() < n; i++ {
		cpu := (first + i) % 1024
		if may.IsSet(cpu) {
			use.Set(cpu)
		}
	}
	// A thread that is made meanwhile by one that is not set yet is found the next time.
	done := map[int]bool{}
	for fresh := true; fresh; {
		fresh = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range tasks {
			id, _ := strconv.Atoi(t.Name())
			if done[id] {
				continue
			}
			done[id], fresh = true, true
			if err := unix.SchedSetaffinity(id, &use); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("keep to %d processors: %w", n, err)
			}
		}
	}
	return nil
}

// How often the watchdog looks. Disk is looked at less often the longer that takes.
const (
	watchEvery  = 50 * time.Millisecond
	diskShare   = 20
	diskEvery   = 250 * time.Millisecond
	maxEntries  = 2_000_000
	hostReserve = 512 << 20
)

// watch holds the limits that nothing else holds, while commands run.
func (h *helper) watch() {
	diskDue := now()
	before, roomThen := int64(-1), int64(0)
	look := func() (used int64) {
		began := now()
		used = h.used() + unnamed(h.config.Home)
		diskDue = now().Add(max(diskEvery, diskShare*now().Sub(began)))
		return used
	}
	last := roomOf(h.config.Home)
	var then []*command // those that ran at the last look
	var begun uint64    // how many had begun by then
	for {
		h.mu.Lock()
		running, changed, marks := h.running(), h.changed, h.marks
		h.mu.Unlock()
		if len(running) == 0 {
			// What a command finds is what the one before it left: what it does before it is
			// first looked at counts as its own.
			if h.config.Disk > 0 && (before < 0 || !now().Before(diskDue)) {
				before, roomThen, then, begun = look(), roomOf(h.config.Home).bytes, nil, marks
			}
			<-changed
			continue
		}
		if h.config.Memory > 0 || h.config.Processes > 0 {
			h.watchProcesses(running)
		}
		room := roomOf(h.config.Home)
		// What the host needs is looked at each time, and whoever it was that took it.
		if room.tight() && (room.bytes < last.bytes || room.files < last.files) {
			for _, c := range running {
				h.kill(c, "disk")
			}
		}
		last = room
		// Looking through the home takes time. A disk that fills up faster than the home
		// may is a reason not to wait.
		hasty := before >= 0 && roomThen-room.bytes > max(h.config.Disk-before, hostReserve)/2
		if h.config.Disk > 0 && (hasty || !now().Before(diskDue)) {
			used := look()
			// What shrinks may go on: that is how one gets below the limit again.
			if used > h.config.Disk && before >= 0 && used > before {
				// If others have come and gone since the last look, it may have been they; only who
				// was there at both is to blame for sure.
				stayed := slices.DeleteFunc(slices.Clone(running), func(c *command) bool { return !slices.Contains(then, c) })
				blamed := stayed
				if len(stayed) == len(then) && marks-begun == uint64(len(running)-len(stayed)) {
					blamed = running // nobody else was there
				}
				for _, c := range blamed {
					h.kill(c, "disk")
				}
			}
			before, roomThen, then, begun = used, room.bytes, running, marks
		}
		time.Sleep(watchEvery)
	}
}

// watchProcesses looks at memory and at the number of tasks. The command that uses
// the most memory is the one that is killed.
func (h *helper) watchProcesses(running []*command) {
	pages := map[uint64]int64{}
	var all, tasks int64
	for _, pid := range pids() {
		mark, _ := markOf(pid)
		rss, threads := stat(pid)
		pages[mark] += rss
		all += rss
		tasks += threads
	}
	size := int64(os.Getpagesize())
	var worst *command
	for _, c := range running {
		if worst == nil || pages[c.mark] > pages[worst.mark] {
			worst = c
		}
	}
	held := all*size + occupied("/tmp") + occupied("/dev/shm") + detached()
	if h.config.Memory > 0 && held > h.config.Memory {
		h.kill(worst, "memory")
	}
	if h.fills(tasks) {
		for _, c := range running {
			c.mu.Lock()
			c.met = "processes"
			c.mu.Unlock()
		}
	}
}

// fills reports whether that many tasks are all there can be. A few may just have
// ended, and this process has some threads of its own that count as well.
func (h *helper) fills(tasks int64) bool {
	_, own := stat(os.Getpid())
	return h.config.Processes > 0 && tasks+own+2 >= h.config.Processes
}

// crowded looks whether there are as many tasks as there can be.
func (h *helper) crowded() bool {
	if h.config.Processes == 0 {
		return false
	}
	var tasks int64
	for _, pid := range pids() {
		_, threads := stat(pid)
		tasks += threads
	}
	return h.fills(tasks)
}

// stat returns how many pages of its own a process holds, and its threads.
func stat(pid int) (rss, threads int64) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	// The second field is the program's name, in brackets, and may hold anything.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 22 {
		return 0, 0
	}
	threads, _ = strconv.ParseInt(f[17], 10, 64)
	threads = max(threads, 1) // one that waits to be reaped counts as well
	rss, _ = strconv.ParseInt(f[21], 10, 64)
	return rss, threads
}

// occupied is how many bytes a file system in memory holds.
func occupied(dir string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Type != unix.TMPFS_MAGIC {
		return 0
	}
	// A file takes memory of the kernel's as well, also an empty one.
	return int64(s.Blocks-s.Bfree)*s.Bsize + int64(s.Files-s.Ffree)<<10
}

// used is how many bytes the home takes, and remembers how long it took to look.
func (h *helper) used() int64 {
	began := now()
	n := usage(h.config.Home, h.config.Disk)
	h.walk.Store(int64(now().Sub(began)))
	return n
}

// ranFull reports whether the home is full, for a command that ended badly: most
// programs end by themselves when they may not write any more. It does not look
// where that takes long.
func (h *helper) ranFull() bool {
	return h.config.Disk > 0 && time.Duration(h.walk.Load()) < watchEvery && h.used() >= h.config.Disk
}

// usage is how many bytes of disk a folder takes. Too many files are too much.
func usage(dir string, limit int64) (sum int64) {
	n := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrPermission) && d != nil && d.IsDir() {
				sum += closedUsage(path, d, limit)
			}
			return nil // or gone
		}
		if n++; n > maxEntries {
			sum = limit + int64(n)
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				// A hole takes no room here, and does in every copy that Lyceum makes.
				sum += max(s.Blocks*512, info.Size())
			}
		}
		return nil
	})
	return sum
}
