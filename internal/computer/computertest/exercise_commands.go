package computertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer"
)

func (l *lab) home(t *testing.T) {
	t.Parallel()
	t.Run("IsTheFolderOnTheHost", func(t *testing.T) {
		t.Parallel()
		p := place(t)
		// What was put there before belongs to the agent, whoever put it.
		if err := os.WriteFile(filepath.Join(p.Home, "before"), []byte("from outside"), 0o600); err != nil {
			t.Fatal(err)
		}
		m := l.at(t, p, l.opts.Spec, computer.Options{})
		if got := m.sh(`cat before; echo " $PWD $HOME $(pwd)"; echo more >> before; mkdir -p a/b; echo inside > a/b/file`); got != "from outside /home/agent /home/agent /home/agent\n" {
			t.Errorf("inside it is %q", got)
		}
		for path, want := range map[string]string{"a/b/file": "inside\n", "before": "from outsidemore\n"} {
			if b, err := os.ReadFile(filepath.Join(p.Home, path)); string(b) != want {
				t.Errorf("%s is %q on the host (%v)", path, b, err)
			}
			if b, err := m.Home().ReadFile(path); string(b) != want {
				t.Errorf("%s is %q below the computer's home (%v)", path, b, err)
			}
		}
		if err := m.Home().WriteFile("later", []byte("while it runs"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := m.sh("cat later"); got != "while it runs" {
			t.Errorf("what was written meanwhile is %q inside", got)
		}
	})
	t.Run("BelongsToTheAgent", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		got := strings.Fields(m.sh("echo hello > file; stat -c %u . file; id -u"))
		if len(got) != 3 || got[0] != got[2] || got[1] != got[2] || got[2] == "0" {
			t.Errorf("the home, a file in it and the agent are of users %v", got)
		}
		home, err := os.Stat(m.place.Home)
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Stat(filepath.Join(m.place.Home, "file"))
		if err != nil {
			t.Fatal(err)
		}
		a, b := home.Sys().(*syscall.Stat_t), file.Sys().(*syscall.Stat_t)
		if a.Uid != b.Uid || a.Gid != b.Gid || a.Uid == 0 || home.Mode().Perm()&0o077 != 0 {
			t.Errorf("on the host the home is of %d:%d, mode %v, and a file in it of %d:%d", a.Uid, a.Gid, home.Mode(), b.Uid, b.Gid)
		}
	})
	t.Run("IsKeptOverStopAndOpen", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		m.sh("umask 022; echo kept > file; chmod 751 file; ln -s file link; echo gone > /tmp/file")
		if err := m.Stop(soon(t)); err != nil {
			t.Fatal(err)
		}
		m = l.at(t, m.place, l.opts.Spec, computer.Options{})
		if got := m.sh("cat link; stat -c %a file; ls /tmp; readlink link; echo again > file"); got != "kept\n751\nfile\n" {
			t.Errorf("after a stop there is %q", got)
		}
	})
}

// leaveBehind starts processes that do much not to be found.
const leaveBehind = `
sleep 1000 &
(sleep 1000 >/dev/null 2>&1 </dev/null &) &
(setsid sh -c 'sleep 1000 & (sleep 1000 &) & wait' >/dev/null 2>&1 &)
nohup sleep 1000 >/dev/null 2>&1 &
(exec 0<&- 1>&- 2>&-; setsid setsid sleep 1000 &)
sh -c '(trap "" TERM HUP INT; while :; do sleep 1000; done) & ' >/dev/null 2>&1
(cd /; exec sleep 1000) >/dev/null 2>&1 &
`

