package contract_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"

	"github.com/google/go-cmp/cmp"
)

const task = "Determine the activation energy by the Arrhenius method, and explain how it follows."

func TestATaskIsAnsweredWithCitedClaims(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task)).run()
	got := w.answer()
	has(t, got.Answer.Text, "Ea = 35.0942 kJ/mol, R² = 0.986754, points n = 5. [", "“The activation energy follows from the slope of the Arrhenius plot. It has other parts.” [1]",
		"## Sources", "a.md", "paragraph 1", "sha256 "+event.HashOf([]byte("The activation energy follows from the slope of the Arrhenius plot. It has other parts.")).String(), "ran by Python")
	lacks(t, got.Answer.Text, "cooking", "Open points")
	if len(got.Warnings) > 0 {
		t.Errorf("warnings %q", got.Warnings)
	}
	if w.State.Status != quest.Finished {
		t.Errorf("it is %s", w.State.Status)
	}
}

func TestThePlannerReadsWholeWords(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set  setting
		want map[string]string
	}{
		"compute and research": {usual(task), map[string]string{"research": "yes", "compute": "yes", "audit": "yes", "compute words": "determine,activation energy,arrhenius", "research words": "method,explain,how"}},
		// fitness is not fit, recalculated not calculate, meanwhile not mean, methodist not method.
		"no substrings":                    {usual("Recalculated fitness, meanwhile the methodist whats."), map[string]string{"compute": "no word of the task asks for a computation", "research": "yes", "research words": ""}},
		"chinese":                          {usual("请计算样品的活化能，并验证结果"), map[string]string{"compute": "yes", "compute words": "计算,活化能", "audit words": "验证", "research": "yes"}},
		"chinese that is no order":         {usual("样品颜色"), map[string]string{"compute": "no word of the task asks for a computation"}},
		"words that alone ask for nothing": {usual("What does average mean, and how do they determine or estimate it?"), map[string]string{"compute": "no word of the task asks for a computation", "compute words": ""}},
		"unless the task names data":       {usual("What is the average of the column k?"), map[string]string{"compute": "yes", "compute words": "average"}},
		"no data":                          {setting{task: task, audit: contract.Lite, corpus: true}, map[string]string{"compute": "words of the task ask for a computation, but there is no data to compute with"}},
		"no corpus":                        {setting{task: task, audit: contract.Lite, data: true}, map[string]string{"research": "there is no corpus to search", "compute": "yes"}},
		"no program":                       {usual("Compute the entropy."), map[string]string{"compute": "words of the task ask for a computation, but none of the programs here is named by them, and there is no model to write one"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := open(t, tc.set).run().intentions()
			for k, want := range tc.want {
				if got[k] != want {
					t.Errorf("%s: %q, want %q", k, got[k], want)
				}
			}
		})
	}
}

func TestBidsAreScoredAsTheFormulaSays(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/rar_bids.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Bids []struct {
			Role                         string
			Cost, Latency, P, Cap, Score float64
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil || len(golden.Bids) != 3 {
		t.Fatal(err)
	}
	for _, b := range golden.Bids {
		milli := func(x float64) int64 { return int64(math.Round(x * 1000)) }
		got := contract.Score(milli(b.Cost), milli(b.Latency), milli(b.P), milli(b.Cap))
		if want := int64(math.Round(b.Score * 1e9)); got != want {
			t.Errorf("%s: %d, want %d", b.Role, got, want)
		}
	}
}

func TestTheBestBidWinsAndWorkersCompete(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task)).run()
	for _, kind := range []string{"research", "compute", "audit"} {
		bids := 0
		for _, b := range all[*event.BidSubmitted](w) {
			if strings.HasPrefix(b.Task, kind) {
				bids++
			}
		}
		if bids < 2 {
			t.Errorf("%d bids for %s", bids, kind)
		}
	}
	want := []string{"research-1 researcher-lexical", "compute-1 executor-python", "audit-1 auditor"}
	if diff := cmp.Diff(want, w.awards()); diff != "" {
		t.Errorf("the awards differ (-want +got):\n%s", diff)
	}
	// Without a name in it, meaning counts for more than letters.
	if got := open(t, usual("explain how warm things become")).run().awards()[0]; got != "research-1 researcher-hybrid" {
		t.Errorf("the award: got %q, want the hybrid researcher", got)
	}
	// At the strictest level the auditor is one that wants everything computed twice.
	strict := usual(task)
	strict.audit = contract.Strict
	if got := open(t, strict).run().awards(); !slices.Contains(got, "audit-1 auditor-recompute") {
		t.Errorf("the awards: got %q, want the auditor that computes again", got)
	}
}

