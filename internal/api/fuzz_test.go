package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lyceum/internal/api"
)

// fuzzServer is a server on an empty home, and a way to ask it without a network.
func fuzzServer(f *testing.F) func(t *testing.T, method, target, body string) *memory {
	f.Helper()
	h := &home{t: &testing.T{}, dir: f.TempDir()}
	rt, done := h.runtime()
	s := api.New(rt, api.Options{Token: token})
	f.Cleanup(func() { s.Close(); done() })
	return func(t *testing.T, method, target, body string) *memory {
		t.Helper()
		w := &memory{header: http.Header{}}
		r, err := http.NewRequest(method, "http://localhost/", strings.NewReader(body))
		must(t, err)
		if u, err := url.ParseRequestURI(target); err == nil {
			r.URL = u
		} else {
			t.Skip()
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		s.ServeHTTP(w, r)
		if w.code >= 500 && w.code != 503 {
			t.Errorf("the server is at fault: %s %q: %d %s", method, target, w.code, w.body.String())
		}
		if w.code >= 400 && strings.HasPrefix(r.URL.EscapedPath(), "/api/") { // with %2f it is a name of the page's
			var e struct {
				Error struct{ Code, Message string }
			}
			if json.Unmarshal(w.body.Bytes(), &e) != nil || e.Error.Code == "" || e.Error.Message == "" {
				t.Errorf("%s %q: %d is no error of ours: %s", method, target, w.code, w.body.String())
			}
		}
		return w
	}
}

func FuzzQueries(f *testing.F) {
	ask := fuzzServer(f)
	for _, q := range []string{"after=1&before=3", "tail=5&type=model.,tool.&actor=a", "limit=0", "limit=99999999999999999999", "format=acp", "text=%ff", "seqs=true&buckets=3", "a=q&b=q", "%zz", "after=-1", "path=../..", ";;"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		for _, path := range []string{"/api/quests/none/events", "/api/quests/none/timeline", "/api/quests/none/papers", "/api/diff", "/api/quests/none/agents/x/transcript", "/api/blobs/" + strings.Repeat("0", 64), "/api/quests/none/agents/x/files"} {
			if w := ask(t, "GET", path+"?"+q, ""); w.code < 400 {
				t.Errorf("a request that is wrong was taken: %s?%s: %d", path, q, w.code)
			}
		}
	})
}

func FuzzPaths(f *testing.F) {
	ask := fuzzServer(f)
	for _, p := range []string{"/api/quests/..%2f..", "/api/quests/a/events/1", "/api/blobs/x", "/api//quests", "/metrics/x", "/%00", "/assets/../x", "/api%2f", "/%61pi/quests", "/api%2fquests"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) { ask(t, "GET", "/"+strings.TrimPrefix(p, "/"), "") })
}

func FuzzBodies(f *testing.F) {
	ask := fuzzServer(f)
	for _, b := range []string{`{"spec":{"name":"x","problem":"y"}}`, `{"yaml":"name: x"}`, `{"spec":{"agents":[{"count":1e9}]}}`, `{"yaml":"&a [*a]"}`, `{"action":"fork","at":-1}`, `{"limits":{"cost_usd":"1.5","seconds":1e308}}`, `{"files":[{"path":"../x","text":"y"}],"spec":{}}`, `[]`, `{"spec":null}`, `{"spec":{"limits":{"cost":1e99}}}`, "\xff"} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b string) {
		ask(t, "POST", "/api/validate", b)
		for _, path := range []string{"/api/quests/none/control", "/api/quests/none/messages", "/api/quests/none/answers", "/api/quests/none/tasks/none/orders"} {
			if w := ask(t, "POST", path, b); w.code < 400 {
				t.Errorf("a body that is wrong was taken: %s: %d", path, w.code)
			}
		}
	})
}

func FuzzTextSearch(f *testing.F) {
	f.Add([]byte("The Line"), "the l")
	f.Add([]byte("ÄäÄ"), "äÄ")
	f.Fuzz(func(t *testing.T, line []byte, text string) {
		low := api.LowerASCII(text)
		want := bytes.Contains([]byte(api.LowerASCII(string(line))), []byte(low))
		if got := api.Holds(line, low); got != want {
			t.Errorf("%q in %q: %v, want %v", text, line, got, want)
		}
	})
}
