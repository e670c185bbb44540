package cli_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/api/client"
	"lyceum/internal/ledger/sqlite"

	"golang.org/x/sys/unix"
)

// flood keeps so many connections to an address open, and opens another for each that ends.
// Of those, some say nothing, some never come to the end of a request, and some ask without
// credentials again and again. What it returns ends it, and tells how many there were.
func flood(t *testing.T, address string, n int) (stop func() int) {
	t.Helper()
	done := make(chan struct{})
	var all sync.WaitGroup
	var opened atomic.Int64
	says := []string{"", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", "GET /api/quests HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "\x16\x03\x01"}
	for i := range n {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				conn, err := net.DialTimeout("tcp", address, time.Second)
				if err != nil {
					time.Sleep(20 * time.Millisecond)
					continue
				}
				opened.Add(1)
				_, _ = io.WriteString(conn, says[i%len(says)])
				stopped := make(chan struct{})
				go func() {
					select {
					case <-done:
					case <-stopped:
					}
					conn.Close()
				}()
				_, _ = io.Copy(io.Discard, conn)
				close(stopped)
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	end := sync.OnceFunc(func() {
		close(done)
		all.Wait()
	})
	t.Cleanup(end) // the next server on that port is another test's
	return func() int {
		end()
		return int(opened.Load())
	}
}

// TestAFloodOfStrangers: thousands of connections without credentials, at both doors of a
// server that may open few files, end no quest, and keep nobody out who has credentials.
func TestAFloodOfStrangers(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowLab)
	h.ok("create", "quest.yaml")
	h.files = 256
	s := h.serve()
	note, err := client.Look(h.dir)
	must(t, err)
	page, err := url.Parse(s.url)
	must(t, err)
	public, local := flood(t, page.Host, 600), flood(t, note.Local, 200)
	l := h.run("run", "team")
	l.want(t, 0, "It runs in lyceum serve.", "It is so.")
	t.Logf("%d connections to the public door, %d to the other", public(), local())
	h.labSound("team")
	if said := s.errOut.String(); strings.Contains(said, "too many open files") {
		t.Errorf("the server ran out of files: %s", said)
	}
	s.stop()
}

// TestNoFileLeft: a quest that cannot open a file is not ended by that. It waits, keeps its mark,
// and comes to the end that it would have come to.
func TestNoFileLeft(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowLab)
	h.ok("create", "quest.yaml")
	h.files = 256
	s := h.serve()
	p := h.start("run", "team")
	h.await("team", "tool.result", 2)
	allow := func(n uint64) {
		t.Helper()
		must(t, unix.Prlimit(s.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: 256}, nil))
	}
	allow(3) // as if the others were taken
	s.says("it goes on by itself")
	st, err := sqlite.Open(filepath.Join(h.dir, "lyceum.db"), nil)
	must(t, err)
	if w, err := st.Wanted(t.Context(), "team"); err != nil || w == nil {
		t.Errorf("what is noted of the quest: %v, %v; want that it is to run", w, err)
	}
	must(t, st.Close())
	if got := h.show("team"); got.Status != "running" {
		t.Errorf("the quest is %s, want it to count as running", got.Status)
	}
	allow(256)
	if l := p.wait(); l.code != 0 || !strings.Contains(l.out, "It is so.") {
		t.Errorf("whoever watched it gets %d: %s%s", l.code, l.out, l.errOut)
	}
	if got := h.show("team"); got.Status != "finished" || !strings.Contains(got.Answer, "It is so.") {
		t.Errorf("the quest ended as %+v\n%s", got, s.errOut.String())
	}
	for _, e := range h.events("team") {
		if strings.Contains(fmt.Sprint(e), "too many open files") {
			t.Errorf("an agent was told that no file can be opened: %+v", e)
		}
	}
	h.labSound("team")
	s.stop()
}
