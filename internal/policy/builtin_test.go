package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// scene is a gate with agents in front of it. It states the facts as a quest does.
type scene struct {
	*policy.Gate
	t     testing.TB
	seq   uint64
	turns map[string]int64
	calls map[uint64]*policy.Facts
}

func play(t testing.TB, text string) *scene {
	t.Helper()
	g, err := policy.New(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return &scene{Gate: g, t: t, turns: map[string]int64{}, calls: map[uint64]*policy.Facts{}}
}

func (s *scene) use(agent, tool, args string) *policy.Facts {
	return &policy.Facts{Agent: agent, Tool: tool, Turn: s.turns[agent], Args: &policy.Args{Text: event.Text{Text: args}}}
}

// why says who refuses a use of a tool and why; empty if nobody does.
func (s *scene) why(agent, tool, args string) string {
	return reasons(s.Blocked("tool.call", s.use(agent, tool, args)))
}

func reasons(by []behavior.Blocker) string {
	var out []string
	for _, b := range by {
		out = append(out, b.Thread+": "+b.Reason)
	}
	return strings.Join(out, "\n")
}

// take makes a proposal that must pass.
func (s *scene) take(t event.Type, f *policy.Facts) uint64 {
	s.t.Helper()
	if why := reasons(s.Blocked(t, f)); why != "" {
		s.t.Fatalf("%s%s is refused by %s", t, f.JSON(), why)
	}
	s.seq++
	if t == "tool.call" {
		f.Call = s.seq
		s.calls[s.seq] = f
	}
	if err := s.Took(t, f); err != nil {
		s.t.Fatal(err)
	}
	return s.seq
}

// ask begins an agent's next turn.
func (s *scene) ask(agent string) {
	s.t.Helper()
	s.take("model.call", &policy.Facts{Agent: agent, Turn: s.turns[agent] + 1})
	s.turns[agent]++
}

// parked says why an agent may not be asked.
func (s *scene) parked(agent string) string {
	return reasons(s.Blocked("model.call", &policy.Facts{Agent: agent, Turn: s.turns[agent] + 1}))
}

func (s *scene) call(agent, tool, args string) uint64 {
	s.t.Helper()
	return s.take("tool.call", s.use(agent, tool, args))
}

// result ends a call. set may say more about it.
func (s *scene) result(call uint64, output string, set ...func(*policy.Facts)) {
	f := *s.calls[call]
	delete(s.calls, call)
	f.Turn, f.Ended, f.Output = s.turns[f.Agent], true, &event.Text{Text: output}
	for _, set := range set {
		set(&f)
	}
	if f.Changed { // which is known before the result
		s.Tell("file.diff", &policy.Facts{Agent: f.Agent, Tool: f.Tool, Args: f.Args, Turn: f.Turn, Call: f.Call})
	}
	s.Tell("tool.result", &f)
}

func failed(f *policy.Facts)  { f.Error = true }
func changed(f *policy.Facts) { f.Changed = true }
func inBlob(f *policy.Facts) {
	f.Output = &event.Text{Ref: &event.Ref{Hash: event.HashOf([]byte(f.Output.Text))}}
}

// does is a whole turn: the agent is asked, uses a tool, and gets the result.
func (s *scene) does(agent, tool, args, output string, set ...func(*policy.Facts)) {
	s.t.Helper()
	s.ask(agent)
	s.result(s.call(agent, tool, args), output, set...)
}

// turnedDown is a whole turn in which a use of a tool is refused.
func (s *scene) turnedDown(agent, tool, args string) {
	s.t.Helper()
	s.ask(agent)
	f := s.use(agent, tool, args)
	if len(s.Blocked("tool.call", f)) == 0 {
		s.t.Fatalf("%s is let pass", f.JSON())
	}
	s.seq++
	s.Tell("policy.blocked", &policy.Facts{Agent: agent, Tool: tool, Turn: f.Turn, Refused: "tool.call"})
	f.Call, f.Refused, f.Ended, f.Error, f.Output = s.seq, "tool.call", true, true, &event.Text{Text: "Refused."}
	s.Tell("tool.answered", f)
}

// answerRefused is a whole turn with an answer that is refused.
func (s *scene) answerRefused(agent, answer string) {
	s.t.Helper()
	s.ask(agent)
	s.Tell("policy.blocked", &policy.Facts{Agent: agent, Turn: s.turns[agent], Refused: "quest.finished", Output: &event.Text{Text: answer}})
}

func (s *scene) says(to string) { s.Tell("user.message", &policy.Facts{To: to, Text: "Go on."}) }
func (s *scene) happens(t event.Type) {
	s.Tell(t, &policy.Facts{})
}

// warned is what policies have to say, as "to: text"; it is said then.
func (s *scene) warned() string {
	s.t.Helper()
	name, to, text, ok := s.Message()
	if !ok {
		return ""
	}
	if err := s.Sent(name, text); err != nil {
		s.t.Fatal(err)
	}
	return to + ": " + text
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func has(t testing.TB, what, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s: %q does not say %q", what, got, want)
	}
}

func TestBudgetRefusesAModelCallOverALimitAndSaysWhich(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		over policy.Over
		want string
	}{
		{policy.Over{Of: "quest", Limit: "cost", Max: 500_000_000, Used: 512_345_000}, "The quest has used $0.512345 of $0.50."},
		{policy.Over{Of: "quest", Limit: "turns", Max: 3, Used: 3}, "The quest has used 3 turns of 3 turns."},
		{policy.Over{Of: "quest", Limit: "tokens", Max: 0, Used: 7}, "The quest has used 7 tokens of 0 tokens."},
		{policy.Over{Of: "quest", Limit: "duration", Max: 60_000_000, Used: 61_500_000}, "The quest has used 61.5 s of 60 s."},
		{policy.Over{Of: "agent", Limit: "cost", Max: 20_000_000_000, Used: 20_000_000_001}, "agent-0 has used $20.000000001 of $20.00."},
		{policy.Over{Of: "agent", Limit: "turns", Max: 10, Used: 10}, "agent-0 has used 10 turns of 10 turns."},
		{policy.Over{Of: "agent", Limit: "tokens", Max: 1000, Used: 1001}, "agent-0 has used 1001 tokens of 1000 tokens."},
		{policy.Over{Of: "agent", Limit: "duration", Max: 100_000_000, Used: 100_000_001}, "agent-0 has used 100.000001 s of 100 s."},
	} {
		t.Run(c.over.Of+"/"+c.over.Limit, func(t *testing.T) {
			t.Parallel()
			s := play(t, "[]")
			equal(t, "the reason", reasons(s.Blocked("model.call", &policy.Facts{Agent: "agent-0", Over: &c.over})), "budget: "+c.want)
			for _, typ := range []event.Type{"tool.call", "quest.finished"} {
				equal(t, string(typ), reasons(s.Blocked(typ, &policy.Facts{Agent: "agent-0", Over: &c.over})), "")
			}
			if err := s.Took("model.call", &policy.Facts{Agent: "agent-0", Over: &c.over}); err == nil {
				t.Error("a call over a limit could be taken")
			}
			s.ask("agent-0")
		})
	}
}

