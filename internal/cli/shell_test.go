package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

const deskQuest = "name: desk\nproblem: Wait for a person.\nmodel: script:plan.yaml\ncomputer: {driver: bubblewrap, memory: 256MiB}\n"

// atDesk is a home with the quest desk, whose agent waits for a file called go.
func atDesk(t *testing.T) *home {
	t.Helper()
	need.Program(t, "bwrap")
	return newHome(t, map[string]string{"quest.yaml": deskQuest, "plan.yaml": `rules:
  - on: {turn: 1}
    say: "I wait."
    call: [{tool: exec, args: {command: "echo here > waiting; until [ -e go ]; do sleep 0.05; done; echo it came"}}]
  - on: {tool: exec, result: "it came"}
    say: "It came."
  - on: {last: "(?i)look"}
    say: "I look."
    call: [{tool: exec, args: {command: "ls"}}]
  - say: "Done."
`})
}

// feed runs lyceum shell with a text as its standard input.
func (h *home) feed(text string, args ...string) lyceum {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := command(ctx, h.dir, h.work, append([]string{"shell"}, args...)...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &out, &errOut
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			h.t.Fatal(err)
		}
	}
	return lyceum{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func TestAShellForScripts(t *testing.T) {
	t.Parallel()
	h := atDesk(t)
	h.ok("create", "quest.yaml")

	l := h.feed("id -u; pwd; echo to stderr >&2; cat /proc/1/cgroup >/dev/null; ls -d /root 2>/dev/null; exit 0", "desk", "agent-0")
	if l.code != 0 || l.out != "1000\n/home/agent\n" || l.errOut != "to stderr\n" {
		t.Errorf("the shell: got %+v, want what it printed, apart, and exit 0", l)
	}
	h.feed("exit 3", "desk", "agent-0").want(t, 1, "The shell's exit code is 3.")
	h.feed("kill -9 $$", "desk", "agent-0").want(t, 1, "The shell's exit code is 137.")

	t.Run("WithMuchToReadAndToWrite", func(t *testing.T) {
		h := h.in(t)
		// More than all buffers on the way hold, both ways at the same time.
		line := strings.Repeat("x", 99) + "\n"
		l := h.feed("exec cat\n"+strings.Repeat(line, 50_000), "desk", "agent-0")
		l.want(t, 0)
		// The shell reads its input in blocks, and may take some of it with it.
		if n := len(l.out); n < 4_900_000 {
			t.Errorf("%d bytes came back", n)
		}
	})
	t.Run("WhatItLeavesInTheHomeIsRecordedLater", func(t *testing.T) {
		h := h.in(t)
		h.feed("echo mine > left-by-a-person; touch go", "desk", "agent-0").want(t, 0)
		if n := h.count("desk", "quest.created"); n != 1 || len(h.events("desk")) != 1 {
			t.Errorf("a shell was recorded: %v", h.events("desk"))
		}
		h.run("run", "desk").want(t, 0, "It came.")
		trace := h.ok("trace", "desk", "--jsonl")
		outside := false
		for line := range strings.Lines(trace) {
			outside = outside || strings.Contains(line, `"type":"file.diff"`) && strings.Contains(line, `"cause":"outside"`) && strings.Contains(line, "left-by-a-person")
		}
		if !outside {
			t.Errorf("what a person did is not recorded:\n%s", trace)
		}
		h.sound("desk")
	})
}

// person sits in front of a terminal on which lyceum runs.
type person struct {
	t       *testing.T
	control *os.File
	tty     *os.File
	cmd     *exec.Cmd
	ended   chan struct{}

	mu   sync.Mutex
	seen strings.Builder
	more chan struct{}
}

// sit starts lyceum shell on a terminal of its own.
func (h *home) sit(args ...string) *person {
	h.t.Helper()
	blocking, tty := openTerminal(h.t, 80)
	// A file on which a read waits in the kernel cannot be closed before that returns.
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	must(h.t, err)
	must(h.t, errors.Join(blocking.Close(), unix.SetNonblock(fd, true)))
	control := os.NewFile(uintptr(fd), "terminal")
	h.t.Cleanup(func() { _ = control.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	h.t.Cleanup(cancel)
	p := &person{t: h.t, control: control, tty: tty, ended: make(chan struct{}), more: make(chan struct{}, 1)}
	p.cmd = command(ctx, h.dir, h.work, append([]string{"shell"}, args...)...)
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm")
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must(h.t, p.cmd.Start())
	go p.watch()
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	h.t.Cleanup(func() { _ = tty.Close(); <-p.ended })
	return p
}

func (p *person) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := p.control.Read(buf)
		p.mu.Lock()
		p.seen.Write(buf[:n])
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (p *person) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

func (p *person) types(keys string) {
	p.t.Helper()
	_, err := p.control.WriteString(keys)
	must(p.t, err)
}

// sees waits until a text is on the screen.
func (p *person) sees(text string) {
	p.t.Helper()
	late := time.After(patience)
	for !strings.Contains(p.screen(), text) {
		select {
		case <-p.more:
		case <-late:
			p.t.Fatalf("it does not say %q:\n%q", text, p.screen())
		}
	}
}

// leaves waits for the end, and returns the exit code.
func (p *person) leaves() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("it does not end:\n%q", p.screen())
	}
	return p.cmd.ProcessState.ExitCode()
}

func TestAShellOnATerminal(t *testing.T) {
	t.Parallel()
	h := atDesk(t)
	h.ok("create", "quest.yaml")
	p := h.sit("desk", "agent-0")
	before, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	must(t, err)
	p.sees("Leave it with: exit")
	// What is typed comes back on the screen as well, so answers are made to differ
	// from it.
	p.types("echo on''e $(stty size) $TERM\r")
	p.sees("one 24 80 xterm")
	p.types("printf 'a\\033]0;title\\007b\\033[6n\\033[31mred\\033[0m\\033[?1000h.\\n'\r")
	p.sees("ab\x1b[31mred\x1b[0m\x1b[?1000h.")
	must(t, unix.IoctlSetWinsize(int(p.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	p.types("until [ \"$(stty size)\" = '40 120' ]; do sleep 0.05; done; echo re''sized\r")
	p.sees("resized")
	// Ctrl-C is for the program in the shell, not for lyceum. The program itself says that
	// it is there: what comes while the shell starts one, the shell may swallow.
	p.types("sh -c \"echo sleep''ing; exec sleep 1000\"\r")
	p.sees("sleeping")
	p.types("\x03")
	p.types("echo inter''rupted\r")
	p.sees("interrupted")
	p.types("exit 0\r")
	if code := p.leaves(); code != 0 {
		t.Errorf("the exit code is %d:\n%q", code, p.screen())
	}
	p.sees("\x1b[0m\x1b[?1000l")
	if s := p.screen(); strings.Contains(s, "\x1b]") || strings.Contains(s, "\x1b[6n") {
		t.Errorf("something came through:\n%q", s)
	}
	after, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	must(t, err)
	if after.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != unix.ICANON|unix.ECHO|unix.ISIG || *after != *before {
		t.Errorf("the terminal was left as %+v, it was %+v", after, before)
	}
}

func TestAShellInTheComputerOfAQuestThatRuns(t *testing.T) {
	t.Parallel()
	h := atDesk(t)
	running := h.start("run", "quest.yaml")
	h.await("desk", "cli.run", 1)
	// Programs of the host were updated meanwhile: one would boot another computer now.
	file := filepath.Join(h.dir, "quests", "desk", "computers", "agent-0", "computer.json")
	data, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, bytes.Replace(data, []byte(`"base":"sha256:`), []byte(`"base":"sha256:0`), 1), 0o600))
	p := h.sit("desk", "agent-0")
	p.sees("Leave it with: exit")
	p.types("until [ -e waiting ]; do sleep 0.05; done; cat wait''ing\r")
	p.sees("here\r\n")
	other := h.feed("ls; exit 5", "desk", "agent-0")
	other.want(t, 1, "waiting\n", "exit code is 5")
	if h.count("desk", "cli.exit") != 0 {
		t.Error("the agent's command was disturbed")
	}
	p.types("touch go\r")
	running.wait().want(t, 0, "It came.")
	// The quest is over, and its computers are with it.
	if code := p.leaves(); code != 1 {
		t.Errorf("the exit code is %d", code)
	}
	p.sees("the shell has ended with its computer")
	if n := h.count("desk", "computer.started"); n != 1 {
		t.Errorf("there were %d computers", n)
	}
	h.sound("desk")
}

// TestAShellInTheComputerOfAnExecutorThatRests: the computer that the shell boots is the one
// that the executor then works in, with what it needs there.
func TestAShellInTheComputerOfAnExecutorThatRests(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": outsider["quest.yaml"],
		"plan.yaml": `rules:
  - on: {tool: run_command}
    say: "All done."
  - on: {last: "Begin"}
    call: [{tool: run_command, args: {command: "echo ran > log; for i in $$(seq 600); do if [ -e /tmp/seen ]; then break; fi; sleep 0.1; done; cat /tmp/seen"}}]
`,
	})
	need.Program(t, "bwrap")
	h.ok("create", "quest.yaml")
	// /tmp is the computer's own: what stands there is seen in no other. The ports are there, and
	// whoever asks waits.
	cmd := command(t.Context(), h.dir, h.work, "shell", "q", "agent-0")
	var out, errOut said
	cmd.Stdin = strings.NewReader("echo $LYCEUM_PORT_GATEWAY; for i in $(seq 600); do if [ -e log ]; then echo ran there; echo same > /tmp/seen; break; fi; sleep 0.1; done")
	cmd.Stdout, cmd.Stderr = &out, &errOut
	must(t, cmd.Start())
	for began := time.Now(); !strings.Contains(out.String(), "127.0.0.1:"); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("the shell has no port: %s%s", out.String(), errOut.String())
		}
	}
	h.startFor(4*patience, "run", "q").wait().want(t, 0, "All done.")
	_ = cmd.Wait() // the quest is over, and its computer with it, perhaps before the shell
	if !strings.Contains(out.String(), "ran there") {
		t.Errorf("the shell was in another computer than the executor: %s%s", out.String(), errOut.String())
	}
	if trace := h.ok("trace", "q", "--jsonl"); !strings.Contains(trace, "same") {
		t.Errorf("the executor was in another computer than the shell: %s", trace)
	}
	h.sound("q")
}

