package quest_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/solo"
)

const minute = event.Time(60_000_000)

// asked begins a quest whose agents may ask, with policies.
func asked(t *testing.T, soc quest.Society, agents int64, policies string, limits event.Limits) *questtest.Story {
	t.Helper()
	b := questtest.Created(soc, agents, "ask_person", "look", "write")
	if policies != "" {
		chosen, err := policy.ParseFile("policies.yaml", []byte(policies))
		must(t, err)
		b.Policies, err = policy.Complete(chosen)
		must(t, err)
	}
	b.Limits = limits
	s := questtest.Begin(t, soc, b)
	s.Start()
	return s
}

func kinds(events []event.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Type))
	}
	return strings.Join(out, " ")
}

func call(tool, args string) event.ModelResult {
	return questtest.Calls(questtest.Call{Tool: tool, Args: args})
}

// one returns the only open question.
func one(t *testing.T, s *questtest.Story) quest.Question {
	t.Helper()
	open := s.State.Open()
	if len(open) != 1 {
		t.Fatalf("%d questions are open: %+v", len(open), open)
	}
	return open[0]
}

func output(t *testing.T, events []event.Event) string {
	t.Helper()
	for _, e := range events {
		if b, ok := e.Body.(*event.ToolAnswered); ok {
			return b.Output.Text
		}
	}
	t.Fatalf("no call was answered: %s", kinds(events))
	return ""
}

func TestAnAgentAsksAndWaits(t *testing.T) {
	s := asked(t, solo.Society{}, 1, "", event.Limits{})
	followed := s.Answer("agent-0", call("ask_person", `{"question":"Which colour?","options":["red","blue"]}`))
	if got := kinds(followed); got != "tool.call interaction.opened" {
		t.Fatalf("an agent's question leads to %s", got)
	}
	s.Sound()
	q := one(t, s)
	if q.Asker != "agent-0" || q.Body.Question.Text != "Which colour?" || !q.Body.Blocking || len(q.Body.Options) != 2 || !s.State.Waiting() {
		t.Fatalf("the question is %+v, waiting %v", q, s.State.Waiting())
	}
	for _, wrong := range []event.InteractionAnswered{{Interaction: q.Seq}, {Interaction: q.Seq, Choice: "green"}, {Interaction: q.Seq + 1, Text: "x"}} {
		if _, err := s.Try("person", &wrong); err == nil {
			t.Errorf("the answer %+v is taken", wrong)
		}
	}
	followed = s.Take("person", &event.InteractionAnswered{Interaction: q.Seq, Choice: "blue", Text: "The sky's.", Inbox: 7})
	if got := output(t, followed); got != "A person answers: blue. The sky's." {
		t.Errorf("the agent is told %q", got)
	}
	if got := kinds(followed); got != "tool.answered model.call" {
		t.Errorf("an answer leads to %s", got)
	}
	s.Sound()
	if open := s.Open("interaction.opened", ""); len(open) != 0 {
		t.Errorf("the questions %v are still open calls", open)
	}
	if s.State.Waiting() || len(s.State.Questions) != 0 || s.State.Inbox != 7 {
		t.Errorf("after the answer: waiting %v, %d questions, inbox %d", s.State.Waiting(), len(s.State.Questions), s.State.Inbox)
	}
	if _, err := s.Try("person", &event.InteractionAnswered{Interaction: q.Seq, Choice: "red"}); err == nil {
		t.Error("a second answer is taken")
	}
}