func TestRepetitionWarnsAtThreeAndParksAtSix(t *testing.T) {
	t.Parallel()
	s := play(t, "[]")
	for n := 1; n <= 6; n++ {
		equal(t, fmt.Sprint("parked before ", n), s.parked("agent-0"), "")
		s.does("agent-0", "calculate", `{"code":"1"}`, "1")
		want := ""
		if n == 3 {
			want = "agent-0: You have called calculate in the same way, with the same result, 3 times, with nothing new in between. Doing it again will not change it: try something else, or answer with what you have."
		}
		equal(t, fmt.Sprint("warned after ", n), s.warned(), want)
		equal(t, fmt.Sprint("warned again after ", n), s.warned(), "")
	}
	equal(t, "parked", s.parked("agent-0"), "repetition: agent-0 has called calculate in the same way, with the same result, 6 times, with nothing new in between.")
	equal(t, "another agent", s.parked("agent-1"), "")
	equal(t, "its tools", s.why("agent-0", "calculate", `{"code":"1"}`), "")
	equal(t, "its answer", reasons(s.Blocked("quest.finished", &policy.Facts{Agent: "agent-0", Text: "1"})), "")
}

// turn is one that an agent takes in the tests below: what it does, with what result.
type turn struct{ args, output string }

func (s *scene) turn(agent string, u turn) {
	s.t.Helper()
	s.does(agent, "calculate", fmt.Sprintf(`{"code":%q}`, u.args), u.output)
}

// round plays turns again and again, and says after how many of them there was a
// warning, and the agent parked; 0 for never.
func (s *scene) round(agent string, most int, turns ...turn) (warned, parked int) {
	s.t.Helper()
	for n := range most {
		s.turn(agent, turns[n%len(turns)])
		if s.warned() != "" && warned == 0 {
			warned = n + 1
		}
		if s.parked(agent) != "" {
			return warned, n + 1
		}
	}
	return warned, 0
}

func TestRepetitionLooksAtWhatCame(t *testing.T) {
	t.Parallel()
	a, b := turn{"a", "1"}, turn{"b", "2"}
	fresh := func(n int) (out []turn) {
		for i := range n {
			out = append(out, turn{"poll", fmt.Sprint(i)})
		}
		return out
	}
	for name, c := range map[string]struct {
		set            string
		turns          []turn
		warned, parked int
	}{
		"OneThing":                     {"[]", []turn{a}, 3, 6},
		"ACircleOfTwo":                 {"[]", []turn{a, b}, 1 + 2*2, 1 + 2*5},
		"TheSameCallWithOtherResults":  {"[]", fresh(100), 0, 0},
		"ACircleOfSixteen":             {"[]", fresh(16), 1 + 2*16, 1 + 5*16},
		"ACircleOfSeventeenIsTooLarge": {"[]", fresh(17), 0, 0},
		"NoWarning":                    {"[{use: repetition, warn: 0, park: 4}]", []turn{a}, 0, 4},
		"NoParking":                    {"[{use: repetition, warn: 2, park: 0}]", []turn{a}, 2, 0},
		"Neither":                      {"[{use: repetition, warn: 0, park: 0}]", []turn{a}, 0, 0},
		"OtherNumbers":                 {"[{use: repetition, warn: 2, park: 3}]", []turn{b}, 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			warned, parked := play(t, c.set).round("agent-0", 100, c.turns...)
			equal(t, "warned after", warned, c.warned)
			equal(t, "parked after", parked, c.parked)
		})
	}
}

func TestRepetitionBeginsToCountAgainWhenSomethingNewComes(t *testing.T) {
	t.Parallel()
	a := turn{"a", "1"}
	s := play(t, "[]")
	for range 5 {
		s.turn("agent-0", a)
		s.warned()
	}
	s.turn("agent-0", turn{"b", "2"})
	// It counts from one: what came before something new is the first time.
	warned, parked := s.round("agent-0", 20, a)
	equal(t, "warned after", warned, 2)
	equal(t, "parked after", parked, 5)
}

