package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	society "lyceum/internal/society/lab"
	"lyceum/internal/society/solo"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// guild stands for a lab while it is made: a society with the keys of one, a tool of its
// own, and places in its prompt for the question and the profile. It cannot be run.
type guild struct {
	quest.Society
	quest.Keyed
}

func (guild) Rules() string { return "lab/2" }

func (guild) Texts() []event.NamedText {
	return []event.NamedText{{Name: "nudge", Text: "Go on."}, {Name: "system", Text: "Solve:\n{{PROBLEM}}\n---\n{{PROFILE}}\n---\nPublish."}}
}

func (guild) Own() []quest.OwnTool {
	return []quest.OwnTool{{Tool: model.Tool{Name: "publish", Description: "Publish a paper.", Schema: `{"type":"object"}`}}}
}

func (guild) Traits() quest.Traits { return quest.Traits{Many: true, Profile: "research"} }

func (guild) Use(*quest.State, *agent.Agent, *agent.Use, event.Event) []event.Draft { return nil }

func (guild) Policies() []behavior.Thread { return nil }

func newGuild(t *testing.T) *lab {
	l := newLab(t)
	l.Societies = append(slices.Clone(l.Societies), guild{Keyed: society.Society{}})
	return l
}

// made creates a quest of more than a problem and a script, and returns its first event.
func (l *lab) made(p runtime.Plan) (*event.QuestCreated, event.Event) {
	l.t.Helper()
	e := l.events(l.create(p))[0]
	return e.Body.(*event.QuestCreated), e
}

func (l *lab) blob(ref event.Ref) string {
	l.t.Helper()
	data, err := l.Blob(context.Background(), ref)
	must(l.t, err)
	return string(data)
}

