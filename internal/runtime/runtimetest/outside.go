package runtimetest

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/solo"
)

// Outside is the part of one agent that is none of ours: it asks models by the gateway, and
// proposes calls, whenever it likes.
type Outside struct{ sent int }

// NewOutside returns the part of one quest.
func NewOutside() *Outside { return &Outside{} }

// outsidePolicies look at requests to the gateway.
const outsidePolicies = `
- name: large
  steps:
    - block: {type: gateway.call, where: {model: large}, reason: Too large.}
- name: third
  per: agent
  repeat: true
  steps:
    - wait: {type: gateway.call}
      times: 5
    - wait: {type: gateway.call}
      ask: {type: gateway.call, default: "no", within: 2s}
- name: one-request
  repeat: true
  steps:
    - wait: {type: gateway.call}
      times: 2
    - wait: {type: gateway.result}
      block: {type: gateway.call, later: true, reason: Two are under way.}
`

// Society implements Part.
func (*Outside) Society() quest.Society { return solo.Society{} }

// Make implements Part.
func (*Outside) Make(w *World, b *event.QuestCreated) {
	b.Agents[0].Executor, b.Agents[0].Gateway = "acp:sim", &event.GatewaySpec{Models: []string{"large"}, Any: w.Chance(500)}
	judged(w, b, outsidePolicies)
	if w.Chance(400) {
		b.Limits.Turns = new(1 + w.Int64N(20))
	}
	if w.Chance(300) {
		b.Limits.Cost = new(w.Int64N(5000))
	}
	if w.Chance(200) {
		b.Limits.Agent = &event.Share{Turns: new(1 + w.Int64N(20))}
	}
}

// judged gives most quests policies of their own.
func judged(w *World, b *event.QuestCreated, text string) {
	if w.Chance(300) {
		text = "[]"
	}
	chosen, err := policy.ParseFile("policies.yaml", []byte(text))
	if err != nil {
		panic(err)
	}
	if b.Policies, err = policy.Complete(chosen); err != nil {
		panic(err)
	}
}

// Visit implements Visitor.
func (o *Outside) Visit(w *World) (out []event.Draft) {
	for range w.IntN(3) {
		o.sent++
		model := []string{"sim", "sim", "large", "other"}[w.IntN(4)]
		out = append(out, event.Draft{Time: w.Now, Actor: "agent-0", Body: &event.GatewayAsked{
			ID: fmt.Sprint("g", o.sent-w.IntN(2)), Wire: event.WireChat, Path: "/v1/chat/completions", Model: model, Count: w.Chance(100), Size: 100,
			Most: event.Usage{Input: 1 + w.Int64N(2000), Output: 1 + w.Int64N(300)},
		}})
	}
	if w.Chance(300) {
		name, args := Safe, w.Text()
		out = append(out, event.Draft{Time: w.Now, Actor: "agent-0", Body: &event.ToolProposed{ID: fmt.Sprint("t", w.Seq()), Name: name, Args: args}})
	}
	return out
}

// Call implements Part. Nobody here has a model that is asked turn by turn.
func (*Outside) Call(*World, string) (string, any) { return Safe, event.Text{Text: "{}"} }

// Count implements Part: a request is judged before it goes out, and goes out once.
func (o *Outside) Count(w *World, e event.Event) error {
	switch b := e.Body.(type) {
	case *event.GatewayCall:
		if asked, ok := w.Event(b.Asked).Body.(*event.GatewayAsked); !ok || asked.ID != b.ID {
			return fmt.Errorf("request %q goes out, and nobody has sent it", b.ID)
		}
		for seq := b.Asked + 1; seq < e.Seq; seq++ {
			if x, ok := w.Event(seq).Body.(*event.GatewayCall); ok && x.Asked == b.Asked {
				return fmt.Errorf("request %q goes out twice", b.ID)
			}
		}
		if b.Model == "large" {
			for _, p := range w.books.shadow.Policies {
				if p.Name == "large" {
					return fmt.Errorf("request %q goes out, and a policy is against it", b.ID)
				}
			}
		}
	case *event.GatewayResult:
		if b.Error != "" && b.Status == 0 {
			w.Saw("requests cut")
			if b.Estimated == w.Event(b.Call).Body.(*event.GatewayCall).Count {
				return fmt.Errorf("request %d was cut, and is charged otherwise", b.Call)
			}
		}
	}
	return nil
}