func TestRepetitionTellsOutcomesApart(t *testing.T) {
	t.Parallel()
	same := func(*policy.Facts) {}
	for name, c := range map[string]struct {
		first, second func(*policy.Facts)
		circle        bool
	}{
		"TheSame":       {same, same, true},
		"AnError":       {same, failed, false},
		"AnotherTool":   {same, func(f *policy.Facts) { f.Tool = "exec" }, false},
		"AnotherOutput": {same, func(f *policy.Facts) { f.Output = &event.Text{Text: "other"} }, false},
		"OtherArgs":     {same, func(f *policy.Facts) { f.Args = &policy.Args{Text: event.Text{Text: `{ }`}} }, false},
		"TheSameBlob":   {inBlob, inBlob, true},
		"ArgsAndOutputRunTogether": {
			func(f *policy.Facts) {
				f.Args, f.Output = &policy.Args{Text: event.Text{Text: "ab"}}, &event.Text{Text: "c"}
			},
			func(f *policy.Facts) {
				f.Args, f.Output = &policy.Args{Text: event.Text{Text: "a"}}, &event.Text{Text: "bc"}
			}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, "[{use: repetition, warn: 2, park: 0}]")
			s.does("agent-0", "calculate", "{}", "1", c.first)
			s.does("agent-0", "calculate", "{}", "1", c.second)
			equal(t, "a circle", s.warned() != "", c.circle)
		})
	}
}

func TestRepetitionCountsTwiceInOneTurnOnce(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: repetition, warn: 2, park: 3}]")
	s.ask("agent-0")
	for range 10 {
		s.result(s.call("agent-0", "calculate", "{}"), "1")
	}
	equal(t, "in one turn", s.warned(), "")
	s.does("agent-0", "calculate", "{}", "1")
	has(t, "in the next", s.warned(), "2 times")
}

func TestRepetitionGivesANewStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		what func(*scene)
		frees,
		other bool
	}{
		"ByAWordToTheAgent":     {func(s *scene) { s.says("agent-0") }, true, false},
		"ByAWordToAll":          {func(s *scene) { s.says("") }, true, true},
		"WhenTheQuestIsResumed": {func(s *scene) { s.happens("quest.resumed") }, true, true},
		"NotByAWordToAnother":   {func(s *scene) { s.says("agent-1") }, false, true},
		"NotWhenItStarts":       {func(s *scene) { s.happens("quest.started") }, false, false},
		"NotByAMessageOfRules":  {func(s *scene) { s.Tell("message.sent", &policy.Facts{To: "agent-0", Text: "x"}) }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, "[{use: repetition, warn: 2, park: 3}]")
			for range 3 {
				s.turn("agent-0", turn{"a", "1"})
				s.turn("agent-1", turn{"a", "1"})
			}
			// Nobody has been told anything yet: a new start takes that back as well.
			c.what(s)
			equal(t, "agent-0 goes on", s.parked("agent-0") == "", c.frees)
			equal(t, "agent-1 goes on", s.parked("agent-1") == "", c.other)
			told := s.warned() + s.warned()
			equal(t, "agent-0 is told", strings.Contains(told, "agent-0: "), !c.frees)
			equal(t, "agent-1 is told", strings.Contains(told, "agent-1: "), !c.other)
			if c.frees {
				warned, parked := s.round("agent-0", 9, turn{"a", "1"})
				equal(t, "warned after", warned, 2)
				equal(t, "parked after", parked, 3)
			}
		})
	}
}

func TestRepetitionCountsWhatWasRefused(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: allowed-tools, role: agent, tools: []}]")
	for range 3 {
		s.turnedDown("agent-0", "exec", "{}")
	}
	has(t, "a tool call", s.warned(), "agent-0: You have called exec in the same way")
	for range 3 {
		s.answerRefused("agent-0", "42")
	}
	has(t, "an answer", s.warned(), "agent-0: You have answered in the same way, and been refused, 3 times")
	for range 3 {
		s.answerRefused("agent-0", "42")
	}
	has(t, "parked", s.parked("agent-0"), "agent-0 has answered in the same way, and been refused, 6 times")
	s.says("")
	for n := range 20 {
		s.answerRefused("agent-0", fmt.Sprint(n))
	}
	equal(t, "other answers", s.parked("agent-0")+s.warned(), "")
}

func TestRepetitionRemembersSixteenOutcomesOfAnAgent(t *testing.T) {
	t.Parallel()
	s := play(t, "[]")
	size := 0
	for n := range 400 {
		s.turn("agent-0", turn{"a", fmt.Sprint("some output ", n)})
		all := 0
		for _, saved := range s.Save() {
			all += len(saved.State)
		}
		switch {
		case n == 15:
			size = all
		case n > 15 && all > size+16*3: // a turn has up to two digits more
			t.Fatalf("after %d outcomes there are %d bytes, after 16 there were %d", n, all, size)
		}
	}
}

func TestMaxCallsCountsPerAgentAndTask(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: max-calls, max: 2, tools: [exec, start]}]")
	const refused = "max-calls: You have made all 2 calls of exec, start that this task allows. Answer with what you have."
	s.does("agent-0", "exec", "{}", "1")
	s.does("agent-0", "other", "{}", "2")
	equal(t, "after one", s.why("agent-0", "exec", "{}"), "")
	s.call("agent-0", "start", "{}") // it counts before it ends
	equal(t, "after two", s.why("agent-0", "exec", "{}"), refused)
	equal(t, "after two", s.why("agent-0", "start", "{}"), refused)
	equal(t, "another tool", s.why("agent-0", "other", "{}"), "")
	equal(t, "another agent", s.why("agent-1", "exec", "{}"), "")
	s.turnedDown("agent-0", "exec", "{}")

	s.happens("quest.resumed")
	s.says("agent-1")
	equal(t, "the same task", s.why("agent-0", "exec", "{}"), refused)
	for _, to := range []string{"agent-0", ""} {
		s.says(to)
		s.call("agent-0", "exec", "{}")
		equal(t, "a new task", s.why("agent-0", "exec", "{}"), "")
		s.call("agent-0", "exec", "{}")
		equal(t, "used up again", s.why("agent-0", "exec", "{}"), refused)
	}
}

