package api_test

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/view"
)

type graph struct {
	Nodes []struct {
		ID, Kind, Status, Agent string
		Seq, Last               uint64
		Changes                 []struct{ Seq uint64 }
	}
	Edges []struct {
		ID, From, To, Kind string
		Seq, Until         uint64
	}
	Head uint64
}

// TestProjections compares a server that has watched quests grow with one that reads
// them from nothing.
func TestProjections(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{})
	for _, name := range []string{"lab", "net", "alone"} {
		body := map[string]any{"name": name, "example": map[string]string{"net": "thermal", "alone": "demo-number"}[name]}
		if name == "lab" {
			body = map[string]any{"spec": map[string]any{"name": name, "society": "lab", "agents": 3, "model": "scholar", "computer": "none", "problem": "Count.", "limits": map[string]any{"turns": 60}, "tools": []string{"calculate", "write_file"}}}
		}
		s.do("POST", "/api/quests", body).want(t, 201)
		s.control(name, map[string]any{"action": "start"}).want(t, 200)
	}
	// Whatever is asked while they run is asked in the middle of something.
	parts := []string{"", "/canvas", "/timeline", "/timeline?joined=true", "/lanes", "/feed", "/agents", "/papers", "/reviews", "/citations", "/votes", "/cost", "/artifacts"}
	for i := range 30 {
		s.do("GET", "/api/quests/"+[]string{"lab", "net", "alone"}[i%3]+parts[i%len(parts)], nil).want(t, 200)
	}
	for _, name := range []string{"lab", "net", "alone"} {
		s.released(name)
	}
	fresh := h.serve(api.Options{})
	for _, name := range []string{"lab", "net", "alone"} {
		for _, part := range parts {
			a, b := s.do("GET", "/api/quests/"+name+part, nil).want(t, 200), fresh.do("GET", "/api/quests/"+name+part, nil).want(t, 200)
			if string(a.body) != string(b.body) {
				t.Errorf("%s%s: watched\n%.1000s\nread\n%.1000s", name, part, a.body, b.body)
			}
		}
	}
	t.Run("CanvasHasItsEdges", func(t *testing.T) { canvasEdges(t, s) })
	t.Run("CanvasGrowsByWhatIsNew", func(t *testing.T) { canvasGrows(t, s) })
}

func canvasEdges(t *testing.T, s *server) {
	for quest, want := range map[string][]string{
		"lab": {"cites", "reviews", "votes", "wrote"},
		"net": {"awards", "bids", "supports", "attacks", "caused-by"},
	} {
		var g graph
		s.do("GET", "/api/quests/"+quest+"/canvas", nil).want(t, 200).into(t, &g)
		ids, kinds, born := map[string]bool{}, map[string]int{}, map[string]uint64{}
		for _, n := range g.Nodes {
			if ids[n.ID] {
				t.Errorf("%s: two nodes %s", quest, n.ID)
			}
			ids[n.ID], born[n.ID] = true, n.Seq
		}
		seen := map[string]bool{}
		for _, e := range g.Edges {
			kinds[e.Kind]++
			if !ids[e.From] || !ids[e.To] || seen[e.ID] {
				t.Errorf("%s: edge %+v joins what is not there, or is there twice", quest, e)
			}
			if e.Seq < born[e.From] || e.Seq < born[e.To] {
				t.Errorf("%s: edge %s is older than what it joins", quest, e.ID)
			}
			seen[e.ID] = true
		}
		for _, k := range want {
			if kinds[k] == 0 {
				t.Errorf("%s has no edge %s: %v", quest, k, kinds)
			}
		}
	}
}

func canvasGrows(t *testing.T, s *server) {
	var whole graph
	s.do("GET", "/api/quests/lab/canvas", nil).want(t, 200).into(t, &whole)
	half := whole.Head / 2
	var rest graph
	s.do("GET", fmt.Sprintf("/api/quests/lab/canvas?after=%d", half), nil).want(t, 200).into(t, &rest)
	for _, n := range whole.Nodes {
		if got := slices.ContainsFunc(rest.Nodes, func(o struct {
			ID, Kind, Status, Agent string
			Seq, Last               uint64
			Changes                 []struct{ Seq uint64 }
		}) bool {
			return o.ID == n.ID
		}); got != (n.Last > half) {
			t.Errorf("node %s of %d to %d is among what is new after %d: %v", n.ID, n.Seq, n.Last, half, got)
		}
	}
	if len(rest.Edges) == 0 || len(rest.Edges) >= len(whole.Edges) {
		t.Errorf("%d of %d edges are new", len(rest.Edges), len(whole.Edges))
	}
}

