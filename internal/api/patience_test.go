package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// stalled is a caller that takes no byte of its answer until it is let.
type stalled struct {
	header http.Header
	began  chan struct{}
	let    chan struct{}
}

func (w *stalled) Header() http.Header { return w.header }
func (w *stalled) WriteHeader(int)     {}
func (w *stalled) Write(p []byte) (int, error) {
	close(w.began)
	<-w.let
	return len(p), nil
}

// TestACallerThatTakesItsTime asks for every part of a quest with a caller that stalls,
// and meanwhile for the quest.
func TestACallerThatTakesItsTime(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{})
	s.societies()
	var papers struct{ Papers []struct{ Ref string } }
	s.do("GET", "/api/quests/lab/papers", nil).want(t, 200).into(t, &papers)
	for _, path := range []string{
		"", "/agents", "/agents/agent-0", "/agents/agent-0/versions", "/agents/agent-0/files", "/agents/agent-0/transcript", "/agents/agent-0/terminal", "/papers", "/papers/" + papers.Papers[0].Ref, "/reviews", "/citations", "/votes",
		"/canvas", "/artifacts", "/cost", "/timeline", "/timeline?text=a", "/lanes", "/feed", "/events", "/events/3",
	} {
		r := httptest.NewRequest("GET", "/api/quests/lab"+path, nil)
		r.Host = "127.0.0.1"
		r.Header.Set("Authorization", "Bearer "+token)
		slow := &stalled{http.Header{}, make(chan struct{}), make(chan struct{})}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			s.ServeHTTP(slow, r)
		}()
		<-slow.began
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := s.client.Quest(ctx, "lab")
		cancel()
		close(slow.let)
		<-gone
		if err != nil {
			t.Fatalf("while a caller of %q stalls nobody else can look at the quest: %v", path, err)
		}
	}
}

// TestTheListOfManyQuests looks whether the list reads ledgers that have not changed.
func TestTheListOfManyQuests(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	const many = 70 // more than are kept open
	for i := range many {
		s.create(fmt.Sprintf("q%d", i), nil)
	}
	list := func() string { return string(s.do("GET", "/api/quests", nil).want(t, 200).body) }
	was := list()
	before := s.Opened()
	if again := list(); again != was || s.Opened() != before {
		t.Errorf("the list of quests that rest has opened %d of them", s.Opened()-before)
	}
	// What changes without an event is in it all the same, and what changes with one.
	claim, err := s.rt.Ledger.Claim(t.Context(), "q3")
	must(t, err)
	if now := list(); strings.Count(now, `"held":true`) != 1 {
		t.Error("the list does not say that a quest is claimed")
	}
	claim.Release()
	s.control("q5", map[string]any{"action": "start"}).want(t, 200)
	until(t, s.rt, "q5", isType("model.call"))
	if now := list(); !strings.Contains(now, `"status":"running"`) {
		t.Error("the list does not say that a quest was started")
	}
	s.do("DELETE", "/api/quests/q7", nil).want(t, 204)
	if now := list(); strings.Contains(now, `"q7"`) {
		t.Error("the list has a quest that was removed")
	}
}

// TestSpecsThatTakeTheParserLong counts the time of the processor, however busy the machine is.
// So it runs beside no other test.
func TestSpecsThatTakeTheParserLong(t *testing.T) {
	s := newHome(t).serve(api.Options{})
	deep := strings.Repeat(`{"a":`, 3000) + "1" + strings.Repeat("}", 3000)
	long := `["a"` + strings.Repeat(`,"a"`, 1_000_000) + "]"
	wide := &strings.Builder{}
	for i := range 60_000 {
		fmt.Fprintf(wide, "k%d: 1\n", i)
	}
	for name, body := range map[string]any{
		"Deep": `{"spec":{"name":"x","problem":` + deep + `}}`,
		"Long": `{"spec":{"name":"x","problem":"p","tools":` + long + `}}`,
		"Wide": map[string]any{"yaml": wide.String()},
	} {
		began := worked(t)
		s.do("POST", "/api/quests", body).want(t, 400)
		// They took 17, 5 and 18 seconds.
		took := worked(t) - began
		if t.Logf("%s: %v", name, took); took > 10*time.Second {
			t.Errorf("%s: refused after %v of work", name, took)
		}
	}
}

// worked is how long this process had a processor.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestAPass(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{})
	open := func(code string) int {
		return s.do("GET", "/?token="+code, nil, func(r *http.Request) { r.Header.Del("Authorization") }).code
	}
	first, second := s.Pass(), s.Pass()
	if first == second || strings.Contains(second, token) {
		t.Fatalf("the passes are %s and %s", first, second)
	}
	forged := []byte(s.Pass())
	forged[len(forged)-1] ^= 1
	older := s.OldPass(time.Second)
	for i, step := range []struct {
		code string
		want int
	}{{second, 303}, {first, 303}, {second, 401}, {first, 401}, {"", 401}, {string(forged), 401}, {older, 401}, {".", 401}, {"..", 401}, {token, 303}} {
		if got := open(step.code); got != step.want {
			t.Errorf("step %d: status %d, want %d", i, got, step.want)
		}
	}
	s.StartedBefore(time.Hour)
	if got := open(s.OldPass(api.PassTime + time.Second)); got != 401 {
		t.Errorf("a pass that has expired: status %d, want 401", got)
	}
	if got := open(s.OldPass(api.PassTime - time.Minute)); got != 303 {
		t.Errorf("a pass that has not expired: status %d, want 303", got)
	}
	// A server that was started since does not know whether it was used.
	if got := h.serve(api.Options{}).do("GET", "/?token="+s.OldPass(time.Minute), nil, func(r *http.Request) { r.Header.Del("Authorization") }).code; got != 401 {
		t.Errorf("a pass from before the server: status %d, want 401", got)
	}
}

