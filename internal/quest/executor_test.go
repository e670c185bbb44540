package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/solo"

	"github.com/google/go-cmp/cmp"
)

// hosting is the first event of a quest whose first agent is an executor.
func hosting(t *testing.T, soc quest.Society, agents int64, policies string, limits event.Limits) *event.QuestCreated {
	t.Helper()
	b := questtest.Created(soc, 1, "ask_person", "look", "write", "vote_solution", "submit_publication")
	b.Executors = []event.ExecutorPin{{Name: "guest", Settings: event.RefOf([]byte("settings"))}}
	b.Agents[0].Executor, b.Agents[0].Gateway = "guest", &event.GatewaySpec{Any: true}
	if agents > 1 {
		more := b.Agents[0]
		more.Executor, more.Gateway, more.Count, more.First = "", nil, agents-1, 1
		b.Agents = append(b.Agents, more)
	}
	for _, text := range quest.ExecutorTexts() {
		if !quest.IsPrompt(text.Name) {
			b.Texts = append(b.Texts, text)
		}
	}
	b.Limits = limits
	if policies != "" {
		chosen, err := policy.ParseFile("policies.yaml", []byte(policies))
		must(t, err)
		b.Policies, err = policy.Complete(chosen)
		must(t, err)
	}
	return b
}

// host begins such a quest, by solo, and makes its executor ready.
func host(t *testing.T, policies string, limits event.Limits) *questtest.Story {
	t.Helper()
	s := questtest.Begin(t, solo.Society{}, hosting(t, solo.Society{}, 1, policies, limits))
	if got := without(kinds(s.Start()), "timer.set"); got != "executor.call" {
		t.Fatalf("the quest begins with %s", got)
	}
	s.Take("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s1", Process: "p1"})
	ready(s)
	return s
}

func without(list, word string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(list, word, "")), " ")
}

func ready(s *questtest.Story) []event.Event {
	s.T.Helper()
	return s.Take("agent-0", &event.ExecutorReady{Call: s.Open("executor.call", "")[0], Name: "guest", Version: "1", Protocol: 1})
}

// prompt is the open one.
func prompt(s *questtest.Story) uint64 {
	s.T.Helper()
	open := s.Open("prompt.call", "agent-0")
	if len(open) != 1 {
		s.T.Fatalf("%d prompts are open", len(open))
	}
	return open[0]
}

func begin(s *questtest.Story, process string) {
	s.T.Helper()
	s.Take("agent-0", &event.PromptBegun{Call: prompt(s), Process: process, Session: s.State.Agent("agent-0").Session.ID})
}

func ends(s *questtest.Story, stop, text string) []event.Event {
	s.T.Helper()
	return s.Take("agent-0", &event.PromptResult{Call: prompt(s), Stop: stop, Text: event.Text{Text: text}, Duration: 5})
}

// tells is what a prompt tells the executor.
func tells(t *testing.T, s *questtest.Story) string {
	t.Helper()
	call := s.Events[prompt(s)-1].Body.(*event.PromptCall)
	text, _, err := s.State.Agent("agent-0").Prompt(call, 0, func(event.Ref) ([]byte, error) { return []byte("SYSTEM"), nil })
	must(t, err)
	return text
}

func TestAPromptIsATurn(t *testing.T) {
	s := host(t, "", event.Limits{})
	a := s.State.Agent("agent-0")
	if a.Turns != 1 || s.State.Spent.Turns != 1 || a.Phase() != agent.Thinking {
		t.Errorf("there are %d turns, %d of the quest, and the agent is %s", a.Turns, s.State.Spent.Turns, a.Phase())
	}
	if got := tells(t, s); got != "SYSTEM\n\n?" {
		t.Errorf("the first prompt is %q", got)
	}
	begin(s, "p1")
	s.Take("person", &event.UserMessage{Text: event.Text{Text: "Hurry."}})
	s.Sound()
	a = s.State.Agent("agent-0")
	if len(a.Queue) != 1 || len(s.Open("prompt.call", "")) != 1 {
		t.Errorf("what is said while a prompt is open: %d wait, %d prompts", len(a.Queue), len(s.Open("prompt.call", "")))
	}
	if got := kinds(ends(s, event.StopEnd, "Half of it.")); got != "prompt.call" {
		t.Fatalf("with a word waiting the end of a prompt leads to %s", got)
	}
	if got := tells(t, s); got != "Hurry." {
		t.Errorf("the next prompt is %q, and the session knows the rest", got)
	}
	begin(s, "p1")
	out := ends(s, event.StopEnd, "All of it.")
	if got := kinds(out); got != "quest.finished" || s.State.Answer.Text != "All of it." {
		t.Errorf("the end of a prompt leads to %s", got)
	}
	if a = s.State.Agent("agent-0"); a.Duration != 10 || a.Turns != 2 {
		t.Errorf("it took %d in %d turns", a.Duration, a.Turns)
	}
	s.Sound()
}

