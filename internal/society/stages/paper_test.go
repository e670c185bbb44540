package stages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// writes is a study with a reviewer that has come to an outline, and a branch for its paper.
func writes(t *testing.T, settings string) talk {
	t.Helper()
	b := questtest.Created(stages.Society{}, 0, own()...)
	b.Agents[0].Name, b.Settings, b.Problem.Text = stages.Researcher, settings, "How fast is it?"
	r := b.Agents[0]
	r.Name, r.ToolNames = stages.Reviewer, []string{"submit_review"}
	b.Agents = append(b.Agents, r)
	k := talk{questtest.Begin(t, stages.Society{}, b)}
	k.Reply = noCards
	k.Start()
	k.baseline(t)
	k.does("submit_idea", `{"title":"i","text":"x"}`)
	k.result(t, "main", "lost", "3", "3")
	k.result(t, "main", "won", "1", "1")
	text, _ := told(t, k.does("submit_outline", `{"title":"o","claims":[{"id":"better","text":"It is better.","results":["result-3"]}]}`))
	if !strings.Contains(text, "outline-1 is submitted, with 1 claims") || k.study().Anchor != study.Write {
		t.Fatalf("the outline at %s is answered %q", k.study().Anchor, text)
	}
	k.branch("paper", "p")
	return k
}

const aPaper = `{"title":"t","source":"paper.md","bibliography":"refs.bib","figures":[{"id":"errors","caption":"c","program":"plot.sh","output":"errors.svg","data":["series.csv"]}]}`

// made answers the open bundle.call with a paper about which nothing is wrong, but for change.
func (k talk) made(t *testing.T, change func(*event.BundleResult)) []event.Event {
	t.Helper()
	open := k.Open("bundle.call", "")
	if len(open) != 1 {
		t.Fatalf("%d papers are being made, want 1", len(open))
	}
	call := k.Events[open[0]-1].Body.(*event.BundleCall)
	r := &event.BundleResult{Call: open[0], Files: []string{"paper.md", "paper.html"}, PDF: "missing", Sections: []string{"Limits"}, Text: &event.Text{Text: "IT IS BETTER, AS RESULT-3 SHOWS."}}
	tree := event.TreeRef(event.RefOf(fmt.Append(nil, call.Checkpoint)))
	r.Tree = &tree
	for _, o := range call.Outputs {
		r.Named = append(r.Named, o.Result)
	}
	for _, f := range call.Figures {
		r.Figures = append(r.Figures, event.FigureMade{ID: f.ID, Verdict: study.FigureSame})
	}
	if change != nil {
		change(r)
	}
	return k.Take("core", r)
}

func (k talk) reviews(args string) []event.Event {
	return k.Answer(stages.Reviewer, questtest.Calls(questtest.Call{Tool: "submit_review", Args: args}))
}

// again records the paper's branch anew, and submits it.
func (k talk) again() []event.Event {
	k.does("checkpoint", `{"message":"mended"}`)
	k.answers()
	return k.does("submit_paper", aPaper)
}

