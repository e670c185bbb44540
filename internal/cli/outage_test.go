package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
	"lyceum/internal/need"
)

// frail is the server of a provider that goes away and comes back at the same address.
type frail struct {
	t       *testing.T
	handler http.Handler
	addr    string
	server  *http.Server
	done    chan struct{}
	// left is how many requests are answered before it goes; those after them find nobody, and
	// gone is told of the first.
	left atomic.Int64
	gone chan struct{}
}

// newFrail listens at an address of its own: nobody else comes to have the port meanwhile.
func newFrail(t *testing.T, answers int64, handler http.Handler) *frail {
	t.Helper()
	f := &frail{t: t, addr: "127.99.16.1:0", gone: make(chan struct{}, 1)}
	f.left.Store(answers)
	f.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.left.Add(-1) >= 0 {
			handler.ServeHTTP(w, r)
			return
		}
		select {
		case f.gone <- struct{}{}:
		default:
		}
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done() // its connection is cut
	})
	f.comes()
	t.Cleanup(f.goes)
	return f
}

func (f *frail) comes() {
	f.t.Helper()
	l, err := net.Listen("tcp", f.addr)
	must(f.t, err)
	f.addr, f.server, f.done = l.Addr().String(), &http.Server{Handler: f.handler}, make(chan struct{})
	go func(s *http.Server, done chan struct{}) {
		defer close(done)
		_ = s.Serve(l)
	}(f.server, f.done)
}

// goes cuts the connections, too.
func (f *frail) goes() {
	_ = f.server.Close()
	<-f.done
}

// returns is that it comes back for good.
func (f *frail) returns() {
	f.left.Store(1 << 40)
	f.comes()
}

var (
	toReview = regexp.MustCompile(`(?:asked to review ([0-9a-f]{32}) by|- ([0-9a-f]{32}) by agent-\d+, titled .*: due)`)
	first    = regexp.MustCompile(`(?:has published |your publication )([0-9a-f]{32}), titled "scholar-0 1"(?: \(|, is PUBLISHED)`)
)

// diligent is a model that reviews what it is asked to, publishes two papers, and votes for the
// first of scholar-0. It goes by the conversation alone, so that a request that is made again is
// answered as it would have been.
func diligent(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
	papers, voted, heard, vote := 0, false, "", ""
	for _, m := range seen.Messages {
		if m.Role == model.Assistant {
			heard = ""
		}
		for _, p := range m.Parts {
			switch {
			case p.Name == "vote_solution":
				voted = true
			case strings.HasPrefix(p.Text, "Submitted as"):
				papers++
			}
			if m.Role != model.Assistant {
				heard += p.Text + "\n"
			}
			if found := first.FindStringSubmatch(p.Text); found != nil {
				vote = found[1]
			}
		}
	}
	reply := modeltest.Reply{Stop: model.StopTools, Usage: event.Usage{Input: 100, Output: 10}}
	call := func(tool string, args map[string]any) {
		data, _ := json.Marshal(args) // strings and numbers
		id := fmt.Sprintf("call_%d_%d", len(seen.Messages), len(reply.Parts))
		reply.Parts = append(reply.Parts, model.Part{Kind: event.PartToolCall, ID: id, Name: tool, Args: string(data)})
	}
	for _, m := range toReview.FindAllStringSubmatch(heard, -1) {
		call("submit_review", map[string]any{"ref": m[1] + m[2], "grade": "ACCEPT", "confidence": 3, "checked": map[string]any{"claim": "It is 42.", "ran": "nothing"}, "content": "I looked at it."})
	}
	switch {
	case len(reply.Parts) > 0:
	case papers < 2:
		call("submit_publication", map[string]any{"title": fmt.Sprintf("%s %d", seen.Model, papers+1), "content": "It is 42."})
	case vote != "" && !voted:
		call("vote_solution", map[string]any{"ref": vote})
	default:
		call("list_publications", map[string]any{"limit": len(seen.Messages)%50 + 1})
	}
	return reply, ""
}

// scholars is a home with a lab of eight, whose models are all of one provider, and with one who
// works alone.
func scholars(t *testing.T, f *frail) *home {
	t.Helper()
	known := "{context: 200000, max_output: 8000, input: 100, output: 1000}\n" // each answer costs two cents
	lab, models := "name: eight\nsociety: lab\nproblem: What is six times seven?\nseed: 7\ncomputer: none\nlimits: {turns: 5000}\nagents:\n", ""
	for i := range 8 {
		lab += fmt.Sprintf("  - {model: far/scholar-%d}\n", i)
		models += fmt.Sprintf("  far/scholar-%d: %s", i, known)
	}
	h := newHome(t, map[string]string{
		"quest.yaml": lab,
		"alone.yaml": "name: alone\nproblem: What is six times seven?\nmodel: far/loner\n",
	})
	must(t, os.MkdirAll(h.dir, 0o700))
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("retry: 1s\nproviders:\n  far: {api: openai, url: http://"+f.addr+"/v1, key_variable: FAR_KEY}\n"+
		"models:\n  far/loner: "+known+models), 0o600))
	h.env = []string{"FAR_KEY=" + canaryKey}
	return h
}