// An executor that is none of the quest's first event is prompted by nobody, as before.
func TestOnlyPinnedExecutorsArePrompted(t *testing.T) {
	s := outside(t, "")
	if s.State.Agent("agent-0").Session != nil {
		t.Error("an agent that comes by itself has a session")
	}
	if _, err := s.Try("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s", Process: "p"}); err == nil {
		t.Error("a session is opened for it")
	}
	b := hosting(t, solo.Society{}, 1, "", event.Limits{})
	b.Agents[0].Executor = ""
	if own := questtest.Begin(t, solo.Society{}, b); own.State.Agent("agent-0").Session != nil {
		t.Error("an agent with a model has a session")
	}
}

func TestCallsAndRequestsAreTakenWhileAPromptIsOpen(t *testing.T) {
	s := questtest.Begin(t, solo.Society{}, hosting(t, solo.Society{}, 1, "", event.Limits{}))
	s.Start()
	// One that is made ready may ask models, and propose nothing.
	if got := kinds(s.Take("agent-0", request("early", "any"))); got != "gateway.call" {
		t.Errorf("a request of one that is made ready leads to %s", got)
	}
	if _, err := s.Try("agent-0", proposed("early", "look", "{}")); err == nil {
		t.Error("a call is taken before there was a prompt")
	}
	s.Take("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s1", Process: "p1"})
	ready(s)
	begin(s, "p1")
	if got := kinds(s.Take("agent-0", proposed("a", "look", "{}"))); got != "tool.call" {
		t.Fatalf("a call leads to %s", got)
	}
	if got := kinds(s.Take("agent-0", request("g", "any"))); got != "gateway.call" {
		t.Errorf("a request leads to %s", got)
	}
	s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Output: event.Text{Text: "seen"}})
	if a := s.State.Agent("agent-0"); a.Phase() != agent.Thinking || len(a.Open) != 0 {
		t.Errorf("after a result the agent is %s", a.Phase())
	}
	s.Take("agent-0", proposed("b", "look", "{}"))
	if got := kinds(ends(s, event.StopEnd, "Done.")); got != "" {
		t.Errorf("while a call is under way the end of a prompt leads to %s", got)
	}
	s.Sound()
	for what, b := range map[string]event.Body{"call": proposed("late", "look", "{}"), "request": request("late", "any")} {
		if _, err := s.Try("agent-0", b); err == nil {
			t.Errorf("a %s is taken after the prompt", what)
		}
	}
	if got := kinds(s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0]})); got != "quest.finished" {
		t.Errorf("the last result leads to %s", got)
	}
	s.Sound()
}

