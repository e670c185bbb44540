package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/tool"
)

// lying returns the tools of Lyceum, whose calculator says what say returns.
func lying(t *testing.T, say func(code string) (string, error)) tool.Set {
	t.Helper()
	return liar(t, "calculate", say)
}

// liar returns the tools of Lyceum, one of which says what say returns.
func liar(t *testing.T, which string, say func(code string) (string, error)) tool.Set {
	t.Helper()
	var all []tool.Tool
	honest := tool.Builtin()
	for _, name := range honest.Names() {
		x, _ := honest.Lookup(name)
		if name == which {
			x.Give, x.Run = nil, func(_ context.Context, c tool.Call) (string, error) { return say(string(c.Args)) }
		}
		all = append(all, x)
	}
	set, err := tool.New(all...)
	must(t, err)
	return set
}

// TestAForgedCalculationIsFound has quests made whose calculator lies. All hashes fit and the rules derive
// everything again: only running it again tells.
func TestAForgedCalculationIsFound(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]string{"another": "43\n", "more": "42\nand so it is 43\n", "less": "4", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			honest := l.Tools
			l.Tools = lying(t, func(string) (string, error) { return say, nil })
			l.run(l.create(plan(t, "q", "", simple)))
			l.sound("q") // by the lying calculator
			l.Tools = honest
			rep, err := audit.Replay(t.Context(), l.Runtime, "q", nil)
			must(t, err)
			if rep.Difference != nil {
				t.Fatalf("replay, which runs nothing, says %v", rep.Difference)
			}
			rep, err = audit.Verify(t.Context(), l.Runtime, "q", nil)
			must(t, err)
			if rep.Difference == nil || !strings.Contains(rep.Difference.What, "calculate, run again") || rep.Again.Different != 1 || rep.Difference.Computed == rep.Difference.Recorded {
				t.Errorf("verify says %+v and counts %+v, want the forged calculation", rep.Difference, rep.Again)
			}
		})
	}
}

// reading has an agent read files in every way, in the answer that writes them, too.
const reading = `
rules:
  - on: {turn: 1}
    call:
      - {tool: write_file, args: {path: a/note.md, content: "first"}}
      - {tool: read_file, args: {path: a/note.md}}
      - {tool: list_files, args: {}}
      - {tool: write_file, args: {path: a/note.md, content: "second"}}
      - {tool: grep, args: {pattern: secon}}
      - {tool: glob, args: {pattern: "**/*.md"}}
      - {tool: read_file, args: {path: a/note.md}}
  - on: {turn: 2}
    call:
      - {tool: read_file, args: {path: a/none.md}}
      - {tool: delete_file, args: {path: a/note.md}}
      - {tool: read_file, args: {path: a/note.md}}
  - on: {turn: 3}
    say: "It is 42."
`

// TestAForgedReadingIsFound: what an agent is said to have read is read again from the files that are recorded.
func TestAForgedReadingIsFound(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	honest := l.Tools
	l.run(l.create(plan(t, "honest", "", reading)))
	rep, err := audit.Verify(t.Context(), l.Runtime, "honest", nil)
	must(t, err)
	if rep.Difference != nil || rep.Again.Same != 5 || rep.Again.Different+rep.Again.NotCheckable != 0 {
		t.Fatalf("verify says %v and counts %+v, want five readings that are the same", rep.Difference, rep.Again)
	}
	for _, name := range []string{"read_file", "list_files", "grep", "glob"} {
		l.Tools = liar(t, name, func(string) (string, error) { return "third", nil })
		quest := strings.ReplaceAll(name, "_", "-")
		l.run(l.create(plan(t, quest, "", reading)))
		l.Tools = honest
		rep, err := audit.Verify(t.Context(), l.Runtime, quest, nil)
		must(t, err)
		if rep.Difference == nil || !strings.Contains(rep.Difference.What, name+", run again on the files that are recorded") || rep.Difference.Recorded != "third" || rep.Again.Different != 1 {
			t.Errorf("%s: verify says %+v and counts %+v, want the forged reading", name, rep.Difference, rep.Again)
		}
	}
}

// TestWhatDiffersBetweenTwoRunsIsNotCheckable has a calculator that never says the same twice.
func TestWhatDiffersBetweenTwoRunsIsNotCheckable(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var n atomic.Int64
	l.Tools = lying(t, func(string) (string, error) { return fmt.Sprint(n.Add(1)), nil })
	l.run(l.create(plan(t, "q", "", simple)))
	rep, err := audit.Verify(t.Context(), l.Runtime, "q", nil)
	must(t, err)
	if rep.Difference != nil || rep.Again.Same != 1 || rep.Again.NotCheckable != 2 || len(rep.Again.Calls) != 2 || !strings.Contains(rep.Again.Calls[0].Why, "two runs here differ") {
		t.Errorf("verify says %v and counts %+v, want two that are not checkable", rep.Difference, rep.Again)
	}
}

