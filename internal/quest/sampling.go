package quest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
)

// Sampling: an MCP server that works on a call has the agent's model asked. Its request is one
// to the model gateway, with the same limits, and is put to the policies as those are. Besides,
// a person decides about each, whatever policies say.

// checkSampled tells whether a server may have a model asked now: it may at all, and it works
// on a call of the agent.
func (s *State) checkSampled(a *agent.Agent, actor string, b *event.GatewayAsked) error {
	if b.Server == "" {
		if b.For != 0 || b.Text != "" || b.Whole != nil {
			return fmt.Errorf("the request %.80q is of no server, and for the call %d of one", b.ID, b.For)
		}
		return nil
	}
	c, open := s.Calls[b.For]
	switch {
	case a == nil || a.Model == "" || b.Model != a.Model:
		return fmt.Errorf("quest %s has no agent %s whose model is %.80q", s.Name, actor, b.Model)
	case !slices.ContainsFunc(s.Servers, func(p event.ServerPin) bool { return p.Name == b.Server && p.Sampling }):
		return fmt.Errorf("quest %s has no server %.40q that may have models asked: say sampling: true under mcp", s.Name, b.Server)
	case !open || c.Kind != "tool.call" || c.Agent != actor || !strings.HasPrefix(c.Tool, b.Server+"__"):
		return fmt.Errorf("quest %s has no open call %d of the server %.40q by %s", s.Name, b.For, b.Server, actor)
	case b.Count || b.Text == "" || len(b.Text) > maxSampled:
		return fmt.Errorf("the server %s wants a model told %d bytes: want 1 to %d, and all of it beside", b.Server, len(b.Text), maxSampled)
	}
	return nil
}

// maxSampled is how many bytes a person is shown of what a server wants a model told.
const maxSampled = 2 << 10

// requestOver says why a request does not go out any more, nil if somebody waits for it.
func (s *State) requestOver(a *agent.Agent, r *agent.Request) []event.Blocker {
	if r.Server == "" {
		if a.Working() {
			return nil
		}
		return []event.Blocker{{Policy: "prompt", Reason: "The prompt is over."}}
	}
	if _, open := s.Calls[r.For]; !open {
		return []event.Blocker{{Policy: sampling, Reason: "The call is over."}}
	}
	if s.server(r.Server) == nil {
		return []event.Blocker{{Policy: sampling, Reason: "A person has removed the server."}}
	}
	return nil
}

// sampling is who asks a person about a server's request.
const sampling = "sampling"

// judgeRequest puts a request to the policies, and one of a server that they let pass to a
// person. A person who was asked by a policy is not asked twice.
func (s *State) judgeRequest(e event.Event, a *agent.Agent, r *agent.Request) verdict {
	m, f := requestOf(a, r.Asked), s.gatewayFacts(a, r, e.Time)
	v := s.judge(e, m, f)
	if !v.passes || r.Server == "" || s.allowed(m) {
		return v
	}
	return s.asking(e, m, f, []behavior.Blocker{s.asksPerson(a, r)})
}

// asksPerson is who is against a server's request until a person has let it.
func (s *State) asksPerson(a *agent.Agent, r *agent.Request) behavior.Blocker {
	why := fmt.Sprintf("It goes on with %s then, which %s has called. The answer may have %d tokens, and counts in the limits of %s.", s.Calls[r.For].Tool, a.Name, r.Most.Output, a.Name)
	if r.Long {
		why += fmt.Sprintf(" This is only the beginning: all of it is in the event %d.", r.Asked)
	}
	return behavior.Blocker{Thread: sampling, Reason: why, Ask: &behavior.Question{Default: no, Within: int64(formTime)}}
}

// sampled is an error if a request of a server went out that no person has let.
func (s *State) sampled(a *agent.Agent, r *agent.Request) error {
	if r.Server != "" && (!s.allowed(requestOf(a, r.Asked)) || s.requestOver(a, r) != nil) {
		return fmt.Errorf("the server %s has a model asked, and no person has let it", r.Server)
	}
	return nil
}
