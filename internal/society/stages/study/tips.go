package study

import (
	"strings"

	"lyceum/internal/event"
)

// Tip is the last checkpoint of a branch.
type Tip struct {
	Branch string
	Seq    uint64
	Tree   event.TreeRef
}

// tip is that of a branch, nil if it has none.
func (s *Study) tip(branch string) *Tip {
	for i := range s.Tips {
		if s.Tips[i].Branch == branch {
			return &s.Tips[i]
		}
	}
	return nil
}

// kindOf says whether a branch is one of an analysis, and whether it is for results of its own.
func kindOf(branch string) (analysis, own bool) {
	kind, _, _ := strings.Cut(branch, "/")
	return kind == "analysis", kind == "main" || kind == "idea" || kind == "run"
}

// Checkpointed is the last checkpoint of a branch, 0 if it has none.
func (s *Study) Checkpointed(branch string) uint64 {
	if t := s.tip(branch); t != nil {
		return t.Seq
	}
	return 0
}
