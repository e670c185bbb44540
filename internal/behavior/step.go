package behavior

import (
	"fmt"
	"strings"
)

// Step is what can be seen of one selection: what there was to choose from, what
// was chosen, and what that did.
type Step struct {
	// Candidates are in the order of preference.
	Candidates []Candidate
	// Selected is nil if an event from outside was refused.
	Selected *Event
	// Thread is the one that requested it, empty for an event from outside.
	Thread      string
	Blocked     []Blocking
	Interrupted []string
	Advanced    []string
	// Status is how the program stands after it.
	Status Status
}

// Candidate is an event that could be selected, and the first thread to request
// it; none for one from outside.
type Candidate struct {
	Event  Event
	Thread string
}

// Blocking is an event that somebody wants and somebody blocks.
type Blocking struct {
	Event Event
	By    []Blocker
}

// Standing is whether a program can go on by itself.
type Standing string

// The standings.
const (
	Ready    Standing = "ready"    // a request can be selected
	Idle     Standing = "idle"     // nobody requests anything
	Deadlock Standing = "deadlock" // all that is requested is blocked
)

// Status is the standing of a program, and for a deadlock who wants what and who
// is in the way.
type Status struct {
	Standing Standing
	Blocked  []Blocking
}

func (s Status) String() string {
	if s.Standing != Deadlock {
		return string(s.Standing)
	}
	var parts []string
	for _, b := range s.Blocked {
		var by []string
		for _, t := range b.By {
			by = append(by, t.Thread)
		}
		parts = append(parts, fmt.Sprintf("%s is blocked by %s", b.Event, strings.Join(by, ", ")))
	}
	return "deadlock: " + strings.Join(parts, "; ")
}

// Status says whether the program can go on by itself.
func (p *Program) Status() Status {
	candidates := p.candidates()
	blocked := p.blocking(candidates)
	switch {
	case len(candidates) == 0:
		return Status{Standing: Idle}
	case len(blocked) == len(candidates):
		return Status{Standing: Deadlock, Blocked: blocked}
	}
	return Status{Standing: Ready}
}

// candidates are the events from outside that wait, and all requests.
func (p *Program) candidates() (out []Candidate) {
	for _, w := range p.queue {
		out = append(out, Candidate{Event: w.event})
	}
	return append(out, p.Requested()...)
}

func (p *Program) blocking(candidates []Candidate) (out []Blocking) {
	for _, c := range candidates {
		if by := p.Blocked(c.Event); len(by) > 0 {
			out = append(out, Blocking{c.Event, by})
		}
	}
	return out
}

// look describes the program before a step; first is the event from outside that
// the step is about.
func (p *Program) look(first Event, outside bool) (s Step) {
	if outside {
		s.Candidates = []Candidate{{Event: first}}
	}
	s.Candidates = append(s.Candidates, p.candidates()...)
	s.Blocked = p.blocking(s.Candidates)
	return s
}

// refuse tells that an event from outside was blocked, now or after it waited. It
// says whether a thread broke down over it.
func (p *Program) refuse(e Event, by []Blocker, waited bool) (broke bool) {
	defer p.busy()()
	var s Step
	if p.opts.Record != nil {
		s = p.look(e, true)
	}
	broke = p.note(by)
	if p.opts.Record != nil {
		s.Status = p.Status()
		p.opts.Record(s)
	}
	if waited && p.opts.Refused != nil {
		p.opts.Refused(e, by)
	}
	return broke
}
