package api_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// studied writes the ledger of a study that has a baseline, an idea, a result, a campaign, a card and
// questions, as a researcher with a computer leaves it.
func (s *server) studied(name string) {
	s.t.Helper()
	s.create(name, map[string]any{"society": "stages", "model": "demo"})
	w := s.writes(name)
	const who = "researcher"
	b := ledger.Batch{Quest: name}
	add := func(actor string, body event.Body) uint64 {
		e, err := event.Seal(name, w.seq+1, w.hash, event.Draft{Time: w.rt.Clock(), Actor: actor, Body: body})
		must(s.t, err)
		b.Events = append(b.Events, e)
		w.seq, w.hash = e.Seq, e.Hash
		return e.Seq
	}
	folder := func(text string) *event.TreeRef {
		file, err := s.rt.Blobs.Put(s.t.Context(), []byte(text))
		must(s.t, err)
		data, err := blob.Tree{{Name: "run.sh", Kind: blob.File, Mode: blob.ModeExec, Hash: file.Hash, Size: file.Size}}.Encode()
		must(s.t, err)
		ref, err := s.rt.Blobs.Put(s.t.Context(), data)
		must(s.t, err)
		return &event.TreeRef{Hash: ref.Hash, Size: ref.Size}
	}
	heads := map[string]uint64{}
	outputs := map[string]event.BundleOutput{}
	trees := map[string]*event.TreeRef{}
	save := func(branch, message, text string) {
		call := add(who, &event.CheckpointCall{Answer: w.seq + 1, Branch: branch, Message: message})
		trees[branch] = folder(text)
		add(who, &event.CheckpointResult{Call: call, Files: 1, Size: int64(len(text)), Tree: trees[branch]})
		heads[branch] = add(who, &event.CheckpointMade{Branch: branch, Message: message, Parent: heads[branch], Tree: *trees[branch]})
	}
	branch := func(kind, name, parent string) {
		at := w.seq + 1
		call := add(who, &event.FolderCall{Answer: at, Branch: name, Tree: trees[parent]})
		add(who, &event.FolderResult{Call: call})
		add(who, &event.BranchPrepared{Answer: at, Kind: kind, Name: name, Parent: parent, From: heads[parent], Tree: trees[parent]})
		heads[name], trees[name] = heads[parent], trees[parent]
		at = w.seq + 1
		call = add(who, &event.FolderCall{Answer: at, Branch: name, Tree: trees[parent]})
		add(who, &event.FolderResult{Call: call, There: true})
		add(who, &event.BranchActivated{Answer: at, Name: name})
	}
	result := func(id, kind, branch, value string, because ...string) {
		m := event.Metric{Data: event.HashOf([]byte("data")), Direction: "lower", Name: "mae", Unit: "m", Tolerance: "0.1", Value: value}
		x := &event.ResultRecorded{Answer: w.seq + 1, Branch: branch, Checkpoint: heads[branch], Entrypoint: "run.sh", ID: id, Kind: kind, Metrics: []event.Metric{m}, Title: kind, Summary: "It is " + value, Because: because}
		if kind == "slice" {
			x.Campaign, x.Slice = "campaign-1", "noise"
		}
		add(who, x)
		call := add("core", &event.ReproductionCall{Entrypoint: "run.sh", Metrics: []string{"mae"}, Ref: id, Tree: *trees[branch]})
		out, err := s.rt.Blobs.Put(s.t.Context(), []byte("metric mae "+value+"\n"))
		must(s.t, err)
		outputs[id] = event.BundleOutput{Metrics: []event.Metric{m}, Output: &out, Result: id, Title: kind, Verdict: "verified"}
		add("core", &event.ReproductionResult{Call: call, Status: event.SameOutput, Fingerprint: event.HashOf(nil), Output: &out, Figures: []event.Figure{{Name: "mae", First: value, Second: value}}})
	}
	long, err := s.rt.Blobs.Put(s.t.Context(), []byte(strings.Repeat("long ", 30_000)))
	must(s.t, err)
	card := strings.Repeat("a", 32)
	add("person", &event.QuestStarted{Version: "test"})
	save("main", "Begin", "echo\n")
	branch("run", "run/naive", "main")
	add(who, &event.FileDiff{After: *trees["main"], Cause: event.CauseOutside, Changes: []event.Change{{Kind: event.Added, Path: "work/run/naive/run.sh", Size: 3}}})
	save("run/naive", "Naive", "echo naive\n")
	result("result-1", "baseline", "run/naive", "2")
	add("core", &event.BaselineAccepted{By: "reproduction", Result: "result-1"})
	branch("idea", "idea/holt", "main")
	add(who, &event.ArtifactRecorded{ID: "idea-1", Kind: "idea", Title: "Holt", Text: event.Text{Text: "A line", Ref: &long}, Branch: "idea/holt", Files: []string{"run.sh"}})
	add(who, &event.ArtifactRecorded{ID: "idea-2", Kind: "idea", Title: "Holt, damped", Supersedes: "idea-1", Text: event.Text{Text: "x"}, Branch: "idea/holt"})
	add(who, &event.ArtifactRecorded{ID: "decision-1", Kind: "decision", Title: "Try it", Verdict: "good", Action: "run", Because: []string{"idea-2"}, Text: event.Text{Text: "x"}})
	branch("run", "run/holt", "idea/holt")
	save("run/holt", "Holt\n\nwith damping", "echo holt\n")
	result("result-2", "main", "run/holt", "1", "decision-1")
	add(who, &event.CampaignCreated{Answer: w.seq + 1, ID: "campaign-1", Reason: "Noise?", Result: "result-2", Slices: []event.CampaignSlice{{ID: "noise", Question: "Is it noise?"}, {ID: "size", Question: "Is it size?"}}})
	branch("analysis", "analysis/holt/campaign-1-noise", "run/holt")
	save("analysis/holt/campaign-1-noise", "Noise", "echo noise\n")
	result("result-3", "slice", "analysis/holt/campaign-1-noise", "1")
	add(who, &event.OutlineSubmitted{Answer: w.seq + 1, Claims: []event.OutlineClaim{{ID: "less", Results: []string{"result-2"}, Text: "The error is less."}}, ID: "outline-1", Title: "Less error"})
	branch("paper", "paper/p", "main")
	save("paper/p", "Paper", "# Less error\n")
	made := add(who, &event.BundleCall{Answer: w.seq + 1, Branch: "paper/p", Checkpoint: heads["paper/p"], Claims: []event.OutlineClaim{{ID: "less", Results: []string{"result-2"}, Text: "The error is less."}}, Outputs: []event.BundleOutput{outputs["result-2"], outputs["result-1"]}, Paper: "paper-1", Source: "run.sh", Title: "Less error", Tree: *trees["paper/p"]})
	add("core", &event.BundleResult{Call: made, Files: []string{"paper.md"}, Named: []string{"result-1", "result-2"}, Sections: []string{"Limits"}, Text: &event.Text{Text: "Less error"}, Tree: trees["paper/p"]})
	rows := []event.ChecklistRow{}
	for _, item := range []string{"evidence", "baselines", "losers", "limits", "references", "figures"} {
		rows = append(rows, event.ChecklistRow{Holds: true, Item: item})
	}
	add(who, &event.PaperSubmitted{Call: made, Checklist: rows, ID: "paper-1", Outline: "outline-1", Revision: 1, Title: "Less error", Tree: *trees["paper/p"]})
	answer := w.seq + 1
	read := add(who, &event.ReportCall{Answer: answer, Points: 2, Quotes: []event.ReportQuote{{Point: 1, Text: "Is it noise, or is it more?"}, {Point: 2, Text: "A word is missing here."}}, Source: "reports/first.md"})
	add("core", &event.ReportResult{Call: read, Items: 2})
	add(who, &event.ReviewGiven{Answer: answer, Paper: "paper-1", Round: 1, Source: "reports/first.md", Summary: "It is sound.", Points: []event.ReviewPoint{{Number: 1, Severity: "major", Text: "Is it noise?"}, {Number: 2, Severity: "minor", Text: "A word is missing."}}})
	add(who, &event.PointAnswered{Answer: w.seq + 1, Because: []string{"campaign-1"}, How: "slice", Paper: "paper-1", Point: 1, Text: "A slice asks."})
	branch("run", "run/open", "main")
	for i := range int64(2) {
		add(who, &event.CardWritten{Answer: w.seq + 1, ID: card, Kind: "ideas", Revision: i + 1, Stage: "idea", Summary: "Holt's way", Tags: []string{"trend"}, Text: event.Text{Text: "Whole card", Ref: &long}, Title: "Holt"})
	}
	add(who, &event.CardPromoted{Answer: w.seq + 1, ID: card, Revision: 2})
	add(who, &event.InteractSaid{Answer: w.seq + 1, Kind: "milestone", Reply: "threaded", Text: event.Text{Text: "Done", Ref: &long}})
	add(who, &event.InteractSaid{Answer: w.seq + 1, Kind: "decision_request", Reply: "blocking", Options: []string{"yes", "no"}, Text: event.Text{Text: "Go on?"}})
	add(who, &event.InteractionOpened{Answer: w.seq, Blocking: true, Options: []string{"yes", "no"}, Question: event.Text{Text: "Go on?"}})
	must(s.t, s.rt.Ledger.Append(context.Background(), b))
}

