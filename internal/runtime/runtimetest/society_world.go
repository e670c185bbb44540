package runtimetest

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"
)

// Made is the part of the society of a world, which this package's World is around: a maker,
// sensible or not, judges that quote what is there or not, and tiers that pass, fail and are
// missing.
type Made struct{ books madeBooks }

// NewMade returns the part of one quest.
func NewMade() *Made { return &Made{books: newMadeBooks()} }

// Society implements Part.
func (*Made) Society() quest.Society { return world.Society{} }

// Rates implements Rough: an attempt is long, and trouble at each step would be all there is.
func (*Made) Rates() Rates {
	r := Usual
	r.Crash, r.Full, r.Unheard, r.Lost, r.Person, r.Failed, r.Outage = 30, 15, 15, 10, 30, 80, 5
	return r
}

// Make implements Part.
func (p *Made) Make(w *World, b *event.QuestCreated) {
	set := world.Settings{Attempts: 2 + w.Int64N(5), Judges: w.Int64N(3), Kind: trial.Kinds[w.IntN(2)], Tries: w.Int64N(6)}
	if set.Judges > 0 {
		set.Rubric = []world.Criterion{{Name: "purpose", Text: "it does it"}, {Name: "care", Text: "it is careful"}}
	}
	if w.Chance(500) {
		set.Stories = []event.WorldStory{madeStory(set.Kind, "open")}
	}
	if w.Chance(600) {
		set.HeldOut = []event.WorldStory{madeStory(set.Kind, "hidden"), madeStory(set.Kind, "deep")}
	}
	if err := quest.Record(b, set); err != nil {
		panic(err)
	}
	ref := event.RefOf([]byte("pinned"))
	b.Agents = []event.AgentSpec{{Name: world.Maker, Model: "sim", System: ref, Tools: ref, Window: 20_000, ToolNames: []string{Safe, "declare_structure", "finish", "propose", "try", "write_file"}}}
	for i := range set.Judges {
		b.Agents = append(b.Agents, event.AgentSpec{Name: fmt.Sprintf("judge-%d", i+1), Model: "sim", System: ref, Tools: ref, Window: 20_000, ToolNames: []string{"give_marks"}})
	}
	b.Limits.Turns = new(20 + w.Int64N(80))
}

func madeStory(kind, name string) event.WorldStory {
	s := event.WorldStory{Name: name, Intent: "use it", Expect: []event.WorldCondition{{Kind: "title", Text: name}}}
	if s.Steps = []event.WorldStep{{Do: "press", Text: "Enter"}}; kind == trial.Program {
		s.Steps, s.Expect = []event.WorldStep{{Do: "run", Args: []string{"x"}}}, []event.WorldCondition{{Kind: "output", Text: name}}
	}
	return s
}

// Rows implements Caller.
func (p *Made) Rows() map[event.Type]Row {
	return map[event.Type]Row{"analysis.call": p.looked, "marks.call": quoted, "world.call": observed}
}

// looked is the row of analysis.call.
func (p *Made) looked(w *World, call event.Event) event.Body {
	b := call.Body.(*event.AnalysisCall)
	r := &event.AnalysisResult{Analyser: "sim/1", Call: call.Seq, Verdict: trial.Passed}
	switch {
	case w.Chance(60):
		r.Verdict, r.Error.Text = trial.Unavailable, "no browser"
		w.Saw("tiers unavailable")
		return r
	case b.Tier == 1 && w.Chance(250):
		r.Verdict, r.Findings = trial.Failed, []event.WorldFinding{{Check: "names", Kind: "failed", Required: true, Path: "index.html", Line: 1}}
		return r
	case b.Tier == 1:
		r.Text = new(event.RefOf([]byte("text")))
		return r
	}
	told := b.Stories
	if b.HeldOut {
		told = world.Of(w.State()).Settings.HeldOut
	}
	for _, s := range told {
		v := event.StoryVerdict{Name: s.Name, Conditions: int64(len(s.Expect)), Met: int64(len(s.Expect)), Verdict: trial.Passed}
		if w.Chance(150) {
			v.Verdict = trial.Verdicts[w.IntN(len(trial.Verdicts))]
			if v.Verdict != trial.Passed {
				v.Met = 0
			}
		}
		r.Stories = append(r.Stories, v)
	}
	r.Verdict = trial.Tier(r.Stories)
	return r
}

// quoted is the row of marks.call.
func quoted(w *World, call event.Event) event.Body {
	r := &event.MarksResult{Call: call.Seq}
	switch {
	case w.Chance(200):
		r.Missing = []string{call.Body.(*event.MarksCall).Marks[0].Quotation}
		w.Saw("quotations missing")
	case w.Chance(40):
		r.Error = "no text"
	}
	return r
}

// observed is the row of world.call.
func observed(w *World, call event.Event) event.Body {
	r := &event.WorldObserved{Call: call.Seq, End: []string{trial.Done, trial.Done, trial.Done, trial.Timeout, trial.Crash, trial.Unavailable}[w.IntN(6)]}
	if r.End == trial.Done {
		for range call.Body.(*event.WorldCall).Expect {
			r.Held = append(r.Held, w.Chance(600))
		}
		r.Unforeseen = w.Int64N(3)
	}
	return r
}

// Call implements Part: what the maker or a judge does next.
func (p *Made) Call(w *World, agent string) (string, any) {
	if agent != world.Maker {
		mark := func(name string) object {
			return object{"criterion": name, "mark": 600 + w.IntN(400), "quotation": w.Word()}
		}
		list := []object{mark("purpose"), mark("care")}
		if w.Chance(100) {
			list = list[:1]
		}
		return "give_marks", object{"marks": list}
	}
	kind, n := p.books.set.Kind, 1+w.Int64N(max(p.books.attempts, 1))
	condition := object{"kind": "title", "text": w.Word()}
	if kind == trial.Program {
		condition = object{"kind": "exit"}
	}
	step := madeStory(kind, "x").Steps
	switch x := w.IntN(100); {
	case x < 12:
		return "declare_structure", object{"objects": []object{{"name": w.Word(), "kind": trial.Objects[w.IntN(4)]}}}
	case x < 15:
		return "declare_structure", object{"levers": []object{{"name": "alone", "kind": "game", "when": "instant"}}}
	case x < 55:
		path := "app"
		if w.Chance(60) {
			path = missingFile
		}
		return "propose", object{"path": path, "intent": w.Word() + "x", "stories": []object{{"name": "mine", "intent": "x", "steps": step, "expect": []object{condition}}}}
	case x < 80:
		return "try", object{"attempt": n, "steps": step, "expect": []object{{"condition": condition, "probability": w.IntN(1001)}}}
	case x < 88:
		return "finish", object{"attempt": n, "text": w.Word() + "x"}
	case x < 94:
		return Safe, object{} // it is none of its tools
	}
	return "write_file", object{"path": "app/index.html", "content": w.Word()}
}

// Count implements Part.
func (p *Made) Count(w *World, e event.Event) error { return p.books.count(w, e) }
