package cli

import (
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
)

// contractNet is how a contract net is shown. Its evidence is read by show --evidence.
type contractNet struct{ alone }

func (contractNet) noted() bool { return true }

func (contractNet) minds(s *quest.State) []mindJSON {
	minds := []mindJSON{}
	for _, ag := range s.Agents {
		if m := contract.Net(s).Minds[ag.Name]; m != nil {
			minds = append(minds, mindJSON{ag.Name, m.Beliefs, m.Desires, m.Intentions})
		}
	}
	return minds
}
