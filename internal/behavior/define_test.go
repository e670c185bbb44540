package behavior

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/strictyaml"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

const calculateFirst = `
name: calculate-first
text: Compute before you answer.
repeat: true
per: agent
priority: 3
steps:
  - wait: {type: tool.result, where: {tool: calculate, error: false}}
    block: {type: quest.finished, reason: "Compute before you answer."}
    interrupt: {type: user.message}
    times: 2
  - request: {type: message.sent, with: {to: agent-0, text: "Well done.", n: [1, 2.50, {b: null, a: true}]}}
`

func readDefinition(text string) (*Definition, error) {
	n, err := strictyaml.Document("test.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return ReadDefinition(n)
}

func mustRead(t testing.TB, text string) *Definition {
	t.Helper()
	d, err := readDefinition(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return d
}

// steps makes a definition of steps in YAML.
func steps(t testing.TB, head string, list ...string) *Definition {
	t.Helper()
	return mustRead(t, "name: x\n"+head+"\nsteps:\n- "+strings.Join(list, "\n- "))
}

func compiled(t testing.TB, d *Definition) Thread {
	t.Helper()
	th, err := d.Thread()
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func programOf(t testing.TB, ds ...*Definition) *Program {
	t.Helper()
	p := New(nil)
	for _, d := range ds {
		if err := p.Add(compiled(t, d)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func eventOf(t testing.TB, typ, detail string) Event {
	t.Helper()
	e := Event{Type: typ}
	if detail != "" {
		d, err := JSONDetail(detail)
		if err != nil {
			t.Fatal(err)
		}
		e.Detail = d
	}
	return e
}

// happens triggers an event that must be selected.
func happens(t testing.TB, p *Program, typ, detail string) {
	t.Helper()
	if o := p.Trigger(eventOf(t, typ, detail), false); !o.Selected {
		t.Fatalf("%s%s is blocked by %v", typ, detail, o.By)
	}
}

// isBlocked checks whether an event is blocked, and why.
func isBlocked(t testing.TB, p *Program, typ, detail, want string) {
	t.Helper()
	got := ""
	if by := p.Blocked(eventOf(t, typ, detail)); len(by) > 0 {
		got = by[0].Reason
	}
	if got != want {
		t.Errorf("%s%s is blocked for %q, want %q", typ, detail, got, want)
	}
}

func toJSON(t testing.TB, d *Definition) string {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// comesBack checks that a definition survives JSON, which is canonical.
func comesBack(t testing.TB, d *Definition) {
	t.Helper()
	text := toJSON(t, d)
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil || string(canonical) != text {
		t.Errorf("not canonical (%v):\n%s\n%s", err, text, canonical)
	}
	var again Definition
	if err := json.Unmarshal([]byte(text), &again, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*d, again); diff != "" {
		t.Errorf("it comes back as another: %s", diff)
	}
	if got := toJSON(t, &again); got != text {
		t.Errorf("it comes back as\n%s\nand was\n%s", got, text)
	}
	if err := again.Check(); err != nil {
		t.Error(err)
	}
}

func TestDefinitionComesBackFromJSONAsItWas(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		calculateFirst,
		"name: '0'\nsteps: [{block: {type: '*'}}]",
		`{name: a, steps: [{block: [{type: [b, c], later: true}, {type: d, where: {
			z: 1.0, a: -0, y.z: 12345678901234567890123, e: 1e3, i: {in: [a, '1', 1, true, null]},
			r: {min: -1.50, max: 2}, min: {min: 0}, max: {max: 0}, p: {prefix: data}, q: {prefix: [/a, b/]}}}]}]}`,
	} {
		comesBack(t, mustRead(t, text))
	}
}

func TestDefinitionIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	want := `{"name":"calculate-first","per":"agent","priority":3,"repeat":true,"steps":[` +
		`{"block":[{"reason":"Compute before you answer.","type":["quest.finished"]}],` +
		`"interrupt":[{"type":["user.message"]}],"times":2,` +
		`"wait":[{"type":["tool.result"],"where":[{"in":[{"kind":"bool","text":"false"}],"path":"error"},{"in":[{"kind":"text","text":"calculate"}],"path":"tool"}]}]},` +
		`{"request":[{"type":"message.sent","with":"{\"n\":[1,2.5,{\"a\":true,\"b\":null}],\"text\":\"Well done.\",\"to\":\"agent-0\"}"}]}],` +
		`"text":"Compute before you answer."}`
	if diff := cmp.Diff(want, toJSON(t, mustRead(t, calculateFirst))); diff != "" {
		t.Errorf("the thread as JSON differs (-want +got):\n%s", diff)
	}
}

func TestDefinitionIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	// where stands for one condition, in line 4.
	where := func(c string) string {
		return "name: x\nsteps:\n- wait:\n    {type: a, where: {f: " + c + "}}"
	}
	step := func(s string) string { return "name: x\nsteps:\n- wait: {type: a}\n- " + s }
	many := func(n int, s string) string { return strings.Repeat(s+",", n) }
	for _, c := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"NotAMapping", "[a]", 1, "must be a mapping"},
		{"AnUnknownKey", "name: x\nstep: []", 2, `unknown key "step"`},
		{"AKeyThatIsThereTwice", "name: x\nname: y", 2, "already defined"},
		{"NoName", "text: x\nsteps: [{wait: {type: a}}]", 1, "name: it is missing"},
		{"AnEmptyName", "text: x\nname: ''", 2, "name: it is empty"},
		{"ABadName", "text: x\nname: A_b\nsteps: [{wait: {type: a}}]", 2, "name: \"A_b\" is not"},
		{"ADashInFront", "name: -x\nsteps: [{wait: {type: a}}]", 1, "name: "},
		{"ALongName", "name: " + strings.Repeat("x", 64) + "\nsteps: [{wait: {type: a}}]", 1, "name: "},
		{"AFieldThatIsThereInTwoSpellings", "name: x\nsteps:\n- wait:\n    type: a\n    where:\n      a: 1\n      'a': 2", 7, "already defined"},
		{"ABadField", "name: x\nper: a..b\nsteps: [{wait: {type: a}}]", 2, "per: \"a..b\" is not the name of a field"},
		{"RepeatThatIsNoBool", "name: x\nrepeat: often", 2, "repeat: it must be true or false"},
		{"AFieldThatIsANumber", where("1, 2: 3"), 4, "the key 2 must be a string"},
		{"ANegativePriority", "name: x\npriority: -1", 2, "priority: it must be a whole number from 0 to 1000"},
		{"AHighPriority", "name: x\npriority: 1001", 2, "priority: it must be a whole number from 0 to 1000"},
		{"AnOctalPriority", "name: x\npriority: 010", 2, "priority: 010 is not a number as JSON writes it"},
		{"AFractionalPriority", "name: x\npriority: 1.0", 2, "priority: it must be a whole number"},
		{"AQuotedPriority", "name: x\npriority: '1'", 2, "priority: it must be a whole number"},
		{"NoSteps", "name: x", 1, "steps: there are none"},
		{"EmptySteps", "name: x\nsteps: []", 2, "steps: there are none"},
		{"StepsThatAreNoList", "name: x\nsteps: {wait: a}", 2, "steps must be a list"},
		{"ManySteps", "name: x\nsteps: [" + many(101, "{wait: {type: a}}") + "]", 2, "steps: there are 101, more than 100"},
		{"ManyPatterns", step("{wait: [" + many(50, "{type: a}") + "], block: [" + many(51, "{type: b}") + "]}"), 4, "101 kinds of events"},
		{"ManyTypes", step("wait: {type: [" + many(101, "a") + "]}"), 4, "type: there are 101"},
		{"ManyValues", where("{in: [" + many(101, "a") + "]}"), 4, "f: the list has more than 100"},
		{"ManyFolders", where("{prefix: [" + many(101, "a") + "]}"), 4, "f: the list has more than 100"},
		{"AnEmptyStep", step("{}"), 4, "a step must request"},
		{"OnlyTimes", step("{times: 2}"), 4, "a step must request"},
		{"ARepeatThatNeverWaits", "name: x\nsteps: [{block: {type: a}}]\nrepeat: true", 3, "repeat: it repeats, but never waits for anything"},
		{"AStepThatNeverPasses", "name: x\nsteps:\n- block: {type: a}\n- wait: {type: a}", 3, "the steps behind it are never reached"},
		{"AStepThatCanOnlyBeInterrupted", "name: x\nsteps:\n- wait: {type: a}\n- interrupt: {type: a}\n- wait: {type: a}", 4, "the steps behind it are never reached"},
		{"NoTimes", step("wait: {type: a}\n  times: 0"), 5, "times: it must be a whole number from 1 to 1000000000"},
		{"ManyTimes", step("wait: {type: a}\n  times: 1000000001"), 5, "times: it must be a whole number"},
		{"TimesInHex", step("wait: {type: a}\n  times: 0x10"), 5, "times: 0x10 is not a number"},
		{"TimesOfNothing", step("block: {type: a}\n  times: 2"), 5, "times: the step neither requests nor waits"},
		{"AReasonToWait", step("wait:\n    type: a\n    reason: b"), 6, "reason: only what is blocked or asked about has one"},
		{"AnInterruptForLater", step("wait: {type: a}\n  interrupt:\n  - type: a\n  - type: a\n    later: true"), 8, "later: only what is blocked"},
		{"AReasonToRequest", step("request:\n    type: a\n    reason: b"), 6, `unknown key "reason"`},
		{"AnEmptyReason", step("block:\n    type: a\n    reason: ''"), 6, "reason: it is empty"},
		{"NoType", step("block:\n    reason: a"), 5, "type: it is missing"},
		{"AnEmptyType", step("block:\n    type: ''"), 5, "type: it is empty"},
		{"AnEmptyTypeInAList", step("block:\n    type:\n    - a\n    - ''"), 7, "type: it is empty"},
		{"NoTypeInAList", step("block: {type: []}"), 4, "type: the list is empty"},
		{"ATypeThatIsNull", step("block: {type: }"), 4, "type: it must be a text"},
		{"NoPatterns", step("wait: []"), 4, "wait: the list is empty"},
		{"APatternThatIsAWord", step("wait: a"), 4, "it must be a mapping"},
		{"ARequestForAll", step("request: {type: '*'}"), 4, "type: a request is for one type"},
		{"ARequestForTwo", step("request: {type: [a, b]}"), 4, "type: it must be a text"},
		{"ARequestWithAList", step("request: {type: a, with: [b]}"), 4, "with: it must be a mapping"},
		{"ARequestWithAnInfinity", step("request:\n    type: a\n    with:\n      b: [.inf]"), 7, ".inf is not a number"},
		{"ADeepRequest", step("request:\n    type: a\n    with:\n      a:\n       " + strings.Repeat(" -", 70) + " b"), 7, "nested more than 64 deep"},
		{"AnEmptyWhere", step("wait: {type: a, where: {}}"), 4, "where: it must be a mapping of fields"},
		{"AWhereThatIsAList", step("wait: {type: a, where: [b]}"), 4, "where: it must be a mapping of fields"},
		{"AFieldWithoutName", "name: x\nsteps:\n- wait:\n    type: a\n    where:\n      b: 1\n      c.: 1", 7, "c.: \"c.\" is not the name of a field"},
		{"AListForAValue", where("[a]"), 4, "it must be a text, a number"},
		{"AnEmptyCondition", where("{}"), 4, "f: a condition is a value, or has exactly one"},
		{"TwoKinds", where("{in: [1], min: 1}"), 4, "f: a condition is a value, or has exactly one"},
		{"AllKinds", where("{prefix: a, in: [1], min: 1}"), 4, "f: a condition is a value, or has exactly one"},
		{"AnUnknownKind", where("{matches: a}"), 4, `unknown key "matches"`},
		{"AnEmptyIn", where("{in: []}"), 4, "in: the list is empty"},
		{"AnInThatIsAWord", where("{in: a}"), 4, "it must be a list"},
		{"AListInAList", where("{in: [[a]]}"), 4, "in: it must be a text, a number"},
		{"AnEmptyPrefix", where("{prefix: []}"), 4, "prefix: the list is empty"},
		{"APrefixOfNothing", where("{prefix: ''}"), 4, "prefix: it is empty"},
		{"AMinThatIsAText", where("{min: '1'}"), 4, "min: it must be a number"},
		{"AMinThatIsAWord", where("{min: one}"), 4, "min: it must be a number"},
		{"AMinAboveTheMax", where("{min: 2, max: 1.999}"), 4, "min: 2 is more than the max, 1.999"},
		{"AnOctalNumber", where("010"), 4, "010 is not a number as JSON writes it"},
		{"AHexNumber", where("0xFF"), 4, "0xFF is not a number as JSON writes it"},
		{"ALongHexNumber", where("0xFFFFFFFFFFFFFFFFFFFF"), 4, "is not a number as JSON writes it"},
		{"ANumberWithUnderscores", where("1_000"), 4, "1_000 is not a number as JSON writes it"},
		{"ALongNumberWithUnderscores", where("1_000_000_000_000_000_000_000"), 4, "is not a number as JSON writes it"},
		{"ALongNumberWithAZero", where("0123456789012345678901234567890"), 4, "is not a number as JSON writes it"},
		{"ANumberWithAPlus", where("+1"), 4, "+1 is not a number as JSON writes it"},
		{"ANumberThatBeginsWithADot", where(".5"), 4, ".5 is not a number as JSON writes it"},
		{"ANumberThatEndsWithADot", where("5."), 4, "5. is not a number as JSON writes it"},
		{"Infinity", where(".inf"), 4, ".inf is not a number as JSON writes it"},
		{"NotANumber", where(".nan"), 4, ".nan is not a number as JSON writes it"},
		{"ANumberBeyondAllMeasure", where("1e9999999"), 4, "is not a number as JSON writes it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := readDefinition(c.text)
			e, ok := errors.AsType[*strictyaml.Error](err)
			if !ok {
				t.Fatalf("%v (%T) in\n%s", err, err, c.text)
			}
			if e.Line != c.line || !strings.Contains(e.Text, c.want) {
				t.Errorf("line %d: %s\nwant line %d: %s", e.Line, e.Text, c.line, c.want)
			}
		})
	}
}

func TestDefinitionOfAStrangerIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`{}`, "name: it is missing"},
		{`{"name":"x"}`, "steps: there are none"},
		{`{"name":"x","steps":[{"times":-1,"wait":[{"type":["a"]}]}]}`, "steps[0].times: "},
		{`{"name":"x","steps":[{"wait":[{"type":["a"]},{}]}]}`, "steps[0].wait[1].type: it is missing"},
		{`{"name":"x","steps":[{"request":[{}]}]}`, "steps[0].request[0].type: it is empty"},
		{`{"name":"x","steps":[{"request":[{"type":"a","with":"{"}]}]}`, "steps[0].request[0].with: read JSON"},
		{`{"name":"x","steps":[{"request":[{"type":"a","with":"[]"}]}]}`, "it is not an object"},
		{`{"name":"x","steps":[{"request":[{"type":"a","with":"{\"a\":1,\"a\":2}"}]}]}`, "duplicate"},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"b","in":[{"kind":"null"}]},{"path":"a","in":[{"kind":"null"}]}]}]}]}`, "steps[0].wait[0].where[1]: the conditions must be sorted"},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"","min":"1"}]}]}]}`, "is not the name of a field"},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"a","min":"x"}]}]}]}`, "steps[0].wait[0].where.a.min: "},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"a","max":" 1"}]}]}]}`, "where.a.max: "},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"a","max":"01"}]}]}]}`, "where.a.max: "},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"a","in":[{"kind":"number","text":"x"}]}]}]}]}`, "where.a.in[0]: "},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"a","in":[{"kind":"bool","text":"yes"}]}]}]}]}`, "where.a.in[0]: "},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"a","in":[{"kind":"list"}]}]}]}]}`, "where.a.in[0]: "},
		{`{"name":"x","steps":[{"wait":[{"type":["a"],"where":[{"path":"a","prefix":[""]}]}]}]}`, "where.a.prefix[0]: "},
		{`{"name":"x","steps":[{"interrupt":[{"type":["a"],"reason":"b"}]}]}`, "steps[0].interrupt[0].reason: "},
	} {
		var d Definition
		if err := json.Unmarshal([]byte(c.text), &d); err != nil {
			t.Fatal(err)
		}
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
		if _, err := d.Thread(); err == nil {
			t.Errorf("%s is compiled", c.text)
		}
	}
	bad := "\xff"
	for _, d := range []Definition{
		{Name: "x", Text: bad, Steps: []Point{{Wait: []PatternDef{{Types: []string{"a"}}}}}},
		{Name: "x", Per: bad, Steps: []Point{{Wait: []PatternDef{{Types: []string{"a"}}}}}},
		{Name: "x", Steps: []Point{{Wait: []PatternDef{{Types: []string{bad}}}}}},
		{Name: "x", Steps: []Point{{Block: []PatternDef{{Types: []string{"a"}, Reason: bad}}}}},
	} {
		if err := d.Check(); err == nil {
			t.Errorf("%+v is accepted", d)
		}
	}
}

