package quest

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// What comes from outside the core and a model's answers: calls that an outside agent
// proposes, and other tools for an agent.

// checkProposed tells whether an outside agent may propose a call now.
func (s *State) checkProposed(actor string, b *event.ToolProposed) error {
	a := s.Agent(actor)
	switch {
	case a == nil || a.Mind() != agent.ByOutside:
		return fmt.Errorf("quest %s has no outside agent %s", s.Name, actor)
	case s.Status != Running:
		return fmt.Errorf("quest %s is %s: it takes no calls", s.Name, s.Status)
	case a.Session != nil && a.Asked == 0:
		return fmt.Errorf("agent %s has no open prompt: it takes no calls", a.Name)
	case b.ID == "" || slices.ContainsFunc(a.Open, func(u agent.Use) bool { return u.ID == b.ID }),
		slices.ContainsFunc(a.Proposed, func(p agent.Proposed) bool { return p.ID == b.ID }):
		return fmt.Errorf("agent %s has proposed the call %.80q already", a.Name, b.ID)
	case len(a.Open) >= agent.MaxProposed:
		return fmt.Errorf("agent %s has %d calls open: it must wait for one of them", a.Name, len(a.Open))
	}
	return nil
}

// checkShown tells whether an agent may get a list of tools now. It keeps the tools by
// which it takes part, and those that it is using.
func (s *State) checkShown(actor string, b *event.ToolsShown) error {
	a := s.Agent(actor)
	if a == nil {
		return fmt.Errorf("quest %s has no agent %s", s.Name, actor)
	}
	has := map[string]bool{}
	for _, t := range b.Shown {
		switch {
		case t.Name == "" || has[t.Name]:
			return fmt.Errorf("the list of tools for %s has %.80q twice, or without a name", a.Name, t.Name)
		case t.Source != "" && t.Trust != event.TrustTrusted && t.Trust != event.TrustStranger:
			return fmt.Errorf("the tool %.80q comes from %.80q, and its trust is %.40q: want trusted or stranger", t.Name, t.Source, t.Trust)
		case t.Source != "" && s.Own(t.Name) != nil:
			return fmt.Errorf("the tool %.80q of %.80q has the name of one that the rules answer", t.Name, t.Source)
		}
		has[t.Name] = true
	}
	for _, name := range a.ToolNames {
		if !has[name] && s.Own(name) != nil {
			return fmt.Errorf("the list of tools for %s lacks %s, without which it cannot take part", a.Name, name)
		}
	}
	for _, u := range a.Open {
		if !u.Done && known(a, u.Name) != "" && !has[u.Name] {
			return fmt.Errorf("the list of tools for %s lacks %s, which it is using", a.Name, u.Name)
		}
	}
	return s.checkFound(a, b, has)
}
