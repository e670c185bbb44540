package cli_test

import (
	"strings"
	"testing"
)

// TestTheViewOfAQuestInTheServer: a lab that lyceum serve runs is shown as one that runs here, with the
// words of its models; who leaves leaves it running, and finds it among all quests.
func TestTheViewOfAQuestInTheServer(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: served\nsociety: lab\nproblem: Six times seven?\nagents: 1\nmodel: script:plan.yaml\ncomputer: none\nlimits: {turns: 900, cost: 5}\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    cost: "0.25"
    call: [{tool: submit_publication, args: {title: "It is 42", content: "# It is 42"}}]
  - delay: 500ms
    cost: "0.01"
    say: "A word that is said now."
    call: [{tool: calculate, args: {code: "print(6*7) # ${turn}"}}]
`,
	})
	s := h.serve()
	t.Cleanup(func() { s.kill() })
	p := newPane(t, h, 120, 30)
	p.keys("lyceum run quest.yaml; echo left with $?", "Enter")
	p.shows(`served +● running`, `◌ It is 42 .*so far: 0 of 1 vote`, `spends \$\d.* a minute`, `limit on cost in `)
	p.keys("Enter")
	p.shows(`What it heard and said|A word that is said now`, `esc back`)
	p.keys("m", "and 43?", "Enter")
	p.shows(`Told agent-0`)
	p.shows(`and 43\?`)
	p.keys("q")
	p.shows(`─ Papers `)
	p.keys("q")
	p.shows(`goes on in the server`, `left with 130`)
	p.restored()
	p.keys("clear", "Enter")
	p.keys("lyceum top; echo top ended with $?", "Enter")
	p.shows(`1 quest · 1 running`, `served +running`, `\(It is 42\)`)
	p.keys("Enter")
	p.shows(`served +● running`)
	p.keys("q")
	p.shows(`1 quest · 1 running`)
	p.keys("q")
	p.shows(`top ended with 0`)
	p.restored()
	if got := h.ok("top"); !strings.Contains(got, "served") || !strings.Contains(got, "(It is 42)") {
		t.Errorf("without a terminal top prints:\n%s", got)
	}
	h.ok("stop", "served")
}
