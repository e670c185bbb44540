package runtimetest

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/solo"
)

// Solo is the part of one agent, whose tools all policies look at that there are.
type Solo struct{ guard *guard }

// NewSolo returns the part of one quest.
func NewSolo() *Solo { return &Solo{} }

// soloPolicies are all that are built in, and threads that use what YAML can say.
const soloPolicies = `
- {use: repetition, warn: 2, park: 4}
- {use: max-calls, max: 4, tools: [unsafe]}
- {use: same-error, max: 2}
- {use: allowed-tools, role: agent, tools: [safe, unsafe, ask_person, search_tools, one__look, one__write, relate, unrelate, relations]}
- {use: no-touch, paths: [secret]}
- {use: one-at-a-time, domains: [a, b]}
- {use: analysis-first, analysis: [safe], execution: [unsafe]}
- name: look-first
  per: agent
  repeat: true
  steps:
    - wait: {type: tool.result, where: {tool: safe, error: false}}
      block: {type: quest.finished, reason: Look before you answer.}
    - wait: {type: user.message}
- name: cheer
  repeat: true
  steps:
    - wait: {type: tool.result, where: {error: false}}
      times: 5
    - request: {type: message.sent, with: {text: Well done.}}
- name: two-at-a-time
  repeat: true
  steps:
    - wait: {type: tool.call}
      times: 2
    - wait: {type: tool.result}
      block: {type: tool.call, later: true, reason: Two are under way.}
`

// askingPolicies have a person decide about proposals of every kind.
const askingPolicies = `
- {use: max-calls, max: 4, tools: [unsafe]}
- name: unsafe
  steps:
    - ask: {type: tool.call, where: {tool: unsafe}, reason: It is not safe.}
- name: turns
  per: agent
  repeat: true
  steps:
    - wait: {type: model.call}
      times: 3
    - wait: {type: model.call}
      ask: {type: model.call, default: "yes", within: 2s}
- name: answers
  steps:
    - ask: {type: quest.finished, default: "no", within: 3s}
`

// asking is the tool by which agents ask people.
const asking = "ask_person"

// Society implements Part.
func (*Solo) Society() quest.Society { return solo.Society{} }

// Make implements Part: with all policies, those that the others hardly let come up, or
// what every quest has; and limits of every kind.
func (*Solo) Make(w *World, b *event.QuestCreated) {
	text := soloPolicies
	b.Agents[0].ToolNames = append(b.Agents[0].ToolNames, asking)
	switch w.IntN(5) {
	case 0:
		text = "[]"
	case 1:
		text = askingPolicies
	case 2:
		text = "[{use: repetition, warn: 0, park: 2}, {use: whole-answers, warn: 0, park: 2}, {use: max-calls, max: 4, tools: [unsafe]}, {use: same-error, max: 2}]"
	}
	chosen, err := policy.ParseFile("policies.yaml", []byte(text))
	if err != nil {
		panic(err)
	}
	if b.Policies, err = policy.Complete(chosen); err != nil {
		panic(err)
	}
	b.Agents[0].Window, b.Agents[0].RaisedOutput = 400+w.Int64N(3000), 64_000
	if w.Chance(400) {
		b.Limits.Turns = new(1 + w.Int64N(20))
	}
	if w.Chance(300) {
		b.Limits.Cost = new(w.Int64N(5000))
	}
	if w.Chance(300) {
		b.Limits.Duration = new(w.Int64N(5_000_000))
	}
	if w.Chance(200) {
		b.Limits.Agent = &event.Share{Turns: new(1 + w.Int64N(20))}
	}
	if w.seed%16 == 3 { // half of those that have servers
		b.Discover = true
		b.Agents[0].ToolNames = append(b.Agents[0].ToolNames, quest.SearchTools)
		b.Knowledge = &event.Knowledge{
			Rules:  []event.RulePin{{Link: "how it is done", Path: "docs/how.md", Text: event.RefOf([]byte("how"))}},
			Skills: &event.SkillPins{Count: 1, List: event.RefOf([]byte("skills"))},
		}
	}
}

// Call implements Part. Arguments are good, good in disguise, or no arguments at all.
func (*Solo) Call(w *World, _ string) (string, any) {
	name := []string{Safe, Unsafe, "unknown", "bad\nname"}[w.IntN(4)]
	if w.Chance(100) {
		return asking, event.Text{Text: fmt.Sprintf(`{"question":"Which?","options":["a","b"],"wait":%v,"minutes":%d}`, w.Chance(700), w.IntN(3))}
	}
	switch {
	case len(w.State().Finders) > 0 && w.Chance(200):
		return quest.SearchTools, event.Text{Text: fmt.Sprintf(`{"intent":%q}`, w.Word())}
	case len(w.State().Finders) > 0 && w.Chance(200):
		return []string{"one__look", "one__write", "two__look"}[w.IntN(3)], event.Text{Text: `{}`}
	case w.Chance(50):
		return name, w.Text()
	case w.Chance(50):
		return name, event.Text{Text: `{"path":`}
	}
	path := []string{"a/x", "./a/../a/x", "b", "secret/y", "/a/../secret", "elsewhere"}[w.IntN(6)]
	return name, event.Text{Text: fmt.Sprintf(`{"path":%q}`, path)}
}

// Count implements Part.
func (s *Solo) Count(_ *World, e event.Event) error {
	if b, ok := e.Body.(*event.QuestCreated); ok {
		s.guard = newGuard(b.Policies)
	}
	return s.guard.watch(e)
}
