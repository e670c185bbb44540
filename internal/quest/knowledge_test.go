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

// rule is one that is pinned, of so many bytes.
func rule(path, link string, size int64) event.RulePin {
	ref := event.RefOf([]byte(path))
	ref.Size = size
	return event.RulePin{Link: link, Path: path, Text: ref}
}

// ruled begins a quest of an agent with rules, in its first turn.
func ruled(t *testing.T, found ...string) *questtest.Story {
	t.Helper()
	b := questtest.Created(solo.Society{}, 1, "look", "peek", quest.LoadSkill, quest.SearchTools)
	b.Discover = true
	b.Agents[0].Window = 2000
	b.Tools = []event.ToolTraits{{Name: "look", Paths: []string{"path", "paths"}, Reads: true}}
	b.Knowledge = &event.Knowledge{
		Rules:  []event.RulePin{rule("a/AGENTS.md", "", 40), rule("a/b/AGENTS.md", "", 40), rule("ab/AGENTS.md", "", 40), rule("docs/x.md", "How x is done", 40)},
		Skills: &event.SkillPins{Count: 1, List: event.RefOf([]byte("skills"))},
	}
	s := questtest.Begin(t, solo.Society{}, b)
	s.Start()
	shown := toolsFound(s, s.Open("catalogue.call", "")[0])
	for _, path := range found {
		shown.Rules = append(shown.Rules, event.FoundRule{Path: path, Score: 1})
	}
	s.Take("agent-0", shown)
	return s
}

// told are the rules that events tell of; those that are left out have a mark.
func told(events []event.Event) (out []string) {
	for _, e := range events {
		if b, ok := e.Body.(*event.GuidanceShown); ok {
			name := b.Rule
			if b.LeftOut {
				name += "!"
			}
			out = append(out, name)
		}
	}
	return out
}

// look has the agent look at a path, and is what follows.
func look(s *questtest.Story, args string) []event.Event {
	s.Answer("agent-0", call("look", args))
	return s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Output: event.Text{Text: "seen " + args + strings.Repeat(" word", 300)}})
}

func TestRulesAboveAPath(t *testing.T) {
	rules := []event.RulePin{rule("a/AGENTS.md", "", 1), rule("a/b/AGENTS.md", "", 1), rule("a/b/c.md", "x", 1), rule("ab/AGENTS.md", "", 1)}
	for path, want := range map[string][]string{
		"a/b/c/d.txt": {"a/AGENTS.md", "a/b/AGENTS.md"},
		"a/b":         {"a/AGENTS.md", "a/b/AGENTS.md"},
		"a/x":         {"a/AGENTS.md"},
		"a":           {"a/AGENTS.md"},
		"ab/x":        {"ab/AGENTS.md"},
		"abc/x":       nil,
		".":           nil,
		"b/a/x":       nil,
	} {
		if got := quest.Above(rules, []string{path}); !slices.Equal(got, want) {
			t.Errorf("above %s stand %v, want %v", path, got, want)
		}
	}
	if got := quest.Above(rules, []string{"a/b/x", "ab/x"}); !slices.Equal(got, []string{"a/AGENTS.md", "ab/AGENTS.md", "a/b/AGENTS.md"}) {
		t.Errorf("above two paths stand %v, want those nearer to the root first", got)
	}
}

func TestARuleIsToldOnceInAWindow(t *testing.T) {
	s := ruled(t, "docs/x.md")
	a := s.State.Agent("agent-0")
	if got := s.State.Finders["agent-0"].Told; len(got) != 1 || got["docs/x.md"] == 0 {
		t.Fatalf("before its first turn the agent was told %v", got)
	}
	if got := told(look(s, `{"path":"a/b/x","paths":["ab/y"]}`)); !slices.Equal(got, []string{"a/AGENTS.md", "ab/AGENTS.md", "a/b/AGENTS.md"}) {
		t.Errorf("when it touched two paths it was told %v", got)
	}
	if got := told(look(s, `{"path":"a/b/z"}`)); got != nil {
		t.Errorf("it was told again: %v", got)
	}
	var after []string
	for i := 0; a.Transcript.First == 0; i++ {
		if i > 60 {
			t.Fatal("the window was never cut")
		}
		after = append(after, told(look(s, fmt.Sprintf(`{"path":"other/%d"}`, i)))...)
	}
	if len(after) != 0 {
		t.Errorf("for what has no rules it was told %v", after)
	}
	got := told(look(s, `{"path":"a/z"}`))
	if !slices.Contains(got, "a/AGENTS.md") || !slices.Contains(got, "docs/x.md") || slices.Contains(got, "ab/AGENTS.md") {
		t.Errorf("after a cut it was told %v, want what it touches and what fits its task again", got)
	}
	s.Sound()
}

