package executortest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/helper"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/need"
	"lyceum/internal/workspace"
)

// Roles is called first in the TestMain of a package that runs the suite: its test binary is also
// the helper in a computer, and the scripted agent.
func Roles() {
	if len(os.Args) > 1 && os.Args[1] == helper.Role {
		os.Exit(helper.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == AgentRole {
		os.Exit(Agent(os.Args[2:]))
	}
}

// patience is how long anything may take before it is called broken.
const patience = 2 * time.Minute

// program is where the scripted agent stands in a computer.
const program = computer.FoldersDir + "/agent/agent"

// Room is a computer with an agent in it, and what a Lyceum keeps beside.
type Room struct {
	Place   computer.Place
	Folder  string
	Journal string
	driver  computer.Driver
	bounds  workspace.Bounds
	actor   *Actor // nil is the scripted agent
}

// newRoom makes the folders of one.
func newRoom(t *testing.T, d computer.Driver) *Room {
	t.Helper()
	dir := t.TempDir()
	r := &Room{
		Place:  computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")},
		Folder: filepath.Join(dir, "agent"), Journal: filepath.Join(dir, "journal"), driver: d,
	}
	self, err := os.Executable()
	if err == nil {
		err = errors.Join(os.Mkdir(r.Place.Home, 0o700), os.Mkdir(r.Folder, 0o755))
	}
	if err == nil {
		// A link costs nothing, where there can be one.
		if os.Link(self, filepath.Join(r.Folder, "agent")) != nil {
			var b []byte
			if b, err = os.ReadFile(self); err == nil {
				err = os.WriteFile(filepath.Join(r.Folder, "agent"), b, 0o755)
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := computer.StopAt(ctx, r.Place, d); err != nil {
			t.Errorf("stop a computer: %v", err)
		}
	})
	return r
}

// enter opens the computer.
func (r *Room) enter(ctx context.Context) (*computer.Computer, error) {
	spec, opts := computer.Spec{Folders: []computer.Folder{{Name: "agent", Path: r.Folder}}, Bounds: r.bounds}, computer.Options{Linger: 10 * time.Minute}
	if r.actor != nil && r.actor.Ports != nil {
		opts.Ports = r.actor.Ports(r.Place.Home)
		spec.Program, spec.Ports = true, slices.Sorted(maps.Keys(opts.Ports))
	}
	return computer.Open(ctx, r.driver, r.Place, spec, opts)
}

// agent is the one of the room: the scripted one, started in some way, if it has no other.
func (r *Room) agent(c *computer.Computer, h executor.Host, how ...string) (a executor.Agent, err error) {
	a = executor.Agent{
		Computer: c, ID: "exec-a", Journal: r.Journal, Host: h, Asks: true, Version: "test",
		Settings: executor.Settings{Name: "scripted", Command: append([]string{program, AgentRole}, how...), Mode: "asks"},
		Times:    executor.Times{Ready: patience, Grace: patience, Silence: patience},
	}
	if r.actor != nil {
		a.Settings, err = r.actor.Settings(c)
	}
	return a, err
}

// heard are the lines that the agent's processes were told: one list for each.
func (r *Room) heard(t *testing.T) (out [][]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.Place.Home, Heard))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "began" {
			out = append(out, nil)
		} else {
			out[len(out)-1] = append(out[len(out)-1], line)
		}
	}
	return out
}

// touch makes a file that the agent waits for.
func (r *Room) touch(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.Place.Home, name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// sees waits for a file that the agent makes.
func (r *Room) sees(t *testing.T, name string) {
	t.Helper()
	eventually(t, "the file "+name, func() bool {
		_, err := os.Stat(filepath.Join(r.Place.Home, name))
		return err == nil
	})
}

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

// Keeper is a host that keeps what it is told. Those of one ledger share what is known, as the
// Lyceums of one quest do.
type Keeper struct {
	// Answer answers questions; nil declines them.
	Answer func(ctx context.Context, q executor.Question) ([]byte, error)
	// Decide answers permissions; nil is yes.
	Decide func(ctx context.Context, b *event.PermissionAsked) (string, error)
	// Refuse is what files and commands are refused with.
	Refuse error
	// Start starts a command of a terminal.
	Start func(ctx context.Context, cmd computer.Command) error
	// Lost says that nothing is written down any more: a crash is near.
	Lost bool

	mu     sync.Mutex
	ledger *Ledger
	live   strings.Builder
}

// Ledger is what outlives a Lyceum.
type Ledger struct {
	mu sync.Mutex
	// Told is what was reported, a line each; At the largest place of it.
	Told []string
	At   int64
	// Begun are the processes that a prompt was said to, by its number.
	Begun []string

	// file has it all, for a Lyceum in another process; nil if there is none.
	file *os.File
}

// entry is a line of a ledger's file.
type entry struct {
	At   int64
	Line string
}

// openLedger reads the ledger in a file. What a crash left of its last line does not count.
func openLedger(path string) (*Ledger, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, size := new(Ledger), int64(0)
	for line := range bytes.Lines(b) {
		var e entry
		if json.Unmarshal(line, &e) != nil || line[len(line)-1] != '\n' {
			break
		}
		size += int64(len(line))
		l.Told, l.At = append(l.Told, e.Line), max(l.At, e.At)
	}
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	return l, l.file.Truncate(size)
}

// NewKeeper returns a host that writes to a ledger.
func NewKeeper(l *Ledger) *Keeper { return &Keeper{ledger: l} }

func (l *Ledger) note(at int64, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Told = append(l.Told, fmt.Sprintf(format, args...))
	l.At = max(l.At, at)
	if l.file == nil {
		return
	}
	b, err := json.Marshal(entry{at, l.Told[len(l.Told)-1]})
	if err == nil {
		_, err = l.file.Write(append(b, '\n'))
	}
	if err != nil {
		panic(err)
	}
}

// first notes what is not known yet.
func (l *Ledger) first(at int64, line string) {
	if known, _ := l.told(); !strings.Contains("\n"+known+"\n", "\n"+line+"\n") {
		l.note(at, "%s", line)
	}
}

func (l *Ledger) told() (string, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.Told, "\n"), l.At
}

