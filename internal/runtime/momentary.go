package runtime

import (
	"context"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/tool"
)

// maxBrief is how many calls of one batch are answered in it. All others of the quest wait meanwhile.
const maxBrief = 16

// brief gives the results of the calls among events that come out of their arguments alone, and at once: a
// small sum, say. They become durable together with their calls, in one flush instead of two.
//
// Any other call must be durable before it is made, or a crash could leave a deed that no ledger
// knows. Here there is no deed: nothing outside has changed, nobody has seen the result, and whoever
// goes on after a crash comes to the same one.
func (l *live) brief(ctx context.Context, events []event.Event) (results []event.Draft) {
	if l.state.Status != quest.Running {
		return nil
	}
	for _, e := range events {
		if _, open := l.state.Calls[e.Seq]; !open || e.Tool == "" || len(results) == maxBrief {
			continue
		}
		if d, ok := l.briefly(ctx, e); ok {
			results = append(results, d)
		}
	}
	return results
}

// briefly is the result of one call, if there is one so soon. If not, the call is made like any other, once it
// is durable.
func (l *live) briefly(ctx context.Context, e event.Event) (result event.Draft, ok bool) {
	if _, is := e.Body.(*event.ToolCall); !is || l.state.Own(e.Tool) != nil {
		return result, false
	}
	spec, desk := l.tool(e.Tool), l.desks[e.Actor]
	if !spec.Brief || spec.Writes || spec.Computer || desk == nil {
		return result, false
	}
	u, err := l.state.Agent(e.Actor).Use(e.Seq)
	if err != nil || u.Args.Ref != nil {
		return result, false
	}
	r, call := l.newToolRun(desk, e.Seq, spec, u.Args.Text, l.terms(e.Actor, e.Tool))
	if r.out = l.perform(tool.Briefly(ctx), spec, call); r.out.Cause != nil {
		return result, false
	}
	drafts, err := r.end(r.tab.on(ctx), sight{})
	if err != nil || len(drafts) != 1 {
		return result, false
	}
	return drafts[0], true
}