func TestRulesThatDoNotFitAreNamed(t *testing.T) {
	s := ruled(t)
	s.State.Agent("agent-0").Limit = 150 // so that there is room for one
	if got := told(look(s, `{"path":"a/b/x"}`)); len(got) < 2 || got[0] != "a/AGENTS.md" || !slices.Contains(got, "a/b/AGENTS.md!") {
		t.Errorf("it was told %v, want one whole and one named", got)
	}
}

func TestWhatIsNoRuleIsRefused(t *testing.T) {
	s := ruled(t)
	seq := s.Answer("agent-0", call(quest.SearchTools, `{"intent":"x"}`))[1].Seq
	for _, path := range []string{"a/AGENTS.md", "written/AGENTS.md"} {
		b := toolsFound(s, seq)
		b.Rules = []event.FoundRule{{Path: path}}
		if _, err := s.Try("agent-0", b); err == nil {
			t.Errorf("a search finds %s, which the root's rules do not link to", path)
		}
	}
	f := finder(t)
	b := toolsFound(f, f.Open("catalogue.call", "")[0])
	b.Skills = []event.FoundSkill{{Name: "x"}}
	if _, err := f.Try("agent-0", b); err == nil {
		t.Error("a search finds a skill, and the quest has none")
	}
}

func TestASkillNarrowsUntilItLeavesTheWindow(t *testing.T) {
	s := ruled(t)
	a, n := s.State.Agent("agent-0"), 0
	load := func(args, outcome string, failed bool) {
		s.Answer("agent-0", call(quest.LoadSkill, args))
		s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Output: event.Text{Text: "text"}, Outcome: outcome, Error: failed})
	}
	refused := func(tool string) bool {
		t.Helper()
		n++
		got := s.Answer("agent-0", call(tool, fmt.Sprintf(`{"path":"x%d"}`, n)))
		if strings.Contains(kinds(got), "policy.blocked") {
			return true
		}
		s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Output: event.Text{Text: fmt.Sprint(n, strings.Repeat(" word", 200))}})
		return false
	}
	load(`{"name":"x"}`, `{"skill":"x","tools":null}`, false)
	if refused("peek") {
		t.Error("a skill that names no tools narrows")
	}
	load(`{"name":"x"}`, `{"skill":"x","tools":["other"]}`, true)
	if refused("peek") {
		t.Error("a skill that could not be read narrows")
	}
	load(`{"name":"x"}`, `{"skill":"x","tools":["other"]}`, false)
	if !refused("peek") {
		t.Error("a tool that the skill does not name is used")
	}
	if got := kinds(s.Answer("agent-0", call(quest.SearchTools, `{"intent":"x"}`))); !strings.Contains(got, "catalogue.call") {
		t.Errorf("a tool by which the agent takes part is refused: %s", got)
	}
	s.Take("agent-0", toolsFound(s, s.Open("catalogue.call", "")[0]))
	load(`{"name":"y"}`, `{"skill":"y","tools":["peek"]}`, false)
	if refused("peek") {
		t.Error("a tool that the next skill names is refused")
	}
	load(`{"name":"x"}`, `{"skill":"x","tools":[]}`, false)
	if !refused("peek") {
		t.Error("a skill with an empty list narrows nothing")
	}
	load(`{"name":"x"}`, `{"skill":"x","tools":["look"]}`, false)
	for i := 0; s.State.Finders["agent-0"].Skill != nil; i++ {
		if i > 60 {
			t.Fatalf("the skill holds though the window begins with message %d", a.Transcript.First)
		}
		refused("look")
	}
	if a.Transcript.First == 0 || refused("peek") {
		t.Error("a skill that left the window was put away before, or still narrows")
	}
	s.Sound()
}
