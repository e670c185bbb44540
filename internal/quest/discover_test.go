package quest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// finder begins a quest of an agent that finds its tools, with one server that has listed three.
func finder(t *testing.T) *questtest.Story {
	t.Helper()
	b := questtest.Created(solo.Society{}, 1, "look", quest.SearchTools)
	b.Discover = true
	b.Servers = []event.ServerPin{{Kind: "http", Name: "one", Settings: event.RefOf([]byte("one"))}}
	s := questtest.Begin(t, solo.Society{}, b)
	if got := kinds(s.Start()); got != "mcp.call" {
		t.Fatalf("a quest with a server begins with %s, want its list first", got)
	}
	got := s.Take("agent-0", listed(s.Open("mcp.call", "")[0], "one", pin("one__a", ""), pin("one__b", ""), pin("one__c", "")))
	if kinds(got) != "catalogue.call" {
		t.Fatalf("once the server has listed its tools: %s, want a search before the first turn", kinds(got))
	}
	return s
}

// toolsFound is what a search has found, shown behind what the agent has.
func toolsFound(s *questtest.Story, call uint64, names ...string) *event.ToolsShown {
	b := &event.ToolsShown{Call: call, Catalogue: event.HashOf([]byte("c")), Embedder: "e"}
	a := s.State.Agent("agent-0")
	for _, name := range a.ToolNames {
		t := a.Sources[name]
		t.Name = name
		b.Shown = append(b.Shown, t)
	}
	for i, name := range names {
		b.Found = append(b.Found, event.FoundTool{Name: name, Score: int64(100 - i)})
		if !slices.Contains(a.ToolNames, name) {
			b.Shown = append(b.Shown, event.ShownTool{Name: name, Source: "mcp:one", Trust: event.TrustStranger})
		}
	}
	b.Tools = event.RefOf([]byte(strings.Join(names, " ")))
	return b
}

// begun is a finder in its first turn, which has one__a.
func begun(t *testing.T) *questtest.Story {
	t.Helper()
	s := finder(t)
	if got := kinds(s.Take("agent-0", toolsFound(s, s.Open("catalogue.call", "")[0], "one__a"))); got != "model.call" {
		t.Fatalf("when its tools are found the agent has %s, want its turn", got)
	}
	return s
}

func TestAnAgentBeginsWithWhatFitsItsTask(t *testing.T) {
	s := finder(t)
	call := s.Events[len(s.Events)-1].Body.(*event.CatalogueCall)
	if call.For != 0 || call.Intent.Text != "?" || call.Most != quest.FirstTools {
		t.Errorf("before the first turn it looks for %+v, want the problem's best %d", call, quest.FirstTools)
	}
	s = begun(t)
	if got := s.State.Agent("agent-0").ToolNames; !slices.Equal(got, []string{"look", quest.SearchTools, "one__a"}) {
		t.Errorf("the agent has %v", got)
	}
	if c := s.Events[len(s.Events)-1].Body.(*event.ModelCall); c.Tools != event.RefOf([]byte("one__a")).Hash {
		t.Errorf("the first turn renders the tools %s, want those that were found", c.Tools)
	}
	s.Sound()
}

func TestAQuestThatDoesNotDiscoverSearchesNothing(t *testing.T) {
	s := questtest.Begin(t, solo.Society{}, questtest.Created(solo.Society{}, 1, "look"))
	if got := kinds(s.Start()); got != "model.call" {
		t.Errorf("it begins with %s", got)
	}
	if got := output(t, s.Answer("agent-0", call("one__c", `{}`))); got != `There is no tool "one__c". You have: look.` {
		t.Errorf("an unknown tool is answered with %q, want the words of before", got)
	}
}

func TestAnAgentSearchesForTools(t *testing.T) {
	s := begun(t)
	got := s.Answer("agent-0", call(quest.SearchTools, `{"intent":" send a letter ","kind":"mcp"}`))
	if kinds(got) != "tool.call catalogue.call" {
		t.Fatalf("a search leads to %s", kinds(got))
	}
	b := got[1].Body.(*event.CatalogueCall)
	if b.For != got[0].Seq || b.Intent.Text != "send a letter" || b.Kind != "mcp" || b.Most != quest.FoundTools {
		t.Errorf("it is asked for %+v", b)
	}
	s.Sound()
	found := toolsFound(s, got[1].Seq, "one__b", "one__a", "one__c")
	found.Shown = found.Shown[:len(found.Shown)-1]
	found.LeftOut = []event.LeftOut{{Name: "one__c", Why: "there is no room"}}
	got = s.Take("agent-0", found)
	if kinds(got) != "tool.answered model.call" {
		t.Fatalf("what was found leads to %s", kinds(got))
	}
	for _, want := range []string{"From your next turn on you have these tools, the best fit first: one__b.", "You have these already: one__a.", "one__c is not shown: there is no room."} {
		if !strings.Contains(output(t, got), want) {
			t.Errorf("the agent is told %q, want %q in it", output(t, got), want)
		}
	}
	if c := got[1].Body.(*event.ModelCall); c.Tools != found.Tools.Hash {
		t.Errorf("the next turn renders %s, want the new list", c.Tools)
	}
	s.Sound()
	// It can be called now; what is not shown cannot, and the agent is told how to find it.
	if got = s.Answer("agent-0", call("one__b", `{}`)); kinds(got) != "tool.call" {
		t.Errorf("a tool that was found leads to %s", kinds(got))
	}
	s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0]})
	if got := output(t, s.Answer("agent-0", call("one__c", `{}`))); !strings.Contains(got, "one__c is there") || !strings.Contains(got, quest.SearchTools) {
		t.Errorf("a call of what is not shown is answered with %q", got)
	}
	if got := output(t, s.Answer("agent-0", call("nonsense", `{}`))); !strings.Contains(got, "There is no tool") || !strings.Contains(got, quest.SearchTools) {
		t.Errorf("a call of what is not there is answered with %q", got)
	}
	s.Sound()
}

