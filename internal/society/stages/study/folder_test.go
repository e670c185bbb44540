package study_test

import (
	"strings"
	"testing"

	. "lyceum/internal/society/stages/study"
)

// A result has a file of its own, which is another once it was run; words in it cannot break it.
func TestAResultIsAPage(t *testing.T) {
	s := begin(t, Copilot)
	m := mae("0.5", "0.01")
	m.Name, m.Unit = "mae", "a|b"
	r := s.result(ResultMain, "a", m)
	page := func() Page {
		for _, p := range s.Pages("q") {
			if p.Path == "artifacts/"+r.ID+".md" {
				return p
			}
		}
		t.Fatal("the result has no page")
		return Page{}
	}
	before := page()
	if !strings.Contains(before.Head, "- verdict: not run yet\n") || !strings.Contains(before.Head, `| "mae" | 0.5 | "a\u007cb" | lower | 0.01 |`) {
		t.Errorf("it says\n%s", before.Head)
	}
	s.ran("0.5")
	if after := page(); after.Key == before.Key || !strings.Contains(after.Head, "- verdict: verified\n") || !strings.Contains(after.Head, "- what it printed: ") {
		t.Errorf("once it was run it says\n%s", after.Head)
	}
}
