package trial_test

import (
	"reflect"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/world/trial"
	"lyceum/internal/strictyaml"

	json "github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"
)

const told = `[{"name":"adds","intent":"count up","steps":[{"do":"click","at":{"role":"button","name":"Add"}}],"expect":[{"kind":"text","at":{"role":"status"},"text":"Count: 1"}]}]`

func TestStoriesHaveClosedWordsAndBounds(t *testing.T) {
	t.Parallel()
	if list, err := trial.ReadStories(trial.Web, []byte(told)); err != nil || len(list) != 1 {
		t.Fatalf("a story: %v, %v", list, err)
	}
	if _, err := trial.ReadStories(trial.Web, []byte(`[{"name":"a","intent":"b"}]`)); err != nil {
		t.Errorf("a story without condition: %v; want it taken, its verdict is vacuous", err)
	}
	for name, c := range map[string]struct{ kind, raw, says string }{
		"unknown step":          {trial.Web, `[{"name":"a","intent":"","steps":[{"do":"hover","at":{"role":"button"}}]}]`, "hover"},
		"step of a program":     {trial.Web, `[{"name":"a","intent":"","steps":[{"do":"run"}]}]`, "run"},
		"step of a page":        {trial.Program, told, "click"},
		"unknown condition":     {trial.Web, `[{"name":"a","intent":"","expect":[{"kind":"colour"}]}]`, "colour"},
		"condition of another":  {trial.Program, `[{"name":"a","intent":"","expect":[{"kind":"title","text":"x"}]}]`, "title"},
		"unknown comparison":    {trial.Web, `[{"name":"a","intent":"","expect":[{"kind":"title","how":"like","text":"x"}]}]`, "like"},
		"no place":              {trial.Web, `[{"name":"a","intent":"","expect":[{"kind":"present"}]}]`, "where"},
		"everything contains":   {trial.Web, `[{"name":"a","intent":"","expect":[{"kind":"title","how":"contains"}]}]`, "contains nothing"},
		"click nowhere":         {trial.Web, `[{"name":"a","intent":"","steps":[{"do":"click"}]}]`, "where"},
		"a long wait":           {trial.Web, `[{"name":"a","intent":"","steps":[{"do":"wait","milliseconds":3000},{"do":"wait","milliseconds":3000}]}]`, "6000"},
		"a file outside":        {trial.Program, `[{"name":"a","intent":"","expect":[{"kind":"file","path":"../x"}]}]`, "../x"},
		"a file at the root":    {trial.Program, `[{"name":"a","intent":"","expect":[{"kind":"file","path":"/etc/x"}]}]`, "/etc/x"},
		"a name twice":          {trial.Web, `[{"name":"a","intent":""},{"name":"a","intent":""}]`, "twice"},
		"an unknown member":     {trial.Web, `[{"name":"a","intent":"","verdict":"passed"}]`, "verdict"},
		"too many":              {trial.Web, `[` + strings.Repeat(`{"name":"a","intent":""},`, 20) + `{"name":"b","intent":""}]`, "21 stories"},
		"too many steps":        {trial.Web, `[{"name":"a","intent":"","steps":[` + strings.Repeat(`{"do":"wait","milliseconds":1},`, 20) + `{"do":"wait","milliseconds":1}]}]`, "21 steps"},
		"too many conditions":   {trial.Web, `[{"name":"a","intent":"","expect":[` + strings.Repeat(`{"kind":"title"},`, 20) + `{"kind":"title"}]}]`, "21 conditions"},
		"a number for no count": {trial.Web, `[{"name":"a","intent":"","expect":[{"kind":"title","number":2}]}]`, "number"},
	} {
		if _, err := trial.ReadStories(c.kind, []byte(c.raw)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it refused with %q", name, err, c.says)
		}
	}
}

func TestPredictionsHaveProbabilities(t *testing.T) {
	t.Parallel()
	for raw, says := range map[string]string{
		`[]`: "nothing is expected",
		`[{"condition":{"kind":"title","text":"x"},"probability":1001}]`:            "1001",
		`[{"condition":{"kind":"title","text":"x"},"probability":-1}]`:              "-1",
		`[{"condition":{"kind":"title","text":"x"},"probability":1,"loop":"mine"}]`: "loop",
		`[{"condition":{"kind":"exit"},"probability":1}]`:                           "exit",
	} {
		if _, err := trial.ReadExpectations(trial.Web, []byte(raw)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want it refused with %q", raw, err, says)
		}
	}
	if _, err := trial.ReadExpectations(trial.Web, []byte(`[{"condition":{"kind":"title","text":"x"},"probability":0}]`)); err != nil {
		t.Errorf("a condition that is thought impossible: %v, want it taken", err)
	}
}

// TestAuthorsWriteYAML: the same stories as JSON's, and back.
func TestAuthorsWriteYAML(t *testing.T) {
	t.Parallel()
	const page = `
- name: adds
  intent: count up
  steps: [{do: click, at: {role: button, name: Add}}]
  expect:
    - {kind: text, at: {role: status}, text: "Count: 1"}
`
	n, err := strictyaml.Document("quest.yaml", []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	var got trial.Told
	if err := strictyaml.Value(n, &got); err != nil {
		t.Fatal(err)
	}
	want, err := trial.ReadStories(trial.Web, []byte(told))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual([]event.WorldStory(got), want) {
		t.Errorf("YAML has %+v, JSON %+v", got, want)
	}
	out, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again trial.Told
	if err := yaml.Unmarshal(out, &again); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("written and read again: %+v, %v; want the same", again, err)
	}
	for _, wrong := range []string{"- {name: a, intent: b, verdict: passed}", "- {name: a, intent: b, expect: [{kind: count, number: 1.5}]}", "just words"} {
		n, err := strictyaml.Document("quest.yaml", []byte(wrong))
		if err != nil {
			t.Fatal(err)
		}
		if err := strictyaml.Value(n, new(trial.Told)); err == nil {
			t.Errorf("%q is read, want it refused", wrong)
		}
	}
}

// FuzzStories: any bytes are stories or a reason, for both kinds, and what is taken is the same
// when it is written and read again.
func FuzzStories(f *testing.F) {
	f.Add([]byte(told))
	f.Add([]byte(`[{"name":"a","intent":"","steps":[{"do":"run","args":["x"],"input":"3 1 2"}],"expect":[{"kind":"exit"},{"kind":"file","path":"out"}]}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, kind := range trial.Kinds {
			list, err := trial.ReadStories(kind, raw)
			if err != nil {
				if len(err.Error()) > 2000 {
					t.Errorf("a reason of %d bytes", len(err.Error()))
				}
				continue
			}
			again, err := json.Marshal(list)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := trial.ReadStories(kind, again); err != nil {
				t.Errorf("what was taken is refused when it is written: %v", err)
			}
			for _, s := range list {
				trial.Held(s.Expect, trial.Sight{Text: string(raw), Output: string(raw)})
			}
		}
	})
}
