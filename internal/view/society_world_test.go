package view

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// counted is the ledger of a maker with three attempts at a counter: the first is rejected by
// rules, the second by its story, the third passes and is tried.
func counted(t *testing.T) *story {
	t.Helper()
	s := &story{t: t, quest: "counter", blobs: map[event.Hash][]byte{}}
	text := func(x string) event.Text { return event.Text{Text: x} }
	picture := s.blob("png")
	tree := event.TreeRef{Hash: event.HashOf([]byte("tree")), Size: 9}
	button := event.WorldPlace{Role: "button", Name: "Add"}
	one := event.WorldCondition{Kind: "text", At: event.WorldPlace{Role: "status", Name: "Count"}, Text: "1"}
	stories := []event.WorldStory{{Name: "adds", Intent: "count one", Steps: []event.WorldStep{{Do: "click", At: button}}, Expect: []event.WorldCondition{one}}}
	s.add("person", "", &event.QuestCreated{Name: "counter", Rules: "world/1", Agents: []event.AgentSpec{{Name: "maker", Model: "m"}, {Name: "judge-1", Model: "m"}}, Spec: s.blob("name: counter\n")})
	structure := s.add("maker", "", &event.StructureDeclared{Structure: event.WorldStructure{
		Channels: []event.WorldChannel{{Name: "count", Kind: "text", At: one.At}},
		Levers:   []event.WorldLever{{Name: "add", Kind: "mechanic", When: "instant", At: button}},
		Loops:    []event.WorldLoop{{Name: "counting", Lever: "add", Channel: "count", Response: "one more"}},
	}})
	propose := func(n int64) {
		s.add("maker", "", &event.AttemptProposed{Attempt: n, Intent: "a counter", Path: "page", Stories: stories, Structure: structure, Tree: tree})
	}
	analyse := func(n, tier int64, held bool, r *event.AnalysisResult) {
		r.Call = s.add("rules", "", &event.AnalysisCall{Attempt: n, Tier: tier, HeldOut: held, Tree: tree, Stories: stories})
		s.add("rules", "", r)
		if held {
			tier = 4
		}
		s.add("rules", "", &event.TierJudged{Attempt: n, Tier: tier, Tree: tree, Call: r.Call, Verdict: r.Verdict})
	}
	propose(1)
	analyse(1, 1, false, &event.AnalysisResult{Analyser: "lyceum/1", Verdict: "failed", Findings: []event.WorldFinding{{Check: "names", Kind: "failed", Path: "index.html", Line: 7, Expected: "a name", Observed: "a button without one", Required: true}}})
	s.add("rules", "", &event.RewardGiven{Attempt: 1})

	propose(2)
	analyse(2, 1, false, &event.AnalysisResult{Analyser: "lyceum/1", Verdict: "passed"})
	s.add("rules", "", &event.TierJudged{Attempt: 2, Tier: 2, Tree: tree, Verdict: "waived", Reason: "no judges"})
	analyse(2, 3, false, &event.AnalysisResult{Analyser: "chromium", Verdict: "failed", Stories: []event.StoryVerdict{{Name: "adds", Verdict: "assertion", Conditions: 1, Findings: []event.WorldFinding{{Check: "text", Kind: "failed", Expected: "1", Observed: "0"}}, After: &event.WorldSight{Picture: &picture, Text: text("0"), Console: []string{"oops"}}}}})
	s.add("rules", "", &event.RewardGiven{Attempt: 2, Sum: 300, Accessibility: 300})

	propose(3)
	analyse(3, 1, false, &event.AnalysisResult{Analyser: "lyceum/1", Verdict: "passed"})
	s.add("judge-1", "", &event.MarksGiven{Attempt: 3, Marks: []event.WorldMark{{Criterion: "clear", Mark: 800, Quotation: "Add"}}})
	s.add("rules", "", &event.TierJudged{Attempt: 3, Tier: 2, Tree: tree, Verdict: "passed", Criteria: []event.WorldMedian{{Criterion: "clear", Mark: 800}}})
	analyse(3, 3, false, &event.AnalysisResult{Analyser: "chromium", Verdict: "passed", Stories: []event.StoryVerdict{{Name: "adds", Verdict: "passed", Met: 1, Conditions: 1, After: &event.WorldSight{Picture: &picture, Text: text("1")}}}})
	analyse(3, 3, true, &event.AnalysisResult{Analyser: "chromium", Verdict: "passed", Stories: []event.StoryVerdict{{Name: "secret", Verdict: "passed", Met: 1, Conditions: 1}}})
	all := int64(1000)
	s.add("rules", "", &event.RewardGiven{Attempt: 3, Sum: 1000, Stories: 500, Accessibility: 300, Conditions: 200, HeldOut: &all})
	bets := []event.WorldExpectation{{Condition: one, Probability: 900}, {Condition: event.WorldCondition{Kind: "dialog", Text: "hi", Not: true}, Probability: 500, Loop: "counting"}}
	prediction := s.add("maker", "", &event.PredictionMade{Attempt: 3, Steps: stories[0].Steps, Expect: bets})
	call := s.add("maker", "", &event.WorldCall{Attempt: 3, Prediction: prediction, Steps: stories[0].Steps, Tree: tree})
	seen := s.add("maker", "", &event.WorldObserved{Call: call, End: "done", Held: []bool{true, false}, Unforeseen: 2, Changes: []string{"a heading is new"}, Before: event.WorldSight{Text: text("0")}, After: event.WorldSight{Picture: &picture, Text: text("1"), Requests: []event.WorldRequest{{Method: "GET", URL: "http://a/"}}}})
	s.add("maker", "", &event.SurpriseMeasured{Attempt: 3, Prediction: prediction, Observed: seen, Conditions: []int64{10_000, 250_000}, Mean: 130_000, Unforeseen: 2})
	s.add("maker", "", &event.QuestFinished{Answer: text("There is a counter.")})
	return s
}