// addProfile gives a home a profile.
func (l *lab) addProfile(name, settings, prompt, dockerfile string) {
	l.t.Helper()
	dir := filepath.Join(l.Home, "profiles", name)
	must(l.t, os.MkdirAll(dir, 0o755))
	for file, text := range map[string]string{"profile.yaml": "description: x\n" + settings, "prompt.md": prompt, "Dockerfile": dockerfile} {
		if text != "" {
			must(l.t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
		}
	}
}

const quiet = `rules: [{say: "Done."}]`

func TestALabIsMadeOfGroups(t *testing.T) {
	t.Parallel()
	l := newGuild(t)
	l.addProfile("mine", "tools: [calculate]\n", "Mine.", "")
	p := plan(t, "q", "society: lab\nagents: [{count: 2}, {model: \"script:other.yaml\"}, {count: 3, profile: mine}]\nreviewers: 2\n"+
		// About a tool that only some of them have.
		"policies: [{use: no-touch, paths: [a], tools: [write_file]}]\n", quiet)
	must(t, os.WriteFile(filepath.Join(p.Dir, "other.yaml"), []byte(quiet), 0o600))
	b, _ := l.made(p)
	var got []string
	for _, a := range b.Agents {
		got = append(got, fmt.Sprintf("%s-%d+%d %s", a.Name, a.First, a.Count, a.Model))
	}
	if d := cmp.Diff([]string{"agent-0+2 script:plan.yaml", "agent-2+1 script:other.yaml", "agent-3+3 script:plan.yaml"}, got); d != "" {
		t.Errorf("the agents differ (-want +got):\n%s", d)
	}
	if d := cmp.Diff(&event.LabSpec{Deadline: 40, Decision: "majority", Reviewers: 2}, b.Lab); d != "" {
		t.Errorf("the lab differs (-want +got):\n%s", d)
	}
	if len(b.Pins) != 2 {
		t.Errorf("%d scripts are pinned", len(b.Pins))
	}
	s, err := l.Load(t.Context(), "q")
	must(t, err)
	var names []string
	for _, a := range s.Agents {
		names = append(names, a.Name)
		if info, err := os.Stat(filepath.Join(l.QuestDir("q"), "agents", a.Name)); err != nil || !info.IsDir() {
			t.Errorf("%s has no home: %v", a.Name, err)
		}
	}
	if d := cmp.Diff(strings.Fields("agent-0 agent-1 agent-2 agent-3 agent-4 agent-5"), names); d != "" {
		t.Errorf("the names differ (-want +got):\n%s", d)
	}
}

func TestAgentsHaveTheToolsOfTheirSocietyBesidesThoseOfTheWorld(t *testing.T) {
	t.Parallel()
	for chosen, want := range map[string]string{
		"tools: [calculate]\n":           "calculate publish read_result",
		"tools: [publish, calculate]\n":  "calculate publish read_result", // to name it is no mistake
		"tools: []\n":                    "publish",
		"profile: mine\n":                "publish read_file read_result",
		"profile: mine\ntools: [grep]\n": "grep publish read_result",
	} {
		l := newGuild(t)
		l.addProfile("mine", "tools: [read_file]\n", "Mine.", "")
		b, _ := l.made(plan(t, "q", "society: lab\nagents: 2\ncomputer: none\n"+chosen, quiet))
		a := b.Agents[0]
		var tools []model.Tool
		must(t, json.Unmarshal([]byte(l.blob(a.Tools)), &tools))
		var told []string
		for _, x := range tools {
			told = append(told, x.Name)
		}
		if got := strings.Join(a.ToolNames, " "); got != want || strings.Join(told, " ") != want {
			t.Errorf("%s: they have %s and are told of %v, want %s", chosen, got, told, want)
		}
	}
}

func TestThePromptHasTheQuestionAndTheProfile(t *testing.T) {
	t.Parallel()
	l := newGuild(t)
	l.Secrets = func() []string { return []string{"sk-very-secret"} }
	l.addProfile("mine", "", "Mine, sk-very-secret.", "")
	p := plan(t, "q", "society: lab\nagents: [{count: 2, profile: mine}, {count: 2}, {count: 2}]\ncomputer: none\n", quiet)
	// A question that uses a place of the prompt gets nothing for it.
	p.Spec.Problem = "What of {{PROFILE}} and {{PROBLEM}}?"
	b, _ := l.made(p)
	if got, want := l.blob(b.Agents[0].System), "Solve:\nWhat of {{PROFILE}} and {{PROBLEM}}?\n---\nMine, [key].\n---\nPublish."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := l.blob(b.Agents[1].System); !strings.Contains(got, "# Your field: research") || b.Agents[1].System != b.Agents[2].System {
		t.Errorf("a group without a profile gets %q", got)
	}
	var names []string
	for _, x := range b.Texts {
		names = append(names, x.Name)
	}
	if want := []string{"notes", "nudge", "standing"}; !slices.Equal(names, want) {
		t.Errorf("the quest has the texts %q: want %q, the society's and the core's", names, want)
	}
}

func TestSoloHasAProfileOnlyIfItIsGivenOne(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	b, _ := l.made(plan(t, "plain", "", quiet))
	want := ""
	for _, x := range (solo.Society{}).Texts() {
		if x.Name == "system" {
			want = x.Text
		}
	}
	a := b.Agents[0]
	if got := l.blob(a.System); got != want || a.Name != "agent-0" || a.Count != 0 || a.First != 0 || b.Lab != nil || b.Computer != nil || len(b.Agents) != 1 {
		t.Errorf("%+v is told %q", a, got)
	}
	b, _ = l.made(plan(t, "coder", "profile: code\n", quiet))
	if got := l.blob(b.Agents[0].System); !strings.HasPrefix(got, want+"\n\n# Your field: software") || b.Computer == nil {
		t.Errorf("with a profile it is told %q", got)
	}
}

func TestTheComputerIsTheQuestsOrElseTheProfiles(t *testing.T) {
	t.Parallel()
	const image = "FROM mine\n"
	for text, want := range map[string]string{
		"profile: mine\n":                                            "auto open " + image,
		"profile: mine\ncomputer: docker\n":                          "docker closed " + image,
		"profile: mine\ncomputer: {dockerfile: own}\n":               "auto closed FROM own\n",
		"profile: mine\ncomputer: bubblewrap\n":                      "bubblewrap closed ",
		"profile: mine\ncomputer: none\n":                            "none",
		"profile: plain\n":                                           "none",
		"agents: [{profile: mine}, {profile: plain}]\n":              "auto open " + image,
		"agents: [{profile: plain}, {profile: mine}]\n":              "none",
		"profile: mine\nagents: [{profile: plain}, {profile: mine}]": "auto open " + image,
	} {
		l := newGuild(t)
		l.addProfile("mine", "computer: {network: open}\n", "Mine.", image)
		l.addProfile("plain", "", "Plain.", "")
		if !strings.Contains(text, "agents") {
			text += "agents: 2\n"
		}
		p := plan(t, "q", "society: lab\n"+text, quiet)
		must(t, os.WriteFile(filepath.Join(p.Dir, "own"), []byte("FROM own\n"), 0o600))
		b, _ := l.made(p)
		got := "none"
		if c := b.Computer; c != nil {
			got = c.Driver + map[bool]string{true: " open ", false: " closed "}[c.Network.Open]
			if c.Dockerfile != nil {
				got += l.blob(*c.Dockerfile)
			}
		}
		if got != want {
			t.Errorf("%s: the computer is %q, want %q", text, got, want)
		}
		if have := slices.Contains(b.Agents[0].ToolNames, "exec"); have != (b.Computer != nil) {
			t.Errorf("%s: they can run programs: %v", text, have)
		}
	}
}

func TestAPlanThatCannotBeMadeMakesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ yaml, want string }{
		"AnUnknownProfile":     {"society: lab\nagents: [{count: 2}, {profile: reserch}]\n", `profile: there is no profile "reserch"; did you mean research?`},
		"AProfileWithAFault":   {"society: lab\nagents: 2\nprofile: bad\n", "bad/profile.yaml:2:1: unknown key"},
		"AToolOfAProfile":      {"profile: tools\n", "profile tools: tools: "},
		"AHostOfAProfile":      {"profile: hosts\n", "profile hosts: computer: network: "},
		"AModelOfAGroup":       {"society: lab\nagents: [{}, {model: \"script:gone.yaml\"}]\n", "there is no gone.yaml"},
		"AToolThatNobodyHas":   {"society: lab\nagents: 2\npolicies: [{use: no-touch, paths: [a], tools: [fly]}]\n", `about the tool "fly"`},
		"AQuestionPlusAPrompt": {"society: lab\nagents: 2\nprofile: long\nwindow: 2000\n", "more than half of a window of 2000 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newGuild(t)
			l.addProfile("bad", "colour: red\n", "Bad.", "")
			l.addProfile("tools", "tools: [fly]\n", "Fly.", "")
			l.addProfile("hosts", "computer: {network: {allow: [\"a/b\"]}}\n", "Hosts.", "")
			l.addProfile("long", "", strings.Repeat("long ", 1000), "")
			_, err := l.Create(t.Context(), plan(t, "q", c.yaml, quiet))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
			if _, err := os.Lstat(l.QuestDir("q")); err == nil {
				t.Error("there is a folder")
			}
		})
	}
	l := newGuild(t)
	p := plan(t, "q", "society: lab\nagents: 3\n", quiet)
	p.Spec.Set("reviewers", int64(3))
	if _, err := l.Create(t.Context(), p); err == nil || !strings.Contains(err.Error(), "3 reviewers and 3 agents") {
		t.Errorf("a spec that was changed is not checked: %v", err)
	}
}

