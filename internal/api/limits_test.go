package api_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
)

// body is a reader whose length nobody can know beforehand.
type body struct{ io.Reader }

// send posts bytes to a route, in chunks if the length is not to be told.
func (s *server) send(path string, in io.Reader) answer {
	s.t.Helper()
	return s.do("POST", path, nil, func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(in), -1
		if b, ok := in.(*bytes.Reader); ok {
			r.ContentLength = b.Size()
		}
	})
}

// patient reads an answer while the body is still on its way. Go's own client may take
// the end of its writing, which a server that has refused a body brings about, for the end
// of all, and lose the answer.
type patient struct{}

func (patient) RoundTrip(r *http.Request) (*http.Response, error) {
	conn, err := net.Dial("tcp", r.URL.Host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	go func() { _ = r.Write(conn) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, err
}

// padded is a JSON object with a text, so that there are n bytes of it in all.
func padded(n int) []byte {
	const head, tail = `{"yaml":"`, `"}`
	return []byte(head + strings.Repeat("x", n-len(head)-len(tail)) + tail)
}

func TestABodyOfMoreThanTenMiBIsRefused(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("q")
	paths := []string{"/api/quests", "/api/validate", "/api/quests/q/control", "/api/quests/q/messages", "/api/quests/q/answers", "/api/quests/q/tasks/t/orders"}
	refuses := func(least int) {
		for _, path := range paths {
			most := least
			if path == "/api/quests/q/messages" { // it may bring files
				most *= 4
			}
			for name, in := range map[string]io.Reader{
				"a body with its length":  bytes.NewReader(padded(most + 1)),
				"a body in chunks":        body{bytes.NewReader(padded(most + 1))},
				"a body without end":      body{io.MultiReader(strings.NewReader(`{"yaml":"`), &repeat{text: "x"})},
				"blanks behind the value": body{io.MultiReader(strings.NewReader(`{}`), &repeat{text: " "})},
				"blanks before the value": body{&repeat{text: " "}},
				"a list without end":      body{io.MultiReader(strings.NewReader(`[`), &repeat{text: "1,"})},
			} {
				if a := s.send(path, in); a.code != 413 || !contains(a, `"too_large"`) {
					t.Errorf("%s to %s: %d %.200s", name, path, a.code, a.body)
				}
			}
		}
		for name, in := range map[string]io.Reader{"with its length": bytes.NewReader(padded(least)), "in chunks": body{bytes.NewReader(padded(least))}} {
			if a := s.send("/api/validate", in); a.code == 413 || a.code >= 500 {
				t.Errorf("a body of exactly %d bytes %s: %d %.200s", least, name, a.code, a.body)
			}
		}
	}
	// What counts is how it is read, which is tried with little; then the limit itself.
	s.TakeBodies(100_000)
	refuses(100_000)
	s.TakeBodies(api.MaxBody)
	const most = 10 << 20
	if a := s.send("/api/validate", bytes.NewReader(padded(most+1))); a.code != 413 {
		t.Errorf("a body of more than 10 MiB: %d %.200s", a.code, a.body)
	}
	if a := s.send("/api/validate", bytes.NewReader(padded(most))); a.code == 413 || a.code >= 500 {
		t.Errorf("a body of exactly 10 MiB: %d %.200s", a.code, a.body)
	}
}

func TestAHeaderThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.do("GET", "/api/quests", nil, func(r *http.Request) { r.Header.Set("X-Long", strings.Repeat("x", 50<<10)) }).want(t, 200)
	s.do("GET", "/api/quests", nil, func(r *http.Request) { r.Header.Set("X-Long", strings.Repeat("x", 80<<10)) }).want(t, 431)
}

// repeat is a text again and again.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}

func TestAMalformedBodyIsRefusedWithItsField(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("q")
	before := lines(t, s.rt, "q")
	const order, say, create, check = "/api/quests/q/control", "/api/quests/q/messages", "/api/quests", "/api/validate"
	for _, c := range []struct{ path, body, field string }{
		{order, `{"action":"stop"`, ""},
		{order, `{"action":"stop"}}`, ""},
		{order, `{"action":"stop"}]`, ""},
		{order, `{"action":"stop"}{"action":"stop"}`, ""},
		{order, `{"action":"stop"} x`, ""},
		{order, ``, ""},
		{order, `[]`, ""},
		{order, `"stop"`, ""},
		{order, `{"action":7}`, "action"},
		{order, `{"action":"dance"}`, "action"},
		{order, `{}`, "action"},
		{order, `{"action":"stop","speed":9}`, "speed"},
		{order, `{"action":"start","limits":{"turns":"many"}}`, "limits.turns"},
		{order, `{"action":"start","limits":{"turns":-1}}`, "limits.turns"},
		{order, `{"action":"start","limits":{"tokens":1.5}}`, "limits.tokens"},
		{order, `{"action":"start","limits":{"seconds":-1}}`, "limits.seconds"},
		{order, `{"action":"start","limits":{"cost_usd":"much"}}`, "limits.cost_usd"},
		{order, `{"action":"start","limits":{"agent":{"cost_usd":"-1"}}}`, "limits.agent.cost_usd"},
		{order, `{"action":"start","limits":{"agent":{"turns":true}}}`, "limits.agent.turns"},
		{order, `{"action":"fork","at":-1}`, "at"},
		{say, `{"text":""}`, "text"},
		{say, `{"text":"  \n "}`, "text"},
		{say, `{"text":"` + strings.Repeat("x", 8193) + `"}`, "text"},
		{say, `{"text":"x","to":"nobody"}`, "to"},
		{say, `{"text":["x"]}`, "text"},
		{create, `{}`, "spec"},
		{create, `{"spec":7}`, "spec"},
		{create, `{"yaml":"name: x","example":"primes"}`, "spec"},
		{create, `{"yaml":7}`, "yaml"},
		{create, `{"yaml":"name: x\nproblem: y\n","files":[{"path":"a"}]}`, "files"},
		{create, `{"yaml":"name: x\nproblem: y\n","files":[{"path":"a","text":"x","base64":"eA=="}]}`, "files"},
		{create, `{"yaml":"name: x\nproblem: y\n","files":[{"path":"a","base64":"?"}]}`, "files.base64"},
		{create, `{"yaml":"name: x\nproblem: y\n","files":[{"path":"../a","text":"x"}]}`, "files.path"},
		{check, `{"start":"yes"}`, "start"},
	} {
		var e struct {
			Error struct{ Code, Message, Field string }
		}
		s.do("POST", c.path, c.body).want(t, 400).into(t, &e)
		if e.Error.Field != c.field || e.Error.Code != "bad_request" || e.Error.Message == "" {
			t.Errorf("%s %.100s: %+v, want the field %q", c.path, c.body, e.Error, c.field)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"} {
		a := s.do("POST", order, `{"action":"stop"}`, func(r *http.Request) { r.Header.Set("Content-Type", kind) }).want(t, 400)
		if !contains(a, `"field":"Content-Type"`) {
			t.Errorf("the answer does not name Content-Type: %q: %s", kind, a.body)
		}
	}
	if after := lines(t, s.rt, "q"); len(after) != len(before) {
		t.Errorf("the quest has %d events, had %d", len(after), len(before))
	}
}

// TestEveryRouteLooksAtWhoAsks goes through all of them, also those that are not there.
func TestEveryRouteLooksAtWhoAsks(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Failures: 100_000})
	s.writer("q")
	cookie, key := session(s.do("GET", "/?token="+token, nil, bare).want(t, 303).header)
	with := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(r *http.Request) { r.Host = "evil.example" }
	for _, pattern := range append(s.Patterns(), "GET /api/nowhere", "POST /api/nowhere", "GET /api", "GET /metrics/x", "PUT /api/quests") {
		method, path, _ := strings.Cut(pattern, " ")
		path = fill(path, "", "")
		var in any
		if method == "POST" {
			in = map[string]any{"action": "stop", "text": "x"}
		}
		if pattern == "POST /api/session" {
			continue // it is how a page comes to credentials: TestAPageGoesOn
		}
		for _, c := range []struct {
			name string
			want int
			code string
			ask  []func(*http.Request)
		}{
			{"nothing", 401, "unauthorized", []func(*http.Request){bare}},
			{"a wrong token", 401, "unauthorized", []func(*http.Request){with("Authorization", "Bearer "+strings.Repeat("0", 64))}},
			{"a wrong cookie", 401, "unauthorized", []func(*http.Request){bare, with("Cookie", "lyceum-00000000="+token)}},
			{"the token, but another host", 403, "forbidden", []func(*http.Request){host}},
			{"the token, but another origin", 403, "forbidden", []func(*http.Request){with("Origin", "https://evil.example")}},
			{"the cookie, but another origin", 403, "forbidden", []func(*http.Request){bare, with("Cookie", cookie), with("Lyceum-Key", key), with("Origin", "null")}},
			{"the cookie alone", 401, "unauthorized", []func(*http.Request){bare, with("Cookie", cookie)}},
			{"the cookie and its key, but of another port", 403, "forbidden", []func(*http.Request){bare, with("Cookie", cookie), with("Lyceum-Key", key), with("Sec-Fetch-Site", "same-site")}},
		} {
			a := s.do(method, path, in, c.ask...)
			if a.code != c.want || !contains(a, `"`+c.code+`"`) {
				t.Errorf("%s with %s: %d %.200s", pattern, c.name, a.code, a.body)
			}
		}
	}
	if n := len(lines(t, s.rt, "q")); n != 1 {
		t.Errorf("somebody has changed the quest: %d events", n)
	}
}

