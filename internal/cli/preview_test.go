package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// TestAPreviewServesATreeAndNothingElse: its files by their names, under its own address alone,
// with a policy that lets them reach nothing and have no cookies.
func TestAPreviewServesATreeAndNothingElse(t *testing.T) {
	t.Parallel()
	content := map[string]string{"index.html": "<h1>Count</h1>", "js/app.js": "1", "deep/index.html": "deep", "data": "<b>x</b>"}
	files, blobs := map[string]event.Ref{}, map[event.Hash]string{}
	for name, text := range content {
		files[name] = event.RefOf([]byte(text))
		blobs[files[name].Hash] = text
	}
	files["lost"] = event.RefOf([]byte("lost"))
	h := previewer("127.0.0.1:7", files, func(ref event.Ref) (io.ReadCloser, error) {
		text, ok := blobs[ref.Hash]
		if !ok {
			return nil, errors.New("it is gone")
		}
		return io.NopCloser(strings.NewReader(text)), nil
	})
	ask := func(method, host, path string) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://"+host+path, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	for _, c := range []struct {
		method, host, path string
		code               int
		kind, body         string
	}{
		{"GET", "127.0.0.1:7", "/", 200, "text/html", "<h1>Count</h1>"},
		{"HEAD", "127.0.0.1:7", "/index.html", 200, "text/html", ""},
		{"GET", "127.0.0.1:7", "/js/app.js", 200, "javascript", "1"},
		{"GET", "127.0.0.1:7", "/deep/", 200, "text/html", "deep"},
		{"GET", "127.0.0.1:7", "/js/../js/app.js", 200, "javascript", "1"},
		{"GET", "127.0.0.1:7", "/data", 200, "text/plain", "<b>x</b>"},
		{"GET", "127.0.0.1:7", "/../../etc/passwd", 404, "", ""},
		{"GET", "127.0.0.1:7", "/js", 404, "", ""},
		{"GET", "127.0.0.1:7", "/lost", 500, "", ""},
		{"GET", "evil.example:7", "/", 403, "", ""},
		{"POST", "127.0.0.1:7", "/", 405, "", ""},
	} {
		res := ask(c.method, c.host, c.path)
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != c.code || c.code == 200 && (string(body) != c.body || !strings.Contains(res.Header.Get("Content-Type"), c.kind)) {
			t.Errorf("%s %s%s: %d %s %q, want %d %s %q", c.method, c.host, c.path, res.StatusCode, res.Header.Get("Content-Type"), body, c.code, c.kind, c.body)
		}
		policy := res.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "connect-src 'none'", "frame-src 'none'", "form-action 'none'", "worker-src 'none'", "sandbox allow-scripts"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy has no %s: %s", c.path, want, policy)
			}
		}
		if strings.Contains(policy, "allow-same-origin") || res.Header.Get("Set-Cookie") != "" || res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", c.path, res.Header)
		}
	}
}

// TestWhichAttemptIsPreviewed: the one that is named, else the last that passed, else the last.
func TestWhichAttemptIsPreviewed(t *testing.T) {
	t.Parallel()
	m := view.NewMaking()
	for i, state := range []string{view.AttemptRejected, view.AttemptPassed, view.AttemptPassed, view.AttemptRejected} {
		m.Attempts = append(m.Attempts, &view.Attempt{Number: int64(i + 1), State: state})
	}
	for _, c := range []struct {
		args []string
		want int64
	}{{[]string{"q"}, 3}, {[]string{"q", "1"}, 1}, {[]string{"q", "9"}, 0}, {[]string{"q", "x"}, 0}} {
		got, err := previewed(m, c.args)
		if (err != nil) != (c.want == 0) || got != nil && got.Number != c.want {
			t.Errorf("%v is %+v, %v; want attempt %d", c.args, got, err, c.want)
		}
	}
	m.Attempts = m.Attempts[:1]
	if got, err := previewed(m, []string{"q"}); err != nil || got.Number != 1 {
		t.Errorf("of one that was rejected it is %+v, %v", got, err)
	}
	if _, err := previewed(view.NewMaking(), []string{"q"}); err == nil {
		t.Error("something is previewed where there is nothing")
	}
}

// TestTheAttemptsAreTold at the end of a run and by show: a table, what stood in the way, and how to look at
// what passed.
func TestTheAttemptsAreTold(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &app{out: &out}
	sum, surprise := int64(300), int64(130_000)
	q := &questJSON{Quest: "counter", Attempts: []view.AttemptCard{
		{Number: 1, State: view.AttemptRejected, Tier: 3, Verdict: "failed", Why: "adds (assertion): expected 1, saw 0\x1b[2J", Reward: &sum, Intent: "a counter"},
		{Number: 2, State: view.AttemptPassed, Tier: 3, Verdict: "passed", Tries: 1, Surprise: &surprise},
	}}
	if err := (worlds{}).ended(context.Background(), a, q, &quest.State{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ATTEMPT", "3 failed", "0.300", "0.130", "1: adds (assertion): expected 1, saw 0", "lyceum preview counter 2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("what an agent wrote reaches the terminal: %q", out.String())
	}
	out.Reset()
	if err := a.printAttempts(&questJSON{}); err != nil || !strings.Contains(out.String(), "Nothing was proposed yet.") {
		t.Errorf("of nothing it says %q, %v", out.String(), err)
	}
}
