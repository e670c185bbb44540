package cli_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/computer/namespaces"
	"lyceum/internal/need"
)

// spoiledLab is a lab of three, of whom some do something to their homes and then work on as the
// others do.
func spoiledLab(name string, spoils map[string]string) map[string]string {
	rules := ""
	for _, agent := range slices.Sorted(maps.Keys(spoils)) {
		rules += fmt.Sprintf(`
  - on: {agent: %[1]s, turn: 1}
    call: [{tool: exec, args: {command: %[2]q}}]
  - on: {agent: %[1]s, turn: 2}
    call: [{tool: exec, args: {command: "echo still here"}}]`, agent, spoils[agent])
	}
	return map[string]string{
		"quest.yaml": "name: " + name + "\nsociety: lab\nagents: 3\nproblem: What holds?\nmodel: script:plan.yaml\ncomputer: namespaces\nlimits: {turns: 60}\n",
		"plan.yaml": "rules:" + rules + `
  - on: {agent: agent-0, turn: 1}
    call: [{tool: write_file, args: {path: run.sh, content: "echo 42"}}]
  - on: {agent: agent-0, turn: 2}
    call: [{tool: submit_publication, args: {title: "It is 42", content: "So it is.", attachments: [run.sh], entrypoint: run.sh}}]
  - on: {last: "(?:asked to review|comes first:|do that first:\\n-) ([0-9a-f]{32})"}
    call:
      - {tool: exec, args: {command: "echo $1 >> reviewed"}}
      - {tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: "It is."}}
  - on: {last: "(?:has published|your publication) ([0-9a-f]{32}), titled \"It is 42\"(?:, is PUBLISHED| \\()"}
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - say: "Waiting."
`,
	}
}

// longNames makes so many files whose names are as long as names can be.
func longNames(n int) string {
	return fmt.Sprintf(`awk 'BEGIN { for (j = 0; j < 240; j++) long = long "n"; for (i = 0; i < %d; i++) { f = sprintf("%%07d", i) long; printf "" > f; close(f) } }'`, n)
}

// longLinks makes so many links with such names, of characters that a list must spell out, to
// such names: few of them make a list as long as many plain files do, and none of them is stored.
func longLinks(n int) string {
	return fmt.Sprintf(`mkdir l; awk 'BEGIN { for (j = 0; j < 240; j++) long = long "\001"; for (i = 0; i < %d; i++) printf "%%07d%%s\n", i, long }' | tr '\n' '\000' | xargs -0 ln -s -t l`, n)
}

// TestAHomeIsItsAgentsOwnTrouble: whatever agents do to their homes, the others finish, the lab
// has its answer, and what could not be recorded is said of that agent alone.
func TestAHomeIsItsAgentsOwnTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoils map[string]string
		// leaves says that not all of agent-2's home can be recorded.
		leaves bool
	}{
		"closed-deep":           {map[string]string{"agent-2": "mkdir -p a/b && echo x > a/b/c && chmod 000 a/b/c a/b a ~"}, false},
		"closed-and-long-links": {map[string]string{"agent-1": "chmod 000 ~", "agent-2": longLinks(14_000)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			endsWell(t, name, c.spoils, c.leaves)
		})
	}
}

// TestAHomeOfManyLongNames is the same with as many files as it took to end a lab for good.
func TestAHomeOfManyLongNames(t *testing.T) {
	t.Parallel()
	need.Proof(t, "a home of 172,000 files with long names is recorded in minutes")
	endsWell(t, "long-names", map[string]string{"agent-1": "chmod 000 ~", "agent-2": longNames(172_000)}, true)
}

// endsWell runs a lab whose agents spoil their homes.
func endsWell(t *testing.T, name string, spoils map[string]string, leaves bool) {
	t.Helper()
	need.Programs(t, "sh", "awk") // of the machine, inside
	if err := namespaces.New(namespaces.Options{}).Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	h := newHome(t, spoiledLab(name, spoils))
	cmd := command(t.Context(), h.dir, h.work, "run", "quest.yaml") // for as long as it takes
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "So it is.") {
		t.Fatalf("the lab: %v\n%s", err, out)
	}
	h.finished(name)
	left, works := map[string]bool{}, map[string]bool{}
	for _, e := range h.rawEvents(name) {
		text := fmt.Sprint(e["body"])
		if strings.Contains(text, "the names of all entries are too long together") {
			left[fmt.Sprint(e["actor"])] = true
		}
		if e["type"] == "cli.stdout" && strings.Contains(text, "still here") {
			works[fmt.Sprint(e["actor"])] = true
		}
	}
	if left["agent-2"] != leaves || left["agent-0"] || left["agent-1"] {
		t.Errorf("that something of a home is not recorded is said of %v, want of agent-2 alone: %v", left, leaves)
	}
	for agent := range spoils {
		if !works[agent] {
			t.Errorf("the home of %s is not its own any more: its next command did not run there", agent)
		}
	}
	h.ok("verify", name)
	h.ok("replay", name)
}
