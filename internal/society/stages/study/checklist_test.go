package study_test

import (
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	. "lyceum/internal/society/stages/study"
)

// runs is a study with main results that were verified with these errors, and a baseline of that
// error if there is one.
func runs(t *testing.T, baseline string, values ...string) *tale {
	t.Helper()
	s := begin(t, Copilot)
	s.take("person", &event.StudyOrder{Action: event.SteerWaive, What: IdeaFirst, Reason: "no idea"})
	if baseline != "" {
		base := s.result(ResultBaseline, "base", mae(baseline, ""))
		s.ran(baseline)
		s.take("researcher", &event.BaselineAccepted{Answer: s.seq + 1, By: ByReproduction, Result: base.ID})
	} else {
		s.take("person", &event.StudyOrder{Action: event.SteerWaive, What: BaselineFirst, Reason: "none is known"})
	}
	for i, v := range values {
		s.result(ResultMain, string(rune('a'+i)), mae(v, ""))
		s.ran(v)
	}
	return s
}

// A result lost that does not beat the baseline, or that another one beats: also where there is no
// baseline, and where there is no other. What ties with the best has not lost to it.
func TestLosersWithAndWithoutABaseline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		baseline string
		values   []string
		want     []string
	}{
		"Alone":                 {"", []string{"3"}, nil},
		"WithoutABaseline":      {"", []string{"3", "1", "2"}, []string{"result-1", "result-3"}},
		"ATieWithoutABaseline":  {"", []string{"1", "1"}, nil},
		"OneThatIsWorse":        {"2", []string{"3"}, []string{"result-2"}},
		"OneThatTiesWithTheOld": {"2", []string{"2"}, []string{"result-2"}},
		"OneThatWins":           {"2", []string{"1"}, nil},
		"ASecondThatWins":       {"4", []string{"2", "1"}, []string{"result-2"}},
		"TheBaselineIsNone":     {"9", []string{"1"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := runs(t, c.baseline, c.values...)
			var got []string
			for _, l := range s.Losers() {
				got = append(got, l.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("lost have %q, want %q", got, c.want)
			}
		})
	}
}

// papered is the checklist of a paper about the last result of a study.
func papered(s *tale, change func(*event.BundleResult)) map[string]event.ChecklistRow {
	s.t.Helper()
	last := s.Results[len(s.Results)-1].ID
	s.take("researcher", &event.OutlineSubmitted{Answer: s.seq + 1, Claims: []event.OutlineClaim{{ID: "it", Results: []string{last}, Text: "It is."}}, ID: "outline-1", Title: "o"})
	s.prepare(KindPaper, "p", Main)
	s.save("paper/p", "draft")
	p := s.made(func(r *event.BundleResult) {
		r.Named, r.Numbers = nil, nil
		change(r)
	})
	out := map[string]event.ChecklistRow{}
	for _, r := range p.Checklist {
		out[r.Item] = r
	}
	return out
}

// Each item holds for what it is about, and for nothing else.
func TestItemsOfTheChecklist(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		baseline string
		values   []string
		change   func(*event.BundleResult)
		fails    string // the item, or none
		says     string
	}{
		"NoBaselineThatWasWaived": {"", []string{"1"}, func(*event.BundleResult) {}, "", ""},
		"ALoserWithoutABaseline":  {"", []string{"3", "1"}, func(*event.BundleResult) {}, ItemLosers, "result-1 ("},
		"ALoserThatIsTold":        {"", []string{"3", "1"}, func(r *event.BundleResult) { r.Named = []string{"result-1"} }, "", ""},
		"ABaselineThatIsNotNamed": {"2", []string{"1"}, func(r *event.BundleResult) { r.Named = []string{"result-2"} }, ItemBaselines, "result-1 ("},
		"ABaselineThatIsNamed":    {"2", []string{"1"}, func(r *event.BundleResult) { r.Named = []string{"result-1"} }, "", ""},
		"ANumberOfNothing":        {"", []string{"1"}, func(r *event.BundleResult) { r.Numbers = []event.NumberTraced{{Line: 4, Text: "5"}} }, ItemEvidence, `line 4: "5"`},
		"ANumberOfAVerifiedResult": {"", []string{"1"}, func(r *event.BundleResult) {
			r.Numbers = []event.NumberTraced{{Line: 4, Result: "result-1", Text: "1"}}
		}, "", ""},
		"LimitsInAnotherLanguage": {"", []string{"1"}, func(r *event.BundleResult) { r.Sections = []string{"Grenzen der Arbeit"} }, "", ""},
		"LimitsInCapitals":        {"", []string{"1"}, func(r *event.BundleResult) { r.Sections = []string{"LIMITATIONS"} }, "", ""},
		"NoLimits":                {"", []string{"1"}, func(r *event.BundleResult) { r.Sections = []string{"Results", "Conclusion"} }, ItemLimits, "no section"},
		"KnownReferences":         {"", []string{"1"}, func(r *event.BundleResult) { r.References = []string{"knuth"} }, "", ""},
		"AnUnknownReference":      {"", []string{"1"}, func(r *event.BundleResult) { r.Unknown = []string{"knuth"} }, ItemReferences, `"knuth"`},
		"AFigureThatFailed":       {"", []string{"1"}, func(r *event.BundleResult) { r.Figures[0].Verdict, r.Figures[0].Why = FigureFailed, "no data" }, ItemFigures, `failed: "no data"`},
		"AFigureOfNoVerdict":      {"", []string{"1"}, func(r *event.BundleResult) { r.Figures[0].Verdict = "" }, ItemFigures, "errors"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for item, row := range papered(runs(t, c.baseline, c.values...), c.change) {
				if row.Holds != (item != c.fails) || !row.Holds && !strings.Contains(row.Findings[0], c.says) {
					t.Errorf("%s holds: %v, %q; want only %q to fail, with %q", item, row.Holds, row.Findings, c.fails, c.says)
				}
			}
		})
	}
}

// A number may follow from a result that was not verified, if the text names that result; a claim may
// not.
func TestNumbersOfWhatWasNotVerified(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{false, true} {
		s := runs(t, "", "1")
		s.result(ResultMain, "wrong", mae("0.5", ""))
		s.ran("9") // another figure than was claimed
		s.result(ResultMain, "best", mae("0.1", ""))
		s.ran("0.1")
		rows := papered(s, func(r *event.BundleResult) {
			r.Numbers = []event.NumberTraced{{Line: 2, Result: "result-2", Text: "9"}}
			if r.Named = []string{"result-1"}; named {
				r.Named = append(r.Named, "result-2")
			}
		})
		if row := rows[ItemEvidence]; row.Holds != named || !named && !strings.Contains(row.Findings[0], "result-2, which is differs and not named") {
			t.Errorf("a number of a result that differs, named %v, holds: %+v", named, row)
		}
		if row := rows[ItemLosers]; row.Holds != named {
			t.Errorf("a result that differs, named %v, is told: %+v", named, row)
		}
	}
}
