package agent

import (
	"slices"

	"lyceum/internal/event"
)

// Request is one of an outside agent to the model gateway, or of an MCP server to an agent's
// model, that has no answer yet.
type Request struct {
	// Asked is the gateway.asked, Call the gateway.call, 0 until there is one.
	Asked uint64
	Call  uint64 `json:",omitzero"`
	ID    string
	// Model is the quest's, whatever the agent called it.
	Model string
	// Count says that nothing is generated.
	Count bool        `json:",omitzero"`
	Most  event.Usage `json:",omitzero"`
	// Server is the MCP server whose request it is, For the tool.call that it works on, Text
	// what a person is told of it; Long says that there is more.
	Server string `json:",omitzero"`
	For    uint64 `json:",omitzero"`
	Text   string `json:",omitzero"`
	Long   bool   `json:",omitzero"`
}

// MaxRequests is how many requests of an outside agent may be open at a time.
const MaxRequests = 32

// Serves is the model that a name means for an outside agent, empty if it may not have it.
func (a *Agent) Serves(name string) string {
	switch {
	case a.Mind() != ByOutside || a.Model == "":
		return ""
	case name == a.Model:
		return a.Model
	case a.Gateway == nil:
		return ""
	case slices.Contains(a.Gateway.Models, name):
		return name
	case a.Gateway.Any:
		return a.Model
	}
	return ""
}

// Requesting notes that an outside agent has sent a request to the gateway.
func (a *Agent) Requesting(seq uint64, b *event.GatewayAsked) {
	r := Request{Asked: seq, ID: b.ID, Model: a.Serves(b.Model), Count: b.Count, Most: b.Most}
	if b.Server != "" {
		r.Model, r.Server, r.For, r.Text, r.Long = a.Model, b.Server, b.For, b.Text, b.Whole != nil
	}
	a.Requests = append(a.Requests, r)
}

// Request returns the request that a gateway.asked made.
func (a *Agent) Request(asked uint64) *Request {
	for i := range a.Requests {
		if a.Requests[i].Asked == asked {
			return &a.Requests[i]
		}
	}
	return nil
}

// Sent notes that a request has gone out.
func (a *Agent) Sent(seq uint64, b *event.GatewayCall) {
	if r := a.Request(b.Asked); r != nil {
		if r.Call = seq; !r.Count {
			a.Requested++
		}
	}
}

// Refuse forgets a request that did not pass the gate.
func (a *Agent) Refuse(asked uint64) {
	a.Requests = slices.DeleteFunc(a.Requests, func(r Request) bool { return r.Asked == asked })
}

// Received takes in what came of a request.
func (a *Agent) Received(b *event.GatewayResult) {
	a.Requests = slices.DeleteFunc(a.Requests, func(r Request) bool { return r.Call == b.Call })
	a.Cost += b.Cost
	if b.Unpriced {
		a.Unpriced++
	}
	a.Tokens += b.Usage.Input + b.Usage.Output
	a.Duration += b.Duration
}
