package lab_test

import (
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
)

func TestPoint24AVerdictSaysWhoAgreesAndHowSureThatMakesIt(t *testing.T) {
	t.Parallel()
	w := open(t, 3, event.LabSpec{Deadline: 40, Decision: lab.Majority})
	if got := w.State.Verdict(); got != nil {
		t.Fatalf("before anything is published the verdict is %+v, want none", got)
	}
	run := func(claim string, missing ...string) string {
		w.does(0, "submit_publication", `{"title":"On `+claim+`","content":"x","attachments":["run.py"],"entrypoint":"run.py","claims":["`+claim+`"]}`)
		for _, call := range w.Open("reproduction.call", "") {
			w.Take("core", &event.ReproductionResult{Call: call, Status: event.SameOutput, Missing: missing})
		}
		list := lab.Library(w.State).Papers
		return list[len(list)-1].Ref
	}
	same := func(got *quest.Verdict, value, agree, sure, why string, candidate bool) {
		t.Helper()
		if got == nil || got.Value != value || got.Agree != agree || got.Sure != sure || got.Why != why || got.Candidate != candidate {
			t.Errorf("the verdict: got %+v, want %s, %s, %s (%s), candidate %v", got, value, agree, sure, why, candidate)
		}
	}
	best := run("12160")
	run("12,160", "12,160")
	same(w.State.Verdict(), "12160", "0 of 3 votes; 1 other paper says the same, 0 papers say otherwise", quest.SureLow, "its program prints what it claims", true)
	run("12161")
	for i := range 2 {
		w.does(i, "vote_solution", args("ref", best))
	}
	same(w.State.Verdict(), "12160", "2 of 3 votes; 1 other paper says the same, 1 paper says otherwise", quest.SureMedium, "its program prints what it claims", true)
	w.does(2, "vote_solution", args("ref", best))
	got := w.State.Verdict()
	same(got, "12160", "3 of 3 votes; 1 other paper says the same, 1 paper says otherwise", quest.SureMedium, "its program prints what it claims", false)
	if *got.Votes != 3 || *got.Voters != 3 || *got.Same != 1 || *got.Otherwise != 1 {
		t.Errorf("the counts: got %d %d %d %d, want 3 3 1 1", *got.Votes, *got.Voters, *got.Same, *got.Otherwise)
	}
	if want := "12160 · 3 of 3 votes; 1 other paper says the same, 1 paper says otherwise · sure: medium (its program prints what it claims) · publication " + best + " by agent-0"; got.Line() != want {
		t.Errorf("the line: got %q, want %q", got.Line(), want)
	}
}

func TestPoint24AllVotesWithAnOutputThatHoldsTheClaimAreHigh(t *testing.T) {
	t.Parallel()
	w := open(t, 1, event.LabSpec{Deadline: 40, Decision: lab.Majority})
	w.does(0, "submit_publication", `{"title":"It is 7","content":"x","attachments":["run.py"],"entrypoint":"run.py","claims":["7"]}`)
	w.Take("core", &event.ReproductionResult{Call: w.Open("reproduction.call", "")[0], Status: event.SameOutput})
	w.does(0, "vote_solution", args("ref", lab.Library(w.State).Papers[0].Ref))
	if got := w.State.Verdict(); got == nil || got.Sure != quest.SureHigh || got.Candidate {
		t.Errorf("the verdict: got %+v, want it high and no candidate", got)
	}
}
