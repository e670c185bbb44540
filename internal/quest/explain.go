package quest

import (
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// Explanation is how the gate stands at one point of a quest: what would pass,
// what would not, and who is in the way.
type Explanation struct {
	Quest    string                 `json:"quest"`
	Seq      uint64                 `json:"seq"`
	Status   Status                 `json:"status"`
	Agents   []AgentExplanation     `json:"agents"`
	Policies []behavior.Description `json:"policies"`
}

// AgentExplanation is what one agent could propose.
type AgentExplanation struct {
	Name  string `json:"name"`
	Phase string `json:"phase"`
	// Parked says why it is not asked any more.
	Parked    string     `json:"parked,omitempty"`
	Proposals []Proposal `json:"proposals"`
}

// Proposal is something an agent could propose, and what would become of it.
type Proposal struct {
	Proposal event.Type `json:"proposal"`
	Tool     string     `json:"tool,omitempty"`
	// Args are those of a call that is proposed now; others are told for any.
	Args string `json:"args,omitempty"`
	// Verdict is enabled, blocked, waits, asks: a person, or depends: on its arguments.
	Verdict string             `json:"verdict"`
	By      []behavior.Blocker `json:"by,omitempty"`
}

// Explain says how the gate stands.
func (s *State) Explain() Explanation {
	out := Explanation{Quest: s.Name, Seq: s.Seq, Status: s.Status, Agents: []AgentExplanation{}, Policies: s.gate.Describe()}
	for _, a := range s.Agents {
		x := AgentExplanation{Name: a.Name, Phase: a.Phase().String(), Parked: a.Parked}
		for i := range a.Open {
			if u := &a.Open[i]; u.Call == 0 && !u.Done {
				f := s.toolFacts(a, u)
				f.Allowed = s.allowed(useOf(a, u))
				x.Proposals = append(x.Proposals, s.weigh("tool.call", f, short(policyText(u))))
			}
		}
		for i := range a.Requests {
			if r := &a.Requests[i]; r.Call == 0 {
				x.Proposals = append(x.Proposals, s.weighRequest(a, r))
			}
		}
		x.Proposals = append(x.Proposals, s.weigh("model.call", s.modelFacts(a, s.Time), ""))
		for _, name := range a.ToolNames {
			x.Proposals = append(x.Proposals, s.weighAny(a, name))
		}
		x.Proposals = append(x.Proposals, s.weigh("quest.finished", s.answerFacts(a.Name, &event.QuestFinished{}), ""))
		out.Agents = append(out.Agents, x)
	}
	return out
}

// known returns the name of a tool that the agent has, or nothing.
func known(a *agent.Agent, name string) string {
	if slices.Contains(a.ToolNames, name) {
		return name
	}
	return ""
}

func policyText(u *agent.Use) string {
	if u.Args.Ref != nil {
		return u.Outline
	}
	return u.Args.Text
}

// weigh says what would become of a proposal.
func (s *State) weigh(t event.Type, f *policy.Facts, args string) Proposal {
	p := Proposal{Proposal: t, Tool: f.Tool, Args: args, Verdict: "enabled", By: s.gate.Blocked(t, f)}
	asks, waits := 0, 0
	for _, b := range p.By {
		if b.Ask != nil {
			asks++
		} else if b.Later {
			waits++
		}
	}
	switch len(p.By) {
	case 0:
	case asks:
		p.Verdict = "asks"
	case asks + waits:
		p.Verdict = "waits"
	default:
		p.Verdict = "blocked"
	}
	return p
}

// weighRequest says what would become of a request for a model that is open: a server's is a
// person's to decide where no policy is against it.
func (s *State) weighRequest(a *agent.Agent, r *agent.Request) Proposal {
	f := s.gatewayFacts(a, r, s.Time)
	f.Allowed = s.allowed(requestOf(a, r.Asked))
	p := s.weigh("gateway.call", f, short(r.Text))
	if p.Verdict == "enabled" && r.Server != "" && !f.Allowed {
		p.Verdict, p.By = "asks", []behavior.Blocker{s.asksPerson(a, r)}
	}
	return p
}

// weighAny says what would become of a call, whatever its arguments: if only
// some would be blocked, it depends.
func (s *State) weighAny(a *agent.Agent, tool string) Proposal {
	unseen := &policy.Args{Text: event.Text{Ref: &event.Ref{}}}
	p := s.weigh("tool.call", s.callFacts(a, tool, unseen), "")
	if p.Verdict == "enabled" {
		return p
	}
	none := s.weigh("tool.call", s.callFacts(a, tool, &policy.Args{}), "")
	if len(none.By) < len(p.By) {
		p.Verdict = "depends"
		for i := range p.By {
			p.By[i].Reason = "" // it would be about arguments that are not there
		}
	}
	return p
}
