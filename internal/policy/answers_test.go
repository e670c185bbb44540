package policy_test

import (
	"fmt"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// answer is what a model says in a turn of the tests below.
type answer struct {
	stop, text string
	calls      int64
}

// answers is a whole turn: the agent is asked, and its model says something.
func (s *scene) answers(agent string, a answer) {
	s.t.Helper()
	s.ask(agent)
	f := &policy.Facts{Agent: agent, Turn: s.turns[agent], Ended: true, Stop: a.stop, Calls: a.calls}
	if a.text != "" {
		f.Output, f.Text = &event.Text{Text: a.text}, a.text
	}
	s.Tell("model.result", f)
}

func TestAnswersWarnsAtThreeAndParksAtSix(t *testing.T) {
	t.Parallel()
	cut := func(n int) answer { return answer{stop: "length", text: fmt.Sprint("part ", n)} }
	empty, same, acts := answer{stop: "end"}, answer{stop: "end", text: "I am done."}, answer{stop: "tools", text: "Let me look.", calls: 1}
	for name, c := range map[string]struct {
		turn           func(n int) answer
		between        func(s *scene)
		warned, parked int
	}{
		"CutOff":                         {turn: cut, warned: 3, parked: 6},
		"Empty":                          {turn: func(int) answer { return empty }, parked: 6},
		"TheSame":                        {turn: func(int) answer { return same }, parked: 6},
		"CutOffWithACall":                {turn: func(int) answer { return answer{"length", "", 1} }, warned: 3, parked: 6},
		"CutOffAndEmptyInTurns":          {turn: func(n int) answer { return []answer{cut(n), empty}[n%2] }, warned: 3, parked: 6},
		"CutOffAlthoughAdvised":          {turn: cut, between: func(s *scene) { s.happens("advisory.sent") }, warned: 3, parked: 6},
		"TheSameAsSomethingHappened":     {turn: func(int) answer { return same }, between: func(s *scene) { s.happens("advisory.sent") }},
		"CutOffAndAPersonSpoke":          {turn: cut, between: func(s *scene) { s.says("agent-0") }},
		"TheSameWordsWithCalls":          {turn: func(int) answer { return acts }},
		"OtherWords":                     {turn: func(n int) answer { return answer{stop: "end", text: fmt.Sprint(n)} }},
		"CutOffNowAndThen":               {turn: func(n int) answer { return []answer{cut(n), cut(n), acts}[n%3] }},
		"AnErrorIsNoAnswerAndNoProgress": {turn: cut, between: func(s *scene) { s.Tell("model.result", &policy.Facts{Agent: "agent-0", Ended: true, Error: true}) }, warned: 3, parked: 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, "[]")
			warned, parked := 0, 0
			for n := 0; n < 20 && parked == 0; n++ {
				s.answers("agent-0", c.turn(n))
				if s.warned() != "" && warned == 0 {
					warned = n + 1
				}
				if s.parked("agent-0") != "" {
					parked = n + 1
				} else if c.between != nil {
					c.between(s)
				}
			}
			equal(t, "warned after", warned, c.warned)
			equal(t, "parked after", parked, c.parked)
			equal(t, "another agent", s.parked("agent-1"), "")
		})
	}
}

func TestAnswersSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := play(t, "[]")
	said := ""
	for range 6 {
		s.answers("agent-0", answer{stop: "length", text: "…"})
		said += s.warned()
	}
	has(t, "the warning", said, "agent-0: You have given answers that were cut off at the limit of their length, or had nothing in them, 3 times in a row. What is cut off is lost: write less at a time.")
	equal(t, "the reason", s.parked("agent-0"), "whole-answers: agent-0 has given answers that were cut off at the limit of their length, or had nothing in them, 6 times in a row. The length of answers is max_output in quest.yaml.")
	s.happens("quest.resumed")
	equal(t, "after a resumption", s.parked("agent-0"), "")
}
