package event

// The events of a study: one question put to several models, seeds and societies, each combination a
// quest of its own. A study has a ledger of its own, beside those of quests; none of these stands in
// a quest's. In code it is called a survey, because a study is a researcher's work elsewhere.

// SurveyDesigned begins a study: what is asked, of whom, and for how much money. It never changes.
type SurveyDesigned struct {
	// Arms are the ways of working that are compared.
	Arms []SurveyArm `json:"arms"`
	// Budget is for all quests together, in nanodollars. Each gets an equal share.
	Budget int64 `json:"budget"`
	// Common is what every quest.yaml says besides, as YAML.
	Common   string   `json:"common,omitzero"`
	Models   []string `json:"models"`
	Parallel int64    `json:"parallel"`
	Question string   `json:"question"`
	// Seeds are decimal numbers.
	Seeds []string `json:"seeds"`
	// Strict says that the shares hold for calls under way, too.
	Strict bool `json:"strict,omitzero"`
}

// SurveyArm is one way of working: a society, and what its quest.yaml says besides.
type SurveyArm struct {
	// Label is what tables call it.
	Label   string `json:"label"`
	Society string `json:"society"`
	// Spec is YAML.
	Spec string `json:"spec,omitzero"`
}

// SurveyAllotted gives a cell of the study its money. It is durable before the cell's quest is made.
type SurveyAllotted struct {
	// Budget is the quest's limit on cost, in nanodollars.
	Budget int64 `json:"budget"`
	// Cell counts from 1.
	Cell  int64  `json:"cell"`
	Quest string `json:"quest"`
}

// SurveyObserved says what came of a cell's quest, or why there is none.
type SurveyObserved struct {
	// Agree says who agrees within the quest, in words.
	Agree string `json:"agree,omitzero"`
	// Answer is the quest's in a line. Candidate says that the quest did not end with it.
	Answer    string `json:"answer,omitzero"`
	Candidate bool   `json:"candidate,omitzero"`
	Cell      int64  `json:"cell"`
	// Cost is in nanodollars. Unpriced counts calls whose cost nobody knows.
	Cost int64 `json:"cost,omitzero"`
	// Events and Head are how far the quest's ledger was read: 0 if there was no quest.
	Events uint64 `json:"events,omitzero"`
	Head   Hash   `json:"head,omitzero"`
	// Reason is why there is no answer.
	Reason string `json:"reason,omitzero"`
	// Running is for how many microseconds the quest ran.
	Running int64 `json:"running,omitzero"`
	// State is finished, no-agreement, budget, stopped, failed, or refused for a quest that could not
	// be made.
	State    string `json:"state"`
	Sure     string `json:"sure,omitzero"`
	Tokens   int64  `json:"tokens,omitzero"`
	Turns    int64  `json:"turns,omitzero"`
	Unpriced int64  `json:"unpriced,omitzero"`
}

// SurveyFinished says that all cells of a study were observed.
type SurveyFinished struct {
	Answered int64 `json:"answered"`
	Cells    int64 `json:"cells"`
	Cost     int64 `json:"cost"`
}

func (*SurveyDesigned) Type() Type { return "survey.designed" }
func (*SurveyAllotted) Type() Type { return "survey.allotted" }
func (*SurveyObserved) Type() Type { return "survey.observed" }
func (*SurveyFinished) Type() Type { return "survey.finished" }
