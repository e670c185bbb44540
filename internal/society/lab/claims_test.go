package lab_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
)

func TestPoint1AnEntryPointMayBeNamedByItsPath(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"x.py", "programs/x.py", "./programs/x.py", "/home/agent/programs/x.py"} {
		w := open(t, 2, usual(2))
		said := w.does(0, "submit_publication", fmt.Sprintf(`{"title":"A","content":"a","attachments":["programs/x.py"],"entrypoint":%q}`, entry))
		has(t, said, "Submitted as")
		if got := lab.Library(w.State).Papers[0].Entrypoint; got != "x.py" {
			t.Errorf("the entry point of %s: got %q, want x.py", entry, got)
		}
	}
	w := open(t, 2, usual(2))
	has(t, w.does(0, "submit_publication", `{"title":"A","content":"a","attachments":["x.py"],"entrypoint":"programs/y.py"}`), "not among the attachments")
}

// reproduced hands in a paper with a program, and says what came of running it.
func reproduced(w *world, more string, result event.ReproductionResult) string {
	w.T.Helper()
	before := len(lab.Library(w.State).Papers)
	w.does(0, "submit_publication", `{"title":"A","content":"It is 42.\n\nBecause of 7.","attachments":["run.py"],"entrypoint":"run.py"`+more+`}`)
	result.Call = w.Open("reproduction.call", "")[0]
	w.Take("core", &result)
	return lab.Library(w.State).Papers[before].Ref
}

func TestPoint10AnAuthorHearsOfClaimsThatAreNotInTheOutputBeforeReviewersAreAsked(t *testing.T) {
	t.Parallel()
	w := open(t, 3, usual(3))
	from := len(w.Events)
	ref := reproduced(w, `,"claims":["42","43 K"]`, event.ReproductionResult{Status: event.SameOutput, Missing: []string{"43 K"}, Printed: "42\n[x]"})
	kinds := w.kinds(from)
	warned, asked := slices.Index(kinds, "advise unshown"), slices.Index(kinds, "review.requested")
	if warned < 0 || asked < warned {
		t.Fatalf("the author is told at %d and reviewers are asked at %d of %q, want the first before the second", warned, asked, kinds)
	}
	told := w.advisories(event.AdviseUnshown)
	if len(told) != 1 || !slices.Equal(told[0].To, []string{"agent-0"}) {
		t.Fatalf("advisories: got %+v, want one to the author", told)
	}
	has(t, told[0].Text.Text, ref, `"43 K"`, `"42\u000a\u005bx\u005d"`, "same output twice")
	has(t, w.advisories(event.AdviseRequested)[0].Text.Text, `NOT in the output: "43 K"`, "same output twice", "42")
	has(t, w.does(1, "list_review_requests", "{}"), ref, "reproduction: same output twice, 1 of 2 claims not in the output: due within")
	has(t, w.does(1, "get_publication", args("ref", ref)), `NOT in the output: "43 K"`)
	has(t, lab.Library(w.State).Paper(ref).Header(), "claims:\n  - \"42\"\n  - \"43 K\"\nclaims_not_in_output:\n  - \"43 K\"\n", `reproduction_printed: "42`)
	has(t, w.does(1, "list_publications", "{}"), "1 of 2 claims not in the output", "\n  \"It is 42.\"")
	w.Sound()
}

func TestPoint10WithoutClaimsTheNumbersOfTheFirstParagraphStandForThem(t *testing.T) {
	t.Parallel()
	w := open(t, 2, usual(2))
	has(t, w.does(0, "submit_publication", `{"title":"A","content":"# 3 things\n\nIt is 42.\n\nBecause of 7.","attachments":["run.py"],"entrypoint":"run.py"}`), `numbers of its first paragraph stand for them: "42".`)
	p := lab.Library(w.State).Papers[0]
	same(t, p.Claims, []string{"42"})
	if p.Named || p.Abstract != "It is 42." {
		t.Errorf("the paper: got named %v and abstract %q, want false and the first paragraph", p.Named, p.Abstract)
	}
	for _, bad := range []string{`["a\nb"]`, `["` + strings.Repeat("x", 101) + `"]`} {
		has(t, w.does(1, "submit_publication", `{"title":"B","content":"b","claims":`+bad+`}`), "must be a value on one line")
	}
}

func TestPoint4AReviewSaysWhatItRestsOn(t *testing.T) {
	t.Parallel()
	w := open(t, 2, usual(2))
	ref := reproduced(w, "", event.ReproductionResult{Status: event.SameOutput})
	review := func(grade, more string) string {
		return w.does(1, "submit_review", fmt.Sprintf(`{"ref":%q,"grade":%q,"content":"c"%s}`, ref, grade, more))
	}
	has(t, review("ACCEPT", `,"checked":{"claim":"x","ran":"y"}`), "from 1 to 5")
	has(t, review("ACCEPT", `,"confidence":6,"checked":{"claim":"x","ran":"y"}`), "from 1 to 5")
	has(t, review("ACCEPT", `,"confidence":2.5,"checked":{"claim":"x","ran":"y"}`), "from 1 to 5")
	has(t, review("ACCEPT", `,"confidence":5,"checked":{"ran":"y"}`), "checked.claim is empty")
	has(t, review("ACCEPT", `,"confidence":5,"checked":{"claim":"x","ran":" "}`), `has a program, "run.py"`)
	has(t, review("ACCEPT", `,"confidence":5,"checked":{"claim":"x","ran":"run.py printed 42","counterexample":"zero"}`), "is taken")
	p := lab.Library(w.State).Paper(ref)
	r := p.Reviews[0]
	if r.Confidence != 5 || r.Claim != "x" || r.Ran != "run.py printed 42" || r.Counterexample != "zero" {
		t.Errorf("the review: got %+v, want what was handed in", r)
	}
	has(t, p.ReviewTexts()[0].Text.Text, "- confidence: 5 of 5\n- claim: \"x\"\n- checked, ran: \"run.py printed 42\"\n- tried against: \"zero\"\n")
	// A rejection need not have run anything.
	plain := w.publishes(0, "Other words", "other")
	has(t, w.does(1, "submit_review", fmt.Sprintf(`{"ref":%q,"grade":"REJECT","content":"c","confidence":1,"checked":{"claim":"x"}}`, plain)), "is taken")
	w.Sound()
}

