package contract

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract/tender"
)

// Begin implements quest.Knower.
func (Society) Begin(_ *quest.State, b *event.QuestCreated) quest.Memory {
	var spec event.ContractSpec
	if b.Contract != nil {
		spec = *b.Contract
	}
	return tender.New(spec)
}

// Blank implements quest.Knower.
func (Society) Blank() quest.Memory { return &tender.Net{} }

// Net is what the contract net of a quest knows, nil if the quest is none.
func Net(s *quest.State) *tender.Net {
	if m, ok := s.Memory().(interface{ Itself() *tender.Net }); ok {
		return m.Itself()
	}
	return nil
}
