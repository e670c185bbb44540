package helper

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"lyceum/internal/computer/quota"
	"lyceum/internal/computer/tree"

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

// How often the watchdog looks: less often the longer that takes.
const (
	watchEvery  = 50 * time.Millisecond
	watchShare  = 8
	watchSeldom = 500 * time.Millisecond
	diskShare   = 20
	diskEvery   = 250 * time.Millisecond
	maxEntries  = 2_000_000
	maxFailed   = 4
	hostReserve = 512 << 20
)

// watch holds the limits that nothing else holds, while commands run.
func (h *helper) watch() {
	w := &watcher{helper: h, diskDue: now(), before: -1, last: h.room()}
	for {
		h.mu.Lock()
		running, changed, marks := h.running(), h.changed, h.marks
		h.mu.Unlock()
		if len(running) == 0 {
			// What a command finds is what the one before it left: what it does before it is
			// first looked at counts as its own.
			if h.config.Disk > 0 && (w.before < 0 || !now().Before(w.diskDue)) {
				w.lookAtDisk(h.survey().deepen(), nil, marks)
			}
			// No process is left that could hold anything. The first look at the next command
			// finds out what the host has by then.
			w.memory, w.mapped, w.resident, w.deepDue = dark{}, 0, 0, time.Time{}
			<-changed
			continue
		}
		began := now()
		w.look(running, marks)
		time.Sleep(max(watchEvery, min(watchShare*now().Sub(began), watchSeldom)))
	}
}

// watcher is what the watchdog knows from one look to the next. Only its goroutine uses it.
type watcher struct {
	*helper
	diskDue  time.Time
	before   int64 // what the home took at the last look, or -1
	roomThen int64 // and what the disk had left
	last     room
	then     []*command // those that ran at the last look at the disk
	begun    uint64     // how many had begun by then
	failed   int        // looks at the home in a row that came to no end
	disk     dark
	memory   dark
	deepDue  time.Time
	mapped   int64 // bytes of shared memory that is only mapped, at the last deep look
	resident int64 // and what processes had mapped then
}

// look is one of the watchdog's.
func (w *watcher) look(running []*command, marks uint64) {
	room := w.room()
	// What the host needs is looked at each time, and whoever it was that took it.
	if room.tight() && (room.bytes < w.last.bytes || room.files < w.last.files) {
		for _, c := range running {
			w.kill(c, "disk")
		}
	}
	w.last = room
	// Looking through the home takes time. A disk that fills up faster than the home
	// may is a reason not to wait.
	hasty := w.before >= 0 && w.roomThen-room.bytes > max(w.config.Disk-w.before, hostReserve)/2
	atDisk := w.config.Disk > 0 && (hasty || !now().Before(w.diskDue))
	if !atDisk && w.config.Memory == 0 && w.config.Processes == 0 {
		return
	}
	s := w.survey()
	if atDisk || !now().Before(w.deepDue) || s.resident-w.resident > w.config.Memory/8 {
		s.deepen()
		w.deepDue, w.resident = now().Add(diskEvery), s.resident
	}
	hidden := s.unseen()
	for _, c := range running {
		if hidden[c.mark] {
			w.kill(c, "hidden")
		}
	}
	if w.config.Memory > 0 || w.config.Processes > 0 {
		w.lookAtMemory(s, running)
	}
	if atDisk {
		w.lookAtDisk(s, running, marks)
	}
}

// lookAtMemory looks at memory and at the number of tasks. The command that uses
// the most memory is the one that is killed.
func (w *watcher) lookAtMemory(s *survey, running []*command) {
	all := w.sum(s)
	if all > w.config.Memory && w.config.Memory > 0 && !s.deep {
		// What was mapped at the last deep look may be gone.
		s.deepen()
		all = w.sum(s)
	}
	for mark := range s.dark {
		s.held[mark] += w.memory.sum + w.mapped
	}
	var worst *command
	for _, c := range running {
		if worst == nil || s.held[c.mark] > s.held[worst.mark] {
			worst = c
		}
	}
	if w.config.Memory > 0 && all > w.config.Memory {
		w.kill(worst, "memory")
	}
	if w.fills(s.tasks) {
		for _, c := range running {
			c.mu.Lock()
			c.met = "processes"
			c.mu.Unlock()
		}
	}
}

