package computertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
)

func (l *lab) longCommands(t *testing.T) {
	t.Parallel()
	t.Run("IsReadByLine", l.isReadByLine)
	t.Run("TakesInput", l.takesInput)
	t.Run("IsWaitedForWithALimit", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		cmd := shell("echo up; read line; exit 6")
		cmd.Input = true
		id := m.start(cmd)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if r, err := m.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, %v", r, err)
		}
		if err := m.Write(soon(t), id, []byte("on\n"), false); err != nil {
			t.Fatalf("after a wait that was given up: %v", err)
		}
		if r := m.wait(id); r.Exit != 6 || r.End != "" {
			t.Errorf("a long command: got %s, want exit 6", told(r))
		}
	})
	t.Run("IsListed", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		long := shell("echo one; echo two; sleep 1000")
		long.ID, long.Keep = "long", true
		m.start(long)
		m.seen("long", "two")
		m.run(computer.Command{ID: "short", Args: []string{"sh", "-c", "exit 3"}})
		kept := computer.Command{ID: "over", Args: []string{"echo", "over"}, Keep: true}
		m.run(kept)
		for _, when := range []string{"at first", "after opening again"} {
			p, err := m.Processes(soon(t))
			if err != nil || len(p) != 3 {
				t.Fatalf("the list of commands, %s: %v, %v, want three", when, p, err)
			}
			if p[0].ID != "long" || !p[0].Running || p[0].Args[0] != "sh" || time.Since(p[0].Started) > time.Hour || p[1].ID != "short" || p[1].Running || p[1].Exit != 3 || p[2].ID != "over" || p[2].Lines != 1 {
				t.Errorf("the list of commands is wrong, %s: %+v", when, p)
			}
			m = l.reopen(m)
		}
	})
	t.Run("SurvivesCloseAndOpen", l.survivesClose)
	t.Run("PrintsWhileNobodyIsThere", l.printsAlone)
	t.Run("IsKnownUntilItIsForgotten", l.knownUntilForgotten)
}

func (l *lab) isReadByLine(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	cmd := shell(`for i in 1 2 3 4 5; do echo out$i; done; echo >&2; printf 'no end'; printf 'nor here' >&2; read line; printf ' yet\nlast'`)
	cmd.Input = true
	id := m.start(cmd)
	var got *computer.Lines
	eventually(t, "what is not a line yet", func() (there bool) {
		var err error
		if got, err = m.Read(soon(t), id, 1, 100); err != nil {
			t.Fatal(err)
		}
		return string(got.Partial[computer.Stdout]) == "no end" && string(got.Partial[computer.Stderr]) == "nor here"
	})
	if len(got.Lines) != 6 || got.Next != 7 || !got.Process.Running || got.Process.Lines != 6 {
		t.Errorf("while it runs: %+v", got)
	}
	if err := m.Write(soon(t), id, []byte("go\n"), true); err != nil {
		t.Fatal(err)
	}
	m.wait(id)
	read := func(from int64, limit int) string {
		t.Helper()
		got, err := m.Read(soon(t), id, from, limit)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, l := range got.Lines {
			out = append(out, fmt.Sprintf("%d%s", l.Seq, l.Text))
		}
		return fmt.Sprintf("%s next %d of %d", strings.Join(out, " "), got.Next, got.Process.Lines)
	}
	all, err := m.Read(soon(t), id, 0, 100)
	if err != nil || len(all.Lines) != 9 || all.Process.Running || len(all.Partial) != 0 {
		t.Fatalf("at the end: %+v, %v", all, err)
	}
	for i, l := range all.Lines {
		if l.Seq != int64(i+1) {
			t.Errorf("line %d has number %d", i+1, l.Seq)
		}
	}
	// The streams are numbered together; which of two was first is theirs to know.
	var seqs [3]string
	for _, l := range all.Lines {
		seqs[l.Stream] += string(l.Text) + "|"
	}
	if seqs[computer.Stdout] != "out1|out2|out3|out4|out5|no end yet|last|" || seqs[computer.Stderr] != "|nor here|" {
		t.Errorf("lines are %q", seqs)
	}
	for _, c := range []struct {
		from  int64
		limit int
		want  string
	}{
		{10, 5, " next 10 of 9"}, {100, 5, " next 100 of 9"}, {3, 0, " next 3 of 9"},
	} {
		if got := read(c.from, c.limit); got != c.want {
			t.Errorf("read %d, %d: %q, want %q", c.from, c.limit, got, c.want)
		}
	}
	if got, want := read(-2, 10), read(8, 10); got != want || got == "" {
		t.Errorf("the last two are %q from the end and %q from the beginning", got, want)
	}
	if got, want := read(-100, 2), read(1, 2); got != want {
		t.Errorf("beginning before the beginning gives %q, not %q", got, want)
	}
	if _, err := m.Read(soon(t), "unknown", 1, 1); !errors.Is(err, computer.ErrUnknown) {
		t.Errorf("reading an unknown command: %v", err)
	}
}

