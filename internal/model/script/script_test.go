package script

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, text string) *Script {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func said(text string) model.Message {
	return model.Message{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: text}}}
}

func result(tool, text string) model.Part {
	return model.Part{Kind: model.PartToolResult, ID: "call_1_0", Name: tool, Text: text}
}

func request(turn int64, messages ...model.Message) *model.Request {
	return &model.Request{Agent: "agent-0", Model: "script:test.yaml", Turn: turn, Messages: messages}
}

// play returns the text of the answer.
func play(t *testing.T, s *Script, r *model.Request) string {
	t.Helper()
	a, err := s.Generate(t.Context(), r, nil)
	if err != nil {
		return err.Error()
	}
	var texts []string
	for _, p := range a.Parts {
		texts = append(texts, p.Text+p.Args)
	}
	return strings.Join(texts, "|")
}

const example = `
# A script plays fixed lines; it is not a language model.
rules:
  - on: {turn: 1}
    think: "Six times seven."
    say: "I will compute it."
    call:
      - tool: calculate
        args: {code: "print(6*7)", z: [1, 2.50, null, true, {b: 1, a: 12345678901234567890123}]}
      - tool: list_files
    usage: {input: 100, output: 20, cached: 60}
    cost: "0.001"
  - on: {tool: calculate, result: '(?m)^(?P<answer>\d+)$'}
    say: "The answer is $1, ${answer}; it costs $$5."
`