func worldViews(s *story, events []event.Event) *Views {
	state := &quest.State{Name: s.quest, Rules: "world/1", Agents: []*agent.Agent{{Name: "maker"}, {Name: "judge-1"}}}
	v := &Views{}
	for _, e := range events {
		v.Take(e, state)
	}
	return v
}

func TestAMakingFollowsItsAttempts(t *testing.T) {
	t.Parallel()
	s := counted(t)
	m := NewMaking()
	var states []string
	for _, e := range s.events {
		m.Take(e)
		now := ""
		for _, a := range m.Attempts {
			now += a.State + " "
		}
		if len(states) == 0 || states[len(states)-1] != now {
			states = append(states, now)
		}
	}
	if want := []string{"", "judging ", "rejected ", "rejected judging ", "rejected rejected ", "rejected rejected judging ", "rejected rejected passed "}; !reflect.DeepEqual(states, want) {
		t.Errorf("the attempts were %q, want %q", states, want)
	}
	var cards []string
	for _, c := range m.Cards() {
		surprise, reward := "-", "-"
		if c.Surprise != nil {
			surprise = fmt.Sprint(*c.Surprise)
		}
		if c.Reward != nil {
			reward = fmt.Sprint(*c.Reward)
		}
		cards = append(cards, fmt.Sprintf("%d %s tier %d %s; %s; %s %d %s", c.Number, c.State, c.Tier, c.Verdict, c.Why, reward, c.Tries, surprise))
	}
	if want := []string{
		"1 rejected tier 1 failed; names at index.html:7: expected a name, saw a button without one; 0 0 -",
		"2 rejected tier 3 failed; adds (assertion): text: expected 1, saw 0; 300 0 -",
		"3 passed tier 4 passed; ; 1000 1 130000",
	}; !reflect.DeepEqual(cards, want) {
		t.Errorf("at a glance:\n%s\nwant\n%s", strings.Join(cards, "\n"), strings.Join(want, "\n"))
	}
	if len(m.Calls) != 0 {
		t.Errorf("calls %v are still open", m.Calls)
	}
	second, third := m.Attempts[1], m.Attempts[2]
	if seen := second.Tiers[2].Stories[0].Seen; second.Picture == nil || seen == nil || !reflect.DeepEqual(seen.Lines, []string{"console: oops"}) || seen.Text.Text != "0" {
		t.Errorf("of the second attempt was seen %+v", second.Tiers[2].Stories)
	}
	try := third.Tries[0]
	if got := fmt.Sprintln(try.Steps, try.Expect[0].Condition, *try.Expect[0].Held, *try.Expect[0].Surprise, try.Expect[1].Condition, try.Expect[1].Loop, *try.Expect[1].Held, try.Unforeseen, *try.Surprise, try.End); got != "[click button “Add”] text of status “Count” is “1” true 10000 not: dialog is “hi” counting false 2 130000 done\n" {
		t.Errorf("the try is %s", got)
	}
	if third.Marks[0].Judge != "judge-1" || third.Tiers[1].Criteria[0].Mark != 800 || *third.Reward.HeldOut != 1000 || third.Tiers[3].Stories[0].Name != "secret" || try.After.Lines[0] != "refused: GET http://a/" {
		t.Errorf("the third attempt is %+v", third)
	}
	if want := []string{"channel count (text) at status “Count”", "lever add (mechanic, instant) at button “Add”", "loop counting: add → one more in count"}; !reflect.DeepEqual(m.Structure.Parts, want) {
		t.Errorf("the structure is %q, want %q", m.Structure.Parts, want)
	}
}

