package api_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/need"
)

// columns are the callers of the table below. mine is a token for the quest in the path,
// other one for another quest.
var columns = []string{"nobody", "read", "steer", "mine", "other", "owner"}

// expected is what every route answers to each caller, in the order of the columns. It is
// written by hand and not made of the server's own table: a row that opens differs from it.
var expected = map[string]string{
	"GET /api/openapi.json": "401 200 200 200 200 200",
	"GET /api/session":      "401 200 200 200 200 200",
	"POST /api/session":     "400 400 400 400 400 400",
	"GET /api/options":      "401 200 200 403 403 200",
	"GET /api/schema":       "401 200 200 200 200 200",
	"GET /api/event-types":  "401 200 200 200 200 200",
	"GET /api/examples":     "401 200 200 200 200 200",
	"POST /api/validate":    "401 403 403 403 403 400",
	"GET /api/quests":       "401 200 200 200 200 200",
	"POST /api/quests":      "401 403 403 403 403 400",
	"GET /api/diff":         "401 400 400 403 403 400",
	"GET /api/baselines":    "401 200 200 403 403 200",
	"GET /api/settings":     "401 403 403 403 403 404",
	"GET /api/studies":      "401 200 200 403 403 200",
	"POST /api/studies":     "401 403 403 403 403 400",
	"GET /api/doctor":       "401 403 403 403 403 404",
	"GET /metrics":          "401 200 200 403 403 200",
	"GET /api/blobs/{hash}": "401 200 200 200 404 200",
	"GET /api/trees/{hash}": "401 404 404 404 404 404",

	"GET /api/quests/{quest}":                           "401 200 200 200 403 200",
	"DELETE /api/quests/{quest}":                        "401 403 403 403 403 400",
	"POST /api/quests/{quest}/control":                  "401 403 400 400 403 400",
	"POST /api/quests/{quest}/messages":                 "401 403 400 400 403 400",
	"DELETE /api/quests/{quest}/messages/{message}":     "401 403 400 400 403 400",
	"GET /api/quests/{quest}/conversation":              "401 200 200 200 403 200",
	"POST /api/quests/{quest}/answers":                  "401 403 400 400 403 400",
	"GET /api/quests/{quest}/events":                    "401 200 200 200 403 200",
	"GET /api/quests/{quest}/events/{seq}":              "401 200 200 200 403 200",
	"GET /api/quests/{quest}/feed":                      "401 200 200 200 403 200",
	"GET /api/quests/{quest}/lanes":                     "401 200 200 200 403 200",
	"GET /api/quests/{quest}/timeline":                  "401 200 200 200 403 200",
	"GET /api/quests/{quest}/agents":                    "401 200 200 200 403 200",
	"GET /api/quests/{quest}/agents/{agent}":            "401 200 200 200 403 200",
	"GET /api/quests/{quest}/agents/{agent}/transcript": "401 200 200 200 403 200",
	"GET /api/quests/{quest}/agents/{agent}/terminal":   "401 200 200 200 403 200",
	"GET /api/quests/{quest}/agents/{agent}/files":      "401 200 200 200 403 200",
	"GET /api/quests/{quest}/agents/{agent}/versions":   "401 200 200 200 403 200",
	"GET /api/quests/{quest}/papers":                    "401 200 200 200 403 200",
	"GET /api/quests/{quest}/papers/{ref}":              "401 404 404 404 403 404",
	"GET /api/quests/{quest}/reviews":                   "401 200 200 200 403 200",
	"GET /api/quests/{quest}/citations":                 "401 200 200 200 403 200",
	"GET /api/quests/{quest}/votes":                     "401 200 200 200 403 200",
	"GET /api/quests/{quest}/tasks":                     "401 200 200 200 403 200",
	"GET /api/quests/{quest}/tasks/{task}":              "401 404 404 404 403 404",
	"POST /api/quests/{quest}/tasks/{task}/orders":      "401 403 400 400 403 400",
	"GET /api/quests/{quest}/attempts":                  "401 200 200 200 403 200",
	"GET /api/quests/{quest}/canvas":                    "401 200 200 200 403 200",
	"GET /api/quests/{quest}/evidence":                  "401 409 409 409 403 409",
	"GET /api/quests/{quest}/relations":                 "401 200 200 200 403 200",
	"GET /api/quests/{quest}/artifacts":                 "401 200 200 200 403 200",
	"GET /api/quests/{quest}/artifacts/{artifact}":      "401 404 404 404 403 404",
	"GET /api/quests/{quest}/workflow":                  "401 200 200 200 403 200",
	"GET /api/quests/{quest}/node-traces":               "401 200 200 200 403 200",
	"GET /api/quests/{quest}/branches":                  "401 200 200 200 403 200",
	"GET /api/quests/{quest}/log":                       "401 200 200 200 403 200",
	"GET /api/quests/{quest}/compare":                   "401 400 400 400 403 400",
	"GET /api/quests/{quest}/diff":                      "401 400 400 400 403 400",
	"GET /api/quests/{quest}/memory":                    "401 200 200 200 403 200",
	"GET /api/quests/{quest}/memory/{card}":             "401 404 404 404 403 404",
	"GET /api/quests/{quest}/documents":                 "401 200 200 200 403 200",
	"GET /api/quests/{quest}/documents/{document}":      "401 404 404 404 403 404",
	"POST /api/quests/{quest}/documents/{document}":     "401 403 404 404 403 404",
	"GET /api/quests/{quest}/deliveries":                "401 200 200 200 403 200",
	"GET /api/quests/{quest}/interactions":              "401 200 200 200 403 200",
	"GET /api/quests/{quest}/cost":                      "401 200 200 200 403 200",
	"GET /api/quests/{quest}/verify":                    "401 200 200 200 403 200",
	"GET /api/quests/{quest}/replay":                    "401 200 200 200 403 200",
	"GET /api/quests/{quest}/record":                    "401 200 200 200 403 200",
	"POST /api/quests/{quest}/jobs":                     "401 400 400 400 403 400",

	"POST /api/validate-study":          "401 403 403 403 403 200",
	"GET /api/studies/{study}":          "401 404 404 403 403 404",
	"POST /api/studies/{study}/control": "401 403 404 403 403 404",
	"GET /api/studies/{study}/csv":      "401 404 404 403 403 404",
	"POST /api/studies/{study}/jobs":    "401 400 400 403 403 400",

	// Whose a job is, TestJobsAreForWhoMayReadTheirQuest says.
	"POST /api/imports":         "401 403 403 403 403 400",
	"GET /api/jobs":             "401 200 200 200 200 200",
	"GET /api/jobs/{job}":       "401 404 404 404 404 404",
	"DELETE /api/jobs/{job}":    "401 400 400 400 400 400",
	"GET /api/jobs/{job}/crate": "401 404 404 404 404 404",

	"GET /{$}":              "200 200 200 200 200 200",
	"GET /icon.svg":         "200 200 200 200 200 200",
	"GET /assets/{file...}": "200 200 200 200 200 200",
	"GET /docs/{file...}":   "200 200 200 200 200 200",
	"/":                     "401 404 404 404 404 404",

	// Whoever has a token may speak; what about is said by the rows above.
	"GET /mcp":    "401 400 400 400 400 400",
	"POST /mcp":   "401 400 400 400 400 400",
	"DELETE /mcp": "401 400 400 400 400 400",
}

