package quest_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"lyceum/internal/quest"
)

func TestParseSpecReadsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	s, err := quest.ParseSpec("quest.yaml", []byte(`
name: riddle
problem: What is it?
society: solo
model: script:plan.yaml
tools: [calculate]
data: data
seed: 18446744073709551615
thinking: false
window: 4000
limits: {cost: 0.1, turns: 0, tokens: 9, duration: 1h30m}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := s.Limits.Limits()
	if *l.Cost != 100_000_000 || *l.Turns != 0 || *l.Tokens != 9 || *l.Duration != 5_400_000_000 {
		t.Errorf("limits %d %d %d %d", *l.Cost, *l.Turns, *l.Tokens, *l.Duration)
	}
	if s.Name != "riddle" || s.Seed != 1<<64-1 || *s.Thinking || s.Window != 4000 {
		t.Errorf("the spec: got %+v", s)
	}
}

func TestParseSpecNamesTheLineOfAFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ yaml, want string }{
		"unknown key":          {"problem: x\ncolour: red\n", `quest.yaml:2:1: unknown field "colour"`},
		"unknown limit":        {"problem: x\nlimits:\n  money: 3\n", `quest.yaml:3:3: unknown field "money"`},
		"wrong type":           {"problem: x\nwindow: wide\n", "quest.yaml:2:9:"},
		"a list for a text":    {"problem: [x]\n", "quest.yaml:1:10:"},
		"bad name":             {"problem: x\nname: ../up\n", "quest.yaml:2:1: name"},
		"no question":          {"model: m\n", "no question"},
		"two questions":        {"problem: x\nproblem_file: y\n", "quest.yaml:2:1: problem and problem_file"},
		"unknown society":      {"problem: x\nsociety: party\n", "quest.yaml:2:1: society"},
		"small window":         {"problem: x\nwindow: 10\n", "quest.yaml:2:1: window"},
		"bad cost":             {"problem: x\nlimits:\n  cost: much\n", "quest.yaml:3:1: \"much\" is not an amount"},
		"negative cost":        {"problem: x\nlimits:\n  cost: -1\n", "quest.yaml:3:1:"},
		"too fine a cost":      {"problem: x\nlimits:\n  cost: 0.0000000001\n", "quest.yaml:3:1:"},
		"bad duration":         {"problem: x\nlimits:\n  duration: soon\n", "quest.yaml:3:1: \"soon\" is not a duration"},
		"negative turns":       {"problem: x\nlimits:\n  turns: -1\n", "quest.yaml:3:1: limit of -1 turns"},
		"negative seed":        {"problem: x\nseed: -1\n", "quest.yaml:2:7:"},
		"a tool twice":         {"problem: x\ntools: [a, a]\n", "quest.yaml:2:1: tool a"},
		"a key twice":          {"problem: x\nproblem: y\n", "quest.yaml:2:1:"},
		"not YAML":             {"problem: [", "quest.yaml:1:"},
		"not a mapping":        {"- a\n- b\n", "quest.yaml:1:"},
		"empty":                {"", "no question"},
		"binary":               {"\x00\x01\x02\xff", "quest.yaml"},
		"deep":                 {"problem: " + strings.Repeat("[", 200_000), "quest.yaml"},
		"huge":                 {"problem: " + strings.Repeat("x", 2<<20), "more than"},
		"anchors that explode": {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nproblem: *b\n", "quest.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan error, 1)
			go func() {
				_, err := quest.ParseSpec("quest.yaml", []byte(c.yaml))
				done <- err
			}()
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want something with %q", err, c.want)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("it does not end")
			}
		})
	}
}

func TestMoneyNeverPassesThroughAFloat(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{"0": 0, "0.1": 1e8, "2.50": 25e8, "1": 1e9, "0.000000001": 1, "999999.999999999": 999999999999999, ".5": 5e8, "3.": 3e9} {
		got, err := quest.ParseUSD(in)
		if err != nil || int64(got) != want {
			t.Errorf("%s is %d, %v; want %d", in, got, err, want)
		}
		again, err := quest.ParseUSD(got.String())
		if err != nil || again != got {
			t.Errorf("%s is written %s, which is %d", in, got, again)
		}
	}
	for _, in := range []string{"", ".", "-1", "1e3", "1,5", "0x1", "1.2.3", "0.0000000001", "9999999", " ", "NaN"} {
		if got, err := quest.ParseUSD(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
}

// TestSchemaIsFresh holds the generated file; make generate writes it anew.
func TestSchemaIsFresh(t *testing.T) {
	t.Parallel()
	s, err := quest.Schema()
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/quest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want)+"\n" {
		t.Error("docs/quest.schema.json is stale: run make generate")
	}
}