// TestAMakingIsSaved: cut anywhere, saved and read again, views end the same.
func TestAMakingIsSaved(t *testing.T) {
	t.Parallel()
	s := counted(t)
	want, err := json.Marshal(worldViews(s, s.events).Making())
	if err != nil {
		t.Fatal(err)
	}
	state := &quest.State{Name: s.quest, Rules: "world/1"}
	for cut := 1; cut < len(s.events); cut++ {
		data, err := worldViews(s, s.events[:cut]).Encode()
		if err != nil {
			t.Fatal(err)
		}
		v, err := DecodeViews(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range s.events[cut:] {
			v.Take(e, state)
		}
		if got, _ := json.Marshal(v.Making()); string(got) != string(want) {
			t.Fatalf("cut after %d the making is\n%s\nwant\n%s", cut, got, want)
		}
	}
	if m := (&Views{}).Making(); m == nil || len(m.Attempts) != 0 {
		t.Errorf("a quest without a maker has %+v", m)
	}
}

// TestAMakingOnTheCanvas: the structure, attempts, verdicts and tries, and what joins them.
func TestAMakingOnTheCanvas(t *testing.T) {
	t.Parallel()
	s := counted(t)
	v := worldViews(s, s.events)
	nodes, edges, _ := v.Canvas.Graph(0, 1000)
	kinds, status := map[string]int{}, map[string]string{}
	for _, n := range nodes {
		kinds[n.Kind]++
		status[n.ID] = n.Status
	}
	for kind, want := range map[string]int{"structure": 1, "channel": 1, "lever": 1, "attempt": 3, "verdict": 8, "try": 1, "answer": 1} {
		if kinds[kind] != want {
			t.Errorf("%d nodes of the kind %s, want %d", kinds[kind], kind, want)
		}
	}
	if status["attempt:1"] != AttemptRejected || status["attempt:3"] != AttemptPassed || status["tier:2/3"] != "failed" {
		t.Errorf("the states are %v", status)
	}
	joined := map[string]bool{}
	for _, e := range edges {
		from, _, _ := strings.Cut(e.From, ":")
		to, _, _ := strings.Cut(e.To, ":")
		joined[from+" "+e.Kind+" "+to] = true
		if e.Kind == Supports && from == "lever" && e.Label != "counting: one more" {
			t.Errorf("the loop says %q", e.Label)
		}
	}
	for _, want := range []string{"agent wrote attempt", "agent wrote structure", "agent reviews attempt", "agent wrote answer", "attempt caused-by structure", "attempt revises attempt", "tier attacks attempt", "tier supports attempt", "lever supports channel", "try caused-by attempt", "attempt supports answer"} {
		if !joined[want] {
			t.Errorf("nothing is joined by %s: %v", want, joined)
		}
	}
	var pictures, trees int
	for _, a := range v.Artifacts.List {
		switch a.Kind {
		case "picture":
			pictures++
		case "tree":
			trees++
		}
	}
	if pictures != 3 || trees != 3 {
		t.Errorf("%d pictures and %d trees are listed, want 3 of each", pictures, trees)
	}
}

func TestLinesOfAWorld(t *testing.T) {
	t.Parallel()
	at := event.WorldPlace{Role: "textbox", Name: "Name"}
	for want, s := range map[string]event.WorldStep{
		"type “Ann” into textbox “Name”": {Do: "type", At: at, Text: "Ann"}, "press Enter": {Do: "press", Text: "Enter"}, "press Tab in textbox “Name”": {Do: "press", Text: "Tab", At: at},
		"select “b” in “Size”": {Do: "select", Text: "b", At: event.WorldPlace{Name: "Size"}}, "wait 50 ms": {Do: "wait", Milliseconds: 50}, "run -v x with “1 2” as input": {Do: "run", Args: []string{"-v", "x"}, Input: "1 2"},
		"run": {Do: "run"}, "click button": {Do: "click", At: event.WorldPlace{Role: "button"}},
	} {
		if got := stepLine(&s); got != want {
			t.Errorf("a step is %q, want %q", got, want)
		}
	}
	for want, c := range map[string]event.WorldCondition{
		"textbox “Name” is focused": {Kind: "focused", At: at}, "there are 3 of textbox “Name”": {Kind: "count", At: at, Number: 3}, "it exits with 2": {Kind: "exit", Number: 2},
		"output contains “42”": {Kind: "output", How: "contains", Text: "42"}, "there is a file a.txt": {Kind: "file", Path: "a.txt"}, "the file a.txt is “x”": {Kind: "file", Path: "a.txt", Text: "x"},
		"not: title is “T”": {Kind: "title", Text: "T", Not: true},
	} {
		if got := conditionLine(&c); got != want {
			t.Errorf("a condition is %q, want %q", got, want)
		}
	}
}
