package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/quest"
)

func TestAContractNetHasItsOwnKeys(t *testing.T) {
	t.Parallel()
	s, err := quest.ParseSpec("quest.yaml", []byte("society: contract\ntask: Find out.\ncorpus: texts\ndata: tables\naudit: strict\nseed: 3\nwait_until: 2030-01-31T12:00:00+01:00\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Contract()
	if s.Question() != "Find out." || c.Audit != "strict" || c.WaitUntil.String() != "2030-01-31T11:00:00.000000Z" || s.Corpus != "texts" {
		t.Errorf("the contract of the spec: got %+v, %+v", s, c)
	}
	s, err = quest.ParseSpec("quest.yaml", []byte("society: contract\nproblem: Find out.\ncorpus: texts\n"))
	if err != nil || s.Contract().Audit != "standard" || s.Question() != "Find out." {
		t.Errorf("a contract by its defaults: got %+v, %v", s, err)
	}
}

func TestAFaultOfAContractNetIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"level":     {"society: contract\ntask: x\naudit: harsh", `quest.yaml:3:1: audit "harsh": want lite, standard, strict`},
		"time":      {"society: contract\ntask: x\nwait_until: soon", `quest.yaml:3:1: wait_until "soon"`},
		"two tasks": {"society: contract\nproblem: x\ntask: y", "quest.yaml:3:1: task and problem are both given"},
		"agents":    {"society: contract\ntask: x\nagents: 3", "quest.yaml:3:1: a contract net has its own agents"},
		"elsewhere": {"problem: x\ncorpus: texts", "quest.yaml:2:1: corpus is for a contract net"},
		"lab words": {"society: contract\ntask: x\ndecision: majority", "decision"},
		"no task":   {"society: contract\ncorpus: x", "no question"},
		"in a lab":  {"society: lab\nagents: 2\nproblem: x\naudit: lite", "audit is for a contract net"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := quest.ParseSpec("quest.yaml", []byte(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