// TestTheLimitOfWrongCredentials holds for each address by itself, whatever it says of
// others, and eases with time.
func TestTheLimitOfWrongCredentials(t *testing.T) {
	t.Parallel()
	rt, done := newHome(t).runtime()
	defer done()
	now := event.Time(1_700_000_000_000_000)
	rt.Clock = func() event.Time { return now }
	s := api.New(rt, api.Options{Token: token, Failures: 3})
	defer s.Close()
	ask := func(address, forwarded, auth string) int {
		w := &memory{header: http.Header{}}
		r, err := http.NewRequestWithContext(context.Background(), "GET", "http://localhost/api/event-types", nil)
		must(t, err)
		r.RemoteAddr = address
		r.Header.Set("X-Forwarded-For", forwarded)
		r.Header.Set("Authorization", auth)
		s.ServeHTTP(w, r)
		return w.code
	}
	var got []int
	for i := range 5 {
		got = append(got, ask(fmt.Sprintf("192.0.2.1:%d", 1000+i), fmt.Sprintf("198.51.100.%d", i), "Bearer x"))
	}
	if fmt.Sprint(got) != "[401 401 401 429 429]" {
		t.Errorf("one address gets %v", got)
	}
	if code := ask("192.0.2.1:1", "", "Bearer "+token); code != 0 && code != 200 {
		t.Errorf("with the token the same address gets %d", code)
	}
	if code := ask("192.0.2.2:1", "192.0.2.1", "Bearer x"); code != 401 {
		t.Errorf("another address gets %d", code)
	}
	now += 2_000_000
	if got := fmt.Sprint(ask("192.0.2.1:9", "", ""), ask("192.0.2.1:9", "", ""), ask("192.0.2.1:9", "", "")); got != "401 401 429" {
		t.Errorf("after two seconds it gets %s", got)
	}
}

