package strictyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/strictyaml"
)

// TestManyKeys is about mappings that would take the parser long, and about files that
// only have many small ones.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	repeat := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		file string
		ok   bool
	}{
		"AtTheTop":        {repeat(20_000, "k%d: 1\n"), false},
		"Below":           {"a:\n" + repeat(20_000, "  k%d: 1\n"), false},
		"InAList":         {"- a: 1\n" + repeat(20_000, "  k%d: 1\n"), false},
		"InBrackets":      {"{" + repeat(20_000, "k%d: 1, ") + "z: 1}", false},
		"AListOfMappings": {repeat(20_000, "- a: %d\n  b: 2\n"), true},
		"ListsInLists":    {repeat(2_000, "- rules:\n    - {on: %d, say: x}\n    - say: y\n"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := strictyaml.Document("f.yaml", []byte(c.file))
			if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "keys") {
				t.Errorf("error %v", err)
			}
		})
	}
}
