package study_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"lyceum/internal/event"
	. "lyceum/internal/society/stages/study"
)

var data = event.HashOf([]byte("data"))

func mae(value, tolerance string) event.Metric {
	return event.Metric{Data: data, Direction: Lower, Name: "mae", Tolerance: tolerance, Unit: "m", Value: value}
}

// result records a result in a branch of its own, and returns it.
func (s *tale) result(kind, id string, m ...event.Metric) *Result {
	s.t.Helper()
	s.prepare(KindRun, id, Main)
	s.save("run/"+id, id)
	b := s.claim(kind, "run/"+id, m...)
	s.take("researcher", b)
	return s.Result(b.ID)
}

func (s *tale) claim(kind, branch string, m ...event.Metric) *event.ResultRecorded {
	return &event.ResultRecorded{Answer: s.seq + 1, Branch: branch, Checkpoint: s.Branch(branch).Head, Entrypoint: "run.sh", ID: s.NewID("result"), Kind: kind, Metrics: m, Title: "t " + branch}
}

// ran has the next result run, which prints figures in both runs.
func (s *tale) ran(values ...string) {
	s.t.Helper()
	call := s.Try()
	seq := s.take("core", call)
	b := &event.ReproductionResult{Call: seq, Status: event.SameOutput, Fingerprint: event.HashOf(nil), Output: &event.Ref{Size: 3}}
	for i, name := range call.Metrics {
		b.Figures = append(b.Figures, event.Figure{Name: name, First: values[i], Second: values[i]})
	}
	s.take("core", b)
}

// saved checks that what is saved reads back as the same.
func (s *tale) saved() {
	s.t.Helper()
	text, err := json.Marshal(s.Study)
	if err != nil {
		s.t.Fatal(err)
	}
	again := new(Study)
	if err := json.Unmarshal(text, again); err != nil {
		s.t.Fatal(err)
	}
	if back, err := json.Marshal(again); err != nil || string(back) != string(text) {
		s.t.Errorf("it is read back as %s, want %s, %v", back, text, err)
	}
}

func TestMetricsAreChecked(t *testing.T) {
	t.Parallel()
	change := func(f func(*event.Metric)) []event.Metric {
		m := mae("1", "")
		f(&m)
		return []event.Metric{m}
	}
	for want, list := range map[string][]event.Metric{
		"1 to 32 metrics":     nil,
		"no direction":        change(func(m *event.Metric) { m.Direction = "" }),
		"no number":           change(func(m *event.Metric) { m.Value = "NaN" }),
		"exponent":            change(func(m *event.Metric) { m.Value = "1e-3" }),
		"the tolerance of":    change(func(m *event.Metric) { m.Tolerance = "inf" }),
		"less than 0":         change(func(m *event.Metric) { m.Tolerance = "-1" }),
		"no name of a metric": change(func(m *event.Metric) { m.Name = "a b" }),
		"measured on":         change(func(m *event.Metric) { m.Data = event.Hash{} }),
		"the unit":            change(func(m *event.Metric) { m.Unit = "a\nb" }),
		"twice":               {mae("1", ""), mae("2", "")},
	} {
		if err := CheckMetrics(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q", list, err, want)
		}
	}
}

func TestFiguresAreCompared(t *testing.T) {
	t.Parallel()
	score := mae("2", "")
	score.Direction = Higher
	other := func(f func(*event.Metric)) event.Metric { m := mae("1", ""); f(&m); return m }
	for _, c := range []struct {
		a, b      event.Metric
		want, why string
	}{
		{mae("1", ""), mae("2", ""), Better, ""},
		{mae("2", ""), mae("1", ""), Worse, ""},
		{score, func() event.Metric { m := score; m.Value = "1"; return m }(), Better, ""},
		{mae("1.00", ""), mae("1", ""), Tie, ""},
		{mae("1", "0.1"), mae("1.1", ""), Tie, ""},
		{mae("1", ""), mae("1.1", "0.1"), Tie, ""},
		{mae("1", "0.09"), mae("1.1", ""), Better, ""},
		{mae("1", ""), other(func(m *event.Metric) { m.Name = "rmse" }), NotComparable, "metric"},
		{mae("1", ""), other(func(m *event.Metric) { m.Unit = "km" }), NotComparable, "unit"},
		{mae("1", ""), other(func(m *event.Metric) { m.Direction = Higher }), NotComparable, "higher"},
		{mae("1", ""), other(func(m *event.Metric) { m.Data = event.HashOf(nil) }), NotComparable, "data"},
	} {
		if got := Compare(&c.a, &c.b); got.Outcome != c.want || !strings.Contains(got.Why, c.why) {
			t.Errorf("%+v against %+v: %+v, want %s", c.a, c.b, got, c.want)
		}
	}
}

