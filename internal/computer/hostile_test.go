package computer_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/link"
)

// A helper that has been taken over says whatever it likes. Lyceum must not crash, hang,
// fill its disk or its memory, or believe what cannot be.

// impostor is a driver whose helper is a function of this test.
type impostor struct {
	// answer has each connection to itself, after its request.
	answer func(q link.Request, c net.Conn)
	// report is what it says of itself.
	report link.Answer
	mu     sync.Mutex
	up     net.Listener
}

func (*impostor) Name() string                { return "bubblewrap" }
func (*impostor) Check(context.Context) error { return nil }
func (*impostor) Prepare(context.Context, computer.Spec, func(string)) (string, error) {
	return "base", nil
}
func (*impostor) Meters(string) computer.Meters { return computer.Meters{} }

func (d *impostor) Boot(_ context.Context, b *computer.Boot) (string, error) {
	l, err := net.FileListener(b.Listener)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	d.up = l
	d.mu.Unlock()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var q link.Request
				if (&link.Reader{R: c}).JSON(link.KindRequest, &q) != nil {
					return
				}
				if q.Op == link.OpPing || q.Op == link.OpHold {
					_ = link.WriteJSON(c, link.KindAnswer, d.report)
					_, _ = io.Copy(io.Discard, c)
					return
				}
				d.answer(q, c)
			}()
		}
	}()
	return "handle", nil
}

func (d *impostor) Kill(context.Context, string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.up != nil {
		d.up.Close()
	}
	return nil
}

// visit opens a computer with such a helper.
func visit(t *testing.T, s computer.Spec, o computer.Options, answer func(link.Request, net.Conn)) (*computer.Computer, computer.Place) {
	t.Helper()
	return visitWith(t, s, o, &impostor{answer: answer})
}

func visitWith(t *testing.T, s computer.Spec, o computer.Options, d *impostor) (*computer.Computer, computer.Place) {
	t.Helper()
	p := computer.Place{Home: t.TempDir(), Dir: t.TempDir()}
	c, err := computer.Open(t.Context(), d, p, s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		done := make(chan struct{})
		go func() { defer close(done); _ = c.Stop(context.Background()) }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("the computer cannot be stopped")
		}
	})
	return c, p
}

func raw(length uint32, kind link.Kind, payload string) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, length), byte(kind)), payload...)
}

func TestHostileHelper(t *testing.T) {
	t.Parallel()
	yes := func(c net.Conn) { _ = link.WriteJSON(c, link.KindAnswer, link.Answer{}) }
	// After the command has been accepted, each of these is said instead of how it went.
	for name, say := range map[string]func(net.Conn){
		"AFrameThatIsTooLong":     func(c net.Conn) { _, _ = c.Write(raw(0xffffffff, link.KindStdout, "x")) },
		"AFrameThatBreaksOff":     func(c net.Conn) { _, _ = c.Write(raw(1000, link.KindStdout, "x")) },
		"OutputWithoutAPlace":     func(c net.Conn) { _, _ = c.Write(raw(3, link.KindStdout, "xyz")) },
		"OutputAtAnotherPlace":    func(c net.Conn) { _ = link.WriteData(c, link.KindStdout, 1, []byte("x")) },
		"OutputBeforeTheStart":    func(c net.Conn) { _ = link.WriteData(c, link.KindStderr, -1, []byte("x")) },
		"AnUnknownFrame":          func(c net.Conn) { _ = link.WriteFrame(c, 'Z', []byte("x")) },
		"ARequest":                func(c net.Conn) { _ = link.WriteJSON(c, link.KindRequest, link.Request{Op: link.OpStop}) },
		"AnotherLength":           func(c net.Conn) { _ = link.WriteJSON(c, link.KindExit, link.Exit{Out: 5}) },
		"ANegativeLength":         func(c net.Conn) { _ = link.WriteJSON(c, link.KindExit, link.Exit{Out: -5, Err: -1}) },
		"AnEndThatIsNoJSON":       func(c net.Conn) { _ = link.WriteFrame(c, link.KindExit, []byte("{")) },
		"AnEndThatIsNested":       func(c net.Conn) { _ = link.WriteFrame(c, link.KindExit, []byte(strings.Repeat("[", 200<<10))) },
		"AnEndOfTheWrongKind":     func(c net.Conn) { _ = link.WriteFrame(c, link.KindExit, []byte(`{"code":"x","out":{}}`)) },
		"NothingAndGoes":          func(net.Conn) {},
		"TheSameOutputTwice":      func(c net.Conn) { _ = link.WriteData(c, 1, 0, []byte("x")); _ = link.WriteData(c, 1, 0, []byte("x")) },
		"EmptyOutputAndThenGoes":  func(c net.Conn) { _ = link.WriteData(c, 1, 0, nil); _ = link.WriteData(c, 2, 0, nil) },
		"OutputAtTheEndOfNumbers": func(c net.Conn) { _ = link.WriteData(c, 1, 1<<62, []byte("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := visit(t, computer.Spec{}, computer.Options{}, func(q link.Request, conn net.Conn) {
				yes(conn)
				if q.Op == link.OpRun {
					say(conn)
				}
			})
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			r, err := c.Run(ctx, computer.Command{ID: "x", Args: []string{"true"}})
			if err == nil && r.End != computer.EndStopped {
				t.Errorf("it was believed: %+v", r)
			}
			if ctx.Err() != nil {
				t.Errorf("nobody noticed: %v", err)
			}
			if err != nil && (len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x1b\x00")) {
				t.Errorf("the error is not fit to be shown: %.100q…", err.Error())
			}
		})
	}
}

