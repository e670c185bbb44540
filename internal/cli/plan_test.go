package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/api/client"

	"github.com/google/go-cmp/cmp"
)

// wish is what somebody wants, as it is put on the command line and to the API.
type wish struct {
	// base is the quest.yaml that both begin with.
	base string
	// name and model are flags of the one and members of the other.
	name, model string
	// flags are the rest for the command line. The API has it in the spec: more lines of
	// it, or another one.
	flags   []string
	more    string
	instead string
}

const grouped = "problem: q\nsociety: lab\nagents: [{count: 2, model: nowhere/m, profile: gone}, {count: 1}]\n"

// TestFlagsAndMembersMakeTheSameQuest compares the first events of two quests, which hold
// all that a quest is made of.
func TestFlagsAndMembersMakeTheSameQuest(t *testing.T) {
	t.Parallel()
	h := plannedHome(t)
	wishes := map[string]wish{
		"NothingIsChanged":          {base: "problem: q\nmodel: demo:3\n"},
		"TheConfiguredModel":        {base: "problem: q\n"},
		"AModel":                    {base: "problem: q\nmodel: nowhere/m\n", model: "demo:4"},
		"AModelForAllGroups":        {base: strings.ReplaceAll(grouped, ", profile: gone", ""), model: "demo:4"},
		"AProfileForAllGroups":      {base: grouped, model: "demo", flags: []string{"--profile", "code"}, instead: "problem: q\nsociety: lab\nagents: [{count: 2}, {count: 1}]\nprofile: code\n"},
		"AgentsMakeALab":            {base: "problem: q\n", flags: []string{"--agents", "3", "--reviewers", "1"}, more: "society: lab\nagents: 3\nreviewers: 1\n"},
		"OtherAgents":               {base: grouped, flags: []string{"--agents", "2"}, instead: "problem: q\nsociety: lab\nagents: 2\n"},
		"ACorpusMakesAContractNet":  {base: "problem: q\ncomputer: none\n", flags: []string{"--corpus", "texts"}, more: "society: contract\ncorpus: texts\n"},
		"AnAuditMakesAContractNet":  {base: "problem: q\ncomputer: none\ndata: texts\n", flags: []string{"--audit", "strict", "--wait-until", "2030-01-31T12:00:00Z"}, more: "society: contract\naudit: strict\nwait_until: 2030-01-31T12:00:00Z\n"},
		"AContractNetWithAModel":    {base: "problem: q\ncomputer: none\nsociety: contract\ncorpus: texts\n", model: "demo"},
		"SeedThinkingAndLimits":     {base: "problem: q\nseed: 5\nlimits: {tokens: 8}\n", flags: []string{"--seed", "0", "--no-thinking", "--max-turns", "9", "--max-cost", "0.5", "--max-agent-duration", "2m"}, instead: "problem: q\nthinking: false\nlimits: {tokens: 8, turns: 9, cost: 0.5, agent: {duration: 2m}}\n"},
		"NoComputer":                {base: "problem: q\ncomputer: docker\n", flags: []string{"--computer", "none"}, instead: "problem: q\ncomputer: none\n"},
		"AnotherDriverOfTheProfile": {base: "problem: q\nprofile: mine\n", flags: []string{"--computer", "docker"}, more: "computer: {driver: docker, network: none, memory: 64MiB}\n"},
		"DataTakenAway":             {base: "problem: q\ndata: texts\n", flags: []string{"--data", ""}, instead: "problem: q\n"},
	}
	s := h.serve()
	for name, w := range wishes {
		w.name = strings.ToLower(name) + "-sent"
		if err := w.send(t, s); err != nil {
			t.Errorf("%s: the API refuses it: %v", name, err)
		}
	}
	s.signal(os.Interrupt)
	s.wait()
	for name, w := range wishes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := h.in(t)
			typed, sent := strings.ToLower(name)+"-typed", strings.ToLower(name)+"-sent"
			w.name = typed
			w.typed(h, name).want(t, 0)
			one, other := h.made(typed), h.made(sent)
			for _, made := range []map[string]any{one, other} {
				if made["config"] == nil {
					t.Error("a quest does not say where its settings come from")
				}
				delete(made, "config") // from flags, or from a request
			}
			if d := cmp.Diff(one, other); d != "" {
				t.Errorf("the quests differ (- by flags, + by members):\n%s", d)
			}
		})
	}
}