func TestBlobsAreHarmless(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	put := func(data string) string {
		ref, err := s.rt.Blobs.Put(t.Context(), []byte(data))
		must(t, err)
		return ref.Hash.String()
	}
	for _, c := range []struct {
		name, data, kind string
		inline           bool
	}{
		{"html", "<!doctype html><script>alert(1)</script>", "text/plain; charset=utf-8", false},
		{"svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, "text/plain; charset=utf-8", false},
		{"xml", `<?xml version="1.0"?><x/>`, "text/plain; charset=utf-8", false},
		{"pdf", "%PDF-1.7 (javascript)", "application/octet-stream", false},
		{"png", "\x89PNG\x0d\x0a\x1a\x0a and more", "image/png", true},
		{"gif that is also a script", "GIF89a/*<script>*/=1", "image/gif", true},
		{"bytes", "\x00\x01\x02", "application/octet-stream", false},
		{"nothing", "", "text/plain; charset=utf-8", false},
	} {
		a := s.do("GET", "/api/blobs/"+put(c.data)+"?name=x.html", nil).want(t, 200)
		if got := a.header.Get("Content-Type"); got != c.kind || string(a.body) != c.data {
			t.Errorf("%s is %s", c.name, got)
		}
		if how, _, _ := mime.ParseMediaType(a.header.Get("Content-Disposition")); (how == "attachment") == c.inline {
			t.Errorf("%s is sent as %q", c.name, how)
		}
		if !strings.Contains(a.header.Get("Content-Security-Policy"), "sandbox") || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("a file is served without its guards: %s: %v", c.name, a.header)
		}
	}
	t.Run("AreReadInParts", func(t *testing.T) {
		t.Parallel()
		text := strings.Repeat("0123456789", 1<<20) // more than is read into memory
		hash := put(text)
		for from, to := range map[int]int{0: 9, 5_000_000: 5_000_019, len(text) - 3: len(text) - 1} {
			a := s.do("GET", "/api/blobs/"+hash, nil, func(r *http.Request) { r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to)) }).want(t, 206)
			if string(a.body) != text[from:to+1] {
				t.Errorf("bytes %d to %d are %.40q", from, to, a.body)
			}
		}
		if a := s.do("GET", "/api/blobs/"+hash, nil).want(t, 200); string(a.body) != text {
			t.Errorf("the whole has %d bytes", len(a.body))
		}
	})
	t.Run("HaveSafeNames", func(t *testing.T) {
		t.Parallel()
		a := s.do("GET", "/api/blobs/"+put("x")+"?name="+`..%2f..%2f%22%0d%0aX-Evil:%201%e2%80%aetxt`, nil).want(t, 200)
		_, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
		if err != nil || a.header.Get("X-Evil") != "" || strings.ContainsAny(params["filename"], "/\"\r\n\u202e") {
			t.Errorf("the name of a download: got %v %q, want one that leads nowhere", err, a.header.Get("Content-Disposition"))
		}
	})
}

// TestAWordIsSaidBackWithoutWhatHides: an error names the parameter it does not know.
func TestAWordIsSaidBackWithoutWhatHides(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	a := s.do("GET", "/api/quests?"+url.QueryEscape("a\u202e\u200bb"+strings.Repeat("é", 100))+"=1", nil).want(t, 400)
	var got struct {
		Error struct{ Message, Field string }
	}
	a.into(t, &got)
	if want := "a\uFFFD\uFFFDb" + strings.Repeat("é", 55) + "…"; got.Error.Field != want {
		t.Errorf("the parameter is called %q, want %q", got.Error.Field, want)
	}
}

func TestACommandIsShownAsItWasTyped(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`["sh","-c","make && echo done"]`: "make && echo done", `["python3","a.py"]`: "python3 a.py", `["sh","-c","echo $0","x"]`: "sh -c echo $0 x", `["sh"]`: "sh",
		`["sh","-x","y"]`: "sh -x y", `["perl","-c","y"]`: "perl -c y", `not JSON`: "not JSON", `[]`: "",
	} {
		if got := api.CommandLine(args); got != want {
			t.Errorf("%s is shown as %q, want %q", args, got, want)
		}
	}
}

