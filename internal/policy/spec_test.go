package policy_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// names are all policies that a quest.yaml can use.
const names = "budget, repetition, whole-answers, max-calls, same-error, allowed-tools, no-touch, one-at-a-time, analysis-first"

func TestAListIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	own := func(step string) string { return "- name: x\n  steps:\n    - " + step }
	for name, c := range map[string]struct {
		text string
		line int
		want string
	}{
		"AnUnknownPolicy":             {"- use: budget\n- use: nope", 2, `there is no policy "nope"; there are ` + names},
		"AVersionIsNotForPeople":      {"- use: budget/1", 1, `there is no policy "budget/1"`},
		"AThreadIsNotUsed":            {"- use: thread", 1, `there is no policy "thread"; there are ` + names},
		"AUseThatIsNoText":            {"- use: [a]", 1, "it must be a text"},
		"NoUse":                       {"- use:", 1, "it must be a text"},
		"AnUnknownSetting":            {"- use: repetition\n  warn: 3\n  prak: 4", 3, `unknown field "prak"`},
		"ASettingOfAnother":           {"- use: budget\n  max: 4", 2, `unknown field "max"`},
		"StepsOfAPolicyThatIsUsed":    {"- use: budget\n  steps: []", 2, `unknown field "steps"`},
		"ATextForANumber":             {"- use: repetition\n  warn: often", 2, "it must be a whole number"},
		"AQuotedNumber":               {"- use: repetition\n  warn: '3'", 2, "it must be a whole number"},
		"APartOfANumber":              {"- use: repetition\n  warn: 2.5", 2, "it must be a whole number"},
		"AnExponent":                  {"- use: max-calls\n  max: 1e3", 2, "it must be a whole number"},
		"TrueForANumber":              {"- use: max-calls\n  max: true", 2, "it must be a whole number"},
		"NothingForANumber":           {"- use: max-calls\n  max:", 2, "it must be a whole number"},
		"ANumberBelowZero":            {"- use: repetition\n  warn: -1", 2, "it must be a whole number from 0"},
		"ANumberBeyondAll":            {"- use: repetition\n  park: 99999999999999999999", 2, "it must be a whole number"},
		"AWordForAList":               {"- use: max-calls\n  max: 2\n  tools: exec", 3, "string was used where sequence is expected"},
		"AListInAList":                {"- use: max-calls\n  max: 2\n  tools: [[a]]", 3, "there must be a text here, not a list"},
		"AWordForTrueOrFalse":         {"- use: one-at-a-time\n  domains: [a]\n  shared: maybe", 3, "there must be true or false here, not a text"},
		"WarningOnce":                 {"- use: budget\n- use: repetition\n  warn: 1", 2, "doing something once is no repetition"},
		"ParkingOnce":                 {"- use: repetition\n  warn: 0\n  park: 1", 1, "doing something once is no repetition"},
		"WarningWithParking":          {"- use: repetition\n  warn: 6", 1, "warn must be less than park, or 0"},
		"NoCallsAtAll":                {"- use: max-calls\n  max: 0", 1, "policy max-calls: max: say how many calls are allowed, at least 1"},
		"NoNumberOfCalls":             {"- use: max-calls", 1, "policy max-calls: max: say how many"},
		"NoTools":                     {"- use: max-calls\n  max: 1\n  tools: []", 1, "tools: name at least one"},
		"NoErrorsAtAll":               {"- use: same-error\n  max: 0", 1, "max: say how many times, at least 1"},
		"NoRole":                      {"- use: allowed-tools\n  tools: []", 1, "role: name the agents it is for"},
		"NoAllowedTools":              {"- use: allowed-tools\n  role: agent", 1, "tools: list those that are allowed; [] allows none"},
		"NoPaths":                     {"- use: no-touch", 1, "paths: name at least one folder or file"},
		"AnEmptyPath":                 {"- use: no-touch\n  paths: [a, '']", 1, "paths: one of them is empty; . is the whole workspace"},
		"APathThatIsNull":             {"- use: no-touch\n  paths: [~]", 1, "one of them is empty"},
		"NoDomains":                   {"- use: one-at-a-time\n  domains: []", 1, "domains: name at least one"},
		"NoAnalysis":                  {"- use: analysis-first\n  execution: [b]", 1, "analysis: name the tools"},
		"NoExecution":                 {"- use: analysis-first\n  analysis: [b]", 1, "execution: name the tools"},
		"NoArtifact":                  {"- use: analysis-first\n  analysis: [a]\n  execution: [b]\n  artifact: ''", 1, "artifact: name the argument"},
		"AnAnalysisThatExecutes":      {"- use: analysis-first\n  analysis: [a, b]\n  execution: [b]", 1, "b cannot be both the analysis and the execution"},
		"TwoOfOneName":                {"- use: budget\n- use: repetition\n- use: budget", 3, "there are two policies named budget: give one of them another name"},
		"TwoOfAGivenName":             {"- {use: no-touch, name: x, paths: [a]}\n" + own("block: {type: tool.call}"), 2, "there are two policies named x"},
		"ABadName":                    {"- use: budget\n  name: B!", 2, `name "B!": want 1 to 63 of a-z`},
		"AnEmptyName":                 {"- use: budget\n  name: ''", 2, "it is empty"},
		"ANameThatIsNoText":           {"- use: budget\n  name: [a]", 2, "it must be a text"},
		"TwoUses":                     {"- use: budget\n  use: repetition", 2, `mapping key "use" already defined`},
		"TwoNames":                    {"- use: budget\n  name: a\n  name: b", 3, `mapping key "name" already defined`},
		"AFileInAFile":                {"- use: budget\n- more.yaml", 2, "a file of policies cannot name another: list both in quest.yaml"},
		"AFileWithoutAName":           {"- use: budget\n- ''", 2, "the name of the file is empty"},
		"ANumber":                     {"- 5", 1, "a policy is a file, a mapping with use"},
		"AList":                       {"- [budget]", 1, "a policy is a file, a mapping with use"},
		"Nothing":                     {"- use: budget\n-", 2, "a policy is a file, a mapping with use"},
		"NotAList":                    {"budget", 1, "policies must be a list"},
		"PoliciesThatAreNoList":       {"name: q\npolicies: budget", 2, "policies must be a list"},
		"AMappingWithoutPolicies":     {"name: q", 1, "there are no policies here: want a list of them, or a mapping with policies"},
		"AnUnfinishedList":            {"- use: budget\n- [", 2, "not found"},
		"AnAnchor":                    {"- use: budget\n- &a {use: budget}", 2, "anchors"},
		"ASecondDocument":             {"- use: budget\n---\n- use: repetition", 2, "second document"},
		"ABlockOfAResult":             {own("block: {type: tool.result}"), 3, "tool.result cannot be blocked: it is not a proposal; those are analysis.call, gateway.call, model.call, permission.decided, prompt.call, quest.finished, tool.call, world.call"},
		"AnAskAboutAResult":           {own("ask: {type: tool.result}"), 3, "tool.result cannot be blocked: it is not a proposal"},
		"AnAskWithADefaultAlone":      {own("ask: {type: tool.call, default: no}"), 3, "say both default and within, or neither"},
		"AnAskWithATimeAlone":         {own("ask: {type: tool.call, within: 1h}"), 3, "say both default and within, or neither"},
		"AnAskWithAnotherDefault":     {own("ask: {type: tool.call, default: perhaps, within: 1h}"), 3, "it must be yes or no"},
		"AnAskWithATimeOfNoUnit":      {own("ask: {type: tool.call, default: no, within: 60}"), 3, "it must be a time from 1s to 8760h"},
		"AnAskThatComesLater":         {own("ask: {type: tool.call, later: true}"), 3, "only what is blocked can be so"},
		"ABlockWithADefault":          {own("block: {type: tool.call, default: no, within: 1h}"), 3, "only what is asked about has default and within"},
		"ABlockOfAPersonsWord":        {own("block: {type: [tool.call, user.message]}"), 3, "user.message cannot be blocked"},
		"ABlockOfAMessage":            {own("block: {type: message.sent}"), 3, "message.sent cannot be blocked"},
		"ARequestOfACall":             {own("request: {type: tool.call}"), 3, "a policy can request one thing: a message.sent with a text, and to whom"},
		"AMessageWithNothing":         {own("request: {type: message.sent}"), 3, "a message.sent with a text"},
		"AMessageWithoutText":         {own("request: {type: message.sent, with: {to: agent-0}}"), 3, "a message.sent with a text"},
		"AMessageWithAnEmptyText":     {own("request: {type: message.sent, with: {text: ''}}"), 3, "a message.sent with a text"},
		"AMessageOfANumber":           {own("request: {type: message.sent, with: {text: 5}}"), 3, "a message.sent with a text"},
		"AGuardThatAsksForNoField":    {own("block: {type: tool.call, where: {tol: exec}}"), 3, `there is no field "tol"; there are agent, role, tool,`},
		"AWaitThatAsksForNoField":     {own("wait: {type: tool.call, where: {arg.path: a}}"), 3, `there is no field "arg"`},
		"AnInterruptThatAsksForNone":  {own("interrupt: {type: tool.call, where: {x: a}}"), 3, `there is no field "x"`},
		"AThreadPerNoField":           {"- name: x\n  per: agents\n  steps: [{wait: {type: tool.call}}]", 1, `there is no field "agents"`},
		"AThreadWithoutSteps":         {"- name: x", 1, "steps: there are none"},
		"AThreadWithoutAName":         {"- steps: [{wait: {type: a}}]", 1, "name: it is missing"},
		"AThreadWithABadName":         {"- name: X\n  steps: [{wait: {type: a}}]", 1, `name: "X" is not 1 to 63`},
		"AStepThatSaysNothing":        {"- use: budget\n" + own("times: 2"), 4, "a step must request"},
		"AnUnknownKeyOfAThread":       {"- name: x\n  steps: [{wait: {type: a}}]\n  uses: y", 3, `unknown key "uses"; a thread has`},
		"ASettingThatIsAsLongAsAFile": {"- use: no-touch\n  paths: [" + strings.Repeat("x", 1<<20) + "]", 0, "more than the 1048576 that are allowed"},
		"ATextThatIsNotUTF8":          {"- use: \xff", 0, "not UTF-8"},
		"AnEmptyFile":                 {"", 0, "one YAML document"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := policy.ParseFile("rules.yaml", []byte(c.text))
			e, ok := errors.AsType[*strictyaml.Error](err)
			if !ok {
				t.Fatalf("%v and %v", got, err)
			}
			equal(t, "file", e.File, "rules.yaml")
			equal(t, "line", e.Line, c.line)
			has(t, "error", err.Error(), c.want)
		})
	}
}