// Line is what a body of an event says, without its place.
func Line(b event.Body) (at int64, line string) {
	switch b := b.(type) {
	case *event.SaidReported:
		word := "said"
		if b.Thought {
			word = "thought"
		}
		return b.At, fmt.Sprintf("%d %s %s", b.Prompt, word, b.Text.Text)
	case *event.ToolReported:
		return b.At, strings.TrimRight(fmt.Sprintf("%d tool %s %s %s %s %s %s", b.Prompt, b.ID, b.Status, b.Kind, b.Title.Text, strings.Join(b.Paths, " "), b.Output.Text), " ")
	case *event.PlanReported:
		var steps []string
		for _, e := range b.Entries {
			steps = append(steps, e.Text)
		}
		return b.At, fmt.Sprintf("%d plan %s", b.Prompt, strings.Join(steps, ", "))
	case *event.PermissionAsked:
		var options []string
		for _, o := range b.Options {
			options = append(options, o.ID)
		}
		return b.At, fmt.Sprintf("%d asked %s %s %s: %s", b.Prompt, b.Tool, b.Title.Text, strings.Join(b.Paths, " "), strings.Join(options, " "))
	}
	return 0, fmt.Sprintf("%T", b)
}

// Report implements executor.Host.
func (k *Keeper) Report(_ context.Context, b event.Body) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.Lost {
		return nil
	}
	at, line := Line(b)
	k.ledger.note(at, "%s", line)
	return nil
}

// Live implements executor.Host.
func (k *Keeper) Live(kind, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintf(&k.live, "%s:%s;", kind, text)
}

// Permit implements executor.Host.
func (k *Keeper) Permit(ctx context.Context, b *event.PermissionAsked) (string, error) {
	at, line := Line(b)
	k.ledger.first(at, line)
	if k.Decide != nil {
		return k.Decide(ctx, b)
	}
	return "yes", nil
}

// Ask implements executor.Host.
func (k *Keeper) Ask(ctx context.Context, q executor.Question) ([]byte, error) {
	var names []string
	for _, f := range q.Fields {
		names = append(names, f.Name+" "+f.Kind)
	}
	k.ledger.first(0, fmt.Sprintf("asked %s: %s", q.Message, strings.Join(names, ", ")))
	if k.Answer != nil {
		return k.Answer(ctx, q)
	}
	return nil, nil
}

// Write implements executor.Host.
func (k *Keeper) Write(_ context.Context, path string) error {
	if k.Refuse != nil {
		return k.Refuse
	}
	k.ledger.first(0, "write "+path)
	return nil
}

// Run implements executor.Host.
func (k *Keeper) Run(ctx context.Context, cmd computer.Command) error {
	if k.Refuse != nil {
		return k.Refuse
	}
	k.ledger.first(0, "run "+strings.Join(cmd.Args, " ")+" in "+cmd.Dir)
	if k.Start != nil {
		return k.Start(ctx, cmd)
	}
	return nil
}

// begin is what a prompt's Begin is.
func (l *Ledger) begin(seq uint64) func(context.Context, string) error {
	return func(_ context.Context, process string) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.Begun = append(l.Begun, fmt.Sprintf("%d %s", seq, process))
		return nil
	}
}

// ready asks for a driver that works here.
func ready(t *testing.T, open func() computer.Driver) computer.Driver {
	t.Helper()
	d := open()
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	return d
}
