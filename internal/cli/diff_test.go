package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lyceum/internal/runtime/audit"
	"lyceum/internal/view"
)

func TestHostileTextStaysTextWhereItIsCompared(t *testing.T) {
	t.Parallel()
	plan := func(say string) string {
		return `rules:
  - on: {turn: 1}
    say: "` + say + `"
    call:
      - {tool: calculate, args: {code: 'print("\x1b[2J\u202e<script>alert(1)</script>")'}}
      - {tool: "calc\e[2J<b>", args: {a: "` + say + `"}}
  - say: "` + say + `</div><script>alert(2)</script>"
`
	}
	h := newHome(t, map[string]string{
		"a/quest.yaml": "name: a\nproblem: \"" + hostile + "\"\nmodel: script:plan.yaml\n", "a/plan.yaml": plan(hostile),
		"b/quest.yaml": "name: b\nproblem: <script>alert(3)</script>\nmodel: script:plan.yaml\n", "b/plan.yaml": plan("<img src=x onerror=alert(4)>"),
	})
	h.ok("run", "a/quest.yaml")
	h.ok("run", "b/quest.yaml")
	h.ok("export", "b", "<img>\u202e.zip")
	for _, args := range [][]string{{"a", "b"}, {"a", "b", "--json"}, {"<img>\u202e.zip", "a"}, {"a", "<img>\u202e.zip", "--html", "out\u202e.html"}} {
		h.clean(append([]string{"diff"}, args...)...).want(t, 0)
	}
	data, err := os.ReadFile(filepath.Join(h.work, "out\u202e.html"))
	must(t, err)
	for _, bad := range []string{"<script", "<img", "2J<b>", "\x1b", "\u202e", "\x00", "\u2028"} {
		if strings.Contains(string(data), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(string(data), "&lt;script&gt;alert(2)&lt;/script&gt;") {
		t.Error("the page does not show what stands in the answer")
	}
}

func TestTwoRunsOfTheSameSeedAreTheSame(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	quest, err := filepath.Abs("../../examples/demo-number/quest.yaml")
	must(t, err)
	for _, name := range []string{"one", "two"} {
		h.ok("run", quest, "--name", name)
	}
	var d struct {
		Similarity struct{ Total, Answer, Steps, Tools json.Number }
		Shared     int `json:"shared_events"`
		Steps      struct{ Same, Changed int }
	}
	must(t, json.Unmarshal([]byte(h.ok("diff", "one", "two", "--json")), &d))
	if s := d.Similarity; s.Total != "1.000000" || s.Answer != s.Total || s.Steps != s.Total || s.Tools != s.Total {
		t.Errorf("the similarity of a quest with itself: got %+v, want 1 everywhere", s)
	}
	if d.Shared != 0 || d.Steps.Same < 10 || d.Steps.Changed != 0 {
		t.Errorf("%d events shared, steps %+v", d.Shared, d.Steps)
	}
}

// TestEveryComparedFieldIsDocumented holds docs/cli.md against what is printed.
func TestEveryComparedFieldIsDocumented(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/cli.md")
	must(t, err)
	_, page, _ := strings.Cut(string(data), "### A comparison")
	_, checks, _ := strings.Cut(string(data), "### A check")
	for _, c := range []struct {
		page string
		of   []any
	}{
		{page, []any{view.Diff{}, view.Side{}, view.Similarity{}, view.TextDiff{}, view.StepsDiff{}, view.Pair{}, view.Step{}, view.Outputs{}, view.Workspace{}, view.ToolDiff{}, view.Evidence{}, view.Anchor{}, view.Overlap{}, view.Latency{}, view.Lasted{}}},
		{checks, []any{audit.Execution{}, audit.Executed{}}},
	} {
		for _, v := range c.of {
			typ := reflect.TypeOf(v)
			for i := range typ.NumField() {
				name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
				if name != "" && !strings.Contains(c.page, "`"+name+"`") {
					t.Errorf("docs/cli.md does not name `%s` of %s", name, typ)
				}
			}
		}
	}
}
