package architect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/architect"
	"lyceum/internal/society/architect/task"
)

// planned is a quest with tasks, ready to be dispatched.
func planned(t testing.TB, set setting, units ...string) *world {
	t.Helper()
	w := start(t, set)
	has(t, w.does("plan_tasks", plan(units...)), "The plan holds")
	return w
}

func TestExecutorsAreMadeReadyBeforeTheArchitectsFirstTurn(t *testing.T) {
	t.Parallel()
	w := open(t, usual())
	w.ready = func(worker string) *event.ExecutorReady {
		if worker == "one" {
			return &event.ExecutorReady{Error: event.Text{Text: "another version"}}
		}
		return &event.ExecutorReady{Name: worker, Version: "1", Protocol: 1}
	}
	w.Start()
	if len(w.Open("model.call", "")) > 0 || len(w.Open("executor.call", "")) != 2 {
		t.Fatalf("it begins with %v", w.State.Calls)
	}
	w.settle()
	if len(w.Open("model.call", architect.Architect)) != 1 || len(all[*event.PromptCall](w)) > 0 {
		t.Fatalf("the architect is not asked: %s", w.tail())
	}
	w.does("plan_tasks", plan(unit("t1", ".")))
	has(t, w.does("dispatch", named("t1")), "by two is checked") // the other is left out
	config := all[*event.SessionConfig](w)
	if len(config) != 1 || config[0].Calls != 8 || config[0].Handovers != 6 {
		t.Errorf("session.config: got %+v, want one with the limits", config)
	}
}

func TestWithoutAnyExecutorTheQuestDoesNotStart(t *testing.T) {
	t.Parallel()
	w := open(t, usual())
	w.ready = func(string) *event.ExecutorReady { return &event.ExecutorReady{Error: event.Text{Text: "60 s"}} }
	w.Start()
	w.settle()
	if w.State.Status != quest.Failed || len(all[*event.ModelCall](w)) > 0 {
		t.Fatalf("the quest is %s, want it failed before a turn", w.State.Status)
	}
	has(t, w.State.Reason, "No executor is ready", "60 s")
}

func TestAPlanThatLacksSomethingIsRefusedNamingIt(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Include, set.NoTouch, set.Acceptance = []string{"cmd/", "docs/"}, []string{"cmd/secret/"}, []string{"make lint"}
	set.Session.Tasks = 2
	for name, tc := range map[string]struct{ args, want string }{
		"no tasks":         {plan(), "the plan has no task"},
		"no goal":          {`{"tasks":[{"id":"t1","goal":" ","include":["cmd/"]}]}`, "goal is empty"},
		"no include":       {`{"tasks":[{"id":"t1","goal":"x","include":[]}]}`, "include is empty"},
		"wider":            {plan(unit("t1", ".")), "the owner's scope is cmd/, docs/"},
		"twice":            {plan(unit("t1", "cmd/"), unit("t1", "docs/")), "another has this id"},
		"after nothing":    {plan(unit("t1", "cmd/", `"after":["t9"]`)), "after names"},
		"too many":         {plan(unit("t1", "cmd/a"), unit("t2", "cmd/b"), unit("t3", "docs/")), "there can be 2"},
		"unknown argument": {`{"tasks":[],"more":1}`, "do not fit"},
		"too long":         {plan(unit("t1", "cmd/", `"criteria":["`+strings.Repeat("x", 1000)+`","`+strings.Repeat("y", 1000)+`","`+strings.Repeat("z", 1000)+`","`+strings.Repeat("a", 1000)+`","`+strings.Repeat("b", 1000)+`","`+strings.Repeat("c", 1000)+`"]`)), "split it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, set)
			has(t, w.does("plan_tasks", tc.args), tc.want)
			if len(all[*event.PlanProposed](w)) > 0 {
				t.Error("the plan is proposed")
			}
		})
	}
	// What the owner wants is added, never dropped.
	w := planned(t, set, unit("t1", "cmd/"))
	got := all[*event.PlanApproved](w)[0].Tasks[0]
	if !slices.Contains(got.Acceptance, "make lint") || !slices.Contains(got.Scope.NoTouch, "cmd/secret/") {
		t.Errorf("the task: got %+v, want the owner's acceptance and no_touch in it", got)
	}
	w = start(t, usual()) // nobody else wants anything of it
	has(t, w.does("plan_tasks", `{"tasks":[{"id":"t1","goal":"x","include":["."]}]}`), "acceptance is empty")
	has(t, w.does("dispatch", named("t1")), "There is no task")
}

