package computer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/computer/link"
)

// impostor is a driver whose sandboxes are a function in this process: what the
// helper of a real one might say if somebody inside had taken it over.
type impostor struct {
	// say answers a request and may go on from there. If nil, or if it returns false,
	// there is a harmless answer.
	say func(q link.Request, c net.Conn) bool

	mu     sync.Mutex
	boots  int
	kills  int
	meters Meters
	open   []net.Listener
}

func (d *impostor) Name() string                { return "impostor" }
func (d *impostor) Check(context.Context) error { return nil }
func (d *impostor) Prepare(context.Context, Spec, func(string)) (string, error) {
	return "base", nil
}

func (d *impostor) Boot(_ context.Context, b *Boot) (string, error) {
	l, err := net.FileListener(b.Listener)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.boots++
	d.open = append(d.open, l)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go d.serve(c)
		}
	}()
	return fmt.Sprint(len(d.open) - 1), nil
}

func (d *impostor) serve(c net.Conn) {
	defer c.Close()
	var q link.Request
	r := &link.Reader{R: c}
	if r.JSON(link.KindRequest, &q) != nil || d.say != nil && d.say(q, c) {
		return
	}
	_ = link.WriteJSON(c, link.KindAnswer, link.Answer{})
	_, _, _ = r.Next()
}

func (d *impostor) Kill(_ context.Context, handle string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kills++
	var n int
	if _, err := fmt.Sscan(handle, &n); err == nil && n < len(d.open) {
		_ = d.open[n].Close()
	}
	return nil
}

func (d *impostor) Meters(string) Meters {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.meters
}

func somewhere(t *testing.T) Place {
	t.Helper()
	p := Place{Home: t.TempDir(), Dir: filepath.Join(t.TempDir(), "computer")}
	return p
}

func openWith(t *testing.T, d *impostor, s Spec) *Computer {
	t.Helper()
	c, err := Open(t.Context(), d, somewhere(t), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })
	return c
}

// answered says that the command runs.
func answered(c net.Conn) { _ = link.WriteJSON(c, link.KindAnswer, link.Answer{}) }

func TestALieOfTheHelperIsAnError(t *testing.T) {
	t.Parallel()
	for what, lie := range map[string]func(c net.Conn){
		"output from the middle":  func(c net.Conn) { _ = link.WriteData(c, link.KindStdout, 5, []byte("x")) },
		"output without offset":   func(c net.Conn) { _ = link.WriteFrame(c, link.KindStdout, []byte("x")) },
		"an unknown frame":        func(c net.Conn) { _ = link.WriteFrame(c, 'Z', []byte("x")) },
		"an end that is none":     func(c net.Conn) { _ = link.WriteFrame(c, link.KindExit, []byte("{x")) },
		"more than there was":     func(c net.Conn) { _ = link.WriteJSON(c, link.KindExit, link.Exit{Out: 1}) },
		"less than there was":     func(c net.Conn) { _ = link.WriteJSON(c, link.KindExit, link.Exit{Err: -1}) },
		"an answer for an output": func(c net.Conn) { answered(c) },
	} {
		c := openWith(t, &impostor{say: func(q link.Request, c net.Conn) bool {
			if q.Op != link.OpRun {
				return false
			}
			answered(c)
			lie(c)
			_, _ = c.Read(make([]byte, 1))
			return true
		}}, Spec{})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		r, err := c.Run(ctx, Command{ID: "a", Args: []string{"x"}})
		if err == nil || ctx.Err() != nil {
			t.Errorf("a helper that lies, %s: got %+v, %v, want an error before the time is up", what, r, err)
		}
		cancel()
	}
}

