package study

import (
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"
)

// What is done with baselines of the home, and what their acceptance rests on.
const (
	Publish = "publish"
	Attach  = "attach"

	ByReproduction = "reproduction"
	ByPerson       = "person"
)

// HomeCall is a baseline.call that is open.
type HomeCall struct {
	agent.Place
	Seq                  uint64
	Action, Name, Result string `json:",omitzero"`
}

// Brought is what became of the last baseline.call: an error, or the result that it is about.
type Brought struct {
	agent.Place
	Error, Result string `json:",omitzero"`
}

const maxAgreed = 64

// agreed notes that a person has said yes.
func (s *Study) agreed(b *event.InteractionAnswered) {
	if b.Choice != "yes" {
		return
	}
	s.Agreed = append(s.Agreed, b.Interaction)
	if n := len(s.Agreed) - maxAgreed; n > 0 {
		s.Agreed = slices.Delete(s.Agreed, 0, n)
	}
}

// Baseline is the result that is compared with, nil if there is none.
func (s *Study) Baseline() *Result {
	if len(s.Accepted) == 0 {
		return nil
	}
	return s.Result(s.Accepted[len(s.Accepted)-1])
}

// MayAccept says why a result cannot be a baseline.
func (s *Study) MayAccept(result string) error {
	r := s.Result(result)
	switch {
	case r == nil:
		return fmt.Errorf("there is no result %.40q: record one, or attach a baseline", result)
	case r.Kind == ResultSlice:
		return fmt.Errorf("%s is a slice of %s: a baseline stands for itself", r.ID, r.Campaign)
	case r.Accepted != 0:
		return fmt.Errorf("%s is accepted already", r.ID)
	case r.Verdict == "":
		return fmt.Errorf("%s has not been run yet", r.ID)
	}
	return nil
}

// accepted takes in a baseline: it was verified here, or a person has agreed.
func (s *Study) accepted(e event.Event, b *event.BaselineAccepted) {
	if err := s.MayAccept(b.Result); err != nil {
		panic("baseline.accepted: " + err.Error())
	}
	r := s.Result(b.Result)
	switch {
	case b.By == ByReproduction && r.Verdict == Verified:
	case b.By == ByPerson && slices.Contains(s.Agreed, b.Interaction):
	default:
		panic(fmt.Sprintf("baseline.accepted: %s is %s, and rests on %.40q", r.ID, r.Verdict, b.By))
	}
	if b.Answer != 0 {
		s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	}
	r.Accepted = e.Seq
	s.Accepted = append(s.Accepted, r.ID)
}

// waived takes in that a person lets the study go on without a baseline.
func (s *Study) waived(e event.Event, b *event.BaselineWaived) {
	if !slices.Contains(s.Agreed, b.Interaction) {
		panic(fmt.Sprintf("baseline.waived: nobody has said yes to %d", b.Interaction))
	}
	s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	s.waive(Waiver{Policy: BaselineFirst, Reason: b.Reason, Seq: e.Seq, Actor: e.Actor})
}

// MayPublish says why a result cannot be published.
func (s *Study) MayPublish(result, name string) error {
	r := s.Result(result)
	switch {
	case r == nil:
		return fmt.Errorf("there is no result %.40q", result)
	case r.Accepted == 0:
		return fmt.Errorf("%s is no baseline of this study: confirm_baseline first", r.ID)
	case r.Verdict != Verified:
		return fmt.Errorf("%s is %s: only what was run twice and gave its figures travels", r.ID, r.Verdict)
	case r.Output == nil || r.Output.Size > MaxOutput:
		return fmt.Errorf("what %s printed is too long to travel: %d bytes are the most", r.ID, MaxOutput)
	case !event.ValidName(name):
		return fmt.Errorf("%.40q is no name for a baseline: it has 1 to 63 letters a to z, digits and hyphens", name)
	}
	return nil
}

// MaxOutput is how many bytes the output of a baseline has.
const MaxOutput = 16 << 20

// Entry is a result as it travels.
func (s *Study) Entry(r *Result, quest string) *event.BaselineEntry {
	return &event.BaselineEntry{Entrypoint: r.Entrypoint, Event: r.Event, Metrics: r.Metrics, Output: *r.Output, Quest: quest, Result: r.ID, Title: r.Title, Tree: r.Tree}
}