func TestAnAgentAsksAndGoesOn(t *testing.T) {
	s := asked(t, solo.Society{}, 1, "", event.Limits{})
	followed := s.Answer("agent-0", call("ask_person", `{"question":"Which colour?","wait":false}`))
	if got := kinds(followed); got != "tool.call interaction.opened tool.answered model.call" {
		t.Fatalf("a question that is not waited for leads to %s", got)
	}
	q := one(t, s)
	if s.State.Waiting() {
		t.Error("the quest waits though its agent thinks")
	}
	if got := kinds(s.Take("person", &event.InteractionAnswered{Interaction: q.Seq, Text: "Red."})); got != "" {
		t.Errorf("an answer while the agent thinks leads to %s", got)
	}
	s.Sound()
	s.Answer("agent-0", call("look", `{}`))
	call := s.Open("tool.call", "")[0]
	s.Take("agent-0", &event.ToolResult{Call: call, Output: event.Text{Text: "seen"}})
	msgs := s.State.Agent("agent-0").Transcript.Messages
	last := msgs[len(msgs)-1].Parts
	if got := last[len(last)-1].Text.Text; !strings.Contains(got, "A person answers: Red.") {
		t.Errorf("the agent was not told; the last it heard is %q", got)
	}
}

func TestAQuestionExpires(t *testing.T) {
	for _, c := range []struct{ args, told string }{
		{`{"question":"Which?","minutes":5,"default":"red"}`, "Nobody answered in time, so this counts: red"},
		{`{"question":"Which?","minutes":5}`, "Nobody answered in time: decide by yourself."},
	} {
		s := asked(t, solo.Society{}, 1, "", event.Limits{})
		followed := s.Answer("agent-0", call("ask_person", c.args))
		if got := kinds(followed); got != "tool.call interaction.opened timer.set" {
			t.Fatalf("a question with a time leads to %s", got)
		}
		q := one(t, s)
		if q.Body.Expires != s.Now+5*minute || s.State.Due() != q.Body.Expires || !s.State.Waiting() {
			t.Fatalf("it expires at %v, want %v", q.Body.Expires, s.Now+5*minute)
		}
		timer := s.Open("timer.set", "")[0]
		early := s.Take("core", &event.TimerFired{Call: timer}) // a clock that was set back
		if got := kinds(early); got != "timer.set" {
			t.Fatalf("a timer that fires early leads to %s", got)
		}
		s.Now += 6 * minute
		late := s.Take("core", &event.TimerFired{Call: s.Open("timer.set", "")[0]})
		if got := kinds(late); got != "interaction.expired tool.answered model.call" {
			t.Fatalf("the time that is up leads to %s", got)
		}
		if got := output(t, late); got != c.told {
			t.Errorf("the agent is told %q, want %q", got, c.told)
		}
		s.Sound()
	}
}

// The timer of the limit fires in the same moment in which a question's time is up, late as
// it is after a wait. The limit still has a timer afterwards.
func TestAQuestionExpiresAndTheLimitStays(t *testing.T) {
	limit := int64(10 * minute)
	s := asked(t, solo.Society{}, 1, "", event.Limits{Duration: &limit})
	s.Answer("agent-0", call("ask_person", `{"question":"Which?","minutes":5}`))
	s.Now += 60 * minute
	timers := s.Open("timer.set", "")
	if got := kinds(s.Take("core", &event.TimerFired{Call: timers[0]})); got != "timer.set interaction.expired tool.answered model.call" {
		t.Errorf("the timer of the limit leads to %s", got)
	}
	s.Take("core", &event.TimerFired{Call: timers[1]})
	s.Now += 11 * minute
	for _, timer := range s.Open("timer.set", "") {
		s.Take("core", &event.TimerFired{Call: timer})
	}
	if s.State.Status != quest.Exceeded {
		t.Errorf("it is %s after its time", s.State.Status)
	}
	s.Sound()
}