// askRecords asks for all that a study has come to.
func (w *world) askRecords(ask func(string, string, any, ...func(*http.Request)) answer) {
	w.studied("study")
	get := func(pattern, query string, code int) {
		w.t.Helper()
		ask("GET /api/quests/{quest}/"+pattern, "/api/quests/study/"+query, nil).want(w.t, code)
	}
	for _, path := range []string{"branches", "workflow", "node-traces", "memory", "interactions", "log", "artifacts", "documents"} {
		get(path, path, 200)
	}
	get("workflow", "workflow?after=2&limit=3", 200)
	get("log", "log?after=0&limit=1", 200)
	get("log", "log?branch=run/holt", 200)
	get("log", "log?branch=nothing", 400)
	get("node-traces", "node-traces?view=stage&branch=run/holt&stage=scout", 200)
	for ref, code := range map[string]int{"event:result-2": 200, "stage:run/holt:scout": 200, "open:run/open": 200, "event:nothing": 400} {
		get("node-traces", "node-traces?selection="+ref, code)
	}
	for _, id := range []string{"idea-1", "idea-2", "decision-1", "result-1", "result-2", "result-3", "campaign-1", "outline-1", "paper-1"} {
		get("artifacts/{artifact}", "artifacts/"+id, 200)
	}
	get("artifacts/{artifact}", "artifacts/nothing", 404)
	get("conversation", "conversation", 200)
	get("memory", "memory?kind=ideas&q=TREND+holt", 200)
	get("memory/{card}", "memory/"+strings.Repeat("a", 32), 200)
	get("compare", "compare?base=run/naive&head=result-2", 200)
	get("compare", "compare?base=run/naive&head=nothing", 400)
	get("diff", "diff?base=run/naive&head=run/holt&path=run.sh", 200)
	get("diff", "diff?base=run/naive&head=run/holt", 400)
	for _, name := range []string{"brief.md", "plan.md", "status.md", "quest.yaml", "SUMMARY.md"} {
		get("documents/{document}", "documents/"+name, 200)
	}
	get("documents/{document}", "documents/passwords", 404)
	ask("GET /api/quests/{quest}/interactions", "/api/quests/talk/interactions", nil).want(w.t, 200)
	must(w.t, os.MkdirAll(filepath.Join(w.rt.Home, "baselines", "naive"), 0o700))
	ask("GET /api/baselines", "/api/baselines", nil).want(w.t, 200)
}