// crowd is a lab with much to say in its first event: groups of agents, hosts and
// policies.
func crowd(l *lab, kinds, much int) runtime.Plan {
	l.t.Helper()
	var groups, hosts, rules []string
	script := "script:" + strings.Repeat("long-", 48) + ".yaml"
	for i := range kinds {
		groups = append(groups, fmt.Sprintf("{count: %d, model: %q, profile: p%d}", 256/kinds, script, i))
		l.addProfile(fmt.Sprintf("p%d", i), "", fmt.Sprintf("Profile %d.", i), "")
	}
	for i := range 9 * much {
		hosts = append(hosts, fmt.Sprintf("host-%d.some.long.name.example.org", i))
	}
	for i := range much {
		rules = append(rules, fmt.Sprintf("{use: no-touch, name: rule-%d, paths: [%s]}", i, strings.Repeat("x", 200)))
	}
	more := fmt.Sprintf("agents: [%s]\ncomputer: {network: {allow: [%s]}}\npolicies: [%s]\n", strings.Join(groups, ", "), strings.Join(append(hosts, "example.org"), ", "), strings.Join(rules, ", "))
	p := plan(l.t, "q", "society: lab\n"+more, quiet)
	must(l.t, os.WriteFile(filepath.Join(p.Dir, strings.TrimPrefix(script, "script:")), []byte(quiet), 0o600))
	p.Spec.Problem = strings.Repeat("why? ", 800) + "Say."
	return p
}

