package api_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

func ledgerBatch(name string, e event.Event) ledger.Batch {
	return ledger.Batch{Quest: name, Events: []event.Event{e}}
}

func contains(a answer, text string) bool { return bytes.Contains(a.body, []byte(text)) }

func TestCredentials(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Failures: 1000, Hosts: []string{"lab.example"}})
	self := s.web.URL
	host := strings.TrimPrefix(self, "http://")
	open := s.do("GET", "/?token="+token, nil, bare).want(t, 303)
	cookie, key := session(open.header)
	if open.header.Get("Location") != "/#key="+key || len(key) != 64 {
		t.Errorf("it redirects to %q, want the page with a key", open.header.Get("Location"))
	}
	given := open.header.Get("Set-Cookie")
	for _, part := range []string{"lyceum-", "HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=604800"} {
		if !strings.Contains(given, part) {
			t.Errorf("the cookie %q has no %s", given, part)
		}
	}
	if strings.Contains(given, token) {
		t.Error("the cookie is the token")
	}
	name, _, _ := strings.Cut(cookie, "=")
	with := func(pairs ...string) func(*http.Request) {
		return func(r *http.Request) {
			bare(r)
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == "Host" {
					r.Host = pairs[i+1]
				} else {
					r.Header.Add(pairs[i], pairs[i+1])
				}
			}
		}
	}
	bearer := "Bearer " + token
	for _, c := range []struct {
		name   string
		method string
		change func(*http.Request)
		want   int
	}{
		{"nothing", "GET", with(), 401},
		{"the token", "GET", with("Authorization", bearer), 200},
		{"a wrong token", "GET", with("Authorization", "Bearer "+strings.Repeat("0", 64)), 401},
		{"half a token", "GET", with("Authorization", bearer[:40]), 401},
		{"the token as basic", "GET", with("Authorization", "Basic "+token), 401},
		{"the cookie alone", "GET", with("Cookie", cookie), 401},
		{"the cookie and its key", "GET", with("Cookie", cookie, "Lyceum-Key", key), 200},
		{"a wrong cookie", "GET", with("Cookie", name+"=nonsense"), 401},
		{"the token as a cookie", "GET", with("Cookie", name+"="+token), 401},
		{"an empty cookie", "GET", with("Cookie", name+"="), 401},
		{"another host", "GET", with("Authorization", bearer, "Host", "evil.example"), 403},
		{"another host that begins like ours", "GET", with("Authorization", bearer, "Host", "127.0.0.1.evil.example"), 403},
		{"no host", "GET", with("Authorization", bearer, "Host", "_"), 403},
		{"a host that was named", "GET", with("Authorization", bearer, "Host", "LAB.example:80"), 200},
		{"localhost", "GET", with("Authorization", bearer, "Host", "localhost:1"), 200},
		{"another loopback", "GET", with("Authorization", bearer, "Host", "[::1]:7420"), 200},
		{"another origin", "GET", with("Authorization", bearer, "Origin", "http://evil.example"), 403},
		{"no origin", "GET", with("Cookie", cookie, "Origin", "null"), 403},
		{"two origins", "GET", with("Cookie", cookie, "Origin", self, "Origin", "http://evil.example"), 403},
		{"another port", "POST", with("Cookie", cookie, "Origin", "http://127.0.0.1:1"), 403},
		{"our origin", "GET", with("Cookie", cookie, "Lyceum-Key", key, "Origin", self), 200},
		{"a change by cookie alone", "POST", with("Cookie", cookie), 401},
		{"a change by cookie alone from our page", "POST", with("Cookie", cookie, "Origin", self), 401},
		{"a change by cookie and key", "POST", with("Cookie", cookie, "Lyceum-Key", key), 400},
		{"a change by cookie and key from another page", "POST", with("Cookie", cookie, "Origin", "http://evil.example", "Lyceum-Key", key), 403},
		{"a change by token", "POST", with("Authorization", bearer), 400},
	} {
		if a := s.do(c.method, "/api/quests", nil, c.change); a.code != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, a.code, c.want, a.body)
		}
	}
	for _, path := range []string{"/metrics", "/api/openapi.json", "/api/", "/api", "/api/nowhere", "//api/quests", "/x/../api/quests"} {
		if a := s.do("GET", path, nil, bare); a.code < 300 {
			t.Errorf("%s is open to all: %d", path, a.code)
		}
	}
	s.do("GET", "/?token=nonsense", nil, bare).want(t, 401)
	if a := s.do("GET", "/?token="+token, nil, with("Host", "evil.example:"+host)); a.code != 403 || a.header.Get("Set-Cookie") != "" {
		t.Errorf("another host gets %d and %q", a.code, a.header.Get("Set-Cookie"))
	}
	for _, a := range []answer{s.do("GET", "/api/quests", nil), s.do("GET", "/nowhere", nil)} {
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options"} {
			if a.header.Get(name) == "" {
				t.Errorf("an answer has no %s", name)
			}
		}
	}
}