// TestAQuestThatMayHaveBeenMeantIsNamed: to those alone who may see that it is there.
func TestAQuestThatMayHaveBeenMeantIsNamed(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("riddle")
	s.writer("weather")
	said := func(path, secret string) string {
		t.Helper()
		var e struct{ Error struct{ Message string } }
		s.do("GET", path, nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }).want(t, 404).into(t, &e)
		return e.Error.Message
	}
	const want = `there is no quest "ridle"; did you mean riddle? GET /api/quests lists those that there are`
	for _, path := range []string{"/api/quests/ridle", "/api/quests/ridle/events", "/api/diff?a=weather&b=ridle"} {
		if got := said(path, token); got != want {
			t.Errorf("GET %s: got %q, want %q", path, got, want)
		}
	}
	scope, err := api.ParseScope("quest:ridle")
	must(t, err)
	tok, secret := api.NewToken(scope, "", s.rt.Clock(), 0)
	must(t, s.rt.Ledger.PutToken(t.Context(), tok))
	if got := said("/api/quests/ridle", secret); strings.Contains(got, "riddle") {
		t.Errorf("the holder of a token for a quest that is gone reads %q, which names another's", got)
	}
}

func TestAQuestThatIsNotThereIsSaidSoOnce(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("q")
	ask := func(method, path string, body any) {
		t.Helper()
		var e struct {
			Error struct{ Code, Message string }
		}
		s.do(method, path, body).want(t, 404).into(t, &e)
		if e.Error.Code != "not_found" || e.Error.Message != `there is no quest "nope": GET /api/quests lists those that there are` {
			t.Errorf("%s %s says %q", method, path, e.Error.Message)
		}
	}
	for _, pattern := range s.Patterns() {
		if method, path, _ := strings.Cut(pattern, " "); strings.Contains(path, "{quest}") {
			var body any
			switch {
			case strings.HasSuffix(path, "/control"):
				body = map[string]any{"action": "stop"}
			case strings.HasSuffix(path, "/messages"):
				body = map[string]any{"text": "x"}
			case strings.HasSuffix(path, "/answers"):
				body = map[string]any{"question": 1, "text": "x"}
			case strings.HasSuffix(path, "/orders"):
				body = map[string]any{"action": "cancel"}
			case strings.HasSuffix(path, "/jobs"):
				body = map[string]any{"kind": "verify"}
			case method == "POST" && strings.HasSuffix(path, "/documents/{document}"):
				body = map[string]any{"text": "x"}
			}
			path = strings.ReplaceAll(path, "{quest}", "nope")
			ask(method, fill(path, "", ""), body)
		}
	}
	ask("GET", "/api/diff?a=q&b=nope", nil)
	ask("GET", "/api/diff?a=nope&b=q", nil)
}

func TestThePage(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Page: fstest.MapFS{
		"index.html": {Data: []byte("<p>page")}, "assets/app-1a2b3c4d.js": {Data: []byte("js")}, "assets/app-1a2b3c4d.js.br": {Data: []byte("brotli")},
		"assets/app-1a2b3c4d.js.gz": {Data: []byte("gzip")}, "plain.txt": {Data: []byte("text")}, "icon.svg": {Data: []byte("<svg/>")},
	}})
	get := func(path, coding string) answer {
		return s.do("GET", path, nil, bare, func(r *http.Request) { r.Header.Set("Accept-Encoding", coding) }).want(t, 200)
	}
	for _, c := range []struct{ path, coding, body, encoding, cache string }{
		{"/", "", "<p>page", "", "no-cache"},
		{"/assets/app-1a2b3c4d.js", "gzip, br", "brotli", "br", "public, max-age=31536000, immutable"},
		{"/assets/app-1a2b3c4d.js", "gzip;q=1, br;q=0", "gzip", "gzip", "public, max-age=31536000, immutable"},
		{"/assets/app-1a2b3c4d.js", "identity", "js", "", "public, max-age=31536000, immutable"},
		{"/icon.svg", "", "<svg/>", "", "no-cache"},
	} {
		a := get(c.path, c.coding)
		if string(a.body) != c.body || a.header.Get("Content-Encoding") != c.encoding || a.header.Get("Cache-Control") != c.cache {
			t.Errorf("%s with %q: %q %q %q", c.path, c.coding, a.body, a.header.Get("Content-Encoding"), a.header.Get("Cache-Control"))
		}
	}
	s.do("GET", "/assets/gone.js", nil).want(t, 404)
	s.do("GET", "/assets/", nil).want(t, 404)
	// A file beside the page is not the page, and places in the application are behind the #.
	for _, path := range []string{"/plain.txt", "/index.html", "/quests/primes/canvas"} {
		s.do("GET", path, nil, bare).want(t, 401)
		s.do("GET", path, nil).want(t, 404)
	}
	s.do("POST", "/", nil).want(t, 405)
	s.do("PUT", "/api/quests", nil).want(t, 405)
	s.do("GET", "/api/nowhere", nil).want(t, 404)
}

