package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"
)

// sends posts a crate to a server and returns when its answer has come, or the server is gone.
func (s *served) sends(crate []byte, as string) {
	at, err := url.Parse(s.url)
	must(s.t, err)
	r, err := http.NewRequest(http.MethodPost, "http://"+at.Host+"/api/imports?as="+as, bytes.NewReader(crate))
	must(s.t, err)
	r.Header.Set("Authorization", "Bearer "+s.token())
	r.Header.Set("Content-Type", "application/zip")
	r.Close = true
	if a, err := http.DefaultClient.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, a.Body)
		_ = a.Body.Close()
	}
}

// TestAServerKilledWhileItImportsHasAWholeQuestOrNone: it dies at any moment between the first byte of a crate and the
// quest's being there. The next has none of it or all, and nothing else of it.
func TestAServerKilledWhileItImportsHasAWholeQuestOrNone(t *testing.T) {
	t.Parallel()
	from := newHome(t, askFiles)
	from.ok("run", "quest.yaml")
	file := filepath.Join(from.work, "ask.zip")
	from.ok("export", "ask", file)
	crate, err := os.ReadFile(file)
	must(t, err)

	h := newHome(t, nil)
	s, begun := h.serve(), time.Now()
	s.sends(crate, "first")
	for !strings.Contains(h.ok("list"), "first") {
		time.Sleep(10 * time.Millisecond)
	}
	took := time.Since(begun)
	s.kill()
	there, rounds := 0, need.Times(4, 100)
	for i := range rounds {
		s, name := h.serve(), fmt.Sprintf("q%d", i)
		done := make(chan struct{})
		go func() { defer close(done); s.sends(crate, name) }()
		time.Sleep(rand.N(took))
		s.kill()
		<-done
		if left, _ := filepath.Glob(filepath.Join(h.dir, ".spool-*")); len(left) > 1 {
			t.Errorf("each killed server's spool is left: %v", left)
		}
		if r := h.run("show", name); r.code == 0 {
			there++
			h.sound(name)
		}
	}
	t.Logf("%d kills: %d times the quest was there, and whole", rounds, there)
	s = h.serve()
	if left, _ := filepath.Glob(filepath.Join(h.dir, ".spool-*")); len(left) > 0 {
		t.Errorf("what killed servers left is still there: %v", left)
	}
	s.kill()
	h.sound("first")
}
