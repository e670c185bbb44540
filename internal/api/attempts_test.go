package api_test

import (
	"net/http"
	"slices"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/society/solo"
	"lyceum/internal/view"
)

// made are rules that decide nothing of their own: the ledger of a maker is written by the test.
type made struct{ solo.Society }

func (made) Rules() string { return "world/1" }

// maker writes the ledger of one: an attempt that its story rejects, another that passes and is
// tried.
func (s *server) maker(name string) {
	s.t.Helper()
	s.rt.Societies = slices.Clone(s.rt.Societies)
	if i := slices.Index(s.rt.Societies.Names(), "world"); i >= 0 {
		s.rt.Societies[i] = made{}
	} else {
		s.rt.Societies = append(s.rt.Societies, made{})
	}
	s.create(name, map[string]any{"model": "demo", "society": "world"})
	w := s.writes(name)
	b := ledger.Batch{Quest: name}
	add := func(actor string, body event.Body) uint64 {
		s.t.Helper()
		e, err := event.Seal(name, w.seq+1, w.hash, event.Draft{Time: s.rt.Clock(), Actor: actor, Body: body})
		must(s.t, err)
		b.Events = append(b.Events, e)
		w.seq, w.hash = e.Seq, e.Hash
		return e.Seq
	}
	picture, err := s.rt.Blobs.Put(s.t.Context(), []byte("\x89PNG\r\n\x1a\n"))
	must(s.t, err)
	tree := event.TreeRef{Hash: event.HashOf([]byte("tree")), Size: 9}
	const rules, who = "rules", "agent-0"
	at := event.WorldPlace{Role: "status", Name: "Count"}
	one := event.WorldCondition{Kind: "text", At: at, Text: "1"}
	steps := []event.WorldStep{{Do: "click", At: event.WorldPlace{Role: "button", Name: "Add"}}}
	stories := []event.WorldStory{{Name: "adds", Intent: "count one", Steps: steps, Expect: []event.WorldCondition{one}}}
	sight := event.WorldSight{Title: "Counter", Picture: &picture, Text: event.Text{Text: "0"}, Console: []string{"ready"}, Files: []event.FileSeen{{Path: "a", File: picture}}}
	finding := []event.WorldFinding{{Check: "text", Kind: "failed", Path: "index.html", Line: 3, Expected: "1", Observed: "0", Required: true}}
	add("person", &event.QuestStarted{Version: "test"})
	add(who, &event.StructureDeclared{Structure: event.WorldStructure{Channels: []event.WorldChannel{{Name: "count", Kind: "text", At: at}}}})
	for n, verdict := range map[int64]string{1: "assertion", 2: "passed"} {
		add(who, &event.AttemptProposed{Attempt: n, Intent: "a counter", Path: "page", Stories: stories, Tree: tree})
		call := add(rules, &event.AnalysisCall{Attempt: n, Tier: 3, Stories: stories, Tree: tree})
		tier := "passed"
		if verdict != "passed" {
			tier = "failed"
		}
		add(rules, &event.AnalysisResult{Call: call, Analyser: "chromium", Verdict: tier, Duration: 7, More: 1, Findings: finding, Stories: []event.StoryVerdict{{Name: "adds", Verdict: verdict, Met: 1, Conditions: 1, Findings: finding, After: &sight}}})
		add(rules, &event.TierJudged{Attempt: n, Tier: 3, Tree: tree, Call: call, Verdict: tier, Reason: "by its story", Criteria: []event.WorldMedian{{Criterion: "clear", Mark: 800}}})
		add(who, &event.MarksGiven{Attempt: n, Marks: []event.WorldMark{{Criterion: "clear", Mark: 800, Quotation: "Add"}}})
		share := int64(1000)
		add(rules, &event.RewardGiven{Attempt: n, Sum: 1000, Stories: 500, Accessibility: 300, Conditions: 200, HeldOut: &share})
		told := add(who, &event.PredictionMade{Attempt: n, Steps: steps, Expect: []event.WorldExpectation{{Condition: one, Probability: 900, Loop: "counting"}}})
		call = add(who, &event.WorldCall{Attempt: n, Prediction: told, Steps: steps, Tree: tree})
		seen := add(who, &event.WorldObserved{Call: call, End: "done", Error: event.Text{Text: "slow"}, Held: []bool{true}, Unforeseen: 1, Changes: []string{"a heading"}, Before: sight, After: sight})
		add(who, &event.SurpriseMeasured{Attempt: n, Prediction: told, Observed: seen, Conditions: []int64{10_000}, Mean: 10_000})
	}
	must(s.t, s.rt.Ledger.Append(s.t.Context(), b))
}

func (w *world) askAttempts(ask func(string, string, any, ...func(*http.Request)) answer) {
	w.maker("made")
	ask("GET /api/quests/{quest}/attempts", "/api/quests/made/attempts", nil)
	ask("GET /api/quests/{quest}/canvas", "/api/quests/made/canvas", nil)
}

// TestTheAttemptsOfAMaker: all that came of them, and none in a quest without a maker.
func TestTheAttemptsOfAMaker(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.maker("made")
	var list struct {
		Structure *view.Declared
		Attempts  []*view.Attempt
	}
	s.do("GET", "/api/quests/made/attempts", nil).want(t, 200).into(t, &list)
	if len(list.Attempts) != 2 || list.Structure == nil || list.Attempts[0].Tries[0].Expect[0].Condition != "text of status “Count” is “1”" || list.Attempts[0].Picture == nil {
		t.Errorf("the attempts are %+v", list)
	}
	s.create("plain", map[string]any{"model": "demo"})
	list.Attempts, list.Structure = nil, nil
	s.do("GET", "/api/quests/plain/attempts", nil).want(t, 200).into(t, &list)
	if list.Attempts == nil || len(list.Attempts) != 0 || list.Structure != nil {
		t.Errorf("a quest without a maker has %+v", list)
	}
}