func TestAPersonApprovesThePlan(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Approve = true
	asked := func(t *testing.T) (*world, uint64) {
		w := start(t, set)
		if _, ok := w.tries("plan_tasks", plan(unit("t1", "cmd/"), unit("t2", "docs/"))); ok {
			t.Fatal("the plan is answered before anybody approved it")
		}
		open := w.Open("interaction.opened", architect.Architect)
		if len(open) != 1 || len(all[*event.PlanApproved](w)) > 0 || !w.State.Waiting() {
			t.Fatalf("nobody is asked: %s", w.tail())
		}
		has(t, all[*event.InteractionOpened](w)[0].Question.Text, "tasks:", "id: t1", "cmd/")
		return w, open[0]
	}
	t.Run("yes", func(t *testing.T) {
		w, q := asked(t)
		w.Take("person", &event.InteractionAnswered{Interaction: q, Choice: "yes"})
		b := all[*event.PlanApproved](w)
		if len(b) != 1 || b[0].Edited || b[0].Interaction != q || len(b[0].Tasks) != 2 {
			t.Fatalf("approved: got %+v", b)
		}
		has(t, w.does("dispatch", named("t1")), "is checked")
	})
	t.Run("no", func(t *testing.T) {
		w, q := asked(t)
		from := len(w.Events)
		w.Take("person", &event.InteractionAnswered{Interaction: q, Choice: "no", Text: "leave docs alone"})
		said, _ := w.answered(from, architect.Architect)
		has(t, said, "does not approve", "leave docs alone")
		has(t, w.does("dispatch", named("t1")), "There is no task")
	})
	t.Run("edited", func(t *testing.T) {
		w, q := asked(t)
		w.Take("person", &event.InteractionAnswered{Interaction: q, Text: "tasks:\n  - id: t1\n    colour: red\n"})
		open := w.Open("interaction.opened", architect.Architect)
		if len(open) != 1 || len(all[*event.PlanApproved](w)) > 0 {
			t.Fatalf("a wrong plan is not asked about again: %s", w.tail())
		}
		has(t, all[*event.InteractionOpened](w)[1].Question.Text, "cannot be taken", "colour")
		w.Take("person", &event.InteractionAnswered{Interaction: open[0], Text: "tasks:\n  - id: t1\n    goal: less\n    include: [cmd/a.go]\n    acceptance: [\"true\"]\n"})
		b := all[*event.PlanApproved](w)
		if len(b) != 1 || !b[0].Edited || len(b[0].Tasks) != 1 || b[0].Tasks[0].Goal != "less" {
			t.Fatalf("approved: got %+v", b)
		}
		has(t, w.does("dispatch", named("t2")), "There is no task")
	})
}

// TestAPersonSetsTheMode: whether plans are approved is for a person to say at any time, also while one
// waits for it.
func TestAPersonSetsTheMode(t *testing.T) {
	t.Parallel()
	mode := func(w *world, want string) {
		t.Helper()
		if modes, now := w.State.Modes(); len(modes) != 2 || now != want {
			t.Errorf("the quest has the modes %v and is in %q, want %q", modes, now, want)
		}
	}
	t.Run("before a plan", func(t *testing.T) {
		t.Parallel()
		w := start(t, usual())
		mode(w, "auto")
		w.Take("person", &event.ModeSet{Mode: "approve"})
		mode(w, "approve")
		if _, ok := w.tries("plan_tasks", plan(unit("t1", "."))); ok || len(w.Open("interaction.opened", architect.Architect)) != 1 {
			t.Fatalf("the plan holds though nobody has approved it: %s", w.tail())
		}
	})
	t.Run("while a plan waits", func(t *testing.T) {
		t.Parallel()
		set := usual()
		set.Approve = true
		w := start(t, set)
		mode(w, "approve")
		w.tries("plan_tasks", plan(unit("t1", ".")))
		from := len(w.Events)
		w.Take("person", &event.ModeSet{Mode: "auto"})
		said, _ := w.answered(from, architect.Architect)
		has(t, said, "The plan holds")
		if b := all[*event.PlanApproved](w); len(b) != 1 || b[0].Interaction != 0 || len(w.Open("interaction.opened", "")) != 0 || len(w.State.Questions) != 0 {
			t.Errorf("the plan was approved by %+v, and %v is still asked; want it taken without an answer", b, w.State.Questions)
		}
		has(t, w.does("dispatch", named("t1")), "is checked")
	})
	t.Run("after a no", func(t *testing.T) {
		t.Parallel()
		set := usual()
		set.Approve = true
		w := start(t, set)
		w.tries("plan_tasks", plan(unit("t1", ".")))
		w.Take("person", &event.QuestPaused{}) // so that both words are there before the rules go on
		w.Take("person", &event.InteractionAnswered{Interaction: w.Open("interaction.opened", architect.Architect)[0], Choice: "no"})
		w.Take("person", &event.ModeSet{Mode: "auto"})
		from := len(w.Events)
		w.Take("person", &event.QuestResumed{})
		said, _ := w.answered(from, architect.Architect)
		has(t, said, "does not approve")
	})
	t.Run("to none", func(t *testing.T) {
		t.Parallel()
		w := start(t, usual())
		for _, bad := range []string{"", "Auto", "plan\x1b[2J"} {
			if err := w.State.Accepts("person", &event.ModeSet{Mode: bad}); err == nil || !strings.Contains(err.Error(), "want auto or approve") || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("the mode %q: %v, want it refused with those that there are", bad, err)
			}
		}
		if err := w.State.Accepts("person", &event.ModeSet{Mode: "auto", Inbox: w.State.Inbox}); w.State.Inbox > 0 && err == nil {
			t.Error("a word is taken twice")
		}
	})
}

func TestThePersonIsAskedAndTheAnswerComesBack(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	if _, ok := w.tries("clarify", `{"question":"Which name?","options":["a","b"]}`); ok {
		t.Fatal("it is answered before anybody has")
	}
	from := len(w.Events)
	w.Take("person", &event.InteractionAnswered{Interaction: w.Open("interaction.opened", "")[0], Choice: "b"})
	said, _ := w.answered(from, architect.Architect)
	has(t, said, "A person answers: b")
	has(t, w.does("clarify", `{}`), "Give a question")
	has(t, w.does("clarify", `{"task":"t1","answer":"x"}`), "No executor")
}

// TestAQuestWaitsForAPersonAfterARun: the clock of a run that is over keeps nobody.
func TestAQuestWaitsForAPersonAfterARun(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "."))
	has(t, w.does("dispatch", named("t1")), "is checked")
	if len(w.Open("timer.set", "")) == 0 {
		t.Fatal("no timer is open: the test shows nothing")
	}
	if _, ok := w.tries("clarify", `{"question":"Is that enough?"}`); ok {
		t.Fatal("it is answered before anybody has")
	}
	if !w.State.Waiting() {
		t.Error("only a person can go on, and the quest does not wait for one")
	}
}