func TestAPaperFromOutlineToTheEnd(t *testing.T) {
	t.Parallel()
	k := writes(t, "")
	got := k.does("submit_paper", aPaper)
	if calls := all[*event.BundleCall](got); len(calls) != 1 || calls[0].Paper != "paper-1" || calls[0].Bibliography != "refs.bib" || len(calls[0].Outputs) != 3 || calls[0].Outputs[0].Verdict != study.Verified {
		t.Fatalf("a paper leads to %q, %+v", kinds(got), calls)
	}
	if len(all[*event.ToolAnswered](got)) != 0 {
		t.Error("it is answered before it is made")
	}
	k.Sound()
	got = k.made(t, nil)
	if kinds(got) != "paper.submitted review.begun model.call" && kinds(got) != "paper.submitted review.begun standing.shown model.call" {
		t.Fatalf("a paper that was made leads to %q", kinds(got))
	}
	if at := k.Open("model.call", stages.Researcher); len(at) != 0 {
		t.Error("the researcher goes on before its paper is reviewed")
	}
	window := words(k.State.Agent(stages.Reviewer))
	if !strings.Contains(window, "IT IS BETTER") || strings.Contains(window, "How fast is it?") {
		t.Errorf("the reviewer is shown %q, want the paper and nothing else", window)
	}
	k.Sound()
	got = k.reviews(`{"summary":"it may be","points":[{"severity":"major","text":"why"},{"severity":"minor","text":"how"}]}`)
	text, wrong := heard(t, got)
	for _, want := range []string{"paper-1, revision 1, is made: paper.md, paper.html. PDF: missing.", "- evidence: holds", "- figures: holds", "round 1 of 2", `point 1, major, open: "why"`, `point 2, minor, open: "how"`} {
		if wrong || !strings.Contains(text, want) {
			t.Errorf("the paper is answered %q, want %q", text, want)
		}
	}
	if len(k.Open("model.call", stages.Reviewer)) != 0 || len(k.Open("model.call", stages.Researcher)) != 1 {
		t.Errorf("after the review, asked are %v and %v", k.Open("model.call", stages.Reviewer), k.Open("model.call", stages.Researcher))
	}
	got = k.does("move_anchor", `{"to":"finalize","reason":"r"}`)
	if b := all[*event.PolicyBlocked](got); len(b) != 1 || b[0].By[0].Policy != study.CheckedPaper {
		t.Errorf("with open points the end leads to %q", kinds(got))
	}
	refused(t, k.does("answer_point", `{"point":1,"how":"mended","text":"x"}`), "submit the mended paper first")
	refused(t, k.does("answer_point", `{"point":1,"how":"warning","text":"x"}`), "how must be mended, slice, rebutted")
	refused(t, k.does("submit_review", `{"summary":"x","source":"reviewer"}`), "none of the quest's materials")
	if text, _ := told(t, k.does("answer_point", `{"point":2,"how":"rebutted","text":"it is said"}`)); text != "Point 2 is answered; 1 are open." {
		t.Errorf("a point is answered with %q", text)
	}
	k.again()
	k.made(t, nil)
	if w := words(k.State.Agent(stages.Reviewer)); !strings.Contains(w, "round 2") || strings.Contains(w, "it may be") {
		t.Errorf("in the second round the reviewer is shown %q, want a window of its own", w)
	}
	k.Sound()
	k.reviews(`{"summary":"it is","points":[{"severity":"minor","text":"style"}]}`)
	k.does("answer_point", `{"point":1,"how":"mended","text":"see the second part"}`)
	got = k.does("move_anchor", `{"to":"finalize","reason":"r","because":["paper-1","outline-1"]}`)
	left := all[*event.PointAnswered](got)
	if k.study().Anchor != study.Finalize || len(left) != 1 || left[0].How != study.Warning || left[0].Point != 3 {
		t.Fatalf("after two rounds the end leads to %q", kinds(got))
	}
	k.does("complete", `{"answer":"It is better."}`)
	got = k.Events
	done := all[*event.QuestFinished](got)
	if len(done) != 1 || len(done[0].Warnings) != 1 || !strings.Contains(done[0].Warnings[0], `point 3 of the review, minor: "style"`) {
		t.Errorf("the quest ends with %+v", done)
	}
	k.Sound()
}

// heard is what the researcher's call was answered, beside the reviewer's.
func heard(t *testing.T, events []event.Event) (string, bool) {
	t.Helper()
	return told(t, slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool { return e.Actor == stages.Reviewer }))
}

// words are what an agent's model is shown.
func words(a *agent.Agent) string {
	var out []string
	for _, m := range a.Transcript.Messages {
		for _, p := range m.Parts {
			out = append(out, p.Text.Text)
		}
	}
	return strings.Join(out, "\n")
}