func TestFiguresAreReadFromLines(t *testing.T) {
	t.Parallel()
	got := ReadFigures([]string{"mae", "n", "lost", "bad", "odd"}, []byte("metric mae 2\nmetrics mae 9\n xmetric mae 9\nmae 9\n  metric  mae\t1.50 \nmetric n 3\r\nmetric bad 1e5\nmetric odd 1 2\n"+
		"metric other 1\nmetric mae "+strings.Repeat("9", 600)))
	want := map[string]string{"mae": "1.50", "n": "3", "lost": "", "bad": "", "odd": ""}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
}

func TestAResultIsJudgedByItsRuns(t *testing.T) {
	t.Parallel()
	ok := func(first, second string) *event.ReproductionResult {
		return &event.ReproductionResult{Status: event.Differs, Fingerprint: data, Figures: []event.Figure{{Name: "mae", First: first, Second: second}}}
	}
	for _, c := range []struct {
		run           *event.ReproductionResult
		verdict, want string
	}{
		{ok("1.5", "1.50"), Verified, ""},
		{ok("1.6", "1.4"), Verified, ""},
		{ok("1.5", "1.61"), Differs, "claimed to be 1.5, and the second run printed 1.61"},
		{ok("9", "1.5"), Differs, "first run printed 9"},
		{ok("1.5", ""), Differs, "second run printed no line"},
		{&event.ReproductionResult{Status: event.NotRun, Fingerprint: data, Reason: "exit code 3"}, RunFailed, "exit code 3"},
		{&event.ReproductionResult{Status: event.NotRun, Reason: "no computers"}, Unchecked, "no computers"},
		{&event.ReproductionResult{Status: event.SameOutput, Fingerprint: data}, Unchecked, "does not say"},
	} {
		s := begin(t, Copilot)
		r := s.result(ResultMain, "a", mae("1.5", "0.1"))
		c.run.Call = s.take("core", s.Try())
		s.take("core", c.run)
		if r.Verdict != c.verdict || !strings.Contains(r.Why, c.want) || s.Try() != nil {
			t.Errorf("%+v: %s because %q, want %s with %q", c.run, r.Verdict, r.Why, c.verdict, c.want)
		}
	}
}

func TestAResultClosesItsBranch(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	r := s.result(ResultMain, "a", mae("1", ""))
	if s.Branch("run/a").Closed != r.Seq || s.MayCheckpoint(s.Branch("run/a")) == nil {
		t.Errorf("the branch is closed by %d, want %d", s.Branch("run/a").Closed, r.Seq)
	}
	s.forged("researcher", s.claim(ResultMain, "run/a", mae("2", "")))
	s.prepare(KindIdea, "x", Main)
	s.prepare(KindRun, "b", Main)
	s.forged("researcher", s.claim(ResultMain, "run/b", mae("2", ""))) // it has no checkpoint
	s.save("run/b", "b")
	s.save("idea/x", "x")
	good := s.claim(ResultMain, "run/b", mae("2", ""))
	for _, forge := range []func(*event.ResultRecorded){
		func(b *event.ResultRecorded) { b.ID = "result-9" },
		func(b *event.ResultRecorded) { b.Checkpoint-- },
		func(b *event.ResultRecorded) { b.Branch = "run/none" },
		func(b *event.ResultRecorded) { b.Branch, b.Checkpoint = "idea/x", s.Branch("idea/x").Head },
		func(b *event.ResultRecorded) { b.Kind = "other" },
		func(b *event.ResultRecorded) { b.Kind = ResultSlice },
		func(b *event.ResultRecorded) { b.Metrics = nil },
		func(b *event.ResultRecorded) { b.Because = []string{"result-7"} },
	} {
		b := *good
		b.Answer += 50
		forge(&b)
		s.forged("researcher", &b)
	}
	s.saved()
}

func TestCampaignsAreOfAResult(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	r := s.result(ResultMain, "a", mae("1", ""))
	s.ran("1")
	create := func(of string, ids ...string) *event.CampaignCreated {
		b := &event.CampaignCreated{Answer: s.seq + 1, ID: s.NewID("campaign"), Reason: "r", Result: of}
		for _, id := range ids {
			b.Slices = append(b.Slices, event.CampaignSlice{ID: id, Question: "q"})
		}
		return b
	}
	for _, b := range []*event.CampaignCreated{create("result-9", "x"), create(r.ID), create(r.ID, "x", "x"), create(r.ID, "../x"), create(r.ID, "")} {
		s.forged("researcher", b)
	}
	s.take("researcher", create(r.ID, "seeds", "size"))
	c := s.Campaign("campaign-1")
	name := s.SliceBranch(c, "seeds")
	if name != "analysis/a/campaign-1-seeds" {
		t.Fatalf("the branch of a slice is %s", name)
	}
	s.prepare(KindAnalysis, strings.TrimPrefix(name, "analysis/"), "run/a")
	s.save(name, "slice")
	b := s.claim(ResultSlice, name, mae("1.2", ""))
	b.Campaign, b.Slice = c.ID, "size"
	s.forged("researcher", b) // the branch of another slice
	b.Slice = "seeds"
	s.take("researcher", b)
	if c.Slice("seeds").Result != "result-2" || !strings.Contains(c.Line(), "1 of 2 slices") {
		t.Errorf("the campaign is %+v", c)
	}
	s.forged("researcher", create("result-2", "x")) // of a slice
	s.saved()
}

func TestARunIsOneThatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	s.result(ResultMain, "a", mae("1", ""))
	call := s.Try()
	for _, forge := range []func(*event.ReproductionCall){
		func(b *event.ReproductionCall) { b.Ref = "result-2" },
		func(b *event.ReproductionCall) { b.Entrypoint = "other.sh" },
		func(b *event.ReproductionCall) { b.Tree = event.TreeRef{} },
		func(b *event.ReproductionCall) { b.Metrics = nil },
	} {
		b := *call
		forge(&b)
		s.forged("core", &b)
	}
	seq := s.take("core", call)
	if s.Try() != nil {
		t.Error("it is run twice at once")
	}
	s.forged("core", &event.ReproductionResult{Call: seq, Status: event.SameOutput, Figures: []event.Figure{{Name: "other"}}})
	s.forged("core", &event.ReproductionResult{Call: seq, Status: event.SameOutput, Figures: []event.Figure{{Name: "mae", First: "NaN"}}})
	s.Abandon()
	if s.Try() == nil {
		t.Error("a fork does not run what its origin was running")
	}
	s.take("core", &event.ReproductionResult{Call: seq, Status: event.SameOutput})
	if s.Result("result-1").Verdict != "" {
		t.Error("a fork takes the answer to its origin's call")
	}
}

func TestBeatsNeedsBothVerified(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	base := s.result(ResultBaseline, "base", mae("2", ""))
	s.ran("2")
	s.take("researcher", &event.BaselineAccepted{Answer: s.seq + 1, By: ByReproduction, Result: base.ID})
	wrong := s.result(ResultMain, "wrong", mae("0.5", ""))
	s.ran("3")
	if yes, why := Beats(wrong, base); yes || !strings.Contains(why, "is differs") {
		t.Errorf("a figure that did not come out again beats: %v, %q", yes, why)
	}
	won := s.result(ResultMain, "won", mae("1", ""))
	if yes, why := Beats(won, base); yes || !strings.Contains(why, "not run yet") {
		t.Errorf("a figure that nobody has run beats: %v, %q", yes, why)
	}
	s.ran("1")
	if yes, why := Beats(won, base); !yes {
		t.Errorf("it does not beat: %s", why)
	}
	if yes, _ := Beats(base, won); yes {
		t.Error("the worse one beats")
	}
	better := s.result(ResultMain, "better", mae("0.9", ""))
	s.ran("0.9")
	text := strings.Join(s.Against(better), "\n")
	for _, want := range []string{"result-4 beats the baseline, result-1", "result-4 beats the best, result-3", "mae: better, 0.9 against 1 (-0.1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("it is told %q, want %q", text, want)
		}
	}
	if s.Best(won) != better {
		t.Errorf("the best is %+v", s.Best(won))
	}
	if lines := s.CompareBranches("run/better", "run/wrong"); !strings.Contains(lines[0], "does not beat") {
		t.Errorf("branches compare as %q", lines)
	}
	low := s.result(ResultMain, "low", mae("0.4", ""))
	s.ran("0.4")
	if yes, why := Beats(low, wrong); yes || !strings.Contains(why, "result-2 is differs") {
		t.Errorf("it beats a figure that did not come out again: %v, %q", yes, why)
	}
	account := s.Account()
	for _, want := range []string{"## Baseline", "result-2, main, differs", "claimed to be 0.5", "result-4, main, verified"} {
		if !strings.Contains(account, want) {
			t.Errorf("the account is %s, want %q", account, want)
		}
	}
	s.saved()
}

