package service_test

// Stations are tried here, where a workshop's test can be a process of its own: it is
// killed, and the next one goes on.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/computer"
	"lyceum/internal/computer/bubblewrap"
	"lyceum/internal/computer/computertest"
	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveWord {
		serveTools()
		return
	}
	computertest.Main(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shop is a workshop whose work begins with the quest, and whose model has nothing to
// say before the work is done.
type shop struct {
	work func(ctx context.Context, q *runtime.Quest) error
	done chan error
	once sync.Once
	q    *runtime.Quest
	ctx  context.Context
}

func newShop(work func(context.Context, *runtime.Quest) error) *shop {
	return &shop{work: work, done: make(chan error, 1)}
}

func (s *shop) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	s.q, s.ctx = q, ctx
	return s, nil
}
func (s *shop) Services() map[event.Type]runtime.Service { return nil }
func (s *shop) Close() error                             { return nil }

// Printed begins the work with the first event: from then on the quest runs.
func (s *shop) Printed(event.Event) {
	s.once.Do(func() {
		go func() { s.done <- s.work(s.ctx, s.q) }()
	})
}

// Generate implements model.Model.
func (s *shop) Generate(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	select {
	case err := <-s.done:
		if err != nil {
			return nil, &model.Error{Kind: model.Invalid, Text: err.Error()}
		}
		return &model.Answer{Parts: []model.Part{{Kind: event.PartText, Text: "done"}}, Stop: model.StopEnd}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// openRuntime is one on a home, with a workshop for quests of one agent.
func openRuntime(t *testing.T, home string, s *shop) *runtime.Runtime {
	t.Helper()
	d := bubblewrap.New(bubblewrap.Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	store, err := sqlite.Open(filepath.Join(home, "lyceum.db"), nil)
	must(t, err)
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), nil)
	must(t, err)
	t.Cleanup(func() {
		must(t, store.Close())
		must(t, blobs.Close())
	})
	rt := &runtime.Runtime{
		Ledger: store, Blobs: blobs, Tools: tool.Builtin(), Societies: []quest.Society{solo.Society{}}, Workshops: map[string]runtime.Workshop{"solo": s},
		Computers: []computer.Driver{d}, Clock: runtime.SystemClock, Home: home, Version: "test",
		Models: func(string, func(string) ([]byte, error)) (model.Model, error) { return s, nil },
	}
	// A test that fails leaves no computers up either.
	t.Cleanup(func() { _ = rt.Clean(context.Background(), "q", false) })
	return rt
}

func create(t *testing.T, rt *runtime.Runtime) {
	t.Helper()
	source := []byte("name: q\nproblem: What does it say?\nmodel: demo\ncomputer: {driver: bubblewrap, memory: 256MiB}\n")
	spec, err := rt.Societies.ParseSpec("quest.yaml", source)
	must(t, err)
	_, err = rt.Create(t.Context(), runtime.Plan{Spec: spec, Source: source, Dir: t.TempDir()})
	must(t, err)
}

// run runs the quest to its end, which must be a good one.
func run(t *testing.T, rt *runtime.Runtime) {
	t.Helper()
	patience := 2 * time.Minute
	if asked := os.Getenv(interopPaper); asked != "" { // programs of other people take their time
		patience = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := rt.Run(ctx, "q", runtime.RunOptions{})
	must(t, err)
	if s.Status != quest.Finished {
		t.Fatalf("the quest is %s (%s), want it finished", s.Status, s.Reason)
	}
	if left := s.Processes(); len(left) > 0 {
		t.Errorf("the quest is over and has commands that have not ended: %+v", left)
	}
}

// told counts what a quest's ledger says of an owner, by type, and checks that it
// verifies and replays.
func told(t *testing.T, rt *runtime.Runtime, owner string) (counts map[event.Type]int, exits []*event.CliExit) {
	t.Helper()
	counts = map[event.Type]int{}
	for e, err := range rt.Ledger.Read(t.Context(), "q", 1) {
		must(t, err)
		if e.Actor == owner {
			counts[e.Type]++
		}
		if b, ok := e.Body.(*event.CliExit); ok && e.Actor == owner {
			exits = append(exits, b)
		}
		if b, ok := e.Body.(*event.ComputerStarted); ok && b.Owner != "" && b.Owner != e.Actor {
			t.Errorf("the computer of %s is told of by %s", b.Owner, e.Actor)
		}
	}
	for what, f := range map[string]func(context.Context, *runtime.Runtime, string, func(uint64)) (*audit.Report, error){"verify": audit.Verify, "replay": audit.Replay} {
		rep, err := f(t.Context(), rt, "q", nil)
		must(t, err)
		if rep.Difference != nil {
			t.Errorf("%s of a quest with a server found a difference: %v", what, rep.Difference)
		}
	}
	return counts, exits
}

// handle is what is written down of a computer that is up.
type handle struct {
	PID   int
	Group struct{ Dirs []string }
}

func handleOf(t *testing.T, rt *runtime.Runtime, owner string) (h handle, text string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(rt.QuestDir("q"), "computers", folder(owner), "computer.json"))
	must(t, err)
	var saved struct{ Handle string }
	must(t, json.Unmarshal(b, &saved))
	must(t, json.Unmarshal([]byte(saved.Handle), &h))
	return h, saved.Handle
}

func folder(owner string) string { return "@" + strings.ReplaceAll(owner, "/", "@") }

// nothingLeft checks that no process, control group or folder of a computer is there.
func nothingLeft(t *testing.T, rt *runtime.Runtime, h handle) {
	t.Helper()
	if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", h.PID)); err == nil && strings.Contains(string(b), "lyceum-helper") {
		t.Errorf("process %d of a computer that is over is there", h.PID)
	}
	for _, dir := range h.Group.Dirs {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("the control group %s of a computer that is over is there", dir)
		}
	}
	for _, dir := range []string{"computers", "agents"} {
		list, err := os.ReadDir(filepath.Join(rt.QuestDir("q"), dir))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		for _, e := range list {
			if strings.Contains(e.Name(), "@") {
				t.Errorf("%s/%s of a computer that is over is there", dir, e.Name())
			}
		}
	}
}