func TestMaxCallsIsAboutAllToolsUnlessSet(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: max-calls, max: 1}]")
	s.call("agent-0", "exec", "{}")
	for tool, refused := range map[string]bool{"exec": true, "start": true, "write_file": true, "": true} {
		equal(t, tool, s.why("agent-0", tool, "{}") != "", refused)
	}
}

// TestOneCallIsNoCalls in what a person is told that a policy does.
func TestOneCallIsNoCalls(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[{use: max-calls, max: 1}]":                "An agent may make 1 call of ",
		"[{use: max-calls, max: 2, tools: [exec]}]": "An agent may make 2 calls of exec for a task.",
		"[{use: same-error, max: 1}]":               "the same error 1 time in a row",
		"[{use: same-error, max: 3}]":               "the same error 3 times in a row",
	} {
		if list := play(t, text).Describe(); !slices.ContainsFunc(list, func(d behavior.Description) bool { return strings.Contains(d.Text, want) }) {
			t.Errorf("%s is described as %+v, want %q", text, list, want)
		}
	}
}

func TestSameErrorClosesATool(t *testing.T) {
	t.Parallel()
	fail := func(text string) func(*scene) {
		return func(s *scene) { s.does("agent-0", "exec", "{}", text, failed) }
	}
	works := func(agent, tool string) func(*scene) { return func(s *scene) { s.does(agent, tool, "{}", "done") } }
	a, b := fail("a"), fail("b")
	for name, c := range map[string]struct {
		steps  []func(*scene)
		closed bool
	}{
		"AfterThreeInARow":                    {[]func(*scene){a, a, a}, true},
		"NotAfterTwo":                         {[]func(*scene){a, a}, false},
		"NotIfAnotherTextComesBetween":        {[]func(*scene){a, a, b, a}, false},
		"NotByTurns":                          {[]func(*scene){a, b, a, b, a, b}, false},
		"AnotherTextCountsFromOne":            {[]func(*scene){a, a, b, b, b}, true},
		"NotIfItWorkedInBetween":              {[]func(*scene){a, a, works("agent-0", "exec"), a}, false},
		"NotIfAnythingElseWorkedInBetween":    {[]func(*scene){a, a, works("agent-0", "other"), a}, false},
		"ThoughAnotherAgentGotSomewhere":      {[]func(*scene){a, a, works("agent-1", "exec"), a}, true},
		"UntilAnythingElseHasWorked":          {[]func(*scene){a, a, a, works("agent-0", "other")}, false},
		"ThoughAnotherToolFails":              {[]func(*scene){a, a, func(s *scene) { s.does("agent-0", "other", "{}", "a", failed) }, a}, true},
		"NotByAnotherToolsErrors":             {[]func(*scene){a, a, func(s *scene) { s.does("agent-0", "other", "{}", "a", failed) }}, false},
		"UntilAPersonSpeaksToIt":              {[]func(*scene){a, a, a, func(s *scene) { s.says("agent-0") }}, false},
		"UntilAPersonSpeaksToAll":             {[]func(*scene){a, a, a, func(s *scene) { s.says("") }}, false},
		"UntilTheQuestIsResumed":              {[]func(*scene){a, a, a, func(s *scene) { s.happens("quest.resumed") }}, false},
		"ThoughAPersonSpeaksToAnother":        {[]func(*scene){a, a, a, func(s *scene) { s.says("agent-1") }}, true},
		"ThoughItIsRefusedMeanwhile":          {[]func(*scene){a, a, a, func(s *scene) { s.turnedDown("agent-0", "exec", "{}") }}, true},
		"AfterTwoAndARefusalItCountsTheThird": {[]func(*scene){a, a, func(s *scene) { s.turnedDown("agent-0", "exec", `{"path":"secret"}`) }, a}, true},
		"NotByRefusals": {[]func(*scene){a, a, func(s *scene) { s.turnedDown("agent-0", "exec", `{"path":"secret"}`) },
			func(s *scene) { s.turnedDown("agent-0", "exec", `{"path":"secret"}`) }}, false},
		"WhateverTheArguments": {[]func(*scene){a, a, func(s *scene) { s.does("agent-0", "exec", `{"x":1}`, "a", failed) }}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, "[{use: same-error}, {use: no-touch, paths: [secret]}]")
			for _, step := range c.steps {
				step(s)
			}
			want := ""
			if c.closed {
				want = "same-error: exec has given you the same error 3 times in a row. It is closed until something else that you do has worked."
			}
			equal(t, "exec", s.why("agent-0", "exec", "{}"), want)
			equal(t, "other", s.why("agent-0", "other", "{}"), "")
			equal(t, "exec for another agent", s.why("agent-1", "exec", "{}"), "")
		})
	}
}

func TestSameErrorIsAboutCertainToolsIfSet(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: same-error, max: 1, tools: [exec]}]")
	s.does("agent-0", "other", "{}", "a", failed)
	s.does("agent-0", "", "{}", "a", failed)
	equal(t, "another tool", s.why("agent-0", "other", "{}")+s.why("agent-0", "", "{}"), "")
	s.does("agent-0", "exec", "{}", "a", failed)
	has(t, "the tool", s.why("agent-0", "exec", "{}"), "closed")
}

func TestAllowedToolsGoByRoleAndByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role, tools, agent, tool string
		want                     string
	}{
		{"executor", "[exec, lint]", "executor-0", "exec", ""},
		{"executor", "[exec, lint]", "executor-12", "lint", ""},
		{"executor", "[exec, lint]", "executor-0", "write", "You, as executor, may not use write. You may use: exec, lint."},
		{"executor", "[exec]", "executor", "write", "You, as executor, may not use write. You may use: exec."},
		{"executor-1", "[exec]", "executor-1", "write", "You, as executor-1, may not use write. You may use: exec."},
		{"executor-1", "[exec]", "executor-2", "write", ""},
		{"executor-1", "[exec]", "executor-11", "write", ""},
		{"executor", "[exec]", "executor-x", "write", ""},
		{"executor", "[exec]", "executors-1", "write", ""},
		{"executor", "[exec]", "agent-0", "write", ""},
		{"agent", "[]", "agent-0", "exec", "You, as agent, may not use exec. You may use: none."},
		{"agent", "[exec]", "agent-0", "exec2", "You, as agent, may not use exec2. You may use: exec."},
		{"agent", "[exec]", "agent-0", "", "You, as agent, may not use a tool that does not exist. You may use: exec."},
	} {
		t.Run(fmt.Sprintf("%s of %s with %s of %s", c.agent, c.role, c.tool, c.tools), func(t *testing.T) {
			t.Parallel()
			s := play(t, fmt.Sprintf("[{use: allowed-tools, role: %s, tools: %s}]", c.role, c.tools))
			want := c.want
			if want != "" {
				want = "allowed-tools: " + want
			}
			equal(t, "the reason", s.why(c.agent, c.tool, "{}"), want)
			s.ask(c.agent)
			s.take("quest.finished", &policy.Facts{Agent: c.agent})
		})
	}
}

func TestNoTouchComparesPathsNameByName(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{}`:                             "",
		``:                               "",
		` `:                              "",
		`{"path":"secret"}`:              "secret",
		`{"path":"secret/"}`:             "secret",
		`{"path":"secret/key"}`:          "secret",
		`{"path":"/secret/key"}`:         "secret",
		`{"path":"//secret"}`:            "secret",
		`{"path":"./secret"}`:            "secret",
		`{"path":"x/../secret/key"}`:     "secret",
		`{"path":"../secret"}`:           "secret",
		`{"path":"x/../../secret"}`:      "secret",
		`{"path":"secret/x/../../y"}`:    "",
		`{"path":"secret/x/../key"}`:     "secret",
		`{"path":"secret/."}`:            "secret",
		`{"path":"\u0073ecret"}`:         "secret",
		`{"path":"secrets"}`:             "",
		`{"path":"secret.txt"}`:          "",
		`{"path":"x/secret"}`:            "",
		`{"path":"secre"}`:               "",
		`{"path":""}`:                    "",
		`{"path":"."}`:                   "",
		`{"path":"a/b"}`:                 "a/b/",
		`{"path":"a/b/c"}`:               "a/b/",
		`{"path":"a//b"}`:                "a/b/",
		`{"path":"a/bc"}`:                "",
		`{"path":"a"}`:                   "",
		`{"path":"b"}`:                   "",
		`{"from":"a/b","to":"secret"}`:   "secret, a/b/",
		`{"paths":["x","secret/key"]}`:   "secret",
		`{"paths":["x","y"]}`:            "",
		`{"paths":[]}`:                   "",
		`{"path":null}`:                  "",
		`{"from":1,"to":2}`:              "",
		`{"content":"secret"}`:           "",
		`{"args":{"path":"secret"}}`:     "",
		`{"paths":[["secret"]]}`:         "?",
		`{"paths":[{"path":"secret"}]}`:  "?",
		`{"path":{"name":"secret"}}`:     "?",
		`{"path":"x","path":"secret"}`:   "?",
		`{"path":"x"`:                    "?",
		`{"path":"x"} {"path":"secret"}`: "?",
		`["secret"]`:                     "?",
		`"secret"`:                       "?",
		`null`:                           "?",
		"{\"path\":\"\xff\"}":            "?",
		`{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: "?",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			s := play(t, "[{use: no-touch, paths: [secret, a/b/]}]")
			switch want {
			case "":
			case "?":
				want = "no-touch: secret, a/b/ must not be touched, and the paths in these arguments cannot be read. Write them as short, valid JSON."
			default:
				want = "no-touch: " + want + " must not be touched. Leave it as it is, and work elsewhere."
			}
			equal(t, "the reason", s.why("agent-0", "read_file", args), want)
		})
	}
}

func TestNoTouchKnowsTheArgumentsThatTakePaths(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: no-touch, paths: [secret]}]")
	for _, name := range []string{"path", "paths", "file", "files", "folder", "dir", "cwd", "from", "to", "source", "target", "destination"} {
		for _, form := range []string{`{%q:"secret/x"}`, `{%q:["x","secret/x"]}`} {
			has(t, name, s.why("agent-0", "any", fmt.Sprintf(form, name)), "secret must not be touched.")
		}
		equal(t, name, s.why("agent-0", "any", fmt.Sprintf(`{%q:"x"}`, name)), "")
	}
}

func TestNoTouchRefusesWhatAnOutlineDoesNotShow(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: no-touch, paths: [secret]}]")
	for name, c := range map[string]struct{ outline, want string }{
		"NoOutline":         {"", "cannot be read"},
		"ItShowsAnother":    {`{"path":"x","content":{"omitted":5000}}`, ""},
		"ItShowsASecret":    {`{"path":"secret/x","content":{"omitted":5000}}`, "must not be touched. "},
		"ThePathIsLeftOut":  {`{"path":{"omitted":5000}}`, "cannot be read"},
		"OneOfThemIs":       {`{"from":"x","to":{"omitted":5000}}`, "cannot be read"},
		"TheAgentWroteThat": {`{"path":"x","omitted":1}`, "cannot be read"},
	} {
		by := s.Blocked("tool.call", &policy.Facts{Agent: "agent-0", Tool: "write_file",
			Args: &policy.Args{Text: event.Text{Ref: &event.Ref{}}, Outline: c.outline}})
		equal(t, name, len(by) > 0, c.want != "")
		has(t, name, reasons(by), c.want)
	}
}

