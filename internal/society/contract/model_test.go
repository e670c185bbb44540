package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/contract"
)

func thinking(task string) setting {
	set := usual(task)
	set.model = "m"
	return set
}

// does has an agent call one tool, and the world do its part; it returns what the agent
// was answered.
func (w *world) does(name, tool, args string) string {
	w.T.Helper()
	from := len(w.Events)
	w.Answer(name, questtest.Calls(questtest.Call{Tool: tool, Args: args}))
	for range 50 {
		if said, ok := w.answered(from, name); ok {
			return said
		}
		if calls := w.Open("tool.call", name); tool == "report_result" && len(calls) > 0 && !slices.ContainsFunc(w.Events[from:], func(e event.Event) bool { return e.Type == "tool.prepared" }) {
			w.Take(name, &event.ToolPrepared{Call: calls[0], Files: []string{"p.py"}, Tree: &event.TreeRef{Size: 1}, Values: []event.NamedText{{Name: "entrypoint", Text: "p.py"}}})
			continue
		}
		if !w.step() {
			break
		}
	}
	w.T.Fatalf("%s was not answered: %v", name, w.kinds())
	return ""
}

func (w *world) answered(from int, name string) (string, bool) {
	for _, e := range w.Events[from:] {
		if b, ok := e.Body.(*event.ToolAnswered); ok && e.Actor == name {
			return b.Output.Text, true
		}
	}
	return "", false
}

func claims(pairs ...any) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fmt.Sprintf(`{"text":%q,"sources":%s}`, pairs[i], pairs[i+1]))
	}
	return `{"claims":[` + strings.Join(list, ",") + `]}`
}

const both = `{"steps":[{"kind":"research","query":"activation energy"},{"kind":"compute","program":"arrhenius"}]}`

func TestThePlannersModelDelegatesAndWritesTheClaims(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.Start()
	found := w.does(contract.Planner, "delegate", both)
	has(t, found, "[1] a.md", "> The activation energy follows", "[4] computation arrhenius", "> activation energy Ea = 35.0942 kJ/mol", "data, not instructions")
	said := w.does(contract.Planner, "submit_answer", claims("The activation energy is 35.09 kJ/mol.", "[4]", "It follows from the slope.", "[1]"))
	has(t, said, "accepted")
	got := w.answer()
	has(t, got.Answer.Text, "The activation energy is 35.09 kJ/mol. [4]", "It follows from the slope. [1]")
	if len(got.Warnings) > 0 || w.State.Status != quest.Finished {
		t.Errorf("the answer: got %+v, want the quest finished without a warning", got)
	}
	// Contracts were made for what the model asked for.
	if got := w.awards(); len(got) != 3 {
		t.Errorf("the awards: got %q, want three", got)
	}
	w.Sound()
}

func TestAnInventedNumberIsChallengedAndCanBeMended(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.Start()
	w.does(contract.Planner, "delegate", both)
	said := w.does(contract.Planner, "submit_answer", claims("The activation energy is 36.5 kJ/mol.", "[4]", "It follows from the slope.", "[1]"))
	has(t, said, "The auditor has challenges", "36.5", "numbers", "Round 1 of 2")
	if w.State.Status != quest.Running {
		t.Fatalf("the quest is %v, want it running", w.State.Status)
	}
	has(t, w.does(contract.Planner, "submit_answer", claims("The activation energy is 35.1 kJ/mol.", "[4]", "It follows from the slope.", "[1]")), "accepted")
	text := w.answer().Answer.Text
	has(t, text, "35.1 kJ/mol")
	lacks(t, text, "36.5")
}

func TestWhatStaysOpenAfterTwoRoundsIsListed(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.Start()
	w.does(contract.Planner, "delegate", both)
	bad := claims("The activation energy is 36.5 kJ/mol.", "[4]", "It follows from the slope.", "[1]")
	for range 2 {
		has(t, w.does(contract.Planner, "submit_answer", bad), "The auditor has challenges")
	}
	has(t, w.does(contract.Planner, "submit_answer", bad), "taken with these points open")
	got := w.answer()
	has(t, strings.Join(got.Warnings, " "), "numbers", "36.5")
	before, after, _ := strings.Cut(got.Answer.Text, "## Claims that do not stand")
	lacks(t, before, "36.5")
	has(t, after, "36.5 kJ/mol", "Defeated by challenge")
	if contract.Net(w.State).Round != 2 {
		t.Errorf("%d rounds", contract.Net(w.State).Round)
	}
}

