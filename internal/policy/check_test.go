package policy_test

import (
	"strings"
	"testing"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

func parse(t testing.TB, text string) []event.PolicySpec {
	t.Helper()
	chosen, err := policy.ParseFile("policies.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all, err := policy.Complete(chosen)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sets are the built-in policies, each alone and all together.
var sets = map[string]string{
	"none":           "[]",
	"repetition":     "[{use: repetition, warn: 2, park: 3}]",
	"max-calls":      "[{use: max-calls, max: 2}]",
	"same-error":     "[{use: same-error, max: 2}]",
	"allowed-tools":  "[{use: allowed-tools, role: agent, tools: [calculate]}]",
	"no tools":       "[{use: allowed-tools, role: agent, tools: []}]",
	"no-touch":       "[{use: no-touch, paths: [secret]}]",
	"one-at-a-time":  "[{use: one-at-a-time, domains: [a, b], shared: true}]",
	"analysis-first": "[{use: analysis-first, analysis: [lint], execution: [exec], passed: ok}]",
	"all": `
- {use: repetition, warn: 2, park: 4}
- {use: max-calls, max: 2, tools: [exec]}
- {use: same-error, max: 2}
- {use: allowed-tools, role: agent, tools: [exec, lint]}
- {use: no-touch, paths: [secret]}
- {use: one-at-a-time, domains: [a]}
- {use: analysis-first, analysis: [lint], execution: [exec]}`,
}

func TestNoBuiltinSetIsATrap(t *testing.T) {
	t.Parallel()
	for name, text := range sets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := policy.CheckAll(parse(t, text), behavior.CheckOptions{Depth: 13, States: 1_500})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d states, %d deep; %s", v.Result, v.States, v.Depth, v.Reason)
			if v.Result == behavior.Fails {
				t.Errorf("it is a trap: %s\n%v", v.Reason, v.Trace)
			}
			if v.Result == behavior.CutOff && v.Depth < 6 {
				t.Errorf("looked only %d deep", v.Depth)
			}
			all := policy.Everybody()
			for _, who := range []policy.Players{{Executors: true}, {Models: true, Own: all.Own}, all} {
				v, err := policy.Check(parse(t, text), who, behavior.CheckOptions{Depth: 10, States: 1_500})
				if err != nil || v.Result == behavior.Fails {
					t.Errorf("with %+v it is a trap: %s, %v\n%v", who, v.Reason, err, v.Trace)
				}
			}
		})
	}
}

// TestNoKindOfProposalIsBlockedForEver: of each kind that the catalogue marks, those who make it are played. An agent
// may be without tools, for it can still answer.
func TestNoKindOfProposalIsBlockedForEver(t *testing.T) {
	t.Parallel()
	for _, kind := range policy.Proposals() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			never := parse(t, `[{name: never, steps: [{block: {type: `+kind+`}}]}]`)
			v, err := policy.Check(never, policy.Everybody(), behavior.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if kind == "tool.call" {
				if v.Result != behavior.Holds {
					t.Errorf("without tools: got %s (%s), want that it holds: an answer is left", v.Result, v.Reason)
				}
				return
			}
			if v.Result != behavior.Fails || !strings.Contains(v.Reason, kind) || !strings.Contains(v.Reason, "never") {
				t.Errorf("blocked for ever: got %s (%s), want a trap that names %s and the policy", v.Result, v.Reason, kind)
			}
			some := parse(t, `[{name: never, steps: [{block: {type: `+kind+`, where: {agent: agent-7}}}]}]`)
			if v, err := policy.Check(some, policy.Everybody(), behavior.CheckOptions{}); err != nil || v.Result != behavior.Holds {
				t.Errorf("blocked for another agent: got %s (%s), %v, want that it holds", v.Result, v.Reason, err)
			}
		})
	}
}

