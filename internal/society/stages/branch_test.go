package stages_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

func TestBranchTools(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) talk {
		k := begin(t, "", own()...)
		k.Start()
		return k
	}
	t.Run("PrepareOnceTheFolderIsThere", func(t *testing.T) {
		t.Parallel()
		k := start(t)
		if got := kinds(k.does("prepare_branch", `{"kind":"idea","id":"a"}`)); !strings.HasSuffix(got, "folder.call") {
			t.Fatalf("it leads to %q", got)
		}
		got := k.Take("core", &event.FolderResult{Call: k.Open("folder.call", "")[0]})
		if kinds(got) != "branch.prepared tool.answered model.call" {
			t.Errorf("the folder leads to %q", kinds(got))
		}
		k.Sound()
	})
	t.Run("PrepareNothingWithoutAFolder", func(t *testing.T) {
		t.Parallel()
		k := start(t)
		k.does("prepare_branch", `{"kind":"idea","id":"a"}`)
		got := k.Take("core", &event.FolderResult{Call: k.Open("folder.call", "")[0], Error: "a link is in the way"})
		if text, wrong := told(t, got); !wrong || !strings.Contains(text, "a link is in the way") || len(stages.Of(k.State).Study.Branches) != 1 {
			t.Errorf("it is answered %q, error %v", text, wrong)
		}
		k.Sound()
	})
	t.Run("RefuseWhatCannotBe", func(t *testing.T) {
		t.Parallel()
		for call, want := range map[[2]string]string{
			{"prepare_branch", `{"kind":"main","id":"a"}`}:                    "There is no kind",
			{"prepare_branch", `{"kind":"idea","id":"../a"}`}:                 "The id must",
			{"prepare_branch", `{"kind":"idea","id":"a","parent":"idea/no"}`}: "There is no line of work",
			{"prepare_branch", `{"kind":"analysis","id":"r/c-s"}`}:            "There is no line of work",
			{"activate_branch", `{"name":"idea/no"}`}:                         "There is no line of work",
			{"activate_branch", `{"name":"main"}`}:                            "You are at main already",
			{"checkpoint", `{"message":"  "}`}:                                "The message must",
		} {
			k := start(t)
			got := k.does(call[0], call[1])
			refused(t, got, want)
			if len(all[*event.FolderCall](got))+len(all[*event.CheckpointCall](got)) > 0 {
				t.Errorf("%v leads to %q", call, kinds(got))
			}
		}
	})
	t.Run("MakeACheckpointOfAChange", func(t *testing.T) {
		t.Parallel()
		k := start(t)
		record := func(r event.CheckpointResult) []event.Event {
			k.does("checkpoint", `{"message":"m"}`)
			r.Call = k.Open("checkpoint.call", "")[0]
			return k.Take("core", &r)
		}
		tree := event.TreeRef(event.RefOf([]byte("a")))
		if got := kinds(record(event.CheckpointResult{Tree: &tree, Files: 1})); got != "checkpoint.made tool.answered model.call" {
			t.Errorf("a change leads to %q", got)
		}
		for _, r := range []event.CheckpointResult{{Tree: &tree, Files: 1}, {Refused: []event.Skipped{{Path: "big", Reason: "large"}}}, {Error: "no room"}, {}} {
			if got := kinds(record(r)); got != "tool.answered model.call" {
				t.Errorf("%+v leads to %q", r, got)
			}
		}
		if n := len(stages.Of(k.State).Study.Checkpoints); n != 1 {
			t.Errorf("there are %d checkpoints", n)
		}
		k.Sound()
	})
	t.Run("InteractMakesOneOfAllButProgressAndAnswers", func(t *testing.T) {
		t.Parallel()
		for kind, want := range map[string]bool{study.Progress: false, study.Answer: false, study.Milestone: true, study.Approval: true, study.Request: true} {
			k := start(t)
			k.Take(stages.Researcher, &event.FileDiff{After: event.TreeRef(event.RefOf([]byte("home"))), Cause: event.CauseOutside})
			if got := kinds(k.does("interact", `{"kind":"`+kind+`","text":"x"}`)); strings.Contains(got, "checkpoint.call") != want {
				t.Errorf("%s leads to %q", kind, got)
			}
		}
	})
}