func TestWordsOfTheHelperAreCleaned(t *testing.T) {
	t.Parallel()
	c := openWith(t, &impostor{say: func(q link.Request, c net.Conn) bool {
		switch q.Op {
		case link.OpRun:
			answered(c)
			_ = link.WriteFrame(c, link.KindExit, []byte(`{"code":70000,"signal":"\u001b[2J\u001b[2J\u001b[2J\u001b[2J\u001b[2J\u001b[2J","end":"nonsense","met":"worse","duration":-5}`))
		case link.OpKill:
			_ = link.WriteJSON(c, link.KindAnswer, link.Answer{Error: "\x1b[2J" + strings.Repeat("long ", 1000)})
		case link.OpList:
			known := []link.Known{{ID: "../../etc"}, {ID: "good", Args: []string{"x"}}, {ID: "good"}, {ID: ""}}
			_ = link.WriteJSON(c, link.KindAnswer, link.Answer{Known: known})
		default:
			return false
		}
		return true
	}}, Spec{})
	r, err := c.Run(t.Context(), Command{ID: "a", Args: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Exit != 255 || strings.ContainsRune(r.Signal, 27) || len(r.Signal) > 100 || r.End != EndKilled || r.Met != EndKilled || r.Duration != 0 {
		t.Errorf("the result is %+v", r)
	}
	if err := c.Kill(t.Context(), "a"); err == nil || strings.ContainsRune(err.Error(), 27) || len(err.Error()) > 600 {
		t.Errorf("the error is %q", err)
	}
	if p, err := c.Processes(t.Context()); err != nil || len(p) != 1 || p[0].ID != "good" {
		t.Errorf("the list is %+v (%v)", p, err)
	}
}

func TestAHelperThatNeverEndsIsLeft(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	c := openWith(t, &impostor{say: func(q link.Request, c net.Conn) bool {
		if q.Op != link.OpRun {
			return false
		}
		answered(c)
		go func() {
			for r := (&link.Reader{R: c}); ; {
				if _, _, err := r.Next(); err != nil {
					return
				}
			}
		}()
		line := append(make([]byte, link.MaxData-1), '\n')
		for link.WriteData(c, link.KindStdout, sent.Load(), line) == nil {
			sent.Add(link.MaxData)
		}
		return true
	}}, Spec{Limits: Limits{Disk: 1 << 20}})
	if r, err := c.Run(t.Context(), Command{ID: "a", Args: []string{"x"}}); err == nil || sent.Load() > 64<<20 {
		t.Errorf("after %d bytes: %+v", sent.Load(), r)
	}
}

func TestLimitsAreBlamedOnWhoRanWhenTheyWereMet(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		exit     link.Exit
		now      Meters
		end, met string
	}{
		"a good end":               {link.Exit{}, Meters{5, 5}, "", ""},
		"nothing new":              {link.Exit{Code: 1}, Meters{1, 1}, "", ""},
		"memory":                   {link.Exit{Code: 137, Signal: "SIGKILL"}, Meters{2, 1}, EndMemory, ""},
		"memory of a child":        {link.Exit{Code: 1}, Meters{2, 1}, "", EndMemory},
		"memory and then a kill":   {link.Exit{Code: 137, Signal: "SIGKILL", End: EndKilled}, Meters{2, 1}, EndKilled, EndMemory},
		"processes":                {link.Exit{Code: 2}, Meters{1, 9}, "", EndProcesses},
		"processes until too late": {link.Exit{Code: 137, Signal: "SIGKILL", End: EndTimeout}, Meters{1, 9}, EndTimeout, EndProcesses},
		"what the helper saw":      {link.Exit{Code: 1, Met: EndDisk}, Meters{2, 9}, "", EndDisk},
	} {
		k := &capture{c: &Computer{driver: &impostor{meters: c.now}}, before: Meters{1, 1}}
		x := c.exit
		if k.judge(&x); x.End != c.end || x.Met != c.met {
			t.Errorf("%s: end %q, met %q", what, x.End, x.Met)
		}
	}
}

func TestOpenBootsOnce(t *testing.T) {
	t.Parallel()
	d, p := &impostor{}, somewhere(t)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			c, err := Open(t.Context(), d, p, Spec{}, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			c.Close()
		})
	}
	all.Wait()
	if d.boots != 1 || d.kills != 0 {
		t.Errorf("booted %d times, killed %d", d.boots, d.kills)
	}
	if err := StopAt(t.Context(), p, d); err != nil || d.kills != 1 {
		t.Errorf("stopped %d times (%v)", d.kills, err)
	}
	if _, err := Open(t.Context(), d, p, Spec{}, Options{Found: true}); !errors.Is(err, ErrStopped) {
		t.Errorf("found one that was stopped: %v", err)
	}
	if err := StopAt(t.Context(), somewhere(t), d); err != nil {
		t.Errorf("stopping nothing: %v", err)
	}
	if err := StopAt(t.Context(), p); err == nil {
		t.Error("stopped without its driver")
	}
}

