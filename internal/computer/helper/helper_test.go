package helper

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer/link"
)

// What ends processes is tried in real computers only (see computertest): here it
// would end those of whoever runs the tests.

func TestMainRefusesToBeStartedByHand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"{}"}, {"{}", "x"}} {
		if err := run(args); err == nil {
			t.Errorf("with %q it runs", args)
		}
	}
}

func TestSpoolHoldsWhatIsNotSafeYet(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var s spool
	var all []byte
	safe := int64(0)
	for range 2000 {
		switch rng.IntN(3) {
		case 0:
			piece := make([]byte, min(rng.IntN(40<<10), s.room()))
			for i := range piece {
				piece[i] = byte(rng.IntN(256))
			}
			s.add(piece)
			all = append(all, piece...)
		case 1:
			// Also what was acknowledged before, and what was never sent.
			offset := safe - 10 + rng.Int64N(int64(len(all))-safe+30)
			s.ack(offset)
			if offset > safe && offset <= int64(len(all)) {
				safe = offset
			}
		default:
			at := safe + rng.Int64N(int64(len(all))-safe+1)
			want := all[at:][:min(int64(len(all))-at, link.MaxData)]
			if got := s.from(at, nil); !bytes.Equal(got, want) {
				t.Fatalf("from %d there are %d bytes, want %d, or others", at, len(got), len(want))
			}
		}
		if s.base != safe || s.end() != int64(len(all)) || s.room() != link.Window-len(all)+int(safe) {
			t.Fatalf("it holds %d to %d with room for %d; safe are %d of %d", s.base, s.end(), s.room(), safe, len(all))
		}
	}
	if got := s.from(safe-1, nil); got != nil {
		t.Error("what was safe can be had again")
	}
}

func TestEnvironmentHasEachNameOnce(t *testing.T) {
	t.Parallel()
	got := environment([]string{"A=1", "PATH=/bin", "B=2"}, []string{"PATH=/own", "C==", "A=", "C=4"})
	if want := []string{"A=", "PATH=/own", "B=2", "C=4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgramsAreFoundInTheCommandsOwnPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a/prog", "b/prog", "b/other"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), nil, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a/other"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=/nowhere", "PATH=" + dir + "/a:" + dir + "/b"}
	for name, want := range map[string]string{"prog": dir + "/a/prog", "other": dir + "/b/other", "./x": dir + "/x", "/bin/x": "/bin/x", "missing": "", "..": ""} {
		if got, err := lookPath(name, dir, env); got != want || (err != nil) != (want == "") {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	// A folder of the PATH that is relative would be the command's to choose.
	if got, err := lookPath("prog", dir, []string{"PATH=:a:."}); err == nil {
		t.Errorf("found %q", got)
	}
}

func TestAListOfManyLongCommandsFitsIntoAFrame(t *testing.T) {
	t.Parallel()
	h := &helper{}
	for range link.MaxKnown {
		args := []string{strings.Repeat("<\x01", 10_000), strings.Repeat("é", 10_000)}
		for range 1000 {
			args = append(args, "", "\x02&")
		}
		h.commands = append(h.commands, &command{id: strings.Repeat("i", 64), spec: link.Command{Args: args}, exit: &link.Exit{Signal: "SIGKILL", End: "wall time", Met: "processes", Out: 1 << 60}})
	}
	if err := link.WriteJSON(io.Discard, link.KindAnswer, link.Answer{Known: h.list()}); err != nil {
		t.Error(err)
	}
	c := &command{spec: link.Command{Args: []string{"echo", "", "hello"}}}
	if got := c.known().Args; !slices.Equal(got, c.spec.Args) {
		t.Errorf("a short one is told as %q", got)
	}
	c.spec.Args = append([]string{"x"}, make([]string, 500)...)
	if n := len(c.known().Args); n < 10 || n > 500 {
		t.Errorf("of many empty ones %d are told", n)
	}
}

// turns count the connections of all tests.
var turns atomic.Uint64

// talk is a connection to a helper, over which nothing is started.
func talk(t *testing.T, h *helper, q link.Request) (net.Conn, *link.Reader) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close() })
	turn := turns.Add(1)
	go func() {
		defer theirs.Close()
		h.handle(theirs, turn)
	}()
	if err := link.WriteJSON(ours, link.KindRequest, q); err != nil {
		t.Fatal(err)
	}
	return ours, &link.Reader{R: ours}
}

func newHelper() *helper {
	return &helper{changed: make(chan struct{})}
}

func TestWhatCannotBeIsAnswered(t *testing.T) {
	t.Parallel()
	for op, unknown := range map[string]bool{
		link.OpAttach: true, link.OpInput: true, link.OpFeed: true, link.OpKill: true, link.OpForget: true, "nonsense": false, link.OpRun: false, link.OpTunnel: false,
	} {
		_, r := talk(t, newHelper(), link.Request{Op: op, ID: "missing", Size: 1})
		var a link.Answer
		if err := r.JSON(link.KindAnswer, &a); err != nil || a.Error == "" || a.Unknown != unknown {
			t.Errorf("an operation on what is not there, %s: %+v (%v)", op, a, err)
		}
	}
}