// A quest that waits has no running time, whatever ends the wait.
func TestWaitingTakesNoTime(t *testing.T) {
	limit := int64(10 * minute)
	ways := map[string]func(s *questtest.Story, q uint64){
		"answered": func(s *questtest.Story, q uint64) {
			s.Take("person", &event.InteractionAnswered{Interaction: q, Text: "x"})
		},
		"resumed": func(s *questtest.Story, q uint64) {
			s.Take("person", &event.QuestResumed{})
			s.Take("person", &event.InteractionAnswered{Interaction: q, Text: "x"})
		},
		"paused": func(s *questtest.Story, q uint64) {
			s.Take("person", &event.QuestPaused{})
			s.Take("person", &event.InteractionAnswered{Interaction: q, Text: "x"})
			if _, err := s.Try("person", &event.InteractionAnswered{Interaction: q, Text: "y"}); err == nil {
				s.T.Fatalf("a second answer is taken before the first was used")
			}
			s.Take("person", &event.QuestResumed{})
		},
		"spoken to": func(s *questtest.Story, q uint64) {
			s.Take("person", &event.UserMessage{Text: event.Text{Text: "hello"}})
			s.Now += 60 * minute
			s.Take("person", &event.InteractionAnswered{Interaction: q, Text: "x"})
		},
		"its timer": func(s *questtest.Story, q uint64) {
			for _, timer := range s.Open("timer.set", "") {
				s.Take("core", &event.TimerFired{Call: timer})
			}
			s.Take("person", &event.InteractionAnswered{Interaction: q, Text: "x"})
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := asked(t, solo.Society{}, 1, "", event.Limits{Duration: &limit})
			s.Now += minute
			s.Answer("agent-0", call("ask_person", `{"question":"Which?"}`))
			s.Now += 60 * minute
			if got := s.State.Elapsed(s.Now); got > int64(minute)+10_000 {
				t.Errorf("while it waits it has run %d µs", got)
			}
			way(s, one(t, s).Seq)
			if s.State.Status != quest.Running || len(s.Open("model.call", "")) != 1 {
				t.Fatalf("it is %s, not at work: the wait was counted", s.State.Status)
			}
			s.Now += minute
			got := s.State.Elapsed(s.Now)
			if got < 2*int64(minute) || got > 2*int64(minute)+20_000 {
				t.Errorf("it has run %d µs, want two minutes", got)
			}
			s.Sound()
		})
	}
}

const askWrite = `
- name: careful
  steps:
    - ask: {type: tool.call, where: {tool: write}, reason: "It writes."}
`

func TestAPolicyAsks(t *testing.T) {
	for _, c := range []struct {
		choice, text, want string
	}{
		{"yes", "", "tool.call"},
		{"no", "Not today.", "policy.blocked tool.answered model.call"},
	} {
		s := asked(t, solo.Society{}, 1, askWrite, event.Limits{})
		followed := s.Answer("agent-0", call("write", `{"path":"a"}`))
		if got := kinds(followed); got != "interaction.opened" {
			t.Fatalf("a call that a policy asks about leads to %s", got)
		}
		s.Sound()
		q := one(t, s)
		if !s.State.Waiting() || q.Body.Proposal != "tool.call" || !strings.Contains(q.Body.Question.Text, `agent-0 wants to call write {"path":"a"}. It writes.`) {
			t.Fatalf("the question is %+v", q)
		}
		if _, err := s.Try("person", &event.InteractionAnswered{Interaction: q.Seq, Text: "perhaps"}); err == nil {
			t.Error("an answer that is neither yes nor no is taken")
		}
		followed = s.Take("person", &event.InteractionAnswered{Interaction: q.Seq, Choice: c.choice, Text: c.text})
		if got := kinds(followed); got != c.want {
			t.Fatalf("%s leads to %s, want %s", c.choice, got, c.want)
		}
		s.Sound()
		if c.choice == "no" {
			if got := output(t, followed); got != "Refused by the policy careful: A person said no: Not today." {
				t.Errorf("the agent is told %q", got)
			}
			continue
		}
		// The yes was for that call alone.
		s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Output: event.Text{Text: "ok"}})
		if got := kinds(s.Answer("agent-0", call("write", `{"path":"a"}`))); got != "interaction.opened" {
			t.Errorf("the same call, made again, leads to %s", got)
		}
	}
}

