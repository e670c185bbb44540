package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/computer/namespaces"
	"lyceum/internal/need"
)

// spoiledLab is a lab of three, of whom agent-2 does something to its home and then works on as
// the others do.
func spoiledLab(name, spoil string) map[string]string {
	return map[string]string{
		"quest.yaml": "name: " + name + "\nsociety: lab\nagents: 3\nproblem: What holds?\nmodel: script:plan.yaml\ncomputer: namespaces\nlimits: {turns: 60}\n",
		"plan.yaml": fmt.Sprintf(`rules:
  - on: {agent: agent-2, turn: 1}
    call: [{tool: exec, args: {command: %q}}]
  - on: {agent: agent-2, turn: 2}
    call: [{tool: exec, args: {command: "echo still here"}}]
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
`, spoil),
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

// TestAHomeIsItsAgentsOwnTrouble: whatever one agent does to its home, the others finish, the lab
// has its answer, and what could not be recorded is said of that agent alone.
func TestAHomeIsItsAgentsOwnTrouble(t *testing.T) {
	t.Parallel()
	need.Programs(t, "sh", "awk") // of the machine, inside
	if err := namespaces.New(namespaces.Options{}).Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	whole := need.Times(0, 1) > 0
	for name, c := range map[string]struct {
		spoil string
		// leaves says that not all of the home can be recorded.
		leaves bool
	}{
		"closed":      {"chmod 000 ~", false},
		"closed-deep": {"mkdir -p a/b && echo x > a/b/c && chmod 000 a/b/c a/b a ~", false},
		"long-links":  {longLinks(14_000), true},
		"long-names":  {longNames(172_000), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "long-names" && !whole {
				return // at this size it takes minutes
			}
			h := newHome(t, spoiledLab(name, c.spoil))
			cmd := command(t.Context(), h.dir, h.work, "run", "quest.yaml") // for as long as it takes
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "So it is.") {
				t.Fatalf("the lab: %v\n%s", err, out)
			}
			h.finished(name)
			left := map[string]bool{}
			for _, e := range h.rawEvents(name) {
				if strings.Contains(fmt.Sprint(e["body"]), "the names of all entries are too long together") {
					left[fmt.Sprint(e["actor"])] = true
				}
			}
			if left["agent-2"] != c.leaves || left["agent-0"] || left["agent-1"] {
				t.Errorf("that something of a home is not recorded is said of %v, want of agent-2 alone: %v", left, c.leaves)
			}
			h.ok("verify", name)
			h.ok("replay", name)
		})
	}
}