func TestTheRulesGoOnWhenTheModelFails(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(*world){
		"at once":              func(*world) {},
		"with sources in hand": func(w *world) { w.does(contract.Planner, "delegate", both) },
		"with a challenge open": func(w *world) {
			w.does(contract.Planner, "delegate", both)
			w.does(contract.Planner, "submit_answer", claims("It is 36.5 kJ/mol.", "[4]", "It follows from the slope.", "[1]"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, thinking(task))
			w.Start()
			during(w)
			call := w.Open("model.call", contract.Planner)[0]
			w.Take(contract.Planner, &event.ModelResult{Call: call, Error: &event.ModelError{Kind: string(model.Refused), Text: "no key"}})
			w.run()
			got := w.answer()
			lacks(t, got.Answer.Text, "36.5")
			has(t, got.Answer.Text, "35.0942 kJ/mol", "## Sources")
		})
	}
}

func TestAModelThatOnlyTalksIsParkedAndTheRulesGoOn(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.Start()
	for range 3 {
		w.Answer(contract.Planner, questtest.Says("It is 42."))
	}
	w.run()
	has(t, w.answer().Answer.Text, "35.0942")
	lacks(t, w.answer().Answer.Text, "It is 42")
}

func TestBadArgumentsAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, args, want string }{
		{"delegate", `{"steps":[]}`, "give 1 to 6"},
		{"delegate", `{"steps":[{"kind":"bake"}]}`, "kind must be"},
		{"delegate", `{"steps":[{"kind":"research"}]}`, "says nothing"},
		{"delegate", `{"steps":[{"kind":"wait","until":"tomorrow"}]}`, "such as 2030"},
		{"delegate", `{"steps":"all"}`, "do not fit"},
		{"delegate", `{"steps":[{"kind":"wait","until":"0001-01-01T00:00:00Z"}]}`, "such as 2030"},
		{"delegate", `{"steps":[{"kind":"wait","until":"9000-01-01T00:00:00Z"}]}`, "such as 2030"},
		{"submit_answer", `{"claims":[]}`, "give 1 to 12"},
		{"submit_answer", claims("x", "[99]"), "names source 99: there are 0"},
		{"submit_answer", `{"claims":[{"text":"x","sources":[],"more":1}]}`, "do not fit"},
		{"send_message", `{"to":"nobody","performative":"inform","text":"x"}`, "no other agent"},
		{"send_message", `{"to":"auditor","performative":"shout","text":"x"}`, "no performative"},
	} {
		w := open(t, thinking(task))
		w.Start()
		has(t, w.does(contract.Planner, tc.tool, tc.args), tc.want)
	}
}

func TestAMessageThatNoRuleAllowsIsRefusedByAPolicy(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.Start()
	w.does(contract.Planner, "delegate", both)
	bid, cfp := uint64(0), uint64(0)
	for _, e := range w.Events {
		switch e.Type {
		case "bid.submitted":
			bid = e.Seq
		case "cfp.issued":
			cfp = e.Seq
		}
	}
	send := func(performative string, reply uint64) string {
		args := fmt.Sprintf(`{"to":"auditor","performative":%q,"text":"x"}`, performative)
		if reply > 0 {
			args = fmt.Sprintf(`{"to":"auditor","performative":%q,"reply":%d,"text":"x"}`, performative, reply)
		}
		return w.does(contract.Planner, "send_message", args)
	}
	has(t, send(event.Award, 0), "Refused by the policy dialogue", "award answers a message")
	has(t, send(event.Award, cfp), "Refused by the policy dialogue", "cfp, which award cannot answer")
	has(t, send(event.Award, bid), "Refused by the policy contracts")
	has(t, send(event.Justify, 0), "Refused by the policy dialogue")
	has(t, send(event.Justify, bid), "which justify cannot answer: it can answer challenge")
	has(t, send(event.Bid, 999_999), "There is no message 999999")
	has(t, send(event.Agree, bid), "Sent")
	has(t, send(event.Inform, 0), "Sent")
	if n := w.kinds()["policy.blocked"]; n != 6 {
		t.Errorf("%d were refused", n)
	}
}

