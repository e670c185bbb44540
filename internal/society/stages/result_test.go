package stages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// answers settles what the world is asked for: folders are put, and recorded as a tree of their
// own, and programs print what figures say.
func (k talk) answers(figures ...string) (out []event.Event) {
	for {
		switch {
		case len(k.State.Open()) > 0 && slices.Contains(stages.Of(k.State).Settings.Ask, "cost"):
			out = append(out, k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Choice: "yes"})...)
		case len(k.Open("folder.call", "")) > 0:
			out = append(out, k.Take("core", &event.FolderResult{Call: k.Open("folder.call", "")[0]})...)
		case len(k.Open("checkpoint.call", "")) > 0:
			seq := k.Open("checkpoint.call", "")[0]
			tree := event.TreeRef(event.RefOf(fmt.Append(nil, seq)))
			out = append(out, k.Take("core", &event.CheckpointResult{Call: seq, Files: 1, Size: 1, Tree: &tree})...)
		case len(k.Open("reproduction.call", "")) > 0 && len(figures) > 0:
			seq := k.Open("reproduction.call", "")[0]
			r := &event.ReproductionResult{Call: seq, Status: event.SameOutput, Fingerprint: event.HashOf(nil), Output: &event.Ref{Hash: event.HashOf(nil), Size: 1}}
			for i, name := range k.Events[seq-1].Body.(*event.ReproductionCall).Metrics {
				r.Figures = append(r.Figures, event.Figure{Name: name, First: figures[i], Second: figures[i]})
			}
			out = append(out, k.Take("core", r)...)
		default:
			return out
		}
	}
}

// branch prepares a line of work, goes there and records it.
func (k talk) branch(kind, id string) {
	for tool, args := range map[string]string{"prepare_branch": fmt.Sprintf(`{"kind":%q,"id":%q}`, kind, id)} {
		k.does(tool, args)
		k.answers()
	}
	k.does("activate_branch", fmt.Sprintf(`{"name":%q}`, kind+"/"+id))
	k.answers()
	k.does("checkpoint", `{"message":"as it is"}`)
	k.answers()
}

const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func claims(more, value string) string {
	return fmt.Sprintf(`{"title":"t","entrypoint":"run.sh",%s"metrics":[{"name":"mae","direction":"lower","value":%q,"data":%q}]}`, more, value, sum)
}

// result records a result in a branch of its own, and has it run.
func (k talk) result(t *testing.T, kind, id, value, printed string) string {
	t.Helper()
	k.branch("run", id)
	k.does("record_main_experiment", claims(fmt.Sprintf(`"kind":%q,`, kind), value))
	text, _ := told(t, k.answers(printed))
	return text
}

func (k talk) baseline(t *testing.T) {
	t.Helper()
	k.result(t, "baseline", "base", "2", "2")
	if got := k.does("confirm_baseline", `{"result":"result-1"}`); len(all[*event.BaselineAccepted](got)) != 1 {
		t.Fatalf("a verified baseline leads to %q", kinds(got))
	}
}

