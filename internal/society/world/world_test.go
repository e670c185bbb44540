package world_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"

	json "github.com/go-json-experiment/json"
)

// made is a quest of a world under way, with the little that its rules ask of the world.
type made struct {
	*questtest.Story
	t testing.TB
	// look, seen and find answer what the rules ask; judge is what a judge says, empty for nothing.
	look  func(*event.AnalysisCall) *event.AnalysisResult
	seen  func(*event.WorldCall) *event.WorldObserved
	find  func(*event.MarksCall) *event.MarksResult
	judge func(name string) questtest.Call
}

func ref(name string) event.Ref       { return event.RefOf([]byte(name)) }
func tree(name string) *event.TreeRef { return new(event.TreeRef(ref("tree " + name))) }

func story(name string) event.WorldStory {
	return event.WorldStory{Name: name, Intent: "use it", Steps: []event.WorldStep{{Do: "click", At: event.WorldPlace{Role: "button", Name: "Add"}}},
		Expect: []event.WorldCondition{{Kind: "text", At: event.WorldPlace{Role: "status"}, Text: "secret of " + name}}}
}

// usual is a quest without judges and without stories of an author.
func usual() world.Settings {
	return world.Settings{Attempts: 5, Kind: trial.Web, Tries: 5}
}

func judged(n int64) world.Settings {
	set := usual()
	set.Judges, set.Rubric = n, []world.Criterion{{Name: "purpose", Text: "it does it"}, {Name: "care", Text: "it is careful"}}
	return set
}

func created(t testing.TB, set world.Settings) *event.QuestCreated {
	t.Helper()
	b := questtest.Created(world.Society{}, 1)
	b.Problem = event.Text{Text: "A counter."}
	if err := quest.Record(b, set); err != nil {
		t.Fatal(err)
	}
	pinned := ref("pinned")
	b.Agents = []event.AgentSpec{{Name: world.Maker, Model: "m", System: pinned, Tools: pinned, Window: 200_000, ToolNames: []string{"declare_structure", "exec", "finish", "propose", "try", "write_file"}}}
	for i := range set.Judges {
		b.Agents = append(b.Agents, event.AgentSpec{Name: fmt.Sprintf("judge-%d", i+1), Model: "m", System: pinned, Tools: pinned, Window: 200_000, ToolNames: []string{"give_marks"}})
	}
	return b
}

func start(t testing.TB, set world.Settings) *made {
	t.Helper()
	return begin(t, created(t, set))
}

func begin(t testing.TB, b *event.QuestCreated) *made {
	t.Helper()
	w := &made{Story: questtest.Begin(t, world.Society{}, b), t: t}
	w.usual()
	w.Start()
	w.settle()
	return w
}

func (w *made) usual() {
	w.look = func(c *event.AnalysisCall) *event.AnalysisResult { return w.says(c, trial.Passed) }
	w.find = func(*event.MarksCall) *event.MarksResult { return &event.MarksResult{} }
	w.seen = func(c *event.WorldCall) *event.WorldObserved {
		r := &event.WorldObserved{End: trial.Done, Unforeseen: 1, Changes: []string{"new alert"}}
		for range c.Expect {
			r.Held = append(r.Held, true)
		}
		return r
	}
	w.judge = func(string) questtest.Call { return marks(800, 700) }
}

func marks(purpose, care int64) questtest.Call {
	return questtest.Call{Tool: "give_marks", Args: fmt.Sprintf(`{"marks":[{"criterion":"purpose","mark":%d,"quotation":"x"},{"criterion":"care","mark":%d,"quotation":"y"}]}`, purpose, care)}
}

// says is a tier that says the same of every story.
func (w *made) says(c *event.AnalysisCall, verdict string) *event.AnalysisResult {
	r := &event.AnalysisResult{Analyser: "test/1", Verdict: verdict}
	if c.Tier == 1 {
		r.Text = new(ref("the text of it"))
		if verdict == trial.Failed {
			r.Findings = []event.WorldFinding{{Check: "names", Kind: "failed", Required: true, Path: "index.html", Line: 3, Expected: "a name", Observed: "none"}}
		}
		return r
	}
	list := c.Stories
	if c.HeldOut {
		list = world.Of(w.State).Settings.HeldOut
	}
	for _, s := range list {
		v := event.StoryVerdict{Name: s.Name, Conditions: int64(len(s.Expect)), Verdict: trial.Passed, Met: int64(len(s.Expect))}
		if verdict != trial.Passed {
			v.Met, v.Verdict = 0, trial.Assertion
			v.Findings = []event.WorldFinding{{Check: "text", Kind: "failed", Expected: "Count: 1", Observed: "Count: 0"}}
			v.After = &event.WorldSight{Picture: new(ref("picture")), Accessibility: event.Text{Text: "status\n"}}
		}
		if verdict == trial.Unavailable {
			v.Verdict = verdict
		}
		r.Stories = append(r.Stories, v)
	}
	r.Verdict = trial.Tier(r.Stories)
	return r
}