func (l *lab) takesInput(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	id := m.start(computer.Command{Args: []string{"cat"}, Stdin: []byte("first\n"), Input: true})
	for i := range 3 {
		line := fmt.Sprintf("line %d", i)
		if err := m.Write(soon(t), id, []byte(line+"\n"), false); err != nil {
			t.Fatal(err)
		}
		m.seen(id, line)
	}
	m = l.reopenKeeping(m, id)
	id = m.start(computer.Command{Args: []string{"cat"}, Input: true, Keep: true})
	m = l.reopen(m)
	if err := m.Write(soon(t), id, []byte("to the next Lyceum"), true); err != nil {
		t.Fatal(err)
	}
	if r := m.wait(id); r.Exit != 0 || string(r.Stdout.Head) != "to the next Lyceum" {
		t.Errorf("input from the next Lyceum: got %s, want it read", told(r))
	}
	if err := m.Write(soon(t), id, []byte("x"), true); err == nil {
		t.Error("a command that has ended takes input")
	}
	without := m.start(shell("sleep 1000"))
	refused(t, "input of a command without", m.Write(soon(t), without, []byte("x"), false), "input")
	if err := m.Write(soon(t), "unknown", []byte("x"), false); !errors.Is(err, computer.ErrUnknown) {
		t.Errorf("input of an unknown command: %v", err)
	}
	if err := m.Kill(soon(t), "unknown"); !errors.Is(err, computer.ErrUnknown) {
		t.Errorf("killing an unknown command: %v", err)
	}
	// It does not wait for ever for one that does not read.
	deaf := m.start(computer.Command{Args: []string{"sleep", "1000"}, Input: true})
	refused(t, "input that is not read", m.Write(soon(t), deaf, make([]byte, 1<<20), false), "does not read")
}

// reopenKeeping opens the computer again; the command, which is not one to be kept,
// must be over then.
func (l *lab) reopenKeeping(m *machine, id string) *machine {
	m.t.Helper()
	m = l.reopen(m)
	if r := m.wait(id); r.End != computer.EndAbandoned || string(r.Stdout.Head) != "first\nline 0\nline 1\nline 2\n" {
		m.t.Errorf("a command that was abandoned: got %s, want its first lines and how it ended", told(r))
	}
	return m
}

func (l *lab) survivesClose(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	cmd := shell("echo $$; read line; echo $$ $line")
	cmd.Input, cmd.Keep = true, true
	id := m.start(cmd)
	eventually(t, "its first line", func() bool {
		got, err := m.Read(soon(t), id, 1, 1)
		return err == nil && len(got.Lines) == 1
	})
	for range 3 {
		m = l.reopen(m)
	}
	if err := m.Write(soon(t), id, []byte("on\n"), false); err != nil {
		t.Fatal(err)
	}
	r := m.wait(id)
	lines := strings.Split(string(r.Stdout.Head), "\n")
	if len(lines) != 3 || lines[1] != lines[0]+" on" {
		t.Errorf("the same process over three Lyceums: got %s, want what it was sent", told(r))
	}
}

// numbers is how many numbered lines the suite lets commands print where none may
// get lost.
const numbers = 200_000