func TestAFailedAwardGoesToTheNextBidder(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task))
	well := w.compute
	w.compute = func(c *event.ComputeCall) *event.ComputeResult {
		if c.Engine == "python" {
			return refused("there is no python3")
		}
		return well(c)
	}
	w.run()
	if diff := cmp.Diff([]string{"research-1 researcher-lexical", "compute-1 executor-python", "compute-1 executor-builtin", "audit-1 auditor"}, w.awards()); diff != "" {
		t.Errorf("the awards differ (-want +got):\n%s", diff)
	}
	if len(w.answer().Warnings) > 0 {
		t.Errorf("warnings: got %q, want none", w.answer().Warnings)
	}
	has(t, w.answer().Answer.Text, "35.0942", "the built-in interpreter")
	// Who failed promises less from then on.
	for _, b := range all[*event.TaskFailed](w) {
		if b.Reason != "there is no python3" || b.Task != "compute-1" {
			t.Errorf("the task that failed: got %+v, want compute-1 for want of python3", b)
		}
	}
}

func TestWhatNobodyCanComputeIsNotMadeUp(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task))
	w.compute = func(*event.ComputeCall) *event.ComputeResult { return refused("rates.csv has no column k") }
	w.run()
	got := w.answer()
	lacks(t, got.Answer.Text, "35.09", "kJ/mol")
	has(t, got.Answer.Text, "## Open points", "rates.csv has no column k")
	has(t, strings.Join(got.Warnings, "\n"), "needs-met")
}

func TestNoEvidenceIsNeverApproved(t *testing.T) {
	t.Parallel()
	for _, level := range contract.Levels {
		set := usual("Explain how it is.")
		set.audit = level
		w := open(t, set)
		w.find = func(*event.SearchCall) *event.SearchResult { return &event.SearchResult{} }
		w.run()
		if got := w.answer(); len(got.Warnings) == 0 || !got.NotFound || !strings.Contains(got.Answer.Text, "Not found in the corpus") {
			t.Errorf("without sources, %s: %+v, want a warning and no claim", level, got)
		}
		for _, m := range all[*event.MessageSent](w) {
			if m.Performative == event.Confirm {
				t.Errorf("%s: the auditor has confirmed it", level)
			}
		}
	}
}

func TestASearchThatFailedDoesNotSayThatNothingIsThere(t *testing.T) {
	t.Parallel()
	w := open(t, setting{task: "Explain how it is.", audit: contract.Standard, corpus: true})
	w.find = func(*event.SearchCall) *event.SearchResult {
		return &event.SearchResult{Error: "the corpus cannot be read"}
	}
	got := w.run().answer()
	if got.NotFound || len(got.Warnings) == 0 {
		t.Errorf("the answer: got %+v, want a warning, and not that the corpus has nothing", got)
	}
	has(t, got.Answer.Text, "No claim could be made that holds.", "the corpus cannot be read")
}