// echo is the server: it says everything back.
var echo = computer.Command{ID: "serve", Args: []string{"sh", "-c", "echo up >&2; exec cat"}, Input: true, Keep: true, Ahead: 1 << 20}

const frames = 300

func said(i int) []byte { return bytes.Repeat([]byte(fmt.Sprintf("frame %d\n", i)), 1+i%40) }

// converse says frames to the server, and keeps what it says back in a file. Where it
// stands is how much of that there is. It waits for ever before the frame that is one too
// many: after the last one the server ends, and nobody knows any more what it took.
func converse(heard string, report io.Writer, tooMany int) func(ctx context.Context, q *runtime.Quest) error {
	return func(ctx context.Context, q *runtime.Quest) error {
		s, err := q.Station(ctx, "server/echo", runtime.StationOptions{Limits: computer.Limits{Processes: 40}})
		if err != nil {
			return err
		}
		if err := s.Start(ctx, echo); err != nil {
			return err
		}
		c, err := s.Computer()
		if err != nil {
			return err
		}
		f, err := os.OpenFile(heard, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		had, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		at, out := int64(0), c.Follow(ctx, echo.ID, computer.Stdout, int64(len(had)))
		for i := range frames {
			if i == tooMany {
				<-ctx.Done()
				return ctx.Err()
			}
			b := said(i)
			// What the last one may have said is said again.
			if _, err := c.WriteAt(ctx, echo.ID, at, b, i == frames-1); err != nil {
				return err
			}
			at += int64(len(b))
			if missing := at - out.Offset(); missing > 0 {
				if _, err := io.CopyN(f, out, missing); err != nil {
					return err
				}
			}
			fmt.Fprintln(report, i)
		}
		_, err = c.Wait(ctx, echo.ID)
		return err
	}
}

const (
	childEnv   = "LYCEUM_STATION_CHILD"
	tooManyEnv = "LYCEUM_STATION_TOO_MANY"
)

// TestAServersConversationOutlivesACrash speaks with a server in a computer of its own,
// from a process that is killed again and again.
func TestAServersConversationOutlivesACrash(t *testing.T) {
	if home := os.Getenv(childEnv); home != "" {
		report := os.NewFile(3, "report")
		tooMany, err := strconv.Atoi(os.Getenv(tooManyEnv))
		must(t, err)
		s := newShop(converse(filepath.Join(home, "heard"), report, tooMany))
		run(t, openRuntime(t, home, s))
		return
	}
	t.Parallel()
	home := t.TempDir()
	rt := openRuntime(t, home, newShop(nil))
	create(t, rt)
	var first handle
	boots := map[string]bool{}
	for _, until := range []int{20, 90, 200, frames} {
		last := speak(t, home, until)
		if until == frames {
			if last != nil {
				t.Fatalf("the last process: %v", last)
			}
			break
		}
		h, text := handleOf(t, rt, "server/echo")
		first, boots[text] = h, true
	}
	if len(boots) != 1 {
		t.Errorf("the server had %d computers, want the same one for every process: %v", len(boots), boots)
	}
	var want []byte
	for i := range frames {
		want = append(want, said(i)...)
	}
	got, err := os.ReadFile(filepath.Join(home, "heard"))
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back of %d, want each once", len(got), len(want))
	}
	counts, exits := told(t, rt, "server/echo")
	if counts["computer.started"] != 1 || counts["cli.run"] != 1 || counts["cli.exit"] != 1 || counts["cli.stdout"] != 0 {
		t.Errorf("the ledger has %v of the server, want its start, one command and its end", counts)
	}
	if x := exits[0]; x.Exit != 0 || x.End != "" || x.Stdout.Size != int64(len(want)) || x.Stderr.Size != 3 {
		t.Errorf("the server ended with %+v", x)
	}
	nothingLeft(t, rt, first)
}