func TestASnapshotComesBeforeEachHandoverAndItsHashFollowsFromTheEvents(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "."))
	w.work = func(w *world, worker string, _ uint64) *event.PromptResult { // without a manifest
		return &event.PromptResult{Stop: event.StopEnd, Text: event.Text{Text: "done"}}
	}
	w.does("dispatch", named("t1"))
	var last *event.TaskSnapshot
	var at uint64
	for _, e := range w.Events {
		switch b := e.Body.(type) {
		case *event.TaskSnapshot:
			last, at = b, e.Seq
			if len(b.Events) > 64 || len(b.Events) == 0 {
				t.Fatalf("a snapshot of %d events", len(b.Events))
			}
			if b.Hash != architect.SnapshotHash(b.Events) {
				t.Error("the hash is not that of the events")
			}
			for _, s := range b.Events {
				if w.Events[s.Seq-1].Hash != s.Hash {
					t.Errorf("event %d has another hash", s.Seq)
				}
			}
		case *event.HandoverBegun:
			if last == nil || b.Snapshot != at {
				t.Fatalf("run %d begins without a snapshot of its own", b.Run)
			}
			if !b.Repair {
				p, err := task.DecodePackage([]byte(b.Package.Text))
				if err != nil || string(p.Encode()) != b.Package.Text || p.Context != last.Hash.String() || p.Runtime.Dir != "/home/agent" {
					t.Errorf("the package does not read back: %v\n%s", err, b.Package.Text)
				}
			}
			last = nil
		}
	}
	// What the executor hears is the package and the snapshot.
	for _, b := range all[*event.MessageSent](w) {
		if b.To == "one" {
			has(t, b.Text.Text, "task_id: t1", "the plan: t1")
			lacks(t, b.Text.Text, "Add a command")
			break
		}
	}
	// The same events give the same hash, others another.
	list := []event.SnapshotEvent{{Seq: 1, Hash: event.HashOf([]byte("a"))}, {Seq: 2, Hash: event.HashOf([]byte("b"))}}
	if architect.SnapshotHash(list) != architect.SnapshotHash(slices.Clone(list)) || architect.SnapshotHash(list) == architect.SnapshotHash(list[:1]) {
		t.Error("the hash does not follow from the events")
	}
}

func TestASnapshotHasAtMost64Events(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "."))
	for i := range 100 {
		w.Take("person", &event.UserMessage{Text: event.Text{Text: fmt.Sprint("word ", i)}})
	}
	w.does("dispatch", named("t1"))
	got := all[*event.TaskSnapshot](w)[0]
	if len(got.Events) != 64 || !strings.Contains(got.Text.Text, "word 99") || strings.Contains(got.Text.Text, "word 20\n") {
		t.Errorf("the snapshot has %d events, want the last 64", len(got.Events))
	}
}

// faulty are worlds in which a run comes to nothing, and what that is.
var faulty = map[string]struct {
	spoil    func(w *world)
	repairs  bool
	findings string
}{
	event.ErrorScope: {func(w *world) {
		w.inspect = func(*event.InspectionCall) *event.InspectionResult { return outside("go.mod") }
	}, true, "go.mod"},
	event.ErrorManifest: {func(w *world) { w.work = silent }, true, "there is no manifest"},
	event.ErrorAcceptance: {func(w *world) {
		w.accept = func(c *event.AcceptanceCall) *event.TestReport { return reported(c, true) }
	}, true, "--- FAIL: TestIt"},
	event.ErrorExecutor: {func(w *world) {
		w.work = func(*world, string, uint64) *event.PromptResult {
			return &event.PromptResult{Error: event.Text{Text: "it died"}}
		}
	}, true, "it died"},
	event.ErrorMemory: {func(w *world) {
		w.work = func(*world, string, uint64) *event.PromptResult {
			return &event.PromptResult{Ended: "memory", Error: event.Text{Text: "the agent has ended"}}
		}
	}, false, ""},
	event.ErrorSize: {func(w *world) {
		w.inspect = func(*event.InspectionCall) *event.InspectionResult {
			return &event.InspectionResult{Files: 30, Oversized: true, Error: event.Text{Text: "the files have 30 MiB"}}
		}
	}, true, "30 MiB"},
	event.ErrorRefused: {func(w *world) {
		w.work = func(*world, string, uint64) *event.PromptResult { return &event.PromptResult{Stop: event.StopRefusal} }
	}, false, ""},
	event.ErrorBase: {func(w *world) {
		w.home = func(string) *event.HomeRenewed { return &event.HomeRenewed{Error: event.Text{Text: "no room"}} }
	}, false, ""},
}

// TestAnExecutorThatIsGoneEachTimeEndsItsTask: whatever befalls its prompts, there is an end.
func TestAnExecutorThatIsGoneEachTimeEndsItsTask(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	w.work = func(*world, string, uint64) *event.PromptResult {
		return &event.PromptResult{Stop: event.StopInterrupted}
	}
	w.does("plan_tasks", plan(unit("t1", ".")))
	w.does("dispatch", named("t1"))
	for _, b := range all[*event.TaskError](w) {
		if b.Category != event.ErrorExecutor || !strings.Contains(b.Text.Text, "interrupted 5 times in a row") {
			t.Errorf("its error is %+v", b)
		}
	}
	if n := len(all[*event.TaskError](w)); n == 0 {
		t.Error("there is no error")
	}
	w.sound()
}

func silent(*world, string, uint64) *event.PromptResult {
	return &event.PromptResult{Stop: event.StopEnd, Text: event.Text{Text: "done"}}
}