// A Lyceum that was killed may have asked for a command that nobody has read yet. The next one
// hears that there is none, and tells so: it must not begin afterwards.
func TestWhatADeadLyceumAskedForDoesNotBegin(t *testing.T) {
	t.Parallel()
	h := newHelper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	turn := turns.Add(1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer theirs.Close()
		h.handle(theirs, turn)
	}()
	var a link.Answer
	_, held := talk(t, h, link.Request{Op: link.OpHold, New: true})
	if err := held.JSON(link.KindAnswer, &a); err != nil || a.Error != "" {
		t.Fatalf("the next Lyceum cannot hold the computer: %+v (%v)", a, err)
	}
	// Nothing that could run: a helper that is not alone in its computer must not start anything.
	run := link.Request{Op: link.OpRun, ID: "late", Command: &link.Command{Args: []string{"/nowhere"}, Dir: "/"}}
	if err := link.WriteJSON(ours, link.KindRequest, run); err != nil {
		t.Fatal(err)
	}
	a = link.Answer{}
	if err := (&link.Reader{R: ours}).JSON(link.KindAnswer, &a); err != nil || !strings.Contains(a.Error, "another Lyceum") {
		t.Errorf("a command that a dead Lyceum had asked for: %+v (%v), want it refused", a, err)
	}
	ours.Close()
	<-done
	if len(h.commands) > 0 {
		t.Errorf("it has begun: %+v", h.commands[0].spec)
	}
}

// kept is a command whose outputs are pipes of ours.
func kept(t *testing.T, h *helper) (c *command, out, errs *os.File) {
	t.Helper()
	c = &command{id: "kept", spec: link.Command{Args: []string{"x"}, Keep: true}, changed: make(chan struct{}), started: now()}
	var ends [2]*os.File
	for i := range ends {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		ends[i] = w
		go c.pump(i, r)
	}
	h.commands = append(h.commands, c)
	return c, ends[0], ends[1]
}

func TestAnAttachedCommandGoesOnWhereTheLastOwnerWas(t *testing.T) {
	t.Parallel()
	h := newHelper()
	c, out, errs := kept(t, h)
	var want [2][]byte
	// It writes far more than a window, and ends.
	go func() {
		defer errs.Close()
		defer out.Close()
		for i := range 3000 {
			_, _ = out.Write(bytes.Repeat([]byte{byte(i)}, 300))
			_, _ = errs.Write(bytes.Repeat([]byte{byte(i)}, 7))
		}
	}()
	for i := range 3000 {
		want[0] = append(want[0], bytes.Repeat([]byte{byte(i)}, 300)...)
		want[1] = append(want[1], bytes.Repeat([]byte{byte(i)}, 7)...)
	}
	go func() {
		c.drain(time.Minute)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.exit = &link.Exit{Code: 3, Out: c.streams[0].end(), Err: c.streams[1].end()}
		c.stir()
	}()
	rng := rand.New(rand.NewPCG(3, 4))
	var got [2][]byte
	var exit *link.Exit
	for owner := 0; exit == nil; owner++ {
		// What is safe is less than what was sent; each owner leaves at some point.
		conn, r := talk(t, h, link.Request{Op: link.OpAttach, ID: "kept", Out: int64(len(got[0])), Err: int64(len(got[1]))})
		var a link.Answer
		if err := r.JSON(link.KindAnswer, &a); err != nil || !a.Attached || len(a.Known) != 1 || !a.Known[0].Keep {
			t.Fatalf("the answer to who attaches: got %+v, %v, want the command that was kept", a, err)
		}
		unsafe := got
		for frames := rng.IntN(20); frames > 0 || owner > 50; frames-- {
			kind, b, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if kind == link.KindExit {
				exit = new(link.Exit)
				if err := json.Unmarshal(b, exit); err != nil {
					t.Fatal(err)
				}
				got = unsafe
				break
			}
			at, data, err := link.Data(b)
			if err != nil || at != int64(len(unsafe[kind-1])) {
				t.Fatalf("owner %d is sent %d instead of %d (%v)", owner, at, len(unsafe[kind-1]), err)
			}
			unsafe[kind-1] = append(slices.Clip(unsafe[kind-1]), data...)
			// With too much that is not safe the command would wait for ever.
			if rng.IntN(2) == 0 || owner > 50 || len(unsafe[kind-1])-len(got[kind-1]) > link.Window/4 {
				got[kind-1] = unsafe[kind-1]
				if err := link.WriteAck(conn, kind, int64(len(got[kind-1]))); err != nil {
					t.Fatal(err)
				}
			}
		}
		conn.Close()
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("stream %d has %d bytes, want %d, or others", i+1, len(got[i]), len(want[i]))
		}
	}
	if exit.Code != 3 || exit.Out != int64(len(want[0])) || exit.Err != int64(len(want[1])) {
		t.Errorf("it ended with %+v", exit)
	}
}