func TestNoTouchIsAboutCertainToolsIfSet(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: no-touch, paths: [secret], tools: [write_file]}, {use: no-touch, name: all, paths: [.], tools: [wipe]}]")
	for _, args := range []string{`{"path":"secret"}`, `{"path`} {
		has(t, "that tool", s.why("agent-0", "write_file", args), "secret must not be touched")
		equal(t, "another", s.why("agent-0", "read_file", args), "")
	}
	has(t, "the whole workspace", s.why("agent-0", "wipe", `{"path":"x"}`), "all: . must not be touched")
}

// A tool that writes files stands for all that do. A quest that has pinned the first version goes on by that.
func TestNoTouchOfAWriterIsOfAllWriters(t *testing.T) {
	t.Parallel()
	writers := []string{"write_file", "edit_file", "edit_files", "move_file", "delete_file"}
	for _, named := range writers {
		s := play(t, "[{use: no-touch, paths: [secret], tools: ["+named+"]}]")
		for _, tool := range writers {
			has(t, named+" closes "+tool, s.why("agent-0", tool, `{"path":"secret"}`), "secret must not be touched")
		}
		equal(t, "reading", s.why("agent-0", "read_file", `{"path":"secret"}`), "")
	}
	for named, open := range map[string][]string{"write_file": {"edit_file"}, "edit_file": {"write_file"}, "edit_files": {"write_file", "edit_file", "move_file", "delete_file"}} {
		gate, err := policy.New([]event.PolicySpec{{Name: "no-touch", Use: "no-touch/1", Settings: `{"paths":["secret"],"tools":["` + named + `"]}`}})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range writers {
			equal(t, "a quest of before: "+named+" closes "+tool, len(gate.Closed(tool)) == 0, slices.Contains(open, tool))
		}
	}
}

func TestOneAtATimeHasTheNextWait(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: one-at-a-time, domains: [a, b/c]}]")
	s.ask("agent-0")
	first := s.call("agent-0", "write", `{"path":"a/x"}`)
	by := s.Blocked("tool.call", s.use("agent-0", "write", `{"path":"/a/y"}`))
	equal(t, "who", len(by), 1)
	equal(t, "why", by[0], behavior.Blocker{Thread: "one-at-a-time", Reason: "Another call is at work in a. Call again when it has ended.", Later: true})
	equal(t, "couples", s.Couples(), true)
	equal(t, "another agent", s.why("agent-1", "write", `{"path":"a/y"}`), "")
	for args, busy := range map[string]string{
		`{"path":"b/c"}`: "", `{"path":"b"}`: "", `{"path":"ab"}`: "", `{}`: "",
		`{"from":"b/c","to":"a"}`: "in a.", `{"path"`: "in a.", `{"path":["a"]}`: "in a.",
	} {
		why := s.why("agent-0", "write", args)
		equal(t, args, why != "", busy != "")
		has(t, args, why, busy)
	}
	second := s.call("agent-0", "move", `{"from":"b/c/x","to":"elsewhere"}`)
	has(t, "both", s.why("agent-0", "write", `{"path"`), "in a, b/c.")
	s.result(first, "done", failed)
	equal(t, "a is free", s.why("agent-0", "write", `{"path":"a/y"}`), "")
	has(t, "b/c is not", s.why("agent-0", "write", `{"path":"b/c"}`), "in b/c.")
	f := *s.calls[second]
	f.Ended, f.Output = true, &event.Text{Text: "done"}
	s.Tell("tool.answered", &f)
	equal(t, "b/c is free", s.why("agent-0", "write", `{"path":"b/c"}`), "")
}

func TestOneAtATimeTakesWhatItCannotReadForAllFolders(t *testing.T) {
	t.Parallel()
	for _, f := range []*policy.Args{
		{Text: event.Text{Text: `{"path":"b"`}},
		{Text: event.Text{Ref: &event.Ref{}}},
		{Text: event.Text{Ref: &event.Ref{}}, Outline: `{"path":{"omitted":9000}}`},
	} {
		s := play(t, "[{use: one-at-a-time, domains: [a, b]}]")
		call := s.take("tool.call", &policy.Facts{Agent: "agent-0", Tool: "write", Args: f})
		for _, dir := range []string{"a", "b"} {
			has(t, dir, s.why("agent-0", "write", fmt.Sprintf(`{"path":%q}`, dir)), "in "+dir+".")
		}
		equal(t, "elsewhere", s.why("agent-0", "write", `{"path":"c"}`), "")
		s.result(call, "done")
		equal(t, "it has ended", s.why("agent-0", "write", `{"path":"a"}`), "")
	}
}

func TestOneAtATimeMayBeForAllAgents(t *testing.T) {
	t.Parallel()
	s := play(t, "[{use: one-at-a-time, domains: [a], shared: true}]")
	call := s.call("agent-0", "write", `{"path":"a"}`)
	has(t, "another agent", s.why("agent-1", "write", `{"path":"a"}`), "in a.")
	s.result(call, "done")
	call = s.call("agent-1", "write", `{"path":"a"}`)
	has(t, "the first", s.why("agent-0", "write", `{"path":"a"}`), "in a.")
	s.result(call, "done")
	equal(t, "it has ended", s.why("agent-0", "write", `{"path":"a"}`), "")
}

func TestOneAtATimeIsFreeAfterAFork(t *testing.T) {
	t.Parallel()
	for _, shared := range []string{"true", "false"} {
		s := play(t, "[{use: one-at-a-time, domains: [a], shared: "+shared+"}]")
		s.call("agent-0", "write", `{"path":"a"}`)
		for _, typ := range []event.Type{"quest.resumed", "quest.paused", "user.message"} {
			s.happens(typ)
			has(t, string(typ), s.why("agent-0", "write", `{"path":"a"}`), "in a.")
		}
		s.happens("quest.forked")
		equal(t, "after a fork", s.why("agent-0", "write", `{"path":"a"}`), "")
	}
}