func TestPoint7TheAnswerSaysWhatWasTakenForACitation(t *testing.T) {
	t.Parallel()
	w := open(t, 2, event.LabSpec{Deadline: 40, Decision: lab.Majority})
	first := w.publishes(0, "First", "alpha beta")
	has(t, w.does(0, "submit_publication", args("title", "None", "content", "gamma")), "cites nothing")
	said := w.does(1, "submit_publication", args("title", "Second", "content", "As in [see "+first+"] and [1], [Smith 2020].[^1]"))
	has(t, said, "It cites 1: "+first, `Not taken for a citation: "1", "Smith 2020"`)
}

func TestPoint10ARepetitionIsToldWhatItRepeats(t *testing.T) {
	t.Parallel()
	w := open(t, 3, event.LabSpec{Deadline: 40, Decision: lab.Majority})
	first := w.publishes(0, "The sum of the primes is 1060", "The sum of all primes below 100 is 1060.")
	has(t, w.does(1, "submit_publication", args("title", "Primes below 100 sum to 1,060", "content", "The sum of all primes below 100 is 1,060.")), "seems to repeat what is published in "+first)
	for name, content := range map[string]string{
		"another value":       "The sum of all primes below 100 is 1061.",
		"a paper it cites":    "The sum of all primes below 100 is 1060, as in [" + first + "].",
		"another subject":     "Our furnace melts at 100 degrees and holds 1060 bricks.",
		"nothing in common 1": "Quite something else.",
	} {
		if said := w.does(2, "submit_publication", args("title", name, "content", content)); strings.Contains(said, "repeat what is published in "+first) {
			t.Errorf("%s: got %q, want no word of a repetition of the first", name, said)
		}
	}
	if got := lab.Library(w.State).Papers[1].Repeats; !slices.Equal(got, []string{first}) {
		t.Errorf("the record of what it repeats: got %q, want the first", got)
	}
}

func TestPoint24TiesGoToClaimsThatHoldThenToReviewsThenToTheEarlier(t *testing.T) {
	t.Parallel()
	w := open(t, 4, usual(4))
	accepted := func(ref string, grades ...string) string { w.grades(ref, grades...); return ref }
	first := accepted(w.publishes(0, "No program", "one"), event.Accept, event.Accept, event.Reject)
	best := func(want, why string) {
		t.Helper()
		if got := lab.Library(w.State).Best(); got == nil || got.Ref != want {
			t.Errorf("the best paper: got %+v, want %s: %s", got, want, why)
		}
	}
	accepted(reproduced(w, "", event.ReproductionResult{Status: event.SameOutput, Missing: []string{"42"}}), event.Accept, event.Accept, event.Accept)
	best(first, "an output without the claim is worse than none")
	accepted(w.publishes(1, "Same again", "two"), event.Accept, event.Accept, event.Reject)
	best(first, "it is the earlier")
	third := accepted(w.publishes(1, "Better reviews", "three"), event.Accept, event.Accept, event.Accept)
	best(third, "its reviews are better")
	held := accepted(reproduced(w, "", event.ReproductionResult{Status: event.SameOutput}), event.Accept, event.Accept, event.Reject)
	best(held, "its output holds what it claims")
}

// TestHostileClaimsFitEvents: characters that are written as numbers make texts long, and
// whatever the rules say of them must fit an event.
func TestHostileClaimsFitEvents(t *testing.T) {
	t.Parallel()
	w := open(t, 2, usual(2))
	var list []string
	for i := range 20 {
		list = append(list, fmt.Sprintf("%d%s", i, strings.Repeat("<", 98)))
	}
	claims, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	ref := reproduced(w, `,"claims":`+string(claims), event.ReproductionResult{Status: event.SameOutput, Missing: list, Printed: strings.Repeat("[", 1000)})
	has(t, w.advisories(event.AdviseUnshown)[0].Text.Text, "and 18 more")
	has(t, w.does(1, "get_publication", args("ref", ref)), "and 18 more")
	w.grades(ref, event.Accept)
	w.does(0, "vote_solution", args("ref", ref))
	w.does(1, "vote_solution", args("ref", ref))
	if w.State.Answer == nil {
		t.Errorf("the quest is %s, want an answer that fits its event", w.State.Status)
	}
	w.Sound()
}

func TestWhatAReproductionStoresCountsForTheQuest(t *testing.T) {
	t.Parallel()
	w := open(t, 3, usual(3))
	reproduced(w, "", event.ReproductionResult{Status: event.SameOutput, Stored: 4096})
	if got := w.State.Spent.Stored; got != 4096 || w.State.Status != quest.Running {
		t.Errorf("%d bytes are stored and the quest is %s, want 4096 and that it runs", got, w.State.Status)
	}
	reproduced(w, "", event.ReproductionResult{Status: event.SameOutput, Stored: 4096, Full: &event.Full{Max: 8192, Of: event.FullQuest, Used: 8192}})
	w.does(1, "list_publications", "{}")
	if w.State.Status != quest.Exceeded || w.State.Reason != "storage" {
		t.Errorf("the quest is %s (%s), want that its storage is exceeded", w.State.Status, w.State.Reason)
	}
	w.Sound()
}
