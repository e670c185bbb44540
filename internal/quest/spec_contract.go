package quest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
)

// Audits are the levels that a contract net can be audited at, DefaultAudit the one it
// has if its spec does not say.
var Audits = []string{"lite", "standard", "strict"}

// DefaultAudit is the level of a contract net that names none.
const DefaultAudit = "standard"

// MaxTask is how long the task of a contract net may be, in bytes of JSON: its rules
// read it, and so it must stand in the quest's first event.
const MaxTask = 4000

// IsContract reports whether the agents bid for parts of the work.
func (s *Spec) IsContract() bool { return s.Society == "contract" }

// Question is what the spec asks, where it says so itself.
func (s *Spec) Question() string {
	if s.Task != "" {
		return s.Task
	}
	return s.Problem
}

// Contract is what quest.created says of how a contract net works, nil if it is none.
func (s *Spec) Contract() *event.ContractSpec {
	if !s.IsContract() {
		return nil
	}
	c := &event.ContractSpec{Audit: s.Audit}
	if c.Audit == "" {
		c.Audit = DefaultAudit
	}
	if at, err := time.Parse(time.RFC3339, s.WaitUntil); err == nil {
		c.WaitUntil = event.Time(at.UnixMicro())
	}
	return c
}

// checkContract finds what does not go together in a contract net, or does not belong
// elsewhere.
func (s *Spec) checkContract() *fault {
	if !s.IsContract() {
		for _, f := range []struct{ key, value string }{{"corpus", s.Corpus}, {"audit", s.Audit}, {"wait_until", s.WaitUntil}, {"task", s.Task}} {
			if f.value != "" {
				return &fault{f.key, fmt.Sprintf("%s is for a contract net: say society: contract, or leave it out", f.key)}
			}
		}
		return nil
	}
	switch {
	case len(s.Agents) > 0:
		return &fault{"agents", "a contract net has its own agents: leave agents out"}
	case s.Audit != "" && !slices.Contains(Audits, s.Audit):
		return &fault{"audit", fmt.Sprintf("audit %.40q: want %s", s.Audit, strings.Join(Audits, ", "))}
	case s.Reviewers != nil || s.Decision != "" || s.Deadline != nil:
		return &fault{"society", "reviewers, decision and review_deadline_turns are those of a lab: leave them out of a contract net"}
	}
	if s.WaitUntil != "" {
		if at, err := time.Parse(time.RFC3339, s.WaitUntil); err != nil || !Believable(at) {
			return &fault{"wait_until", fmt.Sprintf("wait_until %.60q: want a time such as 2030-01-31T12:00:00Z", s.WaitUntil)}
		}
	}
	return nil
}

// Believable reports whether somebody can mean to wait until a time.
func Believable(at time.Time) bool { return at.Year() >= 2000 && at.Year() < 2200 }

// Cast is a society whose agents have roles of their own.
type Cast interface {
	Society
	// Roles are the agents, in the order in which the rules visit them. model says that
	// the quest names one, computers that its agents have some.
	Roles(model, computers bool) []Role
}

// Role is what an agent of a Cast is.
type Role struct {
	Name string
	// Thinks says that it has the quest's model; without one it moves by rules alone.
	Thinks bool
	// Text is the name of the text that is its system prompt.
	Text string
	// Own are the names of the society's tools that it has; World says that it has the
	// world's as well.
	Own   []string
	World bool
}