// gatehouse is a server that is asked without a network, and the callers of the columns.
type gatehouse struct {
	*server
	secrets map[string]string
	cookies map[string]string
	// keys are what the page brings besides each cookie.
	keys map[string]string
	ids  map[string]string
	blob string
}

func newGatehouse(t *testing.T) *gatehouse {
	t.Helper()
	s := newHome(t).serve(api.Options{Failures: 1_000_000, Docs: fstest.MapFS{"a.js": {Data: []byte("js")}}, Page: fstest.MapFS{
		"index.html": {Data: []byte("<p>page")}, "icon.svg": {Data: []byte("<svg/>")}, "assets/a.js": {Data: []byte("js")}}})
	s.create("mine", map[string]any{"model": "demo"})
	s.create("other", map[string]any{"model": "demo", "problem": "Another question that nobody else may read."})
	g := &gatehouse{server: s, secrets: map[string]string{"owner": token}, cookies: map[string]string{}, keys: map[string]string{}, ids: map[string]string{}}
	for name, scope := range map[string]string{"read": "read", "steer": "steer", "mine": "quest:mine", "other": "quest:other"} {
		g.issue(name, scope, 0)
	}
	g.cookies["owner"], g.keys["owner"] = g.signIn(token)
	g.blob = g.spec("mine")
	return g
}