// commands is long: it is a list of short tests, each on its own.
func (l *lab) commands(t *testing.T) {
	t.Parallel()
	t.Run("ThatMakesNoSenseIsRefused", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		for _, id := range []string{"", ".", "../x", "a/b", "-x", "a b", "é", "a\n", strings.Repeat("a", 65)} {
			_, err := m.Run(soon(t), computer.Command{ID: id, Args: []string{"true"}})
			refused(t, "the id "+id, err, "id")
		}
		for what, cmd := range map[string]computer.Command{
			"nothing":          {},
			"a missing folder": {Args: []string{"true"}, Dir: "missing"},
			"a parent folder":  {Args: []string{"true"}, Dir: ".."},
			"a hidden parent":  {Args: []string{"true"}, Dir: "a/../../x"},
			"a folder outside": {Args: []string{"true"}, Dir: "/etc"},
			"a name alike":     {Args: []string{"true"}, Dir: "/home/agent2"},
			"no program":       {Args: []string{"no-such-program"}},
			"no file":          {Args: []string{"./missing"}},
			"no right":         {Args: []string{"/etc/passwd"}},
			"no text":          {Args: []string{"echo", "\xff\xfe"}},
			"a zero byte":      {Args: []string{"echo", "a\x00b"}},
			"a book":           {Args: []string{"echo", strings.Repeat("x", 1<<20)}},
		} {
			cmd.ID = m.id()
			_, err := m.Run(soon(t), cmd)
			refused(t, what, err)
			if _, err := m.Wait(soon(t), cmd.ID); !errors.Is(err, computer.ErrUnknown) {
				t.Errorf("%s: after it was refused, Wait says %v", what, err)
			}
		}
		if got := m.sh(`printf %s "$1" | wc -c`, strings.Repeat("x", 100_000)); strings.TrimSpace(got) != "100000" {
			t.Errorf("an argument of 100000 bytes arrives as %q", got)
		}
	})
	t.Run("TellsHowItEnded", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		for script, want := range map[string]struct {
			exit   int
			signal string
		}{
			"exit 0": {}, "exit 3": {exit: 3}, "exit 255": {exit: 255}, "kill -TERM $$": {143, "SIGTERM"}, "kill -9 $$": {137, "SIGKILL"},
			"kill -SEGV $$": {139, "SIGSEGV"},
		} {
			r := m.run(shell(script))
			if r.Exit != want.exit || r.Signal != want.signal || r.End != "" || r.Met != "" {
				t.Errorf("the end of a command is told wrongly: %q: %s", script, told(r))
			}
		}
		if r := m.run(shell("sleep 0.2")); r.Duration < 200*time.Millisecond || r.Duration > patience {
			t.Errorf("a fifth of a second took %v", r.Duration)
		}
	})
	t.Run("KeepsItsStreamsApart", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		r := m.run(shell("for i in 1 2 3; do echo out$i; echo err$i >&2; done; printf end; printf fin >&2"))
		if string(r.Stdout.Head) != "out1\nout2\nout3\nend" || string(r.Stderr.Head) != "err1\nerr2\nerr3\nfin" || !r.Stdout.Whole() || len(r.Stdout.Tail) > 0 {
			t.Errorf("both streams, each by itself: got %s", told(r))
		}
	})
	t.Run("HasItsOwnEnvironment", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		mine := computer.Command{Args: []string{"env"}, Env: []string{"MINE=1 = 2", "LANG=C", "EMPTY="}}
		r := m.run(mine)
		names := map[string]string{}
		for line := range strings.Lines(string(r.Stdout.Head)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if _, twice := names[name]; twice {
				t.Errorf("%s is there twice", name)
			}
			names[name] = value
		}
		for name, want := range map[string]string{"HOME": "/home/agent", "USER": "agent", "LANG": "C", "MINE": "1 = 2", "EMPTY": ""} {
			if got, ok := names[name]; got != want || !ok {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if got := m.sh("env"); strings.Contains(got, "MINE") || !strings.Contains(got, "LANG=C.UTF-8\n") {
			t.Errorf("another command has %q", got)
		}
		m.sh("mkdir bin; printf '#!/bin/sh\necho own\n' > bin/own; chmod +x bin/own")
		if r := m.run(computer.Command{Args: []string{"own"}, Env: []string{"PATH=/home/agent/bin:/bin:/usr/bin"}}); string(r.Stdout.Head) != "own\n" {
			t.Errorf("a program in its own PATH: %s", told(r))
		}
	})
	t.Run("RunsInAFolderOfTheHome", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		m.sh(`mkdir -p "a/b c"; printf '#!/bin/sh\npwd\n' > a/prog; chmod +x a/prog; touch file`)
		for dir, want := range map[string]string{
			"": "/home/agent", ".": "/home/agent", "a/b c": "/home/agent/a/b c", "a/../a": "/home/agent/a", "/home/agent/a": "/home/agent/a",
			"/home/agent": "/home/agent", "/home/agent/a/..": "/home/agent",
		} {
			r := m.run(computer.Command{Args: []string{"pwd"}, Dir: dir})
			if got := strings.TrimSpace(string(r.Stdout.Head)); got != want {
				t.Errorf("in %q it runs in %q", dir, got)
			}
		}
		if r := m.run(computer.Command{Args: []string{"./prog"}, Dir: "a"}); string(r.Stdout.Head) != "/home/agent/a\n" {
			t.Errorf("a program of the folder: %s", told(r))
		}
		_, err := m.Run(soon(t), computer.Command{ID: m.id(), Args: []string{"true"}, Dir: "file"})
		refused(t, "a file as folder", err, "folder")
	})
	t.Run("ReadsWhatItIsGiven", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		for _, n := range []int{0, 1, 64 << 10, 64<<10 + 1, 3 << 20} {
			text := bytes.Repeat([]byte("0123456789abcde\n"), n/16+1)[:n]
			r := m.run(computer.Command{Args: []string{"cat"}, Stdin: text})
			if got := whole(t, r.Stdout); !bytes.Equal(got, text) {
				t.Errorf("of %d bytes it reads %d, or others", n, len(got))
			}
		}
		// Nobody has to read to the end.
		if r := m.run(computer.Command{Args: []string{"true"}, Stdin: make([]byte, 1<<20)}); r.Exit != 0 {
			t.Errorf("a program that does not read its input: got %s, want exit 0", told(r))
		}
		if r := m.run(computer.Command{Args: []string{"cat"}}); r.Stdout.Size != 0 {
			t.Errorf("without input: %s", told(r))
		}
	})
	t.Run("RunsOnceHoweverOftenItIsAsked", l.runsOnce)
	t.Run("LeavesNothingBehind", l.leavesNothing)
	t.Run("FiftyAtOnce", l.fiftyAtOnce)
	t.Run("WithATerminal", l.terminal)
	t.Run("ItsOutputIsWhole", l.outputIsWhole)
}