// TestAShellWithAFilteredNetworkThatRests opens all the same: the network waits for a run.
func TestAShellWithAFilteredNetworkThatRests(t *testing.T) {
	t.Parallel()
	h := atDesk(t)
	must(t, os.WriteFile(filepath.Join(h.work, "quest.yaml"), []byte(strings.Replace(deskQuest, "memory: 256MiB", "memory: 256MiB, network: {allow: [example.org]}", 1)), 0o644))
	h.ok("create", "quest.yaml")
	h.feed("echo $https_proxy", "desk", "agent-0").want(t, 0, "http://127.0.0.1:3128\n")
}

func TestAShellEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	h := atDesk(t)
	h.ok("create", "quest.yaml")
	for name, c := range map[string]struct {
		leave func(p *person)
		code  int
	}{
		"ThatIsClosed":   {func(p *person) { must(p.t, p.control.Close()) }, 130},
		"ThatIsSignaled": {func(p *person) { must(p.t, p.cmd.Process.Signal(syscall.SIGTERM)) }, 130},
		"ThatIsKilled":   {func(p *person) { must(p.t, p.cmd.Process.Kill()) }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			h := h.in(t)
			p := h.sit("desk", "agent-0")
			p.sees("Leave it with: exit")
			p.types("sleep 98765 & echo star''ted\r")
			p.sees("started")
			c.leave(p)
			if code := p.leaves(); code != c.code {
				t.Errorf("the exit code is %d, want %d", code, c.code)
			}
			h.feed("while grep -qs 'sleep.9876[5]' /proc/[0-9]*/cmdline; do sleep 0.05; done; echo gone", "desk", "agent-0").want(t, 0, "gone")
		})
	}
}