// settle answers whatever is asked, until it asks no more.
func (w *made) settle() {
	w.t.Helper()
	for range 500 {
		if !w.step() {
			w.Sound()
			return
		}
	}
	w.t.Fatal("it asks without an end")
}

func (w *made) step() bool {
	w.t.Helper()
	var seqs []uint64
	for seq := range w.State.Calls {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		e := w.Events[seq-1]
		var r event.Body
		switch b := e.Body.(type) {
		case *event.AnalysisCall:
			x := w.look(b)
			x.Call, r = seq, x
		case *event.WorldCall:
			x := w.seen(b)
			x.Call, r = seq, x
		case *event.MarksCall:
			x := w.find(b)
			x.Call, r = seq, x
		case *event.ToolCall:
			if u, err := w.State.Agent(e.Actor).Use(seq); err == nil && u.Name == "propose" && u.Prepared == nil {
				r = &event.ToolPrepared{Call: seq, Tree: tree(u.Args.Text)}
				w.Take(e.Actor, r)
				return true
			}
			continue
		case *event.ModelCall:
			if c := w.judge(e.Actor); e.Actor != world.Maker && c.Tool != "" {
				w.Answer(e.Actor, questtest.Calls(c))
				return true
			}
			continue
		default:
			continue
		}
		w.Take(e.Actor, r)
		return true
	}
	return false
}

// does has the maker call a tool, and the world do its part; it returns what it was answered.
func (w *made) does(tool, args string) string {
	w.t.Helper()
	said, ok := w.tries(tool, args)
	if !ok {
		w.t.Fatalf("%s was not answered:\n%s", tool, w.tail())
	}
	return said
}

func (w *made) tries(tool, args string) (string, bool) {
	w.t.Helper()
	from := len(w.Events)
	w.Answer(world.Maker, questtest.Calls(questtest.Call{Tool: tool, Args: args}))
	w.settle()
	for _, e := range w.Events[from:] {
		if b, ok := e.Body.(*event.ToolAnswered); ok && e.Actor == world.Maker {
			return b.Output.Text, true
		}
		if b, ok := e.Body.(*event.PolicyBlocked); ok && b.Proposal == "tool.call" {
			return b.By[0].Policy, true
		}
	}
	return "", false
}

func (w *made) tail() string {
	var out []string
	for _, e := range w.Events[max(0, len(w.Events)-12):] {
		data, _ := json.Marshal(e.Body)
		out = append(out, fmt.Sprintf("%d %s %s %.200s", e.Seq, e.Type, e.Actor, data))
	}
	return strings.Join(out, "\n")
}

// proposal hands in a folder, told apart by its intent.
func proposal(intent string, list ...event.WorldStory) string {
	raw, _ := json.Marshal(list)
	return fmt.Sprintf(`{"path":"app","intent":%q,"stories":%s}`, intent, raw)
}

const trying1 = `{"attempt":1,"steps":[{"do":"click","at":{"role":"button","name":"Add"}}],"expect":[{"condition":{"kind":"title","text":"x"},"probability":900}]}`

func all[B event.Body](w *made) (out []B) {
	for _, e := range w.Events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// order are the types and tiers of the events of a world, in their order.
func (w *made) order() (out []string) {
	for _, e := range w.Events {
		switch b := e.Body.(type) {
		case *event.AnalysisCall:
			out = append(out, fmt.Sprintf("call %d", b.Tier))
		case *event.TierJudged:
			out = append(out, fmt.Sprintf("tier %d %s", b.Tier, b.Verdict))
		case *event.PredictionMade, *event.WorldCall, *event.WorldObserved, *event.SurpriseMeasured, *event.RewardGiven, *event.AttemptProposed:
			out = append(out, string(e.Type))
		}
	}
	return out
}

func has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Fatalf("%q does not say %q", text, p)
		}
	}
}

func lacks(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Fatalf("%q says %q", text, p)
		}
	}
}