// TestFlagsAndMembersAreRefusedInTheSameWords also wants the flag, the line or the field
// to be named.
func TestFlagsAndMembersAreRefusedInTheSameWords(t *testing.T) {
	t.Parallel()
	h := plannedHome(t)
	wishes := map[string]struct {
		wish
		words, flag, field string
	}{
		"AnOddName":           {wish{base: "problem: q\n", name: "Not a name"}, `name "Not a name": want 1 to 63`, "--name: ", "name"},
		"AnOddNameInTheFile":  {wish{base: "problem: q\nname: Up\n"}, `name "Up": want 1 to 63`, ".yaml:2:1: ", "name"},
		"NoAgents":            {wish{base: "problem: q\n", name: "x", flags: []string{"--agents", "0"}, more: "society: lab\nagents: 0\n"}, "agents must be a whole number from 1 to 1024", "--agents: ", "agents"},
		"ManyAgents":          {wish{base: "problem: q\n", name: "x", flags: []string{"--agents", "1025"}, more: "society: lab\nagents: 1025\n"}, "agents must be a whole number from 1 to 1024", "--agents: ", "agents"},
		"ReviewersOfNoLab":    {wish{base: "problem: q\nsociety: solo\n", name: "x", flags: []string{"--reviewers", "1"}, more: "reviewers: 1\n"}, "reviewers is a key of lab: say society: lab, or leave it out", "--reviewers: ", "reviewers"},
		"ManyReviewers":       {wish{base: "problem: q\n", name: "x", flags: []string{"--agents", "2", "--reviewers", "2"}, more: "society: lab\nagents: 2\nreviewers: 2\n"}, "2 reviewers and 2 agents: nobody reviews a paper of their own", "--reviewers: ", "reviewers"},
		"AnUnknownSociety":    {wish{base: "problem: q\n", name: "x", flags: []string{"--society", "senate"}, more: "society: senate\n"}, `society "senate": there are solo, lab, contract, architect, stages and world`, "--society: ", "society"},
		"AnUnknownAudit":      {wish{base: "problem: q\ndata: texts\n", name: "x", flags: []string{"--audit", "harsh"}, more: "society: contract\naudit: harsh\n"}, `audit "harsh": want lite, standard or strict`, "--audit: ", "audit"},
		"ATimeThatIsNone":     {wish{base: "problem: q\nsociety: contract\ndata: texts\n", name: "x", flags: []string{"--wait-until", "soon"}, more: "wait_until: soon\n"}, `wait_until "soon": want a time`, "--wait-until: ", "wait_until"},
		"AnUnknownComputer":   {wish{base: "problem: q\n", name: "x", flags: []string{"--computer", "cloud"}, more: "computer: cloud\n"}, `"cloud" is none of none, auto, namespaces, bubblewrap, docker`, "--computer: ", "computer"},
		"ANegativeLimit":      {wish{base: "problem: q\n", name: "x", flags: []string{"--max-turns", "-1"}, more: "limits: {turns: -1}\n"}, "limit of -1 turns: want 0 or more", "--max-turns: ", "limits.turns"},
		"AnAgentsLimit":       {wish{base: "problem: q\n", name: "x", flags: []string{"--max-agent-tokens", "-1"}, more: "limits: {agent: {tokens: -1}}\n"}, "limit of -1 tokens: want 0 or more", "--max-agent-tokens: ", "limits.agent.tokens"},
		"AProfileElsewhere":   {wish{base: "problem: q\n", name: "x", flags: []string{"--profile", "../up"}, more: "profile: ../up\n"}, `profile "../up": want 1 to 63`, "--profile: ", "profile"},
		"AnUnknownProfile":    {wish{base: "problem: q\n", name: "x", flags: []string{"--profile", "reserch"}, more: "profile: reserch\n"}, `there is no profile "reserch"`, "", "profile"},
		"AFaultBesideTheFlag": {wish{base: "problem: q\nwindow: 3\n", name: "x", model: "demo"}, "window 3: want at least 2000 tokens", ".yaml:2:1: ", "window"},
		"AFaultUnderTheFlag":  {wish{base: "problem: q\nreviewers: 1\n", name: "x", flags: []string{"--reviewers", "2"}}, "reviewers is a key of lab", ".yaml:2:1: ", "reviewers"},
		"ALongSpec":           {wish{base: "problem: " + strings.Repeat("q", 1<<20) + "\n", name: "x"}, "yaml has more than 1048576 bytes: put long texts into files of their own", "", ""},
		"AScriptThatIsGone":   {wish{base: "problem: q\n", name: "x", model: "script:gone.yaml"}, "model script:gone.yaml: there is no gone.yaml in", "", "model"},
	}
	s := h.serve()
	for name, c := range wishes {
		err := c.send(t, s)
		refused, ok := errors.AsType[*client.Error](err)
		switch {
		case !ok || refused.Status != 400 || !strings.Contains(refused.Message, c.words):
			t.Errorf("%s: the API says %v, want 400 and %q", name, err, c.words)
		case refused.Field != c.field:
			t.Errorf("%s: the API names the field %q, want %q", name, refused.Field, c.field)
		}
	}
	s.signal(os.Interrupt)
	s.wait()
	t.Run("Typed", func(t *testing.T) {
		for name, c := range wishes {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c.typed(h.in(t), name).want(t, 2, c.words, c.flag)
			})
		}
	})
	h.run("list").want(t, 0, "There are no quests yet.")
}