func TestConditionOfADefinition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ condition, yes, no string }{
		{"1", `1|1.0|1e0|[2,1]|10e-1`, `2|"1"|true|null|[]|{}`},
		{"1.0", `1|1.0`, `1.01`},
		{"12345678901234567890123", `12345678901234567890123`, `12345678901234567890124`},
		{"a", `"a"|["b","a"]`, `"A"|"b"|["b"]|{"a":"a"}`},
		{"'1'", `"1"`, `1`},
		{"true", `true`, `false|"true"|1`},
		{"null", `null`, `0|""|false`},
		{"{in: [a, 2, false]}", `"a"|2|2.0|false|[9,2]`, `"b"|3|true|null`},
		{"{min: 2}", `2|2.0|2.001|1e9|[1,3]`, `1.999|-3|"3"|null`},
		{"{max: 2}", `2|2.0|1.999|-5`, `2.0000001|"1"`},
		{"{min: -1, max: 1}", `-1|0|1|1.0`, `-1.1|1.1`},
		{"{prefix: data}", `"data"|"/data"|"./data/x"|"a/../data"|"../data/x"|"data//x"|["y","data/x"]`, `"database"|"data/../x"|"x/data"|"data/../../etc"|""|1`},
		{"{prefix: [a/b, /c/]}", `"a/b"|"a/b/c"|"c"|"c/d"`, `"a"|"a/bc"|"d/c"`},
	} {
		p := programOf(t, steps(t, "", "block: {type: e, where: {f.g: "+c.condition+"}}"))
		for want, values := range map[string]string{"blocked by the policy x": c.yes, "": c.no} {
			for v := range strings.SplitSeq(values, "|") {
				isBlocked(t, p, "e", `{"f":{"g":`+v+`}}`, want)
			}
		}
		isBlocked(t, p, "other", `{"f":{"g":1}}`, "")
		missing := ""
		if c.condition == "null" {
			missing = "blocked by the policy x" // what is not there is as good as null
		}
		isBlocked(t, p, "e", "", missing)
		isBlocked(t, p, "e", `{"f":1}`, missing)
	}
}