func TestAListMayNameFilesInAQuest(t *testing.T) {
	t.Parallel()
	var spec struct{ Policies policy.List }
	err := yaml.UnmarshalWithOptions([]byte("policies:\n- rules.yaml\n- use: budget\n\n- rules.yaml\n- name: own\n  steps: [{block: {type: tool.call}}]\n"), &spec, yaml.Strict())
	if err != nil {
		t.Fatal(err)
	}
	want := policy.List{
		{File: "rules.yaml", Line: 2},
		{Policy: event.PolicySpec{Name: "budget", Use: "budget/1", Settings: "{}"}, Line: 3},
		{File: "rules.yaml", Line: 5},
		{Policy: event.PolicySpec{Name: "own", Use: "thread/1", Settings: `{"name":"own","steps":[{"block":[{"type":["tool.call"]}]}]}`}, Line: 6},
	}
	if diff := cmp.Diff(want, spec.Policies); diff != "" {
		t.Errorf("the policies differ (-want +got):\n%s", diff)
	}
}

// settings are the good forms of each policy, and how they are pinned. A quest
// that was made reads the right side for ever: it must not change.
var settings = map[string]string{
	"use: budget":     "budget budget/1 {}",
	"use: repetition": `repetition repetition/1 {"warn":3,"park":6}`,
	"{use: repetition, name: loops, warn: 0}":                                          `loops repetition/1 {"warn":0,"park":6}`,
	"{use: repetition, warn: 0x2, park: 1_000}":                                        `repetition repetition/1 {"warn":2,"park":1000}`,
	"use: whole-answers":                                                               `whole-answers whole-answers/1 {"warn":3,"park":6}`,
	"{use: whole-answers, warn: 2, park: 0}":                                           `whole-answers whole-answers/1 {"warn":2,"park":0}`,
	"{use: max-calls, max: 5}":                                                         `max-calls max-calls/1 {"max":5}`,
	"{use: max-calls, max: 5, tools: [a, 1]}":                                          `max-calls max-calls/1 {"max":5,"tools":["a","1"]}`,
	"use: same-error":                                                                  `same-error same-error/1 {"max":3}`,
	"{use: same-error, max: 1, tools: [a]}":                                            `same-error same-error/1 {"max":1,"tools":["a"]}`,
	"{use: allowed-tools, role: agent, tools: []}":                                     `allowed-tools allowed-tools/1 {"role":"agent","tools":[]}`,
	"{use: allowed-tools, role: agent, tools: [a]}":                                    `allowed-tools allowed-tools/1 {"role":"agent","tools":["a"]}`,
	"{use: no-touch, paths: [a, .]}":                                                   `no-touch no-touch/2 {"paths":["a","."]}`,
	"{use: no-touch, paths: [a], tools: [b]}":                                          `no-touch no-touch/2 {"paths":["a"],"tools":["b"]}`,
	"{use: one-at-a-time, domains: [a]}":                                               `one-at-a-time one-at-a-time/1 {"domains":["a"]}`,
	"{use: one-at-a-time, domains: [a], shared: true}":                                 `one-at-a-time one-at-a-time/1 {"domains":["a"],"shared":true}`,
	"{use: analysis-first, analysis: [a], execution: [b]}":                             `analysis-first analysis-first/1 {"analysis":["a"],"execution":["b"],"artifact":"path"}`,
	"{use: analysis-first, analysis: [a], execution: [b], artifact: code, passed: ok}": `analysis-first analysis-first/1 {"analysis":["a"],"execution":["b"],"artifact":"code","passed":"ok"}`,
	`{name: own, per: agent, steps: [{block: {type: "*", later: true}, wait: {type: user.message}}, {request: {type: message.sent, with: {text: Hi.}}}]}`://
	`own thread/1 {"name":"own","per":"agent","steps":[{"block":[{"later":true,"type":["*"]}],"wait":[{"type":["user.message"]}]},{"request":[{"type":"message.sent","with":"{\"text\":\"Hi.\"}"}]}]}`,
}

