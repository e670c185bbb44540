package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// arg is what a policy sees at a path of arguments that are at hand.
func arg(args string, path ...string) behavior.Value {
	f := &policy.Facts{Args: &policy.Args{Text: event.Text{Text: args}}}
	return f.Field(append([]string{"args"}, path...))
}

// outlined is what it sees there if all that is left of them is an outline.
func outlined(outline string, path ...string) behavior.Value {
	f := &policy.Facts{Args: &policy.Args{Text: event.Text{Ref: &event.Ref{}}, Outline: outline}}
	return f.Field(append([]string{"args"}, path...))
}

var unknown = behavior.Value{Kind: behavior.Unknown}

func TestAnOutlineKeepsWhatIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	some := strings.Repeat("y", 300)
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf(`"k%d":%q`, i, strings.Repeat("z", 100)))
	}
	for name, c := range map[string]struct {
		args string
		max  int
		want string
	}{
		"Short":               {`{"path": "a", "n": [1, 2.50]}`, 1500, `{"path":"a","n":[1,2.50]}`},
		"Nothing":             {`{}`, 1500, `{}`},
		"ALongText":           {`{"path":"a","content":"` + long + `"}`, 1500, `{"path":"a","content":{"omitted":2002}}`},
		"ALongList":           {`{"paths":["` + long + `"],"a":1}`, 1500, `{"paths":{"omitted":2004},"a":1}`},
		"ALongObject":         {`{"a":{"path":"x","content":"` + long + `"}}`, 1500, `{"a":{"omitted":2025}}`},
		"WhatIsShortInside":   {`{"a":{"path": "x"}}`, 1500, `{"a":{"path":"x"}}`},
		"ALongTextWithRoom":   {`{"content":"` + long[:1100] + `"}`, 9999, `{"content":{"omitted":1102}}`},
		"LessIfThereIsNoRoom": {`{"path":"a","content":"` + some + `"}`, 200, `{"path":"a","content":{"omitted":302}}`},
		"NothingIfItIsTooMuch": {
			`{` + strings.Join(many, ",") + `}`, 200, ""},
		"NoRoom":           {`{}`, 1, ""},
		"LessThanNoRoom":   {`{}`, -5, ""},
		"JustEnough":       {`{"a":1}`, 7, `{"a":1}`},
		"NotEnough":        {`{"a":1}`, 6, ""},
		"AList":            {`["path"]`, 1500, ""},
		"AText":            {`"path"`, 1500, ""},
		"Null":             {`null`, 1500, ""},
		"NoJSON":           {`{"path":"a"`, 1500, ""},
		"NothingAtAll":     {``, 1500, ""},
		"MoreBehindIt":     {`{"path":"a"} {"path":"b"}`, 1500, ""},
		"ANameTwice":       {`{"path":"a","path":"b"}`, 1500, ""},
		"ANameTwiceInside": {`{"x":{"path":"a","path":"b"}}`, 1500, ""},
		"ATextOfBadBytes":  {"{\"path\":\"\xff\"}", 1500, ""},
		"TooDeep":          {`{"a":1,"x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`, 1500, ""},
		"ANameWithQuotes":  {`{"a\"b\n":"c"}`, 1500, `{"a\"b\n":"c"}`},
		"AnotherAlphabet":  {`{"p\u00e4th":"ä"}`, 1500, `{"päth":"ä"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			equal(t, "outline", policy.Outline(c.args, c.max), c.want)
		})
	}
}

func TestWhatAnOutlineLeftOutIsUnknown(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2000)
	for _, c := range []struct {
		args string
		path []string
		want behavior.Value
	}{
		{`{"path":"a","content":"` + long + `"}`, []string{"path"}, behavior.TextValue("a")},
		{`{"path":"a","content":"` + long + `"}`, []string{"content"}, unknown},
		{`{"path":"a","content":"` + long + `"}`, []string{"content", "deeper", "still"}, unknown},
		{`{"path":"a","content":"` + long + `"}`, []string{"content", "omitted"}, unknown},
		{`{"path":"a","content":"` + long + `"}`, []string{"other"}, behavior.Value{}},
		{`{"x":{"y":"` + long + `"}}`, []string{"x", "y"}, unknown},
		{`{"x":{"y":"a"},"z":"` + long + `"}`, []string{"x", "y"}, behavior.TextValue("a")},
		{`{"a\"b":"` + long + `","c\"d":"e"}`, []string{`a"b`}, unknown},
		{`{"a\"b":"` + long + `","c\"d":"e"}`, []string{`c"d`}, behavior.TextValue("e")},
		// An agent that writes the word itself only blinds the policies.
		{`{"omitted":1,"path":"a","z":"` + long + `"}`, []string{"path"}, unknown},
		{`{"omitted":"1","path":"a","z":"` + long + `"}`, []string{"path"}, behavior.TextValue("a")},
		{`{"omitted":"` + long + `","path":"a"}`, []string{"path"}, behavior.TextValue("a")},
		{`{"omitted":"` + long + `","path":"a"}`, []string{"omitted"}, unknown},
		{`{"x":{"omitted":7,"path":"a"},"z":"` + long + `"}`, []string{"x", "path"}, unknown},
	} {
		outline := policy.Outline(c.args, 1500)
		if outline == "" {
			t.Fatalf("%.60s has no outline", c.args)
		}
		if diff := cmp.Diff(c.want, outlined(outline, c.path...)); diff != "" {
			t.Errorf("%v of %.80s: %s", c.path, outline, diff)
		}
	}
}