// sum is all the memory that is held.
func (w *watcher) sum(s *survey) int64 {
	held, seen := s.shared()
	if s.deep {
		w.mapped = s.sharedOnly()
		w.memory.add(hostShared()-seen-w.mapped, s.sharedDark())
	}
	all := held + w.mapped + w.memory.sum + kernelObjects() + max(0, s.queues()-w.config.Memory/4)
	for _, bytes := range s.held {
		all += bytes
	}
	return all
}

// lookAtDisk looks through the home.
func (w *watcher) lookAtDisk(s *survey, running []*command, marks uint64) {
	began, room := now(), w.room()
	used, err := w.taken(s, room)
	if err != nil {
		// Somebody may have moved what was looked at. Whoever does so all the time has
		// something to hide.
		if w.failed++; w.failed >= maxFailed {
			for _, c := range running {
				w.kill(c, "hidden")
			}
		}
		return
	}
	w.failed = 0
	w.diskDue = now().Add(max(diskEvery, diskShare*now().Sub(began)))
	// What shrinks may go on: that is how one gets below the limit again.
	if used > w.config.Disk && w.before >= 0 && used > w.before {
		// If others have come and gone since the last look, it may have been they; only who
		// was there at both is to blame for sure.
		stayed := slices.DeleteFunc(slices.Clone(running), func(c *command) bool { return !slices.Contains(w.then, c) })
		blamed := stayed
		if len(stayed) == len(w.then) && marks-w.begun == uint64(len(running)-len(stayed)) {
			blamed = running // nobody else was there
		}
		for _, c := range blamed {
			w.kill(c, "disk")
		}
	}
	w.before, w.roomThen, w.then, w.begun = used, room.bytes, running, marks
}

// taken is how much disk the home takes, by all that can be found out.
func (w *watcher) taken(s *survey, room room) (int64, error) {
	used, err := w.used()
	if w.config.Quota {
		// The kernel has counted all that is on the disk, wherever it lies and whether it has a name. What
		// is found by looking only adds what holes take where they are copied to.
		if counted, failed := quota.Taken(w.config.Home); failed == nil {
			return max(used, counted), nil
		}
	}
	if err != nil {
		return 0, err
	}
	used += s.onDisk(w.config.Home)
	return used + w.disk.add(-room.bytes-used, s.diskDark()), nil
}

// fills reports whether that many tasks are all there can be. A few may just have
// ended, and this process has some threads of its own that count as well.
func (h *helper) fills(tasks int64) bool {
	return h.config.Processes > 0 && tasks+threads("/proc/self")+2 >= h.config.Processes
}

// crowded looks whether there are as many tasks as there can be.
func (h *helper) crowded() bool {
	if h.config.Processes == 0 {
		return false
	}
	var tasks int64
	for _, pid := range pids() {
		tasks += threads("/proc/" + strconv.Itoa(pid))
	}
	return h.fills(tasks)
}

// threads is how many a process has. One that waits to be reaped counts as well.
func threads(dir string) int64 {
	st, _ := statusOf(dir, make([]byte, 8<<10))
	return st.threads
}

// used is how many bytes the files in the home take, and remembers how long it took to
// look.
func (h *helper) used() (int64, error) {
	began := now()
	n, err := usage(h.config.Home, h.config.Disk)
	h.walk.Store(int64(now().Sub(began)))
	return n, err
}

// ranFull reports whether the home is full, for a command that ended badly: most
// programs end by themselves when they may not write any more. It does not look
// where that takes long.
func (h *helper) ranFull() bool {
	if h.config.Quota {
		if counted, err := quota.Taken(h.config.Home); err == nil && counted >= h.config.Disk {
			return true
		}
	}
	if h.config.Disk == 0 || time.Duration(h.walk.Load()) >= watchEvery {
		return false
	}
	used, err := h.used()
	return err == nil && used >= h.config.Disk
}

// errFull ends a walk that has gone through enough.
var errFull = errors.New("there are too many files")

// usage is how many bytes of disk a folder takes. Too many files are too much.
func usage(dir string, limit int64) (sum int64, err error) {
	n := int64(0)
	err = tree.Walk(dir, tree.Visitor{Visit: func(_ int, _ string, s *unix.Stat_t) error {
		if n++; n > maxEntries {
			return errFull
		}
		// A hole takes no room here, and does in every copy that Lyceum makes.
		sum += max(s.Blocks*512, s.Size)
		return nil
	}})
	if errors.Is(err, errFull) {
		return limit + n, nil
	}
	return sum, err
}
