package contract_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society"
	"lyceum/internal/society/contract"
)

// settled is what the first event says of how a net of a spec works.
func settled(t *testing.T, s *quest.Spec) *event.ContractSpec {
	t.Helper()
	b := &event.QuestCreated{}
	if err := society.All().Settle(s, b); err != nil {
		t.Fatal(err)
	}
	return b.Contract
}

func TestAContractNetHasItsOwnKeys(t *testing.T) {
	t.Parallel()
	s, err := society.All().ParseSpec("quest.yaml", []byte("society: contract\ntask: Find out.\ncorpus: texts\ndata: tables\naudit: strict\nseed: 3\nwait_until: 2030-01-31T12:00:00+01:00\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := settled(t, s)
	if society.All().Question(s) != "Find out." || c.Audit != "strict" || c.WaitUntil.String() != "2030-01-31T11:00:00.000000Z" || contract.Corpus(s) != "texts" {
		t.Errorf("the contract of the spec: got %+v, %+v", s, c)
	}
	s, err = society.All().ParseSpec("quest.yaml", []byte("society: contract\nproblem: Find out.\ncorpus: texts\n"))
	if err != nil || settled(t, s).Audit != "standard" || society.All().Question(s) != "Find out." {
		t.Errorf("a contract by its defaults: got %+v, %v", s, err)
	}
}

func TestAFaultOfAContractNetIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"level":     {"society: contract\ntask: x\naudit: harsh", `quest.yaml:3:1: audit "harsh": want lite, standard or strict`},
		"time":      {"society: contract\ntask: x\nwait_until: soon", `quest.yaml:3:1: wait_until "soon"`},
		"two tasks": {"society: contract\nproblem: x\ntask: y", "quest.yaml:3:1: task and problem are both given"},
		"agents":    {"society: contract\ntask: x\nagents: 3", "quest.yaml:3:1: the society contract has its own agents: leave agents out"},
		"elsewhere": {"problem: x\ncorpus: texts", "quest.yaml:2:1: corpus is a key of contract and stages: say society: contract or stages, or leave it out"},
		"lab words": {"society: contract\ntask: x\ndecision: majority", "quest.yaml:3:1: decision is a key of lab: say society: lab, or leave it out"},
		"no task":   {"society: contract\ncorpus: x", "no question"},
		"in a lab":  {"society: lab\nagents: 2\nproblem: x\naudit: lite", "quest.yaml:4:1: audit is a key of contract"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := society.All().ParseSpec("quest.yaml", []byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
