package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/society"
)

func TestPromptsHaveNamesThatTheSocietyHas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, want string }{
		"AMistake":       {"prompts: {sytem: a.md}", `the society solo has no text "sytem"; did you mean system?`},
		"AnotherSociety": {"prompts: {announced: a.md}", `the society solo has no text "announced"; it has compact, continue, notes, standing, summary and system`},
		"NotCompacted":   {"prompts: {summary: a.md}", "summary is for a quest with context: compact"},
		"NoText":         {"prompts: {system: [a]}", "quest.yaml:3:19: there must be a text here"},
		"AnotherContext": {"context: prune", `context "prune": want cut or compact`},
		"Right":          {"society: lab\nagents: 2\ncontext: compact\nprompts: {idle: a.md, summary: b.md}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\nmodel: m\n"+c.spec+"\n"))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
