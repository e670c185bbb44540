package trial_test

import (
	"reflect"
	"slices"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/world/trial"
)

// TestVerdictOfAStory is 33 and 34: exactly one verdict, vacuous and flaky included.
func TestVerdictOfAStory(t *testing.T) {
	t.Parallel()
	yes, no := trial.Run{End: trial.Done, Held: []bool{true}}, trial.Run{End: trial.Done, Held: []bool{false}}
	end := func(end string) trial.Run { return trial.Run{End: end} }
	for _, c := range []struct {
		name, kind string
		conditions int
		runs       []trial.Run
		still      *trial.Run
		want       string
	}{
		{"passes", trial.Web, 1, []trial.Run{yes, yes}, &no, trial.Passed},
		{"passes, and without scripts its place is missing", trial.Web, 1, []trial.Run{yes, yes}, new(end(trial.Missing)), trial.Passed},
		{"a program passes", trial.Program, 1, []trial.Run{yes, yes}, nil, trial.Passed},
		{"a condition fails", trial.Web, 1, []trial.Run{no, no}, &no, trial.Assertion},
		{"a condition was not looked at", trial.Web, 2, []trial.Run{yes, yes}, &no, trial.Assertion},
		{"no condition", trial.Web, 0, []trial.Run{end(trial.Done), end(trial.Done)}, nil, trial.Vacuous},
		{"no condition, and nothing ran", trial.Web, 0, nil, nil, trial.Vacuous},
		{"also passes without scripts", trial.Web, 1, []trial.Run{yes, yes}, &yes, trial.Vacuous},
		{"nobody looked without scripts", trial.Web, 1, []trial.Run{yes, yes}, nil, trial.Unavailable},
		{"one run", trial.Web, 1, []trial.Run{yes}, &no, trial.Unavailable},
		{"two runs differ", trial.Web, 1, []trial.Run{yes, no}, &no, trial.Flaky},
		{"two runs end differently", trial.Web, 1, []trial.Run{yes, end(trial.Timeout)}, &no, trial.Flaky},
		{"nothing to act on", trial.Web, 1, []trial.Run{end(trial.Missing), end(trial.Missing)}, &no, trial.Accessibility},
		{"takes too long", trial.Web, 1, []trial.Run{end(trial.Timeout), end(trial.Timeout)}, &no, trial.Timeout},
		{"crashes", trial.Web, 1, []trial.Run{end(trial.Crash), end(trial.Crash)}, &no, trial.Crash},
		{"is an error", trial.Web, 1, []trial.Run{end(trial.Error), end(trial.Error)}, &no, trial.Error},
		{"ends oddly", trial.Web, 1, []trial.Run{end("passed"), end("passed")}, &no, trial.Error},
		{"cannot run", trial.Web, 1, []trial.Run{yes, end(trial.Unavailable)}, &no, trial.Unavailable},
		{"did not run", trial.Web, 1, nil, &no, trial.Unavailable},
		{"failed once", trial.Web, 1, []trial.Run{no}, nil, trial.Assertion},
	} {
		if got := trial.Verdict(c.kind, c.conditions, c.runs, c.still); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestEveryRunHasOneVerdict goes through all pairs of runs.
func TestEveryRunHasOneVerdict(t *testing.T) {
	t.Parallel()
	var runs []trial.Run
	for _, e := range []string{trial.Done, trial.Missing, trial.Timeout, trial.Crash, trial.Error, trial.Unavailable, "", "odd"} {
		runs = append(runs, trial.Run{End: e}, trial.Run{End: e, Held: []bool{true}}, trial.Run{End: e, Held: []bool{false}})
	}
	passed := 0
	for _, a := range runs {
		for _, b := range runs {
			for _, still := range runs {
				v := trial.Verdict(trial.Web, 1, []trial.Run{a, b}, &still)
				if !slices.Contains(trial.Verdicts, v) {
					t.Errorf("%+v, %+v: %q is no verdict", a, b, v)
				}
				good := func(r trial.Run) bool { return r.End == trial.Done && slices.Equal(r.Held, []bool{true}) }
				if v == trial.Passed {
					passed++
					if !good(a) || !good(b) || good(still) || still.End == trial.Unavailable {
						t.Errorf("%+v, %+v, without scripts %+v: passed", a, b, still)
					}
				}
			}
		}
	}
	if passed == 0 {
		t.Error("nothing passes")
	}
}

func TestTierOfStories(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdicts []string
		want     string
	}{
		{nil, trial.Failed},
		{[]string{trial.Passed, trial.Passed}, trial.Passed},
		{[]string{trial.Passed, trial.Unavailable}, trial.Unavailable},
		{[]string{trial.Unavailable, trial.Vacuous}, trial.Failed},
		{[]string{trial.Flaky, trial.Unavailable, trial.Passed}, trial.Failed},
	} {
		if got := trial.Tier(stories(c.verdicts...)); got != c.want {
			t.Errorf("%v: %s, want %s", c.verdicts, got, c.want)
		}
	}
}

func stories(verdicts ...string) (list []event.StoryVerdict) {
	for _, v := range verdicts {
		s := event.StoryVerdict{Name: "s", Verdict: v, Conditions: 2}
		if v == trial.Passed {
			s.Met = 2
		}
		list = append(list, s)
	}
	return list
}

// TestSurprise is 29: squares in millionths, integers alone.
func TestSurprise(t *testing.T) {
	t.Parallel()
	expect := []event.WorldExpectation{{Probability: 1000}, {Probability: 1000}, {Probability: 900}, {Probability: 900}, {Probability: 0}, {Probability: 500}}
	each, mean := trial.Surprise(expect, []bool{true, false, true, false, false, true})
	if want := []int64{0, 1_000_000, 10_000, 810_000, 0, 250_000}; !slices.Equal(each, want) || mean != 345_000 {
		t.Errorf("surprise %v, mean %d; want %v, 345000", each, mean, want)
	}
	if each, mean := trial.Surprise(expect, nil); each != nil || mean != 0 {
		t.Errorf("nothing was seen, and the surprise is %v, %d", each, mean)
	}
}

func TestLowerMedian(t *testing.T) {
	t.Parallel()
	for want, marks := range map[int64][]int64{0: nil, 7: {7}, 1: {2, 1}, 2: {3, 1, 2}, 700: {900, 700, 710, 100}} {
		if got := trial.Median(marks); got != want {
			t.Errorf("the lower median of %v is %d, want %d", marks, got, want)
		}
	}
	if marks := []int64{3, 1, 2}; trial.Median(marks) != 2 || marks[0] != 3 {
		t.Error("the marks were sorted in place")
	}
}

// TestReward is 37.
func TestReward(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		of   []event.StoryVerdict
		want event.RewardGiven
	}{
		{"nothing for none", nil, event.RewardGiven{}},
		{"all", stories(trial.Passed, trial.Passed), event.RewardGiven{Stories: 500, Accessibility: 300, Conditions: 200, Sum: 1000}},
		{"one of three", stories(trial.Passed, trial.Assertion, trial.Accessibility), event.RewardGiven{Stories: 166, Accessibility: 200, Conditions: 66, Sum: 432}},
		{"a crash reaches nothing", stories(trial.Crash, trial.Timeout, trial.Error), event.RewardGiven{}},
		{"what says nothing earns nothing", []event.StoryVerdict{{Verdict: trial.Vacuous}, {Verdict: trial.Vacuous, Met: 2, Conditions: 2}}, event.RewardGiven{}},
		{"unavailable is no reward, not zero", stories(trial.Passed, trial.Unavailable), event.RewardGiven{None: true}},
		{"nothing is worth more than all", []event.StoryVerdict{{Verdict: trial.Passed, Met: 9, Conditions: 1}}, event.RewardGiven{Stories: 500, Accessibility: 300, Conditions: 200, Sum: 1000}},
	} {
		if got := trial.Reward(c.of); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := trial.HeldOut(nil); got != nil {
		t.Errorf("no held-out story is worth %d, want nothing", *got)
	}
	if got := trial.HeldOut(stories(trial.Passed, trial.Unavailable)); got != nil {
		t.Errorf("a held-out story that could not run is worth %d, want nothing", *got)
	}
	if got := trial.HeldOut(stories(trial.Passed, trial.Flaky, trial.Passed)); got == nil || *got != 666 {
		t.Errorf("two of three held-out stories: %v, want 666", got)
	}
}