// What nobody has judged yet when a prompt ends is not made.
func TestAPromptLeavesNothingBehind(t *testing.T) {
	const policies = "- name: ask\n  steps:\n    - ask: {type: tool.call, where: {tool: write}, reason: Hm.}\n" +
		"- name: later\n  steps:\n    - block: {type: gateway.call, where: {model: m}, later: true, reason: Not now.}\n"
	for _, rests := range []bool{false, true} {
		s := host(t, policies, event.Limits{})
		begin(s, "p1")
		if got := kinds(s.Take("agent-0", proposed("a", "write", "{}"))); got != "interaction.opened" {
			t.Fatalf("a call leads to %s", got)
		}
		s.Take("agent-0", request("g", "m"))
		if a := s.State.Agent("agent-0"); len(a.Requests) != 1 {
			t.Fatal("the request does not wait")
		}
		want := "tool.skipped tool.answered interaction.withdrawn policy.blocked prompt.call"
		if rests {
			s.Take("person", &event.QuestPaused{})
			want = "tool.skipped tool.answered interaction.withdrawn"
		}
		out := ends(s, event.StopInterrupted, "")
		if got := kinds(out); got != want {
			t.Errorf("resting %v: the end of a prompt leads to %s, want %s", rests, got, want)
		}
		if text := output(t, out); !strings.Contains(text, "the prompt was over") {
			t.Errorf("it is told %q", text)
		}
		s.Sound()
		if rests {
			if got := kinds(s.Take("person", &event.QuestResumed{})); got != "policy.blocked prompt.call" {
				t.Errorf("resumed, it goes on with %s", got)
			}
		}
		for _, e := range s.Events {
			if b, ok := e.Body.(*event.PolicyBlocked); ok && b.By[0].Policy != "prompt" {
				t.Errorf("the request is refused by %s, want because its prompt is over", b.By[0].Policy)
			}
		}
		if a := s.State.Agent("agent-0"); len(a.Open)+len(a.Requests)+len(s.State.Questions) != 0 || s.State.Spent.Tools != 0 {
			t.Errorf("%d calls, %d requests and %d questions are left", len(a.Open), len(a.Requests), len(s.State.Questions))
		}
		s.Sound()
	}
}

func TestAnExecutorThatCannotBeUsed(t *testing.T) {
	s := questtest.Begin(t, solo.Society{}, hosting(t, solo.Society{}, 1, "", event.Limits{}))
	s.Start()
	fail := func() []event.Event {
		return s.Take("agent-0", &event.ExecutorReady{Call: s.Open("executor.call", "")[0], Error: event.Text{Text: "it speaks version 2"}})
	}
	if got := kinds(fail()); got != "quest.failed" || !strings.Contains(s.State.Reason, "guest cannot be used: it speaks version 2") {
		t.Errorf("it leads to %s: %s", got, s.State.Reason)
	}
	s.Sound()
	if got := kinds(s.Take("person", &event.QuestResumed{})); got != "executor.call" {
		t.Errorf("resumed, the quest goes on with %s", got)
	}
	if got := kinds(ready(s)); got != "prompt.call" {
		t.Errorf("an executor that is ready leads to %s", got)
	}
	s.Sound()
}

// Prompts that come to nothing are tried again, and not for ever.
func TestAPromptWithoutAnEndIsTriedAgain(t *testing.T) {
	for name, r := range map[string]event.PromptResult{
		"an error": {Error: event.Text{Text: "it died"}}, "no word": {Stop: event.StopEnd}, "cancelled by itself": {Stop: event.StopCancelled},
	} {
		s := host(t, "", event.Limits{})
		for i := range 3 {
			process := fmt.Sprint("p", i)
			if i > 0 {
				s.Take("agent-0", &event.SessionOpened{How: event.SessionLoaded, ID: "s1", Process: process})
			} else {
				process = "p1"
			}
			if i > 0 && !strings.Contains(tells(t, s), "came to no end") || i > 0 && strings.Contains(tells(t, s), "SYSTEM") {
				t.Errorf("%s: try %d tells %q", name, i, tells(t, s))
			}
			if i == 1 {
				process = "p1"
				s.Take("agent-0", &event.SessionOpened{How: event.SessionResumed, ID: "s1", Process: process})
			}
			begin(s, process)
			r.Call = prompt(s)
			b := r
			want := "prompt.call"
			if i == 2 {
				want = "quest.failed"
			}
			if got := kinds(s.Take("agent-0", &b)); got != want {
				t.Errorf("%s: try %d leads to %s, want %s", name, i, got, want)
			}
		}
		s.Sound()
	}
	s := host(t, "", event.Limits{})
	begin(s, "p1")
	if got := kinds(ends(s, event.StopRefusal, "")); got != "quest.failed" {
		t.Errorf("a refusal leads to %s", got)
	}
}