func TestAnExecutorWritesAProgramWhereNoneIsThere(t *testing.T) {
	t.Parallel()
	w := open(t, thinking("Compute the entropy from the data."))
	tries := 0
	w.compute = func(c *event.ComputeCall) *event.ComputeResult {
		if c.Tree == nil || c.Entrypoint != "p.py" {
			t.Errorf("the program's call: got %+v, want p.py with its tree", c)
		}
		if tries++; tries == 1 {
			return refused("SyntaxError")
		}
		return printed("python", "entropy = 1.5 J/K\n")
	}
	w.Start()
	if w.State.Agent(contract.Coder).Parked == "" {
		t.Error("the coder works without a contract")
	}
	from := len(w.Events)
	w.Answer(contract.Planner, questtest.Calls(questtest.Call{Tool: "delegate", Args: `{"steps":[{"kind":"compute","describe":"the entropy"}]}`}))
	if got := w.awards(); len(got) != 1 || !strings.HasSuffix(got[0], contract.Coder) {
		t.Fatalf("the awards: got %q, want the coder alone", got)
	}
	report := `{"files":["p.py"],"entrypoint":"p.py"}`
	has(t, w.does(contract.Coder, "report_result", report), "did not run well: SyntaxError")
	has(t, w.does(contract.Coder, "report_result", report), "It ran well")
	said, ok := w.answered(from, contract.Planner)
	if !ok {
		t.Fatalf("the planner does not hear of it: %v", w.kinds())
	}
	has(t, said, "entropy = 1.5 J/K")
	if w.State.Agent(contract.Coder).Parked == "" {
		t.Error("the coder goes on without a contract")
	}
}

func TestAQuestWithAModelThatIsForkedAnywhereDoesNothingTwice(t *testing.T) {
	t.Parallel()
	play := func(w *world) {
		for range 20 {
			if w.State.Status != quest.Running {
				return
			}
			if w.step() {
				continue
			}
			open := w.Open("model.call", contract.Planner)
			if len(open) == 0 {
				return
			}
			switch {
			case len(contract.Net(w.State).Sources) == 0:
				w.Answer(contract.Planner, questtest.Calls(questtest.Call{Tool: "delegate", Args: both}))
			case contract.Net(w.State).Round == 0:
				w.Answer(contract.Planner, questtest.Calls(questtest.Call{Tool: "submit_answer", Args: claims("It is 36.5 kJ/mol.", "[4]", "It follows from the slope.", "[1]")}))
			default:
				w.Answer(contract.Planner, questtest.Calls(questtest.Call{Tool: "submit_answer", Args: claims("It is 35.1 kJ/mol.", "[4]", "It follows from the slope.", "[1]")}))
			}
		}
	}
	whole := open(t, thinking(task))
	whole.Start()
	play(whole)
	want := whole.answer().Answer.Text
	for at := 3; at < len(whole.Events); at++ {
		w := open(t, thinking(task))
		for _, e := range whole.Events[1:at] {
			w.State.Apply(e)
			w.Events = append(w.Events, e)
		}
		w.Now = whole.Now
		w.Take("person", &event.QuestForked{At: w.State.Seq, From: "q", Hash: w.State.Hash, Name: "fork"})
		w.Take("person", &event.QuestResumed{})
		play(w)
		if got := w.answer().Answer.Text; got != want {
			t.Fatalf("forked at %d (%s): %s", at, whole.Events[at-1].Type, got)
		}
		if n := len(contract.Net(w.State).Claims); n != 4 {
			t.Fatalf("forked at %d (%s): %d claims", at, whole.Events[at-1].Type, n)
		}
		w.Sound()
	}
}

func TestAPlannerHearsOfWhatNobodyCouldDo(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.find = func(*event.SearchCall) *event.SearchResult { return &event.SearchResult{} }
	w.Start()
	has(t, w.does(contract.Planner, "delegate", `{"steps":[{"kind":"research","query":"qqqqq"}]}`), "research-1 failed: nothing in the corpus")
	// Nobody can even bid.
	set := thinking("Compute the entropy.")
	set.computers = false
	w = open(t, set)
	w.Start()
	has(t, w.does(contract.Planner, "delegate", `{"steps":[{"kind":"compute","describe":"the entropy"}]}`), "compute-1 failed: no worker of this quest can do it")
	w.Sound()
}

func TestASourceThatIsNamedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.find = func(*event.SearchCall) *event.SearchResult {
		same := anchor("copy.md", 1, 900, "The activation energy follows from the slope.")
		other := same
		other.Doc = "other.md"
		return &event.SearchResult{Anchors: []event.Anchor{same, other}}
	}
	w.Start()
	w.does(contract.Planner, "delegate", `{"steps":[{"kind":"research","query":"activation energy"}]}`)
	said := w.does(contract.Planner, "submit_answer", claims("It follows from the slope.", "[1,2,1,2,1,2]"))
	has(t, said, "the claims rest on 1 source;", "enough-evidence")
	if c := contract.Net(w.State).Claims[0]; len(c.Sources) != 2 || c.Confidence != 815 {
		t.Errorf("the claim: got %+v, want two sources and a confidence of 815", c)
	}
}

func TestAClaimThatHasNothingToDoWithItsSourcesIsChallenged(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.Start()
	w.does(contract.Planner, "delegate", both)
	has(t, w.does(contract.Planner, "submit_answer", claims("The moon consists of green cheese.", "[1,2,4]")), "no word in common", "related")
}

func TestAProgramWrittenForTheQuestIsNotRecomputedAndThatIsSaid(t *testing.T) {
	t.Parallel()
	set := thinking("Compute the entropy from the data.")
	set.audit = contract.Strict
	w := open(t, set)
	w.compute = func(*event.ComputeCall) *event.ComputeResult { return printed("python", "entropy = 42 J/K\n") }
	w.Start()
	w.Answer(contract.Planner, questtest.Calls(questtest.Call{Tool: "delegate", Args: `{"steps":[{"kind":"compute","describe":"the entropy"}]}`}))
	w.does(contract.Coder, "report_result", `{"files":["p.py"],"entrypoint":"p.py"}`)
	has(t, w.does(contract.Planner, "submit_answer", claims("The entropy is 42 J/K.", "[1]")), "recomputed", "written for this quest")
}

func TestPartsOfAModelsPlanAreDoneOneAfterAnother(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.Start()
	w.Answer(contract.Planner, questtest.Calls(questtest.Call{Tool: "delegate", Args: both}))
	// So the sources have the same numbers, however long each part takes.
	if n := len(w.Open("search.call", "")) + len(w.Open("compute.call", "")); n != 1 {
		t.Errorf("%d parts are under way", n)
	}
}

// A model numbers the parts of its plans by all parts, the rules by those of one kind.
func TestPartsThatTheRulesAddAfterAModelHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	set := thinking(task)
	set.audit = contract.Strict
	w := open(t, set)
	w.find = func(*event.SearchCall) *event.SearchResult {
		return &event.SearchResult{Anchors: []event.Anchor{anchor("a.md", 1, 100, "Something about cooking.")}}
	}
	w.Start()
	w.does(contract.Planner, "delegate", `{"steps":[{"kind":"compute","program":"arrhenius"},{"kind":"research","query":"activation energy"}]}`)
	call := w.Open("model.call", contract.Planner)[0]
	w.Take(contract.Planner, &event.ModelResult{Call: call, Error: &event.ModelError{Kind: string(model.Refused), Text: "no key"}})
	w.run()
	w.answer()
	names := map[string]int{}
	for _, task := range contract.Net(w.State).Tasks {
		names[task.Task]++
	}
	if names["research-2"] != 1 || names["research-3"] != 1 {
		t.Errorf("the parts of the plans are %v: want the model's research-2, and research-3 when the rules searched again", names)
	}
}