func TestEachErrorHasOneRepairWithWhatWasFound(t *testing.T) {
	t.Parallel()
	for category, tc := range faulty {
		t.Run(category, func(t *testing.T) {
			t.Parallel()
			set := usual()
			set.Session.Same = 20 // nothing is turned
			w := planned(t, set, unit("t1", "."))
			tc.spoil(w)
			has(t, w.does("dispatch", named("t1")), "ended with an error", category)
			runs := 1
			if tc.repairs {
				runs = 2
			}
			begun := all[*event.HandoverBegun](w)
			if len(begun) != runs || len(w.errors()) != runs || w.errors()[0] != category {
				t.Fatalf("%d runs with the errors %q, want %d", len(begun), w.errors(), runs)
			}
			if tc.repairs {
				if !begun[1].Repair || begun[1].Worker != begun[0].Worker || len(all[*event.HomeCall](w)) != 1 {
					t.Errorf("the repair: got %+v, want the same executor in the same home", begun[1])
				}
				has(t, begun[1].Package.Text, tc.findings)
			}
			if len(all[*event.ArtifactManifest](w)) > 0 && category == event.ErrorManifest {
				t.Error("a manifest was made up")
			}
			has(t, w.does("judge", accepts("t1")), "only what passed every check")
			w.sound()
		})
	}
}

func TestARepairThatHelpsIsChecked(t *testing.T) {
	t.Parallel()
	for _, category := range []string{event.ErrorScope, event.ErrorManifest, event.ErrorAcceptance, event.ErrorExecutor} {
		w := planned(t, usual(), unit("t1", "."))
		inspect, work, accept := w.inspect, w.work, w.accept
		faulty[category].spoil(w)
		bad, badWork, badAccept := w.inspect, w.work, w.accept
		first := func() bool { return len(all[*event.HandoverBegun](w)) == 1 }
		w.inspect = func(c *event.InspectionCall) *event.InspectionResult {
			if first() {
				return bad(c)
			}
			return inspect(c)
		}
		w.work = func(w *world, x string, n uint64) *event.PromptResult {
			if first() {
				return badWork(w, x, n)
			}
			return work(w, x, n)
		}
		w.accept = func(c *event.AcceptanceCall) *event.TestReport {
			if first() {
				return badAccept(c)
			}
			return accept(c)
		}
		has(t, w.does("dispatch", named("t1")), "Run 2 of t1 by one is checked")
		has(t, w.does("judge", accepts("t1")), "accepted")
		w.sound()
	}
}

func TestAManifestOfAnotherRunIsFalse(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "."))
	w.work = func(w *world, worker string, _ uint64) *event.PromptResult {
		has(t, w.uses(worker, "artifact_manifest", strings.Replace(w.manifest(worker), `"session_id":"q"`, `"session_id":"other"`, 1)), "session_id")
		has(t, w.uses(worker, "artifact_manifest", `{"items":[]}`), "not right")
		return silent(w, worker, 0)
	}
	has(t, w.does("dispatch", named("t1")), "manifest")
	if len(all[*event.ArtifactManifest](w)) > 0 {
		t.Error("it is recorded")
	}
}

func TestAcceptanceThatPassedBeforeProvesNothingAndIsToldSo(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "."), unit("t2", ".", `"after":["t1"]`))
	w.accept = func(c *event.AcceptanceCall) *event.TestReport { return reported(c, false) }
	has(t, w.does("dispatch", named("t1")), "is checked", "passed before the task too: they prove nothing")
	w.does("judge", accepts("t1"))
	has(t, w.does("dispatch", named("t2")), "is checked")
	sides := map[string]int{}
	for _, c := range all[*event.AcceptanceCall](w) {
		sides[c.Side]++
	}
	if sides[event.SideBefore] != 2 || sides[event.SideAfter] != 2 { // t2 begins with another tree
		t.Errorf("acceptance was run %v", sides)
	}
}

func TestBeforeIsRunOnceForTheSameTreeAndCommands(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "."))
	w.does("dispatch", named("t1"))
	w.does("judge", `{"task":"t1","verdict":"refuse","reasons":"more tests"}`)
	before := 0
	for _, c := range all[*event.AcceptanceCall](w) {
		if c.Side == event.SideBefore {
			before++
		}
	}
	if before != 1 || len(all[*event.HandoverBegun](w)) != 2 {
		t.Errorf("before was run %d times for %d runs, want once for two", before, len(all[*event.HandoverBegun](w)))
	}
	if b := all[*event.HandoverBegun](w)[1]; !b.Repair || !strings.Contains(b.Package.Text, "more tests") {
		t.Errorf("the second run: got %+v, want a repair with the reasons", b)
	}
}

func TestAcceptanceInWordsNeedsWhatShowsIt(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", ".", `"criteria":["the help names it"]`))
	has(t, w.does("dispatch", named("t1")), "the help names it")
	for _, shown := range []string{`[]`, `["99999"]`, `["0"]`, `["yes"]`, `[" "]`} {
		has(t, w.does("judge", `{"task":"t1","verdict":"accept","shown":`+shown+`}`), "how")
		if len(all[*event.TaskJudged](w)) > 0 {
			t.Fatalf("%s is taken", shown)
		}
	}
	has(t, w.does("judge", fmt.Sprintf(`{"task":"t1","verdict":"accept","shown":["%d"]}`, len(w.Events)-5)), "t1 is accepted")
}

func TestDispatchIsBlocked(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "a/"), unit("t2", "a/b.go"), unit("t3", "ab", `"after":["t1"]`))
	has(t, w.does("dispatch", named("t3")), "comes after t1")
	has(t, w.does("dispatch", named("t1")), "is checked")
	has(t, w.does("dispatch", named("t1")), "judge it")
	has(t, w.does("dispatch", named("t2")), "meet those of t1")
	has(t, w.does("judge", `{"task":"t2","verdict":"accept"}`), "not handed over")
	w.does("judge", accepts("t1"))
	has(t, w.does("dispatch", named("t3")), "is checked")
	if b := all[*event.HomeCall](w)[1]; b.Tree == nil || *b.Tree != *tree("t11") {
		t.Errorf("what comes after begins with %v, want what was accepted", b.Tree)
	}
	has(t, w.does("finish", `{"answer":"x"}`), "have not ended", "t2: not begun")
}

