package survey

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Outline is a study at a glance, and View all of it. Fields are only added.
type Outline struct {
	Study    string `json:"study"`
	Question string `json:"question"`
	// State is running while somebody conducts it, finished once all cells were observed, else open.
	State     string   `json:"state"`
	Models    []string `json:"models"`
	Seeds     []string `json:"seeds"`
	Societies []string `json:"societies"`
	Parallel  int64    `json:"parallel"`
	// Strict says that no call under way can pass a cell's share either.
	Strict bool `json:"strict"`
	// Cells is how many there are, Observed of how many it is known what came of them, and Answered
	// how many of those have an answer.
	Cells    int `json:"cells"`
	Observed int `json:"observed"`
	Answered int `json:"answered"`
	// AllottedUSD is what cells got so far of BudgetUSD. CostUSD is what the observed ones have cost, at
	// least if Unpriced is not 0.
	BudgetUSD   string     `json:"budget_usd"`
	AllottedUSD string     `json:"allotted_usd"`
	CostUSD     string     `json:"cost_usd"`
	Unpriced    int64      `json:"unpriced_calls"`
	Created     event.Time `json:"created"`
	Updated     event.Time `json:"updated"`
	Events      uint64     `json:"events"`
	Hash        string     `json:"hash"`
	// Answers are those of the study, the most frequent first.
	Answers []Agreement `json:"answers"`
}

// View is a study with its table.
type View struct {
	Outline
	Rows []Row `json:"rows"`
}

// View says all there is to say of a study.
func (s *State) View(running bool) *View {
	v := &View{Outline: Outline{
		Study: s.Name, Question: s.Design.Question, State: "open", Models: s.Design.Models, Seeds: s.Design.Seeds, Societies: []string{}, Parallel: s.Design.Parallel, Strict: s.Design.Strict,
		Cells: len(s.Cells), BudgetUSD: quest.USD(s.Design.Budget).String(), AllottedUSD: quest.USD(s.Allotted()).String(),
		Created: s.Created, Updated: s.Updated, Events: s.Seq, Hash: s.Hash.String(),
	}}
	for _, a := range s.Design.Arms {
		v.Societies = append(v.Societies, a.Label)
	}
	switch {
	case s.Over:
		v.State = "finished"
	case running:
		v.State = "running"
	}
	var cost int64
	cost, v.Unpriced = s.Spent()
	v.CostUSD = quest.USD(cost).String()
	v.Observed, v.Answered = s.Counts()
	v.Rows, v.Answers = s.Table()
	return v
}