// plannedHome is a home with a model in its configuration and a profile of its own.
func plannedHome(t *testing.T) *home {
	t.Helper()
	h := newHome(t, map[string]string{"texts/a.md": "# A\n\nWater boils at 100 degrees.\n"})
	must(t, writeFolder(h.dir, map[string]string{
		"config.yaml":                "model: demo:7\n",
		"profiles/mine/profile.yaml": "description: d\ncomputer: {driver: bubblewrap, network: none, memory: 64MiB}\n", "profiles/mine/prompt.md": "p\n",
	}))
	return h
}

// typed asks on the command line.
func (a wish) typed(h *home, file string) lyceum {
	h.t.Helper()
	file += ".yaml"
	must(h.t, os.WriteFile(filepath.Join(h.work, file), []byte(a.base), 0o600))
	args := append([]string{"create", file}, a.flags...)
	for flag, value := range map[string]string{"--name": a.name, "--model": a.model} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	return h.run(args...)
}

// send asks the API.
func (a wish) send(t *testing.T, s *served) error {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.cmd.Dir, "texts/a.md"))
	must(t, err)
	n := api.NewQuest{YAML: a.base + a.more, Name: a.name, Model: a.model, Files: []api.NewFile{{Path: "texts/a.md", Text: new(string(text))}}}
	if a.instead != "" {
		n.YAML = a.instead
	}
	_, err = s.client.Create(t.Context(), n)
	return err
}

// made is the first event of a quest, but for its name and the text of its spec.
func (h *home) made(quest string) map[string]any {
	h.t.Helper()
	first, _, _ := strings.Cut(h.ok("trace", quest, "--jsonl"), "\n")
	var e struct{ Body map[string]any }
	must(h.t, json.Unmarshal([]byte(first), &e))
	if e.Body["name"] != quest {
		h.t.Fatalf("the first event is of %v, want %s", fmt.Sprint(e.Body["name"]), quest)
	}
	delete(e.Body, "name")
	delete(e.Body, "spec")
	return e.Body
}
