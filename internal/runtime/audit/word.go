package audit

import (
	"cmp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// Word is what rests on the word of one party: events that nobody can derive, and that were not made again here.
type Word struct {
	Kind event.Party `json:"kind"`
	// Who is the model as the quest names it, the person, the server or the agent; the machine has no name.
	Who string `json:"who,omitempty"`
	// Events is how many there are.
	Events uint64 `json:"events"`
	// Requests are what the provider calls the requests by: whoever may ask it can have these looked up. Of
	// very many they are the first.
	Requests []string `json:"requests,omitempty"`
	// Named is how many of the events have such an id.
	Named uint64 `json:"named,omitempty"`
}

// maxRequests is how many ids of requests are listed for one model.
const maxRequests = 1000

// words counts whose word the inputs of a quest are.
type words struct {
	by map[party]*Word
	// models are those that calls under way asked.
	models map[uint64]string
}

// party is one of a kind, by its name.
type party struct {
	kind event.Party
	who  string
}

func newWords() *words { return &words{by: map[party]*Word{}, models: map[uint64]string{}} }

// take counts an event that has been applied to s. Checked says that it was made again.
func (w *words) take(s *quest.State, e event.Event, checked bool) {
	switch b := e.Body.(type) {
	case *event.ModelCall:
		w.models[e.Seq] = b.Model
	case *event.GatewayCall:
		w.models[e.Seq] = b.Model
	}
	if !e.Input() {
		return
	}
	kind, who, request := e.Type.Word(), "", ""
	switch b := e.Body.(type) {
	case *event.ModelResult:
		who, request = w.asked(b.Call), b.Request
		if b.Error != nil { // that there was no answer, nobody but the machine says
			kind, who = event.PartyMachine, ""
		}
	case *event.GatewayResult:
		who, request = w.asked(b.Call), b.Request
		if b.Error != "" {
			kind, who = event.PartyMachine, ""
		}
	case *event.UserMessage:
		who = b.Sender
	}
	if server := serverOf(s, e); server != "" {
		kind, who = event.PartyServer, server
	}
	if kind == event.PartyAgent {
		who = e.Actor
	}
	if checked {
		return
	}
	if kind == event.PartyMachine {
		who = ""
	}
	if kind == event.PartyPerson && who == "" {
		who = "owner"
	}
	w.add(kind, runtime.AtMost(who, 200), request)
}

func (w *words) asked(call uint64) string {
	name := w.models[call]
	delete(w.models, call)
	return name
}

func (w *words) add(kind event.Party, who, request string) {
	x := w.by[party{kind, who}]
	if x == nil {
		x = &Word{Kind: kind, Who: who}
		w.by[party{kind, who}] = x
	}
	x.Events++
	if request == "" {
		return
	}
	if x.Named++; len(x.Requests) < maxRequests {
		x.Requests = append(x.Requests, request)
	}
}

// list is what was counted, in the order of the kinds.
func (w *words) list() []Word {
	out := []Word{}
	for _, x := range w.by {
		out = append(out, *x)
	}
	order := []event.Party{event.PartyModel, event.PartyPerson, event.PartyServer, event.PartyAgent, event.PartyMachine}
	slices.SortFunc(out, func(a, b Word) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), cmp.Compare(a.Who, b.Who))
	})
	return out
}

// serverOf is the MCP server whose word an event is, if it is one's.
func serverOf(s *quest.State, e event.Event) string {
	switch b := e.Body.(type) {
	case *event.McpListed:
		return b.Server
	case *event.McpChanged:
		return b.Server
	case *event.McpSlow:
		return b.Server
	case *event.McpUpdated:
		return b.Server
	case *event.McpLogged:
		return b.Server
	case *event.McpAsked:
		return b.Server
	case *event.ToolResult:
		if a := s.Agent(e.Actor); a != nil {
			if server, ok := strings.CutPrefix(a.Sources[e.Tool].Source, "mcp:"); ok {
				return server
			}
		}
	}
	return ""
}