// CheckEntry says what is wrong with a baseline that comes from elsewhere.
func CheckEntry(b *event.BaselineEntry) error {
	_, err := workspace.Path(b.Entrypoint)
	switch {
	case err != nil || len(b.Entrypoint) > MaxPath:
		return fmt.Errorf("its entry point %.60q is no path within it", b.Entrypoint)
	case b.Title == "" || len(b.Title) > maxEntryTitle || plain.Papers.In(b.Title):
		return errors.New("its title is no line")
	case len(b.Quest) > 200 || len(b.Result) > 200 || plain.Papers.In(b.Quest+b.Result):
		return errors.New("where it comes from is no name")
	case b.Output.Size < 0 || b.Output.Size > MaxOutput || b.Tree.Size < 0 || b.Event.IsZero():
		return errors.New("its sizes or its hash cannot be")
	}
	return CheckMetrics(b.Metrics)
}

// MaxPath is how many bytes the path of an entry point has.
const (
	MaxPath       = 300
	maxEntryTitle = 400
)

// calledHome takes in that a baseline is put into the home, or looked for there.
func (s *Study) calledHome(e event.Event, b *event.BaselineCall) {
	c := HomeCall{Place: agent.Place{Answer: b.Answer, Part: b.Part}, Seq: e.Seq, Action: b.Action, Name: b.Name}
	switch {
	case b.Action == Publish && b.Entry != nil:
		if err := s.MayPublish(b.Entry.Result, b.Name); err != nil {
			panic("baseline.call: " + err.Error())
		}
		c.Result = b.Entry.Result
	case b.Action != Attach || !event.ValidName(b.Name):
		panic(fmt.Sprintf("baseline.call: %.40q of %.40q", b.Action, b.Name))
	}
	s.HomeCalls = append(s.HomeCalls, c)
}

// AsksHome reports whether the home is asked about baselines for a tool call, and FromHome is
// what it said, nil if it has not.
func (s *Study) AsksHome(at agent.Place) bool {
	return slices.ContainsFunc(s.HomeCalls, func(c HomeCall) bool { return c.Place == at })
}
func (s *Study) FromHome(at agent.Place) *Brought {
	if s.Brought == nil || s.Brought.Place != at {
		return nil
	}
	return s.Brought
}

// CheckBrought says why an answer of the home cannot be.
func (s *Study) CheckBrought(b *event.BaselineResult) error {
	i := slices.IndexFunc(s.HomeCalls, func(c HomeCall) bool { return c.Seq == b.Call })
	switch {
	case i < 0 || b.Error != "" || s.HomeCalls[i].Action == Publish:
		return nil
	case b.Entry == nil:
		return errors.New("a baseline was attached, and there is none")
	}
	return CheckEntry(b.Entry)
}

// brought takes in what the home said. What was attached is a result that waits to be run here.
func (s *Study) brought(e event.Event, b *event.BaselineResult) {
	i := slices.IndexFunc(s.HomeCalls, func(c HomeCall) bool { return c.Seq == b.Call })
	if i < 0 {
		return // a fork has forgotten it
	}
	if err := s.CheckBrought(b); err != nil {
		panic("baseline.result: " + err.Error())
	}
	c := s.HomeCalls[i]
	s.HomeCalls = slices.Delete(s.HomeCalls, i, i+1)
	s.Brought = &Brought{Place: c.Place, Error: b.Error, Result: c.Result}
	switch {
	case b.Error != "":
		return
	case c.Action == Publish:
		s.Result(c.Result).Published = c.Name
	default:
		x := b.Entry
		r := &Result{
			ID: s.NewID("result"), Kind: ResultAttached, Title: x.Title, Seq: e.Seq, Time: e.Time, Entrypoint: x.Entrypoint, Tree: x.Tree, Metrics: x.Metrics,
			From: &Source{Name: c.Name, Quest: x.Quest, Result: x.Result, Event: x.Event},
		}
		s.count("result", r.ID)
		s.Results, s.Untried, s.Brought.Result = append(s.Results, r), append(s.Untried, r.ID), r.ID
	}
	s.durable()
}