func TestAPaperThatDoesNotHold(t *testing.T) {
	t.Parallel()
	k := writes(t, "")
	k.does("submit_paper", aPaper)
	text, _ := told(t, k.made(t, func(r *event.BundleResult) { r.Sections, r.Why = nil, "the computer has no TeX" }))
	if !strings.Contains(text, "PDF: missing: the computer has no TeX.") || !strings.Contains(text, "- limits: does not hold: no section") || !strings.Contains(text, "only a person can waive") || k.study().Reviewed != nil {
		t.Errorf("without limits it is answered %q", text)
	}
	got := k.does("move_anchor", `{"to":"finalize","reason":"r"}`)
	if b := all[*event.PolicyBlocked](got); len(b) != 1 || b[0].By[0].Policy != study.CheckedPaper {
		t.Errorf("the end leads to %q", kinds(got))
	}
	if err := stages.Of(k.State).MaySteer(&event.StudyOrder{Action: event.SteerWaive, What: "nonsense", Reason: "r"}); err == nil || !strings.Contains(err.Error(), "limits") {
		t.Errorf("nonsense is waived: %v", err)
	}
	k.says("I rest.")
	got = k.Take("person", &event.StudyOrder{Action: event.SteerWaive, What: study.ItemLimits, Reason: "it is a toy"})
	if len(all[*event.ReviewBegun](got)) != 1 || k.State.Waiting() {
		t.Fatalf("a waived item leads to %q, waiting %v", kinds(got), k.State.Waiting())
	}
	// Nobody waits for this review in a call: it begins a sitting, whose prompt has the points.
	got = k.reviews(`{"summary":"s","points":[{"severity":"minor","text":"the axes"}]}`)
	if len(all[*event.SittingBegun](got)) != 1 || !strings.Contains(k.window(), "the axes") {
		t.Errorf("the review leads to %q, and the researcher is shown %q", kinds(got), k.window())
	}
	k.does("answer_point", `{"point":1,"how":"rebutted","text":"they are there"}`)
	if got = k.does("move_anchor", `{"to":"finalize","reason":"r"}`); k.study().Anchor != study.Finalize {
		t.Errorf("with all answered the end leads to %q", kinds(got))
	}
	k.Sound()
}

func TestAPaperThatIsNotMade(t *testing.T) {
	t.Parallel()
	k := writes(t, "")
	k.does("submit_paper", aPaper)
	open := k.Open("bundle.call", "")[0]
	if _, err := k.Try("core", &event.BundleResult{Call: open, Tree: &event.TreeRef{}, Text: &event.Text{}}); err == nil || !strings.Contains(err.Error(), "other figures") {
		t.Errorf("a lying result is taken: %v", err)
	}
	text, wrong := told(t, k.Take("core", &event.BundleResult{Call: open, Error: "there is no paper.md"}))
	if !wrong || text != "The paper was not made: there is no paper.md" || k.study().Paper() != nil {
		t.Errorf("it is answered %q", text)
	}
	refused(t, k.does("submit_paper", `{"title":"t","source":"../x"}`), "is no file of the branch")
	refused(t, k.does("submit_paper", `{"title":"t","source":"a.md","branch":"run/won"}`), "no branch for a paper")
	refused(t, k.does("submit_outline", `{"title":"t","claims":[{"id":"a","text":"x","results":["result-9"]}]}`), "no such result")
	refused(t, k.does("answer_point", `{"point":1,"how":"rebutted","text":"x"}`), "There is no point 1")
}