// spec is the hash of a quest's quest.yaml, which no other quest has.
func (g *gatehouse) spec(quest string) string {
	g.t.Helper()
	first, err := event.Parse([]byte(lines(g.t, g.rt, quest)[0]))
	must(g.t, err)
	return first.Body.(*event.QuestCreated).Spec.Hash.String()
}

// issue makes a token as lyceum token create does, and signs in with it.
func (g *gatehouse) issue(name, scope string, expires event.Time) {
	g.t.Helper()
	parsed, err := api.ParseScope(scope)
	must(g.t, err)
	t, secret := api.NewToken(parsed, "", g.rt.Clock(), expires)
	must(g.t, g.rt.Ledger.PutToken(g.t.Context(), t))
	g.secrets[name], g.ids[name] = secret, t.ID
	g.cookies[name], g.keys[name] = g.signIn(secret)
}

// signIn opens the link with a token, and returns the cookie that a browser keeps and the key
// that the page does.
func (g *gatehouse) signIn(secret string) (cookie, key string) {
	g.t.Helper()
	w := g.ask("GET", "/?token="+url.QueryEscape(secret), "")
	cookie, key = session(w.header)
	if w.code != 303 || cookie == "" || key == "" {
		g.t.Fatalf("the link gives %d, the cookie %q and the key %q, want 303 and both", w.code, cookie, key)
	}
	return cookie, key
}

// session is what the answer to a link that was opened has: a cookie for the browser, and a key
// for the page.
func session(h http.Header) (cookie, key string) {
	cookie, _, _ = strings.Cut(h.Get("Set-Cookie"), ";")
	_, key, _ = strings.Cut(h.Get("Location"), "#key=")
	return cookie, key
}

// ask sends a request straight to the server. Headers are given as pairs.
func (g *gatehouse) ask(method, target, body string, headers ...string) *memory {
	g.t.Helper()
	w := &memory{header: http.Header{}, code: 0}
	r, err := http.NewRequestWithContext(g.t.Context(), method, "http://localhost/", strings.NewReader(body))
	must(g.t, err)
	r.URL, err = url.ParseRequestURI(target)
	must(g.t, err)
	r.RemoteAddr = "127.0.0.1:1"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	g.ServeHTTP(w, r)
	if w.code == 0 {
		w.code = 200
	}
	return w
}

func (g *gatehouse) bearer(name string) []string {
	if name == "nobody" {
		return nil
	}
	return []string{"Authorization", "Bearer " + g.secrets[name]}
}

func (g *gatehouse) cookie(name string) []string {
	if name == "nobody" {
		return nil
	}
	return []string{"Cookie", g.cookies[name], "Lyceum-Key", g.keys[name]}
}

