package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"lyceum/internal/backup"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/view"
)

// TestEveryFieldIsDocumented holds docs/cli.md against what is printed.
func TestEveryFieldIsDocumented(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for prefix, v := range map[string]any{
		"": questJSON{}, "a": agentJSON{}, "o": originJSON{}, "l": event.Limits{}, "s": event.Share{}, "r": audit.Report{}, "difference.": audit.Difference{},
		"b": builtinJSON{}, "c": checkJSON{}, "x": quest.Explanation{}, "xa": quest.AgentExplanation{}, "p": quest.Proposal{}, "d": behavior.Description{}, "by": behavior.Blocker{},
		"m": modelJSON{}, "mp": priceJSON{}, "doc": doctorJSON{}, "find": findingJSON{},
		"pa": paperJSON{}, "ta": view.Tally{}, "pc": view.PaperCounts{}, "rv": reviewJSON{}, "rp": reproductionJSON{}, "pr": profileJSON{}, "bk": backup.Report{}, "t": tokenJSON{},
	} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			if typ.Field(i).Anonymous {
				continue // it has a line of its own
			}
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if strings.HasSuffix(prefix, ".") {
				name = prefix + name
			}
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("docs/cli.md does not name `%s` of %s", name, typ)
			}
		}
	}
	for _, c := range (&app{}).root().Commands() {
		if name := c.Name(); name != "help" && !strings.Contains(page, "`"+name) && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/cli.md does not name the command %s", name)
		}
	}
}