// unseen is a detail of which nothing can be seen but the fields it has.
type unseen map[string]Value

func (u unseen) Field(path []string) Value {
	if v, ok := u[strings.Join(path, ".")]; ok {
		return v
	}
	return Value{Kind: Unknown}
}

func (u unseen) JSON() string { return `{"unseen":true}` }

func TestFieldThatCannotBeSeenIsBlockedAndNotWaitedFor(t *testing.T) {
	t.Parallel()
	p := programOf(t, steps(t, "", "{wait: {type: a, where: {f: 1}}, block: {type: b, where: {f: 1}, reason: no}}"))
	if o := p.Trigger(Event{Type: "a", Detail: unseen{}}, false); !o.Selected {
		t.Errorf("an event whose member cannot be seen: got %+v, want it selected", o)
	}
	if by := p.Blocked(Event{Type: "b", Detail: unseen{}}); len(by) != 1 || by[0].Reason != "no" {
		t.Errorf("blockers of b: got %v, want one that says no", by)
	}
}

func TestPatternOfADefinition(t *testing.T) {
	t.Parallel()
	p := programOf(t, steps(t, "", "block: [{type: [a, b], reason: first}, {type: '*', where: {f: 1}, later: true}]"))
	isBlocked(t, p, "a", "", "first")
	isBlocked(t, p, "b", "", "first")
	isBlocked(t, p, "c", "", "")
	isBlocked(t, p, "c", `{"f":1}`, "blocked by the policy x")
	if by := p.Blocked(eventOf(t, "c", `{"f":1}`)); !by[0].Later {
		t.Error("it should pass by itself")
	}
	if by := p.Blocked(eventOf(t, "a", "")); by[0].Later {
		t.Error("it does not pass by itself")
	}
}