// speak runs the quest in a process of its own, and kills it once a number of frames is
// said.
func speak(t *testing.T, home string, until int) error {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	var out bytes.Buffer
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestAServersConversationOutlivesACrash$", "-test.count=1")
	tooMany := frames
	if until < frames {
		tooMany--
	}
	cmd.Env = append(os.Environ(), childEnv+"="+home, fmt.Sprintf("%s=%d", tooManyEnv, tooMany), "TMPDIR="+t.TempDir())
	cmd.ExtraFiles, cmd.Stdout, cmd.Stderr = []*os.File{w}, &out, &out
	must(t, cmd.Start())
	must(t, w.Close())
	at := 0
	var buf [512]byte
	for text := ""; at < until-1; {
		n, err := r.Read(buf[:])
		if err != nil {
			break
		}
		text += string(buf[:n])
		lines := strings.Split(text, "\n")
		text = lines[len(lines)-1]
		if len(lines) > 1 {
			at, _ = strconv.Atoi(lines[len(lines)-2])
		}
	}
	if until < frames {
		_ = cmd.Process.Kill()
	}
	if err := cmd.Wait(); err != nil {
		if until < frames && at == 0 {
			t.Fatalf("the process that speaks said nothing: %v\n%s", err, out.Bytes())
		}
		return fmt.Errorf("%w\n%s", err, out.Bytes())
	}
	return nil
}

// TestAnOwnerThatDoesNotComeBack leaves a server behind, and the next process has none.
func TestAnOwnerThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]bool{"ItsComputerIsUp": false, "ItsComputerIsGone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			ctx, leave := context.WithCancel(t.Context())
			rt := openRuntime(t, home, newShop(func(ctx context.Context, q *runtime.Quest) error {
				s, err := q.Station(ctx, "server/left", runtime.StationOptions{KeepHome: true})
				if err == nil {
					err = s.Start(ctx, echo)
				}
				leave()
				return err
			}))
			create(t, rt)
			if _, err := rt.Run(ctx, "q", runtime.RunOptions{}); !errors.Is(err, context.Canceled) {
				t.Fatalf("a run that is given up: %v", err)
			}
			h, _ := handleOf(t, rt, "server/left")
			if stop {
				must(t, computer.StopAt(t.Context(), rt.Place("q", folder("server/left")), rt.Computers...))
			}
			next := openRuntime(t, home, newShop(func(context.Context, *runtime.Quest) error { return nil }))
			run(t, next)
			counts, exits := told(t, next, "server/left")
			if counts["cli.run"] != 1 || len(exits) != 1 || exits[0].End != "lost" {
				t.Errorf("the ledger has %v and %v of the server, want one command that is lost", counts, exits)
			}
			nothingLeft(t, next, h)
		})
	}
}

// TestAStation tries what the owner of a computer can do while the quest runs.
func TestAStation(t *testing.T) {
	t.Parallel()
	var h handle
	var rt *runtime.Runtime
	rt = openRuntime(t, t.TempDir(), newShop(func(ctx context.Context, q *runtime.Quest) error {
		return useStations(ctx, t, rt, q, &h)
	}))
	create(t, rt)
	run(t, rt)
	counts, exits := told(t, rt, "check/7")
	if counts["computer.started"] != 2 || counts["cli.run"] != 3 || len(exits) != 3 || counts["cli.stdout"] != 1 || counts["cli.stderr"] < 1 {
		t.Errorf("the ledger has %v of the check, want two computers and three commands", counts)
	}
	ends := []string{}
	for _, x := range exits {
		ends = append(ends, fmt.Sprint(x.Command, x.Exit, x.End))
	}
	slices.Sort(ends)
	if got := strings.Join(ends, " "); got != "missing127 one3 serve-1stopped" && got != "missing127 one3 serve137stopped" {
		t.Errorf("the commands of the check ended as %s", got)
	}
	nothingLeft(t, rt, h)
}