// TestAReviewInAConversation: a review is said by whom it is from, with its points and what was done about each.
func TestAReviewInAConversation(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.studied("q")
	var c struct {
		Utterances []struct {
			Kind, By, Text string
			Review         *struct {
				Paper, Source           string
				Revision, Round, Rounds int64
				Points                  []struct {
					Number                      int64
					Severity, Text, How, Answer string
					Because                     []string
				}
			}
		}
	}
	s.do("GET", "/api/quests/q/conversation", nil).want(t, 200).into(t, &c)
	reviews := 0
	for _, u := range c.Utterances {
		if (u.Review != nil) != (u.Kind == "review") {
			t.Errorf("%s by %s: has a review: %v", u.Kind, u.By, u.Review != nil)
		}
		if r := u.Review; r != nil {
			reviews++
			got := fmt.Sprintf("%s: %s: %s %d, %d of %d, %s, %v", u.By, u.Text, r.Paper, r.Revision, r.Round, r.Rounds, r.Source, r.Points)
			want := "researcher: It is sound.: paper-1 1, 1 of 2, reports/first.md, [{1 major Is it noise? slice A slice asks. [campaign-1]} {2 minor A word is missing.   []}]"
			if got != want {
				t.Errorf("the review is\n%s\nwant\n%s", got, want)
			}
		}
	}
	if reviews != 1 {
		t.Errorf("%d reviews were said, want 1", reviews)
	}
}

