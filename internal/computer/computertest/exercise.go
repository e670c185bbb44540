package computertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/need"
)

// Options say what differs from driver to driver.
type Options struct {
	// Spec is what every computer is opened with, where a test does not say more.
	Spec computer.Spec
	// Tools are programs that must work inside, of sh, git and python3. Tests that
	// need another one are left out.
	Tools []string
	// Watched says that nothing counts the processes that could not be started, as
	// control groups do: a bomb that is over in a moment may then be missed.
	Watched bool
}

func (o Options) has(tool string) bool { return slices.Contains(o.Tools, tool) }

// Exercise holds a driver against what computers are for. open makes the driver, in
// other processes than this one too.
func Exercise(t *testing.T, open func(t *testing.T) computer.Driver, o Options) {
	if asChild(t, open, o) {
		return
	}
	l := newLab(t, open, o)
	// This one looks at the memory of the whole process, so it is alone.
	t.Run("OutputCostsNoMemory", l.outputCostsNoMemory)
	t.Run("Home", l.home)
	t.Run("Command", l.commands)
	t.Run("LongCommand", l.longCommands)
	t.Run("Stream", l.streams)
	t.Run("Lyceum", l.crashes)
	t.Run("Limit", l.limits)
	t.Run("Network", l.network)
	t.Run("Computer", l.others)
}

// lab is where one driver is tried.
type lab struct {
	open   func(t *testing.T) computer.Driver
	driver computer.Driver
	opts   Options
}

func newLab(t *testing.T, open func(t *testing.T) computer.Driver, o Options) *lab {
	t.Helper()
	d := open(t)
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err) // it says how to change that
	}
	letGo(t, d)
	return &lab{open: open, driver: d, opts: o}
}

// letGo has a driver take away what it made for itself, when the test ends.
func letGo(t *testing.T, d computer.Driver) {
	if c, ok := d.(io.Closer); ok {
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Errorf("close the driver: %v", err)
			}
		})
	}
}

// place is a new one.
func place(t *testing.T) computer.Place {
	t.Helper()
	dir := t.TempDir()
	p := computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")}
	if err := os.Mkdir(p.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// machine is a computer with a test around it.
type machine struct {
	*computer.Computer
	t     *testing.T
	place computer.Place
}

// boot opens a new computer, which is stopped when the test ends.
func (l *lab) boot(t *testing.T) *machine {
	t.Helper()
	return l.bootWith(t, l.opts.Spec, computer.Options{})
}

func (l *lab) bootWith(t *testing.T, s computer.Spec, o computer.Options) *machine {
	t.Helper()
	return l.at(t, place(t), s, o)
}

// at opens the computer of a place. Whatever is up there when the test ends is
// stopped, and nothing of it may be left.
func (l *lab) at(t *testing.T, p computer.Place, s computer.Spec, o computer.Options) *machine {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	c, err := computer.Open(ctx, l.driver, p, s, o)
	if err != nil {
		t.Fatalf("open a computer: %v", err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		l.end(t, p)
	})
	return &machine{Computer: c, t: t, place: p}
}

// end stops what is up at a place and looks that nothing of it is left.
func (l *lab) end(t *testing.T, p computer.Place) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := computer.StopAt(ctx, p, l.driver); err != nil {
		t.Errorf("stop a computer: %v", err)
	}
	// A helper that is well says nothing, but for one whose Lyceum was killed before it let it begin.
	if said, _ := os.ReadFile(filepath.Join(p.Dir, "boot.log")); len(said) > 0 && string(said) != "wait for Lyceum: EOF" {
		t.Errorf("the helper said: %.4000s", said)
	}
	eventually(t, "the end of all processes of a computer that was stopped", func() bool { return len(inhabitants(t, p)) == 0 })
}

// reopen lets go of the computer and opens it again.
func (l *lab) reopen(m *machine) *machine {
	m.t.Helper()
	if err := m.Close(); err != nil {
		m.t.Fatal(err)
	}
	f := m.Fingerprint()
	s := l.opts.Spec
	s.Limits, s.Network = f.Limits, f.Network
	return l.at(m.t, m.place, s, computer.Options{Found: true})
}

var ids atomic.Int64

// id is a new one for a command.
func (m *machine) id() string { return "c" + strconv.FormatInt(ids.Add(1), 10) }

// patience is how long anything may take before it is called broken.
const patience = 30 * time.Second

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// run runs a command to its end, which must come.
func (m *machine) run(cmd computer.Command) *computer.Result {
	m.t.Helper()
	if cmd.ID == "" {
		cmd.ID = m.id()
	}
	r, err := m.Run(soon(m.t), cmd)
	if err != nil {
		m.t.Fatalf("run %q: %v", cmd.Args, err)
	}
	return r
}

// sh runs a script that must end well, and returns what it printed.
func (m *machine) sh(script string, args ...string) string {
	m.t.Helper()
	r := m.run(shell(script, args...))
	if r.Exit != 0 || r.End != "" {
		m.t.Fatalf("%q ended with %s", script, told(r))
	}
	return string(r.Stdout.Head)
}

// start begins a command.
func (m *machine) start(cmd computer.Command) string {
	m.t.Helper()
	if cmd.ID == "" {
		cmd.ID = m.id()
	}
	if err := m.Start(soon(m.t), cmd); err != nil {
		m.t.Fatalf("start %q: %v", cmd.Args, err)
	}
	return cmd.ID
}

// wait is for the end of a command.
func (m *machine) wait(id string) *computer.Result {
	m.t.Helper()
	r, err := m.Wait(soon(m.t), id)
	if err != nil {
		m.t.Fatalf("wait for %s: %v", id, err)
	}
	return r
}

// seen waits until a command has printed a line, and returns its number.
func (m *machine) seen(id, line string) int64 {
	m.t.Helper()
	var at, next int64
	eventually(m.t, fmt.Sprintf("the line %q of %s", line, id), func() bool {
		got, err := m.Read(soon(m.t), id, max(next, 1), 1000)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, l := range got.Lines {
			if string(l.Text) == line {
				at = l.Seq
			}
		}
		next = got.Next
		return at > 0
	})
	return at
}

// shell is a command that runs a script.
func shell(script string, args ...string) computer.Command {
	return computer.Command{Args: append([]string{"sh", "-c", script, "sh"}, args...)}
}

// told is all that a result tells, for a message.
func told(r *computer.Result) string {
	return fmt.Sprintf("exit %d, signal %q, end %q, met %q, after %v; stdout %d bytes %q, stderr %d bytes %q",
		r.Exit, r.Signal, r.End, r.Met, r.Duration, r.Stdout.Size, short(r.Stdout.Head), r.Stderr.Size, short(r.Stderr.Head))
}

func short(b []byte) []byte { return b[:min(len(b), 300)] }

// whole reads an output to its end.
func whole(t *testing.T, o computer.Output) []byte {
	t.Helper()
	r, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for wait := time.Millisecond; !so(); wait = min(2*wait, 50*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain for %s", patience, what)
		}
		time.Sleep(wait)
	}
}