func TestTheLevelsAskForMore(t *testing.T) {
	t.Parallel()
	// One source, of a relevance between those that lite and standard ask for.
	for level, approved := range map[string]bool{contract.Lite: true, contract.Standard: false, contract.Strict: false} {
		set := setting{task: "Explain how it is.", audit: level, corpus: true}
		w := open(t, set)
		w.find = func(*event.SearchCall) *event.SearchResult {
			return &event.SearchResult{Anchors: []event.Anchor{anchor("a.md", 1, 720, "It is so.")}}
		}
		w.run()
		if got := len(w.answer().Warnings) == 0; got != approved {
			t.Errorf("%s: approved %t (%q)", level, got, w.answer().Warnings)
		}
	}
	for _, tc := range []struct {
		level     string
		relevance int64
		approved  bool
	}{
		{contract.Lite, 699, false}, {contract.Lite, 700, true},
		{contract.Standard, 799, false}, {contract.Standard, 800, true},
		{contract.Strict, 849, false}, {contract.Strict, 850, true},
	} {
		set := setting{task: "Explain how it is.", audit: tc.level, corpus: true}
		w := open(t, set)
		w.find = func(*event.SearchCall) *event.SearchResult {
			var r event.SearchResult
			for i := range int64(3) {
				r.Anchors = append(r.Anchors, anchor(fmt.Sprintf("%d.md", i), 1, tc.relevance, fmt.Sprintf("It is so in way number %c.", 'a'+rune(i))))
			}
			return &r
		}
		w.run()
		if got := len(w.answer().Warnings) == 0; got != tc.approved {
			t.Errorf("%s at %d: approved %t (%q)", tc.level, tc.relevance, got, w.answer().Warnings)
		}
	}
}

func TestAWeaknessIsChallengedAndTheWorkPlannedAgain(t *testing.T) {
	t.Parallel()
	w := open(t, setting{task: "Explain how it is.", audit: contract.Standard, corpus: true, vectors: true})
	searches := 0
	queries := map[string]bool{}
	w.find = func(c *event.SearchCall) *event.SearchResult {
		searches++
		queries[c.Query+c.Method] = true
		return &event.SearchResult{Anchors: []event.Anchor{anchor("a.md", 1, 900, "It is so.")}}
	}
	w.run()
	k := w.kinds()
	// Two researchers have had their turn then, and a third search would find the same.
	if k["replan.triggered"] != 1 || k["challenge.raised"] != 2 || searches != 2 {
		t.Errorf("%v, %d searches, want 2", k, searches)
	}
	if len(queries) != 2 {
		t.Errorf("it searched for the same again: %v", queries)
	}
	for _, c := range all[*event.ChallengeRaised](w) {
		if c.Rule != "enough-evidence" {
			t.Errorf("the challenge: got %+v, want by enough-evidence", c)
		}
	}
	has(t, w.answer().Answer.Text, "## Open points", "enough-evidence")
	if len(w.State.Warnings) != 1 {
		t.Errorf("warnings: got %q, want one", w.State.Warnings)
	}
	if got := len(all[*event.QuestFinished](w)); got != 1 {
		t.Errorf("it ended %d times", got)
	}
}

func TestAnotherRoundCanHelp(t *testing.T) {
	t.Parallel()
	w := open(t, setting{task: "Explain how it is.", audit: contract.Standard, corpus: true, vectors: true})
	w.find = func(c *event.SearchCall) *event.SearchResult {
		r := &event.SearchResult{Anchors: []event.Anchor{anchor("a.md", 1, 900, "It is so.")}}
		if c.Task == "research-2" {
			r.Anchors = append(r.Anchors, anchor("b.md", 1, 800, "It is so indeed."))
		}
		return r
	}
	w.run()
	if got := w.answer(); len(got.Warnings) > 0 || !strings.Contains(got.Answer.Text, "It is so indeed.") {
		t.Errorf("the answer: got %+v, want the claim without a warning", got)
	}
	if contract.Net(w.State).Round != 1 {
		t.Errorf("round %d", contract.Net(w.State).Round)
	}
}