// lint and the like are steps of the tests of analysis-first.
func lint(path, output string, set ...func(*policy.Facts)) func(*scene) {
	return func(s *scene) { s.does("agent-0", "lint", fmt.Sprintf(`{"path":%q}`, path), output, set...) }
}

func does(tool, args string, set ...func(*policy.Facts)) func(*scene) {
	return func(s *scene) { s.does("agent-0", tool, args, "done", set...) }
}

func TestAnalysisFirstLetsPassWhatHasPassedAndNotChanged(t *testing.T) {
	t.Parallel()
	pass := lint("a.py", "fine")
	for name, c := range map[string]struct {
		steps []func(*scene)
		opens bool
	}{
		"NothingWasAnalysed":                 {nil, false},
		"ItPassed":                           {[]func(*scene){pass}, true},
		"ItPassedInOtherWords":               {[]func(*scene){lint("./x/../a.py", "fine")}, true},
		"ItFailed":                           {[]func(*scene){lint("a.py", "fine", failed)}, false},
		"ItFailedTwice":                      {[]func(*scene){lint("a.py", "fine", failed), lint("a.py", "bad", failed)}, false},
		"ItFailedAndThenPassed":              {[]func(*scene){lint("a.py", "bad", failed), pass}, true},
		"ItPassedAndThenFailed":              {[]func(*scene){pass, lint("a.py", "bad", failed)}, false},
		"AnotherPassed":                      {[]func(*scene){lint("b.py", "fine")}, false},
		"ItsFolderPassed":                    {[]func(*scene){lint(".", "fine")}, false},
		"AnotherFailedSince":                 {[]func(*scene){pass, lint("b.py", "bad", failed)}, true},
		"AnotherAgentsPassed":                {[]func(*scene){func(s *scene) { s.does("agent-1", "lint", `{"path":"a.py"}`, "fine") }}, false},
		"AnotherToolWorked":                  {[]func(*scene){does("read", `{"path":"a.py"}`)}, false},
		"TheAnalysisDoesNotSayWhat":          {[]func(*scene){does("lint", `{}`), does("lint", `{"path":["a.py"]}`), does("lint", `{"path"`)}, false},
		"ItChanged":                          {[]func(*scene){pass, does("write", `{"path":"a.py"}`, changed)}, false},
		"ItChangedInOtherWords":              {[]func(*scene){pass, does("write", `{"path":"/x/../a.py"}`, changed)}, false},
		"ItChangedByAFailure":                {[]func(*scene){pass, does("write", `{"path":"a.py"}`, changed, failed)}, false},
		"AFolderAboveItChanged":              {[]func(*scene){pass, does("write", `{"folder":"."}`, changed)}, false},
		"SomethingBelowItChanged":            {[]func(*scene){pass, does("write", `{"path":"a.py/x"}`, changed)}, false},
		"AnotherChanged":                     {[]func(*scene){pass, does("write", `{"path":"b.py"}`, changed)}, false},
		"SomethingChangedOutsideOfCalls":     {[]func(*scene){pass, func(s *scene) { s.Tell("file.diff", &policy.Facts{Agent: "agent-0"}) }}, false},
		"AnotherAgentsFilesChangedOutside":   {[]func(*scene){pass, func(s *scene) { s.Tell("file.diff", &policy.Facts{Agent: "agent-1"}) }}, true},
		"ItIsOneOfSeveralThatChanged":        {[]func(*scene){pass, does("move", `{"from":"b.py","to":"a.py"}`, changed)}, false},
		"SomethingChanged":                   {[]func(*scene){pass, does("build", `{}`, changed)}, false},
		"SomethingUnreadableChanged":         {[]func(*scene){pass, does("write", `{"path":"b.py"`, changed)}, false},
		"SomethingElseToo":                   {[]func(*scene){pass, does("move", `{"from":"b.py","to":{}}`, changed)}, false},
		"ACommandChangedSomething":           {[]func(*scene){pass, does("shell", `{"cwd":"b","command":"rm ../a.py"}`, changed)}, false},
		"TheExecutionOfAnotherChangedThings": {[]func(*scene){pass, lint("b.py", "fine"), does("run", `{"path":"b.py"}`, changed)}, false},
		"TheExecutionOfAnotherChangedNone":   {[]func(*scene){pass, lint("b.py", "fine"), does("run", `{"path":"b.py"}`)}, true},
		"NothingChanged":                     {[]func(*scene){pass, does("write", `{"path":"a.py"}`)}, true},
		"AnotherAgentChangedItsOwn":          {[]func(*scene){pass, func(s *scene) { s.does("agent-1", "write", `{"path":"a.py"}`, "done", changed) }}, true},
		"ItChangedAndPassedAgain":            {[]func(*scene){pass, does("write", `{"path":"a.py"}`, changed), pass}, true},
		"ItWasExecutedAndChangedItself":      {[]func(*scene){pass, does("run", `{"path":"a.py"}`, changed)}, false},
		"TheAnalysisWrote":                   {[]func(*scene){lint("a.py", "fine", changed)}, true},
		"TheAnalysisOfAnotherWroteThat":      {[]func(*scene){pass, lint("b.py", "fine", changed)}, false},
		"AFork":                              {[]func(*scene){pass, func(s *scene) { s.happens("quest.forked") }}, true},
		"APersonsWord":                       {[]func(*scene){pass, func(s *scene) { s.says("") }}, true},
		"ARefusedCallChangesNothing": {[]func(*scene){pass, func(s *scene) {
			f := s.use("agent-0", "write", `{"path":"a.py"}`)
			f.Refused, f.Ended, f.Changed, f.Call = "tool.call", true, true, 99
			s.Tell("tool.answered", f)
		}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, "[{use: analysis-first, analysis: [lint], execution: [run]}]")
			for _, step := range c.steps {
				step(s)
			}
			want := "analysis-first: a.py has not passed an analysis since it was last changed. Analyse it with lint first."
			if c.opens {
				want = ""
			}
			equal(t, "run a.py", s.why("agent-0", "run", `{"path":"a.py"}`), want)
			equal(t, "another tool", s.why("agent-0", "write", `{"path":"a.py"}`), "")
			for _, args := range []string{`{}`, `{"path":"/"}`, `{"path":["a.py"]}`, `{"path":"a.py"`, `{"path":"a.py","path":"a.py"}`} {
				equal(t, args, s.why("agent-0", "run", args), "analysis-first: run needs the argument path, and an analysis of it by lint that passed.")
			}
		})
	}
}

