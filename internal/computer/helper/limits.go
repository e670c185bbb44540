package helper

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
		{unix.RLIMIT_NOFILE, orSkip(c.Files)},
		{unix.RLIMIT_FSIZE, orSkip(c.Disk)},
		{unix.RLIMIT_DATA, orSkip(c.Memory)},
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
	if c.CPUs > 0 {
		return pinTo(c.CPUs)
	}
	return nil
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
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		id, _ := strconv.Atoi(t.Name())
		if err := unix.SchedSetaffinity(id, &use); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("keep to %d processors: %w", n, err)
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
	var before int64
	for {
		h.mu.Lock()
		running, changed := h.running(), h.changed
		h.mu.Unlock()
		if len(running) == 0 {
			before = -1
			<-changed
			continue
		}
		if h.config.Memory > 0 || h.config.Processes > 0 {
			h.watchProcesses(running)
		}
		if h.config.Disk > 0 && !now().Before(diskDue) {
			began := now()
			used := usage(h.config.Home, h.config.Disk)
			// What shrinks may go on: that is how one gets below the limit again.
			if (used > h.config.Disk || full(h.config.Home)) && before >= 0 && used > before {
				for _, c := range running {
					h.kill(c, "disk")
				}
			}
			before = used
			diskDue = now().Add(max(diskEvery, diskShare*now().Sub(began)))
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
		rss, threads := statm(pid)
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
	held := all*size + occupied("/tmp") + occupied("/dev/shm")
	if h.config.Memory > 0 && held > h.config.Memory {
		h.kill(worst, "memory")
	}
	// This process has a few threads of its own that count as well.
	if h.config.Processes > 0 && tasks+selfThreads() >= h.config.Processes {
		for _, c := range running {
			c.mu.Lock()
			c.met = "processes"
			c.mu.Unlock()
		}
	}
}

func selfThreads() int64 {
	d, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	return int64(len(d))
}

// statm returns how many pages of its own a process holds, and its threads.
func statm(pid int) (rss, threads int64) {
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
	rss, _ = strconv.ParseInt(f[21], 10, 64)
	return rss, threads
}

// occupied is how many bytes a file system in memory holds.
func occupied(dir string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Type != unix.TMPFS_MAGIC {
		return 0
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize
}

// full reports whether the disk under the home has less left than the host needs.
func full(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && int64(s.Bavail)*s.Bsize < hostReserve && int64(s.Blocks)*s.Bsize > 4*hostReserve
}

// usage is how many bytes of disk a folder takes. Too many files are too much.
func usage(dir string, limit int64) (sum int64) {
	n := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // unreadable or gone
		}
		if n++; n > maxEntries {
			sum = limit + int64(n)
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil {
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += s.Blocks * 512
			}
		}
		return nil
	})
	return sum
}
