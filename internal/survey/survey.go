// Package survey is what people call a study: one question put to several models, seeds and
// societies, within one budget. Each combination is a cell, and each cell becomes a quest of its own.
//
// A study is a ledger of its own. Its design comes first and never changes; what came of each quest
// are inputs; all else follows from these, and a ledger from which something else follows does not
// fold. A cell gets its money by an event that is there before its quest is, and the quest's name
// follows from the design: so whoever goes on after a crash knows which quests there can be, makes
// none twice, and gives no money twice.
//
// Every cell gets the same share of the budget, whatever others leave of theirs: cells are compared,
// and one that could spend more than another is not comparable. So what is allotted never sums up to
// more than the budget.
//
// The word study is taken in this code, by a researcher's work (society/stages/study).
package survey

import (
	"errors"
	"fmt"
	"iter"
	"strconv"

	"lyceum/internal/event"
)

// Finished is the state of a cell whose quest has its answer, Refused of one whose quest could not be
// made. All others are why a quest came to rest for good.
const (
	Finished = "finished"
	Refused  = "refused"
)

// State is a study: the fold of its ledger.
type State struct {
	Name   string
	Design *event.SurveyDesigned
	// First is the hash of the first event, by which the study's quests know it.
	First event.Hash
	Cells []Cell
	// Over is set once all cells were observed.
	Over             bool
	Created, Updated event.Time
	Seq              uint64
	Hash             event.Hash

	// due is what must come next: what follows from the last input, as far as it is not there yet.
	due []event.Body
}

// Cell is one combination, and the quest that it becomes.
type Cell struct {
	// Number counts from 1.
	Number int64
	Quest  string
	Arm    event.SurveyArm
	Model  string
	Seed   string
	// Allotted is set once the cell has its money, Budget.
	Allotted bool
	Budget   int64
	// Seen is what came of it, nil while that is open.
	Seen *event.SurveyObserved
}

// Open reports whether the cell has its money, and its quest is not over.
func (c *Cell) Open() bool { return c.Allotted && c.Seen == nil }

// New returns a study as of its first event.
func New(e event.Event) (*State, error) {
	d, ok := e.Body.(*event.SurveyDesigned)
	if !ok || e.Seq != 1 {
		return nil, fmt.Errorf("the ledger of a study begins with survey.designed, not with %s", e.Type)
	}
	if err := Check(e.Quest, d); err != nil {
		return nil, fmt.Errorf("study %s: %w", e.Quest, err)
	}
	s := &State{Name: e.Quest, Design: d, First: e.Hash, Created: e.Time, Cells: cells(e.Quest, d)}
	s.moved(e)
	s.due = s.Decide()
	return s, nil
}

// cells are those of a design. Seeds come first, so that of a study that was left early each way of
// working has been tried about as often.
func cells(name string, d *event.SurveyDesigned) (out []Cell) {
	count := len(d.Seeds) * len(d.Arms) * len(d.Models)
	width := len(strconv.Itoa(count))
	for _, seed := range d.Seeds {
		for _, arm := range d.Arms {
			for _, model := range d.Models {
				n := int64(len(out) + 1)
				out = append(out, Cell{Number: n, Quest: fmt.Sprintf("%s-%0*d", name, width, n), Arm: arm, Model: model, Seed: seed})
			}
		}
	}
	return out
}

// Kinds are the cells that differ by more than their seed, the first of each kind.
func (s *State) Kinds() iter.Seq[*Cell] {
	return func(yield func(*Cell) bool) {
		seen := map[[2]string]bool{}
		for i := range s.Cells {
			c := &s.Cells[i]
			kind := [2]string{c.Arm.Label, c.Model}
			if !seen[kind] && !yield(c) {
				return
			}
			seen[kind] = true
		}
	}
}

// Share is what each cell gets of a design's budget.
func Share(d *event.SurveyDesigned) int64 {
	return d.Budget / max(int64(len(d.Seeds)*len(d.Arms)*len(d.Models)), 1)
}

