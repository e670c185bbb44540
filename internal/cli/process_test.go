package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = 90 * time.Second

// home is a home of quests, used by processes of its own.
type home struct {
	t   *testing.T
	dir string
	// work is the folder that the processes stand in.
	work string
	// env are variables of theirs besides this process's.
	env []string
	// files is how many files a server may have open, 0 for as many as this process.
	files int
	// before are words before each command, such as those that run it in a network of its own.
	before []string
}

// newHome makes a home and a folder with files to work in.
func newHome(t *testing.T, files map[string]string) *home {
	t.Helper()
	dir := t.TempDir()
	h := &home{t: t, dir: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	must(t, os.Mkdir(h.work, 0o755))
	must(t, writeFolder(h.work, files))
	return h
}

// in is the same home in a subtest.
func (h *home) in(t *testing.T) *home {
	return &home{t: t, dir: h.dir, work: h.work, env: h.env, before: h.before}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lyceum is a process that has ended.
type lyceum struct {
	code        int
	out, errOut string
}

func command(ctx context.Context, dir, work string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "lyceum", args...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "LYCEUM_HOME="+dir)
	return cmd
}

// command is lyceum in this home.
func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := command(ctx, h.dir, h.work, args...)
	cmd.Env = append(cmd.Env, h.env...)
	if len(h.before) > 0 {
		path, err := exec.LookPath(h.before[0])
		must(h.t, err)
		cmd.Path, cmd.Args = path, append(slices.Clone(h.before), cmd.Args...)
	}
	return cmd
}

// run runs lyceum to its end.
func (h *home) run(args ...string) lyceum {
	h.t.Helper()
	return h.start(args...).wait()
}

// ok runs lyceum and wants it to succeed.
func (h *home) ok(args ...string) string {
	h.t.Helper()
	l := h.run(args...)
	l.want(h.t, 0)
	return l.out
}

func (l lyceum) want(t *testing.T, code int, says ...string) {
	t.Helper()
	if l.code != code {
		t.Fatalf("exit code %d, want %d\n%s%s", l.code, code, l.out, l.errOut)
	}
	for _, s := range says {
		if !strings.Contains(l.out+l.errOut, s) {
			t.Fatalf("it does not say %q:\n%s%s", s, l.out, l.errOut)
		}
	}
}

// process is a lyceum that runs.
type process struct {
	t           *testing.T
	cmd         *exec.Cmd
	cancel      context.CancelFunc
	out, errOut said
}

// said is what a process has said so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// says waits until the process complains in these words.
func (p *process) says(text string) {
	p.t.Helper()
	for began := time.Now(); !strings.Contains(p.errOut.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			p.t.Fatalf("it does not say %q: %s", text, p.errOut.String())
		}
	}
}

func (h *home) start(args ...string) *process {
	h.t.Helper()
	return h.startFor(patience, args...)
}

func (h *home) startFor(most time.Duration, args ...string) *process {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	p := &process{t: h.t, cmd: h.command(ctx, args...), cancel: cancel}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errOut
	must(h.t, p.cmd.Start())
	return p
}

// wait returns the exit code, -1 for a process that was killed.
func (p *process) wait() lyceum {
	p.t.Helper()
	defer p.cancel()
	err := p.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(err)
	}
	return lyceum{p.cmd.ProcessState.ExitCode(), p.out.String(), p.errOut.String()}
}

func (p *process) kill() lyceum {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
	return p.wait()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	must(p.t, p.cmd.Process.Signal(s))
}

// entry is what the tests read of an event.
type entry struct {
	Seq  uint64 `json:"seq"`
	Type string `json:"type"`
	Tool string `json:"tool"`
	Body struct {
		Call   uint64 `json:"call"`
		Inbox  int64  `json:"inbox"`
		Reason string `json:"reason"`
		Text   text   `json:"text"`
	} `json:"body"`
}

// text is one of an event, where a person's words are no object.
type text struct{ Text string }

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &t.Text)
	}
	type object text
	return json.Unmarshal(data, (*object)(t))
}

// events are all events of a quest.
func (h *home) events(quest string) []entry {
	h.t.Helper()
	var out []entry
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var e entry
		must(h.t, json.Unmarshal([]byte(line), &e))
		out = append(out, e)
	}
	return out
}

// count is how many events of a type there are.
func (h *home) count(quest, kind string) (n int) {
	h.t.Helper()
	for _, e := range h.events(quest) {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// await waits until there are n events of a type.
func (h *home) await(quest, kind string, n int) {
	h.t.Helper()
	must(h.t, awaitEvent(h.dir, quest, kind, n, h.env...))
}

// awaitEvent follows a quest's trace, from another process, to the nth event of
// a type. A quest that is not there yet is waited for.
func awaitEvent(dir, quest, kind string, n int, env ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		seen, err := follow(ctx, dir, quest, kind, n, env)
		if seen == n || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("quest %s: %d of %d %s came in %v", quest, seen, n, kind, patience)
		}
	}
}

func follow(ctx context.Context, dir, quest, kind string, n int, env []string) (seen int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := command(ctx, dir, filepath.Dir(dir), "trace", quest, "--follow", "--jsonl")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return 0, err
	}
	defer func() { cancel(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for seen < n && lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return seen, err
		}
		if e.Type == kind {
			seen++
		}
	}
	return seen, nil
}

// show is what a quest's show --json says.
type show struct {
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Running bool   `json:"running"`
	Held    bool   `json:"held"`
	Answer  string `json:"answer"`
	Events  int    `json:"events"`
}

func (h *home) show(quest string) (s show) {
	h.t.Helper()
	must(h.t, json.Unmarshal([]byte(h.ok("show", quest, "--json")), &s))
	return s
}

// awaitOwner waits until a process owns the quest.
func (h *home) awaitOwner(quest string) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); !h.show(quest).Held; {
		if time.Now().After(deadline) {
			h.t.Fatalf("nobody runs quest %s", quest)
		}
	}
}

// sound fails the test unless the quest verifies and replays, and every call
// has exactly one result.
func (h *home) sound(quest string) {
	h.t.Helper()
	h.run("verify", quest).want(h.t, 0, "consistent")
	h.run("replay", quest).want(h.t, 0, "identical")
	results := map[uint64]int{}
	for i, e := range h.events(quest) {
		if e.Seq != uint64(i)+1 {
			h.t.Fatalf("event %d of %s has seq %d", i+1, quest, e.Seq)
		}
		switch e.Type {
		case "model.call", "tool.call":
			results[e.Seq] += 0
		case "model.result", "tool.result", "tool.answered":
			results[e.Body.Call]++
		}
	}
	for seq, n := range results {
		if n != 1 {
			h.t.Errorf("call %d of %s has %d results", seq, quest, n)
		}
	}
}