func useStations(ctx context.Context, t *testing.T, rt *runtime.Runtime, q *runtime.Quest, h *handle) error {
	for owner, o := range map[string]runtime.StationOptions{
		"": {}, "agent-0": {}, "core": {}, "Server": {}, "server/../x": {}, "a/": {}, "browser": {Network: computer.Network{Allow: []string{"not a host!"}}},
		"server/x": {Ports: map[string]computer.Port{"proxy": {Handler: http.NotFoundHandler()}}},
	} {
		if s, err := q.Station(ctx, owner, o); err == nil {
			t.Errorf("the owner %q has a computer with %+v, want it refused: %v", owner, o, s.Close())
		}
	}
	furnish := func(home *os.Root) error { return home.WriteFile("given", []byte("given\n"), 0o600) }
	o := runtime.StationOptions{Furnish: furnish, KeepHome: true, Limits: computer.Limits{Memory: 128 << 20}}
	s, err := q.Station(ctx, "check/7", o)
	if err != nil {
		return err
	}
	if _, err := q.Station(ctx, "check/7", o); err == nil {
		t.Error("an owner has two computers at a time, want the second refused")
	}
	*h, _ = handleOf(t, rt, "check/7")
	res, err := s.Run(ctx, computer.Command{ID: "one", Args: []string{"sh", "-c", "cat given; echo no >&2; echo kept > kept; exit 3"}})
	if err != nil || res.Exit != 3 || string(res.Stdout.Head) != "given\n" {
		t.Errorf("a command of a check: %+v, %v", res, err)
	}
	if err := s.Start(ctx, echo); err != nil {
		return err
	}
	if err := s.Start(ctx, echo); err != nil {
		t.Errorf("a server that is started twice: %v, want it found", err)
	}
	if err := s.Start(ctx, computer.Command{ID: "missing", Args: []string{"no-such-program"}}); err == nil {
		t.Error("a program that is not there was started")
	}
	if c, err := s.Computer(); err != nil || c.Fingerprint().Limits.Memory != 128<<20 || c.Fingerprint().Limits.Processes != 512 {
		t.Errorf("the computer of a check: %v, want the limits that were said and those of the quest", err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Errorf("close a station: %v", err)
	}
	if _, err := s.Computer(); !errors.Is(err, computer.ErrStopped) {
		t.Errorf("the computer of a station that is closed: %v, want ErrStopped", err)
	}
	if _, err := s.Run(ctx, computer.Command{ID: "late", Args: []string{"true"}}); !errors.Is(err, computer.ErrStopped) {
		t.Errorf("a command for a station that is closed: %v, want ErrStopped", err)
	}
	return useAgain(ctx, t, q, o)
}

// useAgain opens the computer of a check once more: its home was kept, and then not.
func useAgain(ctx context.Context, t *testing.T, q *runtime.Quest, o runtime.StationOptions) error {
	token := ""
	o.KeepHome, o.Ports = false, map[string]computer.Port{"mcp": {Handler: http.NotFoundHandler()}}
	for _, want := range []string{"given\nkept\n", "given\n", "given\n"} {
		s, err := q.Station(ctx, "check/7", o)
		if err != nil {
			return err
		}
		c, err := s.Computer()
		if err != nil {
			return err
		}
		res, err := c.Run(ctx, computer.Command{ID: "look", Args: []string{"sh", "-c", "cat given kept 2>/dev/null; true"}})
		if err != nil || string(res.Stdout.Head) != want {
			t.Errorf("the home of a check: %+v, %v, want %q", res, err, want)
		}
		next, err := c.Token("mcp", "check/7")
		if err != nil || next == token {
			t.Errorf("the token of another boot is %q, %v, want another than %q", next, err, token)
		}
		token = next
		if err := s.Close(); err != nil {
			return err
		}
	}
	// One that nobody closes goes with the quest.
	s, err := q.Station(ctx, "browser", runtime.StationOptions{})
	if err != nil {
		return err
	}
	return s.Start(ctx, echo)
}

// TestWhatAKilledProcessLeftIsTidiedUp has a computer be up after its quest has ended, as
// a process leaves it that is killed in between.
func TestWhatAKilledProcessLeftIsTidiedUp(t *testing.T) {
	t.Parallel()
	for name, tidy := range map[string]func(*runtime.Runtime) error{
		"TidyUp": func(rt *runtime.Runtime) error { _, err := rt.TidyUp(t.Context(), "q", nil); return err },
		"Clean":  func(rt *runtime.Runtime) error { return rt.Clean(t.Context(), "q", false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := openRuntime(t, t.TempDir(), newShop(func(context.Context, *runtime.Quest) error { return nil }))
			create(t, rt)
			run(t, rt)
			p := rt.Place("q", folder("server/left"))
			must(t, os.MkdirAll(p.Home, 0o700))
			must(t, os.MkdirAll(rt.Place("q", ".new-"+folder("server/half")).Home, 0o700))
			c, err := computer.Open(t.Context(), rt.Computers[0], p, computer.Spec{}, computer.Options{})
			must(t, err)
			must(t, c.Start(t.Context(), echo))
			must(t, c.Close())
			h, _ := handleOf(t, rt, "server/left")
			must(t, tidy(rt))
			nothingLeft(t, rt, h)
		})
	}
}