func TestAPolicyAsksAboutTurnsAndAnswers(t *testing.T) {
	s := asked(t, solo.Society{}, 1, `
- name: turns
  steps:
    - ask: {type: model.call, where: {turn: {min: 2}}}
- name: answers
  steps:
    - ask: {type: quest.finished, default: "no", within: 1h}
`, event.Limits{})
	s.Answer("agent-0", call("look", `{}`))
	s.Take("agent-0", &event.ToolResult{Call: s.Open("tool.call", "")[0], Output: event.Text{Text: "ok"}})
	q := one(t, s)
	if q.Body.Proposal != "model.call" || q.Body.Turn != 2 || len(s.Open("model.call", "")) != 0 {
		t.Fatalf("the second turn is asked about with %+v", q)
	}
	s.Take("person", &event.InteractionAnswered{Interaction: q.Seq, Choice: "yes"})
	s.Sound()
	if got := kinds(s.Answer("agent-0", questtest.Says("42"))); got != "interaction.opened timer.set" {
		t.Fatalf("an answer that is asked about leads to %s", got)
	}
	q = one(t, s)
	s.Now += 61 * minute
	late := s.Take("core", &event.TimerFired{Call: s.Open("timer.set", "")[0]})
	if got := kinds(late); got != "interaction.expired policy.blocked message.sent interaction.opened" {
		t.Fatalf("no answer means no, and leads to %s", got)
	}
	s.Sound()
	s.Take("person", &event.InteractionAnswered{Interaction: one(t, s).Seq, Choice: "yes"}) // its third turn
	s.Answer("agent-0", questtest.Says("42"))
	s.Take("person", &event.InteractionAnswered{Interaction: one(t, s).Seq, Choice: "yes"})
	if s.State.Status != quest.Finished || len(s.State.Questions) != 0 || s.State.Waiting() {
		t.Errorf("it is %s with %d questions", s.State.Status, len(s.State.Questions))
	}
}

// Block beats ask beats pass, whoever stands first.
func TestABlockBeatsAQuestion(t *testing.T) {
	blocks := "- name: never\n  steps:\n    - block: {type: tool.call, where: {tool: write}, reason: \"Never.\"}\n"
	within := "- name: both\n  steps:\n    - ask: {type: tool.call, where: {tool: write}}\n      block: {type: tool.call, where: {tool: write}, reason: \"Never.\"}\n"
	for _, policies := range []string{blocks + askWrite, askWrite + blocks, within} {
		s := asked(t, solo.Society{}, 1, policies, event.Limits{})
		if got := kinds(s.Answer("agent-0", call("write", `{}`))); got != "policy.blocked tool.answered model.call" {
			t.Errorf("%s\nleads to %s", policies, got)
		}
	}
}

// The others go on while one waits; the quest waits when nobody can act any more.
func TestOthersGoOn(t *testing.T) {
	s := asked(t, lab.Society{}, 2, "", event.Limits{})
	s.Answer("agent-0", call("ask_person", `{"question":"Which?"}`))
	if s.State.Waiting() {
		t.Fatal("the quest waits while an agent thinks")
	}
	s.Answer("agent-1", call("ask_person", `{"question":"Why?"}`))
	if !s.State.Waiting() || len(s.State.Open()) != 2 {
		t.Fatalf("both ask, and the quest waits: %v, %d open", s.State.Waiting(), len(s.State.Open()))
	}
	second := s.State.Open()[1]
	s.Take("person", &event.InteractionAnswered{Interaction: second.Seq, Text: "Because."})
	if s.State.Waiting() || len(s.Open("model.call", "agent-1")) != 1 {
		t.Error("the one that was answered does not go on")
	}
	s.Sound()
}