func TestAPolicyIsPinnedWithAllItsSettings(t *testing.T) {
	t.Parallel()
	for text, want := range settings {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for _, form := range []string{"- ", "policies:\n- ", "name: q\npolicies:\n  - "} {
				got, err := policy.ParseFile("rules.yaml", []byte(form+text))
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "how many", len(got), 1)
				equal(t, "pinned", got[0].Name+" "+got[0].Use+" "+got[0].Settings, want)
			}
			all := parse(t, "- "+text)
			if _, err := policy.New(all); err != nil {
				t.Error(err)
			}
			if _, err := policy.Mermaid(all); err != nil {
				t.Error(err)
			}
		})
	}
	for _, b := range policy.Builtins() {
		uses := func(pinned string) bool { return strings.Contains(pinned, " "+b.Use+" ") }
		if all := slices.Sorted(func(yield func(string) bool) {
			for _, pinned := range settings {
				if !yield(pinned) {
					return
				}
			}
		}); !slices.ContainsFunc(all, uses) {
			t.Errorf("%s is not tried", b.Use)
		}
	}
}

func TestSettingsThatAreNotThereAreAsTheyAlwaysWere(t *testing.T) {
	t.Parallel()
	s := &scene{t: t, turns: map[string]int64{}, calls: map[uint64]*policy.Facts{}}
	var err error
	if s.Gate, err = policy.New([]event.PolicySpec{{Name: "r", Use: "repetition/1"}}); err != nil {
		t.Fatal(err)
	}
	warned, parked := s.round("agent-0", 10, turn{"a", "1"})
	equal(t, "warned after", warned, 3)
	equal(t, "parked after", parked, 6)
}

