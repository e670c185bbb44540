package computertest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/need"
)

// limited boots a computer with limits, and another one beside it that must not
// notice.
func (l *lab) limited(t *testing.T, limits computer.Limits) (m, neighbour *machine) {
	t.Helper()
	s := l.opts.Spec
	s.Limits = limits
	return l.bootWith(t, s, computer.Options{}), l.boot(t)
}

// well checks that a computer answers, and soon: of a few tries the best counts,
// since this machine does other things as well.
func well(t *testing.T, m *machine, when string) {
	t.Helper()
	best := patience
	for range 5 {
		began := time.Now()
		if got := m.sh("echo well"); got != "well\n" {
			t.Errorf("%s: a computer answers %q", when, got)
		}
		best = min(best, time.Since(began))
	}
	if best > time.Second {
		t.Errorf("%s: a computer takes %v to answer", when, best)
	}
}

// during runs a command that misbehaves, and looks at the neighbour meanwhile.
func during(t *testing.T, m, neighbour *machine, cmd computer.Command) *computer.Result {
	t.Helper()
	id := m.start(cmd)
	well(t, neighbour, "beside it")
	r := m.wait(id)
	well(t, neighbour, "after it")
	// It is usable, or says that it has ended and can be opened again.
	if _, err := m.Run(soon(t), computer.Command{ID: m.id(), Args: []string{"true"}}); err != nil {
		t.Errorf("the computer after it: %v (%s)", err, told(r))
	}
	return r
}

// limits is long: it is a list of short tests, each on its own.
func (l *lab) limits(t *testing.T) {
	t.Parallel()
	t.Run("OfMemoryIsNamed", func(t *testing.T) {
		t.Parallel()
		m, n := l.limited(t, computer.Limits{Memory: 256 << 20})
		r := during(t, m, n, computer.Command{Args: []string{"tail", "/dev/zero"}, Timeout: patience})
		if r.End != computer.EndMemory && r.Met != computer.EndMemory || r.Exit == 0 {
			t.Errorf("a memory hog: %s", told(r))
		}
		// One that did nothing is not blamed for it.
		if r := m.run(shell("exit 1")); r.End != "" || r.Met != "" {
			t.Errorf("a command after it: %s", told(r))
		}
		// Several that share it.
		r = during(t, m, n, shell("for i in 1 2 3 4 5 6; do head -c 80M /dev/zero | tail & done; wait; exit 1"))
		if r.End != computer.EndMemory && r.Met != computer.EndMemory {
			t.Errorf("a memory hog of many: %s", told(r))
		}
		// What is in /tmp counts, or has no room.
		r = during(t, m, n, shell("dd if=/dev/zero of=/tmp/a bs=1M count=400; r=$?; rm -f /tmp/a; exit $r"))
		if r.Exit == 0 && r.End == "" {
			t.Errorf("400 MB in /tmp: %s", told(r))
		}
	})
	t.Run("OfProcessesIsNamed", func(t *testing.T) {
		t.Parallel()
		m, n := l.limited(t, computer.Limits{Processes: 64})
		for _, bomb := range []string{
			`while :; do sleep 1000 & done`,
			`b() { b | b & }; b; sleep 1; b; exit 1`,
			`b() { (b & b &) ; }; b & while :; do sleep 0.1 || exit 1; done`,
		} {
			cmd := shell(bomb)
			cmd.Timeout = 1500 * time.Millisecond
			r := during(t, m, n, cmd)
			// Where it may be missed, the program's own words must do.
			missed := l.opts.Watched && strings.Contains(string(r.Stderr.Head), "annot fork")
			if r.Met != computer.EndProcesses && !missed || r.Exit == 0 {
				t.Errorf("a fork bomb %q: %s", bomb, told(r))
			}
		}
		if r := m.run(shell("exit 1")); r.End != "" || r.Met != "" {
			t.Errorf("a command after it: %s", told(r))
		}
	})
	t.Run("OfDiskIsNamed", func(t *testing.T) {
		t.Parallel()
		m, n := l.limited(t, computer.Limits{Disk: 8 << 20})
		for _, script := range []string{
			"exec dd if=/dev/zero of=big bs=1M count=100",
			"dd if=/dev/zero of=big bs=1M count=100; exit 1",
			"i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > file$i; done",
		} {
			cmd := shell(script)
			cmd.Timeout = patience
			r := during(t, m, n, cmd)
			if r.End != computer.EndDisk && r.Met != computer.EndDisk || r.Exit == 0 {
				t.Errorf("a full disk by %q: %s", script, told(r))
			}
			if got := m.sh("rm -f big file*; echo small > small; cat small"); got != "small\n" {
				t.Errorf("after clearing up: %q", got)
			}
		}
		// A log of a command lies on the host's disk too.
		r := during(t, m, n, computer.Command{Args: []string{"yes"}, Timeout: patience})
		if r.End != computer.EndDisk || r.Stdout.Size > 64<<20 {
			t.Errorf("an endless output: %s", told(r))
		}
	})
	t.Run("OfOpenFilesHolds", func(t *testing.T) {
		t.Parallel()
		m, n := l.limited(t, computer.Limits{Files: 64})
		if got := strings.TrimSpace(m.sh("ulimit -n; ulimit -Hn")); got != "64\n64" {
			t.Errorf("the limit is %q", got)
		}
		if l.opts.has("python3") {
			r := during(t, m, n, computer.Command{Args: []string{"python3", "-c", "l = [open('/dev/null') for i in range(100)]"}})
			if r.Exit == 0 || !strings.Contains(string(r.Stderr.Head), "Too many open files") {
				t.Errorf("too many files: got %s, want the limit met", told(r))
			}
		}
	})
	t.Run("OfTimeIsNamed", func(t *testing.T) {
		t.Parallel()
		m, n := l.limited(t, computer.Limits{Wall: 500 * time.Millisecond})
		r := during(t, m, n, computer.Command{Args: []string{"sleep", "1000"}, Timeout: time.Hour})
		if r.End != computer.EndTimeout || r.Duration < 500*time.Millisecond || r.Duration > 10*time.Second {
			t.Errorf("the wall time: got %s, want the limit met in time", told(r))
		}
	})
	t.Run("OfProcessorsHolds", func(t *testing.T) {
		t.Parallel()
		m, _ := l.limited(t, computer.Limits{CPUs: 500})
		var used, took time.Duration
		// On a machine that does much else it gets little, and is let run again.
		eventually(t, "it to be given a processor", func() bool {
			r := m.run(shell("s() { while :; do :; done; }; s & a=$!; s & b=$!; sleep 1.5; kill $a $b; wait; times"))
			once, err := childTime(string(r.Stdout.Head))
			if err != nil {
				t.Fatalf("run at the limit: %v: %s", err, told(r))
			}
			used, took = used+once, took+r.Duration
			return used >= 100*time.Millisecond
		})
		t.Logf("%v of %v", used, took)
		// Where there are no control groups, whole processors are all that can be had.
		if used > took*12/10 {
			t.Errorf("with half a processor it used %v in %v", used, took)
		}
	})
	t.Run("IsNotMetByKillingEverything", func(t *testing.T) {
		t.Parallel()
		m, n := l.limited(t, computer.Limits{})
		other := m.start(shell("echo up; sleep 1000"))
		m.seen(other, "up")
		r := during(t, m, n, shell("for s in 1 2 3 6 11 15 19 23 9; do kill -$s 1; done; kill -9 -1; kill -STOP -1; echo still here"))
		if r.Exit != 0 || !strings.HasSuffix(string(r.Stdout.Head), "still here\n") {
			t.Errorf("after the limit was met: got %s, want the computer still there", told(r))
		}
		if r := m.wait(other); r.Signal != "SIGKILL" || r.End != "" {
			t.Errorf("its neighbour: %s", told(r))
		}
		well(t, m, "the computer")
	})
}

