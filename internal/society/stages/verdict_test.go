package stages_test

import (
	"testing"

	"lyceum/internal/quest"
)

func TestAVerdictSaysWhatCameOutAgainAndWhatItBeats(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	if got := k.State.Verdict(); got != nil {
		t.Errorf("before anything was done the verdict is %+v", got)
	}
	same := func(value, agree, sure, why string, candidate bool) {
		t.Helper()
		got := k.State.Verdict()
		if got == nil || got.Value != value || got.Agree != agree || got.Sure != sure || got.Why != why || got.Candidate != candidate {
			t.Errorf("the verdict is %+v, want %q, %q, %s, %q", got, value, agree, sure, why)
		}
	}
	k.baseline(t)
	if got := k.State.Verdict(); got != nil {
		t.Errorf("with a baseline alone the verdict is %+v", got)
	}
	k.does("submit_idea", `{"title":"i","text":"x"}`)
	k.result(t, "main", "wrong", "0.1", "3")
	if got := k.State.Verdict(); got != nil {
		t.Errorf("with a result that did not come out the verdict is %+v", got)
	}
	k.result(t, "main", "worse", "4", "4")
	same("mae 4: t", "2 of 3 results came out again in fresh computers", quest.SureMedium, "result-3 does not beat the baseline: mae: worse, 4 against 2 (2)", true)
	k.result(t, "main", "better", "1", "1")
	same("mae 1: t", "3 of 4 results came out again in fresh computers", quest.SureHigh, "result-4 beats the baseline, and both were run twice", true)
}
