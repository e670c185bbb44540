package computertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
)

func (l *lab) streams(t *testing.T) {
	t.Parallel()
	t.Run("IsReadAtAnOffset", l.readAtOffset)
	t.Run("IsReadFromTheMiddle", l.readFromTheMiddle)
	t.Run("GoesOnInTheNextLyceum", l.streamGoesOn)
	t.Run("TakesInputOnce", l.takesInputOnce)
	t.Run("TakesItsStdinOnce", l.takesStdinOnce)
	t.Run("WaitsForItsReader", l.waitsForReader)
}

// at reads what a command wrote at an offset, which must come.
func (m *machine) at(id string, s computer.Stream, offset int64, most int) string {
	m.t.Helper()
	p := make([]byte, most)
	n, err := m.ReadAt(soon(m.t), id, s, offset, p)
	if err != nil {
		m.t.Fatalf("read %s of %s at %d: %v", s, id, offset, err)
	}
	return string(p[:n])
}

// feed writes at an offset, which must be taken up to another.
func (m *machine) feed(id string, offset int64, data string, end bool, want int64) {
	m.t.Helper()
	taken, err := m.WriteAt(soon(m.t), id, offset, []byte(data), end)
	if err != nil || taken != want {
		m.t.Fatalf("write %.40q at %d: got %d, %v, want it taken up to %d", data, offset, taken, err, want)
	}
}

func (l *lab) readAtOffset(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	cmd := shell(`printf 'abc'; printf 'no line\0' >&2; read x; printf 'def'`)
	cmd.Input = true
	id := m.start(cmd)
	if got := m.at(id, computer.Stdout, 0, 100); !strings.HasPrefix("abc", got) || got == "" {
		t.Errorf("what is no line yet: got %q, want some of abc", got)
	}
	eventually(t, "all of it", func() bool { return m.at(id, computer.Stdout, 0, 100) == "abc" })
	eventually(t, "all of the other stream", func() bool { return m.at(id, computer.Stderr, 3, 100) == "line\x00" })
	if got := m.at(id, computer.Stdout, 1, 1); got != "b" {
		t.Errorf("one byte at 1: got %q, want b", got)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if n, err := m.ReadAt(short, id, computer.Stdout, 3, make([]byte, 9)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("what has not been written: got %d, %v, want to wait", n, err)
	}
	waited := make(chan string)
	go func() { waited <- m.at(id, computer.Stdout, 3, 3) }()
	m.feed(id, 0, "\n", false, 1)
	if got := <-waited; !strings.HasPrefix("def", got) || got == "" {
		t.Errorf("what was waited for: got %q, want some of def", got)
	}
	m.wait(id)
	for offset, want := range map[int64]error{6: io.EOF, 7: computer.ErrGap, -1: nil} {
		n, err := m.ReadAt(soon(t), id, computer.Stdout, offset, make([]byte, 9))
		if n != 0 || err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("at %d of 6 bytes: got %d, %v, want %v", offset, n, err, want)
		}
	}
	if _, err := m.ReadAt(soon(t), "unknown", computer.Stdout, 0, make([]byte, 9)); !errors.Is(err, computer.ErrUnknown) {
		t.Errorf("a stream of an unknown command: %v, want ErrUnknown", err)
	}
	if _, err := m.ReadAt(soon(t), id, 3, 0, make([]byte, 9)); err == nil {
		t.Error("a third stream can be read, want it refused")
	}
}

// readFromTheMiddle reads a long output anywhere: of the most there is only the log.
func (l *lab) readFromTheMiddle(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	id := m.start(shell("seq 1 300000; seq 1 300000 >&2; head -c 200000 /dev/zero"))
	res := m.wait(id)
	for s, o := range map[computer.Stream]computer.Output{computer.Stdout: res.Stdout, computer.Stderr: res.Stderr} {
		want := whole(t, o)
		for offset := int64(0); offset < o.Size; offset += 61_007 {
			if got := m.at(id, s, offset, 5000); !bytes.HasPrefix(want[offset:], []byte(got)) {
				t.Fatalf("%s at %d: got %.40q, want %.40q", s, offset, got, want[offset:])
			}
		}
		got, err := io.ReadAll(m.Follow(soon(t), id, s, 1))
		if err != nil || !bytes.Equal(got, want[1:]) {
			t.Errorf("%s, followed from 1: got %d bytes, %v, want %d", s, len(got), err, len(want)-1)
		}
	}
}

func (l *lab) streamGoesOn(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	cmd := shell("printf half; read x; echo whole; sleep 1000")
	cmd.Input, cmd.Keep = true, true
	id := m.start(cmd)
	eventually(t, "half a line", func() bool { return m.at(id, computer.Stdout, 0, 10) == "half" })
	m = l.reopen(m)
	if got := m.at(id, computer.Stdout, 2, 2); got != "lf" {
		t.Errorf("half a line that the last Lyceum had not kept: got %q, want lf", got)
	}
	m.feed(id, 0, "\n", false, 1)
	f := m.Follow(soon(t), id, computer.Stdout, 4)
	if _, err := io.ReadFull(f, make([]byte, 6)); err != nil || f.Offset() != 10 {
		t.Errorf("following: it is at %d, %v, want 10", f.Offset(), err)
	}
	m = l.reopen(m)
	if got := m.at(id, computer.Stdout, 0, 100); got != "halfwhole\n" {
		t.Errorf("in the next Lyceum: got %q, want all of it", got)
	}
}

