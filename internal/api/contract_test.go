package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/blob"
	"lyceum/internal/model"
	"lyceum/internal/need"

	"github.com/google/jsonschema-go/jsonschema"
)

// promise is the document, and what of it has been seen to hold.
type promise struct {
	t    *testing.T
	defs json.RawMessage
	// operations by pattern, such as GET /api/quests
	ops  map[string]operation
	seen map[string]bool
	made map[string]*jsonschema.Resolved
}

type operation struct {
	Parameters []struct {
		Name, In string
	}
	RequestBody *struct{} `json:"requestBody"`
	Responses   map[string]response
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema json.RawMessage }
}

func readDocument(t *testing.T) *promise {
	t.Helper()
	doc := bytes.ReplaceAll(api.Document(), []byte("#/components/schemas/"), []byte("#/$defs/"))
	var d struct {
		OpenAPI    string
		Paths      map[string]map[string]operation
		Components struct {
			Schemas   json.RawMessage
			Responses map[string]response
		}
	}
	must(t, json.Unmarshal(doc, &d))
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi %s", d.OpenAPI)
	}
	c := &promise{t: t, defs: d.Components.Schemas, ops: map[string]operation{}, seen: map[string]bool{}, made: map[string]*jsonschema.Resolved{}}
	for path, methods := range d.Paths {
		for method, op := range methods {
			for code, r := range op.Responses {
				if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
					op.Responses[code] = d.Components.Responses[name]
				}
			}
			c.ops[strings.ToUpper(method)+" "+path] = op
		}
	}
	return c
}

// check holds an answer against the document.
func (c *promise) check(pattern string, a answer) {
	c.t.Helper()
	op, ok := c.ops[pattern]
	if !ok {
		c.t.Errorf("%s is not in the document", pattern)
		return
	}
	r, ok := op.Responses[fmt.Sprint(a.code)]
	if !ok {
		c.t.Errorf("%s answers %d, which the document does not know: %.300s", pattern, a.code, a.body)
		return
	}
	c.seen[fmt.Sprintf("%s %d", pattern, a.code)] = true
	if len(r.Content) == 0 {
		if len(a.body) > 0 {
			c.t.Errorf("%s %d has a body that the document does not know", pattern, a.code)
		}
		return
	}
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	content, ok := r.Content[kind]
	if !ok && strings.HasPrefix(pattern, "GET /api/blobs/") {
		content, ok = r.Content["application/octet-stream"]
	}
	if !ok {
		c.t.Errorf("%s %d is %s, which the document does not know", pattern, a.code, kind)
		return
	}
	if kind != "application/json" {
		return
	}
	if err := c.fits(content.Schema, a.body); err != nil {
		c.t.Errorf("the answer does not fit its schema: %s %d: %v\n%.2000s", pattern, a.code, err, a.body)
	}
}

