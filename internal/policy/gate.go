// Package policy is the gate that every proposal of an agent passes, and the rules
// that stand at it.
//
// A proposal is an event that an agent wants to happen: a model call, a tool
// call, an answer. Each rule is a thread of a behavioural program (see package
// behavior); a proposal that no thread blocks is selected and takes effect, any
// other is refused, with the names of those who refuse it and a reason the agent
// can act on. What has happened, such as a result or a person's word, is told to
// the threads and cannot be blocked.
//
// Where the threads stand is a fold of the ledger: they hear of the same events
// in the same order whenever a quest is opened, replayed or forked. They see of an
// event what Facts has, and nothing else.
package policy

import (
	"fmt"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
)

// Proposals are the types of events that can be refused: those that the catalogue marks.
func Proposals() (out []string) {
	for _, t := range event.Types() {
		if t.Proposal() {
			out = append(out, string(t))
		}
	}
	return out
}

// Gate is the policies of a quest and where they stand.
type Gate struct {
	program *behavior.Program
	couples bool
	closing []*noTouch
}

// UnknownError says that this binary does not have a policy of a quest.
type UnknownError struct{ Use string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the quest was made with the policy %s, which this version of lyceum does not have: use the version that made it", e.Use)
}

// New sets the policies up as a quest begins with them. It fails if one of them
// is unknown here, or cannot be what was written when the quest was made.
//
// more are threads that the quest's society brings; they stand behind the others.
func New(policies []event.PolicySpec, more ...behavior.Thread) (*Gate, error) {
	g := &Gate{program: behavior.New(nil)}
	for _, p := range policies {
		s, err := settingsOf(p)
		if err != nil {
			return nil, err
		}
		t, err := threadOf(p, s)
		if err != nil {
			return nil, err
		}
		if err := g.program.Add(t); err != nil {
			return nil, fmt.Errorf("policies: %w", err)
		}
		if d, ok := s.(interface{ defers() bool }); ok && d.defers() {
			g.couples = true
		}
		if closes, ok := s.(*noTouch); ok {
			g.closing = append(g.closing, closes)
		}
	}
	for _, t := range more {
		if err := g.program.Add(t); err != nil {
			return nil, fmt.Errorf("policies: %w", err)
		}
	}
	return g, nil
}

// thread makes the b-thread of a policy.
func thread(p event.PolicySpec) (behavior.Thread, error) {
	s, err := settingsOf(p)
	if err != nil {
		return behavior.Thread{}, err
	}
	return threadOf(p, s)
}

func threadOf(p event.PolicySpec, s settings) (behavior.Thread, error) {
	t, err := s.thread()
	if err != nil {
		return behavior.Thread{}, fmt.Errorf("policy %s: %w", p.Name, err)
	}
	t.Name = p.Name
	return t, nil
}

// Couples reports whether the end of one agent's call may let another agent go on.
func (g *Gate) Couples() bool { return g.couples }

// Blocked says who refuses a proposal now.
func (g *Gate) Blocked(t event.Type, f *Facts) []behavior.Blocker {
	return g.program.Blocked(behavior.Event{Type: string(t), Detail: f, Allowed: f.Allowed})
}

// Took notes a proposal that was let pass. It fails if it could not have been.
func (g *Gate) Took(t event.Type, f *Facts) error {
	return g.program.Select(behavior.Event{Type: string(t), Detail: f, Allowed: f.Allowed}, true)
}

// Tell tells the policies what has happened.
func (g *Gate) Tell(t event.Type, f *Facts) {
	g.program.Tell(behavior.Event{Type: string(t), Detail: f})
}

// Message is the next message that a policy wants to be sent, if one does and
// none blocks it. To may be empty: whoever the last event was about.
func (g *Gate) Message() (policy, to, text string, ok bool) {
	for _, c := range g.program.Requested() {
		if len(g.program.Blocked(c.Event)) == 0 {
			return c.Thread, c.Event.Field(fieldTo).Text, c.Event.Field(fieldText).Text, true
		}
	}
	return "", "", "", false
}

var (
	fieldTo   = []string{"to"}
	fieldText = []string{"text"}
)

// Sent notes that a policy's message has been sent.
func (g *Gate) Sent(policy, text string) error {
	for _, c := range g.program.Requested() {
		if c.Thread == policy && c.Event.Field(fieldText).Text == text {
			return g.program.Select(c.Event, false)
		}
	}
	return fmt.Errorf("the policy %s asked for no such message", policy)
}

// Broken are the policies that broke down, and why.
func (g *Gate) Broken() []behavior.Blocker { return g.program.Broken() }

// Break declares a policy broken.
func (g *Gate) Break(policy, reason string) { g.program.Break(policy, reason) }

// Save and Restore write down where the policies stand, and bring them back.
func (g *Gate) Save() []behavior.Saved { return g.program.Save() }

// Restore brings a gate that was just made to where one of the same policies stood.
func (g *Gate) Restore(saved []behavior.Saved) error { return g.program.Restore(saved) }

// message is a request to tell an agent something.
func message(to, text string) behavior.Event {
	return behavior.Event{Type: "message.sent", Detail: &Facts{To: to, Text: text}}
}

// facts are those of an event of the gate.
func facts(e behavior.Event) *Facts {
	if f, ok := e.Detail.(*Facts); ok {
		return f
	}
	return &Facts{}
}

// list joins words for a person.
func list(words []string) string { return strings.Join(words, ", ") }

// Describe says what each policy states now.
func (g *Gate) Describe() []behavior.Description { return g.program.Describe() }

// Mermaid draws policies as a Mermaid flowchart.
func Mermaid(policies []event.PolicySpec) (string, error) {
	var threads []behavior.Thread
	for _, p := range policies {
		t, err := thread(p)
		if err != nil {
			return "", err
		}
		threads = append(threads, t)
	}
	return behavior.Mermaid(threads), nil
}