func TestEveryQuestHasABudgetAndARuleAgainstRepetition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[]":                                 `budget budget/1 {}; repetition repetition/1 {"warn":3,"park":6}; whole-answers whole-answers/1 {"warn":3,"park":6}`,
		"[{use: same-error}]":                `budget budget/1 {}; repetition repetition/1 {"warn":3,"park":6}; whole-answers whole-answers/1 {"warn":3,"park":6}; same-error same-error/1 {"max":3}`,
		"[{use: repetition, warn: 2}]":       `budget budget/1 {}; whole-answers whole-answers/1 {"warn":3,"park":6}; repetition repetition/1 {"warn":2,"park":6}`,
		"[{use: repetition, name: x}]":       `budget budget/1 {}; whole-answers whole-answers/1 {"warn":3,"park":6}; x repetition/1 {"warn":3,"park":6}`,
		"[{use: same-error}, {use: budget}]": `repetition repetition/1 {"warn":3,"park":6}; whole-answers whole-answers/1 {"warn":3,"park":6}; same-error same-error/1 {"max":3}; budget budget/1 {}`,
		"[{use: repetition}, {use: budget}]": `whole-answers whole-answers/1 {"warn":3,"park":6}; repetition repetition/1 {"warn":3,"park":6}; budget budget/1 {}`,
	} {
		var got []string
		for _, p := range parse(t, text) {
			got = append(got, p.Name+" "+p.Use+" "+p.Settings)
		}
		equal(t, text, strings.Join(got, "; "), want)
	}
}

func TestPoliciesOfTwoFilesHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"- {use: same-error, name: budget}",
		"- name: repetition\n  steps: [{block: {type: tool.call}}]",
	} {
		chosen, err := policy.ParseFile("rules.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Complete(chosen); err == nil || !strings.Contains(err.Error(), "there are two policies named "+chosen[0].Name) {
			t.Errorf("two policies of one name, %s: %v", text, err)
		}
		if _, err := policy.Complete([]event.PolicySpec{{Name: "x", Use: "a/1"}, {Name: "x", Use: "b/1"}}); err == nil {
			t.Error("two of one name are taken")
		}
	}
}

func TestPoliciesFitIntoAnEvent(t *testing.T) {
	t.Parallel()
	fits := func(n int) error {
		chosen, err := policy.ParseFile("rules.yaml", fmt.Appendf(nil, "[{use: no-touch, paths: [%s]}]", strings.Repeat("x", n)))
		if err != nil {
			t.Fatal(err)
		}
		_, err = policy.Complete(chosen)
		return err
	}
	if err := fits(policy.MaxSize/2 - 200); err != nil {
		t.Error(err)
	}
	err := fits(policy.MaxSize / 2)
	if err == nil {
		t.Fatal("they are taken")
	}
	has(t, "too large", err.Error(), "more than the 6144 that a quest has room for: shorten them")
}

func TestAPinnedPolicyIsReadOrRefused(t *testing.T) {
	t.Parallel()
	for _, use := range []string{"budget/2", "budget", "", "repetition/01", "nope/1", "thread/2"} {
		_, err := policy.New([]event.PolicySpec{{Name: "x", Use: use, Settings: "{}"}})
		e, ok := errors.AsType[*policy.UnknownError](err)
		if !ok || e.Use != use {
			t.Errorf("a policy that is not known, %q: %v", use, err)
			continue
		}
		has(t, "the way out", err.Error(), "use the version that made it")
	}
	for use, garbage := range map[string][]string{
		"budget/1":         {`{"max":1}`, `[]`, `{`, `{}{}`, `x`},
		"repetition/1":     {`{"warn":1}`, `{"warn":-1}`, `{"warn":9}`, `{"warn":"3"}`, `{"warn":2.5}`, `{"warn":1e99}`, `{"warn":2,"warn":3}`, `{"Warn":2}`},
		"whole-answers/1":  {`{"warn":1}`, `{"park":3}`, `{"max":3}`},
		"max-calls/1":      {`{}`, `{"max":0}`, `{"max":1,"tools":[]}`, `{"max":1,"tools":"a"}`},
		"same-error/1":     {`{"max":0}`, `{"max":null}`},
		"allowed-tools/1":  {`{}`, `{"role":"agent"}`, `{"role":"","tools":[]}`},
		"no-touch/1":       {`{}`, `{"paths":[]}`, `{"paths":[""]}`, `{"paths":[1]}`},
		"one-at-a-time/1":  {`{}`, `{"domains":[""]}`},
		"analysis-first/1": {`{}`, `{"analysis":["a"],"execution":["a"],"artifact":"path"}`, `{"analysis":["a"],"execution":["b"],"artifact":""}`},
		"thread/1": {`{}`, `{"name":"x","steps":[]}`, `{"name":"x","steps":[{"block":[{"type":["tool.result"]}]}]}`,
			`{"name":"x","steps":[{"request":[{"type":"tool.call"}]}]}`, `{"name":"x","steps":[{"request":[{"type":"message.sent","with":"{"}]}]}`},
	} {
		for _, text := range garbage {
			all := []event.PolicySpec{{Name: "x", Use: use, Settings: text}}
			if _, err := policy.New(all); err == nil || !strings.Contains(err.Error(), "policy x: ") {
				t.Errorf("a setting that is wrong, %s %s: %v, want the policy's name in the error", use, text, err)
			}
			if _, err := policy.Check(all, policy.Everybody(), behavior.CheckOptions{}); err == nil {
				t.Errorf("%s %s can be checked", use, text)
			}
			if _, err := policy.Mermaid(all); err == nil {
				t.Errorf("%s %s can be drawn", use, text)
			}
		}
	}
}

