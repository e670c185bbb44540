package quest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lyceum/internal/quest"
	"lyceum/internal/society"
)

func TestParseSpecReadsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	s, err := society.All().ParseSpec("quest.yaml", []byte(`
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
	if s.Name != "riddle" || s.Seed != 1<<64-1 || s.Thinking != quest.NoThinking || s.Window != 4000 {
		t.Errorf("the spec: got %+v", s)
	}
}

func TestThinkingAndLengthOfGroups(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"thinking: low":                    "low 0",
		"thinking: 9000\nmax_output: 4000": "9000 4000",
		"thinking: none":                   "none 0",
		"thinking: true":                   "true 0",
		"{}":                               " 0",
	} {
		s, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\n"+strings.Trim(text, "{}")+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		g := society.All().Groups(s)[0]
		if got := fmt.Sprint(g.Thinking, " ", g.MaxOutput); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestGroupsThinkForThemselves(t *testing.T) {
	t.Parallel()
	s, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\nsociety: lab\nthinking: low\nmax_output: 4000\nagents:\n  - {count: 2, model: a}\n  - {model: b, thinking: none, max_output: 9000}\n  - {model: c, thinking: 20000}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range society.All().Groups(s) {
		got = append(got, fmt.Sprint(g.Model, " ", g.Thinking, " ", g.MaxOutput))
	}
	if text := strings.Join(got, ", "); text != "a low 4000, b none 9000, c 20000 4000" {
		t.Errorf("the groups: got %s", text)
	}
}

func TestParseSpecNamesTheLineOfAFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ yaml, want string }{
		"unknown thinking":     {"problem: x\nthinking: lots\n", `quest.yaml:2:1: thinking: "lots" is no amount of thinking: there are none, low, medium, high, and a number of tokens from 1024`},
		"a group's thinking":   {"problem: x\nsociety: lab\nagents:\n  - {count: 2, thinking: lots}\n", `quest.yaml:4:26: thinking: "lots" is no amount`},
		"short answers":        {"problem: x\nmax_output: 10\n", "quest.yaml:2:1: max_output 10: want from 256 to 1048576 tokens"},
		"unknown key":          {"problem: x\ncolour: red\n", `quest.yaml:2:1: unknown field "colour"`},
		"unknown limit":        {"problem: x\nlimits:\n  money: 3\n", `quest.yaml:3:3: unknown field "money"`},
		"wrong type":           {"problem: x\nwindow: wide\n", "quest.yaml:2:9:"},
		"a list for a text":    {"problem: [x]\n", "quest.yaml:1:10:"},
		"bad name":             {"problem: x\nname: ../up\n", "quest.yaml:2:1: name"},
		"no question":          {"model: m\n", "no question"},
		"no question, no name": {"name: No Such Name!\n", "want 1 to 63 of a-z"},
		"two questions":        {"problem: x\nproblem_file: y\n", "quest.yaml:2:1: problem and problem_file"},
		"unknown society":      {"problem: x\nsociety: party\n", "quest.yaml:2:1: society"},
		"a repo elsewhere":     {"problem: x\nrepo: ../x\n", "quest.yaml:2:1: repo"},
		"an absolute repo":     {"problem: x\nrepo: /x\n", "quest.yaml:2:1: repo"},
		"a base of nothing":    {"problem: x\nbase: main\n", "quest.yaml:2:1: base"},
		"a base that is none":  {"problem: x\nrepo: .\nbase: --all\n", "quest.yaml:3:1: base"},
		"another delivery":     {"problem: x\nrepo: .\ndeliver: mail\n", "quest.yaml:3:1: deliver"},
		"a branch of changes":  {"problem: x\nrepo: .\nbase: worktree\ndeliver: branch\n", "quest.yaml:4:1: a branch begins with a commit"},
		"repo and data":        {"problem: x\nrepo: .\ndata: y\n", "quest.yaml:2:1: repo and data"},
		"small window":         {"problem: x\nwindow: 10\n", "quest.yaml:2:1: window"},
		"bad cost":             {"problem: x\nlimits:\n  cost: much\n", "quest.yaml:3:1: \"much\" is not an amount"},
		"negative cost":        {"problem: x\nlimits:\n  cost: -1\n", "quest.yaml:3:1:"},
		"too fine a cost":      {"problem: x\nlimits:\n  cost: 0.0000000001\n", "quest.yaml:3:1:"},
		"bad duration":         {"problem: x\nlimits:\n  duration: soon\n", "quest.yaml:3:1: \"soon\" is not a duration"},
		"no time to answer":    {"problem: x\npermission_timeout: 0s\n", "quest.yaml:2:1: permission_timeout 0s: want from 1s to 24h"},
		"days to answer":       {"problem: x\npermission_timeout: 48h\n", "quest.yaml:2:1: permission_timeout 48h"},
		"a wrong timeout":      {"problem: x\npermission_timeout: 10\n", "quest.yaml:2:1: \"10\" is not a duration"},
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
				_, err := society.All().ParseSpec("quest.yaml", []byte(c.yaml))
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

// TestAllFaultsOfASpecAreSaidAtOnce: whoever writes a quest.yaml mends it in one go.
func TestAllFaultsOfASpecAreSaidAtOnce(t *testing.T) {
	t.Parallel()
	const file = `name: No Name
probem: What is six times seven?
socity: lab
window: 3
limits:
  trns: 3
seed: many
tools: [exec, exec]
entirely_else: 1
`
	_, err := society.All().ParseSpec("quest.yaml", []byte(file))
	want := []string{
		`quest.yaml:1:1: name "No Name": want `,
		`quest.yaml:2:1: unknown field "probem"; did you mean problem?`,
		`quest.yaml:3:1: unknown field "socity"; did you mean society?`,
		`quest.yaml:4:1: window 3: want at least`,
		`quest.yaml:6:3: unknown field "trns"; did you mean turns?`,
		`quest.yaml:7:7: `,
		`quest.yaml:8:1: tool exec is listed twice`,
		`quest.yaml:9:1: unknown field "entirely_else"; lyceum schema prints the keys`,
	}
	if err == nil {
		t.Fatal("the file is taken, want it refused")
	}
	got := strings.Split(err.Error(), "\n")
	if len(got) != len(want) {
		t.Fatalf("got %d faults, want %d:\n%v", len(got), len(want), err)
	}
	for i, line := range got {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("fault %d: got %s, want %s…", i+1, line, want[i])
		}
	}
	if quest.FieldOf(err) != "name" {
		t.Errorf("the first fault is about %q, want name", quest.FieldOf(err))
	}
}

// TestNoFaultHidesThoseBesideIt: under one key, of whatever kind, and in lists.
func TestNoFaultHidesThoseBesideIt(t *testing.T) {
	t.Parallel()
	const file = `problem: x
society: lab
agents:
  - {count: many, max_output: 1}
  - {count: 2, profle: research}
  - {count: 0}
computer:
  memory: much
  processes: 1
  network: {allow: ["a b", example.org, "c d"]}
  cpus: 0
limits:
  turns: many
  tokens: -5
  trns: 3
  cost: x
  storage: 1KiB
  agent:
    turns: 1.5
    tokens: -6
    duration: soon
`
	_, err := society.All().ParseSpec("quest.yaml", []byte(file))
	want := []string{
		`quest.yaml:4:13: count: it must be a whole number from 1 to`,
		`quest.yaml:4:31: max_output: it must be a whole number from 256 to`,
		`quest.yaml:5:16: unknown key "profle"; a group of agents has`,
		`quest.yaml:6:13: count: it must be a whole number from 1 to`,
		`quest.yaml:8:11: memory: "much" is not a size`,
		`quest.yaml:9:14: processes: it must be a whole number from 32 to`,
		`quest.yaml:10:21: allow: "a b" is no host`,
		`quest.yaml:10:41: allow: "c d" is no host`,
		`quest.yaml:11:9: cpus: 0 is out of range`,
		`quest.yaml:13:10: there must be a number here, not a text`,
		`quest.yaml:14:1: limit of -5 tokens: want 0 or more`,
		`quest.yaml:15:3: unknown field "trns"; did you mean turns?`,
		`quest.yaml:16:1: "x" is not an amount`,
		`quest.yaml:17:1: limit of 1KiB of storage: want 1MiB`,
		`quest.yaml:19:12: there must be a whole number here, not 1.5`,
		`quest.yaml:20:1: limit of -6 tokens: want 0 or more`,
		`quest.yaml:21:1: "soon" is not a duration`,
	}
	if err == nil {
		t.Fatal("the file is taken, want it refused")
	}
	got := strings.Split(err.Error(), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("fault %d is not as it should be. Got:\n%s\nwant:\n%s", i+1, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestThatThereAreTooManyIsSaidOnce: not of each that is one too many.
func TestThatThereAreTooManyIsSaidOnce(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"Groups": "problem: x\nsociety: lab\nagents:\n" + strings.Repeat("- {count: 1}\n", 40),
		"Agents": "problem: x\nsociety: lab\nagents:\n" + strings.Repeat("- {count: 1000}\n", 10),
		"Hosts":  "problem: x\ncomputer:\n  network:\n    allow:\n" + keys(150, "    - h%d.example.org\n"),
		"Bytes":  "problem: x\ncomputer:\n  network:\n    allow:\n" + keys(60, "    - h%d."+strings.Repeat("a", 200)+"\n"),
	} {
		_, err := society.All().ParseSpec("quest.yaml", []byte(file))
		if n := len(quest.FaultsOf(err)); n != 1 {
			t.Errorf("%s: got %d faults, want one: %v", name, n, err)
		}
	}
}

// TestFaultsEnd: a file that is nothing but faults is not told all of them.
func TestFaultsEnd(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"Lists":  "problem: x\nagents:\n" + strings.Repeat("- {count: x, max_output: x}\n", 20_000),
		"Keys":   "problem: x\nlimits:\n" + keys(2_000, "  k%d: 1\n"),
		"TheTop": "problem: x\n" + keys(2_000, "k%d: 1\n"),
	} {
		_, err := society.All().ParseSpec("quest.yaml", []byte(file))
		if n := len(quest.FaultsOf(err)); n < 100 || n > 300 {
			t.Errorf("%s: %d faults are told, want about a hundred", name, n)
		}
	}
}

func keys(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestNothingOfALimitIsDropped: a comma for a point made a key of its own, and with it all
// limits went.
func TestNothingOfALimitIsDropped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"limits: {turns: 5, cost: 2,50}":               "the key 50 must be a word; a fraction has a point, such as 2.50",
		"limits:\n  turns: 5\n  50:":                   "the key 50 must be a word",
		"limits: {agent: {cost: 1,50, turns: 2}}":      "the key 50 must be a word",
		"limits: {true: 5}":                            "the key true must be a word",
		"5: x":                                         "the key 5 must be a word",
		"limits: {turns: 5.5}":                         "there must be a whole number here, not 5.5",
		"policies: [{use: no-touch, paths: [raw], 5}]": "5",
	} {
		if s, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\n"+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v; want %q", text, s, err, want)
		}
	}
}
