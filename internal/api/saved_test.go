package api_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// societies runs one quest of each society to its end.
func (s *server) societies() []string {
	s.t.Helper()
	names := []string{"lab", "net", "alone"}
	for _, name := range names {
		body := map[string]any{"name": name, "start": true, "example": map[string]string{"net": "thermal", "alone": "demo-number"}[name]}
		if name == "lab" {
			body = map[string]any{"start": true, "spec": map[string]any{"name": name, "society": "lab", "agents": 3, "model": "scholar", "computer": "none", "problem": "Count.", "limits": map[string]any{"turns": 60}, "tools": []string{"calculate", "write_file"}}}
		}
		s.do("POST", "/api/quests", body).want(s.t, 201)
	}
	for _, name := range names {
		s.released(name)
	}
	return names
}

// TestSavedViews reads quests up to some event, saves and restores what is known, reads
// on, and compares with what was never saved.
func TestSavedViews(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	for _, name := range s.societies() {
		var events []event.Event
		for e, err := range s.rt.Ledger.Read(context.Background(), name, 1) {
			must(t, err)
			events = append(events, e)
		}
		cuts := map[int]bool{1: true, len(events): true}
		for at := 2; at < len(events); at += max(1, len(events)/40) {
			cuts[at] = true
		}
		for at := range cuts {
			whole, restored := foldViews(t, s, events, 0), foldViews(t, s, events, at)
			if !reflect.DeepEqual(whole, restored) {
				t.Fatalf("%s, saved after event %d of %d: the views are not those that were never saved", name, at, len(events))
			}
		}
	}
}

// foldViews folds a quest, and saves and restores it after an event.
func foldViews(t *testing.T, s *server, events []event.Event, at int) *view.Views {
	t.Helper()
	state, err := quest.New(events[0], s.rt.Societies)
	must(t, err)
	v := &view.Views{}
	for i, e := range events {
		must(t, state.Fold(e))
		v.Take(e, state)
		if i+1 == at {
			data, err := v.Encode()
			must(t, err)
			v, err = view.DecodeViews(data)
			must(t, err)
		}
	}
	return v
}

func TestAServerThatStarts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	// begun returns a server that saves, and what is to see of quest alone.
	begun := func(worth, closing uint64) (*server, string) {
		s := h.serve(api.Options{})
		s.SaveFrom(worth, closing)
		return s, string(s.do("GET", "/api/quests/alone/canvas", nil).want(t, 200).body)
	}
	first := h.serve(api.Options{})
	first.SaveFrom(1<<40, 1)
	first.societies()
	truth := string(first.do("GET", "/api/quests/alone/canvas", nil).want(t, 200).body)
	saved := filepath.Join(h.dir, "cache", "alone.views")
	if exists(saved) {
		t.Fatal("the views were saved before it was time")
	}
	first.stop()
	was, err := os.ReadFile(saved)
	must(t, err) // a server that ends saves them
	if !strings.Contains(truth, `"agent":"agent-0"`) || !bytes.Contains(was, []byte("agent-0")) {
		t.Fatalf("no agent-0 in %s", truth)
	}

	// Changed by hand, and its sum made to fit, it shows which of the two is read.
	_, body, _ := bytes.Cut(was, []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("\x07agent-0\x01\x07agent-0"), []byte("\x07agent-0\x01\x07AGENT-0"))
	write := func(sum event.Hash) { must(t, os.WriteFile(saved, append([]byte(sum.String()+"\n"), body...), 0o600)) }
	write(event.HashOf(body))
	s, got := begun(1<<40, 1<<40)
	s.stop()
	if got != strings.Replace(truth, `"agent":"agent-0"`, `"agent":"AGENT-0"`, 1) {
		t.Errorf("what was saved is not what is shown: %s", got)
	}
	write(event.HashOf(nil))
	s, got = begun(1<<40, 1<<40)
	s.stop()
	if got != truth {
		t.Errorf("a saved file that does not match its sum is shown: %s", got)
	}

	// While it runs, too; and a quest that goes takes its file along.
	must(t, os.Remove(saved))
	s, _ = begun(10, 1<<40)
	s.do("GET", "/api/quests/alone", nil).want(t, 200)
	s.Saved()
	if got, err := os.ReadFile(saved); err != nil || len(got) == 0 {
		t.Errorf("nothing was saved: %v", err)
	}
	s.do("DELETE", "/api/quests/alone", nil).want(t, 204)
	if exists(saved) {
		t.Error("a removed quest's views are still there")
	}
	// Another of its name is not taken for it.
	s.finish("demo-number", "alone", "")
	s.stop()
	write(event.HashOf(body))
	if _, got = begun(1<<40, 1<<40); strings.Contains(got, "AGENT") {
		t.Errorf("what was saved of the removed quest is shown of the new one: %s", got)
	}
}