func TestACommandThatNobodyReadsWaits(t *testing.T) {
	t.Parallel()
	c, out, _ := kept(t, newHelper())
	// The window and the pipe fill up, and no more.
	_ = out.SetWriteDeadline(now().Add(200 * time.Millisecond))
	n, err := out.Write(make([]byte, 10<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) || n > 2*link.Window {
		t.Errorf("it wrote %d bytes (%v)", n, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.streams[0].data) != link.Window {
		t.Errorf("%d bytes are held", len(c.streams[0].data))
	}
}

func TestAStreamThatNeverEndsDoesNotHoldUpTheOther(t *testing.T) {
	t.Parallel()
	h := newHelper()
	_, out, errs := kept(t, h)
	go func() {
		for {
			if _, err := out.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}()
	if _, err := errs.Write([]byte("here")); err != nil {
		t.Fatal(err)
	}
	conn, r := talk(t, h, link.Request{Op: link.OpAttach, ID: "kept"})
	if err := r.JSON(link.KindAnswer, new(link.Answer)); err != nil {
		t.Fatal(err)
	}
	var size int64
	for range 100 {
		kind, b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if kind == link.KindStderr {
			return
		}
		size += int64(len(b)) - 8
		if err := link.WriteAck(conn, kind, size); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("after %d bytes of the one stream nothing has come of the other", size)
}

func TestForgetKeepsWhatRuns(t *testing.T) {
	t.Parallel()
	h := newHelper()
	c, _, _ := kept(t, h)
	if err := h.forget("kept"); err == nil || errors.Is(err, errUnknown) {
		t.Errorf("a running command is forgotten (%v)", err)
	}
	c.mu.Lock()
	c.exit = &link.Exit{}
	c.mu.Unlock()
	if err := h.forget("kept"); err != nil || len(h.commands) != 0 {
		t.Errorf("one that has ended is not (%v)", err)
	}
}

func TestKeptCommandsKeepTheComputerUp(t *testing.T) {
	t.Parallel()
	h := newHelper()
	if h.keeps() {
		t.Error("nothing keeps it up")
	}
	c, _, _ := kept(t, h)
	c.mu.Lock()
	c.gone, c.exit = true, &link.Exit{}
	c.mu.Unlock()
	if !h.keeps() || len(h.running()) != 0 {
		t.Error("a kept command that has ended and was not asked for does not count")
	}
	c.spec.Keep = false
	if h.keeps() {
		t.Error("one that was not to be kept counts")
	}
}

func TestUsageCountsWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	used := func() int64 {
		n, err := usage(dir, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := used()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub/file"), bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	// A link to elsewhere is not followed.
	if err := os.Symlink("/usr", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if n := used() - before; n < 1<<20 || n > 2<<20 {
		t.Errorf("a megabyte takes %d bytes", n)
	}
	// A hole is counted as the copy of it that a snapshot makes.
	if err := os.Truncate(filepath.Join(dir, "sub/file"), 100<<20); err != nil {
		t.Fatal(err)
	}
	if n := used() - before; n < 100<<20 || n > 101<<20 {
		t.Errorf("a hole of 99 megabytes after one takes %d bytes", n)
	}
	h := newHelper()
	h.config.Home, h.config.Disk = dir, 1<<20
	if !h.ranFull() {
		t.Error("a home that is over its limit is not full")
	}
	if h.config.Disk = 1 << 30; h.ranFull() {
		t.Error("a home that is below its limit is full")
	}
}

func TestProcessesAreCountedWithTheirThreads(t *testing.T) {
	t.Parallel()
	st, ok := statusOf("/proc/self", make([]byte, 8<<10))
	if !ok || st.ended || st.memory < 400<<10 || st.threads < 2 {
		t.Errorf("this process: got %+v, %v", st, ok)
	}
	if n := threads("/proc/0"); n != 0 {
		t.Errorf("no process has %d threads", n)
	}
	h := newHelper()
	if h.fills(1 << 40) {
		t.Error("without a limit it is full")
	}
	h.config.Processes = 100
	if h.fills(10) || !h.fills(99) {
		t.Error("10 tasks of 100 are many, or 99 few")
	}
}

func TestSignalsHaveNames(t *testing.T) {
	t.Parallel()
	for s, want := range map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGXFSZ: "SIGXFSZ", 63: "signal 63"} {
		if got := signalName(s); got != want {
			t.Errorf("signal %d is %q", s, got)
		}
	}
}
