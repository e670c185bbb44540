package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/need"
)

// oneWriter is set in the environment of a process that appends a few events and
// says so on its standard output after each.
const oneWriter = "LYCEUM_SQLITE_ONE_WRITER"

const tracedAppends = 20

func appendAndTell(dir string) error {
	st, err := open(dir)
	if err != nil {
		return err
	}
	defer st.Close()
	var h ledger.Head
	for i := range tracedAppends {
		if i > 0 { // which is not flushed, and leaves no append that is not
			if err := st.Want(context.Background(), ledger.Wanted{Quest: "q", Rest: &ledger.Rest{Seq: uint64(i)}}); err != nil {
				return err
			}
		}
		e, err := event.Seal("q", h.Seq+1, h.Hash, event.Draft{Actor: "person", Body: &event.UserMessage{Text: event.Text{Text: fmt.Sprint(i)}}})
		if err != nil {
			return err
		}
		if err := st.Append(context.Background(), ledger.Batch{Quest: "q", Events: []event.Event{e}}); err != nil {
			return err
		}
		h.Seq, h.Hash = e.Seq, e.Hash
		fmt.Printf("acknowledged %d\n", e.Seq)
	}
	return nil
}

// TestNobodyIsToldBeforeTheFlush watches the system calls of a writer: between
// the last write to the log of SQLite and the word that an event is there, the
// log must have been flushed. Killing a process cannot show that, for the kernel
// keeps what was written; a power cut would.
func TestNobodyIsToldBeforeTheFlush(t *testing.T) {
	t.Parallel()
	strace := need.Program(t, "strace")
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	cmd := exec.Command(strace, "-f", "-y", "-e", "trace=pwrite64,write,fsync,fdatasync", "-o", trace, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), oneWriter+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			need.Missing(t, "strace may not trace here: allow ptrace: %s", out)
		}
		t.Fatalf("the writer under strace: %v: %s", err, out)
	}
	data, err := os.ReadFile(trace)
	must(t, err)
	wal := regexp.MustCompile(`(pwrite64|write)\(\d+<[^>]*lyceum\.db-wal>`)
	flush := regexp.MustCompile(`(fsync|fdatasync)\(\d+<[^>]*lyceum\.db-wal>`)
	dirty, told, flushes := false, 0, 0
	for _, line := range strings.Split(string(data), "\n") {
		switch {
		case wal.MatchString(line):
			dirty = true
		case flush.MatchString(line):
			dirty = false
			flushes++
		case strings.Contains(line, "acknowledged"):
			if dirty {
				t.Fatalf("told before the flush: %s", line)
			}
			told++
		}
	}
	if told != tracedAppends || flushes < tracedAppends || flushes > tracedAppends+tracedAppends/2 {
		t.Fatalf("saw %d acknowledgements and %d flushes of %d appends, and as many words that a quest is to run, which need none", told, flushes, tracedAppends)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