func TestAStudyFromBaselineToReport(t *testing.T) {
	t.Parallel()
	k := begin(t, `{"anchor":"scout","mode":"copilot","runner":"native","paper":"none"}`, own()...)
	k.Start()
	text := k.result(t, "baseline", "base", "2", "2.0")
	if !strings.Contains(text, "result-1 is recorded, and verified:") || k.study().Anchor != study.Baseline {
		t.Errorf("the baseline at %s is answered %q", k.study().Anchor, text)
	}
	move := all[*event.AnchorMoved](k.Events)
	if len(move) != 1 || move[0].By != "record_main_experiment" || move[0].From != study.Scout {
		t.Errorf("the moves are %+v", move)
	}
	got := k.does("submit_idea", `{"title":"i","text":"x"}`)
	if b := all[*event.PolicyBlocked](got); len(b) != 1 || b[0].By[0].Policy != study.BaselineFirst {
		t.Fatalf("an idea before there is a baseline leads to %q", kinds(got))
	}
	k.does("confirm_baseline", `{"result":"result-1"}`)
	if text, _ := told(t, k.does("submit_idea", `{"title":"i","text":"x","because":["result-1"]}`)); text != "idea-1 is recorded." || k.study().Anchor != study.Idea {
		t.Errorf("the idea at %s is answered %q", k.study().Anchor, text)
	}
	text = k.result(t, "main", "one", "1", "1")
	if !strings.Contains(text, "result-2 beats the baseline, result-1: both were verified.") || k.study().Anchor != study.Experiment {
		t.Errorf("the result at %s is answered %q", k.study().Anchor, text)
	}
	refused(t, k.does("record_main_experiment", claims("", "1")), "closed")
	refused(t, k.does("checkpoint", `{"message":"more"}`), "closed")
	text, _ = told(t, k.does("create_analysis_campaign", `{"result":"result-2","reason":"r","slices":[{"id":"seeds","question":"q"}]}`))
	if !strings.Contains(text, "analysis/one/campaign-1-seeds") || k.study().Anchor != study.Campaign {
		t.Fatalf("the campaign at %s is answered %q", k.study().Anchor, text)
	}
	refused(t, k.does("record_slice", claims(`"campaign":"campaign-1","slice":"seeds",`, "1")), "no branch")
	k.branch("analysis", "one/campaign-1-seeds")
	k.does("record_slice", claims(`"campaign":"campaign-1","slice":"seeds",`, "1.1"))
	if text, _ = told(t, k.answers("1.1")); !strings.Contains(text, "result-3 is recorded, and verified") {
		t.Errorf("the slice is answered %q", text)
	}
	got = k.does("move_anchor", `{"to":"finalize","reason":"r"}`)
	if b := all[*event.PolicyBlocked](got); len(b) != 1 || b[0].By[0].Policy != study.CheckedPaper {
		t.Errorf("without a report the end leads to %q", kinds(got))
	}
	k.does("record", `{"kind":"report","title":"what it is","text":"x"}`)
	if got = k.does("move_anchor", `{"to":"finalize","reason":"r","because":["result-2","report-1","campaign-1"]}`); len(all[*event.AnchorMoved](got)) != 1 {
		t.Errorf("with a report the end leads to %q", kinds(got))
	}
	text, _ = told(t, k.does("refresh_summary", `{}`))
	for _, want := range []string{"progress-1", "result-2, main, verified", "idea-1", "## Slices"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary is %q, want %q", text, want)
		}
	}
	k.says("I rest.")
	k.message("so?")
	if w := k.window(); !strings.Contains(w, "result-2, main, verified") || !strings.Contains(w, "report-1") {
		t.Errorf("the next prompt does not tell what was made: %s", w)
	}
	k.Sound()
}

func (k talk) study() *study.Study { return stages.Of(k.State).Study }

// A figure that does not come out again is told as such, beats nothing, and is no baseline
// without a person.
func TestAClaimThatDoesNotReproduceIsCaught(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	k.baseline(t)
	k.does("submit_idea", `{"title":"i","text":"x"}`)
	text := k.result(t, "main", "one", "0.1", "3")
	for _, want := range []string{"result-2 is recorded, and differs: mae is claimed to be 0.1, and the first run printed 3", "do not stand", "does not beat the baseline"} {
		if !strings.Contains(text, want) {
			t.Errorf("it is answered %q, want %q", text, want)
		}
	}
	k.does("confirm_baseline", `{"result":"result-2","reason":"I want it"}`)
	open := k.State.Open()
	if len(open) != 1 || !strings.Contains(open[0].Body.Question.Text, "differs") {
		t.Fatalf("%d questions are open: %+v", len(open), open)
	}
	refused(t, k.Take("person", &event.InteractionAnswered{Interaction: open[0].Seq, Choice: "no"}), "says no")
	k.does("confirm_baseline", `{"result":"result-2"}`)
	got := k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Choice: "yes"})
	if b := all[*event.BaselineAccepted](got); len(b) != 1 || b[0].By != study.ByPerson || b[0].Interaction == 0 {
		t.Errorf("a yes leads to %q", kinds(got))
	}
	refused(t, k.does("publish_baseline", `{"result":"result-2","name":"b"}`), "differs")
	k.Sound()
}

func TestRecordedArtifacts(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	got := k.does("record", `{"kind":"decision","title":"t","verdict":"good","action":"go on","reason":"it holds","text":"more","because":["1"]}`)
	if b := all[*event.ArtifactRecorded](got); len(b) != 1 || b[0].ID != "decision-1" || b[0].Text.Text != "it holds\n\nmore" || b[0].Branch != study.Main {
		t.Fatalf("a decision leads to %+v", b)
	}
	for args, want := range map[string]string{
		`{"kind":"decision","title":"t","verdict":"good","action":"a","reason":"r"}`:                      "rests on",
		`{"kind":"decision","title":"t","verdict":"good","action":"a","reason":"r","because":["idea-4"]}`: "no artifact",
		`{"kind":"decision","title":"t","verdict":"good","action":"a","because":["1"]}`:                   "a reason",
		`{"kind":"decision","title":"t","action":"a","reason":"r","because":["1"]}`:                       "verdict",
		`{"kind":"decision","title":"t","verdict":"good","reason":"r","because":["1"]}`:                   "action",
		`{"kind":"gossip","title":"t"}`:                           "no kind",
		`{"kind":"idea","title":"t"}`:                             "submit_idea",
		`{"kind":"report","title":"a\nb"}`:                        "one line",
		`{"kind":"report","title":"t","files":["../x"]}`:          "no file of your home",
		`{"kind":"report","title":"t","branch":"run/none"}`:       "no branch",
		`{"kind":"report","title":"t","supersedes":"decision-1"}`: "take the place",
		`{"kind":"report","title":"t","verdict":"good"}`:          "only a decision",
		`{"kind":"report","title":"t","more":1}`:                  "do not fit the tool",
	} {
		text, wrong := told(t, k.does("record", args))
		if !wrong || !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
			t.Errorf("%s is answered %q, error %v, want an error with %q", args, text, wrong, want)
		}
	}
	if n := len(all[*event.ArtifactRecorded](k.Events)); n != 1 {
		t.Errorf("%d artifacts are recorded", n)
	}
	k.Sound()
}

func TestResultsAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	k.branch("run", "one")
	metric := func(m string) string {
		return `{"title":"t","kind":"baseline","entrypoint":"run.sh","metrics":[` + m + `]}`
	}
	for args, want := range map[string]string{
		metric(`{"name":"mae","value":"1","data":"` + sum + `"}`):                       "no direction",
		metric(`{"name":"mae","direction":"lower","value":"NaN","data":"` + sum + `"}`): "no number",
		metric(`{"name":"mae","direction":"lower","value":"1e3","data":"` + sum + `"}`): "exponent",
		metric(`{"name":"mae","direction":"lower","value":1.5,"data":"` + sum + `"}`):   "do not fit the tool",
		metric(`{"name":"mae","direction":"lower","value":"1"}`):                        "SHA-256",
		metric(`{"name":"m a","direction":"lower","value":"1","data":"` + sum + `"}`):   "no name",
		metric(``): "1 to 32 metrics",
		strings.Replace(claims(`"kind":"baseline",`, "1"), "run.sh", "../run.sh", 1):              "no file of the branch",
		strings.Replace(claims(`"kind":"baseline","branch":"main",`, "1"), "run.sh", "run.sh", 1): "no checkpoint",
		claims(`"kind":"baseline","because":["result-1"],`, "1"):                                  "no artifact",
	} {
		refused(t, k.does("record_main_experiment", args), want)
	}
	refused(t, k.does("confirm_baseline", `{"result":"result-1"}`), "no result")
	refused(t, k.does("publish_baseline", `{"result":"result-1","name":"b"}`), "no result")
	refused(t, k.does("attach_baseline", `{"name":"../b"}`), "no name of a baseline")
	if len(k.Open("reproduction.call", "")) != 0 || len(k.study().Results) != 0 {
		t.Error("something is recorded")
	}
	k.Sound()
}

func TestAPersonWaivesTheBaseline(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	refused(t, k.does("waive_baseline", `{"reason":" "}`), "reason")
	k.does("waive_baseline", `{"reason":"nobody has one"}`)
	refused(t, k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Choice: "no", Text: "look again"}), "look again")
	k.does("waive_baseline", `{"reason":"nobody has one"}`)
	got := k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Choice: "yes"})
	if b := all[*event.BaselineWaived](got); len(b) != 1 || b[0].Reason != "nobody has one" {
		t.Fatalf("a yes leads to %q", kinds(got))
	}
	if got := k.does("submit_idea", `{"title":"i","text":"x"}`); len(all[*event.ArtifactRecorded](got)) != 1 {
		t.Errorf("an idea after a waiver leads to %q", kinds(got))
	}
	k.Sound()
}

func TestTheRulesAsk(t *testing.T) {
	t.Parallel()
	k := begin(t, `{"anchor":"scout","mode":"autonomous","runner":"native","ask":["baseline","idea","result","cost"]}`, own()...)
	k.Start()
	yes := func(want string) []event.Event {
		t.Helper()
		open := k.State.Open()
		if len(open) != 1 || !strings.Contains(open[0].Body.Question.Text, want) {
			t.Fatalf("%d questions are open: %+v, want one with %q", len(open), open, want)
		}
		return k.Take("person", &event.InteractionAnswered{Interaction: open[0].Seq, Choice: "yes"})
	}
	k.branch("run", "base")
	k.does("record_main_experiment", claims(`"kind":"baseline",`, "2"))
	if len(k.study().Results) != 0 {
		t.Error("a result is recorded before anybody has agreed")
	}
	yes("record the result")
	k.answers("2")
	k.does("confirm_baseline", `{"result":"result-1"}`)
	if b := all[*event.BaselineAccepted](yes("to be the baseline")); len(b) != 1 || b[0].By != study.ByPerson {
		t.Errorf("the baseline is %+v", b)
	}
	k.does("submit_idea", `{"title":"i","text":"x"}`)
	refused(t, k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Choice: "no", Text: "a poor one"}), "a poor one")
	if len(k.study().Artifacts) != 0 || k.study().Anchor != study.Baseline {
		t.Error("an idea is there that a person did not want")
	}
	k.does("submit_idea", `{"title":"i","text":"x"}`)
	yes("try this idea")
	k.branch("run", "one")
	k.does("record_main_experiment", claims("", "1"))
	yes("record the result")
	k.answers("1")
	k.does("create_analysis_campaign", `{"result":"result-2","reason":"r","slices":[{"id":"a","question":"q"}]}`)
	if len(all[*event.CampaignCreated](yes("spend on 1 slices"))) != 1 {
		t.Error("there is no campaign after a yes")
	}
	k.Sound()
}

