package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lyceum/web/tests/browsertest"
)

// A lab without computers, by a script: agent-0 writes papers, the others accept, and
// vote for the first. The files of a paper are put into its home with write_file.

type paper struct {
	title, content string
	files          map[string]string
}

// labOf is the script of a lab that publishes papers, one after the other.
func labOf(papers []paper) (plan string, turns int) {
	var b strings.Builder
	fmt.Fprint(&b, `rules:
  - on: {last: "(?:asked to review|comes first:|do that first:\\n-) ([0-9a-f]{32})"}
    call: [{tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: `+yaml(scream)+`}}]
`)
	turn := 0
	for _, p := range papers {
		var names []string
		for name, content := range p.files {
			turn++
			fmt.Fprintf(&b, "  - on: {agent: agent-0, turn: %d}\n    call: [{tool: write_file, args: {path: %s, content: %s}}]\n", turn, yaml(name), yaml(content))
			names = append(names, yaml(name))
		}
		turn++
		fmt.Fprintf(&b, "  - on: {agent: agent-0, turn: %d}\n    think: %s\n    say: %s\n    call: [{tool: submit_publication, args: {title: %s, content: %s, attachments: [%s]}}]\n",
			turn, yaml(scream), yaml(p.content), yaml(p.title), yaml(p.content), strings.Join(names, ", "))
	}
	fmt.Fprint(&b, `  - on: {last: "has published ([0-9a-f]{32})"}
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - say: "Waiting."
`)
	return b.String(), turn
}

// yaml writes a text as a scalar that the script model gives back as it was.
func yaml(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ReplaceAll(text, "$", "$$") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r >= 0x7f && r < 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// publish runs a lab of three on papers, in a folder that is made once.
func publish(dir, name, problem string, papers []paper) (browsertest.Home, error) {
	bin, err := program()
	h := browsertest.Home{Bin: bin, Dir: filepath.Join(dir, "home")}
	if err != nil {
		return h, err
	}
	plan, turns := labOf(papers)
	spec := fmt.Sprintf("name: %s\nsociety: lab\nagents: 3\nreviewers: 1\ncomputer: none\nproblem: %s\nmodel: script:plan.yaml\nlimits: {turns: %d}\n",
		name, yaml(problem), 6*turns+30)
	if err := put(dir, map[string]string{"quest.yaml": spec, "plan.yaml": plan}); err != nil {
		return h, err
	}
	// A lab whose script ends in waiting is parked, which lyceum run calls a failure; what
	// counts here is what was published.
	_, _ = h.Lyceum("run", filepath.Join(dir, "quest.yaml"))
	list, err := h.Lyceum("publication", "list", name)
	if n := strings.Count(list, "PUBLISHED"); err == nil && n != len(papers) {
		trace, _ := h.Lyceum("trace", name)
		err = fmt.Errorf("%d of %d papers are published:\n%s\n%.4000s", n, len(papers), list, trace)
	}
	return h, err
}

var library = sync.OnceValues(func() (browsertest.Home, error) {
	return publish(filepath.Join(shared, "scholars"), "scholars", "What is $e^{i\\pi}$?", []paper{
		{"On $e^{i\\pi}$", "# Claim\n\nIt is $-1$:\n\n$$e^{i\\pi} = \\cos\\pi + i\\sin\\pi = -1$$\n\n| n | value |\n|---|---:|\n| 1 | -1 |\n\n```python\nprint(-1)\n```\n\n- one\n- two\n", map[string]string{"check.py": "print(-1)\n"}},
		{"A second way", "By the series.\n\n> It converges.\n", nil},
	})
})

func scholars(t testing.TB) browsertest.Home {
	t.Helper()
	h, err := library()
	must(t, err)
	return h
}