// fits holds JSON against a schema.
func (c *promise) fits(schema json.RawMessage, data []byte) error {
	resolved := c.made[string(schema)]
	if resolved == nil {
		var s map[string]json.RawMessage
		must(c.t, json.Unmarshal(schema, &s))
		s["$defs"] = c.defs
		whole, err := json.Marshal(s)
		must(c.t, err)
		var parsed jsonschema.Schema
		must(c.t, json.Unmarshal(whole, &parsed))
		resolved, err = parsed.Resolve(nil)
		must(c.t, err)
		c.made[string(schema)] = resolved
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	return resolved.Validate(v)
}

func TestTheDocument(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	c := readDocument(t)
	var have []string
	for p := range c.ops {
		have = append(have, p)
	}
	want := s.Patterns()
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("the document has\n%s\nthe server has\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
	for p, op := range c.ops {
		path := strings.Fields(p)[1]
		for _, q := range op.Parameters {
			if q.In == "path" != strings.Contains(path, "{"+q.Name+"}") {
				t.Errorf("%s: the parameter %s is in %s", p, q.Name, q.In)
			}
		}
	}
}

func TestEveryAnswerFitsTheDocument(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	w := newWorld(t)
	c := readDocument(t)
	ask := func(pattern, path string, body any, change ...func(*http.Request)) answer {
		t.Helper()
		a := w.do(strings.Fields(pattern)[0], path, body, change...)
		c.check(pattern, a)
		return a
	}
	w.askAll(t, ask)
	c.complete()
}

// askAll goes through all routes.
func (w *world) askAll(t *testing.T, ask func(string, string, any, ...func(*http.Request)) answer) {
	t.Helper()
	ops := readDocument(t).ops
	// What goes for all of them.
	for pattern, op := range ops {
		path := w.path(pattern, "lab")
		var body any
		if op.RequestBody != nil {
			body = map[string]any{}
		}
		ask(pattern, path, body, func(r *http.Request) { r.Header.Del("Authorization") })
		ask(pattern, path, body, func(r *http.Request) { r.Host = "elsewhere.example" })
		ask(pattern, path+"?nonsense=1", body)
		if body != nil {
			ask(pattern, path, `{"nonsense": 1}`)
			ask(pattern, path, `{`)
			ask(pattern, path, []int{1})
			ask(pattern, path, `{"text":"`+strings.Repeat("x", 41<<20)+`"}`)
		}
		if strings.Contains(pattern, "{quest}") {
			var order any
			switch {
			case strings.HasSuffix(pattern, "/control"):
				order = map[string]any{"action": "stop"}
			case body != nil:
				order = map[string]any{"text": "hello"}
			}
			ask(pattern, w.path(pattern, "nope"), order)
			ask(pattern, w.path(pattern, "..%2f..%2fetc"), order)
		}
	}
	w.rolled("rolled")
	ask("GET /api/quests/{quest}/verify", "/api/quests/rolled/verify", nil)
	// What each of them answers when all is well.
	for _, quest := range []string{"alone", "net", "lab"} {
		for pattern := range ops {
			method, path, _ := strings.Cut(pattern, " ")
			if method != "GET" || strings.Contains(path, "{ref}") || strings.Contains(path, "{hash}") || path == "/api/diff" {
				continue
			}
			if quest == "net" && strings.Contains(path, "{agent}") {
				path = strings.ReplaceAll(path, "{agent}", "planner")
			}
			a := ask(pattern, strings.ReplaceAll(w.path("GET "+path, quest), "{agent}", "planner"), nil)
			if a.code >= 500 {
				t.Errorf("%s of %s: %d", pattern, quest, a.code)
			}
		}
	}
	w.askReading(ask)
	w.askTasks(ask)
	w.askRelations(ask)
	w.askAttempts(ask)
	w.askStudy(ask)
	w.askRecords(ask)
	w.askDocuments(ask)
	w.askDeliveries(ask)
	w.askLong(t, ask)
	w.askOrders(t, ask)
	w.askJobs(t, ask)
	w.askStudies(t, ask)
}

// askLong asks for what is too long to be shown whole, and for a link in a folder.
func (w *world) askLong(t *testing.T, ask func(string, string, any, ...func(*http.Request)) answer) {
	t.Helper()
	w.gate.says = func(r *model.Request) *model.Answer {
		if r.Turn > 1 {
			return said("Done.")
		}
		a := call("calculate", `{"code":"print('long '*30000)"}`, r.Turn)
		a.Parts = append([]model.Part{{Kind: "text", Text: strings.Repeat("long ", 30_000)}}, a.Parts...)
		return a
	}
	w.create("long", nil)
	w.gate.let(2)
	w.control("long", map[string]any{"action": "start"}).want(t, 200)
	w.released("long")
	w.gate.says = nil
	ask("GET /api/quests/{quest}/agents/{agent}/transcript", "/api/quests/long/agents/agent-0/transcript", nil).want(t, 200)
	w.doubted("doubt")
	ask("GET /api/quests/{quest}/evidence", "/api/quests/doubt/evidence", nil).want(t, 200)
	tree, err := blob.Tree{{Name: "link", Kind: blob.Link, Target: "elsewhere"}}.Encode()
	must(t, err)
	ref, err := w.rt.Blobs.Put(t.Context(), tree)
	must(t, err)
	ask("GET /api/trees/{hash}", "/api/trees/"+ref.Hash.String(), nil).want(t, 200)
}

// askReading asks for what the loop cannot.
func (w *world) askReading(ask func(string, string, any, ...func(*http.Request)) answer) {
	for _, ref := range w.refs {
		ask("GET /api/quests/{quest}/papers/{ref}", "/api/quests/lab/papers/"+ref, nil)
	}
	ask("GET /api/quests/{quest}/papers/{ref}", "/api/quests/lab/papers/"+strings.Repeat("0", 32), nil)
	ask("GET /api/quests/{quest}/papers", "/api/quests/lab/papers?order=votes&status=PUBLISHED&limit=1&offset=1", nil)
	ask("GET /api/diff", "/api/diff?a=alone&b=net", nil)
	ask("GET /api/diff", "/api/diff?a=net&b=lab", nil)
	ask("GET /api/diff", "/api/diff?a=alone&b=nope", nil)
	blobs := "GET /api/blobs/{hash}"
	ask(blobs, "/api/blobs/"+w.blob, nil)
	ask(blobs, "/api/blobs/"+w.blob, nil, func(r *http.Request) { r.Header.Set("Range", "bytes=2-5") })
	ask(blobs, "/api/blobs/"+w.blob, nil, func(r *http.Request) { r.Header.Set("Range", "bytes=999999999-") })
	ask(blobs, "/api/blobs/"+w.blob, nil, func(r *http.Request) { r.Header.Set("If-None-Match", `"`+w.blob+`"`) })
	ask(blobs, "/api/blobs/"+strings.Repeat("0", 64), nil)
	ask("GET /api/trees/{hash}", "/api/trees/"+w.tree, nil)
	ask("GET /api/trees/{hash}", "/api/trees/"+strings.Repeat("0", 64), nil)
	events := "GET /api/quests/{quest}/events"
	for _, q := range []string{"tail=3", "after=3&limit=2", "before=5&limit=2", "type=model.&actor=agent-0", "text=PRIMES", "format=acp", "format=acp&tail=5", "after=999"} {
		ask(events, "/api/quests/alone/events?"+q, nil)
	}
	ask(events, "/api/quests/lab/events?format=acp", nil)
	ask(events, "/api/quests/net/events?format=acp", nil)
	ask("GET /api/quests/{quest}/events/{seq}", "/api/quests/alone/events/99999", nil)
	ask("GET /api/quests/{quest}/timeline", "/api/quests/lab/timeline?type=tool.&seqs=true&buckets=7", nil)
	ask("GET /api/quests/{quest}/timeline", "/api/quests/lab/timeline?joined=true", nil)
	ask("GET /api/quests/{quest}/lanes", "/api/quests/lab/lanes?from=10&parts=50", nil)
	ask("GET /api/quests/{quest}/feed", "/api/quests/lab/feed?before=900&limit=5", nil)
	ask("GET /api/quests/{quest}/timeline", "/api/quests/lab/timeline?text=squarefree&seqs=true", nil)
	agent := "GET /api/quests/{quest}/agents/{agent}"
	ask(agent, "/api/quests/alone/agents/nobody", nil)
	ask(agent, "/api/quests/alone/agents/agent-0?at=3", nil)
	ask(agent+"/files", "/api/quests/alone/agents/agent-0/files?at=2", nil)
	ask(agent+"/files", "/api/quests/alone/agents/agent-0/files?path=no/such", nil)
	ask(agent+"/transcript", "/api/quests/lab/agents/agent-1/transcript?tail=5", nil)
	ask(agent+"/transcript", "/api/quests/lab/agents/agent-1/transcript?before=4&limit=2", nil)
	ask(agent+"/terminal", "/api/quests/alone/agents/agent-0/terminal?after=1&limit=1", nil)
	ask("GET /api/quests/{quest}/cost", "/api/quests/lab/cost?agent=agent-1", nil)
	ask("GET /api/quests/{quest}/canvas", "/api/quests/lab/canvas?after=100", nil)
}

// askOrders goes through what changes something.
func (w *world) askOrders(t *testing.T, ask func(string, string, any, ...func(*http.Request)) answer) {
	const make, order, say, gone = "POST /api/quests", "POST /api/quests/{quest}/control", "POST /api/quests/{quest}/messages", "DELETE /api/quests/{quest}"
	spec := map[string]any{"name": "fresh", "problem": "Count.", "model": "gate", "tools": []string{"calculate"}}
	ask("POST /api/validate", "/api/validate", map[string]any{"spec": spec}).want(t, 200)
	ask("POST /api/validate", "/api/validate", map[string]any{"spec": map[string]any{"name": "dear", "model": "scholar", "problem": "Count.", "computer": "none"}}).want(t, 200)
	ask("POST /api/validate", "/api/validate", map[string]any{"spec": map[string]any{"name": "Not A Name"}}).want(t, 200)
	ask("POST /api/validate", "/api/validate", map[string]any{"example": "nope"}).want(t, 404)
	ask(make, "/api/quests", map[string]any{"example": "nope"}).want(t, 404)
	ask(make, "/api/quests", map[string]any{"spec": map[string]any{"name": "x"}}).want(t, 400)
	ask(make, "/api/quests", map[string]any{"spec": spec}).want(t, 201)
	ask(make, "/api/quests", map[string]any{"spec": spec}).want(t, 409)
	at := "/api/quests/fresh"
	ask(order, at+"/control", map[string]any{"action": "resume"}).want(t, 409)
	ask(order, at+"/control", map[string]any{"action": "start", "limits": map[string]any{
		"turns": 50, "cost_usd": "1.50", "tokens": 1_000_000, "storage_bytes": 1 << 30, "agent": map[string]any{"seconds": 9, "storage_bytes": 1 << 29, "turns": 40, "tokens": 900_000, "cost_usd": 1}}}).want(t, 200)
	ask(order, at+"/control", map[string]any{"action": "start"}).want(t, 409)
	ask(say, at+"/messages", map[string]any{"text": "Go on.", "to": "agent-0"}).want(t, 202)
	ask(say, at+"/messages", map[string]any{"text": "Go on.", "to": "nobody"}).want(t, 400)
	ask(say, at+"/messages", map[string]any{"attachments": []any{map[string]any{"name": "dot.png", "data": dot}}}).want(t, 202)
	ask(say, at+"/messages", map[string]any{"attachments": []any{map[string]any{"data": "no base64"}}}).want(t, 400)
	ask("GET /api/quests/{quest}/agents/{agent}/transcript", at+"/agents/agent-0/transcript", nil).want(t, 200)
	ask(say, "/api/quests/net/messages", map[string]any{"text": "Are you sure?"}).want(t, 409)
	w.askQuestions(t, ask)
	w.askToGoOn(t, ask)
	ask(gone, at, nil).want(t, 409)
	ask(order, at+"/control", map[string]any{"action": "pause"}).want(t, 200)
	ask("GET /api/quests/{quest}", at, nil).want(t, 200)
	ask(order, at+"/control", map[string]any{"action": "resume"}).want(t, 200)
	ask(order, at+"/control", map[string]any{"action": "stop"}).want(t, 200)
	ask(order, at+"/control", map[string]any{"action": "fork", "at": 2, "seed": "18446744073709551615", "message": "Other.", "name": "other"}).want(t, 201)
	ask("GET /api/quests/{quest}", "/api/quests/other", nil).want(t, 200)
	ask(order, at+"/control", map[string]any{"action": "fork", "name": "lab"}).want(t, 409)
	w.gate.let(1)
	w.released("fresh")
	ask(gone, at, nil).want(t, 204)
}

// complete finds what the document promises and nobody has seen. Three kinds are
// shown elsewhere: what breaks, what is limited, and what is going away.
func (c *promise) complete() {
	for pattern, op := range c.ops {
		for code := range op.Responses {
			if !slices.Contains([]string{"429", "500", "503"}, code) && !c.seen[pattern+" "+code] {
				c.t.Errorf("%s never answered %s", pattern, code)
			}
		}
	}
}