// TestAClaimedTimeLimitIsCounted: that it took too long then cannot be told from a lie, so it is counted apart.
func TestAClaimedTimeLimitIsCounted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	honest := l.Tools
	for claim, want := range map[string]int{
		"it took more than 30s; use a smaller problem or a better algorithm":                                                                             1,
		"it took more than 10000000 steps (one for each instruction and for each 16 bytes of large values); use a smaller problem or a better algorithm": 0,
	} {
		l.Tools = lying(t, func(code string) (string, error) {
			if strings.Contains(code, "6*7") {
				return "", fmt.Errorf("%s", claim)
			}
			return "", fmt.Errorf("1: floored division by zero")
		})
		name := fmt.Sprintf("q%d", want)
		l.run(l.create(plan(t, name, "", simple)))
		l.Tools = honest
		rep, err := audit.Verify(t.Context(), l.Runtime, name, nil)
		must(t, err)
		if rep.Again.NotCheckable != want || (rep.Difference == nil) != (want == 1 && rep.Again.Different == 0) {
			t.Errorf("%q: verify says %v and counts %+v, want %d not checkable", claim, rep.Difference, rep.Again, want)
		}
	}
}

// provider is a model whose answers have ids.
type provider struct {
	model.Model
	n *atomic.Int64
}

func (p provider) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	a, err := p.Model.Generate(ctx, r, emit)
	if a != nil {
		a.Request = fmt.Sprintf("req_%d\x1b[31m", p.n.Add(1))
	}
	return a, err
}

func TestVerifySaysWhoseWordItIs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	models := l.Models
	l.Models = func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
		m, err := models(name, pin)
		return provider{m, new(atomic.Int64)}, err
	}
	l.run(l.create(plan(t, "q", "", simple)))
	events := l.events("q")
	rep, err := audit.Verify(t.Context(), l.Runtime, "q", nil)
	must(t, err)
	if rep.Head != events[len(events)-1].Hash || rep.Again == nil || rep.Again.Same != 3 || rep.Again.Different+rep.Again.NotCheckable != 0 {
		t.Errorf("head %s, again %+v; want that of the last event, and two calculations and a reading that are the same", rep.Head, rep.Again)
	}
	by, sum := map[event.Party]audit.Word{}, uint64(rep.Again.Same)
	for _, w := range rep.Words {
		by[w.Kind] = w
		sum += w.Events
	}
	if sum != rep.Inputs {
		t.Errorf("%d inputs rest on somebody's word or were run again, want all %d: %+v", sum, rep.Inputs, rep.Words)
	}
	w := by[event.PartyModel]
	if w.Who != "script:plan.yaml" || w.Events != 4 || w.Named != 4 || len(w.Requests) != 4 || !strings.HasPrefix(w.Requests[0], "req_1") || strings.Contains(w.Requests[0], "\x1b") {
		t.Errorf("of the model it says %+v, want four answers with ids", w)
	}
	if by[event.PartyPerson].Who != "owner" || by[event.PartyMachine].Events == 0 {
		t.Errorf("whose word it is: %+v", rep.Words)
	}
	text := strings.Join(audit.Lines(rep), "\n")
	for _, want := range []string{"q: consistent; head " + rep.Head.String(), "derived again:", "3 calls: 3 the same, 0 different, 0 not checkable", "model script:plan.yaml: 4 answers, 4 with the provider's id of the request (req_1", "the machine that ran it"} {
		if !strings.Contains(text, want) {
			t.Errorf("it is not said: %q, in\n%s", want, text)
		}
	}
}

func TestAHeadKnownBefore(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(l.create(plan(t, "q", "", simple)))
	events := l.events("q")
	known := func(name string, of ...event.Hash) *audit.Report {
		t.Helper()
		rep, err := audit.VerifyWith(t.Context(), l.Runtime, name, audit.Options{Known: of})
		must(t, err)
		return rep
	}
	middle, last := events[5], events[len(events)-1]
	rep := known("q", last.Hash, middle.Hash)
	if rep.Difference != nil || len(rep.Known) != 2 || rep.Known[0].Seq != middle.Seq || rep.Known[1].Seq != last.Seq {
		t.Errorf("its own hashes: %v, %+v", rep.Difference, rep.Known)
	}
	if rep := known("q", event.HashOf([]byte("other"))); rep.Difference == nil || !strings.Contains(rep.Difference.What, "nor one that goes on from there") {
		t.Errorf("a hash that no event has: %v", rep.Difference)
	}
	// The same quest with one word of an answer rewritten and every hash recomputed, before and after what was known.
	at := uint64(0)
	for _, e := range events {
		if b, ok := e.Body.(*event.ModelResult); ok && len(b.Parts) > 0 && b.Parts[0].Text != nil && b.Parts[0].Text.Text == "It is 42." {
			at = e.Seq
		}
	}
	l.rechain("q", "forged", func(d *event.Draft) {
		if b, ok := d.Body.(*event.ModelResult); ok {
			b.Cost += 5
		}
	})
	forged := l.events("forged")
	for _, e := range events {
		rep := known("forged", e.Hash)
		if same := forged[e.Seq-1].Hash == e.Hash; rep.Difference == nil && !same {
			t.Errorf("event %d was rewritten, and its hash, known before, is found (the answer is %d)", e.Seq, at)
		}
	}
	if s, err := l.Fork(t.Context(), "q", runtime.ForkOptions{At: middle.Seq, Name: "f"}); err != nil {
		t.Fatal(err)
	} else if rep := known(s.Name, middle.Hash); rep.Difference != nil || rep.Known[0].Seq != middle.Seq {
		t.Errorf("a fork goes on from there: %v, %+v", rep.Difference, rep.Known)
	}
}
