package computer

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/computer/link"
	"lyceum/internal/need"
)

// feed passes pieces to a log as a capture does: what is no whole line waits.
type feed struct {
	log     *logFile
	pending [2][]byte
}

func (f *feed) add(t *testing.T, s Stream, piece []byte, last bool) {
	t.Helper()
	p := append(f.pending[s-1], piece...)
	n, err := f.log.add(s, p, last)
	if err != nil {
		t.Fatal(err)
	}
	f.pending[s-1] = p[n:]
	if bytes.IndexByte(f.pending[s-1], '\n') >= 0 || len(f.pending[s-1]) >= MaxLine {
		t.Fatalf("%d bytes wait that could have been written", len(f.pending[s-1]))
	}
}

func newLog(t *testing.T) (*logFile, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	l, err := createLog(path, logHead{ID: "id", Args: []string{"echo", "<x>"}, Started: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.f.Close() })
	return l, path
}

func reopenLog(t *testing.T, path string, write bool) *logFile {
	t.Helper()
	l, err := openLog(path, write, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.f.Close() })
	return l
}

func streamOf(t *testing.T, l *logFile, s Stream) []byte {
	t.Helper()
	f, err := l.open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// allLines reads a log in bites of some size.
func allLines(t *testing.T, l *logFile, bite int) (out []Line) {
	t.Helper()
	for next := int64(1); ; next = out[len(out)-1].Seq + 1 {
		got, err := l.read(next, bite)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			return out
		}
		out = append(out, got...)
	}
}