// TestWhatAStudyHasComeToByTheAPI: branches, nodes, records, cards, questions and differences are
// there as the ledger has them.
func TestWhatAStudyHasComeToByTheAPI(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.studied("q")
	at := "/api/quests/q/"
	var branches struct {
		Current string
		Nodes   []struct {
			Ref      string
			Idea     string `json:"idea_id"`
			Current  bool
			LatestM  struct{ Value, Verdict, Outcome string } `json:"latest_metric"`
			Worktree string                                   `json:"worktree_root"`
		}
	}
	s.do("GET", at+"branches", nil).want(t, 200).into(t, &branches)
	i := slices.IndexFunc(branches.Nodes, func(n struct {
		Ref      string
		Idea     string `json:"idea_id"`
		Current  bool
		LatestM  struct{ Value, Verdict, Outcome string } `json:"latest_metric"`
		Worktree string                                   `json:"worktree_root"`
	}) bool {
		return n.Ref == "run/holt"
	})
	if i < 0 || branches.Nodes[i].Idea != "idea-2" || branches.Nodes[i].LatestM.Outcome != "better" || branches.Nodes[i].LatestM.Verdict != "verified" || branches.Current != "run/open" {
		t.Errorf("branches: %+v, want run/holt to come of idea-2 and to be better than the baseline", branches)
	}
	var traces struct {
		Events []struct {
			Ref     string `json:"selection_ref"`
			Payload map[string]any
		}
		Edges []struct{ From, To, Kind string }
	}
	s.do("GET", at+"node-traces", nil).want(t, 200).into(t, &traces)
	for _, want := range []string{"evidence event:idea-2 event:decision-1", "decision event:decision-1 event:result-2", "compares event:result-2 event:result-1", "supersedes event:idea-2 event:idea-1", "evidence event:campaign-1 event:result-3"} {
		if !slices.ContainsFunc(traces.Edges, func(e struct{ From, To, Kind string }) bool {
			return fmt.Sprintf("%s %s %s", e.Kind, e.From, e.To) == want
		}) {
			t.Errorf("edges: %+v, want %q among them", traces.Edges, want)
		}
	}
	s.do("GET", at+"node-traces?selection=event:result-2", nil).want(t, 200).into(t, &traces)
	if len(traces.Events) != 1 || traces.Events[0].Payload["id"] != "result-2" {
		t.Errorf("one node: %+v, want it with the body of its event", traces.Events)
	}
	var diff struct {
		Kind, Patch    string
		Added, Removed int64
	}
	s.do("GET", at+"diff?base=run/naive&head=run/holt&path=run.sh", nil).want(t, 200).into(t, &diff)
	if diff.Kind != "changed" || diff.Added != 1 || diff.Removed != 1 || !strings.Contains(diff.Patch, "+echo holt") {
		t.Errorf("the difference: %+v, want the line that changed", diff)
	}
	var asked struct {
		Open    uint64
		Threads []struct {
			Seq, Interaction uint64
			Status, Kind     string
			Options          []string
		}
	}
	s.do("GET", at+"interactions", nil).want(t, 200).into(t, &asked)
	if len(asked.Threads) != 2 || asked.Open != asked.Threads[0].Seq || asked.Threads[0].Interaction != asked.Open+1 || asked.Threads[0].Kind != "decision_request" || asked.Threads[1].Status != "said" {
		t.Errorf("interactions: %+v, want the question first, and open", asked)
	}
}
