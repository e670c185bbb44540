package lab_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// settled is what the first event says of how papers are judged in a quest of a spec.
func settled(t *testing.T, s *quest.Spec) *event.LabSpec {
	t.Helper()
	b := &event.QuestCreated{}
	must(t, society.All().Settle(s, b))
	return b.Lab
}

func labOf(more string) (*quest.Spec, error) {
	return society.All().ParseSpec("quest.yaml", []byte("problem: x\nsociety: lab\n"+more+"\n"))
}

func TestTheAgentsOfALabAreANumberOrGroups(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]quest.Group{
		"agents: 1":                       {{Count: 1, Profile: "research"}},
		"agents: 1024":                    {{Count: 1024, Profile: "research"}},
		"agents: 4\nmodel: m\nprofile: p": {{Count: 4, Model: "m", Profile: "p"}},
		"agents: [{count: 2, model: a}, {profile: q}, {count: 3, model: b, profile: r}]\nmodel: m\nprofile: p": {
			{Count: 2, Model: "a", Profile: "p"}, {Count: 1, Model: "m", Profile: "q"}, {Count: 3, Model: "b", Profile: "r"},
		},
		"agents:\n  - count: 2\n    profile: code\n  - model: demo\n": {{Count: 2, Profile: "code"}, {Count: 1, Model: "demo", Profile: "research"}},
	} {
		s, err := labOf(text)
		must(t, err)
		if d := cmp.Diff(want, society.All().Groups(s)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestAgentsThatAreWrittenDownAreReadAsTheSame(t *testing.T) {
	t.Parallel()
	said := quest.Keys{"reviewers": int64(0), "review_deadline_turns": int64(9), "decision": "unanimous"}
	for _, want := range []quest.Agents{{{Count: 7}}, {{Count: 2, Model: "script:a: b.yaml"}}, {{Count: 1, Profile: "code"}, {Count: 3}}} {
		data, err := yaml.Marshal(&quest.Spec{Problem: "x", Society: "lab", Agents: want, Keys: said, Profile: "code"})
		must(t, err)
		got, err := society.All().ParseSpec("quest.yaml", data)
		must(t, err)
		if d := cmp.Diff(want, got.Agents) + cmp.Diff(said, got.Keys); d != "" || got.Profile != "code" {
			t.Errorf("%s comes back as another (-want +got):\n%s", data, d)
		}
	}
}

func TestALabHasASettingForWhatIsNotSaid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]event.LabSpec{
		"agents: 1":               {Deadline: 40, Decision: "majority", Reviewers: 0},
		"agents: 2":               {Deadline: 40, Decision: "majority", Reviewers: 1},
		"agents: 4":               {Deadline: 40, Decision: "majority", Reviewers: 3},
		"agents: 99":              {Deadline: 40, Decision: "majority", Reviewers: 3},
		"agents: 9\nreviewers: 0": {Deadline: 40, Decision: "majority", Reviewers: 0},
		"agents: [{count: 3}, {count: 3}]\nreviewers: 5\ndecision: unanimous\nreview_deadline_turns: 7": {Deadline: 7, Decision: "unanimous", Reviewers: 5},
	} {
		s, err := labOf(text)
		must(t, err)
		if d := cmp.Diff(&want, settled(t, s)); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
}

func TestSoloKeepsOneAgentWithoutAProfile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "society: solo\n", "agents: 1\n", "society: solo\nagents: [{count: 1}]\n"} {
		s, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\nmodel: m\n"+text))
		must(t, err)
		if d := cmp.Diff([]quest.Group{{Count: 1, Model: "m"}}, society.All().Groups(s)); d != "" || settled(t, s) != nil {
			t.Errorf("%q: a lab %+v, agents (-want +got):\n%s", text, settled(t, s), d)
		}
	}
}

func TestAFaultOfALabIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	groups := func(n int) string { return "agents: [" + strings.Repeat("{count: 1}, ", n-1) + "{count: 1}]" }
	for name, c := range map[string]struct{ yaml, want string }{
		"NoAgents":            {"seed: 1", "quest.yaml:2:1: the society lab without agents: say how many, such as agents: 4"},
		"ZeroAgents":          {"agents: 0", "quest.yaml:3:9: agents must be a whole number from 1 to 1024"},
		"NegativeAgents":      {"agents: -3", "quest.yaml:3:9: agents must be"},
		"ManyAgents":          {"agents: 1025", "quest.yaml:3:9: agents must be a whole number from 1 to 1024"},
		"HalfAnAgent":         {"agents: 1.5", "quest.yaml:3:9: agents must be"},
		"AgentsInWords":       {"agents: many", "quest.yaml:3:9: agents must be"},
		"AgentsAsAMapping":    {"agents: {count: 2}", "quest.yaml:3:"},
		"AnEmptyList":         {"agents: []", "quest.yaml:3:9: agents is an empty list"},
		"AnEmptyGroup":        {"agents:\n  - count: 0\n", "quest.yaml:4:12: count: it must be a whole number from 1 to 1024"},
		"AGroupThatIsNone":    {"agents: [2, 3]", "quest.yaml:3:10: a group of agents must be a mapping with some of count, executor, max_output, model, profile, thinking"},
		"AnUnknownKey":        {"agents:\n  - count: 1\n  - {count: 2, modle: m}", `quest.yaml:5:16: unknown key "modle"; a group of agents has count, executor, max_output, model, profile, thinking`},
		"AModelWithoutAName":  {`agents: [{model: ""}]`, "model: it is empty"},
		"AProfileElsewhere":   {"agents: [{profile: ../up}]", `quest.yaml:3:20: profile: "../up" names no profile`},
		"ManyInGroups":        {"agents:\n  - {count: 1000}\n  - {count: 24}\n  - {count: 1}", "quest.yaml:6:5: with this group there are 1025 agents"},
		"ManyGroups":          {groups(17), "there are more than 16 groups"},
		"ManyReviewers":       {"agents: 3\nreviewers: 3", "quest.yaml:4:1: 3 reviewers and 3 agents: nobody reviews a paper of their own, so there can be 2"},
		"AReviewerOfNobody":   {"reviewers: 1\nagents: 1", "quest.yaml:3:1: 1 reviewers and 1 agents"},
		"NegativeReviewers":   {"agents: 3\nreviewers: -1", "quest.yaml:4:1: reviewers -1: want 0 to 1023"},
		"ReviewersInWords":    {"agents: 3\nreviewers: all", "quest.yaml:4:12:"},
		"AnUnknownDecision":   {"agents: 3\ndecision: dictator", `quest.yaml:4:1: decision "dictator": want majority or unanimous`},
		"NoTimeForAReview":    {"agents: 3\nreview_deadline_turns: 0", "quest.yaml:4:1: review_deadline_turns 0: want 1 to 1000000"},
		"MuchTimeForAReview":  {"agents: 3\nreview_deadline_turns: 1000001", "want 1 to 1000000"},
		"AnotherPath":         {"agents: 3\nprofile: a/b", `quest.yaml:4:1: profile "a/b": want 1 to 63`},
		"TheWordInTheProblem": {"agents: 2\ndata: |\n  and the reviewers: say\nreviewers: 2", "quest.yaml:6:1: 2 reviewers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := labOf(c.yaml)
			if err == nil {
				t.Fatalf("it is read as %+v", s)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "quest.yaml:") {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
	must(t, func() error { _, err := labOf(groups(16)); return err }())
	for key, want := range map[string]string{
		"agents: 2": "there are 2 agents, and the society solo has one: say society: lab", "agents: [{}, {}]": "society: lab",
		"reviewers: 0": "reviewers is a key of lab: say society: lab, or leave it out", "decision: majority": "decision is a key of lab", "review_deadline_turns: 4": "review_deadline_turns is a key of lab",
	} {
		_, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\n"+key+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "quest.yaml:2:") {
			t.Errorf("%s without a lab: %v, want something with %q", key, err, want)
		}
	}
}

func TestASpecThatFlagsHaveChangedIsCheckedAgain(t *testing.T) {
	t.Parallel()
	s, err := labOf("agents: 9\nreviewers: 5")
	must(t, err)
	must(t, society.All().Check(s))
	s.Agents = quest.Agents{{Count: 5}}
	if err := society.All().Check(s); err == nil || !strings.Contains(err.Error(), "5 reviewers and 5 agents") {
		t.Errorf("got %v", err)
	}
	s.Agents = quest.Agents{{Count: 1025}}
	if err := society.All().Check(s); err == nil || !strings.Contains(err.Error(), "there can be 1024") {
		t.Errorf("got %v", err)
	}
}

// TestTheSchemaOfALabAgreesWithTheReader holds both against the same examples.
func TestTheSchemaOfALabAgreesWithTheReader(t *testing.T) {
	t.Parallel()
	schema, err := society.All().Schema()
	must(t, err)
	resolved, err := schema.Resolve(nil)
	must(t, err)
	for _, text := range []string{
		"agents: 4", "agents: 0", "agents: 1025", "agents: []", "agents: [{count: 2, model: m, profile: p}, {}]", "agents: [{count: 0}]", "agents: [{colour: red}]",
		"agents: [{profile: UP}]", "agents: [4]", "agents: 4\nprofile: ..", "agents: 4\ndecision: majority", "agents: 4\ndecision: no", "agents: 4\nreviewers: -1",
		"agents: 4\nreviewers: 0", "agents: 4\nreview_deadline_turns: 0", "agents: 4\nreview_deadline_turns: 1",
	} {
		_, readErr := labOf(text)
		data, err := yaml.YAMLToJSON([]byte("problem: x\nsociety: lab\n" + text + "\n"))
		must(t, err)
		var v any
		must(t, json.Unmarshal(data, &v))
		if schemaErr := resolved.Validate(v); (schemaErr == nil) != (readErr == nil) {
			t.Errorf("%s: the reader says %v, the schema %v", text, readErr, schemaErr)
		}
	}
}