func TestTheSameErrorSwapsThenNarrowsThenFails(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "cmd/"))
	faulty[event.ErrorAcceptance].spoil(w)
	has(t, w.does("dispatch", named("t1")), "wants a strictly smaller scope")
	var who []string
	for _, b := range all[*event.HandoverBegun](w) {
		who = append(who, b.Executor)
	}
	if got := strings.Join(who, " "); got != "one one two two" {
		t.Fatalf("runs by %s, want two of each", got)
	}
	turned := all[*event.TaskTurned](w)
	if len(turned) != 2 || turned[0].How != event.TurnedSwap || turned[0].Executor != "two" || turned[1].How != event.TurnedNarrow {
		t.Fatalf("turned: got %+v", turned)
	}
	has(t, w.does("dispatch", named("t1")), "only with a strictly smaller scope")
	has(t, w.does("judge", `{"task":"t1","verdict":"narrow","include":["cmd/"]}`), "strictly smaller")
	has(t, w.does("judge", `{"task":"t1","verdict":"narrow","include":["docs/"]}`), "strictly smaller")
	has(t, w.does("judge", `{"task":"t1","verdict":"narrow","include":["cmd/a.go"]}`), "t1 is failed", "What was tried")
	if n := len(all[*event.HandoverBegun](w)); n != 6 {
		t.Errorf("%d handovers, want six", n)
	}
	has(t, w.does("finish", `{"answer":"It cannot be done."}`), "The quest ends")
	has(t, w.State.Answer.Text, "It cannot be done.", "t1: failed", "run 1 by one: acceptance", "run 6 by two")
	if !w.State.NotFound || len(w.State.Warnings) == 0 {
		t.Error("a quest that reached nothing ends as one that did")
	}
	w.sound()
}

func TestOnRepeatedErrorIsWhatIsTriedFirst(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{"narrow": "wants a strictly smaller scope", "fail": "t1 is failed"} {
		set := usual()
		set.Repeated = how
		w := planned(t, set, unit("t1", "cmd/"))
		faulty[event.ErrorAcceptance].spoil(w)
		has(t, w.does("dispatch", named("t1")), want)
		if n := len(all[*event.HandoverBegun](w)); n != 2 {
			t.Errorf("%s: %d handovers, want two", how, n)
		}
	}
}

func TestHandoversAreLimited(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Session.Handovers = 3
	w := planned(t, set, unit("t1", "cmd/"))
	w.does("dispatch", named("t1"))
	for range 2 {
		w.does("judge", `{"task":"t1","verdict":"refuse","reasons":"again"}`)
	}
	has(t, w.does("judge", `{"task":"t1","verdict":"refuse","reasons":"again"}`), "all there can be")
	has(t, w.does("judge", accepts("t1")), "accepted")
	w.sound()
}

func TestErrorsDoNotPassTheLimitOfHandovers(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Session.Handovers, set.Session.Same = 1, 20
	w := planned(t, set, unit("t1", "cmd/"))
	faulty[event.ErrorScope].spoil(w)
	has(t, w.does("dispatch", named("t1")), "t1 is failed", "handed over 1 times")
	w.sound()
}

func TestCommandsAreCountedAndTheOneTooManyDoesNotCount(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "cmd/"))
	w.work = func(w *world, worker string, call uint64) *event.PromptResult {
		for i := range 9 {
			if i == 8 {
				if err := (architect.Society{}).MayRun(w.State, w.State.Agent(worker), true); err == nil {
					t.Error("a ninth command may run")
				}
			}
			w.Take(worker, &event.ToolReported{At: int64(10 * (i + 1)), ID: fmt.Sprint("x", i), Kind: "execute", Prompt: call, Status: "in_progress"})
			w.Take(worker, &event.ToolReported{At: int64(10*(i+1) + 1), ID: fmt.Sprint("x", i), Kind: "execute", Prompt: call, Status: "completed"})
			w.Take(worker, &event.ToolReported{At: int64(10*(i+1) + 2), ID: fmt.Sprint("r", i), Kind: "read", Prompt: call, Status: "completed"})
		}
		if !w.stopping(call) {
			t.Error("the ninth command is not stopped")
		}
		return &event.PromptResult{Stop: event.StopEnd, Text: event.Text{Text: "done anyway"}}
	}
	has(t, w.does("dispatch", named("t1")), "calls", "more than 8 commands")
	if (architect.Society{}).MayRun(w.State, w.State.Agent(architect.Architect), true) == nil || (architect.Society{}).MayRun(w.State, w.State.Agent("two"), true) == nil {
		t.Error("whoever has no task may run commands")
	}
	w.sound()
}