// target is a request for a pattern about the quest mine, which changes nothing whoever
// sends it.
func (g *gatehouse) target(pattern string) (method, target, body string) {
	method, target, found := strings.Cut(pattern, " ")
	if !found {
		return "GET", "/nowhere", ""
	}
	target = strings.NewReplacer("{quest}", "mine", "{agent}", "agent-0", "{seq}", "1", "{ref}", strings.Repeat("0", 32), "{$}", "", "{file...}", "a.js").Replace(target)
	hash := g.blob
	if strings.HasPrefix(target, "/api/trees") {
		hash = strings.Repeat("0", 64)
	}
	target = strings.ReplaceAll(target, "{hash}", hash)
	switch method {
	case "DELETE":
		target += "?no=such"
	case "POST":
		body = "{}"
	}
	return method, target, body
}

// walkRow holds what a route answers to each caller against what is expected, and returns
// what differs.
func (g *gatehouse) walkRow(pattern string) (wrong []string) {
	g.t.Helper()
	want := strings.Fields(expected[pattern])
	if len(want) != len(columns) {
		return []string{fmt.Sprintf("%s is a route that nobody has thought about: say in the test who may have it", pattern)}
	}
	method, target, body := g.target(pattern)
	for i, name := range columns {
		for how, headers := range map[string][]string{"token": g.bearer(name), "cookie": g.cookie(name)} {
			want := want[i]
			if how == "cookie" && strings.HasSuffix(pattern, " /mcp") {
				want = "401" // a page does not speak it
			}
			if got := fmt.Sprint(g.ask(method, target, body, headers...).code); got != want {
				wrong = append(wrong, fmt.Sprintf("%s with the %s of %s: got %s, want %s", pattern, how, name, got, want))
			}
			if method == "GET" {
				if got := fmt.Sprint(g.ask("HEAD", target, "", headers...).code); got != want {
					wrong = append(wrong, fmt.Sprintf("HEAD for %s with the %s of %s: got %s, want %s", pattern, how, name, got, want))
				}
			}
		}
	}
	return wrong
}

// walk does so for all routes there are.
func (g *gatehouse) walk() (wrong []string) {
	g.t.Helper()
	rows := g.Rows()
	for pattern := range rows {
		wrong = append(wrong, g.walkRow(pattern)...)
	}
	for pattern := range expected {
		if rows[pattern] == "" {
			wrong = append(wrong, pattern+" is expected, and is no route")
		}
	}
	return wrong
}

func TestTheTableOfRoutes(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	g := newGatehouse(t)
	t.Run("AnswersEachCallerAsExpected", func(t *testing.T) {
		for _, w := range g.walk() {
			t.Errorf("as the table stands: %s", w)
		}
	})
	t.Run("IsCaughtWithAnyOtherNeed", func(t *testing.T) {
		for pattern, was := range g.Rows() {
			for _, need := range api.Needs() {
				if need == was {
					continue
				}
				g.Ask(pattern, need)
				if len(g.walkRow(pattern)) == 0 {
					t.Errorf("%s asks for %s instead of %s, and the walk finds nothing wrong", pattern, need, was)
				}
			}
			g.Ask(pattern, was)
		}
	})
	t.Run("TakesOnlyTheMethodsThatItNames", func(t *testing.T) {
		for pattern := range g.Rows() {
			_, target, _ := g.target(pattern)
			target, _, _ = strings.Cut(target, "?")
			for _, method := range []string{"OPTIONS", "PUT", "PATCH", "TRACE", "get", "CONNECT"} {
				if w := g.ask(method, target, ""); w.code != 401 {
					t.Errorf("%s %s without credentials: got %d, want 401", method, target, w.code)
				}
				for _, name := range columns[1:] {
					if w := g.ask(method, target, "", g.bearer(name)...); w.code != 405 && w.code != 404 {
						t.Errorf("%s %s with the token of %s: got %d, want 405", method, target, name, w.code)
					}
				}
			}
		}
	})
	t.Run("HasNothingInItOnceATokenIsGone", func(t *testing.T) {
		g := newGatehouse(t)
		g.issue("late", "steer", g.rt.Clock()+1_000_000_000)
		now := g.rt.Clock()
		for _, tok := range g.tokens() {
			must(t, g.rt.Ledger.DropToken(t.Context(), tok.ID))
			if tok.ID == g.ids["late"] { // the same one, and its time is over
				tok.Expires = now
				must(t, g.rt.Ledger.PutToken(t.Context(), tok))
			}
		}
		for pattern, need := range g.Rows() {
			method, target, body := g.target(pattern)
			for _, name := range []string{"read", "steer", "mine", "late"} {
				for _, headers := range [][]string{g.bearer(name), g.cookie(name)} {
					if w := g.ask(method, target, body, headers...); w.code != 401 && need != "open" {
						t.Errorf("%s with what was the token of %s: got %d, want 401", pattern, name, w.code)
					}
				}
			}
		}
	})
}

