package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/search/glove"
	all "lyceum/internal/society"

	"github.com/go-json-experiment/json"
)

// office adds fifty tools to a peer, most of them beside the point.
func office(p *peer) {
	for i := range 47 {
		p.tool(fmt.Sprintf("chore_%02d", i), fmt.Sprintf("Does chore %d of the office, six times a day.", i), says("done"))
	}
	p.tool("multiply_numbers", "Multiplies two numbers: what is six times seven.", says("42"))
	p.tool("send_letter", "Sends a letter to somebody by post.", says("sent"))
	p.tool("water_plants", "Gives water to the flowers.", says("watered"))
}

// finding plays a search and two calls.
const finding = `
rules:
  - on: {turn: 1}
    call: [{tool: peer__send_letter, args: {}}]
  - on: {turn: 2}
    call: [{tool: search_tools, args: {intent: "write to my aunt by mail"}}]
  - on: {turn: 3}
    call: [{tool: peer__send_letter, args: {x: "y"}}]
  - on: {turn: 4}
    say: "Done."
`

// shownLists are the lists of tools that searches made.
func (l *lab) shownLists(name string) (out []*event.ToolsShown) {
	for _, e := range l.events(name) {
		if b, ok := e.Body.(*event.ToolsShown); ok {
			out = append(out, b)
		}
	}
	return out
}

// toolList is what a model is shown of tools.
func (l *lab) toolList(ref event.Ref) (out []model.Tool) {
	l.t.Helper()
	must(l.t, json.Unmarshal([]byte(l.blob(ref)), &out))
	return out
}

func found(b *event.ToolsShown) (out []string) {
	for _, f := range b.Found {
		out = append(out, f.Name)
	}
	return out
}

func TestAnAgentFindsToolsOfAServer(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	l.Embedder = glove.Embedder{}
	office(p)
	name := l.create(plan(t, "q", p.with(l, "discover: true\n"), finding))
	s := l.run(name)
	p.http.CloseClientConnections()
	p.http.Close() // neither replay nor verify asks anybody
	order := []string{"mcp.call", "mcp.listed", "catalogue.call", "tools.shown", "model.call"}
	got := slices.DeleteFunc(strings.Fields(types(l.events(name))), func(x string) bool { return !slices.Contains(order, x) })
	if s.Status != quest.Finished || !slices.Equal(got[:5], order) {
		t.Fatalf("it is %s: %s", s.Status, types(l.events(name)))
	}
	lists := l.shownLists(name)
	if len(lists) != 2 {
		t.Fatalf("it was given %d lists, want one before its first turn and one by its search", len(lists))
	}
	first, second := lists[0], lists[1]
	if len(first.Found) != quest.FirstTools || first.Found[0].Name != "peer__multiply_numbers" || first.Embedder != (glove.Embedder{}).Name() || first.Catalogue == (event.Hash{}) {
		t.Errorf("for its task it found %+v", first)
	}
	before, after := l.toolList(first.Tools), l.toolList(second.Tools)
	if len(before) != 5+quest.FirstTools || !slices.Equal(after[:len(before)], before) {
		t.Errorf("the list is no longer what it was with more behind it: %d tools, then %d", len(before), len(after))
	}
	if !slices.Contains(found(second), "peer__send_letter") || !slices.ContainsFunc(after[len(before):], func(t model.Tool) bool {
		return t.Name == "peer__send_letter" && strings.Contains(t.Description, "Nobody has checked")
	}) {
		t.Errorf("for a letter it found %v", found(second))
	}
	refused, told := l.outputs(name, ""), l.outputs(name, quest.SearchTools)
	if len(refused) != 1 || !strings.Contains(refused[0], "peer__send_letter is there, and you are not shown it") {
		t.Errorf("a call of what it is not shown was answered with %q", refused)
	}
	if len(told) != 1 || !strings.Contains(told[0], "peer__send_letter") {
		t.Errorf("its search was answered with %q", told)
	}
	if results := l.results(name); len(results) != 1 || !strings.Contains(results[0], "sent") {
		t.Errorf("the tool that it found said %q", results)
	}
	l.sound(name)
	if rep, err := audit.Verify(t.Context(), l.Runtime, name, nil); err != nil || len(rep.Notes) != 0 {
		t.Errorf("verify notes %v, %v; want that all was made again", rep.Notes, err)
	}
	// Another machine with other vectors cannot search again, and says so.
	l.Embedder = nil
	rep, err := audit.Verify(t.Context(), l.Runtime, name, nil)
	must(t, err)
	if rep.Difference != nil || len(rep.Notes) != 2 || !strings.Contains(rep.Notes[0], "not made again") {
		t.Errorf("without the vectors verify says %v and notes %v", rep.Difference, rep.Notes)
	}
}