// A call with more figures than an event holds has fewer of them, and one that is too long even so
// is refused.
func TestACallForAPaperFitsIntoAnEvent(t *testing.T) {
	t.Parallel()
	k := writes(t, "")
	for i := range 16 {
		k.branch("run", fmt.Sprint("m", i))
		var list []string
		for j := range 32 {
			list = append(list, fmt.Sprintf(`{"name":"m%d","direction":"lower","value":"1","unit":"%s","data":%q}`, j, strings.Repeat("u", 10), sum))
		}
		k.does("record_main_experiment", fmt.Sprintf(`{"title":%q,"entrypoint":"run.sh","metrics":[%s]}`, strings.Repeat("t", 150), strings.Join(list, ",")))
		k.answers(slices.Repeat([]string{"1"}, 32)...)
	}
	k.does("activate_branch", `{"name":"paper/p"}`)
	k.answers()
	calls := all[*event.BundleCall](k.does("submit_paper", aPaper))
	if len(calls) != 1 || len(calls[0].Outputs) != 19 || len(calls[0].Outputs[5].Metrics) > 8 {
		t.Fatalf("the call has %+v", calls)
	}
}

func TestAReviewerThatComesToNoEnd(t *testing.T) {
	t.Parallel()
	t.Run("ItTalks", func(t *testing.T) {
		t.Parallel()
		k := writes(t, "")
		k.does("submit_paper", aPaper)
		k.made(t, nil)
		k.Answer(stages.Reviewer, questtest.Says("Fine."))
		if w := words(k.State.Agent(stages.Reviewer)); strings.Count(w, "Hand your review in with submit_review") != 1 {
			t.Errorf("it is shown %q", w)
		}
		k.Answer(stages.Reviewer, questtest.Says("Fine."))
		text, _ := told(t, k.Answer(stages.Reviewer, questtest.Says("Fine.")))
		if !strings.Contains(text, "came to no end") || k.study().Rounds != 0 {
			t.Errorf("it is answered %q", text)
		}
		k.again()
		k.made(t, nil)
		if text, _ := heard(t, k.reviews(`{"summary":"fine"}`)); !strings.Contains(text, "round 1 of 2") || len(k.study().Lacks(study.Finalize)) != 0 {
			t.Errorf("the next one is answered %q", text)
		}
		k.Sound()
	})
	t.Run("ItsModelFails", func(t *testing.T) {
		t.Parallel()
		k := writes(t, "")
		k.does("submit_paper", aPaper)
		k.made(t, nil)
		got := k.Answer(stages.Reviewer, questtest.Fails(model.Refused))
		if g := all[*event.ReviewGiven](got); len(g) != 1 || g[0].Error != "trouble" {
			t.Errorf("a failed reviewer leads to %q", kinds(got))
		}
		if text, _ := told(t, got); !strings.Contains(text, "came to no end") {
			t.Errorf("it is answered %q", text)
		}
		k.Sound()
	})
	t.Run("ItIsAskedForWhatItMayNotSay", func(t *testing.T) {
		t.Parallel()
		k := writes(t, "")
		k.does("submit_paper", aPaper)
		k.made(t, nil)
		refused(t, k.reviews(`{"summary":"s","points":[{"severity":"grave","text":"x"}]}`), "major or minor")
		refused(t, k.reviews(`{"summary":" "}`), "The summary must have")
		if k.study().Reviewed == nil {
			t.Error("the review is over")
		}
	})
}

