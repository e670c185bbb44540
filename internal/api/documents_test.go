package api_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// document is what the server says of one.
type document struct {
	Name, Revision, Text, Reason string
	Editable, Truncated, Waits   bool
	Revisions                    []struct {
		Revision string
		Seq      uint64
		By       string
	}
}

func (s *server) brief(name string) (d document) {
	s.t.Helper()
	s.do("GET", "/api/quests/"+name+"/documents/brief.md", nil).want(s.t, 200).into(s.t, &d)
	return d
}

// saves are the new texts of documents in a ledger.
func (s *server) saves(name string) (out []string) {
	s.t.Helper()
	for e, err := range s.rt.Ledger.Read(s.t.Context(), name, 1) {
		must(s.t, err)
		if b, ok := e.Body.(*event.UserMessage); ok && b.Document != nil {
			out = append(out, b.Text.Text)
		}
	}
	return out
}

// refusal is what an error says.
type refusal struct {
	Error struct{ Code, Message, Field, Revision string }
}

// TestTheBriefIsSaved: a person's text is an event, which the researcher hears; whoever read
// another one is refused, and told which there is.
func TestTheBriefIsSaved(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.researcher("q")
	h.gate.let(1)
	s.control("q", map[string]any{"action": "start"}).want(t, 200)
	s.waits("q")
	const at = "/api/quests/q/documents/brief.md"
	first := s.brief("q")
	if !first.Editable || first.Reason != "" || first.Truncated || len(first.Revisions) != 1 || first.Revisions[0].Seq != 1 || first.Revisions[0].Revision != first.Revision {
		t.Fatalf("the brief is %+v, want one that can be changed, of one revision", first)
	}

	// The study waits: it goes on, and the researcher has the new text.
	h.gate.let(1)
	var got posted
	save := map[string]any{"text": "Count to ten.\r\n\n", "revision": first.Revision, "key": "once"}
	s.do("POST", at, save).want(t, 202).into(t, &got)
	until(t, s.rt, "q", func(e event.Event) bool {
		b, ok := e.Body.(*event.SittingBegun)
		return ok && slices.Equal(b.Mail, []uint64{got.Message})
	})
	s.waits("q")
	now := s.brief("q")
	if now.Text != "Count to ten.\n" || now.Revision != event.HashOf([]byte("Count to ten.")).String() || len(now.Revisions) != 2 || now.Revisions[0].Seq != got.Message || now.Revisions[0].By != "person" {
		t.Errorf("the brief is %+v after the save %+v", now, got)
	}
	if data, err := os.ReadFile(filepath.Join(s.rt.QuestDir("q"), "brief.md")); err != nil || string(data) != "Count to ten.\n" {
		t.Errorf("brief.md holds %q, %v", data, err)
	}
	var c conversation
	a := s.do("GET", "/api/quests/q/conversation", nil).want(t, 200)
	a.into(t, &c)
	if !contains(a, `"document":"brief.md"`) {
		t.Errorf("the conversation does not tell of the new text: %s", a.body)
	}

	// Its answer was lost: it is the same save, by its key or by what it is.
	var again posted
	s.do("POST", at, save).want(t, 202).into(t, &again)
	s.do("POST", at, map[string]any{"text": "Count to ten.", "revision": first.Revision}).want(t, 202)
	if saves := s.saves("q"); len(saves) != 1 || again.Message != got.Message {
		t.Errorf("the ledger has %q, and the answers are %+v and %+v", saves, got, again)
	}

	// Whoever read the one before is late.
	before := lines(t, s.rt, "q")
	var late refusal
	s.do("POST", at, map[string]any{"text": "Count to nine.", "revision": first.Revision}).want(t, 409).into(t, &late)
	if late.Error.Code != "conflict" || late.Error.Revision != now.Revision || !strings.Contains(late.Error.Message, "was changed since it was read") || !slices.Equal(lines(t, s.rt, "q"), before) {
		t.Errorf("a late save: %+v, want the revision that there is, and nothing recorded", late)
	}
	// One that is sent again after somebody has put the first text back must not count a second time.
	h.gate.let(1)
	back := strings.TrimSuffix(first.Text, "\n")
	s.do("POST", at, map[string]any{"text": back, "revision": now.Revision}).want(t, 202)
	s.waits("q")
	s.do("POST", at, save).want(t, 202).into(t, &again)
	if d := s.brief("q"); d.Text != first.Text || again.Message != got.Message || len(s.saves("q")) != 2 {
		t.Errorf("a save that was made before counts again: %+v", d)
	}
}