func (l *lab) runsOnce(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	cmd := shell("echo ran >> ran; sleep 0.1; echo out; exit 3")
	cmd.ID = "once"
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if r, err := m.Run(soon(t), cmd); err != nil || r.Exit != 3 || string(r.Stdout.Head) != "out\n" {
				t.Errorf("of twenty at once: %v, %v", r, err)
			}
		})
	}
	all.Wait()
	// Not even with other arguments, and not for another Lyceum.
	if r := m.run(computer.Command{ID: "once", Args: []string{"touch", "other"}}); r.Exit != 3 {
		t.Errorf("a command that ran already: got %s, want its first end, exit 3", told(r))
	}
	m = l.reopen(m)
	if r := m.run(cmd); r.Exit != 3 || string(r.Stdout.Head) != "out\n" {
		t.Errorf("after opening again: %s", told(r))
	}
	// One with a log has left the helper's memory by now.
	kept := shell("echo kept >> ran; exit 4")
	kept.ID, kept.Keep = "kept", true
	for range 3 {
		if r := m.run(kept); r.Exit != 4 {
			t.Errorf("a command that was kept: got %s, want its first end, exit 4", told(r))
		}
		m = l.reopen(m)
	}
	if got := m.sh("cat ran; ls"); got != "ran\nkept\nran\n" {
		t.Errorf("what ran: %q", got)
	}
	if err := m.Forget(soon(t), "once"); err != nil {
		t.Fatal(err)
	}
	if r := m.run(computer.Command{ID: "once", Args: []string{"echo", "anew"}}); string(r.Stdout.Head) != "anew\n" {
		t.Errorf("an id that was forgotten is free: %s", told(r))
	}
}