func TestConflictingClaimsAreWeighed(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task))
	w.find = func(*event.SearchCall) *event.SearchResult {
		return &event.SearchResult{Anchors: []event.Anchor{
			anchor("old.md", 1, 900, "The activation energy of the sample is 125.34 kJ/mol."),
			anchor("a.md", 1, 800, "The activation energy follows from the slope."),
			anchor("b.md", 1, 800, "The activation energy of a similar one is 35.2 kJ/mol."),
		}}
	}
	w.run()
	if got := all[*event.ClaimAttacked](w); len(got) != 2 || got[0].Reason == "" {
		t.Fatalf("attacks: got %+v, want two with reasons", got)
	}
	weighed := all[*event.ArgumentsWeighed](w)
	if len(weighed) != 1 || len(weighed[0].Defeated) != 1 || weighed[0].Defeated[0].By != "claim 1" {
		t.Fatalf("the arguments weighed: got %+v, want one defeated by claim 1", weighed)
	}
	text := w.answer().Answer.Text
	_, after, _ := strings.Cut(text, "## Claims that do not stand")
	has(t, after, "125.34 kJ/mol", "Defeated by claim 1: they give different values for activation energy")
	before, _, _ := strings.Cut(text, "## Claims that do not stand")
	has(t, before, "35.0942", "35.2 kJ/mol")
}

func TestEquallySureClaimsThatContradictEachOtherDoNotStand(t *testing.T) {
	t.Parallel()
	w := open(t, setting{task: "What is the melting point of tin?", audit: contract.Lite, corpus: true})
	w.find = func(*event.SearchCall) *event.SearchResult {
		return &event.SearchResult{Anchors: []event.Anchor{
			anchor("a.md", 1, 900, "The melting point of tin is 505 K."), anchor("b.md", 1, 900, "The melting point of tin is 905 K."),
		}}
	}
	w.run()
	if got := all[*event.ArgumentsWeighed](w)[0]; len(got.Undecided) != 2 || len(got.Stand) != 0 {
		t.Errorf("the arguments weighed: got %+v, want both undecided", got)
	}
	has(t, w.answer().Answer.Text, "Undecided", "no claim stands")
}

func TestAWaitingStepParksTheQuestUntilItsTime(t *testing.T) {
	t.Parallel()
	set := usual(task)
	set.until = 5_000_000
	w := open(t, set)
	w.Start()
	if n := len(w.State.Calls); n != 1 || w.kinds()["search.call"] != 0 {
		t.Fatalf("%d calls: %v", n, w.kinds())
	}
	var timer uint64
	for seq := range w.State.Calls {
		timer = seq
	}
	if b := w.Events[timer-1].Body.(*event.TimerSet); b.At != 5_000_000 || b.Purpose != "wait" {
		t.Fatalf("the timer: got %+v, want five seconds of waiting", b)
	}
	// A clock that was set back: it waits on.
	w.Take("core", &event.TimerFired{Call: timer})
	if w.kinds()["timer.set"] != 2 || w.kinds()["search.call"] != 0 {
		t.Fatalf("the events: got %v, want a second timer and no search yet", w.kinds())
	}
	for seq := range w.State.Calls {
		timer = seq
	}
	w.Now = 6_000_000
	w.Take("core", &event.TimerFired{Call: timer})
	w.run()
	has(t, w.answer().Answer.Text, "35.0942")
}

// TestTheClockRunsWhileANetWaits: what a net waits for by itself is time that it takes, other than a question to a
// person; so a limit on its duration holds then, too.
func TestTheClockRunsWhileANetWaits(t *testing.T) {
	t.Parallel()
	set := usual(task)
	set.until = 5_000_000
	w := open(t, set)
	w.Start()
	before := w.State.Elapsed(w.Now)
	if w.State.Waiting() {
		t.Error("the net waits until its time as for a person, want a quest that runs")
	}
	if got := w.State.Elapsed(w.Now+3_000_000) - before; got != 3_000_000 {
		t.Errorf("three seconds of waiting count as %d µs of running, want all of them", got)
	}
	begun := w.Now
	for w.Now = 6_000_000; w.kinds()["search.call"] == 0; {
		for seq, c := range w.State.Calls {
			if c.Timer == "" {
				t.Fatalf("call %d is under way while the net waits: %+v, want its timer alone", seq, c)
			}
			w.Take("core", &event.TimerFired{Call: seq})
		}
	}
	if got, least := w.State.Elapsed(w.Now)-before, int64(6_000_000-begun); got < least {
		t.Errorf("after the wait it has run for %d µs, want at least %d: those that it waited count", got, least)
	}
	w.run()
	has(t, w.answer().Answer.Text, "35.0942")
}

