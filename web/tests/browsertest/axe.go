package browsertest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoAxe says what is missing, and how to get it.
var ErrNoAxe = errors.New("axe-core is not installed; to include this: npm ci --prefix web (scripts/setup does)")

// Axe reads the rules of accessibility. web is the folder of the page's sources.
func Axe(web string) (string, error) {
	data, err := os.ReadFile(filepath.Join(web, "node_modules", "axe-core", "axe.min.js"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoAxe
	}
	return string(data), err
}

type violation struct {
	ID, Help string
	Nodes    []struct {
		Target  []any
		Summary string
	}
}

// Accessible runs the rules on the page as it stands, and fails the test over each that
// is broken; only is the one rule to run, or all of them if it is empty. The script comes in by the debugger, past the page's policy, which stays
// as it is for the page itself.
func (tab *Tab) Accessible(axe, where, only string) {
	tab.t.Helper()
	if !tab.Is(`window.axe`) {
		tab.Eval(axe+`; true`, nil)
	}
	var found []violation
	run := `{ resultTypes: ['violations'] }`
	if only != "" {
		run = fmt.Sprintf(`{ resultTypes: ['violations'], runOnly: [%s] }`, Quote(only))
	}
	tab.Eval(`axe.run(document, `+run+`).then((r) => r.violations.map((v) => ({
		ID: v.id, Help: v.help, Nodes: v.nodes.slice(0, 3).map((n) => ({ Target: n.target, Summary: n.failureSummary })),
	})))`, &found)
	for _, v := range found {
		var b strings.Builder
		for _, n := range v.Nodes {
			fmt.Fprintf(&b, "\n  %v: %s", n.Target, strings.ReplaceAll(n.Summary, "\n", " "))
		}
		tab.t.Errorf("%s: axe rule %s (%s) is broken:%s", where, v.ID, v.Help, &b)
	}
}