func (l *lab) leavesNothing(t *testing.T) {
	t.Parallel()
	for how, do := range map[string]func(t *testing.T, m *machine){
		"AtItsEnd": func(t *testing.T, m *machine) {
			if r := m.run(shell(leaveBehind + "echo end; exit 7")); r.Exit != 7 || r.End != "" || !strings.HasSuffix(string(r.Stdout.Head), "end\n") {
				t.Errorf("a command that leaves processes: got %s, want exit 7 and all it printed", told(r))
			}
		},
		"AtATimeout": func(t *testing.T, m *machine) {
			cmd := shell(leaveBehind + "echo begun; sleep 1000")
			cmd.Timeout = 500 * time.Millisecond
			r := m.run(cmd)
			if r.End != computer.EndTimeout || r.Signal != "SIGKILL" || string(r.Stdout.Head) != "begun\n" || r.Duration < cmd.Timeout {
				t.Errorf("a command that takes too long: got %s, want it killed at the limit", told(r))
			}
		},
		"WhenItIsCancelled": func(t *testing.T, m *machine) {
			ctx, cancel := context.WithCancel(soon(t))
			cmd := shell(leaveBehind + "touch begun; sleep 1000")
			cmd.ID, cmd.Keep = "cancelled", true
			go func() {
				defer cancel()
				for ctx.Err() == nil {
					if _, err := os.Stat(filepath.Join(m.place.Home, "begun")); err == nil {
						return
					}
				}
			}()
			if r, err := m.Run(ctx, cmd); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, %v", r, err)
			}
			if r := m.wait("cancelled"); r.End != computer.EndKilled {
				t.Errorf("a command whose caller left: got %s, want it killed", told(r))
			}
		},
		"WhenItIsCancelledAtOnce": func(t *testing.T, m *machine) {
			for i := range 30 {
				ctx, cancel := context.WithTimeout(soon(t), time.Duration(i)*50*time.Microsecond)
				cmd := shell("sleep 1000")
				cmd.ID, cmd.Keep = m.id(), i%2 == 0
				if r, err := m.Run(ctx, cmd); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, %v", r, err)
				}
				cancel()
			}
		},
		"WhenItIsKilled": func(t *testing.T, m *machine) {
			id := m.start(shell(leaveBehind + "echo begun; sleep 1000"))
			m.seen(id, "begun")
			if err := m.Kill(soon(t), id); err != nil {
				t.Fatal(err)
			}
			if r := m.wait(id); r.End != computer.EndKilled || r.Signal != "SIGKILL" {
				t.Errorf("a command that was killed: got %s, want SIGKILL by a person", told(r))
			}
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			m := l.boot(t)
			m.sh("true")
			before := inhabitants(t, m.place)
			// A neighbour in the same computer stays as it is.
			cmd := shell("echo up; read line; echo $line")
			cmd.Input = true
			other := m.start(cmd)
			m.seen(other, "up")
			do(t, m)
			eventually(t, "what the command started to be gone", func() bool { return len(inhabitants(t, m.place)) <= len(before)+1 })
			if err := m.Write(soon(t), other, []byte("well\n"), false); err != nil {
				t.Fatal(err)
			}
			if r := m.wait(other); string(r.Stdout.Head) != "up\nwell\n" {
				t.Errorf("its neighbour: %s", told(r))
			}
		})
	}
}