func TestAForgedChoiceOfToolsIsFound(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	office(p)
	l.run(l.create(plan(t, "q", p.with(l, "discover: true\n"), finding)))
	p.http.CloseClientConnections()
	p.http.Close()
	l.sound("q")
	searches := func(d *event.Draft) *event.ToolsShown {
		b, _ := d.Body.(*event.ToolsShown)
		return b
	}
	for name, tc := range map[string]struct {
		change func(*event.Draft)
		want   string
	}{
		"another order": {func(d *event.Draft) {
			if b := searches(d); b != nil && len(b.Found) == quest.FirstTools {
				b.Found[0], b.Found[1] = b.Found[1], b.Found[0]
			}
		}, "finds other tools"},
		"another score": {func(d *event.Draft) {
			if b := searches(d); b != nil {
				b.Found[0].Score++
			}
		}, "finds other tools"},
		"another catalogue": {func(d *event.Draft) {
			if b := searches(d); b != nil {
				b.Catalogue = event.HashOf([]byte("other"))
			}
		}, "catalogue"},
		"less than there was room for": {func(d *event.Draft) {
			if b := searches(d); b != nil && len(b.Found) == quest.FirstTools {
				b.LeftOut = append(b.LeftOut, event.LeftOut{Name: b.Found[7].Name, Why: "there is no room"})
			}
		}, "not made of what the agent had"},
	} {
		to := "forged-" + strings.ReplaceAll(name, " ", "-")
		l.rechain("q", to, tc.change)
		rep, err := audit.Verify(t.Context(), l.Runtime, to, nil)
		must(t, err)
		if rep.Difference == nil || !strings.Contains(rep.Difference.What, tc.want) {
			t.Errorf("%s: verify says %v, want %q", name, rep.Difference, tc.want)
		}
		if rep, err = audit.Replay(t.Context(), l.Runtime, to, nil); err != nil || rep.Difference != nil {
			t.Errorf("%s: replay says %v, %v; it searches nothing", name, rep.Difference, err)
		}
	}
}

func TestASearchIsMadeAgainAfterACrash(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	office(p)
	name := l.create(plan(t, "q", p.with(l, "discover: true\n"), finding))
	for _, stop := range []int{1, 2} { // at the first search, and at the agent's own
		seen := 0
		ctx, cancel := context.WithCancel(t.Context())
		_, err := l.Run(ctx, name, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
			if e.Type == "catalogue.call" {
				if seen++; seen == 1 {
					cancel()
				}
			}
		}})
		cancel()
		if err == nil {
			t.Fatalf("it ran on at search %d", stop)
		}
	}
	if s := l.run(name); s.Status != quest.Finished {
		t.Fatalf("it is %s: %s", s.Status, s.Reason)
	}
	if lists := l.shownLists(name); len(lists) != 2 {
		t.Errorf("after two crashes there are %d lists, want 2", len(lists))
	}
	l.sound(name)
}

// failing is an embedder that is away.
type failing struct{}

func (failing) Name() string { return "far" }
func (failing) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("the embedding server is away")
}

func TestAFailingEmbedderCostsVectorsAlone(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	l.Embedder = failing{}
	office(p)
	name := l.create(plan(t, "q", p.with(l, "discover: true\n"), finding))
	if s := l.run(name); s.Status != quest.Finished {
		t.Fatalf("it is %s: %s", s.Status, s.Reason)
	}
	b := l.shownLists(name)[0]
	if b.Embedder != "" || !strings.Contains(b.Doubt, "is away") || b.Found[0].Name != "peer__multiply_numbers" {
		t.Errorf("without vectors it is shown %+v", b)
	}
	l.sound(name)
}

func TestFoundToolsHaveAShareOfTheWindow(t *testing.T) {
	l, p := newLab(t), newPeer(t)
	p.tool("long_one", "Multiplies six times seven. "+strings.Repeat("Verbose words about numbers. ", 100), says("42"))
	p.tool("short_one", "Multiplies six times seven.", says("42"))
	name := l.create(plan(t, "q", p.with(l, "discover: true\nwindow: 2000\n"), "rules:\n  - on: {turn: 1}\n    say: \"Done.\"\n"))
	l.run(name)
	b := l.shownLists(name)[0]
	if len(b.LeftOut) != 1 || b.LeftOut[0].Name != "peer__long_one" || !strings.Contains(b.LeftOut[0].Why, "no room") {
		t.Errorf("left out are %+v, want the long one, by name", b.LeftOut)
	}
	if last := b.Shown[len(b.Shown)-1].Name; last != "peer__short_one" {
		t.Errorf("shown last is %s, want the one that fits", last)
	}
	l.sound(name)
}

func TestDiscoverIsForAgentsThatCanSearch(t *testing.T) {
	for source, want := range map[string]string{
		"society: architect\ndiscover: true\n":                "roles",
		"executor: builtin\ncomputer: auto\ndiscover: true\n": "executor",
	} {
		_, err := all.All().ParseSpec("quest.yaml", []byte("problem: x\nmodel: demo\n"+source))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "discover") {
			t.Errorf("%q: got %v, want a fault of discover that names %s", source, err, want)
		}
	}
}