// inhabitants are the processes of the host that belong to the computer of a place.
func inhabitants(t *testing.T, p computer.Place) []int {
	t.Helper()
	return inhabitantsOf(t, p)[0]
}

// inhabitantsOf are those of several places, found in one look at all processes.
// Where a computer has a user of its own they are that user's; otherwise they are
// those that see the home where an agent does, and those around them.
func inhabitantsOf(t *testing.T, places ...computer.Place) [][]int {
	t.Helper()
	homes := make([]os.FileInfo, len(places))
	owners := make([]uint32, len(places))
	shared := false // some have no user of their own
	for i, p := range places {
		var err error
		if homes[i], err = os.Stat(p.Home); err != nil {
			t.Fatal(err)
		}
		owners[i] = homes[i].Sys().(*syscall.Stat_t).Uid
		shared = shared || int(owners[i]) == os.Geteuid()
	}
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	parents, found := map[int]int{}, make([]map[int]bool, len(places))
	for i := range found {
		found[i] = map[int]bool{}
	}
	for _, dir := range names {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		state, parent := stateOf(pid)
		if state == "" || state == "Z" || pid == os.Getpid() {
			continue // gone, or as good as
		}
		parents[pid] = parent
		user := uidOf(pid)
		var cmdline []byte
		var inside os.FileInfo
		if shared {
			cmdline, _ = os.ReadFile(dir + "/cmdline")
			inside, _ = os.Stat(dir + "/root" + computer.HomeDir)
		}
		for i, p := range places {
			if int(owners[i]) != os.Geteuid() {
				found[i][pid] = user == owners[i]
			} else {
				found[i][pid] = strings.Contains(string(cmdline), p.Home+"\x00") || inside != nil && os.SameFile(inside, homes[i])
			}
		}
	}
	out := make([][]int, len(places))
	for i := range places {
		for pid := range parents {
			for at := pid; at > 1; at = parents[at] {
				if found[i][at] {
					out[i] = append(out[i], pid)
					break
				}
			}
		}
		slices.Sort(out[i])
	}
	return out
}

// uidOf is the user a process runs as. The owner of its folder is another one where
// it may not be looked at.
func uidOf(pid int) uint32 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for l := range strings.Lines(string(b)) {
		if f := strings.Fields(l); len(f) > 1 && f[0] == "Uid:" {
			n, _ := strconv.ParseUint(f[1], 10, 32)
			return uint32(n)
		}
	}
	return 0
}

// stateOf is a process's state and parent, or nothing if it is gone.
func stateOf(pid int) (state string, parent int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(f[1])
	return f[0], parent
}

// refused checks that an error says what is wrong and is none of the computer's end.
func refused(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	if err == nil || errors.Is(err, computer.ErrStopped) {
		t.Errorf("%s: got %v, want it refused", what, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q does not say %q", what, err, w)
		}
	}
}