// Whoever gives up on opening a computer has not found out that it is broken.
func TestOpenThatIsCancelledKillsNothing(t *testing.T) {
	t.Parallel()
	var silent atomic.Bool
	d, p := &impostor{say: func(q link.Request, c net.Conn) bool {
		if silent.Load() {
			_, _ = c.Read(make([]byte, 1))
		}
		return silent.Load()
	}}, somewhere(t)
	c, err := Open(t.Context(), d, p, Spec{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	silent.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, d, p, Spec{}, Options{}); !errors.Is(err, context.DeadlineExceeded) || d.kills != 0 {
		t.Errorf("killed %d times (%v)", d.kills, err)
	}
	silent.Store(false)
	again, err := Open(t.Context(), d, p, Spec{}, Options{Found: true})
	if err != nil || d.boots != 1 {
		t.Fatalf("booted %d times (%v)", d.boots, err)
	}
	again.Close()
}

func TestABootThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	d := &impostor{say: func(link.Request, net.Conn) bool { return true }}
	_, err := Open(t.Context(), d, somewhere(t), Spec{}, Options{})
	if err == nil || !strings.Contains(err.Error(), "does not answer") || d.boots != 1 || d.kills != 1 {
		t.Errorf("booted %d times, killed %d (%v)", d.boots, d.kills, err)
	}
}

// A list that is asked for while commands begin and end must not touch their logs.
func TestListingLeavesRunningCommandsAlone(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	d := &impostor{say: func(q link.Request, c net.Conn) bool {
		switch q.Op {
		case link.OpRun:
			answered(c)
			_ = link.WriteData(c, link.KindStdout, 0, []byte("first\n"))
			<-gate
			_ = link.WriteData(c, link.KindStdout, 6, []byte("second\n"))
			_ = link.WriteJSON(c, link.KindExit, link.Exit{Out: 13})
			_, _ = c.Read(make([]byte, 1))
			return true
		}
		return false // a list of none, as before the command began
	}}
	c := openWith(t, d, Spec{})
	if err := c.Start(t.Context(), Command{ID: "a", Args: []string{"x"}, Keep: true}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if p, err := c.Processes(t.Context()); err != nil || len(p) != 1 || !p[0].Running {
			t.Errorf("the list is %+v (%v)", p, err)
		}
	}
	close(gate)
	r, err := c.Wait(t.Context(), "a")
	if err != nil || string(r.Stdout.Head) != "first\nsecond\n" || r.End != "" {
		t.Errorf("the result is %+v (%v)", r, err)
	}
}