func (l *lab) fiftyAtOnce(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			cmd := shell(fmt.Sprintf("sleep 0.1; seq 1 %d; echo err%d >&2; exit %d", i+1, i, i))
			cmd.ID = fmt.Sprint("many", i)
			r, err := m.Run(soon(t), cmd)
			if err != nil {
				t.Error(err)
				return
			}
			if n := bytes.Count(r.Stdout.Head, []byte("\n")); r.Exit != i || n != i+1 || string(r.Stderr.Head) != fmt.Sprintf("err%d\n", i) || r.Met != "" {
				t.Errorf("command %d: %s", i, told(r))
			}
		})
	}
	all.Wait()
	p, err := m.Processes(soon(t))
	if err != nil || len(p) != 50 {
		t.Errorf("it knows %d commands (%v)", len(p), err)
	}
}

func (l *lab) terminal(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	cmd := shell("test -t 0 && test -t 1 && test -t 2 && stty size; echo err >&2; cat; exit 5")
	cmd.Terminal = &computer.Size{Rows: 31, Cols: 77}
	id := m.start(cmd)
	m.seen(id, "err\r")
	if err := m.Write(soon(t), id, []byte("typed\n"), true); err != nil {
		t.Fatal(err)
	}
	if r := m.wait(id); r.Exit != 5 || string(r.Stdout.Head) != "31 77\r\nerr\r\ntyped\r\ntyped\r\n" || r.Stderr.Size != 0 {
		t.Errorf("a command on a terminal: got %s, want its size, and echoes", told(r))
	}
}

// outputIsWhole tries sizes around each boundary that an output passes on its way.
func (l *lab) outputIsWhole(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, kib := range []int{0, 32, 64, 128, 192, 256, 320, 512, 1024} {
		for _, more := range []int{-1, 0, 1} {
			n := kib<<10 + more
			if n < 0 {
				continue
			}
			for _, shape := range []int{1, 300, 100_000, 1 << 30} {
				l.oneOutput(t, m, text(rng, n, shape))
			}
		}
	}
}

// text is n bytes in lines of up to longest bytes.
func text(rng *rand.Rand, n, longest int) []byte {
	b := make([]byte, n)
	for i, left := 0, rng.IntN(longest); i < n; i, left = i+1, left-1 {
		if b[i] = byte('!' + rng.IntN(90)); left == 0 {
			b[i], left = '\n', rng.IntN(longest)+1
		}
	}
	return b
}

func (l *lab) oneOutput(t *testing.T, m *machine, want []byte) {
	t.Helper()
	if err := m.Home().WriteFile("text", want, 0o644); err != nil {
		t.Fatal(err)
	}
	id := m.id()
	cmd := shell("cat text; cat text >&2")
	cmd.ID = id
	r := m.run(cmd)
	for name, o := range map[string]computer.Output{"stdout": r.Stdout, "stderr": r.Stderr} {
		head := want[:min(len(want), computer.MaxHead)]
		tail := want[len(head):]
		tail = tail[max(len(tail)-computer.MaxTail, 0):]
		if o.Size != int64(len(want)) || !bytes.Equal(o.Head, head) || !bytes.Equal(o.Tail, tail) || o.Whole() != (len(want) <= computer.MaxHead) {
			t.Errorf("%s of %d bytes: size %d, head %d, tail %d, or others", name, len(want), o.Size, len(o.Head), len(o.Tail))
		}
		if got := whole(t, o); !bytes.Equal(got, want) {
			t.Errorf("%s of %d bytes: %d can be read, or others", name, len(want), len(got))
		}
	}
	if err := m.Forget(soon(t), id); err != nil {
		t.Error(err)
	}
	if rd, err := r.Stdout.Open(); err == nil && len(want) > 200<<10 {
		rd.Close()
		t.Errorf("an output of %d bytes can be read after it was forgotten", len(want))
	}
}