// Decide says what follows from what is there: as many cells get their money as may be under way at
// once, and the study is over once all were observed.
func (s *State) Decide() (out []event.Body) {
	if s.Over {
		return nil
	}
	var open int64
	end := event.SurveyFinished{Cells: int64(len(s.Cells))}
	seen := 0
	for i := range s.Cells {
		switch c := &s.Cells[i]; {
		case c.Open():
			open++
		case c.Seen != nil:
			seen++
			end.Cost += c.Seen.Cost
			if c.Seen.State == Finished {
				end.Answered++
			}
		}
	}
	for i := range s.Cells {
		if c := &s.Cells[i]; !c.Allotted && open < s.Design.Parallel {
			out = append(out, &event.SurveyAllotted{Budget: Share(s.Design), Cell: c.Number, Quest: c.Quest})
			open++
		}
	}
	if seen == len(s.Cells) {
		out = append(out, &end)
	}
	return out
}

// Fold takes the next event in, or says why it cannot be the next one.
func (s *State) Fold(e event.Event) error {
	if e.Seq != s.Seq+1 || e.Quest != s.Name {
		return fmt.Errorf("event %d of %s does not follow event %d of study %s", e.Seq, e.Quest, s.Seq, s.Name)
	}
	if err := s.take(e.Body); err != nil {
		return fmt.Errorf("event %d of study %s, %s: %w", e.Seq, s.Name, e.Type, err)
	}
	s.moved(e)
	return nil
}

func (s *State) moved(e event.Event) { s.Seq, s.Hash, s.Updated = e.Seq, e.Hash, e.Time }

// take changes the state by what an event says, if that may come now.
func (s *State) take(body event.Body) error {
	if seen, ok := body.(*event.SurveyObserved); ok {
		if err := s.Check(seen); err != nil {
			return err
		}
		s.Cells[seen.Cell-1].Seen = seen
		s.due = s.Decide()
		return nil
	}
	if len(s.due) == 0 {
		return errors.New("nothing is to follow here")
	}
	switch b := body.(type) {
	case *event.SurveyAllotted:
		if want, ok := s.due[0].(*event.SurveyAllotted); !ok || *want != *b {
			return errors.New("the rules allot something else here")
		}
		c := &s.Cells[b.Cell-1]
		c.Allotted, c.Budget = true, b.Budget
	case *event.SurveyFinished:
		if want, ok := s.due[0].(*event.SurveyFinished); !ok || *want != *b {
			return errors.New("the study is not over like that")
		}
		s.Over = true
	default:
		return errors.New("a study has no such event")
	}
	s.due = s.due[1:]
	return nil
}

// Due is what must be recorded next: it is empty but right after an input.
func (s *State) Due() []event.Body { return s.due }

// Check tells whether something may be said of a cell now: its quest can have been made, and nothing
// was said of it before.
func (s *State) Check(seen *event.SurveyObserved) error {
	switch {
	case len(s.due) > 0:
		return errors.New("what followed from the event before is missing")
	case seen.Cell < 1 || seen.Cell > int64(len(s.Cells)):
		return fmt.Errorf("there is no cell %d", seen.Cell)
	case !s.Cells[seen.Cell-1].Open():
		return fmt.Errorf("cell %d is not open", seen.Cell)
	case seen.Cost < 0 || seen.Running < 0 || seen.Tokens < 0 || seen.Turns < 0 || seen.Unpriced < 0 || seen.State == "":
		return fmt.Errorf("cell %d has figures that no quest has", seen.Cell)
	}
	return nil
}

// Allotted is the sum of what cells got, and Spent of what those have cost of which that is known.
func (s *State) Allotted() (sum int64) {
	for _, c := range s.Cells {
		sum += c.Budget
	}
	return sum
}

// Spent is what the observed cells have cost; unpriced counts calls whose cost nobody knows.
func (s *State) Spent() (cost, unpriced int64) {
	for _, c := range s.Cells {
		if c.Seen != nil {
			cost += c.Seen.Cost
			unpriced += c.Seen.Unpriced
		}
	}
	return cost, unpriced
}

// Counts are how many cells were observed, and how many of them have an answer.
func (s *State) Counts() (seen, answered int) {
	for _, c := range s.Cells {
		if c.Seen != nil {
			seen++
			if c.Seen.State == Finished {
				answered++
			}
		}
	}
	return seen, answered
}