func TestOnlySomePoliciesCoupleAgents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"[]":                                   false,
		"[{use: no-touch, paths: [a]}]":        false,
		"[{use: one-at-a-time, domains: [a]}]": true,
		"[{name: x, steps: [{block: {type: tool.call, later: true}}]}]":  true,
		"[{name: x, steps: [{block: {type: tool.call, later: false}}]}]": false,
	} {
		equal(t, text, play(t, text).Couples(), want)
	}
}

func TestABlockOfEverythingIsOneOfEveryProposal(t *testing.T) {
	t.Parallel()
	s := play(t, `[{name: wall, steps: [{block: {type: "*", reason: Stop.}}]}, {name: voice, steps: [{request: {type: message.sent, with: {to: agent-0, text: Hi.}}}]}]`)
	for _, typ := range policy.Proposals() {
		equal(t, typ, reasons(s.Blocked(event.Type(typ), &policy.Facts{Agent: "agent-0"})), "wall: Stop.")
	}
	equal(t, "a message", s.warned(), "agent-0: Hi.")
}

func FuzzPinned(f *testing.F) {
	for _, pinned := range settings {
		parts := strings.SplitN(pinned, " ", 3)
		f.Add(parts[1], []byte(parts[2]))
	}
	f.Add("budget/2", []byte("{}"))
	f.Add("max-calls/1", []byte(`{"max":9223372036854775807}`))
	f.Add("no-touch/1", []byte("{\"paths\":[\"\xff\"]}"))
	f.Add("one-at-a-time/1", []byte(`{"domains":["../.."]}`))
	f.Add("repetition/1", []byte("null"))
	f.Fuzz(func(t *testing.T, use string, text []byte) {
		all := []event.PolicySpec{{Name: "x", Use: use, Settings: string(text)}}
		g, err := policy.New(all)
		if err != nil {
			return
		}
		s := &scene{Gate: g, t: t, turns: map[string]int64{}, calls: map[uint64]*policy.Facts{}}
		for _, tool := range []string{"exec", "a", "b", "b"} {
			for _, args := range []string{`{"path":"a"}`, `{"path":`, ``} {
				fs := s.use("agent-0", tool, args)
				if len(s.Blocked("tool.call", fs)) == 0 {
					s.result(s.take("tool.call", fs), `{"ok":true}`)
				}
			}
			if s.parked("agent-0") == "" {
				s.ask("agent-0")
			}
			if name, _, text, ok := s.Message(); ok {
				if err := s.Sent(name, text); err != nil {
					t.Fatal(err)
				}
			}
		}
		if broken := s.Broken(); len(broken) > 0 {
			t.Fatalf("threads broke: %v", broken)
		}
		again, err := policy.New(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Restore(s.Save()); err != nil {
			t.Fatal(err)
		}
		s.Describe()
		if _, err := policy.Mermaid(all); err != nil {
			t.Fatal(err)
		}
		if _, err := policy.Complete(all); err != nil && !strings.Contains(err.Error(), "room") {
			t.Fatal(err)
		}
	})
}

func FuzzParseFile(f *testing.F) {
	for text := range settings {
		f.Add([]byte("- " + text))
	}
	for _, text := range sets {
		f.Add([]byte(text))
	}
	f.Add([]byte(everything))
	f.Add([]byte("policies:\n- ? use\n  : budget"))
	f.Add([]byte("- use: budget\n  <<: {name: x}"))
	f.Add([]byte("- {use: !!str budget}\n- |\n  x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		chosen, err := policy.ParseFile("rules.yaml", text)
		if err != nil {
			if e, ok := errors.AsType[*strictyaml.Error](err); !ok || e.File != "rules.yaml" {
				t.Fatalf("%v has no place", err)
			}
			return
		}
		all, err := policy.Complete(chosen)
		if err != nil {
			return
		}
		if _, err := policy.New(all); err != nil {
			t.Fatalf("what was read cannot be set up: %v", err)
		}
	})
}
