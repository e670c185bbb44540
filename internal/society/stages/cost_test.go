package stages_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/stages/study"
)

// With ask: cost people are asked before whatever is run: a result, and a baseline that is brought.
func TestCostIsAskedAboutWhereverSomethingIsRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		does func(talk) []event.Event
		says string
		then event.Type
	}{
		"Result":   {func(k talk) []event.Event { return k.does("record_main_experiment", claims(`"kind":"baseline",`, "2")) }, `has "run.sh" run twice`, "reproduction.call"},
		"Baseline": {func(k talk) []event.Event { return k.does("attach_baseline", `{"name":"naive"}`) }, "bring the baseline naive", "baseline.call"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := begin(t, `{"anchor":"scout","mode":"copilot","runner":"native","ask":["cost"]}`, own()...)
			k.Start()
			k.branch("run", "base")
			before := kinds(c.does(k))
			open := k.State.Open()
			if len(open) != 1 || !strings.Contains(open[0].Body.Question.Text, c.says) || strings.Contains(before, string(c.then)) {
				t.Fatalf("it leads to %q, and asked is %+v", before, open)
			}
			if got := kinds(k.Take("person", &event.InteractionAnswered{Interaction: open[0].Seq, Choice: "yes"})); !strings.Contains(got, string(c.then)) {
				t.Errorf("a yes leads to %q, want %s", got, c.then)
			}
			k.Sound()
		})
	}
}

// A paper costs the programs of its figures and a reviewer: people are asked before it is made, which is
// before it is reviewed, and once for both. Without either nobody is asked.
func TestCostIsAskedAboutBeforeAReview(t *testing.T) {
	t.Parallel()
	const asks = `{"anchor":"scout","mode":"copilot","runner":"native","ask":["cost"]}`
	submits := func(t *testing.T, k talk, paper, want string) {
		t.Helper()
		got := k.does("submit_paper", paper)
		open := k.State.Open()
		if len(open) != 1 || !strings.Contains(open[0].Body.Question.Text, want) || len(all[*event.BundleCall](got)) > 0 {
			t.Fatalf("a paper leads to %q, and asked is %+v, want %q", kinds(got), open, want)
		}
	}
	says := func(k talk, choice, why string) []event.Event {
		return k.Take("person", &event.InteractionAnswered{Interaction: k.State.Open()[0].Seq, Choice: choice, Text: why})
	}
	k := writes(t, asks)
	submits(t, k, aPaper, "1 figures made, each twice, and it read by a reviewer if its checklist holds, round 1 of 2")
	if text, wrong := told(t, says(k, "no", "too dear")); !wrong || !strings.Contains(text, "too dear") || k.study().Paper() != nil {
		t.Errorf("a no is answered %q", text)
	}
	submits(t, k, aPaper, "round 1 of 2")
	if got := says(k, "yes", ""); len(all[*event.BundleCall](got)) != 1 {
		t.Fatalf("a yes leads to %q", kinds(got))
	}
	if got := k.made(t, nil); len(all[*event.ReviewBegun](got)) != 1 || len(k.State.Open()) != 0 {
		t.Errorf("what was agreed to leads to %q", kinds(got))
	}
	k.reviews(`{"summary":"s"}`)
	k.Sound()
	const bare = `{"title":"t","source":"paper.md"}`
	submits(t, k, bare, "to have it read by a reviewer if its checklist holds, round 2 of 2")
	says(k, "no", "")
	k.Take("person", &event.StudyOrder{Action: event.SteerWaive, What: study.ItemReview, Reason: "enough"})
	if got := k.does("submit_paper", bare); len(all[*event.BundleCall](got)) != 1 {
		t.Errorf("a paper that costs nothing leads to %q", kinds(got))
	}
	k.Sound()
}

// What is said with interact adds at most 4 KiB to the ledger, the answer and the next turn's call
// with it.
func TestInteractAddsLittleToTheLedger(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"Progress": `{"kind":"progress","text":"` + strings.Repeat("Ten bytes. ", 90) + `"}`,
		"Question": `{"kind":"decision_request","options":["this","that"],"text":"` + strings.Repeat("Ten bytes. ", 60) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			k := begin(t, "", own()...)
			k.Start()
			for range 6 { // so that there are exchanges to be shown
				k.does("interact", `{"kind":"answer","text":"`+strings.Repeat("x ", 400)+`"}`)
			}
			from := len(k.Events)
			k.does("interact", args)
			for open := k.Open("checkpoint.call", ""); len(open) > 0; open = k.Open("checkpoint.call", "") {
				k.Take("core", &event.CheckpointResult{Call: open[0]})
			}
			size := 0
			for _, e := range k.Events[from:] {
				if e.Type != "model.result" { // its words are the model's
					size += len(e.Line())
				}
			}
			if t.Logf("%d bytes: %s", size, kinds(k.Events[from:])); size > 4<<10 || !strings.Contains(kinds(k.Events[from:]), "interact.said") {
				t.Errorf("interact added %d bytes to the ledger, want at most %d: %s", size, 4<<10, kinds(k.Events[from:]))
			}
		})
	}
}