func (g *gatehouse) tokens() []ledger.Token {
	g.t.Helper()
	list, err := g.rt.Ledger.Tokens(g.t.Context())
	must(g.t, err)
	return list
}

// A handler that somebody puts into the mux past the table is reached by nobody.
func TestAHandlerWithoutARowIsClosed(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	for _, path := range []string{"/api/smuggled", "/smuggled", "/assets/smuggled/x"} {
		g.Smuggle("GET " + path)
		for _, name := range columns {
			want := 404
			if name == "nobody" {
				want = 401
			}
			if w := g.ask("GET", path, "", g.bearer(name)...); w.code != want {
				t.Errorf("%s, which is in no row, with the token of %s: got %d %q, want %d", path, name, w.code, w.body.String(), want)
			}
		}
	}
}

// TestOnlyMountPutsHandlersIntoTheMux looks at the source: nothing else touches a mux.
func TestOnlyMountPutsHandlersIntoTheMux(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	must(t, fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	}))
	if got := mounts(t, files); !slices.Equal(got, []string{"New: NewServeMux", "mount: HandleFunc"}) {
		t.Errorf("the mux is made and filled in %q, want New and mount alone", got)
	}
	// And it finds one who does.
	files["new.go"] = "package api\nfunc (s *Server) more() { s.mux.Handle(\"/x\", nil); http.DefaultServeMux = nil }\n"
	if got := mounts(t, files); !slices.Contains(got, "more: Handle") || !slices.Contains(got, "more: DefaultServeMux") {
		t.Errorf("a handler that is put into the mux elsewhere is not found: %q", got)
	}
}

// mounts are the places in source that make or fill a mux.
func mounts(t *testing.T, files map[string]string) (out []string) {
	t.Helper()
	for name, source := range files {
		f, err := parser.ParseFile(gotoken.NewFileSet(), name, source, parser.SkipObjectResolution)
		must(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Handle", "HandleFunc", "NewServeMux", "DefaultServeMux"}, sel.Sel.Name) {
					out = append(out, fn.Name.Name+": "+sel.Sel.Name)
				}
				return true
			})
		}
	}
	slices.Sort(out)
	return out
}

// TestTheDocumentSaysWhatEachRouteNeeds holds the document's security against the table.
func TestTheDocumentSaysWhatEachRouteNeeds(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	var doc struct {
		Info  struct{ Version string }
		Paths map[string]map[string]struct{ Security []map[string][]string }
	}
	must(t, json.Unmarshal(api.Document(), &doc))
	if doc.Info.Version != fmt.Sprint(api.Format) {
		t.Errorf("the document is of version %s, want the format %d", doc.Info.Version, api.Format)
	}
	rows := g.Rows()
	for path, methods := range doc.Paths {
		for method, op := range methods {
			pattern := strings.ToUpper(method) + " " + path
			want := fmt.Sprint([]map[string][]string{{"bearer": {rows[pattern]}}, {"cookie": {rows[pattern]}}})
			if got := fmt.Sprint(op.Security); got != want {
				t.Errorf("%s: the document says %s, want %s", pattern, got, want)
			}
		}
	}
}
