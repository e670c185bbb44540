package quest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society"
	"lyceum/internal/society/solo"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// relay is a society of this test: runners pass a baton. It has a key of each kind.
type relay struct {
	solo.Society
	traits quest.Traits
}

func (relay) Rules() string          { return "relay/1" }
func (r relay) Traits() quest.Traits { return r.traits }
func (relay) About() string          { return "runners that pass a baton" }

func (relay) Keys() []quest.Key {
	return []quest.Key{
		quest.NumberKey("laps", "how often the baton goes round", 1, 99),
		quest.TextKey("baton", "what is passed", "stick", "ring"),
		quest.NewKey[[]string]("route", &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: "places on the way"}),
		quest.QuestionKey("task", "what the race is about"),
	}
}

func (relay) Check(s *quest.Spec) error {
	route := quest.ValueOf[[]string](s, "route")
	if laps := quest.ValueOf[int64](s, "laps"); laps != nil && route != nil && *laps > int64(len(*route)) {
		return quest.Fault("route", "%d laps and %d places: want a place for each lap", *laps, len(*route))
	}
	return nil
}

// race is what is recorded of a relay, and all that it knows.
type race struct {
	Laps  int64    `json:"laps"`
	Baton string   `json:"baton"`
	Route []string `json:"route,omitempty"`
}

func (relay) Settle(s *quest.Spec, b *event.QuestCreated) error {
	r := race{Laps: 3, Baton: "stick"}
	if laps := quest.ValueOf[int64](s, "laps"); laps != nil {
		r.Laps = *laps
	}
	if route := quest.ValueOf[[]string](s, "route"); route != nil {
		r.Route = *route
	}
	return quest.Record(b, r)
}

// known are the societies of these tests: with a relay behind those of the binary.
var known = append(society.All(), relay{traits: quest.Traits{Many: true}})

func relayOf(more string) (*quest.Spec, error) {
	return known.ParseSpec("quest.yaml", []byte("problem: x\nsociety: relay\nagents: 2\n"+more+"\n"))
}

func TestASocietysKeysAreReadAndWritten(t *testing.T) {
	t.Parallel()
	s, err := relayOf("laps: 2\nbaton: ring\nroute: [Athens, 'Sparta: old']")
	must(t, err)
	want := quest.Keys{"laps": int64(2), "baton": "ring", "route": []string{"Athens", "Sparta: old"}}
	if d := cmp.Diff(want, s.Keys); d != "" {
		t.Errorf("the keys differ (-want +got):\n%s", d)
	}
	data, err := yaml.Marshal(s)
	must(t, err)
	again, err := known.ParseSpec("quest.yaml", data)
	must(t, err)
	if d := cmp.Diff(s, again); d != "" {
		t.Errorf("%s comes back as another (-want +got):\n%s", data, d)
	}
	for _, nothing := range []string{"", "laps:", "laps: null\nbaton: ''\nroute: ~"} {
		s, err := relayOf(nothing)
		must(t, err)
		if len(s.Keys) != 0 || quest.ValueOf[int64](s, "laps") != nil || quest.TextOf(s, "baton") != "" {
			t.Errorf("%q says %v, want nothing", nothing, s.Keys)
		}
	}
}

func TestTheQuestionMayStandUnderAKey(t *testing.T) {
	t.Parallel()
	s, err := known.ParseSpec("quest.yaml", []byte("society: relay\nagents: 2\ntask: Who is first?\n"))
	must(t, err)
	if got := known.Question(s); got != "Who is first?" {
		t.Errorf("the question is %q, want what stands under task", got)
	}
	for text, want := range map[string]string{
		"society: relay\nagents: 2\nproblem: x\ntask: y":      "quest.yaml:4:1: task and problem are both given: keep one",
		"society: relay\ntask: y\nagents: 2\nproblem_file: x": "quest.yaml:2:1: task and problem are both given: keep one",
		"society: relay\nagents: 2\ntask: ' '":                "no question",
		"task: y":                                             "quest.yaml:1:1: task is a key of contract and relay: say society: contract or relay, or leave it out",
	} {
		if _, err := known.ParseSpec("quest.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want something with %q", text, err, want)
		}
	}
}

func TestAFaultOfASocietysKeyIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct{ want, field string }{
		"laps: 100":                         {"quest.yaml:4:1: laps 100: want 1 to 99", "laps"},
		"seed: 1\nlaps: 0":                  {"quest.yaml:5:1: laps 0: want 1 to 99", "laps"},
		"laps: many":                        {"quest.yaml:4:7: laps must be a whole number from 1 to 99", ""},
		"laps: 1.5":                         {"quest.yaml:4:7:", ""},
		"laps: 99999999999999999999":        {"quest.yaml:4:7:", ""},
		"laps: [1]":                         {"quest.yaml:4:7:", ""},
		"laps: 1\nseed: 2\nlaps: 2":         {`quest.yaml:6:1: mapping key "laps" already defined`, ""},
		"baton: club":                       {`quest.yaml:4:1: baton "club": want stick or ring`, "baton"},
		"baton: {a: b}":                     {"quest.yaml:4:", ""},
		"route: far":                        {"quest.yaml:4:8:", ""},
		"laps: 2\nroute: [a]":               {"quest.yaml:5:1: 2 laps and 1 places: want a place for each lap", "route"},
		"reviewers: 1":                      {"quest.yaml:4:1: reviewers is a key of lab: say society: lab, or leave it out", "reviewers"},
		"data: |\n  laps: 7\nlaps: 100":     {"quest.yaml:6:1: laps 100", "laps"},
		"lap: 1":                            {`quest.yaml:4:1: unknown field "lap"; did you mean laps?`, ""},
		"limits: {turns: -1}\nbaton: stick": {"quest.yaml:4:1: limit of -1 turns", "limits.turns"},
	} {
		_, err := relayOf(text)
		if err == nil || !strings.Contains(err.Error(), c.want) || quest.FieldOf(err) != c.field {
			t.Errorf("%s: got %v about %q, want something with %q about %q", text, err, quest.FieldOf(err), c.want, c.field)
		}
	}
}

// TestAKeyOfAnotherSocietyIsRefusedInOneWay: with the same words, whichever it is.
func TestAKeyOfAnotherSocietyIsRefusedInOneWay(t *testing.T) {
	t.Parallel()
	for key, c := range map[string]struct{ value, owner string }{
		"laps": {"3", "relay"}, "baton": {"ring", "relay"}, "route": {"[a]", "relay"},
		"reviewers": {"1", "lab"}, "decision": {"majority", "lab"}, "review_deadline_turns": {"4", "lab"},
		"audit": {"lite", "contract"}, "wait_until": {"2030-01-31T12:00:00Z", "contract"},
	} {
		for _, other := range []string{"", "society: solo\n", "society: lab\nagents: 2\n", "society: contract\n", "society: relay\nagents: 2\n"} {
			_, err := known.ParseSpec("quest.yaml", []byte(other+"problem: x\n"+key+": "+c.value+"\n"))
			if strings.Contains(other, c.owner) {
				must(t, err)
				continue
			}
			want := key + " is a key of " + c.owner + ": say society: " + c.owner + ", or leave it out"
			if err == nil || !strings.HasSuffix(err.Error(), ": "+want) || quest.FieldOf(err) != key {
				t.Errorf("%s with %q: got %v about %q, want %q", key, other, err, quest.FieldOf(err), want)
			}
		}
	}
	if _, err := known.ParseSpec("quest.yaml", []byte("problem: x\ncorpus: texts\n")); err == nil || !strings.Contains(err.Error(), "corpus is a key of contract and stages: say society: contract or stages, or leave it out") {
		t.Errorf("a key of two societies: got %v", err)
	}
	if _, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\nlaps: 3\n")); err == nil || !strings.Contains(err.Error(), `unknown field "laps"`) {
		t.Errorf("a key of a society that is not there: got %v", err)
	}
}

// TestKeysThatNobodyReadAreCheckedToo: those of a spec that was made without a file.
func TestKeysThatNobodyReadAreCheckedToo(t *testing.T) {
	t.Parallel()
	for want, keys := range map[string]quest.Keys{
		"laps 0: want 1 to 99":                      {"laps": int64(0)},
		`laps: "3" is nothing that can stand there`: {"laps": 3},
		`"wings" is a key of no society`:            {"wings": int64(2)},
		"audit is a key of contract":                {"audit": "lite"},
		"baton \"club\": want stick or ring":        {"baton": "club"},
	} {
		err := known.Check(&quest.Spec{Problem: "x", Society: "relay", Agents: quest.Agents{{Count: 2}}, Keys: keys})
		if err == nil || !strings.Contains(err.Error(), want) || keys[quest.FieldOf(err)] == nil {
			t.Errorf("%v: got %v about %q, want something with %q", keys, err, quest.FieldOf(err), want)
		}
	}
}

