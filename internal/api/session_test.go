package api_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
)

// TestAnotherPortOfTheHost: a browser gives its cookie to whatever listens on the machine that it
// is signed in at. Whoever has it so, and asks for every route in every way that it can think of,
// learns nothing and changes nothing.
func TestAnotherPortOfTheHost(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Failures: 100_000})
	s.writer("q")
	var mu sync.Mutex
	var got string
	hostile := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = r.Header.Get("Cookie")
	}))
	defer hostile.Close()
	jar, err := cookiejar.New(nil)
	must(t, err)
	wire := &http.Transport{}
	defer wire.CloseIdleConnections()
	browser := &http.Client{Jar: jar, Transport: wire}
	for _, url := range []string{s.web.URL + "/?token=" + s.Pass(), hostile.URL} {
		resp, err := browser.Get(url)
		must(t, err)
		resp.Body.Close()
	}
	if !strings.HasPrefix(got, "lyceum-") {
		t.Fatalf("the other port was given %q: the test shows nothing", got)
	}
	_, value, _ := strings.Cut(got, "=")
	parts := strings.Split(value, ".")
	for _, pattern := range s.Patterns() {
		method, path, _ := strings.Cut(pattern, " ")
		path = fill(path, "", "")
		for _, headers := range [][]string{
			{}, {"Origin", s.web.URL}, {"Origin", s.web.URL, "Sec-Fetch-Site", "same-origin"}, {"Lyceum-Request", "1"},
			{"Lyceum-Key", value}, {"Lyceum-Key", parts[len(parts)-1]}, {"Lyceum-Key", ""}, {"Accept", "text/event-stream"},
		} {
			for _, query := range []string{"", "?key=" + value, "?key=" + parts[len(parts)-1], "?key="} {
				r, err := http.NewRequest(method, s.web.URL+path+query, strings.NewReader(`{"action":"stop","text":"x"}`))
				must(t, err)
				r.Header.Set("Cookie", got)
				r.Header.Set("Content-Type", "application/json")
				for i := 0; i < len(headers); i += 2 {
					r.Header.Set(headers[i], headers[i+1])
				}
				resp, err := wire.RoundTrip(r)
				must(t, err)
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				must(t, err)
				// Who goes on with a session has no credentials yet, and needs a secret.
				if resp.StatusCode != 401 && (pattern != "POST /api/session" || resp.StatusCode != 400) {
					t.Fatalf("%s%s with the cookie and %q: got %d %.200s, want 401", pattern, query, headers, resp.StatusCode, body)
				}
			}
		}
	}
	if n := len(lines(t, s.rt, "q")); n != 1 {
		t.Errorf("the quest has %d events, want it untouched", n)
	}
}

// TestASessionEnds: a session ends with its age, also for a stream that it reads, and is not good before it began.
func TestASessionEnds(t *testing.T) {
	t.Parallel()
	rt, done := newHome(t).runtime()
	defer done()
	var mu sync.Mutex
	now := rt.Clock()
	rt.Clock = func() event.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	pass := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now += event.Time(d.Microseconds())
	}
	g := &gatehouse{server: &server{t: t, rt: rt, Server: api.New(rt, api.Options{Token: token})}, cookies: map[string]string{}, keys: map[string]string{}}
	defer g.Close()
	g.cookies["owner"], g.keys["owner"] = g.signIn(token)
	for _, c := range []struct {
		what string
		by   time.Duration
		want int
	}{
		{"at once", 0, 200}, {"shortly before its end", api.SessionTime - time.Second, 200}, {"at its end", time.Second, 401}, {"before it began", -api.SessionTime - time.Second, 401},
	} {
		pass(c.by)
		if w := g.ask("GET", "/api/quests", "", g.cookie("owner")...); w.code != c.want {
			t.Errorf("a session %s: got %d %s, want %d", c.what, w.code, w.body.String(), c.want)
		}
	}
}