// TestWantOfMemoryEndsARun: of a command, of a child without which it goes on, or of the executor
// itself. A quest of before derives what it did.
func TestWantOfMemoryEndsARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exit  event.CliExit
		ended string
		rules int64
		want  string
	}{
		"ACommand":         {event.CliExit{Exit: 137, End: "memory"}, "", 1, "A command had no memory left: a computer has 4096 MB. The executor was stopped."},
		"AChild":           {event.CliExit{Exit: 1, Met: "memory"}, "", 1, "A command had no memory left: a computer has 4096 MB. The executor was stopped."},
		"AnExecutor":       {event.CliExit{}, "memory", 1, "The executor had no memory left: a computer has 4096 MB."},
		"AChildOfBefore":   {event.CliExit{Exit: 1, Met: "memory"}, "", 0, ""},
		"ACommandOfBefore": {event.CliExit{Exit: 137, End: "memory"}, "", 0, "A command had no memory left: a computer has 4096 MB. The executor was stopped."},
		"OtherLimits":      {event.CliExit{Exit: 1, Met: "processes"}, "", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := usual()
			set.Rules = c.rules
			w := planned(t, set, unit("t1", "cmd/"))
			first := true
			w.work = func(w *world, worker string, call uint64) *event.PromptResult {
				if !first {
					return w.well(worker, call)
				}
				first = false
				w.Take(worker, &event.CliRun{Command: "c1", Prompt: call, Args: event.Text{Text: `["go","build"]`}})
				exit := c.exit
				exit.Command = "c1"
				w.Take(worker, &exit)
				if stopped := w.stopping(call); stopped != (c.want != "" && c.ended == "") {
					t.Errorf("after %+v: the executor is stopped %v, want %v", c.exit, stopped, !stopped)
				}
				if c.ended != "" {
					return &event.PromptResult{Ended: c.ended, Error: event.Text{Text: "the agent has ended"}}
				}
				return w.well(worker, call)
			}
			w.does("dispatch", named("t1"))
			errs := all[*event.TaskError](w)
			switch {
			case c.want == "" && len(errs) > 0:
				t.Errorf("the first error is %s: %s, want none", errs[0].Category, errs[0].Text.Text)
			case c.want != "" && (len(errs) == 0 || errs[0].Category != event.ErrorMemory || errs[0].Text.Text != c.want):
				t.Errorf("the errors are %+v, want first one of memory: %s", errs, c.want)
			}
			for _, b := range all[*event.HandoverBegun](w) {
				if b.Repair {
					t.Error("the same executor repairs what it had no memory for, want another one or none")
				}
			}
			w.sound()
		})
	}
}

// TestALimitIsNoSuccess has an executor ask for a ninth command, which it is refused, and then hand
// in what passes every check: that is an error all the same, and goes back once, with the reason
// that the protocol has no place for. Without a command it can then be accepted.
func TestALimitIsNoSuccess(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		w := planned(t, usual(), unit("t1", "cmd/"))
		prompts := 0
		w.work = func(w *world, worker string, call uint64) *event.PromptResult {
			prompts++
			for i := range 9 {
				if prompts > 1 && !(again && i == 8) {
					continue
				}
				options := []event.PermissionOption{{ID: "yes", Kind: "allow_once", Name: "yes"}, {ID: "no", Kind: "reject_once", Name: "no"}}
				id := fmt.Sprint(prompts, "-", i)
				w.Take(worker, &event.PermissionAsked{At: w.State.Agent(worker).Session.At + 1, ID: id, Tool: id, Kind: "execute", Options: options, Prompt: call, Title: event.Text{Text: "make all"}})
			}
			return w.well(worker, call)
		}
		said := w.does("dispatch", named("t1"))
		errs, begun := all[*event.TaskError](w), all[*event.HandoverBegun](w)
		want := 1 // and then it is accepted, or the same again
		if again {
			want = 2
		}
		if len(errs) != want || errs[0].Category != event.ErrorCalls || errs[want-1].Category != event.ErrorCalls || len(begun) != want+1 {
			t.Fatalf("again %v: got %d errors and %d handovers, want %d errors for the calls, each followed by a handover", again, len(errs), len(begun), want)
		}
		has(t, begun[1].Package.Text, "more than 8 commands", "make all: 8 commands were run for the task t1", "Finish without any")
		if begun[1].Repair != true || again && begun[2].Repair {
			t.Errorf("again %v: the first error is repaired once, and then another executor takes over", again)
		}
		has(t, said, "is checked")
		w.sound()
	}
}

func TestACommandThatIsAnnouncedPermittedAndStartedCountsOnce(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "cmd/"))
	calls := func() int64 { return architect.Of(w.State).Tasks[0].Calls }
	w.work = func(w *world, worker string, call uint64) *event.PromptResult {
		report := func(id, status string) {
			w.Take(worker, &event.ToolReported{At: int64(w.State.Seq) + 1000, ID: id, Kind: "execute", Prompt: call, Status: status})
		}
		if calls() > 0 { // this is a repair
			if calls() != 4 {
				t.Errorf("%d commands in the end, want 4: what is pending then counts", calls())
			}
			return &event.PromptResult{Stop: event.StopEnd, Text: event.Text{Text: "done"}}
		}
		for i, step := range []struct {
			do   func()
			want int64
		}{
			{func() { report("a", "pending") }, 0}, // it may be refused yet
			{func() { report("a", "in_progress") }, 1},
			{func() { report("a", "completed") }, 1},
			{func() { report("b", "pending") }, 1},
			{func() { report("c", "pending") }, 2}, // so b goes on without having been asked about
			{func() { report("b", "completed") }, 2},
			{func() { report("c", "failed") }, 3},
			{func() { report("d", "pending") }, 3},
		} {
			if step.do(); calls() != step.want {
				t.Errorf("step %d: %d commands, want %d", i, calls(), step.want)
			}
		}
		return &event.PromptResult{Stop: event.StopEnd, Text: event.Text{Text: "done"}}
	}
	w.does("dispatch", named("t1"))
	if calls() != 4 {
		t.Errorf("%d commands in the end, want 4: what is pending then counts", calls())
	}
	w.sound()
}