func TestHostileHelperLiesAboutTheEnd(t *testing.T) {
	t.Parallel()
	c, _ := visit(t, computer.Spec{}, computer.Options{}, func(_ link.Request, conn net.Conn) {
		_ = link.WriteJSON(conn, link.KindAnswer, link.Answer{})
		_ = link.WriteJSON(conn, link.KindExit, link.Exit{
			Code: 1 << 40, Signal: "\x1b]0;title\x07" + strings.Repeat("A", 1000), End: "\x1b[31mtrust me", Met: "everything", Duration: -1 << 62,
		})
	})
	r, err := c.Run(t.Context(), computer.Command{ID: "x", Args: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Exit > 255 || r.Exit < -1 || r.Duration < 0 || len(r.Signal) > 100 || strings.ContainsAny(r.Signal+r.End+r.Met, "\x1b\x07") {
		t.Errorf("it was believed: %+v", r)
	}
}

func TestHostileHelperExcusesItself(t *testing.T) {
	t.Parallel()
	c, _ := visit(t, computer.Spec{}, computer.Options{}, func(_ link.Request, conn net.Conn) {
		_ = link.WriteJSON(conn, link.KindAnswer, link.Answer{Error: "\x1b[2J" + strings.Repeat("because ", 20<<10)})
	})
	_, err := c.Run(t.Context(), computer.Command{ID: "x", Args: []string{"true"}})
	if err == nil || len(err.Error()) > 4000 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("the error is not fit to be shown: %.100v…", err)
	}
}

func TestHostileHelperListsCommands(t *testing.T) {
	t.Parallel()
	known := []link.Known{
		{ID: "../../etc/passwd"}, {ID: "/etc/passwd"}, {ID: ""}, {ID: "."}, {ID: ".."}, {ID: "a\x00b"}, {ID: strings.Repeat("x", 1000)}, {ID: "fine"},
		{ID: "fine"}, {ID: "ended", Exit: &link.Exit{Code: -1 << 60, Signal: "\x1b[31m"}},
	}
	var many atomic.Bool
	c, p := visit(t, computer.Spec{}, computer.Options{}, func(_ link.Request, conn net.Conn) {
		list := known
		for many.Load() && len(list) < 2000 {
			list = append(list, link.Known{ID: "c"})
		}
		_ = link.WriteJSON(conn, link.KindAnswer, link.Answer{Known: list})
	})
	got, err := c.Processes(t.Context())
	if err != nil || len(got) != 2 {
		t.Errorf("the list of commands: got %+v %v, want two", got, err)
	}
	for _, g := range got {
		if !computer.ValidID(g.ID) || strings.Contains(g.Signal, "\x1b") {
			t.Errorf("it was believed: %+v", g)
		}
	}
	many.Store(true)
	if got, err := c.Processes(t.Context()); err == nil {
		t.Errorf("%d commands were believed", len(got))
	}
	entries, err := os.ReadDir(filepath.Join(p.Dir, "log"))
	if err != nil || len(entries) != 0 {
		t.Errorf("listing left files: %v %v", entries, err)
	}
}

// A helper that does not answer one must not hold up those who ask something else for
// longer than they said.
func TestHostileHelperIsSilent(t *testing.T) {
	t.Parallel()
	c, _ := visit(t, computer.Spec{}, computer.Options{}, func(_ link.Request, conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	for name, ask := range map[string]func(context.Context) error{
		"Processes": func(ctx context.Context) error { _, err := c.Processes(ctx); return err },
		"Kill":      func(ctx context.Context) error { return c.Kill(ctx, "x") },
		"Forget":    func(ctx context.Context) error { return c.Forget(ctx, "x") },
		"Write":     func(ctx context.Context) error { return c.Write(ctx, "x", make([]byte, 8<<20), false) },
		"Wait":      func(ctx context.Context) error { _, err := c.Wait(ctx, "x"); return err },
	} {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := ask(ctx); err == nil {
			t.Errorf("%s: no error from a helper that says nothing", name)
		}
		cancel()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// A helper that sends for ever is cut off, whatever it is asked to do.
func TestHostileHelperFloods(t *testing.T) {
	t.Parallel()
	piece := []byte(strings.Repeat(strings.Repeat("y", 63)+"\n", 1<<10))
	var sent atomic.Int64
	c, p := visit(t, computer.Spec{Limits: computer.Limits{Disk: 1 << 20}}, computer.Options{}, func(q link.Request, conn net.Conn) {
		_ = link.WriteJSON(conn, link.KindAnswer, link.Answer{})
		// Acknowledgements must be read, or they would stop us.
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		for at := int64(0); q.Op == link.OpRun && at < 128<<20; at += int64(len(piece)) {
			if link.WriteData(conn, link.KindStdout, at, piece) != nil {
				return
			}
			sent.Store(at)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, _ = c.Run(ctx, computer.Command{ID: "x", Args: []string{"yes"}})
	var stored int64
	_ = filepath.WalkDir(p.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil {
				stored += info.Size()
			}
		}
		return nil
	})
	// Some more than the limit may be under way when it is cut off.
	if stored > 32<<20 {
		t.Errorf("with a limit of 1 MiB, %d MiB are stored, of %d sent", stored>>20, sent.Load()>>20)
	}
}

// Each connection that the helper lends to a program costs Lyceum one. A helper that lends
// without end has those served that are its share, and waits with the rest.
func TestHostileHelperWantsTheNetwork(t *testing.T) {
	t.Parallel()
	const share = 128
	served := make(chan struct{}, 4*share)
	turn := make(chan struct{})
	serve := func(ctx context.Context, c io.ReadWriteCloser) {
		served <- struct{}{}
		select {
		case <-turn:
		case <-ctx.Done():
		}
	}
	var asked atomic.Int64
	_, _ = visit(t, computer.Spec{Network: computer.Network{Allow: []string{"example.org"}}}, computer.Options{Serve: serve}, func(q link.Request, conn net.Conn) {
		// It stops by itself before it uses up what this process may have.
		if q.Op == link.OpTunnel && asked.Add(1) > 3*share {
			return
		}
		_ = link.WriteJSON(conn, link.KindAnswer, link.Answer{})
		_, _ = io.Copy(io.Discard, conn)
	})
	await := func(what string, n int) {
		t.Helper()
		for i := range n {
			select {
			case <-served:
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: %d connections are served, want %d", what, i, n)
			}
		}
	}
	await("at once", share)
	select {
	case <-served:
		t.Fatalf("more than %d connections are served at a time", share)
	case <-time.After(300 * time.Millisecond):
	}
	// One that ends makes room for one other.
	turn <- struct{}{}
	await("after one has ended", 1)
	select {
	case <-served:
		t.Fatalf("after one connection has ended, more than %d are served at a time", share)
	case <-time.After(300 * time.Millisecond):
	}
}

// TestHostileHelperLiesAboutInput has a helper say that it took what it did not.
func TestHostileHelperLiesAboutInput(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]link.Answer{
		"Less": {Taken: 3}, "Nothing": {}, "Negative": {Taken: -1 << 63}, "AGap": {Gap: true, Taken: 1 << 62},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := visitWith(t, computer.Spec{}, computer.Options{}, &impostor{report: link.Answer{Version: link.Version}, answer: func(q link.Request, conn net.Conn) {
				_ = link.WriteJSON(conn, link.KindAnswer, a)
				_, _ = io.Copy(io.Discard, conn)
			}})
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if taken, err := c.WriteAt(ctx, "x", 0, []byte("hello"), false); err == nil || taken < 0 || ctx.Err() != nil {
				t.Errorf("input that the helper answers with %+v: got %d, %v, want an error", a, taken, err)
			}
		})
	}
}

// TestHostileHelperLiesAboutPorts has a helper name ports that are none.
func TestHostileHelperLiesAboutPorts(t *testing.T) {
	t.Parallel()
	for name, ports := range map[string][]link.Port{
		"None": nil, "Another": {{Name: "gateway", Address: "127.0.0.1:3129"}}, "OutThere": {{Name: "mcp", Address: "192.0.2.1:80"}},
		"AName": {{Name: "mcp", Address: "example.org:80"}}, "NoNumber": {{Name: "mcp", Address: "127.0.0.1:0"}}, "Nonsense": {{Name: "mcp", Address: "\x1b[2J"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := computer.Place{Home: t.TempDir(), Dir: t.TempDir()}
			d := &impostor{report: link.Answer{Version: link.Version, Ports: ports}, answer: func(link.Request, net.Conn) {}}
			defer d.Kill(t.Context(), "")
			o := computer.Options{Ports: map[string]computer.Port{"mcp": {Handler: http.NotFoundHandler()}}}
			if c, err := computer.Open(t.Context(), d, p, computer.Spec{Ports: []string{"mcp"}}, o); !errors.Is(err, computer.ErrEarlier) {
				t.Errorf("a helper with the ports %q: got %v, %v, want ErrEarlier", ports, c, err)
			}
		})
	}
}

// TestTheFingerprintOfBefore is that of a computer which a Lyceum without ports booted:
// it must be found again.
func TestTheFingerprintOfBefore(t *testing.T) {
	t.Parallel()
	f := computer.Fingerprint{
		Driver: "bubblewrap", Base: "b", Kernel: "Linux 6", Arch: "amd64", Limits: computer.DefaultLimits, Network: computer.Network{Allow: []string{"example.org"}},
	}
	const want = "d2758dcda57d098f1b0d9ccf1fc23841dadcbcedf844d66fd432a695eee8118f"
	if got := fmt.Sprintf("%x", f.Hash()); got != want {
		t.Errorf("the fingerprint is %s, want %s: no computer that is up would be found", got, want)
	}
}

// TestAnEarlierHelperTakesNoOffsets finds a helper that would write everything twice.
func TestAnEarlierHelperTakesNoOffsets(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	c, _ := visit(t, computer.Spec{}, computer.Options{}, func(q link.Request, conn net.Conn) {
		asked <- q.Op
		_ = link.WriteJSON(conn, link.KindAnswer, link.Answer{})
	})
	if _, err := c.WriteAt(t.Context(), "x", 0, []byte("hello"), false); !errors.Is(err, computer.ErrEarlier) {
		t.Errorf("input at an offset for an earlier helper: got %v, want ErrEarlier", err)
	}
	if err := c.Write(t.Context(), "x", []byte("hello"), false); err != nil {
		t.Errorf("input for an earlier helper: %v", err)
	}
	if op := <-asked; op != link.OpInput {
		t.Errorf("an earlier helper was asked to %q, want only what it knows", op)
	}
}