func TestASearchByWordsAloneSaysSo(t *testing.T) {
	s := begun(t)
	b := toolsFound(s, s.Answer("agent-0", call(quest.SearchTools, `{"intent":"x"}`))[1].Seq)
	b.Embedder = ""
	if got := output(t, s.Take("agent-0", b)); !strings.Contains(got, "No tool fits") || !strings.Contains(got, "by words alone") {
		t.Errorf("the agent is told %q", got)
	}
}

func TestOddIntentsAreAnswered(t *testing.T) {
	for _, args := range []string{`{}`, `{"intent":""}`, `{"intent":"  "}`, `{"intent":7}`, `{"intent":"x","kind":"web"}`, `{"intent":"x","more":1}`, `no JSON`, `{"intent":"` + strings.Repeat("x", 3000) + `"}`} {
		s := begun(t)
		got := s.Answer("agent-0", call(quest.SearchTools, args))
		if kinds(got) != "tool.call tool.answered model.call" || !got[1].Body.(*event.ToolAnswered).Error {
			t.Errorf("%.40s leads to %s, want an error that the agent reads", args, kinds(got))
		}
	}
}

func TestWhatASearchMaySay(t *testing.T) {
	begin := func() (*questtest.Story, uint64) {
		s := begun(t)
		return s, s.Answer("agent-0", call(quest.SearchTools, `{"intent":"x"}`))[1].Seq
	}
	for what, change := range map[string]func(*event.ToolsShown){
		"an answer to no call":             func(b *event.ToolsShown) { b.Call = 2 },
		"a search that answers none":       func(b *event.ToolsShown) { b.Call = 0 },
		"a tool taken away between cuts":   func(b *event.ToolsShown) { b.Shown = slices.Delete(b.Shown, 2, 3) },
		"another order":                    func(b *event.ToolsShown) { b.Shown[1], b.Shown[2] = b.Shown[2], b.Shown[1] },
		"a new one in front":               func(b *event.ToolsShown) { slices.Reverse(b.Shown) },
		"a tool found and nowhere":         func(b *event.ToolsShown) { b.Shown = b.Shown[:3] },
		"a tool twice":                     func(b *event.ToolsShown) { b.Shown = append(b.Shown, b.Shown[3]) },
		"a tool of a source without trust": func(b *event.ToolsShown) { b.Shown[3].Trust = "" },
	} {
		s, seq := begin()
		b := toolsFound(s, seq, "one__b")
		change(b)
		if _, err := s.Try("agent-0", b); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	s, seq := begin()
	s.Take("agent-0", toolsFound(s, seq, "one__b"))
	if _, err := s.Try("agent-0", toolsFound(s, seq, "one__b")); err == nil {
		t.Error("a search has two answers")
	}
}

func TestAfterACutTheListMayShrink(t *testing.T) {
	s := begun(t)
	a := s.State.Agent("agent-0")
	a.Limit = 2000 // so that the window is cut soon
	for i := 0; a.Transcript.First == 0; i++ {
		if i > 30 {
			t.Fatal("the window was never cut")
		}
		s.Answer("agent-0", call("look", fmt.Sprintf(`{"n":%d}`, i)))
		s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Output: event.Text{Text: fmt.Sprint(i, strings.Repeat(" word", 300))}})
	}
	if !s.State.Finders["agent-0"].Cut {
		t.Fatal("a window was cut, and the finder does not know")
	}
	seq := s.Answer("agent-0", call(quest.SearchTools, `{"intent":"x"}`))[1].Seq
	b := toolsFound(s, seq, "one__b")
	b.Shown = slices.Delete(b.Shown, 2, 3)
	s.Take("agent-0", b)
	if got := a.ToolNames; !slices.Equal(got, []string{"look", quest.SearchTools, "one__b"}) {
		t.Errorf("after a cut the agent has %v", got)
	}
	if s.State.Finders["agent-0"].Cut {
		t.Error("the list was made, and may shrink again without a cut")
	}
	core := toolsFound(s, s.Answer("agent-0", call(quest.SearchTools, `{"intent":"y"}`))[1].Seq)
	core.Shown = core.Shown[1:]
	if _, err := s.Try("agent-0", core); err == nil {
		t.Error("a tool that the agent began with is taken away")
	}
}

func TestAForkSearchesAgain(t *testing.T) {
	s := finder(t)
	s.Take("person", &event.QuestForked{At: s.State.Seq, From: "q", Hash: s.State.Hash, Name: "f"})
	if got := kinds(s.Take("person", &event.QuestResumed{})); !strings.Contains(got, "catalogue.call") {
		t.Errorf("a fork in the middle of a search goes on with %s", got)
	}
	s.Sound()
}

func TestWhatIsPinnedForASearch(t *testing.T) {
	s := begun(t)
	if s.State.Pinned("nobody") != nil {
		t.Error("nobody has a catalogue")
	}
	s.Take("agent-0", &event.McpChanged{Server: "one", Missing: []string{"one__a"}, Changed: []event.ToolChange{{Name: "one__b", Hash: pin("one__b", "2").Hash, What: []string{"description"}}}})
	p := s.State.Pinned("agent-0")
	if len(p.Servers) != 1 || p.Servers[0].List != event.RefOf([]byte("one")) || !slices.Equal(p.Servers[0].Without, []string{"one__a", "one__b"}) || p.Core != event.RefOf([]byte("pinned")) {
		t.Errorf("a search is made among %+v, want all but what is gone or closed", p)
	}
}