// TestDocumentsThatNobodyWrites are refused with a reason, and nothing is recorded.
func TestDocumentsThatNobodyWrites(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.create("q", map[string]any{"society": "stages", "model": "demo"})
	s.create("alone", map[string]any{"model": "demo"})
	before := append(lines(t, s.rt, "q"), lines(t, s.rt, "alone")...)
	revision := s.brief("q").Revision
	for _, c := range []struct {
		path, text, revision, says string
		code                       int
	}{
		{"q/documents/plan.md", "x", revision, "it follows from the course of the study", 409},
		{"q/documents/status.md", "x", revision, "it follows from what has happened", 409},
		{"q/documents/SUMMARY.md", "x", revision, "it is the quest's answer", 409},
		{"q/documents/quest.yaml", "x", revision, "stays as it was", 409},
		{"q/documents/passwords", "x", revision, "has no document", 404},
		{"q/documents/..%2fquest.yaml", "x", revision, "has no document", 404},
		{"alone/documents/brief.md", "x", s.brief("alone").Revision, "a message says what is to be different", 409},
		{"nope/documents/brief.md", "x", revision, "there is no quest", 404},
		{"q/documents/brief.md", " \n", revision, "1 to 65536 bytes", 400},
		{"q/documents/brief.md", strings.Repeat("x", 64<<10+1), revision, "this one has 65537", 400},
		{"q/documents/brief.md", "x", "", "64 hex digits", 400},
		{"q/documents/brief.md", "x", strings.Repeat("0", 64), "was changed since it was read", 409},
	} {
		a := s.do("POST", "/api/quests/"+c.path, map[string]any{"text": c.text, "revision": c.revision}).want(t, c.code)
		if !contains(a, c.says) {
			t.Errorf("%s: %s, want %q in it", c.path, a.body, c.says)
		}
	}
	if after := append(lines(t, s.rt, "q"), lines(t, s.rt, "alone")...); !slices.Equal(after, before) {
		t.Error("what was refused is in a ledger")
	}
	// The list says the same.
	var list struct{ Documents []document }
	s.do("GET", "/api/quests/q/documents", nil).want(t, 200).into(t, &list)
	for _, d := range list.Documents {
		if d.Editable != (d.Name == "brief.md") || d.Editable != (d.Reason == "") {
			t.Errorf("of %s it is said that it can be changed: %v, %q", d.Name, d.Editable, d.Reason)
		}
	}
}

// TestALongDocumentSaysThatItIsCut: what people can save is shown whole, whatever its letters are.
func TestALongDocumentSaysThatItIsCut(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	long := strings.Repeat("é\n", 30_000) // 90,000 bytes
	s.create("long", map[string]any{"society": "stages", "model": "demo", "problem": long})
	d := s.brief("long")
	if !d.Truncated || d.Editable || !strings.Contains(d.Reason, "longer than the 65536 bytes") || len(d.Text) > 64<<10+1 || len(d.Text) < 64<<10-4 {
		t.Errorf("a brief of %d bytes: truncated %v, editable %v, %d bytes, %q", len(long), d.Truncated, d.Editable, len(d.Text), d.Reason)
	}
	s.create("q", map[string]any{"society": "stages", "model": "demo"})
	whole := strings.Repeat("\x01\"", 32<<10) // what takes most in JSON
	var got posted
	s.do("POST", "/api/quests/q/documents/brief.md", map[string]any{"text": whole, "revision": s.brief("q").Revision}).want(t, 202).into(t, &got)
	if d := s.brief("q"); d.Truncated || !d.Editable || d.Text != whole+"\n" || got.Message == 0 {
		t.Errorf("a brief of %d bytes is shown with %d, truncated %v; %+v", len(whole), len(d.Text), d.Truncated, got)
	}
}

