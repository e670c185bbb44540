package architect

import "lyceum/internal/quest"

// The modes: whether a person sees each plan before anything is done.
const (
	modeApprove = "approve"
	modeAuto    = "auto"
)

var modes = []quest.Mode{
	{ID: modeAuto, Name: "Go ahead", About: "What the architect plans is done"},
	{ID: modeApprove, Name: "Approve plans", About: "You see each plan, and may change it, before anything is done"},
}

// Modes implements quest.Moded.
func (Society) Modes(s *quest.State) ([]quest.Mode, string) {
	if s != nil && s.Memory() != nil && Of(s).Settings.Approve {
		return modes, modeApprove
	}
	return modes, modeAuto
}
