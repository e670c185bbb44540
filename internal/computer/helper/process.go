package helper

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// firstMark is where marks begin. A command's mark is its hard limit on the time of
// real-time scheduling, which no unprivileged process can use anyway. It is
// inherited over fork and exec, it can be lowered but not raised, and each command
// has a lower one than all before it: so no process can pass for one of an earlier
// command or of none, and one that lowers its own becomes nobody's, which is killed
// at the next occasion.
const firstMark = 1 << 50

// takeMark makes the next process that is started carry a new mark. mu is held.
func (h *helper) takeMark() (uint64, error) {
	h.marks++
	mark := uint64(firstMark) - h.marks
	if err := unix.Prlimit(0, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: mark, Max: mark}, nil); err != nil {
		return 0, fmt.Errorf("mark the command: %w", err)
	}
	return mark, nil
}

func markOf(pid int) (uint64, bool) {
	var l unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &l); err != nil {
		return 0, !errors.Is(err, unix.ESRCH)
	}
	return l.Max, true
}

// launch starts a command's first process. mu is held, so that reap does not see
// it end before it is known.
func (h *helper) launch(c *command) error {
	dir := c.spec.Dir
	if !path.IsAbs(dir) {
		dir = path.Join(h.config.Home, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no folder %q to run it in", dir)
	}
	env := environment(h.config.Env, c.spec.Env)
	program, err := lookPath(c.spec.Args[0], dir, env)
	if err != nil {
		return err
	}
	s, err := h.streams(c)
	if err != nil {
		return err
	}
	defer s.closeTheirs()
	if c.mark, err = h.takeMark(); err != nil {
		s.closeOurs()
		return err
	}
	defer h.hurry(c.mark)()
	c.pid, err = syscall.ForkExec(program, c.spec.Args, &syscall.ProcAttr{
		Dir: dir, Env: env, Files: s.theirs(), Sys: &syscall.SysProcAttr{Setsid: true, Setctty: c.tty != nil, Ctty: 0},
	})
	if errors.Is(err, syscall.EAGAIN) {
		s.closeOurs()
		return errors.New("the computer has as many processes as it may have; end a command first")
	}
	if err != nil {
		s.closeOurs()
		return fmt.Errorf("run %s: %w", c.spec.Args[0], err)
	}
	settle(c.pid)
	// If memory runs out, it is the commands that pay for it.
	_ = os.WriteFile("/proc/"+strconv.Itoa(c.pid)+"/oom_score_adj", []byte("500"), 0)
	s.pump(c)
	return nil
}

// settle waits until a program that has just begun can be looked at. The helper shows nothing
// of itself, and what it forks does not either until its exec is done; but the kernel closes
// before that what tells ForkExec that it is. To whoever looks in between, a program that is not
// given the processor for a while seems to hide.
func settle(pid int) {
	dir, began := "/proc/"+strconv.Itoa(pid), now()
	for !visible(dir) && now().Sub(began) < startLimit {
		time.Sleep(200 * time.Microsecond)
	}
}

// visible reports whether a process can be looked at, or has ended.
func visible(dir string) bool {
	fd, err := unix.Open(dir+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
		return true
	}
	st, ok := statusOf(dir, make([]byte, 16<<10))
	return !errors.Is(err, unix.EACCES) || !ok || st.ended
}

// environment is the computer's with what the command sets itself. Each name is
// there once: of two, some programs would take the first and some the last.
func environment(all, own []string) []string {
	var out []string
	at := map[string]int{}
	for _, e := range slices.Concat(all, own) {
		name, _, _ := strings.Cut(e, "=")
		if i, ok := at[name]; ok {
			out[i] = e
			continue
		}
		at[name] = len(out)
		out = append(out, e)
	}
	return out
}

// lookPath finds a program by the command's own environment.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if !path.IsAbs(name) {
			name = path.Join(dir, name)
		}
		return name, nil
	}
	list := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			list = v
		}
	}
	for _, folder := range strings.Split(list, ":") {
		if p, err := exec.LookPath(path.Join(folder, name)); err == nil && path.IsAbs(p) {
			return p, nil
		}
	}
	return "", fmt.Errorf("there is no program %q in this computer", name)
}