func TestTheStrictestLevelHasEverythingComputedTwice(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		differ bool
		warns  bool
	}{"the same": {false, false}, "not the same": {true, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := usual(task)
			set.audit = contract.Strict
			w := open(t, set)
			well := w.compute
			w.compute = func(c *event.ComputeCall) *event.ComputeResult {
				if c.Engine == "builtin" && tc.differ {
					return printed("builtin", "file: rates.csv\nactivation energy Ea = 99 kJ/mol\n")
				}
				return well(c)
			}
			w.find = func(*event.SearchCall) *event.SearchResult {
				return &event.SearchResult{Anchors: []event.Anchor{
					anchor("a.md", 1, 1000, "The activation energy follows from the slope."), anchor("b.md", 1, 1000, "How the activation energy follows by the Arrhenius method."),
					anchor("c.md", 1, 900, "The Arrhenius method gives the activation energy."),
				}}
			}
			w.run()
			if got := len(w.answer().Warnings) > 0; got != tc.warns {
				t.Errorf("warnings %q", w.answer().Warnings)
			}
			if w.kinds()["compute.call"] != 2 {
				t.Errorf("%d computations", w.kinds()["compute.call"])
			}
		})
	}
}

func TestBeliefsDesiresAndIntentionsAreThereAtEachEvent(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task)).run()
	m := contract.Net(w.State).Minds[contract.Planner]
	if len(m.Beliefs) != 5 || len(m.Desires) != 1 || len(m.Intentions) != 3 {
		t.Errorf("the planner's mind: got %+v, want 5 beliefs, 1 desire, 3 intentions", m)
	}
	for _, i := range m.Intentions {
		if i.Reason == "" {
			t.Errorf("%+v has no reason", i)
		}
	}
	// Folded only so far, they are what they were then.
	s, err := quest.New(w.Events[0], []quest.Society{contract.Society{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range w.Events[:3] {
		s.Apply(e)
	}
	if got := contract.Net(s).Minds[contract.Planner]; len(got.Beliefs) != 1 || len(got.Intentions) != 0 {
		t.Errorf("the planner's mind after three events: got %+v, want 1 belief and no intention", got)
	}
}

func TestMessagesCarryPerformativesAndNameWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task)).run()
	count := map[string]int{}
	for _, e := range w.Events {
		p := event.Performative(e.Body)
		count[p]++
		if m, ok := e.Body.(*event.MessageSent); ok {
			if _, known := contract.Net(w.State).Messages[m.Reply]; !known || !slices.Contains(event.Performatives, p) {
				t.Errorf("a message that answers none, or means nothing: %s", e.Line())
			}
		}
	}
	for _, p := range []string{event.Cfp, event.Bid, event.Award, event.Commit, event.Inform, event.Confirm} {
		if count[p] == 0 {
			t.Errorf("no message does %s", p)
		}
	}
}

func TestSameSettingSameEvents(t *testing.T) {
	t.Parallel()
	a, b := open(t, usual(task)).run(), open(t, usual(task)).run()
	if a.State.Hash != b.State.Hash {
		t.Error("two runs differ")
	}
	// Nothing is asked of the world at the same time, so that no answer can overtake
	// another.
	open := map[uint64]bool{}
	for _, e := range a.Events {
		switch body := e.Body.(type) {
		case *event.SearchCall, *event.ComputeCall:
			open[e.Seq] = true
		case *event.SearchResult:
			delete(open, body.Call)
		case *event.ComputeResult:
			delete(open, body.Call)
		}
		if len(open) > 1 {
			t.Fatalf("at %d two calls are open", e.Seq)
		}
	}
}