func TestTimesAPointIsPassed(t *testing.T) {
	t.Parallel()
	p := programOf(t, steps(t, "", "{wait: {type: a}, times: 3, block: {type: b}}", "wait: {type: b}"))
	for range 3 {
		isBlocked(t, p, "b", "", "blocked by the policy x")
		happens(t, p, "c", "")
		happens(t, p, "a", "")
	}
	happens(t, p, "b", "")
	if len(p.Names()) != 0 {
		t.Error("it has not ended")
	}

	p = programOf(t, steps(t, "", "{request: {type: a}, times: 3}", "request: {type: b}"))
	if n := p.Run(); n != 4 {
		t.Errorf("%d steps", n)
	}
}

func TestOnceEndsRepeatBeginsAnewAndAnInterruptIsForGood(t *testing.T) {
	t.Parallel()
	for head, repeat := range map[string]bool{"": false, "repeat: true": true, "per: f": false, "per: f\nrepeat: true": true} {
		p := programOf(t, steps(t, head, "{wait: {type: a}, interrupt: {type: i}}", "{wait: {type: b}, block: {type: a}}"))
		happens(t, p, "a", "")
		isBlocked(t, p, "a", "", "blocked by the policy x")
		happens(t, p, "i", "") // it interrupts the first step only
		happens(t, p, "b", "")
		if live := len(p.Names()) == 1; live != repeat {
			t.Errorf("%s: it lives: %v", head, live)
		}
		happens(t, p, "i", "")
		if len(p.Names()) != 0 {
			t.Errorf("%s: it was not interrupted", head)
		}
	}
}