func TestTimeIsLimitedAndTheClockStandsStillDuringAQuestion(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Session.Seconds = 10
	w := planned(t, set, unit("t1", "cmd/"))
	w.work = func(w *world, worker string, _ uint64) *event.PromptResult {
		if len(all[*event.TaskClarify](w)) == 0 {
			w.uses(worker, "ask_architect", `{"question":"which?"}`)
		}
		return nil
	}
	has(t, w.does("dispatch", named("t1")), "asks: which?")
	w.Now += 60_000_000 // nobody answers for a minute
	w.fire(t)
	if len(all[*event.PromptStopped](w)) > 0 {
		t.Fatal("it is stopped while it waits for an answer")
	}
	has(t, w.does("clarify", `{"task":"t1","answer":"this one"}`), "has your answer")
	if _, ok := w.tries("dispatch", named("t1")); ok {
		t.Fatal("it has ended")
	}
	from := len(w.Events)
	w.Now += 11_000_000
	w.fire(t)
	w.settle()
	said, _ := w.answered(from, architect.Architect)
	has(t, said, "timeout", "longer than 10 seconds")
	if b := all[*event.TaskError](w)[0]; b.Logs == nil {
		t.Error("the error has no logs")
	}
	w.sound()
}

// fire has all timers fire whose time has come.
func (w *world) fire(t *testing.T) {
	t.Helper()
	for _, seq := range w.Open("timer.set", "") {
		if c := w.State.Calls[seq]; c.At <= w.Now+1000 {
			w.Take("core", &event.TimerFired{Call: seq})
		}
	}
}

// TestExecutorsCannotDispatch: what the architect plans and judges by, an executor has no tool for, whatever
// it proposes.
func TestExecutorsCannotDispatch(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "cmd/"))
	w.work = func(w *world, worker string, call uint64) *event.PromptResult {
		for tool, args := range map[string]string{
			"dispatch": named("t1"), "judge": `{"task":"t1","verdict":"accept"}`, "plan_tasks": `{"tasks":[]}`, "clarify": `{"task":"t1","answer":"yes"}`, "finish": `{"answer":"all of it"}`,
		} {
			if got := w.uses(worker, tool, args); !strings.Contains(got, `There is no tool "`+tool+`"`) {
				t.Errorf("an executor that proposes %s is told %q, want that there is no such tool", tool, got)
			}
		}
		return w.well(worker, call)
	}
	has(t, w.does("dispatch", named("t1")), "is checked")
	begun := 0
	for _, e := range w.Events {
		switch e.Body.(type) {
		case *event.HandoverBegun:
			begun++
		case *event.QuestFinished:
			t.Error("an executor has finished the quest")
		}
	}
	if begun != 1 {
		t.Errorf("%d handovers were begun, want the architect's one", begun)
	}
	w.sound()
}

func TestAnExecutorsQuestionIsAnsweredByTheArchitect(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Session.Clarify = 1
	w := planned(t, set, unit("t1", "cmd/"))
	asks := 0
	w.work = func(w *world, worker string, call uint64) *event.PromptResult {
		if len(w.Open("tool.call", worker)) > 0 {
			return nil
		}
		if asks++; asks == 1 {
			w.uses(worker, "ask_architect", `{"question":"which?"}`)
			return nil
		}
		return w.well(worker, call)
	}
	has(t, w.does("dispatch", named("t1")), "The executor of t1 asks: which?")
	has(t, w.does("clarify", `{"task":"t1","answer":"the first"}`), "has your answer")
	said := ""
	for _, e := range w.Events {
		if b, ok := e.Body.(*event.ToolAnswered); ok && e.Actor == "one" {
			said = b.Output.Text
			break
		}
	}
	has(t, said, "The architect answers: the first")
	has(t, w.does("dispatch", named("t1")), "is checked")
	w.sound()
}

func TestAQuestionTooManyEndsTheTaskUnresolved(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Session.Clarify = 0
	w := planned(t, set, unit("t1", "cmd/"))
	w.work = func(w *world, worker string, call uint64) *event.PromptResult {
		w.uses(worker, "ask_architect", `{"question":"which?"}`)
		return nil
	}
	has(t, w.does("dispatch", named("t1")), "t1 is failed", "unresolved")
	w.sound()
}

func TestTasksApartRunTogetherAndAreMerged(t *testing.T) {
	t.Parallel()
	set := usual()
	set.Parallel = 2
	w := planned(t, set, unit("t1", "a/"), unit("t2", "b/", `"acceptance":["make b"]`), unit("t3", "a/x.go"))
	from := len(w.Events)
	w.does("dispatch", named("t1"), questtest.Call{Tool: "dispatch", Args: named("t2")}, questtest.Call{Tool: "dispatch", Args: named("t3")})
	var begun []string
	for _, b := range all[*event.HandoverBegun](w) {
		begun = append(begun, b.Worker)
	}
	if strings.Join(begun, " ") != "one-1 one-2" {
		t.Fatalf("runs of %v, want one at each place", begun)
	}
	refused := false
	for _, e := range w.Events[from:] {
		b, ok := e.Body.(*event.ToolAnswered)
		refused = refused || ok && b.Error && strings.Contains(b.Output.Text, "meet those of t1")
	}
	if !refused {
		t.Error("tasks whose files meet run together")
	}
	w.does("plan_tasks", plan(unit("t1", "a/"), unit("t2", "b/")))
	w.does("judge", accepts("t1"))
	if len(all[*event.MergeCall](w)) > 0 {
		t.Error("it is merged before the others have ended")
	}
	w.does("judge", accepts("t2"))
	call := all[*event.MergeCall](w)
	if len(call) != 1 || len(call[0].Parts) != 2 || call[0].Base != *tree("base") {
		t.Fatalf("the merge: got %+v\n%s", call, w.tail())
	}
	last := all[*event.AcceptanceCall](w)
	if c := last[len(last)-1]; c.Side != event.SideMerged || strings.Join(c.Commands, "; ") != "go test ./...; make b" || c.Tree != *tree("merged") {
		t.Errorf("acceptance of what was merged: got %+v", c)
	}
	has(t, w.does("finish", `{"answer":"Both."}`), "The quest ends")
	if p := (architect.Society{}).Produced(w.State); p == nil || *p != *tree("merged") {
		t.Errorf("it produced %v, want what was merged", p)
	}
	w.sound()
}

