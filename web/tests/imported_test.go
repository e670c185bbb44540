package tests

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAStrangersQuestIsAllowedWhatItsOwnerSays: the page shows what an imported quest asks for,
// and takes its owner's word on it, back included.
func TestAStrangersQuestIsAllowedWhatItsOwnerSays(t *testing.T) {
	t.Parallel()
	theirs, h := home(t), home(t)
	lyceum(t, theirs, "create", folder(t, map[string]string{
		"quest.yaml": "name: guest\nproblem: Who is there?\nmodel: script:plan.yaml\ncomputer: {driver: auto, network: {allow: [example.org]}}\n",
		"plan.yaml":  "rules: [{say: Nobody.}]\n",
	}))
	file := filepath.Join(t.TempDir(), "guest.zip")
	lyceum(t, theirs, "export", "guest", file)
	lyceum(t, h, "import", file)
	lyceum(t, h, "create", slow(t, "own", 2, "1ms"))
	tab := chromium(t).Tab(t, serve(t, h))
	tab.Go("#/q/guest")
	reads(t, tab, ".imported", "example.org", "allowednothing")
	reads(t, tab, ".notices", "its computers have none")

	press := func(label string) {
		t.Helper()
		find(tab)
		tab.Until(`field('` + label + `')`)
		tab.Eval(`field('`+label+`').click(), true`, nil)
	}
	tab.Click(".imported button", "Allow")
	press("The public hosts that it asks for")
	fill(tab, "Hosts besides", "10.0.0.5:8080")
	tab.Click("dialog button", "Allow this")
	tab.Until(`!document.querySelector('dialog[open]')`)
	reads(t, tab, ".imported", "the hosts it asks for, 10.0.0.5:8080")
	tab.Until(`!document.querySelector('.notices')?.innerText.includes('its computers have none')`)
	if said := lyceum(t, h, "show", "guest", "--asks", "--json"); !strings.Contains(said, `"network": true`) || !strings.Contains(said, "10.0.0.5:8080") {
		t.Errorf("what is allowed: got %s, want the network and the host", said)
	}

	tab.Click(".imported button", "Allow")
	press("The public hosts that it asks for")
	tab.Click("dialog button", "Allow this")
	tab.Until(`!document.querySelector('dialog[open]')`)
	reads(t, tab, ".imported", "allowed10.0.0.5:8080")

	// A quest of one's own asks nobody.
	tab.Go("#/q/own")
	tab.Until(`document.querySelector('.facts')`)
	if tab.Is(`document.querySelector('.imported')`) {
		t.Error("the page asks what a quest of its owner's may do")
	}
	tab.Sound()
}