func TestAnalysisFirstDoesNotTrustAnAnalysisDuringWhichItChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(*scene)
		opens     bool
	}{
		"Nothing":          {func(*scene) {}, true},
		"ItChanged":        {func(s *scene) { s.result(s.call("agent-0", "write", `{"path":"a.py"}`), "", changed) }, false},
		"AnotherChanged":   {func(s *scene) { s.result(s.call("agent-0", "write", `{"path":"b.py"}`), "", changed) }, false},
		"OutsideOfCalls":   {func(s *scene) { s.Tell("file.diff", &policy.Facts{Agent: "agent-0"}) }, false},
		"SomethingChanged": {func(s *scene) { s.result(s.call("agent-0", "build", `{}`), "", changed) }, false},
		"OfAnotherAgent":   {func(s *scene) { s.result(s.call("agent-1", "write", `{"path":"a.py"}`), "", changed) }, true},
		"AFork":            {func(s *scene) { s.happens("quest.forked") }, false},
		"AnAnalysisThatChangedIt": {func(s *scene) {
			s.result(s.call("agent-0", "lint", `{"path":"a.py"}`), "fine", changed)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, "[{use: analysis-first, analysis: [lint], execution: [run]}]")
			call := s.call("agent-0", "lint", `{"path":"a.py"}`)
			has(t, "under way", s.why("agent-0", "run", `{"path":"a.py"}`), "not passed")
			c.meanwhile(s)
			s.result(call, "fine")
			equal(t, "passes", s.why("agent-0", "run", `{"path":"a.py"}`) == "", c.opens)
		})
	}
}

func TestAnalysisFirstMayAskTheOutput(t *testing.T) {
	t.Parallel()
	for output, opens := range map[string]bool{
		`{"ok":true}`:                     true,
		`{"ok":true,"n":1}`:               true,
		`{"ok":false}`:                    false,
		`{"ok":"true"}`:                   false,
		`{"ok":1}`:                        false,
		`{"ok":[true]}`:                   false,
		`{"ok":null}`:                     false,
		`{}`:                              false,
		`{"result":{"ok":true}}`:          false,
		`{"ok":false,"ok":true}`:          false,
		`{"ok":true} {}`:                  false,
		`[{"ok":true}]`:                   false,
		`ok`:                              false,
		``:                                false,
		`error: 1` + "\n" + `{"ok":true}`: false,
	} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			for _, set := range []func(*policy.Facts){func(*policy.Facts) {}, inBlob, failed} {
				s := play(t, "[{use: analysis-first, analysis: [lint], execution: [run], passed: ok}]")
				f := &policy.Facts{Output: &event.Text{}}
				set(f)
				lint("a.py", output, set)(s)
				equal(t, fmt.Sprintf("passes in a blob: %t, failed: %t", f.Output.Ref != nil, f.Error),
					s.why("agent-0", "run", `{"path":"a.py"}`) == "", opens && f.Output.Ref == nil && !f.Error)
			}
		})
	}
}

func TestAnalysisFirstComparesATextThatIsNoPathExactly(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 199) + "äö" // the cut goes through a letter
	hash := event.HashOf([]byte(long)).String()
	for _, c := range []struct {
		analysed, executed string
		opens              bool
	}{
		{"b", "b", true},
		{"a/../b", "a/../b", true},
		{"a/../b", "b", false},
		{"b", "a/../b", false},
		{"b/", "b", false},
		{"/", "/", true},
		{long, long, true},
		{long, long + "x", false},
		{long, long[:199], false},
		{hash, long, false},
		{strings.Repeat("x", 199) + "… (" + hash + ")", long, false},
	} {
		s := play(t, "[{use: analysis-first, analysis: [lint], execution: [run], artifact: code}]")
		s.does("agent-0", "lint", fmt.Sprintf(`{"code":%q}`, c.analysed), "fine")
		why := s.why("agent-0", "run", fmt.Sprintf(`{"code":%q}`, c.executed))
		equal(t, fmt.Sprintf("%.50q passes, %.50q", c.analysed, c.executed), why == "", c.opens)
		other, err := policy.New(parse(t, "[{use: analysis-first, analysis: [lint], execution: [run], artifact: code}]"))
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Restore(s.Save()); err != nil {
			t.Errorf("%.50q does not come back: %v", c.analysed, err)
		}
		equal(t, "brought back", reasons(other.Blocked("tool.call", s.use("agent-0", "run", fmt.Sprintf(`{"code":%q}`, c.executed)))), why)
		equal(t, "broken", len(other.Broken()), 0)
	}
}

func TestAnalysisFirstSeesThroughAPathUnderAnotherName(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"a.py", "./a.py", "x/../a.py", strings.Repeat("./", 200) + "a.py"} {
		s := play(t, "[{use: analysis-first, analysis: [lint], execution: [run], artifact: script}]")
		args := fmt.Sprintf(`{"script":%q}`, script)
		s.does("agent-0", "lint", args, "fine")
		equal(t, "passed", s.why("agent-0", "run", args), "")
		s.does("agent-0", "write", `{"path":"a.py"}`, "done", changed)
		has(t, "changed", s.why("agent-0", "run", args), "has not passed")
	}
}
