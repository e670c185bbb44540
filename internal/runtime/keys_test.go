package runtime_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	all "lyceum/internal/society"
	"lyceum/internal/society/solo"
)

// relay is a society that only this test knows: solo with settings of its own, which it
// remembers.
type relay struct{ solo.Society }

var (
	_ quest.Keyed  = relay{}
	_ quest.Knower = relay{}
)

func (relay) Rules() string { return "relay/1" }

func (relay) Keys() []quest.Key {
	return []quest.Key{
		quest.NumberKey("laps", "how often the baton goes round", 1, 99),
		quest.TextKey("baton", "what is passed"),
	}
}

func (relay) Check(*quest.Spec) error { return nil }

func (relay) Settle(s *quest.Spec, b *event.QuestCreated) error {
	r := race{Laps: 3, Baton: cmp.Or(quest.TextOf(s, "baton"), "stick")}
	if laps := quest.ValueOf[int64](s, "laps"); laps != nil {
		r.Laps = *laps
	}
	return quest.Record(b, r)
}

// race is how a relay works, and what it knows.
type race struct {
	Laps   int64  `json:"laps"`
	Baton  string `json:"baton"`
	Events int64  `json:"events,omitzero"`
}

func (relay) Begin(_ *quest.State, b *event.QuestCreated) quest.Memory {
	r := &race{}
	if err := quest.Recorded(b, r); err != nil {
		panic(err)
	}
	return r
}

func (relay) Blank() quest.Memory { return &race{} }

func (r *race) Apply(event.Event)                 { r.Events++ }
func (r *race) Abandon()                          {}
func (r *race) Happened(string, agent.Place) bool { return false }
func (r *race) Facts(event.Event, *policy.Facts)  {}
func (r *race) CallFacts(*policy.Facts)           {}

// newRelay is a home whose binary has one society more.
func newRelay(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	l.Societies = append(all.All(), relay{})
	return l
}

// draft is one of a relay, with a script.
func (l *lab) draft(source string, keys quest.Keys) *runtime.Draft {
	l.t.Helper()
	dir := l.t.TempDir()
	must(l.t, os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte("rules: [{say: done}]"), 0o600))
	return &runtime.Draft{File: "quest.yaml", Source: []byte(source), Dir: dir, Name: "q", Model: "script:plan.yaml", Changes: runtime.Changes{Keys: keys}}
}

func TestASocietyOfItsOwnIsMadeByItsKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		keys   quest.Keys
		want   string
	}{
		"AsItSays":      {"problem: x\nsociety: relay\nlaps: 7\nbaton: ring\n", nil, `{"baton":"ring","laps":7}`},
		"AsUsual":       {"problem: x\nsociety: relay\n", nil, `{"baton":"stick","laps":3}`},
		"AsFlagsSay":    {"problem: x\nsociety: relay\nlaps: 7\nbaton: ring\n", quest.Keys{"laps": int64(9), "baton": ""}, `{"baton":"stick","laps":9}`},
		"AsAFlagMeans":  {"problem: x\n", quest.Keys{"laps": int64(1)}, `{"baton":"stick","laps":1}`},
		"WithoutAKey":   {"problem: x\nsociety: relay\nbaton: it is sk-very-secret\n", nil, `{"baton":"it is [key]","laps":3}`},
		"InABriefOrder": {"{problem: x, society: relay, laps: 2}", nil, `{"baton":"stick","laps":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newRelay(t)
			l.Secrets = func() []string { return []string{"sk-very-secret"} }
			p, err := l.draft(c.source, c.keys).Plan(l.Societies)
			must(t, err)
			if b, _ := l.made(p); b.Settings != c.want || b.Rules != "relay/1" {
				t.Fatalf("a quest of %s is settled as %s, want relay/1 with %s", b.Rules, b.Settings, c.want)
			}
			s := l.run("q")
			if s.Status != quest.Finished || s.Society() != "relay" {
				t.Fatalf("the quest of %s is %s: %s", s.Society(), s.Status, s.Reason)
			}
			l.sound("q")
			// The state that is folded again, and the one that was saved, know the same.
			loaded, err := l.Load(t.Context(), "q")
			must(t, err)
			saved, err := s.Encode()
			must(t, err)
			decoded, err := quest.Decode(saved, l.Societies)
			must(t, err)
			want := fmt.Sprintf("%+v", *s.Memory().(*race))
			for what, back := range map[string]*quest.State{"loaded": loaded, "saved": decoded} {
				if got := fmt.Sprintf("%+v", *back.Memory().(*race)); got != want {
					t.Errorf("the %s quest knows %s, want %s", what, got, want)
				}
			}
		})
	}
}

func TestADraftNamesTheKeyOfASociety(t *testing.T) {
	t.Parallel()
	l := newRelay(t)
	for name, c := range map[string]struct {
		source      string
		keys        quest.Keys
		field, want string
	}{
		"OfAnother":   {"problem: x\nsociety: solo\n", quest.Keys{"laps": int64(1)}, "laps", "laps is a key of relay: say society: relay, or leave it out"},
		"InTheFile":   {"problem: x\nlaps: 1\n", nil, "laps", "quest.yaml:2:1: laps is a key of relay"},
		"OfTwo":       {"problem: x\n", quest.Keys{"laps": int64(1), "audit": "lite"}, "laps", "laps is a key of relay"},
		"OutOfBounds": {"problem: x\n", quest.Keys{"laps": int64(100)}, "laps", "laps 100: want 1 to 99"},
		"OfNobody":    {"problem: x\n", quest.Keys{"wings": int64(2)}, "wings", "a key of no society"},
	} {
		_, err := l.draft(c.source, c.keys).Plan(l.Societies)
		if err == nil || quest.FieldOf(err) != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v about %q, want %q about %q", name, err, quest.FieldOf(err), c.want, c.field)
		}
	}
}

// TestSettingsThatCannotBeAreDamage: a stranger's ledger breaks nothing.
func TestSettingsThatCannotBeAreDamage(t *testing.T) {
	t.Parallel()
	l := newRelay(t)
	p, err := l.draft("problem: x\nsociety: relay\n", nil).Plan(l.Societies)
	must(t, err)
	b, _ := l.made(p)
	for _, settings := range []string{"{", "[]", `{"laps":"many"}`, `{"wings":2}`} {
		forged := *b
		forged.Settings = settings
		e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Actor: "person", Body: &forged})
		must(t, err)
		s, err := quest.New(e, l.Societies)
		must(t, err)
		if err := s.Fold(e); err == nil || !strings.Contains(err.Error(), "read the settings of quest q") {
			t.Errorf("a quest with the settings %s: got %v, want it refused", settings, err)
		}
	}
}