// Between an answer and what follows from it somebody is about to act, though all that is
// open is another question.
func TestWhoIsAnsweredIsNotWaitedFor(t *testing.T) {
	s := asked(t, lab.Society{}, 2, askWrite, event.Limits{})
	s.Answer("agent-0", call("write", `{}`))
	s.Answer("agent-1", call("write", `{}`))
	first := s.State.Open()[0]
	followed := s.Take("person", &event.InteractionAnswered{Interaction: first.Seq, Choice: "yes"})
	if got := kinds(followed); got != "tool.call" {
		t.Fatalf("a yes leads to %s", got)
	}
	if s.Fold(len(s.Events) - 1).Waiting() {
		t.Error("with the answer alone in the ledger the quest waits")
	}
}

// What an agent does not propose any more nobody is asked about.
func TestAQuestionIsWithdrawn(t *testing.T) {
	s := asked(t, solo.Society{}, 1, "- name: answers\n  steps:\n    - ask: {type: quest.finished}\n", event.Limits{})
	s.Answer("agent-0", questtest.Says("42"))
	q := one(t, s)
	followed := s.Take("person", &event.UserMessage{Text: event.Text{Text: "Are you sure?"}})
	if got := kinds(followed); got != "model.call interaction.withdrawn" {
		t.Fatalf("a word while an answer is asked about leads to %s", got)
	}
	s.Sound()
	if len(s.State.Questions) != 0 || len(s.Open("interaction.opened", "")) != 0 {
		t.Error("the question is still there")
	}
	if _, err := s.Try("person", &event.InteractionAnswered{Interaction: q.Seq, Choice: "yes"}); err == nil {
		t.Error("an answer to it is taken")
	}
	s.Answer("agent-0", questtest.Says("43"))
	s.Take("person", &event.InteractionAnswered{Interaction: one(t, s).Seq, Choice: "yes"})
	if s.State.Status != quest.Finished || s.State.Answer.Text != "43" {
		t.Errorf("it is %s", s.State.Status)
	}
}

// A fork asks again: the origin's questions are the origin's.
func TestAForkAsksAgain(t *testing.T) {
	for name, first := range map[string]func(s *questtest.Story){
		"a tool":   func(s *questtest.Story) { s.Answer("agent-0", call("ask_person", `{"question":"Which?"}`)) },
		"a policy": func(s *questtest.Story) { s.Answer("agent-0", call("write", `{}`)) },
	} {
		s := asked(t, solo.Society{}, 1, askWrite, event.Limits{})
		first(s)
		old := one(t, s)
		f := s.Fork(len(s.Events), nil)
		if len(f.State.Questions) != 0 {
			t.Errorf("%s: the fork has the origin's question", name)
		}
		f.Take("person", &event.QuestResumed{})
		if q := one(t, f); q.Seq == old.Seq || q.Body.Question.Text != old.Body.Question.Text {
			t.Errorf("%s: the fork asks %+v", name, q)
		}
		f.Sound()
	}
}

func TestBadQuestions(t *testing.T) {
	for _, args := range []string{
		`{}`, `{"question":""}`, `{"question":"x","colour":1}`, `{"question":"x","options":[""]}`, `{"question":"x","minutes":-1}`, `{"question":"x","default":"y"}`,
		fmt.Sprintf(`{"question":%q}`, strings.Repeat("x", 5000)), fmt.Sprintf(`{"question":"x","options":[%s"y"]}`, strings.Repeat(`"y",`, 10)),
	} {
		s := asked(t, solo.Society{}, 1, "", event.Limits{})
		if got := kinds(s.Answer("agent-0", call("ask_person", args))); got != "tool.call tool.answered model.call" {
			t.Errorf("%.60s leads to %s", args, got)
		}
	}
	// Where it is not among the agent's tools, there is no such tool.
	b := questtest.Created(solo.Society{}, 1, "look")
	s := questtest.Begin(t, solo.Society{}, b)
	s.Start()
	if got := output(t, s.Answer("agent-0", call("ask_person", `{"question":"x"}`))); !strings.Contains(got, "There is no tool") {
		t.Errorf("an agent that may not ask is told %q", got)
	}
}