// silence lets nothing of this home be read unheard. It returns what hears the ledger of the last runtime.
func (h *home) silence() func() *silent {
	var last *silent
	h.wrap = func(s ledger.Store) ledger.Store {
		last = &silent{Store: s}
		return last
	}
	return func() *silent { return last }
}

// silent is a ledger of which nobody may read events.
type silent struct {
	ledger.Store
	mu   sync.Mutex // guards read
	read []string
}

// reads is whose events were read, once for each time.
func (s *silent) reads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.read)
}

func (s *silent) Read(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error] {
	s.mu.Lock()
	s.read = append(s.read, quest)
	s.mu.Unlock()
	return s.Store.Read(ctx, quest, seq)
}

// TestTheListOfAServerThatStarts: what is kept of quests that nobody has touched since they came to rest is listed
// without a look at their events, though no server has ever listed them.
func TestTheListOfAServerThatStarts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	quiet := h.silence()
	listed := func(s *server) (list []byte, read []string) {
		t.Helper()
		before := len(quiet().reads())
		list = s.do("GET", "/api/quests", nil).want(t, 200).body
		return list, quiet().reads()[before:]
	}
	first := h.serve(api.Options{})
	first.societies()
	want, read := listed(first)
	if len(read) > 0 {
		t.Errorf("quests that came to rest in this server were read for its list: %v", read)
	}
	first.stop()
	second := h.serve(api.Options{})
	got, read := listed(second)
	if !bytes.Equal(got, want) {
		t.Errorf("the list is\n%s\nand was\n%s", got, want)
	}
	if len(read) > 0 {
		t.Errorf("the events of %v were read for the first list of a server", read)
	}
	second.do("POST", "/api/quests", map[string]any{"name": "more", "example": "demo-number"}).want(t, 201)
	if got := second.do("GET", "/api/quests", nil).want(t, 200).body; !bytes.Contains(got, []byte(`"more"`)) {
		t.Errorf("a new quest is missing in the list: %s", got)
	}
	second.do("DELETE", "/api/quests/more", nil).want(t, 204)
	second.stop()
	// One that has nothing to go by reads the ledgers, and says the same.
	must(t, os.Remove(filepath.Join(h.dir, "lyceum-index.db")))
	if got, read := listed(h.serve(api.Options{})); !bytes.Equal(got, want) || len(read) == 0 {
		t.Errorf("having read the events of %v, the list is\n%s\nand was\n%s", read, got, want)
	}
}

// TestAQuestIsMadeAndStartedWithoutReading: what a server needs of a quest that it has just made it knows; only the
// run reads the quest's one event, to fold it.
func TestAQuestIsMadeAndStartedWithoutReading(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	silence := h.silence()
	s := h.serve(api.Options{})
	quiet := silence()
	made := s.do("POST", "/api/quests", map[string]any{"spec": map[string]any{"name": "new", "problem": "Count.", "model": "gate"}}).want(t, 201).body
	if len(quiet.reads()) > 0 {
		t.Errorf("making a quest has read events %d times", len(quiet.reads()))
	}
	if shown := s.do("GET", "/api/quests/new", nil).want(t, 200).body; !bytes.Equal(shown, made) || len(quiet.reads()) > 0 {
		t.Errorf("the quest is shown, after %d reads, as\n%s\nand when it was made\n%s", len(quiet.reads()), shown, made)
	}
	started := s.control("new", map[string]any{"action": "start"}).want(t, 200).body
	if len(quiet.reads()) > 1 {
		t.Errorf("starting a quest has read events %d times: want once", len(quiet.reads()))
	}
	if !bytes.Contains(started, []byte(`"status":"running"`)) {
		t.Errorf("a quest that was started is told as %s", started)
	}
}