// papers are the titles of a lab's papers, and what became of each.
func (h *home) papers(quest string) (out []string) {
	h.t.Helper()
	var s struct {
		Publications []struct{ Title, Status string }
	}
	must(h.t, json.Unmarshal([]byte(h.ok("show", quest, "--json")), &s))
	for _, p := range s.Publications {
		out = append(out, p.Title+" "+p.Status)
	}
	slices.Sort(out)
	return out
}

// TestALabSurvivesTheOutageOfItsProvider: a lab of eight whose provider goes away in the midst of
// its work has the papers that it has without, and goes on by itself. make faults has it away for
// ten minutes.
func TestALabSurvivesTheOutageOfItsProvider(t *testing.T) {
	t.Parallel()
	handler := modeltest.Handler(wires["chat"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		if seen.Model == "loner" {
			return modeltest.Reply{Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "It is 42."}}, Usage: event.Usage{Input: 100, Output: 10}}, ""
		}
		return diligent(seen)
	})
	calm := scholars(t, newFrail(t, 1<<40, handler))
	calm.ok("run", "quest.yaml")
	want := calm.papers("eight")
	if len(want) != 16 {
		t.Fatalf("without an outage there are %d papers, want two of each: %q", len(want), want)
	}

	f := newFrail(t, 30, handler)
	h, outage := scholars(t, f), time.Duration(need.Times(5, 600))*time.Second
	run := h.startFor(patience+outage, "run", "quest.yaml")
	select {
	case <-f.gone:
	case <-time.After(patience):
		t.Fatalf("the thirty-first request does not come:\n%s", run.errOut.String())
	}
	f.goes()
	began := time.Now()
	run.says("far is away, and those who asked it wait")
	h.saysThatItWaits(t, "eight", "far")
	alone := h.onATerminal(t, patience+outage, "run", "alone.yaml")
	h.await("alone", "provider.lost", 1)
	time.Sleep(time.Until(began.Add(outage))) // the outage is what is waited for
	f.returns()
	away := time.Since(began).Round(time.Second)
	run.wait().want(t, 0, "far is back")
	t.Logf("away for %s: the lab ended %s later", away, (time.Since(began) - away).Round(100*time.Millisecond))

	if got := h.papers("eight"); !slices.Equal(got, want) {
		t.Errorf("with an outage the papers are %q, want those of a calm run: %q", got, want)
	}
	for kind, want := range map[string]int{"provider.lost": 1, "provider.back": 1, "agent.parked": 0, "quest.rested": 0, "review.expired": 0, "quest.finished": 1} {
		if got := h.count("eight", kind); got != want {
			t.Errorf("%s: %d times, want %d", kind, got, want)
		}
	}
	h.labSound("eight")
	if s, output := alone(); !slices.ContainsFunc(s.erased, func(line string) bool {
		return strings.HasPrefix(line, "waiting · ") && strings.HasSuffix(line, " for far")
	}) {
		t.Errorf("the last line of a run on a terminal does not say that it waits for the provider: %q", s.erased)
	} else if !strings.Contains(output, "It is 42.") {
		t.Errorf("the run on the terminal did not go on by itself:\n%q", output)
	}
}

// onATerminal begins lyceum on a terminal. What it returns waits for the end, and has what was there.
func (h *home) onATerminal(t *testing.T, most time.Duration, args ...string) (wait func() (*screen, string)) {
	t.Helper()
	control, terminal := openTerminal(t, 120)
	ctx, cancel := context.WithTimeout(context.Background(), most)
	t.Cleanup(cancel)
	cmd := h.command(ctx, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	must(t, cmd.Start())
	must(t, terminal.Close())
	output := make(chan string, 1)
	go func() { output <- readTerminal(t, control) }()
	return func() (*screen, string) {
		t.Helper()
		text, s := <-output, &screen{}
		must(t, cmd.Wait())
		s.write(text)
		return s, text
	}
}

// saysThatItWaits looks at a quest that runs, and whose provider is away, in each way there is.
func (h *home) saysThatItWaits(t *testing.T, quest, provider string) {
	t.Helper()
	for words, args := range map[string][]string{
		"waiting for " + provider: {"list"},
		quest + ": waiting for " + provider + " (" + provider + " is away since ": {"show", quest},
	} {
		if out := h.ok(args...); !strings.Contains(out, words) {
			t.Errorf("lyceum %s does not say %q:\n%s", strings.Join(args, " "), words, out)
		}
	}
	type stand struct {
		Name, Status, Reason string
		Running              bool
	}
	away := func(where string, s stand) {
		t.Helper()
		if s.Status != "running" || !s.Running || !strings.HasPrefix(s.Reason, provider+" is away since ") || !strings.Contains(s.Reason, "connection refused") {
			t.Errorf("%s: got %+v, want a quest that runs, and as the reason that %s is away and why", where, s, provider)
		}
	}
	var one stand
	must(t, json.Unmarshal([]byte(h.ok("show", quest, "--json")), &one))
	away("show --json", one)
	var all []stand
	must(t, json.Unmarshal([]byte(h.ok("list", "--json")), &all))
	away("list --json", all[0])
	s := h.serve()
	defer s.kill()
	listed, err := s.client.Quests(t.Context())
	must(t, err)
	away("the API's list", stand{Name: listed[0].Name, Status: listed[0].Status, Reason: listed[0].Reason, Running: listed[0].Running})
	detail, err := s.client.Quest(t.Context(), quest)
	must(t, err)
	away("the API's quest", stand{Name: detail.Name, Status: detail.Status, Reason: detail.Reason, Running: detail.Running})
}