func TestArtifactsAreById(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	note := func(kind string, because ...string) *event.ArtifactRecorded {
		b := &event.ArtifactRecorded{Answer: s.seq + 1, ID: s.NewID(kind), Kind: kind, Title: "t", Because: because}
		if kind == KindDecision {
			b.Verdict, b.Action = "good", "go on"
		}
		return b
	}
	for _, kind := range ArtifactKinds {
		s.take("researcher", note(kind, "1"))
	}
	if a := s.Artifact("idea-1"); a == nil || a.Stage != Scout {
		t.Errorf("the idea is %+v", a)
	}
	s.take("researcher", note(KindDecision, "idea-1", "decision-1", s.card(Ideas, "t", "s"), "3"))
	newer := note(KindIdea)
	newer.Supersedes = "idea-1"
	s.take("researcher", newer)
	if s.Artifact("idea-1").Replaced != "idea-2" {
		t.Error("the idea is not replaced")
	}
	for _, b := range []*event.ArtifactRecorded{
		note("gossip"), note(KindDecision), note(KindDecision, "idea-9"), note(KindDecision, "0"), note(KindDecision, "01"), note(KindDecision, "99999"), note(KindDecision, ""),
		func() *event.ArtifactRecorded { b := note(KindDecision, "1"); b.Verdict = "fine"; return b }(),
		func() *event.ArtifactRecorded { b := note(KindDecision, "1"); b.Action = ""; return b }(),
		func() *event.ArtifactRecorded { b := note(KindReport); b.Verdict = "good"; return b }(),
		func() *event.ArtifactRecorded { b := note(KindReport); b.ID = "report-7"; return b }(),
		func() *event.ArtifactRecorded { b := note(KindIdea); b.Supersedes = "idea-1"; return b }(),
		func() *event.ArtifactRecorded { b := note(KindIdea); b.Supersedes = "report-1"; return b }(),
	} {
		s.forged("researcher", b)
	}
	s.saved()
}

func TestBaselinesAreVerifiedOrAPersons(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	r := s.result(ResultBaseline, "a", mae("1", ""))
	accept := func(by string, asked uint64) *event.BaselineAccepted {
		return &event.BaselineAccepted{Answer: s.seq + 1, By: by, Interaction: asked, Result: r.ID}
	}
	s.forged("researcher", accept(ByReproduction, 0)) // it was not run
	s.ran("7")
	s.forged("researcher", accept(ByReproduction, 0)) // it differs
	s.forged("researcher", accept(ByPerson, 9))       // nobody was asked
	s.take("person", &event.InteractionAnswered{Interaction: 8, Choice: "no"})
	s.forged("researcher", accept(ByPerson, 8))
	s.forged("researcher", &event.BaselineWaived{Answer: s.seq + 1, Interaction: 8, Reason: "r"})
	s.take("person", &event.InteractionAnswered{Interaction: 9, Choice: "yes"})
	s.take("researcher", accept(ByPerson, 9))
	s.forged("researcher", accept(ByPerson, 9)) // again
	if s.Baseline() != r {
		t.Errorf("the baseline is %+v", s.Baseline())
	}
	if err := s.MayPublish(r.ID, "name"); err == nil || !strings.Contains(err.Error(), "differs") {
		t.Errorf("what differs may be published: %v", err)
	}
	s.saved()
}

func TestTheGatesOpenByWhatIsThere(t *testing.T) {
	t.Parallel()
	lacks := func(s *tale) string {
		var out []string
		for _, g := range s.Lacks(Finalize) {
			out = append(out, g.Name)
		}
		return strings.Join(out, " ")
	}
	s := begin(t, Copilot)
	s.Paperless = true
	want := []string{"baseline-first idea-first result-first checked-paper", "idea-first result-first checked-paper", "result-first checked-paper", "checked-paper", ""}
	steps := []func(){
		func() {},
		func() {
			r := s.result(ResultBaseline, "a", mae("1", ""))
			s.ran("1")
			s.take("researcher", &event.BaselineAccepted{Answer: s.seq + 1, By: ByReproduction, Result: r.ID})
		},
		func() {
			s.take("researcher", &event.ArtifactRecorded{Answer: s.seq + 1, ID: "idea-1", Kind: KindIdea, Title: "t"})
		},
		func() { s.result(ResultMain, "b", mae("1", "")) },
		func() {
			s.take("researcher", &event.ArtifactRecorded{Answer: s.seq + 1, ID: "report-1", Kind: KindReport, Title: "t"})
		},
	}
	for i, step := range steps {
		step()
		if got := lacks(s); got != want[i] {
			t.Errorf("after step %d it lacks %q, want %q", i, got, want[i])
		}
	}
	s.Paperless = false
	if got := lacks(s); got != "checked-paper" {
		t.Errorf("with a paper to write it lacks %q", got)
	}
	s = begin(t, Copilot)
	s.take("person", &event.InteractionAnswered{Interaction: 5, Choice: "yes"})
	s.take("researcher", &event.BaselineWaived{Answer: 4, Interaction: 5, Reason: "there is none"})
	if got := lacks(s); got != want[1] {
		t.Errorf("after a waiver it lacks %q", got)
	}
}