func TestArgumentsAreSeenAsToolsTakeThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		path []string
		want behavior.Value
	}{
		{`{"path":"a"}`, []string{"path"}, behavior.TextValue("a")},
		{`{"path":"a"}`, []string{"Path"}, behavior.Value{}},
		{`{"path":"a"}`, nil, behavior.Value{Kind: behavior.Object}},
		{` {"n": 1.50} `, []string{"n"}, behavior.Value{Kind: behavior.Number, Text: "1.50"}},
		{``, []string{"path"}, behavior.Value{}},
		{" \n", []string{"path"}, behavior.Value{}},
		{`{"omitted":1,"path":"a"}`, []string{"path"}, behavior.TextValue("a")},
		{`{"path":{"omitted":5}}`, []string{"path"}, behavior.Value{Kind: behavior.Object}},
		{`{"path":"a"`, []string{"path"}, unknown},
		{`{"path":"a","path":"a"}`, []string{"path"}, unknown},
		{`[]`, nil, unknown},
	} {
		if diff := cmp.Diff(c.want, arg(c.args, c.path...)); diff != "" {
			t.Errorf("%v of %s: %s", c.path, c.args, diff)
		}
		args := &policy.Args{Text: event.Text{Text: c.args}}
		equal(t, c.args+" is known", args.Known(), c.want.Kind != behavior.Unknown)
	}
	if diff := cmp.Diff(unknown, outlined("", "path")); diff != "" {
		t.Errorf("without an outline: %s", diff)
	}
	if diff := cmp.Diff(behavior.Value{}, (&policy.Facts{}).Field([]string{"args", "path"})); diff != "" {
		t.Errorf("without arguments: %s", diff)
	}
}

func TestFactsHaveTheFieldsTheySay(t *testing.T) {
	t.Parallel()
	f := &policy.Facts{
		Agent: "executor-1", Tool: "exec", Model: "m", Source: "mcp:s", Trust: "stranger", To: "x", Text: "y", Refused: "tool.call", Ended: true, Error: true, Turn: 4, Stop: "length", Calls: 2,
		Args: &policy.Args{Text: event.Text{Text: `{"a":{"b":"c"}}`}}, Output: &event.Text{Text: `{"ok":false,"exit":7}`}, Outcome: `{"exit":1,"signal":"SIGKILL"}`,
		Spent: policy.Spent{Cost: 1_500_000_000, Turns: 2, Tokens: 3, Duration: 1_000_001}, AgentSpent: policy.Spent{Cost: -5},
		Over: &policy.Over{Of: "agent", Limit: "turns"}, Ref: "r", Author: "agent-2", Status: "PUBLISHED",
	}
	for path, want := range map[string]string{
		"agent": `"executor-1"`, "role": `"executor"`, "tool": `"exec"`, "model": `"m"`, "to": `"x"`, "text": `"y"`, "proposal": `"tool.call"`,
		"error": "true", "changed": "false", "turn": "4", "stop": `"length"`, "calls": "2", "args": "{…}", "args.a.b": `"c"`, "args.a.c": "null",
		"output": `"{\"ok\":false,\"exit\":7}"`, "output.ok": "false", "output.no": "null", "output.exit": "1", "output.signal": `"SIGKILL"`,
		"spent.cost": "1.500000000", "spent.turns": "2", "spent.tokens": "3", "spent.duration": "1.000001", "spent": "null", "spent.x": "null",
		"agent_spent.cost": "-0.000000005", "over.of": `"agent"`, "over.limit": `"turns"`, "over": "null", "tool.x": "null",
		"source": `"mcp:s"`, "trust": `"stranger"`, "ref": `"r"`, "author": `"agent-2"`, "status": `"PUBLISHED"`, "nothing": "null",
	} {
		equal(t, path, f.Field(strings.Split(path, ".")).String(), want)
	}
	for _, name := range policy.Fields {
		inner := []string{name, "of"}
		if v := f.Field([]string{name}); v.Kind == behavior.Missing && f.Field(inner).Kind == behavior.Missing && !strings.HasSuffix(name, "spent") {
			t.Errorf("there is no %s", name)
		}
	}
	inBlob(f)
	for _, path := range []string{"output", "output.ok"} {
		equal(t, path+" in a blob", f.Field(strings.Split(path, ".")).String(), "?")
	}
	equal(t, "output.exit of a text in a blob", f.Field([]string{"output", "exit"}).String(), "1")
	f.Outcome = "no object"
	equal(t, "output.exit of an outcome that cannot be read", f.Field([]string{"output", "exit"}).String(), "?")
	for _, path := range []string{"error", "changed"} {
		if v := (&policy.Facts{Error: true, Changed: true}).Field([]string{path}); v.Kind != behavior.Missing {
			t.Errorf("%s is %s before there is a result", path, v)
		}
	}
}

