package world_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society"
	"lyceum/internal/society/world"
)

// specOf is a quest.yaml of a world.
func specOf(more string) (*quest.Spec, error) {
	return society.All().ParseSpec("quest.yaml", []byte("problem: x\nsociety: world\nmodel: m\n"+more+"\n"))
}

// settled is what a quest.yaml comes to.
func settled(t *testing.T, more string) (set world.Settings) {
	t.Helper()
	s, err := specOf(more)
	if err != nil {
		t.Fatal(err)
	}
	b := &event.QuestCreated{}
	if err := society.All().Settle(s, b); err != nil {
		t.Fatal(err)
	}
	if err := quest.Recorded(b, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

const readable = `constraints:
  - name: something-to-read
    steps:
      - wait: {type: channel, where: {kind: text}}
        block: {type: structure, reason: declare a channel of text}`

// TestWhatAnAuthorSays is 25 and 35: what nobody said is settled too.
func TestWhatAnAuthorSays(t *testing.T) {
	t.Parallel()
	if got := settled(t, ""); got.Kind != "web" || got.Attempts != 20 || got.Tries != 50 || got.Judges != 0 || len(got.Rubric) != 0 {
		t.Errorf("without a word it is %+v", got)
	}
	got := settled(t, "world: program\njudges: 3\nattempts: 2\nchecks: [{name: types, run: mypy ., required: true}]\nheld_out: [{name: h, intent: i, steps: [{do: run}], expect: [{kind: exit, number: 0}]}]")
	if got.Kind != "program" || got.Judges != 3 || len(got.Rubric) != 3 || got.Attempts != 2 || !got.Checks[0].Required || got.HeldOut[0].Name != "h" || got.HeldOut[0].Expect[0].Kind != "exit" {
		t.Errorf("it is %+v", got)
	}
	for text, want := range map[string]string{
		"world: game":                     "web",
		"judges: 6":                       "5",
		"attempts: 0":                     "1",
		"mcp: {a: {run: x}}":              "no servers",
		"stories: [{name: a, intent: b}]": "no condition",
		"checks: [{name: a, run: ' '}]":   "says nothing",
		"rubric: [{name: a, text: b}, {name: a, text: c}]\njudges: 1":                                                      "twice",
		"stories: [{name: a, intent: b, steps: [{do: fly}], expect: [{kind: title, text: x}]}]":                            "fly",
		"world: program\nstories: [{name: a, intent: b, steps: [{do: click}], expect: [{kind: exit}]}]":                    "click",
		"constraints: [{name: a, steps: [{wait: {type: tool.call}}]}]":                                                     "tool.call",
		"constraints: [{name: a, steps: [{request: {type: loop}}]}]":                                                       "requests or asks",
		"constraints: [{name: a, steps: [{block: {type: structure, reason: never}}]}]":                                     "no structure can pass",
		"constraints: [{name: a, steps: [{wait: {type: lever}}, {block: {type: structure, reason: no levers any more}}]}]": "no structure can pass",
	} {
		if _, err := specOf(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestConstraintsThatAreNotProved: threads of which nobody could look at every state are refused, and
// it says that nothing was found wrong, and nothing proved. A trap that lies deep is found.
func TestConstraintsThatAreNotProved(t *testing.T) {
	t.Parallel()
	thread := func(name, wait string, n int, last string) string {
		return "  - name: " + name + "\n    steps:\n" + strings.Repeat("      - wait: "+wait+"\n", n) + last
	}
	trap := thread("deep", "{type: lever}", 40, "      - block: {type: structure, reason: never again}\n")
	if _, err := specOf("constraints:\n" + trap); err == nil || !strings.Contains(err.Error(), "no structure can pass from some point on") {
		t.Errorf("a trap behind forty levers: got %v, want that it is found", err)
	}
	var many strings.Builder
	for i, kind := range []string{"{type: object}", "{type: channel}", "{type: lever}", "{type: loop}", "{type: block}"} {
		many.WriteString(thread(fmt.Sprint("t", i), kind, 8, "      - wait: {type: structure}\n"))
	}
	if _, err := specOf("constraints:\n" + many.String()); err == nil || !strings.Contains(err.Error(), "it is not proved that a structure can always pass") {
		t.Errorf("threads with %d states: got %v, want that nothing is proved", 8*8*8*8*8, err)
	}
	if _, err := specOf(readable); err != nil {
		t.Errorf("a thread that can be looked through: got %v, want it accepted", err)
	}
}

// TestConstraintsOfTheAuthor is the end of 26: a structure that does not pass them is refused by name.
func TestConstraintsOfTheAuthor(t *testing.T) {
	t.Parallel()
	w := start(t, settled(t, readable))
	const lever, loop = `"levers":[{"name":"add","kind":"affordance","when":"instant","at":{"role":"button","name":"Add"}}]`, `"loops":[{"name":"count","lever":"add","channel":"c","response":"it grows"}]`
	has(t, w.does("declare_structure", `{"channels":[{"name":"c","kind":"video"}],`+lever+`,`+loop+`}`), "something-to-read", "declare a channel of text")
	if n := len(all[*event.StructureDeclared](w)); n != 0 {
		t.Fatalf("what was refused is declared %d times", n)
	}
	w.does("declare_structure", `{"channels":[{"name":"c","kind":"text"}],`+lever+`,`+loop+`}`)
	if n := len(all[*event.StructureDeclared](w)); n != 1 {
		t.Fatalf("what passes is declared %d times", n)
	}
}
