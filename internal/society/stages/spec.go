package stages

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"

	"github.com/google/jsonschema-go/jsonschema"
)

// Settings are how a study goes, as a quest is made.
type Settings struct {
	Anchor string `json:"anchor"`
	// Ask are the questions that the rules put to people.
	Ask []string `json:"ask,omitempty"`
	// Dropped says that a review may also be a file that came with a message; a quest of before
	// says nothing.
	Dropped    bool   `json:"dropped,omitzero"`
	Literature string `json:"literature,omitzero"`
	Locale     string `json:"locale,omitzero"`
	// Materials are what was there before, by path.
	Materials []string `json:"materials,omitempty"`
	Mode      string   `json:"mode"`
	Paper     string   `json:"paper,omitzero"`
	// Reports says that reviews of the materials are read against their files; a quest of before
	// says nothing.
	Reports bool `json:"reports,omitzero"`
	// Routing is which conversations elsewhere hear what is said.
	Routing string   `json:"routing,omitzero"`
	Runner  string   `json:"runner"`
	Skills  []string `json:"skills,omitempty"`
}

// noPaper is what paper says where a study ends in a report.
const noPaper = "none"

// Native is the runner that is the quest's own model.
const Native = "native"

// The keys of a study.
const (
	keyMode       = "mode"
	keyAnchor     = "anchor"
	keyAsk        = "ask"
	keyCorpus     = "corpus"
	keyLiterature = "literature"
	keyMaterials  = "materials"
	keySkills     = quest.KeySkills
	keyLocale     = "locale"
	keyRunner     = "runner"
	keyPaper      = "paper"
	keyRouting    = "routing"
)

// asks are what people can be asked about by the rules.
var asks = []string{"baseline", "idea", "result", cost, "finish"}

// cost is what people are asked about before something is run that was not before.
const cost = "cost"

const (
	maxList = 64
	maxWord = 400
)

var keys = []quest.Key{
	quest.TextKey(keyMode, "copilot: the researcher waits for people after each sitting (default); autonomous: it goes on", study.Copilot, study.Autonomous),
	quest.TextKey(keyAnchor, "the stage that a study begins with; default scout", study.Anchors...),
	listKey(keyAsk, "what the rules ask people about: baseline, idea, result, cost, finish; default nothing", asks...),
	quest.TextKey(keyCorpus, "a folder beside quest.yaml whose texts a study looks for papers in"),
	quest.TextKey(keyLiterature, "online: papers may be looked for outside; offline: only what is here (default)", "online", "offline"),
	listKey(keyMaterials, "files and folders of the quest that were there before, which are looked through first"),
	quest.SkillsKey(),
	quest.TextKey(keyLocale, "the language that the researcher writes in, such as en or de-CH"),
	quest.TextKey(keyRunner, "who the researcher is: native, the quest's model (default), or an executor"),
	quest.TextKey(keyPaper, "none: the study ends in a report, and not in a paper", "none"),
	quest.TextKey(keyRouting, "who hears the researcher besides the ledger: primary_plus_local, the first conversation that is bound (default); primary_only; fanout_all, all that are bound", study.Routings...),
}

func listKey(name, about string, choices ...string) quest.Key {
	item := &jsonschema.Schema{Type: "string"}
	for _, c := range choices {
		item.Enum = append(item.Enum, c)
	}
	return quest.NewKey[[]string](name, &jsonschema.Schema{Type: "array", Description: about, Items: item})
}

// Keys implements quest.Keyed.
func (Society) Keys() []quest.Key { return keys }

// Check implements quest.Keyed.
func (Society) Check(s *quest.Spec) error {
	set := settingsOf(s)
	for _, l := range []struct {
		key  string
		list []string
	}{{keyAsk, set.Ask}, {keyMaterials, set.Materials}, {keySkills, set.Skills}} {
		if len(l.list) > maxList || slices.ContainsFunc(l.list, func(w string) bool { return strings.TrimSpace(w) == "" || len(w) > maxWord }) {
			return quest.Fault(l.key, "%s has at most %d entries of 1 to %d bytes", l.key, maxList, maxWord)
		}
	}
	for _, w := range set.Ask {
		if !slices.Contains(asks, w) {
			return quest.Fault(keyAsk, "ask: %.40q: want %s", w, strings.Join(asks, ", "))
		}
	}
	if !event.ValidName(set.Runner) {
		return quest.Fault(keyRunner, "runner: %.40q is no executor's name", set.Runner)
	}
	if len(set.Locale) > 40 {
		return quest.Fault(keyLocale, "locale: %.40q is no language", set.Locale)
	}
	return nil
}

// check finds what only a forged ledger has.
func (s *Settings) check() error {
	if !study.IsAnchor(s.Anchor) || s.Mode != study.Copilot && s.Mode != study.Autonomous || s.Runner == "" || s.Routing != "" && !slices.Contains(study.Routings, s.Routing) {
		return fmt.Errorf("a study in the mode %.40q at %.40q by %.40q", s.Mode, s.Anchor, s.Runner)
	}
	return nil
}

// settingsOf is what a spec says, and what holds where it says nothing.
func settingsOf(s *quest.Spec) Settings {
	set := Settings{Mode: study.Copilot, Anchor: study.Scout, Runner: Native}
	if s == nil {
		return set
	}
	text := func(to *string, key string) {
		if v := quest.TextOf(s, key); v != "" {
			*to = v
		}
	}
	list := func(key string) []string {
		if l := quest.ValueOf[[]string](s, key); l != nil {
			return *l
		}
		return nil
	}
	text(&set.Mode, keyMode)
	text(&set.Anchor, keyAnchor)
	text(&set.Literature, keyLiterature)
	text(&set.Locale, keyLocale)
	text(&set.Runner, keyRunner)
	text(&set.Paper, keyPaper)
	text(&set.Routing, keyRouting)
	set.Ask, set.Materials, set.Skills = list(keyAsk), list(keyMaterials), list(keySkills)
	set.Reports, set.Dropped = len(set.Materials) > 0, true
	return set
}

// SkillPaths implements quest.Skilled.
func (Society) SkillPaths(s *quest.Spec) []string { return settingsOf(s).Skills }

// Settle implements quest.Keyed.
func (Society) Settle(s *quest.Spec, b *event.QuestCreated) error {
	if err := quest.Record(b, settingsOf(s)); err != nil {
		return fmt.Errorf("stages: %w", err)
	}
	return nil
}