func TestTheSchemaHasTheKeysOfAllSocieties(t *testing.T) {
	t.Parallel()
	schema, err := known.Schema()
	must(t, err)
	if about := schema.Properties["society"]; !strings.Contains(about.Description, "relay, runners that pass a baton") || len(about.Enum) != 7 {
		t.Errorf("the key society: got %v %s, want the relay among them", about.Enum, about.Description)
	}
	resolved, err := schema.Resolve(nil)
	must(t, err)
	for _, text := range []string{
		"laps: 3", "laps: 0", "laps: 100", "laps: x", "baton: ring", "baton: club", "baton: 3", "route: [a, b]", "route: a", "lap: 3", "audit: harsh", "laps: 1\nbaton: stick\nroute: [a]",
	} {
		_, readErr := relayOf(text)
		data, err := yaml.YAMLToJSON([]byte("problem: x\nsociety: relay\nagents: 2\n" + text + "\n"))
		must(t, err)
		var v any
		must(t, json.Unmarshal(data, &v))
		if schemaErr := resolved.Validate(v); (schemaErr == nil) != (readErr == nil) {
			t.Errorf("%s: the reader says %v, the schema %v", text, readErr, schemaErr)
		}
	}
	if got := known.Choices("baton"); !cmp.Equal(got, []string{"stick", "ring"}) || len(known.Choices("laps")) != 0 || len(known.Choices("wings")) != 0 {
		t.Errorf("the choices of baton: got %q, want stick and ring, and none of other keys", got)
	}
}

func TestWhatASocietySettlesStandsInTheFirstEvent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]race{
		"":                      {Laps: 3, Baton: "stick"},
		"laps: 1\nroute: [a\n]": {Laps: 1, Baton: "stick", Route: []string{"a"}},
	} {
		s, err := relayOf(text)
		must(t, err)
		b := questtest.Created(relay{}, 2)
		must(t, known.Settle(s, b))
		e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Actor: "person", Body: b})
		must(t, err)
		back, err := event.Parse(e.Line())
		must(t, err)
		var got race
		must(t, quest.Recorded(back.Body.(*event.QuestCreated), &got))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q is settled as another (-want +got):\n%s", text, d)
		}
	}
	b := questtest.Created(solo.Society{}, 0)
	must(t, known.Settle(&quest.Spec{}, b))
	if b.Settings != "" || b.Lab != nil || b.Contract != nil {
		t.Errorf("a society without keys has settled %q, %v, %v", b.Settings, b.Lab, b.Contract)
	}
	if err := quest.Recorded(&event.QuestCreated{Settings: `{"wings":2}`}, &race{}); err == nil {
		t.Error("settings that the society does not have are read, want an error")
	}
}

// TestSocietiesDifferByTheirTraits: the core does by traits what it once did by names.
func TestSocietiesDifferByTheirTraits(t *testing.T) {
	t.Parallel()
	alone := quest.Societies{solo.Society{}, relay{traits: quest.Traits{ByRules: true, Profile: "code"}}}
	both := quest.Societies{solo.Society{}, relay{}, relay{traits: quest.Traits{Many: true}}}
	if got := alone.Names(); !cmp.Equal(got, []string{"solo", "relay"}) {
		t.Errorf("the names are %q", got)
	}
	if !alone.ByRules(&quest.Spec{Society: "relay"}) || alone.ByRules(&quest.Spec{Society: "relay", Model: "m"}) || alone.ByRules(&quest.Spec{}) || alone.ByRules(&quest.Spec{Society: "gone"}) {
		t.Error("a relay without a model, and nothing else here, works by rules")
	}
	if got := alone.Groups(&quest.Spec{Society: "relay"})[0].Profile; got != "code" || alone.ComputerProfile(&quest.Spec{}) != "" {
		t.Errorf("the profile of a relay is %q, want code; and that of others empty", got)
	}
	if !both.Named("relay").Traits().Many || both.Named("").Rules() != "solo/4" || both.Named("gone") != nil {
		t.Error("the last rules of a name are the newest, and the first society is that of no name")
	}
	for _, c := range []struct {
		keys   quest.Keys
		agents bool
		want   string
	}{
		{nil, false, ""},
		{nil, true, "lab"},
		{quest.Keys{"corpus": ""}, true, "contract"},
		{quest.Keys{"reviewers": int64(1)}, false, "lab"},
		{quest.Keys{"laps": int64(1)}, true, "relay"},
		{quest.Keys{"task": "x"}, false, "contract"},
		{quest.Keys{"wings": 2}, false, ""},
	} {
		if got := known.Meant(c.keys, c.agents); got != c.want {
			t.Errorf("with %v, and agents %v, %q is meant, want %q", c.keys, c.agents, got, c.want)
		}
	}
	_, err := alone.ParseSpec("quest.yaml", []byte("problem: x\nagents: 2\n"))
	if err == nil || !strings.HasSuffix(err.Error(), "there are 2 agents, and the society solo has one: leave agents out") {
		t.Errorf("agents where nobody can have many: got %v", err)
	}
}