func TestDefinitionRequests(t *testing.T) {
	t.Parallel()
	var got []string
	p := New(&Options{Effect: func(e Event) { got = append(got, e.String()) }})
	for _, d := range []*Definition{
		mustRead(t, "{name: late, priority: 2, steps: [{request: {type: c}}]}"),
		mustRead(t, "{name: early, priority: 1, steps: [{request: [{type: a, with: {z: 1, b: [x]}}, {type: b}]}, {request: {type: b}}]}"),
		mustRead(t, "{name: guard, steps: [{block: {type: a}, wait: {type: c}}]}"),
	} {
		if err := p.Add(compiled(t, d)); err != nil {
			t.Fatal(err)
		}
	}
	p.Run()
	if diff := cmp.Diff([]string{"b", "b", "c"}, got); diff != "" {
		t.Errorf("the events that were selected differ (-want +got):\n%s", diff)
	}
	d := mustRead(t, "{name: x, steps: [{request: {type: a, with: {z: 1.0, b: [x]}}}]}")
	if got := programOf(t, d).Requested()[0].Event; !got.Equal(eventOf(t, "a", `{"b":["x"],"z":1}`)) {
		t.Errorf("the request: got %v, want 1 and 1.0 to be the same", got)
	}
}

func TestScopeIsAllThatCouldEverBeBlocked(t *testing.T) {
	t.Parallel()
	th := compiled(t, steps(t, "text: Hi.", "{wait: {type: a}, block: {type: b}}", "block: {type: c}"))
	for typ, want := range map[string]Truth{"a": No, "b": Yes, "c": Yes} {
		if got := th.Scope.Match(Event{Type: typ}); got != want {
			t.Errorf("the scope of %s: %v, want otherwise", typ, got)
		}
	}
	if th.Text != "Hi." || len(th.Outline) != 2 {
		t.Errorf("the thread: got %+v, want its text and two steps of outline", th)
	}
	if th := compiled(t, steps(t, "", "wait: {type: a}")); th.Scope == nil || th.Scope.Match(Event{Type: "a"}) != No {
		t.Error("a thread that blocks nothing blocks when it breaks down")
	}
}

func TestDefinitionIsSavedAndRestoredAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"repeat: true", "repeat: false", "repeat: true\nper: f"} {
		d := steps(t, head, "{wait: {type: a}, times: 2}", "{request: {type: b}, block: {type: a}}", "{wait: {type: c}, interrupt: {type: d}}")
		p := programOf(t, d)
		for i, e := range []string{"a", "a", "", "c", "a", "a", "", "d"} {
			if e == "" {
				p.Step()
			} else {
				detail := ""
				if i%3 == 1 {
					detail = `{"f":"v"}`
				}
				p.Trigger(eventOf(t, e, detail), false)
			}
			q := programOf(t, d)
			if err := q.Restore(p.Save()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p.Text(), q.Text()); diff != "" {
				t.Errorf("the restored program says something else:\n%s", diff)
			}
			if diff := cmp.Diff(p.Save(), q.Save()); diff != "" {
				t.Errorf("the restored program saves something else:\n%s", diff)
			}
			p = q
		}
	}
}