// joined is what the lines of a stream say when they are put together again. Whether
// the last one had an end cannot be told by it.
func joined(lines []Line, s Stream) string {
	var b strings.Builder
	for _, l := range lines {
		if l.Stream == s {
			b.Write(l.Text)
			if !l.Cut {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

func TestLogKeepsEveryByteAndLine(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		l, path := newLog(t)
		f := &feed{log: l}
		var want [2][]byte
		longest := []int{3, 100, 5000, 200_000}[seed%4]
		for len(want[0])+len(want[1]) < 1<<20 {
			s := Stream(1 + rng.IntN(2))
			piece := make([]byte, 1+rng.IntN(60<<10))
			for i := range piece {
				if piece[i] = byte(rng.IntN(256)); piece[i] == '\n' || rng.IntN(longest) == 0 {
					piece[i] = "\n."[min(rng.IntN(longest), 1)]
				}
			}
			want[s-1] = append(want[s-1], piece...)
			f.add(t, s, piece, false)
		}
		f.add(t, Stdout, nil, true)
		f.add(t, Stderr, nil, true)
		if err := l.finish(&link.Exit{Code: 3, End: EndKilled}); err != nil {
			t.Fatal(err)
		}
		for _, l := range []*logFile{l, reopenLog(t, path, false), reopenLog(t, path, true)} {
			lines := allLines(t, l, 1+rng.IntN(5000))
			if int64(len(lines)) != l.last || l.exit.Code != 3 || l.head.Args[1] != "<x>" {
				t.Errorf("seed %d: %d lines are read of %d, ended with %+v", seed, len(lines), l.last, l.exit)
			}
			for i, line := range lines {
				if line.Seq != int64(i+1) || len(line.Text) > MaxLine || bytes.IndexByte(line.Text, '\n') >= 0 {
					t.Fatalf("seed %d: line %d has number %d and %d bytes", seed, i+1, line.Seq, len(line.Text))
				}
			}
			for i, w := range want {
				s := Stream(i + 1)
				if got := streamOf(t, l, s); !bytes.Equal(got, w) || l.streams[i] != int64(len(w)) {
					t.Errorf("seed %d: %v has %d bytes, want %d, or others", seed, s, len(got), len(w))
				}
				if got := joined(lines, s); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(string(w), "\n") {
					t.Errorf("seed %d: the lines of %v are others", seed, s)
				}
			}
			// From anywhere, it is the same lines.
			for range 50 {
				from, limit := rng.Int64N(l.last+2), rng.IntN(20)
				got, err := l.read(from, limit)
				if err != nil {
					t.Fatal(err)
				}
				rest := lines[max(from-1, 0):]
				if len(got) > limit || len(got) == 0 && limit > 0 && len(rest) > 0 {
					t.Fatalf("seed %d: from %d at most %d: %d lines", seed, from, limit, len(got))
				}
				for i, g := range got {
					if g.Seq != rest[i].Seq || !bytes.Equal(g.Text, rest[i].Text) || g.Stream != rest[i].Stream || g.Cut != rest[i].Cut {
						t.Fatalf("seed %d: line %d differs when read from %d", seed, g.Seq, from)
					}
				}
			}
		}
	}
}

func TestALongLineIsSeveral(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, MaxLine - 1, MaxLine, MaxLine + 1, 2 * MaxLine, 3*MaxLine + 5} {
		l, _ := newLog(t)
		f := &feed{log: l}
		line := strings.Repeat("x", n)
		text := "before\n" + line + "\nafter\n"
		for rest := text; rest != ""; {
			k := min(len(rest), 10_000)
			f.add(t, Stdout, []byte(rest[:k]), false)
			rest = rest[k:]
		}
		lines := allLines(t, l, 2)
		if got := joined(lines, Stdout); got != text {
			t.Errorf("a line of %d bytes is %d lines of %d bytes", n, len(lines), len(got))
		}
		if want := 3 + n/MaxLine; len(lines) != want {
			t.Errorf("a line of %d bytes makes %d lines, want %d", n, len(lines), want)
		}
		if last := lines[len(lines)-1]; last.Cut || string(last.Text) != "after" {
			t.Errorf("after a line of %d bytes comes %+v", n, last)
		}
	}
}

func TestAReadIsBounded(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t)
	f := &feed{log: l}
	for range 100 {
		f.add(t, Stdout, append(bytes.Repeat([]byte("x"), 50<<10), '\n'), false)
	}
	got, err := l.read(1, 1000)
	if err != nil || len(got) != maxRead/(50<<10) {
		t.Errorf("%d lines come at once (%v)", len(got), err)
	}
	if lines := allLines(t, l, 1000); len(lines) != 100 {
		t.Errorf("there are %d lines", len(lines))
	}
}

func TestATornLogGoesOnWhereItIsWhole(t *testing.T) {
	t.Parallel()
	l, path := newLog(t)
	head := l.size
	f := &feed{log: l}
	f.add(t, Stdout, []byte("one\ntwo\nthr"), false)
	f.add(t, Stderr, []byte("err\n"), false)
	f.add(t, Stdout, []byte("ee\n"), false)
	if err := l.finish(&link.Exit{Code: 1}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		cut := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := openLog(cut, true, nil)
		if int64(n) < head {
			if err == nil {
				t.Errorf("a log cut at %d, in its head, is read", n)
			}
			continue
		}
		if err != nil {
			t.Errorf("cut at %d: %v", n, err)
			continue
		}
		out, errs := streamOf(t, l, Stdout), streamOf(t, l, Stderr)
		if !strings.HasPrefix("one\ntwo\nthree\n", string(out)) || !strings.HasPrefix("err\n", string(errs)) || (l.exit != nil) != (n == len(whole)) {
			t.Errorf("cut at %d: %q, %q, %+v", n, out, errs, l.exit)
		}
		// What the helper still has is added, and nothing torn is in between.
		f := &feed{log: l}
		f.add(t, Stdout, []byte("one\ntwo\nthree\n")[len(out):], false)
		f.add(t, Stderr, []byte("err\n")[len(errs):], false)
		l.f.Close()
		l = reopenLog(t, cut, false)
		if out, errs := streamOf(t, l, Stdout), streamOf(t, l, Stderr); string(out) != "one\ntwo\nthree\n" || string(errs) != "err\n" || l.last != 4 {
			t.Errorf("cut at %d and gone on with: %q, %q, %d lines", n, out, errs, l.last)
		}
	}
}

func TestWhatIsNoLogIsRefused(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"nothing": "", "text": "hello, this is no log at all", "an unknown record": "q\x00\x00\x00\x00\x01\x00\x00\x00\x00x",
		"a head that is none": "h\x00\x00\x00\x00\x02\x00\x00\x00\x00{x",
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openLog(path, true, nil); err == nil {
			t.Errorf("%s is read as a log", what)
		}
	}
	if _, err := openLog(filepath.Join(t.TempDir(), "missing"), true, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log that is not there: %v", err)
	}
	_, path := newLog(t)
	if _, err := createLog(path, logHead{ID: "id"}); err == nil {
		t.Error("a log was made where one is")
	}
	if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 1 || err != nil {
		t.Errorf("beside the log there is %v (%v)", left, err)
	}
}

func TestAStreamKeepsItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		var s stream
		var all []byte
		for n := rng.IntN(30); n > 0; n-- {
			piece := make([]byte, rng.IntN(link.MaxData+1))
			for i := range piece {
				piece[i] = byte(rng.IntN(256))
			}
			s.add(piece)
			all = append(all, piece...)
		}
		k := &capture{}
		k.streams[0] = s
		o := k.output(Stdout)
		head := all[:min(len(all), MaxHead)]
		tail := all[len(head):]
		tail = tail[max(len(tail)-MaxTail, 0):]
		if !bytes.Equal(o.Head, head) || !bytes.Equal(o.Tail, tail) || o.Size != int64(len(all)) {
			t.Fatalf("of %d bytes: head %d, tail %d, size %d", len(all), len(o.Head), len(o.Tail), o.Size)
		}
		if cap(s.tail) > 8*MaxTail {
			t.Fatalf("%d bytes are held", cap(s.tail))
		}
	}
}