// A quest that is paused has its prompt cancelled, and goes on in the same session.
func TestAnInterruptedPromptGoesOn(t *testing.T) {
	for _, told := range []bool{true, false} {
		s := host(t, "", event.Limits{Turns: new(int64(1))})
		if told {
			begin(s, "p1")
		}
		s.Take("person", &event.QuestPaused{})
		if got := kinds(ends(s, event.StopInterrupted, "")); got != "" {
			t.Errorf("an interrupted prompt leads to %s", got)
		}
		if a := s.State.Agent("agent-0"); a.Turns != 0 || s.State.Spent.Turns != 0 {
			t.Errorf("it counts: %d", a.Turns)
		}
		if got := kinds(s.Take("person", &event.QuestResumed{})); got != "prompt.call" {
			t.Errorf("resumed, the quest goes on with %s", got)
		}
		if got := tells(t, s); told == (got == "SYSTEM\n\n?") || told && !strings.Contains(got, "go on") {
			t.Errorf("told before: %v, and now: %q", told, got)
		}
		s.Sound()
	}
}

// A session that was lost is told all there is, also by an agent that gives each the same name.
func TestANewSessionIsToldEverything(t *testing.T) {
	for _, id := range []string{"s2", "s1"} {
		s := host(t, "", event.Limits{})
		begin(s, "p1")
		s.Take("person", &event.UserMessage{Text: event.Text{Text: "And then?"}})
		ends(s, event.StopEnd, "First.")
		s.Take("agent-0", &event.SessionOpened{How: event.SessionNew, ID: id, Process: "p2"})
		if _, err := s.Try("agent-0", &event.PromptBegun{Call: prompt(s), Process: "p2", Session: id}); err == nil {
			t.Errorf("the new session %s, which knows nothing, is told the end of a conversation", id)
		}
		s.Sound()
		if got := kinds(ends(s, event.StopInterrupted, "")); got != "prompt.call" {
			t.Fatalf("the prompt that cannot be told leads to %s", got)
		}
		if got, want := tells(t, s), "SYSTEM\n\n?\n\n[What you said then:]\nFirst.\n\nAnd then?"; got != want {
			t.Errorf("the new session %s is told %q, want %q", id, got, want)
		}
		begin(s, "p2")
		s.Sound()
	}
}

// The executor of another process, or a fork, shares nothing with the one before.
func TestAForkHasASessionOfItsOwn(t *testing.T) {
	s := host(t, "", event.Limits{})
	begin(s, "p1")
	s.Take("agent-0", proposed("a", "look", "{}"))
	s.Take("agent-0", wants(s, "1", 10))
	for n := 2; n <= len(s.Events); n++ {
		f := s.Fork(n, nil)
		if a := f.State.Agent("agent-0"); a.Asked != 0 || a.Turns != 0 || len(a.Open) != 0 || !cmp.Equal(a.Session, &agent.Session{}) || f.State.Spent.Turns != 0 {
			t.Fatalf("a fork after %d events has %+v, turns %d", n, a.Session, f.State.Spent.Turns)
		}
		if got := kinds(f.Take("person", &event.QuestResumed{})); got != "executor.call" {
			t.Fatalf("a fork after %d events goes on with %s", n, got)
		}
		f.Sound()
	}
}

