package view

// societies are those that have more to show than their agents, by the names of their
// rules.
var societies = map[string]Society{
	"lab":       laboratory{},
	"contract":  contractNet{},
	"architect": architects{},
	"stages":    studies{},
	"world":     worlds{},
	"solo":      soloist{},
}

// Facts are how a quest's society works, under its name, and the best that has come of
// it.
type Facts struct {
	Best     *Paper        `json:"best,omitempty"`
	Lab      *LabInfo      `json:"lab,omitempty"`
	Contract *ContractInfo `json:"contract,omitempty"`
}
