package cli_test

import (
	"slices"
	"testing"
)

// TestSkillsExample runs the example: of thirty skills an agent is told those that fit, reads some
// with what they link to, and is told a rule when it touches what it holds for. All offline.
func TestSkillsExample(t *testing.T) {
	t.Parallel()
	h := architects(t, "skills")
	h.run("skills", "q/quest.yaml").want(t, 0, "30 skills\n", "sum-by-group                   place 1 of those that fit")
	h.run("run", "q/quest.yaml").want(t, 0, "The hill had the most rain")
	kinds := h.kinds("rain-desk")
	if n := len(slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k != "guidance.shown" })); n != 3 {
		t.Errorf("it was told %d times how to work, want skills, a rule that fits and one of a folder", n)
	}
	h.run("trace", "rain-desk").want(t, 0, "load_skill gave: ", "load_reference gave: ", "load_asset gave: ", "is told the rules of reports/AGENTS.md")
	h.sound("rain-desk")
}
