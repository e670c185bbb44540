package lab

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
)

// Memory is what a lab knows: how it works, and what it has published.
type Memory struct {
	// Spec is how papers are judged, nil if the quest does not say.
	Spec *event.LabSpec `json:",omitzero"`
	paper.Library
}

// Begin implements quest.Knower.
func (Society) Begin(s *quest.State, b *event.QuestCreated) quest.Memory {
	return &Memory{Spec: b.Lab, Library: paper.Library{Readers: int64(len(s.Agents))}}
}

// Blank implements quest.Knower.
func (Society) Blank() quest.Memory { return &Memory{} }

// Of is what the lab of a quest knows, nil if the quest is none.
func Of(s *quest.State) *Memory {
	m, _ := s.Memory().(*Memory)
	return m
}

// Library is what a quest has published. Of one that is no lab it is empty, and for
// reading only.
func Library(s *quest.State) *paper.Library {
	if m := Of(s); m != nil {
		return &m.Library
	}
	return &paper.Library{}
}

// Check implements quest.Checker.
func (m *Memory) Check(b event.Result) error {
	r, ok := b.(*event.ReproductionResult)
	if ok && r.Status != event.SameOutput && r.Status != event.Differs && r.Status != event.NotRun {
		return fmt.Errorf("a reproduction came out as %.40q: want %s, %s or %s", r.Status, event.SameOutput, event.Differs, event.NotRun)
	}
	return nil
}

// Facts implements quest.Memory.
func (m *Memory) Facts(e event.Event, f *policy.Facts) {
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		f.Ref, f.Author, f.Status = b.Ref, e.Actor, event.Submitted
	case *event.ReviewRequested:
		m.about(f, b.Ref)
		f.To = b.Reviewer
	case *event.ReviewExpired:
		m.about(f, b.Ref)
		f.To = b.Reviewer
	case *event.ReviewSubmitted:
		m.about(f, b.Ref)
	case *event.PublicationDecided:
		m.about(f, b.Ref)
		f.Status = b.Status
	case *event.CitationMade:
		m.about(f, b.Ref)
	case *event.VoteCast:
		m.about(f, b.Ref)
	case *event.AdvisorySent:
		m.about(f, b.Ref)
	}
}

// CallFacts implements quest.Memory.
func (m *Memory) CallFacts(f *policy.Facts) {
	f.Asked = m.Asked[f.Agent]
	m.about(f, f.Field(argRef).Text)
}

// about adds what is known of a paper.
func (m *Memory) about(f *policy.Facts, ref string) {
	f.Ref = ref
	if p := m.Paper(ref); p != nil {
		f.Author, f.Status = p.Author, p.Status
	}
}