func TestBaselinesTravel(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	k.baseline(t)
	k.does("publish_baseline", `{"result":"result-1","name":"naive"}`)
	open := k.Open("baseline.call", "")
	if len(open) != 1 {
		t.Fatal("the home is not asked")
	}
	entry := k.Events[open[0]-1].Body.(*event.BaselineCall).Entry
	if entry.Quest != k.State.Name || entry.Result != "result-1" || entry.Event.IsZero() || study.CheckEntry(entry) != nil {
		t.Errorf("what is published is %+v", entry)
	}
	if text, wrong := told(t, k.Take("core", &event.BaselineResult{Call: open[0]})); wrong || !strings.Contains(text, "published as naive") {
		t.Errorf("it is answered %q", text)
	}
	k.does("attach_baseline", `{"name":"naive"}`)
	refused(t, k.Take("core", &event.BaselineResult{Call: k.Open("baseline.call", "")[0], Error: "output.txt is not what was printed"}), "not what was printed")
	k.does("attach_baseline", `{"name":"naive"}`)
	bad := *entry
	bad.Metrics = nil
	if _, err := k.Try("core", &event.BaselineResult{Call: k.Open("baseline.call", "")[0], Entry: &bad}); err == nil {
		t.Error("a baseline without figures is taken")
	}
	got := k.Take("core", &event.BaselineResult{Call: k.Open("baseline.call", "")[0], Entry: entry})
	if calls := all[*event.ReproductionCall](got); len(calls) != 1 || calls[0].Tree != entry.Tree {
		t.Fatalf("what is attached leads to %q", kinds(got))
	}
	if text, wrong := told(t, k.answers("2")); wrong || !strings.Contains(text, "result-2 is recorded, and verified") {
		t.Errorf("it is answered %q", text)
	}
	if got := k.does("confirm_baseline", `{"result":"result-2"}`); len(all[*event.BaselineAccepted](got)) != 1 {
		t.Errorf("what was run here leads to %q", kinds(got))
	}
	k.Sound()
}

// A fork anywhere records nothing twice, and runs what its origin was running.
func TestAForkAnywhereOfResults(t *testing.T) {
	t.Parallel()
	k := begin(t, "", own()...)
	k.Start()
	k.baseline(t)
	k.does("publish_baseline", `{"result":"result-1","name":"naive"}`)
	k.Take("core", &event.BaselineResult{Call: k.Open("baseline.call", "")[0]})
	k.does("submit_idea", `{"title":"i","text":"x"}`)
	k.result(t, "main", "one", "1", "1")
	for n := 3; n <= len(k.Events); n++ {
		f := talk{k.Fork(n, nil)}
		f.Take("person", &event.QuestResumed{})
		f.answers("2")
		for _, seq := range f.Open("baseline.call", "") {
			f.Take("core", &event.BaselineResult{Call: seq})
		}
		f.Sound()
		for _, r := range f.study().Results {
			if r.Verdict == "" {
				t.Errorf("fork at %d (%s): %s is never run", n, k.Events[n-1].Type, r.ID)
			}
		}
		seen := map[string]bool{}
		for _, e := range f.Events {
			at := ""
			switch b := e.Body.(type) {
			case *event.ResultRecorded:
				at = fmt.Sprint("result ", b.Answer, b.Part)
			case *event.ArtifactRecorded:
				at = fmt.Sprint("artifact ", b.Answer, b.Part)
			case *event.BaselineAccepted:
				at = fmt.Sprint("baseline ", b.Answer, b.Part)
			case *event.AnchorMoved:
				at = fmt.Sprint("move to ", b.To)
			}
			if at != "" && seen[at] {
				t.Errorf("fork at %d (%s): %s twice", n, k.Events[n-1].Type, at)
			}
			seen[at] = true
		}
	}
}