func TestFactsThatDifferAreNotEqual(t *testing.T) {
	t.Parallel()
	event := func(set func(*policy.Facts)) behavior.Event {
		f := &policy.Facts{Agent: "a", Tool: "t", Output: &event.Text{Text: "o"}, Ended: true}
		set(f)
		return behavior.Event{Type: "tool.result", Detail: f}
	}
	same := event(func(*policy.Facts) {})
	for name, set := range map[string]func(*policy.Facts){
		"Agent": func(f *policy.Facts) { f.Agent = "b" }, "Tool": func(f *policy.Facts) { f.Tool = "u" },
		"Text": func(f *policy.Facts) { f.Text = "x" }, "To": func(f *policy.Facts) { f.To = "x" },
		"Call": func(f *policy.Facts) { f.Call = 1 }, "Turn": func(f *policy.Facts) { f.Turn = 1 },
		"Error": failed, "Changed": changed, "Refused": func(f *policy.Facts) { f.Refused = "tool.call" },
		"Output": func(f *policy.Facts) { f.Output.Text = "p" }, "Blob": inBlob,
	} {
		equal(t, name, event(set).Equal(same), false)
	}
	equal(t, "the same", event(func(*policy.Facts) {}).Equal(same), true)
}

func TestRolesAreNamesWithoutTheirNumber(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"executor-1": "executor", "executor-12": "executor", "executor": "executor", "a-b-3": "a-b", "a-b": "a-b",
		"-1": "-1", "": "", "executor-1a": "executor-1a", "1": "1",
	} {
		equal(t, name, policy.Role(name), want)
	}
}

func FuzzOutline(f *testing.F) {
	long := strings.Repeat("x", 1500)
	for _, args := range []string{
		`{}`, ``, `{"path":"a"}`, `{"path":"a","content":"` + long + `"}`, `{"omitted":1,"a":"b"}`, `{"a":{"omitted":5}}`,
		`{"a":1} {}`, `{"a":{"b":["` + long + `"]},"c":[1,2]}`, `{"\"":"\ud83d\ude00"}`, `{"a":1e99,"b":-0.0}`, `{"a":"\u0000\/"}`,
		`{"omitted":` + strings.Repeat("1", 100) + `}`,
	} {
		for _, n := range []int{0, 100, 1500} {
			f.Add(args, n)
		}
	}
	f.Fuzz(func(t *testing.T, args string, n int) {
		out := policy.Outline(args, n)
		if out == "" {
			return
		}
		if len(out) > n {
			t.Fatalf("%d bytes, more than %d: %s", len(out), n, out)
		}
		var members map[string]jsontext.Value
		if err := json.Unmarshal([]byte(args), &members); err != nil {
			t.Fatalf("what is no object has the outline %s: %v", out, err)
		}
		paths := [][]string{{"path"}, {"omitted"}}
		for name, value := range members {
			paths = append(paths, []string{name}, []string{name, "omitted"})
			var inner map[string]jsontext.Value
			if value.Kind() == '{' && json.Unmarshal(value, &inner) == nil {
				for deeper := range inner {
					paths = append(paths, []string{name, deeper})
				}
			}
		}
		for _, path := range paths {
			want, got := arg(args, path...), outlined(out, path...)
			if got.Kind != behavior.Unknown && !cmp.Equal(want, got) {
				t.Fatalf("%q is %s in the outline %s, and was %s", path, got, out, want)
			}
		}
		// What is short must not be lost, or policies would refuse everything.
		lost := slices.ContainsFunc(paths, func(p []string) bool { return outlined(out, p...).Kind == behavior.Unknown })
		if lost && len(args) < 60 && !strings.Contains(args, "omitted") && !strings.Contains(args, `\`) {
			t.Fatalf("the outline of %s is %s", args, out)
		}
	})
}