func TestRestoreRefusesGarbage(t *testing.T) {
	t.Parallel()
	for per, bad := range map[string][]string{
		"": {"", "x", "null", "[]", `{"point":2}`, `{"point":-1}`, `{"passed":2}`, `{"passed":-1}`, `{"passed":0}`, `{"point":1,"passed":0}`, `{"point":1,"point":1}`, `{"x":1}`, `{"point":1.5}`, `{"point":99999999999999999999}`, `{"point":1} `},
		"per: f": {"", "x", "null", `{"rest":{"point":3}}`, `{"rest":{"point":2}}`, `{"rest":{"passed":2}}`, `{"rest":{}}`, `{"values":[{"value":"\"a\""}]}`,
			`{"values":[{"point":1,"value":"a"}]}`, `{"values":[{"point":1,"value":"1.0"}]}`, `{"values":[{"point":1,"value":"[]"}]}`, `{"values":[{"point":1,"value":"null"}]}`,
			`{"values":[{"point":1,"value":"1,\"w\":2"}]}`, `{"values":[{"point":3,"value":"1"}]}`, `{"values":[{"passed":1,"point":2,"value":"1"}]}`,
			`{"values":[{"point":1,"value":"2"},{"point":1,"value":"1"}]}`, `{"values":[{"point":1,"value":"1"},{"point":1,"value":"1"}]}`},
	} {
		d := steps(t, per, "{wait: {type: a}, times: 2}", "wait: {type: b}")
		for _, state := range bad {
			p := programOf(t, d)
			before := p.Save()
			if err := p.Restore([]Saved{{Name: "x", State: state}}); err == nil {
				t.Errorf("%s: %s is accepted", per, state)
			}
			if diff := cmp.Diff(before, p.Save()); diff != "" {
				t.Errorf("%s changed it: %s", state, diff)
			}
		}
	}
	p := programOf(t, steps(t, "per: f", "{wait: {type: a}, times: 2}", "wait: {type: b}"))
	good := `{"values":[{"point":2,"value":"\"a\""},{"passed":1,"value":"0.01"},{"point":1,"value":"true"}]}`
	if err := p.Restore([]Saved{{Name: "x", State: good}}); err != nil {
		t.Fatal(err)
	}
	if got := p.Save()[0].State; got != good {
		t.Errorf("the saved state: got %s, want the good one", got)
	}
}

func TestEachValueHasItsOwnRun(t *testing.T) {
	t.Parallel()
	p := programOf(t, steps(t, "per: agent", "{wait: {type: think}, interrupt: {type: free}, block: {type: act, reason: Think first.}}", "{wait: {type: act}, block: {type: sleep, reason: Act first., later: true}}"))
	a, b, c := `{"agent":"a"}`, `{"agent":"b"}`, `{"agent":"c"}`
	isBlocked(t, p, "act", a, "Think first.")
	happens(t, p, "think", a)
	isBlocked(t, p, "act", a, "")
	isBlocked(t, p, "sleep", a, "Act first.")
	isBlocked(t, p, "act", b, "Think first.")
	isBlocked(t, p, "sleep", b, "")
	// Without the field it concerns all.
	isBlocked(t, p, "act", "", "Think first.")
	isBlocked(t, p, "act", `{"agent":null}`, "Think first.")
	isBlocked(t, p, "sleep", "", "Act first.")
	// An interrupt ends the one it is for.
	happens(t, p, "free", b)
	isBlocked(t, p, "act", b, "")
	isBlocked(t, p, "act", c, "Think first.")
	// What nobody can see may be the one who must not.
	for _, v := range []Value{{Kind: Unknown}, {Kind: List, Items: []Value{TextValue("b")}}, {Kind: Object}} {
		e := Event{Type: "act", Detail: unseen{"agent": v}}
		if len(p.Blocked(e)) != 1 || p.threads[0].bids.Block[0].Match.Match(e) != Maybe {
			t.Errorf("%v is not blocked", v)
		}
		p.Tell(Event{Type: "think", Detail: unseen{"agent": v}})
		isBlocked(t, p, "act", c, "Think first.")
	}
	// All think, also those whom nobody has seen yet.
	happens(t, p, "think", "")
	isBlocked(t, p, "act", c, "")
	isBlocked(t, p, "act", `{"agent":7}`, "")
	happens(t, p, "act", `{"agent":7.0}`)
	isBlocked(t, p, "sleep", `{"agent":70e-1}`, "")
	isBlocked(t, p, "sleep", `{"agent":"7"}`, "Act first.")
	if len(p.Names()) != 1 {
		t.Fatal("it ended for all")
	}
	happens(t, p, "act", "")
	if len(p.Names()) != 0 {
		t.Error("it has ended for all, but lives")
	}
}

func TestEachValueRequestsAndMovesWithWhomeverRequests(t *testing.T) {
	t.Parallel()
	p := programOf(t, steps(t, "per: agent", "wait: {type: fail}", "request: {type: help, with: {agent: nurse}}"))
	happens(t, p, "fail", `{"agent":"a"}`)
	happens(t, p, "fail", `{"agent":"b"}`)
	if r := p.Requested(); len(r) != 1 {
		t.Errorf("requests: got %v, want one", r)
	}
	if n := p.Run(); n != 1 {
		t.Errorf("%d steps", n)
	}
	if got := p.Save()[0].State; !strings.Contains(got, `"value":"\"a\""`) || !strings.Contains(got, `"value":"\"b\""`) || strings.Contains(got, "nurse") {
		t.Errorf("the saved state: got %s, want a and b, and nothing of the nurse", got)
	}
}