// childTime reads what the shell's times prints: the second line is of children.
func childTime(s string) (sum time.Duration, err error) {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for _, f := range strings.Fields(lines[len(lines)-1]) {
		min, sec, ok := strings.Cut(strings.TrimSuffix(f, "s"), "m")
		m, err1 := strconv.Atoi(min)
		s, err2 := strconv.ParseFloat(sec, 64)
		if err := errors.Join(err1, err2); err != nil || !ok {
			return 0, fmt.Errorf("%q is not a time: %w", f, err)
		}
		sum += time.Duration(m)*time.Minute + time.Duration(s*float64(time.Second))
	}
	return sum, nil
}

// Many opens n computers at once and runs a command in each.
func Many(t *testing.T, open func(t *testing.T) computer.Driver, o Options, n int) {
	need.Time(t, "opening many computers")
	l := newLab(t, open, o)
	began := time.Now()
	machines := make([]*machine, n)
	// A few at a time, as a quest with many agents would.
	inTurns(n, 16, func(i int) {
		p := place(t)
		c, err := computer.Open(soon(t), l.driver, p, o.Spec, computer.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		machines[i] = &machine{Computer: c, t: t, place: p}
	})
	if t.Failed() {
		t.FailNow()
	}
	up := time.Since(began)
	inTurns(n, n, func(i int) {
		cmd := shell("echo $1 > file; cat file; sleep 0.5", strconv.Itoa(i))
		cmd.ID = "one"
		r, err := machines[i].Run(soon(t), cmd)
		switch {
		case err != nil:
			t.Errorf("computer %d: %v", i, err)
		case string(r.Stdout.Head) != fmt.Sprintln(i) || r.Exit != 0 || r.End != "":
			t.Errorf("computer %d: %s, want its number", i, told(r))
		}
	})
	ran := time.Since(began) - up
	var memory, processes int64
	places := make([]computer.Place, n)
	for i, m := range machines {
		places[i] = m.place
	}
	for _, pid := range slices.Concat(inhabitantsOf(t, places...)...) {
		processes++
		memory += proportional(pid)
	}
	looked := time.Since(began)
	inTurns(n, 16, func(i int) {
		if err := machines[i].Stop(soon(t)); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%d computers: up in %v, a command in each in %v, stopped in %v; %d processes of together %d MB", n, up, ran, time.Since(began)-looked, processes, memory>>20)
	eventually(t, "all to be gone", func() bool { return len(slices.Concat(inhabitantsOf(t, places...)...)) == 0 })
}

// inTurns does something for 0 to n-1, some at a time.
func inTurns(n, atOnce int, do func(int)) {
	turns, done := make(chan struct{}, atOnce), make(chan struct{})
	for i := range n {
		go func() {
			turns <- struct{}{}
			defer func() { <-turns; done <- struct{}{} }()
			do(i)
		}()
	}
	for range n {
		<-done
	}
}

// proportional is the memory of a process, with its share of what it shares; or all
// of it, where that is not to be seen.
func proportional(pid int) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	b, _ = os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if f := strings.Fields(string(b)); len(f) > 1 {
		n, _ := strconv.ParseInt(f[1], 10, 64)
		return n * int64(os.Getpagesize())
	}
	return 0
}