func TestAnEventIsCheckedAndTraced(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.finish("demo-number", "q", "")
	for i, line := range lines(t, s.rt, "q") {
		var d struct {
			Event  json.RawMessage
			Line   string
			HashOK bool `json:"hash_ok"`
			Cause  *struct {
				Seq  uint64
				Line string
			}
			Effects []struct{ Seq uint64 }
		}
		s.do("GET", fmt.Sprintf("/api/quests/q/events/%d", i+1), nil).want(t, 200).into(t, &d)
		e, err := event.Parse([]byte(line))
		must(t, err)
		if string(d.Event) != line || !d.HashOK || (d.Cause == nil) != (e.Parent == 0) || d.Cause != nil && d.Cause.Seq != e.Parent {
			t.Errorf("event %d: %+v", i+1, d)
		}
		if want := (&view.Teller{Most: 200}).Tell(e).Text; d.Line != want || d.Cause != nil && d.Cause.Line == "" {
			t.Errorf("event %d says %q, its cause %+v; want %q and a line of the cause", i+1, d.Line, d.Cause, want)
		}
	}
}

// TestAPageSaysWhatItsEventsMean: whoever shows a page need not know the events.
func TestAPageSaysWhatItsEventsMean(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.finish("demo-number", "q", "")
	var p struct {
		Events []struct {
			Event struct{ Type event.Type }
			Line  string
		}
	}
	s.do("GET", "/api/quests/q/events", nil).want(t, 200).into(t, &p)
	found := false
	for _, row := range p.Events {
		if row.Line == "" {
			t.Errorf("the page says nothing of a %s, want a line", row.Event.Type)
		}
		found = found || row.Event.Type == "tool.result" && strings.Contains(row.Line, " gave: ")
	}
	if !found {
		t.Errorf("no line says what a tool gave: %+v", p.Events)
	}
}

// TestAQuestThatWasRemovedAndMadeAgain: what one server knows of a quest must not stand
// for another of that name.
func TestAQuestThatWasRemovedAndMadeAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	here, there := h.serve(api.Options{}), h.serve(api.Options{})
	for _, n := range []int{5, 20, 3, 3} { // longer, shorter, and as long
		if n != 5 {
			there.do("DELETE", "/api/quests/q", nil).want(t, 204)
		}
		w := there.writer("q")
		w.write(n, n)
		var q struct {
			Events  uint64
			Hash    string
			Created event.Time
		}
		first, err := event.Parse([]byte(lines(t, there.rt, "q")[0]))
		must(t, err)
		here.do("GET", "/api/quests/q", nil).want(t, 200).into(t, &q)
		var line struct{ Head uint64 }
		here.do("GET", "/api/quests/q/timeline", nil).want(t, 200).into(t, &line)
		if q.Events != w.seq || q.Hash != w.hash.String() || line.Head != w.seq || q.Created != first.Time {
			t.Errorf("after %d events: %+v, %d in the timeline", n, q, line.Head)
		}
		var a struct{ Messages []struct{ Seq uint64 } }
		here.do("GET", "/api/quests/q/agents/agent-0/transcript?limit=500", nil).want(t, 200).into(t, &a)
		if len(a.Messages) != n+1 {
			t.Errorf("%d messages, want %d", len(a.Messages), n+1)
		}
	}
}