// printsAlone lets a command print far more than is held for it while nobody is
// there to take it: it waits, and nothing is lost.
func (l *lab) printsAlone(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	cmd := shell(fmt.Sprintf("seq 1 %d; touch done; seq 1 10 >&2", numbers))
	cmd.Keep = true
	id := m.start(cmd)
	for range 5 {
		m = l.reopen(m)
		if _, err := m.Read(soon(t), id, 1, 1); err != nil {
			t.Fatal(err)
		}
	}
	r := m.wait(id)
	if n, rest := numbered(t, r.Stdout); n != numbers || rest != "" || r.Exit != 0 {
		t.Errorf("%d whole lines and %q: %s", n, rest, told(r))
	}
	if n, _ := numbered(t, r.Stderr); n != 10 {
		t.Errorf("%d lines on stderr", n)
	}
	// Line numbers have neither gaps nor repeats.
	var next, count int64 = 1, 0
	for {
		got, err := m.Read(soon(t), id, next, 50_000)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Lines) == 0 {
			break
		}
		for _, line := range got.Lines {
			if count++; line.Seq != count {
				t.Fatalf("line %d has number %d", count, line.Seq)
			}
		}
		next = got.Next
	}
	if count != numbers+10 {
		t.Errorf("there are %d lines", count)
	}
	// With nobody there at all, it waits.
	cmd = shell("seq 1 1000000; touch far")
	cmd.Keep = true
	id = m.start(cmd)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	// This takes a hundredth of that where somebody reads.
	moment := time.Now().Add(300 * time.Millisecond)
	eventually(t, "a moment", func() bool { return time.Now().After(moment) })
	if _, err := os.Stat(filepath.Join(m.place.Home, "far")); err == nil {
		t.Error("it went on without anybody to take what it printed")
	}
	m = l.reopen(m)
	if r := m.wait(id); r.Stdout.Size != 6_888_896 {
		t.Errorf("the output: got %s, want 6888896 bytes", told(r))
	}
}

// numbered checks that an output is the numbers from 1, each on its line, and returns
// how many there are and what comes after the last whole line.
func numbered(t *testing.T, o computer.Output) (n int64, rest string) {
	t.Helper()
	f, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return n, line
		}
		if err != nil {
			t.Fatal(err)
		}
		if n++; line != strconv.FormatInt(n, 10)+"\n" {
			t.Fatalf("line %d is %q", n, line)
		}
	}
}

func (l *lab) knownUntilForgotten(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	for _, keep := range []bool{false, true} {
		cmd := shell("seq 1 30000; exit 3")
		cmd.ID, cmd.Keep = fmt.Sprint("keep-", keep), keep
		m.run(cmd)
		silent := shell("exit 4")
		silent.ID, silent.Keep = fmt.Sprint("silent-", keep), keep
		m.run(silent)
	}
	m = l.reopen(m)
	for _, keep := range []string{"false", "true"} {
		r := m.wait("keep-" + keep)
		if n, _ := numbered(t, r.Stdout); n != 30_000 || r.Exit != 3 {
			t.Errorf("after a long silence: got %s, want 30000 lines and exit 3", told(r))
		}
		if r := m.wait("silent-" + keep); r.Exit != 4 {
			t.Errorf("a silent command: got %s, want exit 4", told(r))
		}
	}
	// The one with a log is known even when the computer is another one.
	if err := m.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	m = l.at(t, m.place, l.opts.Spec, computer.Options{})
	for id, exit := range map[string]int{"keep-true": 3, "silent-true": 4} {
		if r := m.wait(id); r.Exit != exit || r.End != "" {
			t.Errorf("%s after a stop: %s", id, told(r))
		}
		if err := m.Forget(soon(t), id); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Wait(soon(t), id); !errors.Is(err, computer.ErrUnknown) {
			t.Errorf("%s after it was forgotten: %v", id, err)
		}
	}
	running := m.start(shell("sleep 1000"))
	refused(t, "to forget what runs", m.Forget(soon(t), running), "running")
}

// outputCostsNoMemory lets a command write much more than fits.
func (l *lab) outputCostsNoMemory(t *testing.T) {
	m := l.boot(t)
	size := int64(256 << 20)
	if testing.Short() {
		size = 64 << 20
	}
	before := heap()
	most := before
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			most = max(most, heap())
			time.Sleep(50 * time.Millisecond)
		}
	}()
	began := time.Now()
	r := m.run(shell(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", size)))
	took := time.Since(began)
	cancel()
	<-watched
	if r.Stdout.Size != size || r.Exit != 0 {
		t.Fatalf("a large output: got %s, want all of it and exit 0", told(r))
	}
	t.Logf("%d MB in %v: %.0f MB/s; the heap grew by %d MB", size>>20, took, float64(size>>20)/took.Seconds(), (most-before)>>20)
	if most-before > 50<<20 {
		t.Errorf("the heap grew by %d MB", (most-before)>>20)
	}
	f, err := r.Stdout.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := io.Copy(io.Discard, f); n != size || err != nil {
		t.Errorf("%d bytes can be read (%v)", n, err)
	}
	if err := m.Forget(soon(t), r.ID); err != nil {
		t.Error(err)
	}
}

func heap() int64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
