package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/quest"
)

func TestInShort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"42":                    "42",
		"\n\n# Answer\n\nIt is": "It is",
		"# Answer\n## 42":       "Answer",
		"**Answer: 42**\nmore":  "Answer: 42",
		"a\t b\n":               "a b",
		"":                      "",
		"***\n---x":             "---x",
	} {
		if got := quest.InShort(text); got != want {
			t.Errorf("%q in short: got %q, want %q", text, got, want)
		}
	}
	if got := quest.InShort(strings.Repeat("é", 1000)); len(got) > 210 || !strings.HasPrefix(got, "éé") {
		t.Errorf("a long text in short has %d bytes: %q, want it cut", len(got), got)
	}
}