// TestWhoIsNotThereIsNotPlayed: a policy about what nobody in the quest does is no trap for those who are there, and
// what only they do leads out of one.
func TestWhoIsNotThereIsNotPlayed(t *testing.T) {
	t.Parallel()
	models, executors, world := policy.Players{Models: true}, policy.Players{Executors: true}, policy.Players{Models: true, Own: []event.Type{"world.call"}}
	for name, c := range map[string]struct {
		who  policy.Players
		text string
		want behavior.Result
	}{
		"PromptsWhereNobodyIsPrompted":      {models, "{block: {type: prompt.call}}", behavior.Holds},
		"ModelCallsWhereAllAreExecutors":    {executors, "{block: {type: model.call}}", behavior.Holds},
		"TheSocietysWhereItProposesNothing": {models, "{block: {type: world.call}}", behavior.Holds},
		"OneThatSuchSocietiesDoNotMake":     {world, "{block: {type: analysis.call}}", behavior.Holds},
		"AnAnswerAfterADeed":                {executors, "{block: {type: quest.finished}, wait: {type: tool.reported, where: {tool: edit, error: false}}}", behavior.Holds},
		"AnAnswerAfterADeedOfNobody":        {models, "{block: {type: quest.finished}, wait: {type: tool.reported}}", behavior.Fails},
		"AnAnswerAfterATry":                 {world, "{block: {type: quest.finished}, wait: {type: world.observed}}", behavior.Holds},
		"AnAnswerAfterATryOfNobody":         {models, "{block: {type: quest.finished}, wait: {type: world.observed}}", behavior.Fails},
		"NoAnswerAfterADeed":                {executors, "{wait: {type: permission.decided}}, {block: {type: quest.finished}}", behavior.Fails},
		"NoPromptAndNoAnswerAfterAModel":    {executors, "{wait: {type: gateway.result}}, {block: {type: [prompt.call, quest.finished]}}", behavior.Fails},
		"EverythingOfAnExecutor":            {executors, "{block: {type: '*'}}", behavior.Fails},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := policy.Check(parse(t, "[{name: own, steps: ["+c.text+"]}]"), c.who, behavior.CheckOptions{})
			if err != nil || v.Result != c.want {
				t.Errorf("got %s (%s), %v, want %s", v.Result, v.Reason, err, c.want)
			}
		})
	}
}

func TestATrapIsFoundWithTheShortestWayIntoIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, reason string
		steps        int
	}{
		"OneThatBlocksEverything": {`
- name: wall
  steps: [{block: {type: "*", reason: Stop.}}]`, "wall", 0},
		"OneThatForbidsToolsAndAnswersAfterThreeCalls": {`
- name: quiet
  steps:
    - {wait: {type: tool.call}, times: 3}
    - {block: {type: [tool.call, quest.finished]}}`, "quiet", 9 + 1},
		"TwoThatTogetherLeaveNothing": {`
- name: no-answer
  steps: [{block: {type: quest.finished}}]
- {use: allowed-tools, role: agent, tools: []}`, "no-answer", 1},
		"TwoThatLetItWorkButNeverAnswer": {`
- {use: max-calls, max: 1, tools: [calculate]}
- name: compute-twice
  steps: [{wait: {type: tool.result, where: {tool: calculate, error: false}}, times: 2, block: {type: quest.finished}}]`, "from here on quest.finished can never come: it is blocked by compute-twice", 0},
		"OneAfterWhichWorkLeadsNowhere": {`
- name: no-way-back
  steps: [{wait: {type: tool.result, where: {error: true}}}, {block: {type: quest.finished}}]`, "from here on quest.finished can never come: it is blocked by no-way-back", 3},
		"OneThatNeverLetsTheModelSpeakAgain": {`
- name: once
  steps: [{wait: {type: tool.result, where: {error: true}}}, {block: {type: model.call}}]`, "once", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := policy.Check(parse(t, c.text), policy.Everybody(), behavior.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if v.Result != behavior.Fails || !strings.Contains(v.Reason, c.reason) || len(v.Trace) != c.steps {
				t.Errorf("%s after %d steps: %s\n%v", v.Result, len(v.Trace), v.Reason, v.Trace)
			}
		})
	}
}