// A task that had an error leaves its place. If it is handed over again while another task is
// there, it gets another place: an executor works on one task at a time.
func TestATaskThatIsNarrowedGetsAPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	const narrow = `{"task":"t1","verdict":"narrow","include":["a/x.go"]}`
	for parallel, want := range map[int64]string{1: "one one", 2: "one-1 one-1 one-2"} {
		set := usual()
		set.Parallel = parallel
		w := planned(t, set, unit("t1", "a/"), unit("t2", "b/"))
		good := w.home
		w.home = func(string) *event.HomeRenewed { return &event.HomeRenewed{Error: event.Text{Text: "no room"}} }
		has(t, w.does("dispatch", named("t1")), "no room")
		w.home = good
		has(t, w.does("dispatch", named("t2")), "is checked")
		said := w.does("judge", narrow)
		var begun []string
		for _, b := range all[*event.HandoverBegun](w) {
			begun = append(begun, b.Worker)
		}
		if got := strings.Join(begun, " "); got != want {
			t.Errorf("with %d at a time: runs by %s, want %s: %s", parallel, got, want, said)
		}
		if parallel == 1 {
			has(t, said, "which is all there can be at a time")
			w.does("judge", accepts("t2"))
			has(t, w.does("judge", narrow), "is checked")
		}
		w.sound()
	}
}

func TestAConflictLeavesTheBaseAsItWas(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w *world){
		"conflict": func(w *world) {
			w.merge = func(*event.MergeCall) *event.MergeReport {
				return &event.MergeReport{Conflicts: []event.Skipped{{Path: "a", Reason: "a file and a folder"}}}
			}
		},
		"acceptance": func(w *world) {
			w.accept = func(c *event.AcceptanceCall) *event.TestReport { return reported(c, c.Side != event.SideAfter) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := usual()
			set.Parallel = 2
			w := planned(t, set, unit("t1", "a/"), unit("t2", "b/"))
			spoil(w)
			w.does("dispatch", named("t1"), questtest.Call{Tool: "dispatch", Args: named("t2")})
			w.does("judge", accepts("t1"))
			w.does("judge", accepts("t2"))
			if p := (architect.Society{}).Produced(w.State); p != nil {
				t.Errorf("it produced %v, want nothing", p)
			}
			told := false
			for _, b := range all[*event.MessageSent](w) {
				told = told || b.To == architect.Architect && strings.Contains(b.Text.Text, "could not be put together")
			}
			if !told {
				t.Error("the architect is not told")
			}
			w.does("finish", `{"answer":"Neither."}`)
			if !w.State.NotFound || len(w.State.Warnings) != 2 {
				t.Errorf("the quest ends with %q", w.State.Warnings)
			}
			w.sound()
		})
	}
}

func TestAPersonCancelsOrRedirectsATask(t *testing.T) {
	t.Parallel()
	for _, action := range []string{event.OrderCancel, event.OrderMessage} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			w := planned(t, usual(), unit("t1", "a/"))
			well := w.work
			w.work = func(*world, string, uint64) *event.PromptResult { return nil }
			from := len(w.Events)
			if _, ok := w.tries("dispatch", named("t1")); ok {
				t.Fatal("it has ended")
			}
			w.Take("person", &event.TaskOrder{Action: action, Task: "t1", Text: "use the other file", Inbox: 1})
			if len(all[*event.PromptStopped](w)) != 1 {
				t.Fatalf("the executor is not stopped: %s", w.tail())
			}
			w.work = well
			w.settle()
			said, _ := w.answered(from, architect.Architect)
			if action == event.OrderCancel {
				has(t, said, "t1 is cancelled")
			} else {
				has(t, said, "Run 2 of t1 by one is checked")
				has(t, all[*event.HandoverBegun](w)[1].Package.Text, "use the other file")
			}
			if b := all[*event.HandoverEnded](w)[0]; b.Outcome != event.OutcomeCancelled {
				t.Errorf("the handover is %s", b.Outcome)
			}
			w.sound()
		})
	}
}

func TestAnArchitectThatOnlyTalksEndsTheQuestWithWhatWasTried(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "a/"))
	faulty[event.ErrorScope].spoil(w)
	w.does("dispatch", named("t1"))
	for range 3 {
		w.Answer(architect.Architect, questtest.Says("hm"))
	}
	if w.State.Status != quest.Finished || !w.State.NotFound {
		t.Fatalf("the quest is %s: %s", w.State.Status, w.tail())
	}
	has(t, w.State.Answer.Text, "not concluded", "t1: not ended", "run 1 by one: scope", "go.mod")
}

func TestCallsThatComeToNothingEndTheQuest(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "a/"))
	for i := range 100 {
		if w.State.Status != quest.Running {
			break
		}
		w.tries("dispatch", named(fmt.Sprint("t", 9+i)))
	}
	if w.State.Status == quest.Running {
		t.Fatal("it never ends")
	}
}

func TestWhatWasRecalled(t *testing.T) {
	t.Parallel()
	w := planned(t, usual(), unit("t1", "a/"))
	w.does("dispatch", named("t1"))
	var seq uint64
	for _, e := range w.Events {
		if e.Type == "inspection.result" {
			seq = e.Seq
		}
	}
	w.Answer(architect.Architect, questtest.Calls(questtest.Call{Tool: "recall", Args: fmt.Sprintf(`{"seq":%d}`, seq)}))
	a := w.State.Agent(architect.Architect)
	d, err := w.State.Deliver(a, &a.Open[0])
	if err != nil || len(d.Shown) != 1 || d.Shown[0].Ref == nil || *d.Shown[0].Ref != *ref("patch t11") {
		t.Fatalf("recalled: got %+v, %v; want the patch", d, err)
	}
}