func bare(r *http.Request) { r.Header.Del("Authorization") }

func TestAServerWithoutATokenLetsNobodyIn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	rt, done := h.runtime()
	defer done()
	s := api.New(rt, api.Options{})
	defer s.Close()
	for _, auth := range []string{"", "Bearer ", "Bearer x"} {
		w := &memory{header: http.Header{}}
		r, err := http.NewRequest("GET", "http://localhost/api/quests", nil)
		must(t, err)
		r.Header.Set("Authorization", auth)
		s.ServeHTTP(w, r)
		if w.code != 401 {
			t.Errorf("%q gets %d", auth, w.code)
		}
	}
}

// memory keeps an answer.
type memory struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (m *memory) Header() http.Header         { return m.header }
func (m *memory) WriteHeader(code int)        { m.code = code }
func (m *memory) Write(p []byte) (int, error) { return m.body.Write(p) }

func TestWrongCredentialsAreLimited(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Failures: 3})
	for i := range 3 {
		if a := s.do("GET", "/api/quests", nil, bare); a.code != 401 {
			t.Fatalf("attempt %d: %d", i, a.code)
		}
	}
	limited := false
	for range 3 { // one may be earned back meanwhile
		limited = s.do("GET", "/api/quests", nil, bare).code == 429 || limited
	}
	if !limited {
		t.Error("there is no limit")
	}
	s.do("GET", "/api/quests", nil).want(t, 200) // who has the token is not kept out
}

func TestARequestThatBreaksIsItsOwnFailure(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := newHome(t)
	rt, done := h.runtime()
	defer done()
	s := api.New(rt, api.Options{Token: token})
	defer s.Close()
	s.Break("GET /api/broken")
	w := &memory{header: http.Header{}}
	r, err := http.NewRequestWithContext(context.Background(), "GET", "http://localhost/api/broken", nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	s.ServeHTTP(w, r)
	if w.code != 500 || !strings.Contains(w.body.String(), `"internal"`) {
		t.Errorf("a handler that panics: got %d %s %s, want 500 and that it is internal", w.code, w.body.String(), log.String())
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	t.Run("IsTheSameForAllWhoStartAtOnce", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		var all sync.WaitGroup
		got := make([]string, 16)
		for i := range got {
			all.Go(func() { got[i], _ = api.Token(dir) })
		}
		all.Wait()
		for _, g := range got {
			if len(g) != 64 || g != got[0] {
				t.Errorf("tokens %q and %q", g, got[0])
			}
		}
		info, err := os.Stat(filepath.Join(dir, "token"))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("its mode is %v", info.Mode())
		}
		left, err := os.ReadDir(dir)
		must(t, err)
		if len(left) != 1 {
			t.Errorf("%d files are left", len(left))
		}
	})
	t.Run("IsRefusedIfOthersCanReadIt", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o644))
		must(t, os.Chmod(filepath.Join(dir, "token"), 0o644))
		if _, err := api.Token(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("it says %v", err)
		}
	})
	t.Run("IsRefusedIfItIsNone", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "token"), nil, 0o600))
		if tok, err := api.Token(dir); err == nil {
			t.Errorf("an empty file gives %q", tok)
		}
	})
}