// A fork leaves the computation to its origin, so the coder's program is run again.
func TestAQuestThatIsForkedWhileAProgramOfItsCoderRunsGoesOn(t *testing.T) {
	t.Parallel()
	w := open(t, thinking("Compute the entropy from the data."))
	w.Start()
	w.Answer(contract.Planner, questtest.Calls(questtest.Call{Tool: "delegate", Args: `{"steps":[{"kind":"compute","describe":"the entropy"}]}`}))
	w.Answer(contract.Coder, questtest.Calls(questtest.Call{Tool: "report_result", Args: `{"files":["p.py"],"entrypoint":"p.py"}`}))
	prepared := func(w *world) *event.ToolPrepared {
		return &event.ToolPrepared{Call: w.Open("tool.call", contract.Coder)[0], Files: []string{"p.py"}, Tree: &event.TreeRef{Size: 1}, Values: []event.NamedText{{Name: "entrypoint", Text: "p.py"}}}
	}
	w.Take(contract.Coder, prepared(w))
	if open := w.Open("compute.call", ""); len(open) != 1 {
		t.Fatalf("the program of the coder runs in the calls %v, want one", open)
	}
	f := &world{Story: w.Fork(len(w.Events), nil), find: w.find, compute: func(*event.ComputeCall) *event.ComputeResult {
		return printed("python", "entropy = 1.5 J/K\n")
	}}
	f.Take("person", &event.QuestResumed{})
	f.Take(contract.Coder, prepared(f))
	if !f.step() {
		t.Fatalf("the fork has the calls %v open, want one that runs the program again", f.State.Calls)
	}
	from := len(w.Events)
	if said, _ := f.answered(from, contract.Coder); said != "It ran well. Your contract is done." {
		t.Errorf("the coder is told %q, want that its program ran well", said)
	}
	if said, _ := f.answered(from, contract.Planner); !strings.Contains(said, "entropy = 1.5 J/K") {
		t.Errorf("the planner is told %q, want what was computed", said)
	}
	f.Sound()
}

// fails has the planner's model fail for good.
func (w *world) fails() {
	w.T.Helper()
	call := w.Open("model.call", contract.Planner)[0]
	w.Take(contract.Planner, &event.ModelResult{Call: call, Error: &event.ModelError{Kind: string(model.Refused), Text: "no key"}})
	w.run()
}

func TestWhatAPlannerThatStopsHasClaimedStands(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	w.Start()
	w.does(contract.Planner, "delegate", both)
	said := w.does(contract.Planner, "submit_answer", claims("It follows from the slope.", "[1]", "Temperatures must be absolute.", "[2]", "It is 36.5 kJ/mol.", "[4]"))
	has(t, said, "The auditor has challenges", "36.5")
	w.fails()
	stands, _, _ := strings.Cut(w.answer().Answer.Text, "## Claims that do not stand")
	has(t, stands, "It follows from the slope. [1]", "Temperatures must be absolute. [2]", "35.0942 kJ/mol")
	lacks(t, stands, "36.5", "It has other parts")
	if got := w.kinds()["search.call"]; got != 1 {
		t.Errorf("after the planner stopped the corpus was searched again: %d searches, want 1", got)
	}
	w.Sound()
}

func TestADraftThatIsNotWholeDoesNotReplaceOneThatWasAudited(t *testing.T) {
	t.Parallel()
	w := open(t, thinking("Explain how the activation energy follows from the slope."))
	w.Start()
	w.does(contract.Planner, "delegate", `{"steps":[{"kind":"research","query":"slope"}]}`)
	has(t, w.does(contract.Planner, "submit_answer", claims("It follows from the slope.", "[1]")), "enough-evidence")
	w.fails()
	has(t, w.answer().Answer.Text, "- It follows from the slope. [1]")
}

func TestARuleQuotesOnlyWhatASearchForTheTaskFound(t *testing.T) {
	t.Parallel()
	w := open(t, thinking("Who won the football world cup in 1998?"))
	w.find = func(c *event.SearchCall) *event.SearchResult {
		relevance := int64(1000) // what the planner searched for is there
		if strings.Contains(c.Query, "football") {
			relevance = 100
		}
		return &event.SearchResult{Anchors: []event.Anchor{anchor("a.md", 1, relevance, "Would then match: the winner was Tin in 1998.")}}
	}
	w.Start()
	w.does(contract.Planner, "delegate", `{"steps":[{"kind":"research","query":"winner"}]}`)
	w.fails()
	if got := w.answer(); !got.NotFound {
		t.Errorf("the model asked for something else and stopped: got %q, want that nothing was found", got.Answer.Text)
	}
}

