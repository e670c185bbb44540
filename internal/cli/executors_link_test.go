package cli_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/computer/link"
)

// between stands between lyceum and a computer of a quest, and loses the request to run a command
// that says a word: whoever asked is told by lost. It returns what takes it away again.
func (h *home) between(quest, word string, lost func()) (away func()) {
	h.t.Helper()
	found, err := filepath.Glob(filepath.Join(h.dir, "quests", quest, "computers", "*", "socket"))
	must(h.t, err)
	if len(found) != 1 {
		h.t.Fatalf("the computers of %s are %v, want one", quest, found)
	}
	dir, err := os.Open(filepath.Dir(found[0])) // its path may be too long for a socket's
	must(h.t, err)
	at := func(name string) string { return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), name) }
	must(h.t, os.Rename(at("socket"), at("beyond")))
	l, err := net.Listen("unix", at("socket"))
	must(h.t, err)
	gone, hangUp := context.WithCancel(h.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				kind, request, err := (&link.Reader{R: c}).Next()
				if err != nil {
					return
				}
				if strings.Contains(string(request), word) {
					lost()
					hangUp()
					return
				}
				far, err := net.Dial("unix", at("beyond"))
				if err != nil {
					return
				}
				defer far.Close()
				defer context.AfterFunc(gone, func() { _ = far.Close() })()
				if link.WriteFrame(far, kind, request) != nil {
					return
				}
				go func() {
					_, _ = io.Copy(far, c)
					_ = far.(*net.UnixConn).CloseWrite()
				}()
				_, _ = io.Copy(c, far)
			}()
		}
	}()
	return func() {
		must(h.t, l.Close())
		<-done
		must(h.t, os.Rename(at("beyond"), at("socket")))
		must(h.t, dir.Close())
	}
}

// TestACommandThatNeverBegan kills lyceum after the ledger says that an executor's command begins,
// and before it does: the next lyceum begins it, as the executor waits for it.
func TestACommandThatNeverBegan(t *testing.T) {
	t.Parallel()
	h := newHome(t, outsider)
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	stop := h.killAt(p, "q", "prompt.begun", 0)
	p.wait()
	stop()

	killed := make(chan struct{})
	var second *process
	ready := make(chan struct{})
	away := h.between("q", "echo ran", func() {
		<-ready
		_ = second.cmd.Process.Signal(syscall.SIGKILL)
		close(killed)
	})
	second = h.start("run", "q")
	close(ready)
	l := second.wait()
	if l.code != -1 {
		t.Fatalf("lyceum was to be killed at its executor's command and ended with %d: %s", l.code, l.errOut)
	}
	<-killed
	away()

	if l := h.run("run", "q"); l.code != 0 || !strings.Contains(l.out, "All done") {
		t.Fatalf("after the kill: %d\n%s%s", l.code, l.out, l.errOut)
	}
	h.askedOnce("q")
}