func TestAValueThatStandsLikeTheRestIsForgotten(t *testing.T) {
	t.Parallel()
	p := programOf(t, steps(t, "per: f\nrepeat: true", "wait: {type: a}", "wait: {type: b}"))
	for i := range 1000 {
		happens(t, p, "a", fmt.Sprintf(`{"f":%d}`, i))
		happens(t, p, "b", fmt.Sprintf(`{"f":%d}`, i))
	}
	if got := p.Save()[0].State; got != "{}" {
		t.Errorf("the saved state: got %.200s, want none", got)
	}
	happens(t, p, "a", `{"f":1}`)
	happens(t, p, "a", "")
	if got := p.Save()[0].State; got != `{"rest":{"point":1}}` {
		t.Errorf("the saved state: got %.200s, want rest at point 1", got)
	}
}

func TestMatchersOfEachSayWhatTheyMatchNow(t *testing.T) {
	t.Parallel()
	p := programOf(t, steps(t, "per: f", "{wait: {type: a}, interrupt: {type: i}, block: [{type: b}, {type: c, later: true}]}", "{wait: {type: d}, block: {type: e}}", "{request: {type: g}}"))
	happens(t, p, "a", `{"f":1}`)
	b := p.threads[0].bids
	got := []string{b.Wait.String(), b.Block[0].Match.String(), b.Block[1].Match.String()}
	if diff := cmp.Diff([]string{"a or i or d", "b or e", "c"}, got); diff != "" {
		t.Errorf("what is waited for and blocked differs (-want +got):\n%s", diff)
	}
}

// tally counts how often a matcher is asked.
type tally struct {
	Matcher
	n *int
}

func (c tally) Match(e Event) Truth {
	*c.n++
	return c.Matcher.Match(e)
}

func TestThousandValuesCostAsMuchAsTen(t *testing.T) {
	t.Parallel()
	asked := func(values int, typ, detail string) int {
		c, err := steps(t, "per: f\nrepeat: true", "{wait: {type: a}, interrupt: {type: i}, block: {type: z}}", "{wait: {type: b}, block: [{type: y}, {type: z}]}").compile()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range c.points {
			p := &c.points[i]
			p.Wait = tally{p.Wait, &n}
			for j := range p.Block {
				p.Block[j].Match = tally{p.Block[j].Match, &n}
			}
		}
		p := New(nil)
		if err := p.Add(Thread{Name: "x", Start: func() Behavior { return newEach(c) }}); err != nil {
			t.Fatal(err)
		}
		for i := range values {
			happens(t, p, "a", fmt.Sprintf(`{"f":"v%d"}`, i))
		}
		n = 0
		p.Trigger(eventOf(t, typ, detail), false)
		return n
	}
	for _, c := range [][2]string{{"a", `{"f":"new"}`}, {"b", `{"f":"v3"}`}, {"y", `{"f":"v3"}`}, {"z", ""}, {"b", ""}, {"q", ""}} {
		few, many := asked(10, c[0], c[1]), asked(1000, c[0], c[1])
		if few != many || few == 0 {
			t.Errorf("%s%s: matchers are asked %d times for 10 values, %d for 1000", c[0], c[1], few, many)
		}
	}
}

// plainEach does what each does with a spot for every value of a small world.
type plainEach struct {
	*course
	at map[string]spot
}

func (r *plainEach) meant(e Event, value string) bool {
	v := e.Field(r.per)
	return v.Kind == Missing || valueKey(v) == value
}

func (r *plainEach) blocks(e Event) bool {
	for value, s := range r.at {
		if !r.ended(s) && r.meant(e, value) && slices.ContainsFunc(r.points[s.Point].Block, func(b Ban) bool { return b.Match.Match(e) != No }) {
			return true
		}
	}
	return false
}

func (r *plainEach) hear(e Event) (alive bool) {
	for value, s := range r.at {
		if r.ended(s) {
			continue
		}
		p := &r.points[s.Point]
		switch {
		case r.meant(e, value) && p.Interrupt != nil && p.Interrupt.Match(e) == Yes:
			s = spot{Point: len(r.points)}
		case r.meant(e, value) && p.Wait != nil && p.Wait.Match(e) == Yes, slices.ContainsFunc(p.Request, e.Equal):
			s = r.next(s)
		}
		r.at[value] = s
		alive = alive || !r.ended(s)
	}
	return alive
}

