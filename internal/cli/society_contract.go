package cli

import (
	"strings"

	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
)

// contractNet is how a contract net is shown. Its evidence is read by show --evidence.
type contractNet struct{ alone }

func (contractNet) noted() bool { return true }

func (contractNet) flags(f *keyFlags) {
	f.folder("corpus", "a folder of .md and .txt files that a contract net searches: beside the question or below it, or an absolute path")
	f.text("audit", "how strictly the answer of a contract net is audited: "+strings.Join(contract.Levels, ", "))
	f.text("wait_until", "when the work of a contract net begins, such as 2030-01-31T12:00:00Z")
}

// first asks something that a text of its own answers; a model is not needed for that.
func (contractNet) first(keys, files map[string]string) {
	delete(keys, "model")
	keys["problem"] = "problem: How high is the tower of the old observatory?"
	keys["corpus"], keys["audit"] = "corpus: texts", "audit: lite"
	files["texts/observatory.md"] = `# The old observatory

The old observatory stands on the hill above the town. Its tower is 31 metres high and was
built in 1874; the dome was added four years later.
`
}

func (contractNet) minds(s *quest.State) []mindJSON {
	minds := []mindJSON{}
	for _, ag := range s.Agents {
		if m := contract.Net(s).Minds[ag.Name]; m != nil {
			minds = append(minds, mindJSON{ag.Name, m.Beliefs, m.Desires, m.Intentions})
		}
	}
	return minds
}