func (l *lab) takesInputOnce(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	// It does not end with its input: of one that has ended nobody can say what it took.
	cmd := shell("cat; while ! test -e go; do sleep 0.02; done")
	cmd.ID, cmd.Stdin, cmd.Input, cmd.Keep = m.id(), []byte("first\n"), true, true
	id := m.start(cmd)
	for range 2 {
		m.feed(id, 6, "abc", false, 9)
	}
	m.feed(id, 4, "t\nabcdef", false, 12)
	if taken, err := m.WriteAt(soon(t), id, 13, []byte("x"), false); !errors.Is(err, computer.ErrGap) || taken != 12 {
		t.Errorf("input behind a gap: got %d, %v, want ErrGap and 12", taken, err)
	}
	m.feed(id, 0, "", false, 12)
	m = l.reopen(m)
	m.start(cmd)
	m.feed(id, 6, "abcdefghi", false, 15)
	long := strings.Repeat("0123456789", 30_000)
	m.feed(id, 15, long, false, 300_015)
	m.feed(id, 15, long+"end", true, 300_018)
	m.feed(id, 300_015, "end", true, 300_018)
	refusedAt := func(what string, offset int64, data string, end bool) {
		t.Helper()
		if taken, err := m.WriteAt(soon(t), id, offset, []byte(data), end); err == nil || taken != 300_018 {
			t.Errorf("%s: got %d, %v, want it refused at 300018", what, taken, err)
		}
	}
	refusedAt("more after the end", 300_018, "x", false)
	refusedAt("another end", 6, "abc", true)
	if err := os.WriteFile(filepath.Join(m.place.Home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := m.wait(id)
	if got := string(whole(t, r.Stdout)); got != "first\nabcdefghi"+long+"end" {
		t.Errorf("what was taken: got %d bytes, %.30q, want each once", len(got), got)
	}
	without := m.start(shell("sleep 1000"))
	_, err := m.WriteAt(soon(t), without, 0, []byte("x"), false)
	refused(t, "input of a command without", err, "input")
	if _, err := m.WriteAt(soon(t), "unknown", 0, nil, false); !errors.Is(err, computer.ErrUnknown) {
		t.Errorf("input of an unknown command: %v, want ErrUnknown", err)
	}
	// One that does not read is waited for, and not for longer than the caller does.
	deaf := m.start(computer.Command{Args: []string{"sleep", "1000"}, Input: true})
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := m.WriteAt(short, deaf, 0, make([]byte, 1<<20), false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("input that is not read: got %v, want to wait", err)
	}
}

// takesStdinOnce starts a command again that was left with half of what it was to read.
func (l *lab) takesStdinOnce(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	cmd := shell("while ! test -e go; do sleep 0.02; done; wc -c")
	cmd.ID, cmd.Keep, cmd.Stdin = m.id(), true, make([]byte, 1<<20)
	m.start(cmd)
	for range 2 {
		m = l.reopen(m)
		m.start(cmd)
	}
	if err := os.WriteFile(filepath.Join(m.place.Home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := m.wait(cmd.ID); strings.TrimSpace(string(r.Stdout.Head)) != fmt.Sprint(1<<20) {
		t.Errorf("a command that was started three times has read %s, want %d bytes", told(r), 1<<20)
	}
}

func (l *lab) waitsForReader(t *testing.T) {
	t.Parallel()
	m := l.boot(t)
	const ahead = 300 << 10
	cmd := shell("while :; do seq 1 10000; echo x >> rounds; done")
	cmd.ID, cmd.Keep, cmd.Ahead = m.id(), true, ahead
	id := m.start(cmd)
	rounds := func() int64 {
		info, err := os.Stat(filepath.Join(m.place.Home, "rounds"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	// The log stands still once as much is in it as may be: a window beyond, at the most. Before that it stands still
	// where nobody has a processor for the command.
	still := func(least int64) int64 {
		t.Helper()
		var size int64
		same := 0
		eventually(t, fmt.Sprintf("its output to stop, behind %d bytes", least), func() bool {
			info, err := os.Stat(filepath.Join(m.place.Dir, "log", id))
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() != size || size == 0 {
				size, same = info.Size(), 0
			}
			same++
			return same > 20 && size >= least
		})
		return size
	}
	const most = ahead + 256<<10 + 128<<10
	if size := still(ahead); size > most {
		t.Errorf("nobody reads, and the log has %d bytes, want between %d and %d", size, ahead, most)
	}
	m = l.reopen(m)
	before := rounds()
	f := m.Follow(soon(t), id, computer.Stdout, 0)
	if _, err := io.CopyN(io.Discard, f, 2<<20); err != nil {
		t.Fatalf("read on: %v", err)
	}
	if size := still(2<<20 + ahead); size > 2<<20+most+64<<10 || rounds() == before {
		t.Errorf("2 MiB were read, and the log has %d bytes and the command %d rounds, before %d", size, rounds(), before)
	}
	// That nobody reads does not keep it from being killed.
	if err := m.Kill(soon(t), id); err != nil {
		t.Fatal(err)
	}
	if r := m.wait(id); r.End != computer.EndKilled {
		t.Errorf("a command that waits for its reader was killed: %s", told(r))
	}
}