func TestALimitPromptsNobody(t *testing.T) {
	s := host(t, "", event.Limits{Turns: new(int64(2))})
	begin(s, "p1")
	s.Take("agent-0", request("g", "any"))
	s.Take("agent-0", &event.GatewayResult{Call: s.Open("gateway.call", "")[0], Cost: 5})
	s.Take("person", &event.UserMessage{Text: event.Text{Text: "More."}})
	s.Take("agent-0", wants(s, "1", 10))
	if got := kinds(ends(s, event.StopEnd, "Done.")); got != "budget.exceeded" {
		t.Errorf("over the limit the end of a prompt leads to %s", got)
	}
	own := host(t, "", event.Limits{Agent: &event.Share{Turns: new(int64(1))}})
	begin(own, "p1")
	own.Take("person", &event.UserMessage{Text: event.Text{Text: "More."}})
	if got := kinds(ends(own, event.StopEnd, "Done.")); got != "policy.blocked quest.failed" {
		t.Errorf("over an agent's limit the end of a prompt leads to %s", got)
	}
	own.Sound()
	asks := host(t, "- name: ask\n  steps:\n    - ask: {type: prompt.call, where: {turn: {min: 2}}, reason: Again?}\n", event.Limits{})
	begin(asks, "p1")
	asks.Take("person", &event.UserMessage{Text: event.Text{Text: "More."}})
	if got := kinds(ends(asks, event.StopEnd, "Done.")); got != "interaction.opened" {
		t.Errorf("a policy that has a person asked before a prompt leads to %s", got)
	}
	if got := kinds(asks.Take("person", &event.InteractionAnswered{Interaction: one(t, asks).Seq, Choice: "yes"})); got != "prompt.call" {
		t.Errorf("yes leads to %s", got)
	}
	asks.Sound()
}

// A lab goes on without an executor that cannot be used.
func TestALabWithAnExecutor(t *testing.T) {
	s := questtest.Begin(t, lab.Society{}, hosting(t, lab.Society{}, 2, "", event.Limits{}))
	s.Start()
	if len(s.Open("executor.call", "agent-0")) != 1 || len(s.Open("model.call", "agent-1")) != 1 {
		t.Fatalf("the lab begins with %s", kinds(s.Events))
	}
	s.Take("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s1", Process: "p1"})
	ready(s)
	begin(s, "p1")
	if got := tells(t, s); !strings.HasPrefix(got, "SYSTEM") {
		t.Errorf("it is told %q", got)
	}
	out := s.Take("agent-0", proposed("v", "vote_solution", `{"publication_id":"x"}`))
	if got := kinds(out); got != "tool.call tool.answered" {
		t.Errorf("a vote for nothing leads to %s", got)
	}
	if got := kinds(ends(s, event.StopEnd, "I have voted.")); got != "message.sent prompt.call" {
		t.Errorf("the end of a prompt leads to %s", got)
	}
	if a := s.State.Agent("agent-0"); a.Idle != 0 {
		t.Errorf("a prompt with a call counts as idle")
	}
	for range 3 {
		begin2(s)
		ends(s, event.StopEnd, "Hm.")
	}
	if a := s.State.Agent("agent-0"); a.Parked == "" {
		t.Errorf("%d prompts without a call leave it at work", a.Idle)
	}
	s.Sound()

	none := questtest.Begin(t, lab.Society{}, hosting(t, lab.Society{}, 1, "", event.Limits{}))
	none.Start()
	got := none.Take("agent-0", &event.ExecutorReady{Call: none.Open("executor.call", "")[0], Error: event.Text{Text: "no answer in 60 s"}})
	if kinds(got) != "agent.parked quest.failed" || !strings.Contains(none.State.Reason, "no answer in 60 s") {
		t.Errorf("a lab in which nobody can work: %s, %s", kinds(got), none.State.Reason)
	}
	none.Sound()
}

// begin2 tells the prompt to the process that has the session.
func begin2(s *questtest.Story) {
	s.T.Helper()
	begin(s, s.State.Agent("agent-0").Session.Process)
}

// What an executor left in its home and found no room counts as a tool's does.
func TestAPromptMayFindNoRoom(t *testing.T) {
	s := host(t, "", event.Limits{})
	begin(s, "p1")
	s.Take("person", &event.UserMessage{Text: event.Text{Text: "More."}})
	s.Take("agent-0", &event.PromptResult{Call: prompt(s), Stop: event.StopEnd, Text: event.Text{Text: "x"}, Full: &event.Full{Max: 2 << 20, Of: event.FullQuest, Used: 1 << 20}})
	if s.State.Status != quest.Exceeded || s.State.Reason != "storage" {
		t.Errorf("the quest is %s (%s), want that its storage is exceeded", s.State.Status, s.State.Reason)
	}
	s.Sound()
}