// Where a browser cannot tell who listens on a port, what it gives away must be worth nothing
// to whoever listens there between two servers.
func TestACookieIsOfOneServer(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		h := newHome(t)
		first, second := h.serve(api.Options{Secure: secure}), h.serve(api.Options{Secure: secure})
		bare := func(r *http.Request) { r.Header.Del("Authorization") }
		cookie, key := session(first.do("GET", "/?token="+first.Pass(), nil, bare).want(t, 303).header)
		with := func(r *http.Request) { r.Header.Set("Cookie", cookie); r.Header.Set("Lyceum-Key", key) }
		first.do("GET", "/api/quests", nil, bare, with).want(t, 200)
		want := 401
		if secure {
			want = 200
		}
		second.do("GET", "/api/quests", nil, bare, with).want(t, want)
	}
}

// A person with a link that opens nothing sees the page, which says what to do; a program is
// told in its own way.
func TestALinkThatOpensNothing(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Failures: 3})
	browser := func(r *http.Request) {
		r.Header.Del("Authorization")
		r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	}
	for range 3 {
		a := s.do("GET", "/?token=nonsense", nil, browser).want(t, 303)
		if to := a.header.Get("Location"); to != "/" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("a wrong link leads to %q with the cookie %q, want / and none", to, a.header.Get("Set-Cookie"))
		}
	}
	s.do("GET", "/?token=nonsense", nil, browser).want(t, 429)
}

// writes returns what appends to a quest that is there.
func (s *server) writes(name string) *writer {
	s.t.Helper()
	head, err := s.rt.Ledger.Head(context.Background(), name)
	must(s.t, err)
	return &writer{s.t, s.rt, name, head.Seq, head.Hash}
}

// TestTheMarkOfAQuest is about what a server goes on with by itself.
func TestTheMarkOfAQuest(t *testing.T) {
	t.Parallel()
	// killed returns a home in which a server ran quest q and died.
	killed := func(t *testing.T) *server {
		h := newHome(t)
		h.gate = newGate()
		s := h.serve(api.Options{})
		s.create("q", nil)
		must(t, s.rt.Ledger.Want(t.Context(), ledger.Wanted{Quest: "q"}))
		s.writes("q").append(&event.QuestStarted{})
		return s
	}
	goesOn := func(t *testing.T, s *server, want int) {
		t.Helper()
		names, err := s.Keeper().GoOn(t.Context())
		must(t, err)
		if len(names) != want {
			t.Errorf("it goes on with %v", names)
		}
	}
	t.Run("HasTheServerGoOn", func(t *testing.T) {
		t.Parallel()
		s := killed(t)
		goesOn(t, s, 1)
	})
	t.Run("GoesWithTheQuest", func(t *testing.T) {
		t.Parallel()
		s := killed(t)
		s.do("DELETE", "/api/quests/q", nil).want(t, 204)
		if s.rt.IsMarked(t.Context(), "q") {
			t.Error("the quest is gone and its mark is not")
		}
	})
	t.Run("IsNotAnotherQuests", func(t *testing.T) {
		t.Parallel()
		s := killed(t)
		s.do("DELETE", "/api/quests/q", nil).want(t, 204)
		s.create("q", nil)
		s.writes("q").append(&event.QuestStarted{}) // as an imported one may be
		goesOn(t, s, 0)
		if s.rt.IsMarked(t.Context(), "q") {
			t.Error("the mark is kept for nobody")
		}
	})
	t.Run("IsThereWhileTheQuestRuns", func(t *testing.T) {
		t.Parallel()
		h := newHome(t)
		h.gate = newGate()
		h.gate.says = func(*model.Request) *model.Answer { return said("Done.") }
		s, other := h.serve(api.Options{}), h.serve(api.Options{})
		s.create("q", nil)
		s.control("q", map[string]any{"action": "start"}).want(t, 200)
		until(t, s.rt, "q", isType("model.call"))
		if !s.rt.IsMarked(t.Context(), "q") {
			t.Fatal("there is no mark")
		}
		// Another server that is late does not take it away.
		_, err := other.rt.Run(t.Context(), "q", runtime.RunOptions{Served: func(*quest.State, error) bool { return false }})
		if !errors.Is(err, ledger.ErrClaimed) || !s.rt.IsMarked(t.Context(), "q") {
			t.Errorf("error %v, and the mark is there: %v", err, s.rt.IsMarked(t.Context(), "q"))
		}
		h.gate.let(1)
		s.released("q")
		if s.rt.IsMarked(t.Context(), "q") {
			t.Error("the quest has ended and its mark is there")
		}
	})
	t.Run("GoesWhenAnotherRunsTheQuest", func(t *testing.T) {
		t.Parallel()
		s := killed(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := s.rt.Run(ctx, "q", runtime.RunOptions{})
			ended <- err
		}()
		until(t, s.rt, "q", isType("model.call"))
		cancel() // killed, too
		<-ended
		if s.rt.IsMarked(t.Context(), "q") {
			t.Error("it is still marked as this server's")
		}
		goesOn(t, s, 0)
	})
}
