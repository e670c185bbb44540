package view

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Society is what the views know of one society. The rest of the package knows none by
// its name: societies has a row for each, and what a row names stands in files that end in
// the society's name.
type Society interface {
	// words are for the events of the society's own.
	words() dictionary
	// begin is what the society adds to the views of a quest.
	begin() part
	// read folds an event into the steps and the evidence of a run. It reports whether the
	// event is dealt with; one that is not becomes a step as any other.
	read(r *reader, e event.Event) (done bool, err error)

	// Title is what a thing that events name by a reference is called, empty if the quest
	// has no such thing.
	Title(s *quest.State, ref string) string
	// Tally is what a list says of a quest.
	Tally(s *quest.State) Tally
	// Role is what an agent is to the society.
	Role(s *quest.State, agent string) Role
	// conclude is what stands behind the quest's answer, nil while nobody has proposed one.
	conclude(v *Views, s *quest.State) *Conclusion
	// Mind is what the agent of a desk believed, wanted and intended after an event.
	Mind(d *Desk, seq uint64) Mind
	// Facts are how the society works, and the best that has come of it.
	Facts(s *quest.State) Facts
}

// part is what a society adds to the views of a quest, event by event. What encoding/json
// shows of it is its saved form.
type part interface {
	// take adds the next event, after the views themselves have; s is the state after it.
	take(v *Views, e event.Event, s *quest.State)
}

// Tally counts what a quest has, nil where its society has no such thing.
type Tally struct {
	Papers *PaperCounts `json:"papers,omitempty"`
	Votes  *int         `json:"votes,omitempty"`
}

// PaperCounts are papers by their status.
type PaperCounts struct {
	Published int64 `json:"published"`
	Submitted int64 `json:"submitted"`
	Rejected  int64 `json:"rejected"`
}

// Role is what an agent has done for its society, and what it has to do.
type Role struct {
	Papers []string `json:"papers"`
	Open   []string `json:"open_reviews"`
	Vote   string   `json:"vote,omitempty"`
	// Title is that of the first paper that it is asked to review.
	Title string `json:"-"`
	// Task is the kind of the task that it works on by rules, if there is one, and Text
	// what the task is.
	Task string `json:"-"`
	Text string `json:"-"`
}

// Of is what the views know of the society of a quest.
func Of(s *quest.State) Society { return named(s.Rules) }

// named finds a society by the rules of a quest. One without a row has agents and
// nothing else.
func named(rules string) Society {
	if soc := societies[quest.NameOf(rules)]; soc != nil {
		return soc
	}
	return agents{}
}

// vocabulary is how each type of event is put into words: those of the core, and those of
// each society.
var vocabulary = func() map[event.Type]wording {
	all := []dictionary{coreWords, computerWords, executorWords, surveyWords}
	for _, soc := range societies {
		all = append(all, soc.words())
	}
	return join(all...)
}()

// Titles are what the things of a quest are called, for a Teller.
func Titles(s *quest.State) func(ref string) string {
	return func(ref string) string { return Of(s).Title(s, ref) }
}

// agents is a society of agents and nothing else. Others embed it for what they do not
// have.
type agents struct{}

func (agents) words() dictionary                       { return nil }
func (agents) begin() part                             { return &agents{} }
func (agents) read(*reader, event.Event) (bool, error) { return false, nil }
func (agents) Title(*quest.State, string) string       { return "" }
func (agents) Tally(*quest.State) Tally                { return Tally{} }
func (agents) Facts(*quest.State) Facts                { return Facts{} }
func (agents) Role(*quest.State, string) Role          { return Role{Papers: []string{}, Open: []string{}} }
func (agents) Mind(*Desk, uint64) Mind {
	return Mind{Beliefs: []Belief{}, Desires: []Desire{}, Intentions: []Intention{}}
}

// take draws who wrote the answer: the first agent.
func (agents) take(v *Views, e event.Event, s *quest.State) {
	if _, ok := e.Body.(*event.QuestFinished); ok && len(s.Agents) > 0 {
		v.Canvas.edge(e.Seq, Wrote, id("agent", s.Agents[0].Name), id("answer", e.Seq), "")
	}
}