// A review of the materials is handed in when its points are those of its file, as far as that can be
// read: nothing invented, and nothing left out.
func TestAReviewOfTheMaterialsIsReadAgainstItsFile(t *testing.T) {
	t.Parallel()
	const args = `{"summary":"s","source":"old/r.md","points":[{"severity":"major","text":"the data leak","quotes":["the months leak"]}]}`
	begins := func(t *testing.T) (talk, uint64) {
		t.Helper()
		k := writes(t, `{"anchor":"scout","materials":["old"],"mode":"copilot","reports":true,"runner":"native"}`)
		refused(t, k.does("submit_review", `{"summary":"s","source":"old/r.md","points":[{"severity":"major","text":"x"}]}`), "Point 1 quotes nothing")
		got := k.does("submit_review", args)
		call := all[*event.ReportCall](got)
		if len(call) != 1 || call[0].Source != "old/r.md" || call[0].Points != 1 || len(all[*event.ReviewGiven](got)) != 0 {
			t.Fatalf("a review of the materials leads to %q, want it read first", kinds(got))
		}
		return k, k.Open("report.call", "")[0]
	}
	for name, c := range map[string]struct {
		result event.ReportResult
		want   string
	}{
		"ThatIsNotThere":         {event.ReportResult{Error: "it is no text"}, "The review was not read: it is no text"},
		"ThatDoesNotSayIt":       {event.ReportResult{Absent: []int64{1}}, `point 1 quotes "the months leak", which is not in "old/r.md"`},
		"OfWhichSomethingIsLeft": {event.ReportResult{Items: 2, Left: []string{"2. Units"}}, `no point quotes "2. Units"`},
		"OfWhichMuchMoreIsLeft":  {event.ReportResult{Items: 40, Left: []string{"2. Units"}, More: 20}, "and 20 more that the file lists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, seq := begins(t)
			r := c.result
			r.Call = seq
			refused(t, k.Take("core", &r), c.want)
			k.Sound()
		})
	}
	t.Run("ThatSaysIt", func(t *testing.T) {
		t.Parallel()
		k, seq := begins(t)
		got := k.Take("core", &event.ReportResult{Call: seq, Items: 1})
		if g := all[*event.ReviewGiven](got); len(g) != 1 || g[0].Source != "old/r.md" || g[0].Points[0].Text != "the data leak" {
			t.Errorf("points that are the file's lead to %q", kinds(got))
		}
		k.Sound()
	})
}

// A review that came with a message is read against what was sent, and no other file is.
func TestAReviewOfAMessageIsTheFileThatWasSent(t *testing.T) {
	t.Parallel()
	const args = `{"summary":"s","source":"files/7/r.md","points":[{"severity":"major","text":"the data leak","quotes":["the months leak"]}]}`
	k := writes(t, `{"anchor":"scout","dropped":true,"mode":"copilot","runner":"native"}`)
	refused(t, k.does("submit_review", args), "nor a file that came with a message")
	sent := event.RefOf([]byte("1. the months leak"))
	k.study().Apply(event.Event{Seq: 7, Type: "files.call", Body: &event.FilesCall{Folder: "files/7", Message: 7, Files: []event.FileCopy{{Name: "r.md", Ref: sent}}}})
	call := all[*event.ReportCall](k.does("submit_review", args))
	if len(call) != 1 || call[0].Ref == nil || *call[0].Ref != sent {
		t.Fatalf("the file that was sent is read as %+v", call)
	}
	for name, forged := range map[string]*event.ReportCall{
		"another file":         {Answer: 900, Source: "files/7/r.md", Ref: new(event.RefOf([]byte("else")))},
		"one of the beginning": {Answer: 900, Source: "files/7/r.md"},
		"one that nobody sent": {Answer: 900, Source: "files/8/r.md", Ref: &sent},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken for the one that was sent", name)
				}
			}()
			k.study().Apply(event.Event{Seq: 901, Type: "report.call", Body: forged})
		}()
	}
}

