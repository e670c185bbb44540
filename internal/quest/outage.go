package quest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Outages of providers. That a provider is away is a state of the world: whoever asked it
// waits, with the call open, and all others go on. A quest in which nothing else is open
// stands still: see Stalled. When that has lasted for as long as anybody is patient, it is
// paused. Outages are known of a quest that runs; one that is resumed finds out anew.

// Outage is a provider that answers nobody.
type Outage struct {
	Provider string
	Models   []string
	Reason   string
	// Since is when it was noticed, Until how long the quest waits for it.
	Since, Until event.Time
}

// Away is the outage that an agent waits for, nil if its model is there.
func (s *State) Away(a *agent.Agent) *Outage {
	if a == nil || a.Mind() != agent.ByModel {
		return nil
	}
	for i := range s.Outages {
		if o := &s.Outages[i]; slices.Contains(o.Models, a.Model) {
			return o
		}
	}
	return nil
}

// Stalled reports whether the quest runs, but all that is open waits for providers that
// are away, or for people. That is no running time.
func (s *State) Stalled() bool {
	if len(s.Outages) == 0 || s.Status != Running {
		return false
	}
	waits := false
	for seq, c := range s.Calls {
		switch {
		case c.Kind == "model.call" && s.Away(s.Agent(c.Agent)) != nil:
			waits = true
		case !s.people(seq, c):
			return false
		}
	}
	return waits
}

// Outage says in words which providers are away, nothing if none is.
func (s *State) Outage() string {
	var words []string
	for _, o := range s.Outages {
		words = append(words, fmt.Sprintf("%s is away since %s, and is waited for until %s: %s", o.Provider, o.Since, o.Until, o.Reason))
	}
	return strings.Join(words, "; ")
}

// Absent names the providers that are away.
func (s *State) Absent() string {
	var names []string
	for _, o := range s.Outages {
		names = append(names, o.Provider)
	}
	return list(names)
}

// still reports whether the quest's clock stands.
func (s *State) still() bool { return s.Waiting() || s.Stalled() }

// lost takes in that a provider is away.
func (s *State) lost(b *event.ProviderLost, now event.Time) {
	s.Outages = append(s.Outages, Outage{b.Provider, b.Models, b.Reason, now, now + event.Time(b.Patience)})
}

// back takes in that a provider has answered.
func (s *State) back(provider string) {
	s.Outages = slices.DeleteFunc(s.Outages, func(o Outage) bool { return o.Provider == provider })
	s.forgetTimer(outageTimer + provider)
}

// forgetOutages is for a quest that rests or is resumed: whoever goes on finds out anew.
func (s *State) forgetOutages() {
	for _, o := range s.Outages {
		s.forgetTimer(outageTimer + o.Provider)
	}
	s.Outages = nil
}

func (s *State) forgetTimer(purpose string) {
	for seq, c := range s.Calls {
		if c.Timer == purpose {
			delete(s.Calls, seq)
		}
	}
}

// outageTimer begins the purpose of the timer of an outage; the provider follows.
const outageTimer = "outage/"

// outageTimers ask to be woken when patience is over, as far as nobody has asked yet.
func (s *State) outageTimers(e event.Event) (out []event.Draft) {
	for _, o := range s.Outages {
		if o.Until > e.Time && !s.hasTimer(outageTimer+o.Provider) {
			out = append(out, After(e, "core", "", &event.TimerSet{At: o.Until, Purpose: outageTimer + o.Provider}))
		}
	}
	return out
}

// outlasted brings a quest to rest that waits for providers alone, when no more patience
// is left with any of them.
func (s *State) outlasted(e event.Event) []event.Draft {
	if !s.Stalled() || slices.ContainsFunc(s.Outages, func(o Outage) bool { return o.Until > e.Time }) {
		return nil
	}
	var words []string
	for _, o := range s.Outages {
		words = append(words, fmt.Sprintf("%s has answered nobody for %s: %s", o.Provider, Duration(e.Time-o.Since), o.Reason))
	}
	return []event.Draft{After(e, "core", "", &event.QuestRested{Kind: event.RestOutage, Reason: event.Shorten(strings.Join(words, "; "), maxReasons)})}
}

// checkLost tells whether a provider can have been lost now.
func (s *State) checkLost(b *event.ProviderLost) error {
	switch {
	case s.Status != Running:
		return fmt.Errorf("quest %s is %s: it waits for no provider", s.Name, s.Status)
	case slices.ContainsFunc(s.Outages, func(o Outage) bool { return o.Provider == b.Provider }):
		return fmt.Errorf("quest %s knows that %.80q is away", s.Name, b.Provider)
	case b.Provider == "" || b.Patience < 0:
		return fmt.Errorf("quest %s: an outage has a provider, and a time that it is waited for", s.Name)
	case !slices.ContainsFunc(s.Agents, func(a *agent.Agent) bool { return slices.Contains(b.Models, a.Model) }):
		return fmt.Errorf("quest %s has no model of %.80q", s.Name, b.Provider)
	}
	return nil
}

// checkBack tells whether a provider can have come back now.
func (s *State) checkBack(b *event.ProviderBack) error {
	if !slices.ContainsFunc(s.Outages, func(o Outage) bool { return o.Provider == b.Provider }) {
		return fmt.Errorf("quest %s does not know that %.80q was away", s.Name, b.Provider)
	}
	return nil
}