// TestTheFirstEventHoldsAnyLab: however many agents there are, and whatever else is
// said. The question makes room if it must.
func TestTheFirstEventHoldsAnyLab(t *testing.T) {
	t.Parallel()
	for much, moved := range map[int]bool{0: false, 8: true} {
		l := newLab(t)
		l.Societies = []quest.Society{society.Society{}}
		p := crowd(l, 8, much)
		b, _ := l.made(p)
		data, err := event.EncodeBody(b)
		must(t, err)
		t.Logf("256 agents in 8 groups, %d hosts, %d policies: %d bytes", 9*much+1, much, len(data))
		if len(data) > event.MaxBody || len(b.Agents) != 8 || (b.Problem.Ref != nil) != moved {
			t.Errorf("%d bytes for %d groups; the question is apart: %v", len(data), len(b.Agents), b.Problem.Ref != nil)
		}
		s, err := l.Load(t.Context(), "q")
		must(t, err)
		if len(s.Agents) != 256 || s.Agents[255].Name != "agent-255" {
			t.Errorf("%d agents", len(s.Agents))
		}
		text, err := agent.Read(s.Problem, func(r event.Ref) ([]byte, error) { return l.Blob(t.Context(), r) })
		must(t, err)
		if text != p.Spec.Problem {
			t.Errorf("the question has become %q", text)
		}
	}
}

func TestALabThatFitsNoEventIsRefusedInWords(t *testing.T) {
	t.Parallel()
	l := newGuild(t)
	_, err := l.Create(t.Context(), crowd(l, 16, 11))
	if err == nil || !strings.Contains(err.Error(), "have fewer groups of agents, policies or allowed hosts") {
		t.Errorf("got %v", err)
	}
}

func TestTheDataIsInEveryHomeAndEachMayChangeItsOwn(t *testing.T) {
	t.Parallel()
	l := newGuild(t)
	p := plan(t, "q", "society: lab\nagents: 256\ndata: data\n", quiet)
	for i := range 4 {
		file := filepath.Join(p.Dir, "data", "deep", fmt.Sprint(i))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte("the same"), 0o644))
	}
	l.create(p)
	home := func(i int) string { return filepath.Join(l.QuestDir("q"), "agents", fmt.Sprintf("agent-%d", i)) }
	must(t, os.WriteFile(filepath.Join(home(7), "deep", "0"), []byte("another"), 0o644))
	for _, i := range []int{0, 8, 255} {
		if data, err := os.ReadFile(filepath.Join(home(i), "deep", "0")); err != nil || string(data) != "the same" {
			t.Errorf("agent %d has %q, %v", i, data, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(l.QuestDir("q"), "agents", ".new-*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
