package cli_test

import (
	"strings"
	"testing"
)

// TestSkillsInAHomeAreOnlyRead: a researcher finds the skills in its home, where no program of it changes them.
func TestSkillsInAHomeAreOnlyRead(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: q\nsociety: stages\nproblem: Begin.\nmodel: script:plan.yaml\ncomputer: auto\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: exec, args: {command: "grep -c name: skills/scout/SKILL.md; echo mine >> skills/scout/SKILL.md; rm -rf skills/scout; mv skills others; touch skills/new; chmod -R u+w skills; echo mine >> skills/scout/SKILL.md; grep -rc mine skills/scout/SKILL.md; ls -d skills others"}}]
  - say: "Enough."
`,
	})
	sandboxed(t, h)
	h.run("run", "quest.yaml").want(t, restCode)
	found := of(h.study("q"), "tool.result")
	if len(found) != 1 {
		t.Fatalf("%d commands were run, want 1", len(found))
	}
	text := found[0].Body.Output.Text
	if strings.Count(text, "Read-only file system")+strings.Count(text, "Permission denied")+strings.Count(text, "not permitted")+strings.Count(text, "busy") < 5 {
		t.Errorf("programs could change the skills: %s", text)
	}
	h.sound("q")
}