// TestAConflict has each case that the answer 409 is for.
func TestAConflict(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	s.finish("demo-number", "done", "")
	s.do("POST", "/api/quests", map[string]any{"example": "thermal", "name": "rules"}).want(t, 201)
	s.create("new", nil)
	s.create("runs", nil)
	s.control("runs", map[string]any{"action": "start"}).want(t, 200)
	order := func(action string) map[string]any { return map[string]any{"action": action} }
	for _, c := range []struct {
		name, method, path string
		body               any
		says               string
	}{
		{"a name that is taken", "POST", "/api/quests", map[string]any{"example": "demo-number", "name": "new"}, "there is a quest of that name"},
		{"a fork to a name that is taken", "POST", "/api/quests/done/control", map[string]any{"action": "fork", "name": "new"}, "there is a quest of that name"},
		{"a start of what runs", "POST", "/api/quests/runs/control", order("start"), "runs already"},
		{"a resume of what runs", "POST", "/api/quests/runs/control", order("resume"), "runs already"},
		{"a resume of what was never started", "POST", "/api/quests/new/control", order("resume"), "start it"},
		{"a start of what has its answer", "POST", "/api/quests/done/control", order("start"), "has its answer"},
		{"a pause of what rests", "POST", "/api/quests/done/control", order("pause"), "nothing to pause"},
		{"a stop of what has ended", "POST", "/api/quests/done/control", order("stop"), "nothing to stop"},
		{"a pause of what was never started", "POST", "/api/quests/new/control", order("pause"), "nothing to pause"},
		{"a message to rules", "POST", "/api/quests/rules/messages", map[string]any{"text": "x"}, "works by rules alone"},
		{"a removal of what runs", "DELETE", "/api/quests/runs", nil, "stop it first"},
		{"evidence of what has none", "GET", "/api/quests/done/evidence", nil, "not a contract net"},
	} {
		a := s.do(c.method, c.path, c.body)
		if a.code != 409 || !contains(a, `"conflict"`) || !contains(a, c.says) {
			t.Errorf("got %s: %d %s, want a conflict with the reason", c.name, a.code, a.body)
		}
	}
	t.Run("OfTwoWhoMakeTheSameQuestAtOnceOneDoes", func(t *testing.T) {
		t.Parallel()
		codes := make([]int, 8)
		var all sync.WaitGroup
		for i := range codes {
			all.Go(func() {
				codes[i] = s.do("POST", "/api/quests", map[string]any{"spec": map[string]any{"name": "one", "problem": fmt.Sprint(i), "model": "demo"}}).code
			})
		}
		all.Wait()
		made := 0
		for _, code := range codes {
			if code == 201 {
				made++
			} else if code != 409 {
				t.Errorf("one gets %d", code)
			}
		}
		if made != 1 {
			t.Errorf("%d were made: %v", made, codes)
		}
	})
}