func TestEachAgreesWithARunForEveryValue(t *testing.T) {
	t.Parallel()
	// The last stands for all that never happen.
	world := []string{`"a"`, `"b"`, `1`, `"never"`}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		pick := func(list ...string) string { return list[rnd.IntN(len(list))] }
		var list []string
		for range 1 + rnd.IntN(4) {
			list = append(list, fmt.Sprintf("{wait: {type: %s}, block: {type: %s}, times: %d%s%s}", pick("a", "b", "c"), pick("a", "b", "d"), 1+rnd.IntN(2),
				pick("", "", ", interrupt: {type: i}"), pick("", ", request: {type: r}", ", request: {type: r, with: {f: a}}")))
		}
		d := steps(t, "per: f\nrepeat: "+pick("true", "false"), list...)
		c, err := d.compile()
		if err != nil {
			t.Fatal(err)
		}
		plain := &plainEach{c, map[string]spot{}}
		for _, v := range world {
			plain.at[v] = spot{}
		}
		p := programOf(t, d)
		for i := range 60 {
			detail := ""
			if rnd.IntN(4) > 0 {
				detail = `{"f":` + pick(world[:3]...) + `}`
			}
			e := eventOf(t, pick("a", "b", "c", "d", "i", "r"), detail)
			if got, want := len(p.Blocked(e)) > 0, plain.blocks(e); got != want {
				t.Fatalf("seed %d, %d: %s is blocked: %v, want %v", seed, i, e, got, want)
			}
			if !p.Trigger(e, false).Selected {
				continue
			}
			alive := plain.hear(e)
			if got := len(p.Names()) == 1; got != alive {
				t.Fatalf("seed %d, %d: after %s it lives: %v, want %v", seed, i, e, got, alive)
			}
			if !alive {
				break
			}
			run := p.threads[0].body.(*each)
			for v, want := range plain.at {
				if got := run.stands(v); got != want {
					t.Fatalf("seed %d, %d: after %s value %s stands at %v, want %v", seed, i, e, v, got, want)
				}
			}
			count := slices.Clone(run.count)
			if run.recount(); !slices.Equal(count, run.count) {
				t.Fatalf("seed %d, %d: after %s it counts %v, want %v", seed, i, e, count, run.count)
			}
		}
	}
}

// witness is an event that a pattern means, as far as that is easily told.
func witness(p PatternDef, per, value string) Event {
	type object = map[string]any
	root := object{}
	put := func(path string, v any) {
		names := strings.Split(path, ".")
		at := root
		for _, name := range names[:len(names)-1] {
			next, ok := at[name].(object)
			if !ok {
				next = object{}
				at[name] = next
			}
			at = next
		}
		at[names[len(names)-1]] = v
	}
	if per != "" && value != "" {
		put(per, value)
	}
	for _, c := range p.Where {
		switch {
		case len(c.In) > 0:
			v, _ := c.In[0].value()
			put(c.Path, jsontext.Value(v.String()))
		case len(c.Prefix) > 0:
			put(c.Path, c.Prefix[0]+"/x")
		case c.Min != "":
			put(c.Path, jsontext.Value(c.Min))
		default:
			put(c.Path, jsontext.Value(c.Max))
		}
	}
	text, err := json.Marshal(root, json.Deterministic(true))
	if err != nil {
		return Event{Type: p.Types[0]}
	}
	d, err := JSONDetail(string(text))
	if err != nil {
		return Event{Type: p.Types[0]}
	}
	return Event{Type: p.Types[0], Detail: d}
}

func FuzzDefinition(f *testing.F) {
	f.Add([]byte(calculateFirst), uint64(1))
	f.Add([]byte("name: a\nper: f.g\nsteps:\n- {wait: {type: '*', where: {x: {min: 1}}}, times: 3}\n- {request: {type: b}, interrupt: {type: c}}\n- block: {type: [d], later: true}\n"), uint64(2))
	f.Add([]byte("name: a\nsteps: [{block: {type: a, where: {p: {prefix: [x, ../y]}, q: {in: [1, ~]}}}}]"), uint64(3))
	f.Add([]byte("{name: 0, per: a, repeat: true, steps: [{request: [{type: a, with: {a: 1e5}}, {type: a, with: {a: {b: []}}}]}]}"), uint64(4))
	f.Add([]byte("name: |\n  x\nsteps:\n  ? wait\n  : {type: \"\\xff\\ud800\"}"), uint64(5))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		d, err := readDefinition(string(data))
		if err != nil {
			if _, ok := errors.AsType[*strictyaml.Error](err); !ok {
				t.Fatalf("%v (%T) has no place", err, err)
			}
			return
		}
		comesBack(t, d)
		p := programOf(t, d)
		Mermaid([]Thread{compiled(t, d)})
		rnd := rand.New(rand.NewPCG(seed, 2))
		var all []PatternDef
		for _, s := range d.Steps {
			all = slices.Concat(all, s.Wait, s.Block, s.Interrupt, []PatternDef{{Types: []string{"other"}}})
		}
		for range 20 {
			if rnd.IntN(3) == 0 {
				p.Step()
			} else {
				p.Trigger(witness(all[rnd.IntN(len(all))], d.Per, []string{"", "a", "b"}[rnd.IntN(3)]), false)
			}
			if broken := p.Broken(); len(broken) > 0 {
				t.Fatalf("threads broke: %v", broken)
			}
			q := programOf(t, d)
			if err := q.Restore(p.Save()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p.Save(), q.Save()); diff != "" {
				t.Fatalf("the restored program saves something else:\n%s", diff)
			}
			if p.Text() != q.Text() {
				t.Fatalf("the restored program says something else:\n%s\n%s", p.Text(), q.Text())
			}
		}
	})
}