// reap takes the exit statuses of all that ends, which as pid 1 includes what the
// commands left behind.
func (h *helper) reap(children <-chan os.Signal) {
	for range children {
		for {
			var status syscall.WaitStatus
			h.mu.Lock()
			pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
			var done *command
			for _, c := range h.commands {
				if pid > 0 && c.pid == pid {
					done, c.pid = c, 0
				}
			}
			h.mu.Unlock()
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if pid <= 0 {
				break
			}
			if done != nil {
				go h.ended(done, status)
			}
		}
	}
}

// pids lists all processes of the computer but this one.
func pids() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid != os.Getpid() {
			out = append(out, pid)
		}
	}
	return out
}

// killLeftovers kills whatever belongs to no command that is running, and waits until
// it is gone: until then it counts, and the next command might find no room.
func (h *helper) killLeftovers() {
	deadline := now().Add(2 * time.Second)
	for wait := time.Millisecond; h.killMarked(h.nobodys) > 0 && now().Before(deadline); wait = min(2*wait, 20*time.Millisecond) {
		time.Sleep(wait)
	}
}

// nobodys reports whether a mark is that of no command that is running.
func (h *helper) nobodys(mark uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.running() {
		if c.mark == mark {
			return false
		}
	}
	// Between taking the mark and knowing the command the lock is held, so a command
	// that is being started is not seen here.
	return true
}

// killMarked kills all processes whose marks are chosen. They are stopped first, so
// that none of them can start another while we look for it. It returns how many there
// were.
func (h *helper) killMarked(chosen func(uint64) bool) int {
	stopped := map[int]bool{}
	for range 100 {
		fresh := false
		for _, pid := range pids() {
			if stopped[pid] {
				continue
			}
			if mark, ok := markOf(pid); ok && chosen(mark) {
				stopped[pid], fresh = true, true
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
		runtime.Gosched()
	}
	for pid := range stopped {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(stopped)
}

// streams are the files of a command: ours, and those that it gets.
type streams struct {
	in, out, errs         *os.File // ours
	stdin, stdout, stderr *os.File // theirs
}

func (h *helper) streams(c *command) (_ *streams, err error) {
	s := new(streams)
	defer func() {
		if err != nil {
			s.closeOurs()
			s.closeTheirs()
		}
	}()
	if c.spec.Rows > 0 {
		if s.out, s.stdin, err = openTerminal(c.spec.Rows, c.spec.Cols); err != nil {
			return nil, err
		}
		s.stdout, s.stderr = s.stdin, s.stdin
		c.tty, c.input = s.out, s.out
		c.streams[1].closed = true
		return s, nil
	}
	if c.spec.Input {
		if s.stdin, s.in, err = os.Pipe(); err != nil {
			return nil, err
		}
		c.input = s.in
	} else if s.stdin, err = os.Open("/dev/null"); err != nil {
		return nil, err
	}
	if s.out, s.stdout, err = os.Pipe(); err != nil {
		return nil, err
	}
	s.errs, s.stderr, err = os.Pipe()
	return s, err
}

func (s *streams) theirs() []uintptr {
	return []uintptr{s.stdin.Fd(), s.stdout.Fd(), s.stderr.Fd()}
}

func (s *streams) closeTheirs() { closeAll(s.stdin, s.stdout, s.stderr) }
func (s *streams) closeOurs()   { closeAll(s.in, s.out, s.errs) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (s *streams) pump(c *command) {
	go c.pump(0, s.out)
	if s.errs != nil {
		go c.pump(1, s.errs)
	}
}

// signalName is the name of a signal, such as SIGKILL.
func signalName(s syscall.Signal) string {
	if n := unix.SignalName(s); n != "" {
		return n
	}
	return fmt.Sprintf("signal %d", int(s))
}