// TestOfManySavesAtOnceOneCounts: each of the others is told so, and the ledger has one.
func TestOfManySavesAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.create("q", map[string]any{"society": "stages", "model": "demo"})
	base := s.brief("q").Revision
	var wg sync.WaitGroup
	codes := make([]int, 8)
	for i := range codes {
		wg.Go(func() {
			codes[i] = s.do("POST", "/api/quests/q/documents/brief.md", map[string]any{"text": fmt.Sprint("Text ", i), "revision": base}).code
		})
	}
	wg.Wait()
	slices.Sort(codes)
	saves := s.saves("q")
	if codes[0] != 202 || codes[1] != 409 || codes[7] != 409 || len(saves) != 1 || s.brief("q").Text != saves[0]+"\n" {
		t.Errorf("the answers are %v, the ledger has %q, the brief is %q", codes, saves, s.brief("q").Text)
	}
}

// TestASaveThatAnotherProcessWasFasterThan is in the ledger, does not count, and its writer is told.
func TestASaveThatAnotherProcessWasFasterThan(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var box *hasty
	h.wrap = func(s ledger.Store) ledger.Store {
		box = &hasty{Store: s}
		return box
	}
	s := h.researcher("q")
	st, err := s.rt.Load(t.Context(), "q")
	must(t, err)
	m, err := s.rt.Revise(t.Context(), "q", st, st.BriefRevision(), "Theirs.")
	must(t, err)
	box.first.Store(&ledger.Command{Body: m}) // as lyceum brief posts between the look and the post of the server
	var late refusal
	s.do("POST", "/api/quests/q/documents/brief.md", map[string]any{"text": "Ours.", "revision": st.BriefRevision().String()}).want(t, 409).into(t, &late)
	if d := s.brief("q"); d.Text != "Theirs.\n" || late.Error.Revision != d.Revision || len(s.saves("q")) != 2 {
		t.Errorf("the brief is %+v, the answer %+v, the ledger has %q", d, late, s.saves("q"))
	}
}

// hasty is a ledger to which somebody else posts first.
type hasty struct {
	ledger.Store
	first atomic.Pointer[ledger.Command] // nil is nothing
}

func (h *hasty) Post(ctx context.Context, name string, c ledger.Command) (int64, error) {
	if first := h.first.Swap(nil); first != nil {
		if _, err := h.Store.Post(ctx, name, *first); err != nil {
			return 0, err
		}
	}
	return h.Store.Post(ctx, name, c)
}

// askDocuments saves a document, for the document of the API.
func (w *world) askDocuments(ask func(string, string, any, ...func(*http.Request)) answer) {
	const save, at = "POST /api/quests/{quest}/documents/{document}", "/api/quests/talk/documents/brief.md"
	base := w.brief("talk").Revision
	ask(save, at, map[string]any{"text": "Count to nine.", "revision": base, "key": "k"}).want(w.t, 202)
	ask(save, at, map[string]any{"text": "Count on.", "revision": base}).want(w.t, 409)
	// Nobody runs this one, or takes what is in its inbox.
	st, err := w.rt.Load(w.t.Context(), "study")
	must(w.t, err)
	m, err := w.rt.Revise(w.t.Context(), "study", st, st.BriefRevision(), "Count on.")
	must(w.t, err)
	_, err = w.rt.Post(w.t.Context(), "study", ledger.Command{Body: m})
	must(w.t, err)
	ask("GET /api/quests/{quest}/documents", "/api/quests/study/documents", nil).want(w.t, 200)
	ask("GET /api/quests/{quest}/documents/{document}", "/api/quests/study/documents/brief.md", nil).want(w.t, 200)
	if d := w.brief("study"); d.Text != "Count on.\n" || !d.Waits || d.Revision != event.HashOf([]byte("Count on.")).String() {
		w.t.Errorf("a brief that waits in the inbox: %+v", d)
	}
	ask("GET /api/quests/{quest}/conversation", "/api/quests/talk/conversation", nil).want(w.t, 200)
}