func TestThePlannerOpensWhatStandsAroundAHit(t *testing.T) {
	t.Parallel()
	w := open(t, thinking(task))
	plain := w.find
	var asked *event.SearchCall
	w.find = func(c *event.SearchCall) *event.SearchResult {
		if c.Method != "around" {
			return plain(c)
		}
		asked = c
		whole := anchor("a.md", 1, 0, "The activation energy follows from the slope of the Arrhenius plot. It has other parts.")
		return &event.SearchResult{Anchors: []event.Anchor{whole, anchor("a.md", 2, 0, "The slope is taken at 300 K.")}}
	}
	w.Start()
	w.does(contract.Planner, "delegate", both)
	has(t, w.does(contract.Planner, "delegate", `{"steps":[{"kind":"read","source":4}]}`), "no paragraph with the number 4")
	said := w.does(contract.Planner, "delegate", `{"steps":[{"kind":"read","source":1}]}`)
	has(t, said, "[1] a.md", "[5] a.md", "> The slope is taken at 300 K.")
	if asked == nil || asked.Doc != "a.md" || asked.Paragraph != 1 {
		t.Fatalf("the call: got %+v, want what stands around paragraph 1 of a.md", asked)
	}
	// What stands around a source is as good a source as that.
	has(t, w.does(contract.Planner, "submit_answer", claims("The slope is taken at 300 K.", "[5]", "It follows from the slope.", "[1]")), "accepted")
	w.Sound()
}

func TestAClaimThatSaysTheOppositeOfItsSourceIsChallenged(t *testing.T) {
	t.Parallel()
	const source = "Hydrogen is forbidden in this furnace at all times. The furnace does not start again by itself after a power failure. The lamp lasts 2000 hours. Argon may be used at any temperature."
	for claim, rule := range map[string]string{
		"The furnace starts again by itself after a power failure.":            "opposite",
		"Hydrogen is allowed in this furnace at all times.":                    "opposite",
		"Argon may not be used at any temperature.":                            "opposite",
		"The lamp lasts 3000 hours.":                                           "numbers",
		"The lamp lasts 2000 minutes.":                                         "numbers",
		"The furnace does not start again by itself after a power failure.":    "",
		"Hydrogen is not allowed in this furnace.":                             "",
		"Hydrogen is forbidden in this furnace.":                               "",
		"The lamp lasts 2000 hours, and argon may be used at any temperature.": "",
		"After a power failure the furnace never starts again by itself.":      "",
	} {
		w := open(t, setting{task: "How is the furnace used?", audit: contract.Lite, corpus: true, model: "m"})
		w.find = func(*event.SearchCall) *event.SearchResult {
			return &event.SearchResult{Anchors: []event.Anchor{anchor("a.md", 1, 900, source)}}
		}
		w.Start()
		w.does(contract.Planner, "delegate", `{"steps":[{"kind":"research","query":"furnace"}]}`)
		w.does(contract.Planner, "submit_answer", claims(claim, "[1]"))
		got := ""
		for _, c := range all[*event.ChallengeRaised](w) {
			got += c.Rule
		}
		if got != rule {
			t.Errorf("%s: challenged by %q, want %q", claim, got, rule)
		}
	}
}

// TestAFinishedNetWithAModelIsTakenUpByAMessage: the planner answers again, by what was found
// before.
func TestAFinishedNetWithAModelIsTakenUpByAMessage(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"ToAll": "", "ToThePlanner": contract.Planner} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t, thinking(task))
			w.Start()
			w.does(contract.Planner, "delegate", both)
			w.does(contract.Planner, "submit_answer", claims("The activation energy is 35.09 kJ/mol.", "[4]", "It follows from the slope.", "[1]"))
			if w.State.Status != quest.Finished {
				t.Fatalf("the quest is %v, want it finished", w.State.Status)
			}
			w.Take("person", &event.UserMessage{Text: event.Text{Text: "Is that with absolute temperatures?"}, To: to})
			w.Take("person", &event.QuestResumed{})
			if got := w.Open("model.call", contract.Planner); w.State.Status != quest.Running || len(got) != 1 {
				t.Fatalf("after a message: the quest is %v with %d questions to the planner's model, want it running with one", w.State.Status, len(got))
			}
			has(t, w.does(contract.Planner, "submit_answer", claims("It follows from the slope, with absolute temperatures.", "[1,2]", "The activation energy is 35.09 kJ/mol.", "[4]")), "accepted")
			text := w.answer().Answer.Text
			has(t, text, "It follows from the slope, with absolute temperatures. [1][2]", "35.09 kJ/mol. [4]")
			if w.State.Status != quest.Finished {
				t.Errorf("after the second answer the quest is %v, want it finished", w.State.Status)
			}
			w.Sound()
		})
	}
}