// Reviews of before come from the materials: a round of their own. A quest of before did not
// compare them with their files, and does not when it is replayed.
func TestReviewsFromMaterials(t *testing.T) {
	t.Parallel()
	k := writes(t, `{"anchor":"scout","mode":"copilot","runner":"native","materials":["old/reviews","notes.md"]}`)
	for _, source := range []string{"", "old", "old/reviewsx", "old/reviews/../../x", "/old/reviews/a"} {
		refused(t, k.does("submit_review", fmt.Sprintf(`{"summary":"s","source":%q}`, source)), "none of the quest's materials")
	}
	got := k.does("submit_review", `{"summary":"s","source":"old/reviews/two.md","points":[{"severity":"major","text":"the data leak"}]}`)
	if g := all[*event.ReviewGiven](got); len(g) != 1 || g[0].Source != "old/reviews/two.md" || g[0].Points[0].Number != 1 {
		t.Fatalf("a review of the materials leads to %q", kinds(got))
	}
	k.does("submit_paper", aPaper)
	k.made(t, nil)
	if text, _ := heard(t, k.reviews(`{"summary":"fine"}`)); !strings.Contains(text, "the data leak") || !strings.Contains(text, "round 2 of 2") {
		t.Errorf("the paper is answered %q", text)
	}
	if _, wrong := told(t, k.does("answer_point", `{"point":1,"how":"mended","text":"split anew"}`)); wrong {
		t.Error("a point of before cannot be mended by the first paper")
	}
	refused(t, k.does("submit_review", `{"summary":"s","source":"notes.md"}`), "2 have passed")
	k.Sound()
}

// Who reads papers has no home and no tools, and is there where there are papers and a model.
func TestTheReviewerIsASecondAgent(t *testing.T) {
	t.Parallel()
	soc := stages.Society{}
	roles := soc.Roles(nil, true, true)
	if len(roles) != 2 || roles[1].Name != stages.Reviewer || roles[1].World || len(roles[1].Uses) != 0 || !slices.Equal(roles[1].Own, []string{"submit_review"}) || !roles[1].Alone || roles[0].Alone {
		t.Errorf("the roles are %+v", roles)
	}
	if soc.Houses(&agent.Agent{Name: stages.Reviewer}) || !soc.Houses(&agent.Agent{Name: stages.Researcher}) {
		t.Error("who has a home?")
	}
	if roles := soc.Roles(nil, false, true); len(roles) != 1 {
		t.Errorf("without a model the roles are %+v", roles)
	}
	var _ quest.Beside = soc
	// Without one a paper is not reviewed, and its checklist is enough.
	k := begin(t, "", own()...)
	k.Start()
	k.baseline(t)
	k.does("submit_idea", `{"title":"i","text":"x"}`)
	k.result(t, "main", "won", "1", "1")
	k.does("submit_outline", `{"title":"o","claims":[{"id":"a","text":"x","results":["result-2"]}]}`)
	k.branch("paper", "p")
	k.does("submit_paper", aPaper)
	k.made(t, nil)
	if k.does("move_anchor", `{"to":"finalize","reason":"r"}`); k.study().Anchor != study.Finalize {
		t.Errorf("the study is at %s", k.study().Anchor)
	}
}

// What a fork takes over goes on: the paper is made again, the reviewer asked again.
func TestAForkAnywhereOfAPaper(t *testing.T) {
	t.Parallel()
	k := writes(t, "")
	from := len(k.Events)
	k.does("submit_paper", aPaper)
	k.made(t, nil)
	k.reviews(`{"summary":"s","points":[{"severity":"major","text":"why"}]}`)
	for n := from; n <= len(k.Events); n++ {
		f := talk{k.Fork(n, nil)}
		f.Take("person", &event.QuestResumed{})
		for range 20 {
			switch {
			case len(f.Open("bundle.call", "")) > 0:
				f.made(t, nil)
			case len(f.Open("model.call", stages.Reviewer)) > 0:
				f.reviews(`{"summary":"s","points":[{"severity":"major","text":"why"}]}`)
			case len(f.study().Papers) == 0 && len(f.Open("model.call", stages.Researcher)) > 0:
				f.does("submit_paper", aPaper)
			}
		}
		if s := f.study(); len(s.Papers) != 1 || len(s.Points) != 1 || s.Rounds != 1 || s.Reviewed != nil {
			t.Errorf("a fork at %d, %s, has %d papers, %d points, %d rounds", n, k.Events[n-1].Type, len(s.Papers), len(s.Points), s.Rounds)
		}
		f.Sound()
	}
}
