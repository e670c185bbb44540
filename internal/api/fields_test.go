package api_test

import (
	"maps"
	"strings"
	"testing"

	"lyceum/internal/api"
)

func TestSpecFaultsNameTheirField(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Model: "demo"})
	s.create("taken", map[string]any{"model": "demo"})
	for _, c := range []struct {
		body  map[string]any
		field string
	}{
		{map[string]any{"spec": map[string]any{"problem": "x"}}, "name"},
		{map[string]any{"spec": map[string]any{"name": "No Name", "problem": "x"}}, "name"},
		{map[string]any{"spec": map[string]any{"name": "taken", "problem": "x"}}, "name"},
		{map[string]any{"spec": map[string]any{"name": "a"}}, "problem"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "window": 5}}, "window"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "limits": map[string]any{"cost": "much"}}}, "limits.cost"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "limits": map[string]any{"turns": -1}}}, "limits.turns"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "society": "mob"}}, "society"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "society": "lab", "agents": 3, "reviewers": 7}}, "reviewers"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "model": "nonsense"}}, "model"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "model": "script:plan.yaml"}}, "model"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "tools": []string{"teleport"}}}, "tools"},
		{map[string]any{"spec": map[string]any{"name": "a", "problem": "x", "profile": "wizard"}}, "profile"},
		{map[string]any{"yaml": "name: a\nproblem: x\nseed: many\n"}, "seed"},
		{map[string]any{"yaml": "name: a\nproblem: x\nlimits: {turns: 3, cost: much}\n"}, "limits.cost"},
		{map[string]any{"yaml": "name: a\nproblem: the cost of tools\nlimits:\n  agent:\n    duration: soon\n"}, "limits.agent.duration"},
		{map[string]any{"yaml": "name: a\nproblem: x\nlimits:\n  turns: 3\n  agent: {turns: -1}\n"}, "limits.agent.turns"},
		{map[string]any{"yaml": "name: a\nproblem: x\nlimits:\n  agent:\n    tokens: [1]\n"}, "limits.agent.tokens"},
		{map[string]any{"yaml": "name: a\nproblem: x\ncolour: red\n"}, "colour"},
		{map[string]any{"yaml": "name: a\nproblem: x\nlimits:\n  money: 3\n"}, "limits.money"},
		{map[string]any{"yaml": "name: a\nproblem: x\ncomputer:\n  driver: docker\n  memory: lots\n"}, "computer.memory"},
		{map[string]any{"yaml": "name: a\nproblem: x\nsociety: lab\nagents:\n  - count: 2\n  - count: none\n"}, "agents[1].count"},
		{map[string]any{"yaml": "name: a\nproblem: x\ntask: y\n"}, "task"},
		{map[string]any{"yaml": "name: a\nproblem: x\nproblem_file: y\n"}, "problem_file"},
		{map[string]any{"yaml": "name: a\nproblem: x\naudit: strict\n"}, "audit"},
		{map[string]any{"yaml": "name: a\nproblem: x\ntools: [calculate, calculate]\n"}, "tools"},
		{map[string]any{"yaml": "name: a\nproblem: ["}, ""},
		{map[string]any{"yaml": "- a\n- b\n"}, ""},
	} {
		var v struct {
			Valid  bool
			Errors []struct{ Field, Message string }
		}
		s.do("POST", "/api/validate", c.body).want(t, 200).into(t, &v)
		if v.Valid || len(v.Errors) == 0 || v.Errors[0].Field != c.field || v.Errors[0].Message == "" {
			t.Errorf("%v: %+v, want the field %s", c.body, v, c.field)
		}
		if a := s.do("POST", "/api/quests", c.body); a.code != 400 && a.code != 409 {
			t.Errorf("%v is made: %d", c.body, a.code)
		}
	}
	var v struct {
		Valid bool
		YAML  string
	}
	s.do("POST", "/api/validate", map[string]any{"spec": map[string]any{"name": "a", "problem": "x\ny", "agents": 3, "society": "lab", "limits": map[string]any{"cost": 2.5}}}).want(t, 200).into(t, &v)
	if !v.Valid || !strings.Contains(v.YAML, "society: lab") {
		t.Errorf("the form's quest.yaml: got %+v, want a valid one of a lab", v)
	}
}

// TestWhatAQuestCannotBeMadeOfNamesItsField has specs that are right by themselves.
func TestWhatAQuestCannotBeMadeOfNamesItsField(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Model: "demo"})
	s.finish("demo-number", "taken", "")
	for field, change := range map[string]map[string]any{
		"problem_file": {"problem": "", "problem_file": "gone.md"},
		"data":         {"data": "gone"},
		"corpus":       {"society": "contract", "corpus": "gone"},
		"model":        {"model": "script:gone.yaml"},
		"policies":     {"policies": []any{"gone.yaml"}},
		"profile":      {"profile": "wizard"},
		"problem":      {"problem": strings.Repeat("long ", 100_000), "window": 2000},
	} {
		spec := map[string]any{"name": "a", "problem": "x", "model": "demo"}
		maps.Copy(spec, change)
		var e struct {
			Error struct{ Field, Message string }
		}
		s.do("POST", "/api/quests", map[string]any{"spec": spec}).want(t, 400).into(t, &e)
		if e.Error.Field != field || e.Error.Message == "" {
			t.Errorf("%+v, want the field %s", e.Error, field)
		}
	}
	for field, order := range map[string]map[string]any{
		"at": {"at": 10_000}, "name": {"name": "No Name"}, "seed": {"seed": "many"}, "model": {"model": "nonsense"}, "message": {"message": strings.Repeat("x", 9000)},
	} {
		order["action"] = "fork"
		var e struct{ Error struct{ Field string } }
		s.control("taken", order).want(t, 400).into(t, &e)
		if e.Error.Field != field {
			t.Errorf("a fork with %v: the field %q, want %s", order, e.Error.Field, field)
		}
	}
}

// TestAllFaultsOfASpecComeAtOnce: what is wrong with the form, and what is named and not there, in
// the order of the lines, whether the spec is checked or a quest is made of it.
func TestAllFaultsOfASpecComeAtOnce(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Model: "demo"})
	body := map[string]any{"yaml": "name: a\nproblem_file: gone.md\ncolour: red\ntools: [calculate, teleport]\ndata: nothing\nwindow: 5\nprofile: wizard\nmodel: nonsense\n"}
	type fault struct {
		Field, Message string
		Line           int
	}
	want := []fault{{Field: "problem_file", Line: 2}, {Field: "colour", Line: 3}, {Field: "tools", Line: 4}, {Field: "data", Line: 5}, {Field: "window", Line: 6}, {Field: "profile", Line: 7}, {Field: "model", Line: 8}}
	compare := func(what string, got []fault) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: got %d faults, want %d: %+v", what, len(got), len(want), got)
		}
		for i, w := range want {
			if got[i].Field != w.Field || got[i].Line != w.Line || got[i].Message == "" || strings.Contains(got[i].Message, "lyceum-new-") {
				t.Errorf("%s: fault %d is %+v, want one of %s in line %d that tells no path of the server", what, i, got[i], w.Field, w.Line)
			}
		}
	}
	var v struct{ Errors []fault }
	s.do("POST", "/api/validate", body).want(t, 200).into(t, &v)
	compare("validate", v.Errors)
	var e struct {
		Error struct{ Fields []fault }
	}
	s.do("POST", "/api/quests", body).want(t, 400).into(t, &e)
	compare("create", e.Error.Fields)
}