func TestGenerate(t *testing.T) {
	t.Parallel()
	s := parse(t, example)
	t.Run("PlaysAllPartsOfARule", func(t *testing.T) {
		t.Parallel()
		var deltas []model.Delta
		got, err := s.Generate(t.Context(), request(1, said("What is it?")), func(d model.Delta) { deltas = append(deltas, d) })
		if err != nil {
			t.Fatal(err)
		}
		want := &model.Answer{
			Parts: []model.Part{
				{Kind: event.PartThinking, Text: "Six times seven."},
				{Kind: event.PartText, Text: "I will compute it."},
				{Kind: event.PartToolCall, ID: "call_1_0", Name: "calculate", Args: `{"code":"print(6*7)","z":[1,2.50,null,true,{"b":1,"a":12345678901234567890123}]}`},
				{Kind: event.PartToolCall, ID: "call_1_1", Name: "list_files", Args: `{}`},
			},
			Usage: event.Usage{Input: 100, Output: 20, Cached: 60},
			Stop:  model.StopTools,
			Cost:  1_000_000,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the answer differs (-want +got):\n%s", diff)
		}
		wantDeltas := []model.Delta{
			{Kind: event.PartThinking, Text: "Six "}, {Kind: event.PartThinking, Text: "times "}, {Kind: event.PartThinking, Text: "seven."},
			{Kind: event.PartText, Text: "I "}, {Kind: event.PartText, Text: "will "}, {Kind: event.PartText, Text: "compute "}, {Kind: event.PartText, Text: "it."},
		}
		if diff := cmp.Diff(wantDeltas, deltas); diff != "" {
			t.Errorf("the deltas differ (-want +got):\n%s", diff)
		}
	})
	t.Run("PutsInWhatWasCaught", func(t *testing.T) {
		t.Parallel()
		r := request(2, said("q"), model.Message{Role: model.User, Parts: []model.Part{result("other", "7"), result("calculate", "so\n42\n")}})
		got, err := s.Generate(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := &model.Answer{
			Parts: []model.Part{{Kind: event.PartText, Text: "The answer is 42, 42; it costs $5."}},
			Usage: event.Usage{Input: 6, Output: 9},
			Stop:  model.StopEnd,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the answer differs (-want +got):\n%s", diff)
		}
	})
	t.Run("FindsTheToolOfAResultByItsCall", func(t *testing.T) {
		t.Parallel()
		r := request(2,
			model.Message{Role: model.Assistant, Parts: []model.Part{{Kind: event.PartToolCall, ID: "call_1_0", Name: "calculate"}}},
			model.Message{Role: model.User, Parts: []model.Part{result("", "42")}})
		if got := play(t, s, r); got != "The answer is 42, 42; it costs $5." {
			t.Errorf("got %q", got)
		}
	})
	t.Run("ShowsWhatNoRuleMatches", func(t *testing.T) {
		t.Parallel()
		_, err := s.Generate(t.Context(), request(3, said("Hello "+strings.Repeat("x", 1000))), nil)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.Invalid || !strings.Contains(e.Text, `turn 3 of agent-0, where the last message is "Hello xx`) || !strings.Contains(e.Text, "add one") || len(e.Text) > 500 {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("DoesNotChangeTheRequest", func(t *testing.T) {
		t.Parallel()
		r, same := request(1, said("q")), request(1, said("q"))
		play(t, s, r)
		if diff := cmp.Diff(same, r); diff != "" {
			t.Errorf("the request was changed:\n%s", diff)
		}
	})
	t.Run("EscapesWhatItPutsIntoAMapping", func(t *testing.T) {
		t.Parallel()
		s := parse(t, "rules:\n- on: {last: '(?s)(.*)'}\n  call: [{tool: a, args: {x: 'got $1'}}]")
		if got, want := play(t, s, request(1, said("\"\n\xff"))), `{"x":"got \"\n`+"\uFFFD"+`"}`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("PutsInWhatWasSeen", func(t *testing.T) {
		t.Parallel()
		s := parse(t, "rules:\n- on: {result: '(.)', last: '(..)', seen: 'id (\\w+)'}\n  say: 'it is $1'")
		r := request(3, said("id a"), said("id b"), model.Message{Role: model.User, Parts: []model.Part{result("t", "xyz")}})
		if got := play(t, s, r); got != "it is b" {
			t.Errorf("got %q, want the newest that was seen", got)
		}
	})
	t.Run("SendsAStringOfArgsAsItIs", func(t *testing.T) {
		t.Parallel()
		s := parse(t, "rules:\n- call: [{tool: a, args: '{\"x\": '}]")
		if got := play(t, s, request(1)); got != `{"x": ` {
			t.Errorf("got %q", got)
		}
	})
	t.Run("ObeysStop", func(t *testing.T) {
		t.Parallel()
		a, err := parse(t, "rules:\n- {say: cut o, stop: length}").Generate(t.Context(), request(1), nil)
		if err != nil || a.Stop != model.StopLength {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("EstimatesTokens", func(t *testing.T) {
		t.Parallel()
		r := request(1, said("12345678"))
		r.System = "1234"
		r.Tools = []model.Tool{{Name: "ab", Description: "cd", Schema: "{}12"}}
		a, err := parse(t, "rules:\n- {think: '12345678', say: '1234'}").Generate(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(event.Usage{Input: 5, Output: 3, Thinking: 2}, a.Usage); diff != "" {
			t.Errorf("the usage differs (-want +got):\n%s", diff)
		}
	})
}

func TestConditions(t *testing.T) {
	t.Parallel()
	withResults := func(parts ...model.Part) *model.Request {
		return request(2, model.Message{Role: model.User, Parts: parts})
	}
	for name, c := range map[string]struct {
		on      string
		request *model.Request
		want    bool
	}{
		"NoneMatchesAlways":           {"{}", request(9), true},
		"TurnHolds":                   {"{turn: 2}", request(2), true},
		"TurnFails":                   {"{turn: 2}", request(3), false},
		"FromTurnHolds":               {"{from_turn: 3}", request(3), true},
		"FromTurnFails":               {"{from_turn: 3}", request(2), false},
		"UntilTurnHolds":              {"{until_turn: 500}", request(500), true},
		"UntilTurnFails":              {"{until_turn: 500}", request(501), false},
		"EveryHolds":                  {"{every: 3}", request(6), true},
		"EveryFails":                  {"{every: 3}", request(7), false},
		"AgentHolds":                  {"{agent: agent-0}", request(1), true},
		"AgentFails":                  {"{agent: agent-1}", request(1), false},
		"AllMustHold":                 {"{agent: agent-0, every: 2}", request(3), false},
		"LastHolds":                   {"{last: '^hel'}", request(1, said("hello")), true},
		"LastFails":                   {"{last: '^hel'}", request(1, said("hello"), said("bye")), false},
		"LastReadsResults":            {"{last: '42'}", withResults(result("a", "42")), true},
		"LastOfNothing":               {"{last: '.'}", request(1), false},
		"ToolHolds":                   {"{tool: a}", withResults(result("b", ""), result("a", "")), true},
		"ToolFails":                   {"{tool: a}", withResults(result("b", "")), false},
		"ToolInAnOlderMessageFails":   {"{tool: a}", request(1, withResults(result("a", "")).Messages[0], said("x")), false},
		"ResultHolds":                 {"{result: '^x$'}", withResults(result("b", "x")), true},
		"ResultOfAnotherToolFails":    {"{tool: a, result: x}", withResults(result("a", "y"), result("b", "x")), false},
		"ResultOfTheSecondCallHolds":  {"{tool: a, result: x}", withResults(result("a", "y"), result("a", "x")), true},
		"ResultAndLastMustBothHold":   {"{result: x, last: y}", withResults(result("a", "x")), false},
		"SeenHoldsInAnOlderMessage":   {"{seen: '^hel'}", request(1, said("hello"), said("bye")), true},
		"SeenFails":                   {"{seen: '^hel'}", request(1, said("shell"), said("bye")), false},
		"SeenAndToolMustBothHold":     {"{tool: a, seen: x}", withResults(result("a", "y")), false},
		"NumbersMayNameAgentsAndText": {"{last: 42}", request(1, said("42")), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, "rules:\n- on: "+c.on+"\n  say: matched\n- say: other")
			want := "other"
			if c.want {
				want = "matched"
			}
			if got := play(t, s, c.request); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range []model.Kind{model.Unavailable, model.ContextTooLong, model.Refused, model.Invalid} {
		t.Run("Gives/"+string(kind), func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, "rules:\n- fault: "+string(kind)).Generate(t.Context(), request(1), nil)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != kind || !strings.Contains(e.Text, "line 2") {
				t.Errorf("error is %v", err)
			}
		})
	}
	t.Run("GivesAnEmptyAnswer", func(t *testing.T) {
		t.Parallel()
		a, err := parse(t, "rules:\n- fault: empty").Generate(t.Context(), request(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&model.Answer{Stop: model.StopEnd}, a); diff != "" {
			t.Errorf("an empty answer differs (-want +got):\n%s", diff)
		}
	})
	t.Run("HangsUntilCancelled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err := parse(t, "rules:\n- fault: hang").Generate(ctx, request(1), nil)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error is %v", err)
			}
		})
	})
}

func TestDelay(t *testing.T) {
	t.Parallel()
	const text = "rules:\n- {say: late, delay: 1m}"
	t.Run("ComesBeforeTheAnswer", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Nanosecond)
			defer cancel()
			if _, err := parse(t, text).Generate(ctx, request(1), nil); err != nil {
				t.Errorf("error is %v", err)
			}
		})
	})
	t.Run("EndsWhenCancelled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute-time.Nanosecond)
			defer cancel()
			emit := func(model.Delta) { t.Error("it spoke") }
			if _, err := parse(t, text).Generate(ctx, request(1), emit); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error is %v", err)
			}
		})
	})
	t.Run("DoesNotBeginWhenCancelledBefore", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := parse(t, "rules:\n- say: hi").Generate(ctx, request(1), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
}

func TestParseReadsCosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		`"0.001"`: 1_000_000, `0.1`: 100_000_000, `3`: 3_000_000_000, `"0.000000001"`: 1, `0.30`: 300_000_000, `"999999999.999999999"`: 999_999_999_999_999_999,
	} {
		a, err := parse(t, "rules:\n- {say: a, cost: "+text+"}").Generate(t.Context(), request(1), nil)
		if err != nil || a.Cost != want {
			t.Errorf("%s: got %+v, %v, want %d", text, a, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"Nothing":             {"", "must be one YAML document"},
		"OnlyAComment":        {"# hi", "must be one YAML document"},
		"NoRules":             {"rules: []", "it has no rules"},
		"AList":               {"- a", "line 1: the script must be a mapping with some of rules"},
		"TwoDocuments":        {"rules:\n- say: a\n---\nrules:\n- say: b", "a second document"},
		"AnUnknownKey":        {"rules:\n- say: a\nextra: 1", `line 3: unknown key "extra"; the script has rules`},
		"AnUnknownRuleKey":    {"rules:\n- say: a\n  sya: b", `line 3: unknown key "sya"; a rule has call, cost,`},
		"AnUnknownCondition":  {"rules:\n- say: a\n  on:\n    turns: 1", `line 4: unknown key "turns"; on has agent,`},
		"AnUnknownUsage":      {"rules:\n- say: a\n  usage: {in: 1}", `line 3: unknown key "in"`},
		"AKeyTwice":           {"rules:\n- say: a\n  say: b", "test.yaml:3:"},
		"AKeyTwiceInArgs":     {"rules:\n- call:\n  - tool: t\n    args: {a: 1, a: 2}", "test.yaml:4:"},
		"BrokenYAML":          {"rules:\n- say: 'a", "test.yaml:2:"},
		"ABrokenExpression":   {"rules:\n- say: a\n  on: {last: '('}", "line 3: error parsing regexp"},
		"ABrokenResult":       {"rules:\n- say: a\n  on:\n    result: '[z'", "line 4: error parsing regexp"},
		"ALoneDollar":         {"rules:\n- say: costs $x", "line 2: a lone $"},
		"AGroupOfNothing":     {"rules:\n- say: costs $5", "line 2: $5 names no group"},
		"AnUnknownGroup":      {"rules:\n- on: {last: '(?P<a>.)'}\n  say: '${b}'", "line 3: ${b} names no group"},
		"AGroupInArgs":        {"rules:\n- call:\n  - tool: t\n    args:\n      x: [a, $1]", "line 5: $1 names no group"},
		"TurnZero":            {"rules:\n- {say: a, on: {turn: 0}}", "line 2: it must be a whole number from 1"},
		"AFractionalTurn":     {"rules:\n- {say: a, on: {turn: 1.5}}", "line 2: it must be a whole number"},
		"EveryZero":           {"rules:\n- {say: a, on: {every: 0}}", "line 2: it must be a whole number from 1"},
		"NegativeUsage":       {"rules:\n- {say: a, usage: {input: -1}}", "line 2: it must be a whole number from 0"},
		"MoreCachedThanInput": {"rules:\n- {say: a, usage: {input: 1, cached: 2}}", "cached is a part of input"},
		"ANegativeCost":       {"rules:\n- {say: a, cost: '-1'}", "line 2: \"-1\" is not an amount of dollars"},
		"AFineCost":           {"rules:\n- {say: a, cost: '0.0000000001'}", "at most nine decimals"},
		"AnExponentialCost":   {"rules:\n- {say: a, cost: 1e3}", "is not an amount"},
		"ABadDelay":           {"rules:\n- {say: a, delay: 5}", `line 2: "5" is not a time to wait`},
		"ANegativeDelay":      {"rules:\n- {say: a, delay: -5s}", "is not a time to wait"},
		"AnUnknownFault":      {"rules:\n- fault: fire", `line 2: "fire" is none of unavailable, context,`},
		"AnUnknownStop":       {"rules:\n- {say: a, stop: now}", `line 2: "now" is none of end,`},
		"AFaultThatSpeaks":    {"rules:\n- {say: a, fault: hang}", "line 2: a rule with a fault cannot think, say or call"},
		"ARuleThatIsMute":     {"rules:\n- on: {turn: 1}", "line 2: the rule answers nothing"},
		"ACallWithoutTool":    {"rules:\n- call: [{args: {}}]", "line 2: a call needs a tool"},
		"ACallThatIsNoList":   {"rules:\n- call: {tool: a}", "line 2: call must be a list"},
		"ArgsThatAreAList":    {"rules:\n- call: [{tool: a, args: [1]}]", "line 2: args must be a mapping, or a string"},
		"ArgsWithInfinity":    {"rules:\n- call: [{tool: a, args: {x: .inf}}]", "line 2: a infinity cannot be an argument"},
		"ArgsWithNumberKeys":  {"rules:\n- call: [{tool: a, args: {1: 2}}]", "line 2: the key 1 must be a string"},
		"AnEmptyTool":         {"rules:\n- call: [{tool: ''}]", "line 2: it is empty"},
		"ANullSay":            {"rules:\n- say:", "line 2: it must be a text"},
		"Anchors":             {"rules:\n- say: &a b\n- say: *a", "test.yaml:2:8: anchors, aliases, merges and tags are not supported"},
		"Tags":                {"rules:\n- say: !!str b", "test.yaml:2:8: anchors, aliases, merges and tags are not supported"},
		"DeepBrackets":        {"rules: " + strings.Repeat("[", 100_000), "brackets are nested more than 50 deep"},
		"DeepDashes":          {"rules:\n" + strings.Repeat("- ", 100_000) + "a", "an entry begins after column 500"},
		"DeepQuestions":       {strings.Repeat("? ", 100_000) + "a", "an entry begins after column 500"},
		"NotText":             {"rules:\n- say: \"\xff\"", "the file is not UTF-8 text"},
		"TooMuch":             {strings.Repeat("# comment\n", 200_000), "more than the 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("test.yaml", []byte(c.text))
			where, what, ok := strings.Cut(strings.TrimPrefix(c.want, "line "), ": ")
			if !ok || !strings.HasPrefix(c.want, "line ") {
				where, what = "", c.want
			}
			if err == nil || !strings.Contains(err.Error(), "test.yaml:"+where) || !strings.Contains(err.Error(), what) {
				t.Errorf("error is %.400v, want %q", err, c.want)
			}
		})
	}
}

func TestThePackageCommentHoldsAScript(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("script.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for line := range strings.Lines(string(source)) {
		if rest, ok := strings.CutPrefix(line, "//\t"); ok {
			text.WriteString(rest)
		}
	}
	s := parse(t, text.String())
	if got := play(t, s, request(1)); !strings.Contains(got, "I will compute it.") {
		t.Errorf("got %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("rules:\n- {say: a, delay: 1ms}\n- fault: empty"))
	f.Add([]byte("rules:\n- on:\n    last: |\n      (x)\n  call:\n  - tool: a\n    args: '{'"))
	f.Add([]byte("rules:\n- ? a\n  : b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("fuzz.yaml", data)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		a, err := s.Generate(ctx, request(1, said("x")), nil)
		if err != nil {
			return
		}
		for i, p := range a.Parts {
			isRaw := false
			for _, r := range s.rules {
				for _, c := range r.calls {
					isRaw = isRaw || c.args.kind == rawArgument
				}
			}
			if p.Kind == event.PartToolCall && !isRaw && !jsontext.Value(p.Args).IsValid() {
				t.Errorf("part %d has args that are not JSON: %s", i, p.Args)
			}
		}
	})
}
