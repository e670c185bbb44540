package builtin

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// talk is a conversation of so many prompts, each with so many calls that write and give much.
func talk(prompts, calls int) (out []line) {
	n := 0
	for i := range prompts {
		out = append(out, line{Kind: kindUser, Text: fmt.Sprint("prompt ", i, " ", strings.Repeat("p", 300))})
		for range calls {
			n++
			id := fmt.Sprint("call-", n)
			out = append(out,
				line{Kind: kindAnswer, Parts: []part{{Kind: event.PartToolCall, Call: id, Name: "write_file", Args: `{"content":"` + strings.Repeat("a", 1000) + `"}`}}},
				line{Kind: kindResult, ID: id, Text: fmt.Sprint("result ", n, " ", strings.Repeat("r", 1000))})
		}
		out = append(out, line{Kind: kindAnswer, Parts: []part{{Kind: event.PartText, Text: fmt.Sprint("answer ", i)}}})
	}
	return out
}

func total(w window, lines []line) (n int) {
	first, _, _ := marks(lines)
	for i := range lines {
		n += w.size(i, &lines[i], first)
	}
	return n
}

func TestTheWindow(t *testing.T) {
	t.Parallel()
	lines := append(talk(3, 4), line{Kind: kindUser, Text: "now"})
	lines = append(lines, talk(1, 2)[1:5]...) // two calls, the last without an answer to it
	last := len(lines) - 1
	whole := total(window{}, lines)
	t.Run("StaysWhileThereIsRoom", func(t *testing.T) {
		t.Parallel()
		if w := (window{}).narrow(lines, whole); w != (window{}) {
			t.Errorf("a conversation that fits is narrowed to %+v", w)
		}
	})
	t.Run("DropsTheOldestResultsFirst", func(t *testing.T) {
		t.Parallel()
		w := (window{}).narrow(lines, whole-1)
		if w.Results == 0 || w.Args != 0 || w.Lines != 0 || total(w, lines) > whole/4*3 {
			t.Errorf("the window is %+v, %d of %d bytes", w, total(w, lines), whole)
		}
		messages := w.messages(lines)
		if got := messages[2].Parts[0].Text; got != droppedResult {
			t.Errorf("the oldest result is %q", got)
		}
		if got := messages[len(messages)-1].Parts[0].Text; !strings.HasPrefix(got, "result") {
			t.Errorf("the newest result is %.50q", got)
		}
		if again := w.narrow(lines, whole-1); again != w {
			t.Errorf("a window that fits is narrowed again: %+v", again)
		}
	})
	t.Run("ThenArgumentsThenPrompts", func(t *testing.T) {
		t.Parallel()
		seen := map[string]bool{}
		for most := whole; most > 0; most -= 500 {
			w := (window{}).narrow(lines, most)
			switch {
			case w.Lines > 0:
				seen["lines"] = true
				if w.Args == 0 || lines[w.Lines].Kind != kindUser {
					t.Errorf("the window %+v cuts a prompt in the middle, or too early", w)
				}
			case w.Args > 0:
				seen["args"] = true
			}
			if w.Results > last || w.Args > last || total(w, lines) > whole {
				t.Errorf("the window is %+v", w)
			}
			kept(t, w, lines)
		}
		if !seen["lines"] || !seen["args"] {
			t.Errorf("no window dropped arguments and prompts: %v", seen)
		}
	})
	t.Run("OfNothing", func(t *testing.T) {
		t.Parallel()
		if w := (window{}).narrow(nil, 0); w != (window{}) {
			t.Errorf("nothing is narrowed to %+v", w)
		}
	})
}

// kept wants the first words, the last ones, and what was not answered yet to be there, and
// every result to have its call in front of it.
func kept(t *testing.T, w window, lines []line) {
	t.Helper()
	messages := w.messages(lines)
	var all strings.Builder
	open := map[string]bool{}
	for _, m := range messages {
		for _, p := range m.Parts {
			all.WriteString(p.Text + "\n")
			switch p.Kind {
			case event.PartToolCall:
				open[p.ID] = true
			case model.PartToolResult:
				if !open[p.ID] {
					t.Errorf("the window %+v shows a result without its call", w)
				}
			}
		}
	}
	for _, want := range []string{"prompt 0", "now", "result 2 r"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the window %+v has no %q", w, want)
		}
	}
}

func TestLongConversationsGoOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := strings.Repeat("z", 20<<10)
	var answers []answer
	for range 10 {
		answers = append(answers, use("read_file", `{"path":"big"}`))
	}
	s := newScene(t, append(answers, say("done"))...)
	s.files[s.cwd+"/big"] = big
	s.start(Options{Dir: dir, MaxContext: 100_000})
	id := s.open()
	s.wants(id, "read it often", "end_turn")
	r := s.brain.results(t)
	if len(r) != 10 || r[0].Text != droppedResult || !strings.HasPrefix(r[9].Text, "zzz") {
		t.Errorf("of %d results the first is %.60q and the last %.60q", len(r), r[0].Text, r[9].Text)
	}
	must(t, s.conn.Call(t.Context(), "session/close", map[string]any{"sessionId": id}, nil))
	n := s.next(say("still here"))
	n.start(Options{Dir: dir, MaxContext: 100_000})
	must(t, n.again("session/resume", id))
	n.wants(id, "and?", "end_turn")
	if again := n.brain.results(t); again[0].Text != droppedResult || again[9].Text != r[9].Text {
		t.Error("the window is another one in a new process")
	}
}

func TestAModelThatFindsItTooLong(t *testing.T) {
	t.Parallel()
	s := newScene(t, use("read_file", `{"path":"big"}`), use("read_file", `{"path":"big"}`), fail(modeltest.ContextTooLong), say("done"))
	s.files[s.cwd+"/big"] = strings.Repeat("z", 20<<10)
	s.start(Options{})
	s.wants(s.open(), "read it", "end_turn")
	if r := s.brain.results(t); r[0].Text != droppedResult || r[1].Text == droppedResult {
		t.Errorf("the results are %.60q and %.60q", r[0].Text, r[1].Text)
	}
	n := newScene(t, fail(modeltest.ContextTooLong))
	n.start(Options{})
	if _, err := n.ask(n.open(), "hello"); err == nil || len(n.brain.asked()) > maxNarrowed+1 {
		t.Errorf("a model that finds everything too long ends with %v after %d requests", err, len(n.brain.asked()))
	}
}