// What an earlier Lyceum wrote down of a command's end stays, whatever the helper
// says of it later.
func TestTheFirstWordOnAnEndIsTheLast(t *testing.T) {
	t.Parallel()
	runs := 0
	d := &impostor{say: func(q link.Request, c net.Conn) bool {
		switch q.Op {
		case link.OpRun:
			runs++
			return false
		case link.OpAttach:
			_ = link.WriteJSON(c, link.KindAnswer, link.Answer{Attached: true})
			_ = link.WriteJSON(c, link.KindExit, link.Exit{Code: 9, Out: q.Out})
			_, _ = c.Read(make([]byte, 1))
			return true
		}
		return false
	}}
	c := openWith(t, d, Spec{})
	l, err := createLog(c.logPath("a"), logHead{ID: "a"})
	if err == nil {
		_, err = l.add(Stdout, []byte("out\n"), false)
	}
	if err == nil {
		err = l.finish(&link.Exit{Code: 137, End: EndMemory})
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := c.Run(t.Context(), Command{ID: "a", Args: []string{"x"}})
		if err != nil || r.End != EndMemory || r.Exit != 137 || string(r.Stdout.Head) != "out\n" {
			t.Errorf("it ended with %+v (%v)", r, err)
		}
	}
	if runs > 0 {
		t.Errorf("it ran %d times more", runs)
	}
}

func TestCloseEndsEverythingAndNothingBeginsAfter(t *testing.T) {
	t.Parallel()
	d := &impostor{say: func(q link.Request, c net.Conn) bool {
		if q.Op == link.OpRun {
			answered(c)
			_, _ = c.Read(make([]byte, 1))
			return true
		}
		return false
	}}
	c := openWith(t, d, Spec{})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			r, err := c.Run(t.Context(), Command{ID: fmt.Sprint("c", i), Args: []string{"x"}, Stdin: []byte("x")})
			if !errors.Is(err, ErrStopped) {
				t.Errorf("got %+v, %v", r, err)
			}
		})
		if i == 25 {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	all.Wait()
	if err := c.Close(); err != nil {
		t.Errorf("closing it once more: %v", err)
	}
}

func TestSpecsAreChecked(t *testing.T) {
	t.Parallel()
	for what, s := range map[string]Spec{
		"": {}, "auto": {Driver: "auto"}, "its own": {Driver: "d"}, "least": {Limits: Limits{Memory: 32 << 20, Processes: 32}},
		"open": {Network: Network{Open: true}}, "allow": {Network: Network{Allow: []string{"a"}}},
	} {
		if err := s.check("d", true); err != nil {
			t.Errorf("a spec that is right was refused: %s: %v", what, err)
		}
	}
	for what, s := range map[string]Spec{
		"another": {Driver: "e"}, "memory": {Limits: Limits{Memory: 1}}, "cpus": {Limits: Limits{CPUs: -1}}, "wall": {Limits: Limits{Wall: 1}},
		"files": {Limits: Limits{Files: 2}}, "disk": {Limits: Limits{Disk: -1}},
		"both": {Network: Network{Open: true, Allow: []string{"a"}}},
	} {
		if err := s.check("d", true); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
}

func TestFingerprintsAreComparedByAllTheyHold(t *testing.T) {
	t.Parallel()
	a := Fingerprint{Driver: "d", Base: "b", Kernel: "k", Arch: "a", Limits: DefaultLimits, Network: Network{Allow: []string{"x"}}}
	b := a
	b.Network.Allow = []string{"x"}
	if a.Hash() != b.Hash() {
		t.Error("the same differ")
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"d"`, `"b"`, `"k"`, `"a"`, `"x"`, "2147483648", "512", "4096"} {
		var c Fingerprint
		if err := json.Unmarshal([]byte(strings.Replace(string(text), part, map[bool]string{true: `"z"`, false: "77"}[part[0] == '"'], 1)), &c); err != nil {
			t.Fatal(err)
		}
		if c.Hash() == a.Hash() {
			t.Errorf("another %s makes no difference", part)
		}
	}
}

func TestTheSocketMayLieDeep(t *testing.T) {
	t.Parallel()
	p := somewhere(t)
	for range 5 {
		p.Dir = filepath.Join(p.Dir, strings.Repeat("deep", 20))
	}
	d := &impostor{}
	c, err := Open(t.Context(), d, p, Spec{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(p.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %v (%v)", info.Mode(), err)
	}
}