func TestAQuestThatIsForkedAnywhereComesToTheSameAnswer(t *testing.T) {
	t.Parallel()
	whole := open(t, usual(task)).run()
	want := whole.answer().Answer.Text
	for at := 2; at < len(whole.Events); at++ {
		w := open(t, usual(task))
		for _, e := range whole.Events[1:at] {
			w.State.Apply(e)
			w.Events = append(w.Events, e)
		}
		w.Now = whole.Now
		w.Take("person", &event.QuestForked{At: w.State.Seq, From: "q", Hash: w.State.Hash, Name: "fork"})
		w.Take("person", &event.QuestResumed{})
		w.run()
		if got := w.answer().Answer.Text; got != want {
			t.Fatalf("forked at %d: %s", at, cmp.Diff(want, got))
		}
		if n := w.kinds()["claim.made"]; n != 2 {
			t.Fatalf("forked at %d: %d claims", at, n)
		}
	}
}

func TestAForgedEventDoesNotFold(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task))
	w.Start()
	for name, b := range map[string]event.Body{
		"an award without a bid":                 &event.ContractAwarded{Bid: 1, Task: "research-1", To: contract.Lexical},
		"a bid without a call":                   &event.BidSubmitted{Cfp: 1, Task: "research-1"},
		"a justification without a challenge":    &event.JustificationGiven{Challenge: 1},
		"a completion by somebody else":          &event.TaskCompleted{Award: 1, Task: "research-1"},
		"a retraction of no claim":               &event.ClaimRetracted{Claim: 9},
		"a search of nobody's":                   &event.SearchCall{Task: "research-1", Method: "lexical"},
		"an attack of claims that are not there": &event.ClaimAttacked{From: 1, To: 2},
	} {
		data, err := w.State.Encode()
		if err != nil {
			t.Fatal(err)
		}
		s, err := quest.Decode(data, []quest.Society{contract.Society{}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := event.Seal(s.Name, s.Seq+1, s.Hash, event.Draft{Actor: contract.Planner, Body: b})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Fold(e); err == nil {
			t.Errorf("%s folds", name)
		}
	}
}

func TestAWorkerJustifiesOrTakesBackWhatIsChallenged(t *testing.T) {
	t.Parallel()
	// The rules answer for a planner that has stopped.
	w := open(t, setting{task: "At which temperature does tin melt?", audit: contract.Standard, corpus: true, model: "m"})
	w.find = func(*event.SearchCall) *event.SearchResult {
		return &event.SearchResult{Anchors: []event.Anchor{
			anchor("a.md", 1, 900, "Tin melts at 505 K."), anchor("b.md", 1, 900, "Tin is a soft metal."),
			anchor("c.md", 1, 320, "505 K was read from the curve."), anchor("d.md", 1, 310, "Some say otherwise."),
		}}
	}
	w.Start()
	w.does(contract.Planner, "delegate", `{"steps":[{"kind":"research","query":"tin"}]}`)
	w.does(contract.Planner, "submit_answer", claims("Tin melts at 505 K.", "[1]", "Tin is a soft metal.", "[2]", "505 K was read from the curve.", "[3]", "Some say otherwise.", "[4]"))
	w.fails()
	// Both weak claims are challenged. Another source has the number of the one; the other
	// has nothing to stand on.
	if got := all[*event.JustificationGiven](w); len(got) != 1 || len(got[0].Sources) != 1 || got[0].Sources[0] != 1 {
		t.Errorf("justified %+v", got)
	}
	if got := all[*event.ClaimRetracted](w); len(got) != 1 || !strings.Contains(contract.Net(w.State).Claim(got[0].Claim).Text, "otherwise") {
		t.Errorf("taken back %+v", got)
	}
	text := w.answer().Answer.Text
	has(t, text, "505 K was read from the curve. [3][1]")
	stands, _, _ := strings.Cut(text, "## Nearest passages")
	lacks(t, stands, "otherwise", "Defeated")
	if len(w.answer().Warnings) > 0 {
		t.Errorf("warnings: got %q, want none", w.answer().Warnings)
	}
}

func TestTheWordFailedIsNoError(t *testing.T) {
	t.Parallel()
	w := open(t, usual(task))
	w.compute = func(c *event.ComputeCall) *event.ComputeResult {
		return printed(c.Engine, "error: none failed\nfile: rates.csv\nactivation energy Ea = 35.0942 kJ/mol\n")
	}
	if got := w.run().answer(); len(got.Warnings) > 0 || !strings.Contains(got.Answer.Text, "35.0942") {
		t.Errorf("the answer: got %+v, want 35.0942 without a warning", got)
	}
	// And what exits with another code than 0 is one, however well it reads.
	w = open(t, usual(task))
	w.compute = func(c *event.ComputeCall) *event.ComputeResult {
		r := printed(c.Engine, "file: rates.csv\nactivation energy Ea = 35.0942 kJ/mol\nall is well\n")
		r.Exit, r.Error = 1, "it ended with exit code 1"
		return r
	}
	if got := w.run().answer(); len(got.Warnings) == 0 || strings.Contains(got.Answer.Text, "35.0942") {
		t.Errorf("the answer: got %+v, want a warning instead of 35.0942", got)
	}
}

func TestEachProgramThatTheTaskNamesIsRun(t *testing.T) {
	t.Parallel()
	for task, want := range map[string]string{
		"Compare the Arrhenius and the Kissinger method.":      "arrhenius kissinger",
		"Compute the median and the linear trend.":             "statistics linear",
		"Compute the activation energy by an Arrhenius fit.":   "arrhenius",
		"Compute the activation energy.":                       "activation-energy",
		"Compute the slope.":                                   "linear",
		"Compute the activation energy and explain the slope.": "activation-energy",
		"Compute nothing that is known here.":                  "",
	} {
		var got []string
		for _, s := range all[*event.PlanMade](open(t, usual(task)).run())[0].Steps {
			if s.Kind == "compute" {
				got = append(got, s.Text)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", task, got, want)
		}
	}
}

func TestResultsOfSeveralFilesAndColumnsStandBesideEachOther(t *testing.T) {
	t.Parallel()
	w := open(t, usual("Compute the activation energy of each sample."))
	w.compute = func(c *event.ComputeCall) *event.ComputeResult {
		return printed(c.Engine, "file: a.csv\nactivation energy Ea = 35.0942 kJ/mol\nfile: b.csv\ncolumn: \"x\"\nactivation energy Ea = 80.1 kJ/mol\ncolumn: \"y\"\nactivation energy Ea = 99 kJ/mol\n")
	}
	text := w.run().answer().Answer.Text
	before, _, _ := strings.Cut(text, "## Claims that do not stand")
	has(t, before, "on a.csv: activation energy Ea = 35.0942", `on b.csv, column "x": activation energy Ea = 80.1`, `column "y": activation energy Ea = 99`)
}

func TestWordsOfTheCorpusCannotPassForCitations(t *testing.T) {
	t.Parallel()
	w := open(t, setting{task: "Explain how it is.", audit: contract.Lite, corpus: true})
	w.find = func(*event.SearchCall) *event.SearchResult {
		return &event.SearchResult{Anchors: []event.Anchor{anchor("a.md", 1, 900, "It is so [7][8] by <b>law</b> `x` [see](http://x).")}}
	}
	text := w.run().answer().Answer.Text
	has(t, text, "It is so (7)(8) by &lt;b>law&lt;/b> 'x' (see)(http://x).” [1]")
}
