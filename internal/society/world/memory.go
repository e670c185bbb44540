package world

import (
	"bytes"
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/world/trial"
)

// The verdicts of tiers.
const (
	passed      = trial.Passed
	failed      = trial.Failed
	waived      = trial.Waived
	unavailable = trial.Unavailable
)

// enough is the lower median that every criterion has to reach.
const enough = 700

// Memory is what is known of attempts and trials: a fold of the ledger.
type Memory struct {
	Settings Settings
	// Structure is the last one declared, and Declared the event.
	Structure *event.WorldStructure `json:",omitzero"`
	Declared  uint64                `json:",omitzero"`
	Attempts  []*Attempt            `json:",omitempty"`
	Tries     []*Try                `json:",omitempty"`
	// Answer is what the quest is to end with, if the maker has said so.
	Answer *Answer `json:",omitzero"`
	// Final is the attempt that the maker ended with, 0 if it has not.
	Final int64 `json:",omitzero"`
	// Wrong counts calls of the maker in a row that came to nothing.
	Wrong int64 `json:",omitzero"`
	// Done are the calls of tools that have had their effect, by their places.
	Done []agent.Place `json:",omitempty"`
}

// Answer is what a maker ends with.
type Answer struct {
	Attempt int64
	Text    string
}

// Attempt is something that was made. The tree is what is judged.
type Attempt struct {
	Number       int64
	Seq          uint64
	Place        agent.Place
	Path, Intent string
	Stories      []event.WorldStory    `json:",omitempty"`
	Structure    *event.WorldStructure `json:",omitzero"`
	Tree         event.TreeRef
	// Tiers are what was judged, in order; Looks what the world said of them.
	Tiers []Tier  `json:",omitempty"`
	Looks []*Look `json:",omitempty"`
	// Refused says why policies did not let the next tier look.
	Refused string `json:",omitzero"`
	// Judges are those of tier 2, once it has begun.
	Judges []*Judge `json:",omitempty"`
	// Reward is there when all is said.
	Reward *event.RewardGiven `json:",omitzero"`
}

// Tier is what a tier came to.
type Tier struct {
	Tier            int64
	Seq             uint64
	Verdict, Reason string
	Criteria        []event.WorldMedian `json:",omitempty"`
}

// Look is an analysis.call, and what came of it.
type Look struct {
	Call   uint64
	Tier   int64
	Result *event.AnalysisResult `json:",omitzero"`
}

// Judge is one that reads an attempt.
type Judge struct {
	Name string
	// Begun says that it knows the criteria, Told that it was shown what was made.
	Begun bool `json:",omitzero"`
	Told  bool `json:",omitzero"`
	// Use is its last tool.call.
	Use uint64 `json:",omitzero"`
	// Call is the marks.call that is open or has its result, for the call at Place.
	Call   uint64             `json:",omitzero"`
	Place  agent.Place        `json:",omitzero"`
	Marks  []event.WorldMark  `json:",omitempty"`
	Result *event.MarksResult `json:",omitzero"`
	Wrong  int64              `json:",omitzero"`
	Given  bool               `json:",omitzero"`
	Out    string             `json:",omitzero"`
}

// Try is a prediction, and what was seen.
type Try struct {
	Seq      uint64
	Attempt  int64
	Place    agent.Place
	Expect   []event.WorldExpectation
	Steps    []event.WorldStep `json:",omitempty"`
	Refused  string            `json:",omitzero"`
	Call     uint64            `json:",omitzero"`
	Observed uint64            `json:",omitzero"`
	// Seen is what was observed, Surprise how far that was from what was expected.
	Seen     *event.WorldObserved    `json:",omitzero"`
	Surprise *event.SurpriseMeasured `json:",omitzero"`
}

// Begin implements quest.Knower.
func (Society) Begin(_ *quest.State, b *event.QuestCreated) quest.Memory {
	m := &Memory{Settings: settingsOf(nil)}
	if err := quest.Recorded(b, &m.Settings); err != nil {
		panic(err)
	}
	if s := m.Settings; !slices.Contains(trial.Kinds, s.Kind) || s.Judges < 0 || s.Judges > maxJudges || s.Attempts < 1 || s.Judges > 0 && len(s.Rubric) == 0 {
		panic(fmt.Errorf("the settings of quest %s are those of no world", b.Name))
	}
	return m
}

// Blank implements quest.Knower.
func (Society) Blank() quest.Memory { return &Memory{} }

// Of is what is known of a world, nil if the quest is none.
func Of(s *quest.State) *Memory {
	m, _ := s.Memory().(*Memory)
	return m
}

// Attempt is the one of that number, nil if there is none.
func (m *Memory) Attempt(n int64) *Attempt {
	if n < 1 || n > int64(len(m.Attempts)) {
		return nil
	}
	return m.Attempts[n-1]
}

// current is the attempt about which not all is said, nil if there is none.
func (m *Memory) current() *Attempt {
	if a := m.Attempt(int64(len(m.Attempts))); a != nil && a.Reward == nil {
		return a
	}
	return nil
}

// trying is the trial under way, nil if there is none.
func (m *Memory) trying() *Try {
	if len(m.Tries) == 0 {
		return nil
	}
	if t := m.Tries[len(m.Tries)-1]; !t.over() {
		return t
	}
	return nil
}

// over reports whether nothing more comes of a trial.
func (t *Try) over() bool {
	return t.Refused != "" || t.Surprise != nil || t.Seen != nil && len(t.Seen.Held) == 0
}

// judging is what a judge is at: nil if it has nothing to judge.
func (m *Memory) judging(name string) *Judge {
	a := m.current()
	if a == nil || a.next(m) != byJudges {
		return nil
	}
	for _, j := range a.Judges {
		if j.Name == name && !j.Given && j.Out == "" {
			return j
		}
	}
	return nil
}

// verdict is what a tier said, empty if nothing yet.
func (a *Attempt) verdict(tier int64) string {
	for _, t := range a.Tiers {
		if t.Tier == tier {
			return t.Verdict
		}
	}
	return ""
}

// opened reports whether a tier lets what comes after it begin.
func (a *Attempt) opened(tier int64) bool { return gated.counts(tier, a.verdict(tier)) }

// runnable reports whether an attempt may be tried.
func (a *Attempt) runnable() bool { return a.opened(byRules) && a.opened(byJudges) }

// last is the last tier there is.
func (m *Memory) last() int64 {
	if len(m.Settings.HeldOut) > 0 {
		return heldOut
	}
	return byStories
}

// next is the tier that is to look at an attempt, 0 if none is: all have, or one did not pass.
func (a *Attempt) next(m *Memory) int64 {
	for tier := int64(byRules); tier <= m.last(); tier++ {
		switch {
		case a.verdict(tier) == "":
			return tier
		case !a.opened(tier):
			return 0
		}
	}
	return 0
}

// Passed reports whether every tier has passed an attempt.
func (m *Memory) Passed(a *Attempt) bool {
	for tier := int64(byRules); tier <= m.last(); tier++ {
		if !a.opened(tier) {
			return false
		}
	}
	return true
}

// look is what the world was asked for a tier, nil if nothing.
func (a *Attempt) look(tier int64) *Look {
	for _, l := range a.Looks {
		if l.Tier == tier {
			return l
		}
	}
	return nil
}

// Happened implements quest.Memory.
func (m *Memory) Happened(_ string, at agent.Place) bool { return slices.Contains(m.Done, at) }

// Abandon implements quest.Memory: what was asked and not answered is asked again.
func (m *Memory) Abandon() {
	if a := m.current(); a != nil {
		a.Looks = slices.DeleteFunc(a.Looks, func(l *Look) bool { return l.Result == nil })
		for _, j := range a.Judges {
			if j.Call != 0 && j.Result == nil {
				j.Call, j.Place, j.Marks = 0, agent.Place{}, nil
			}
		}
	}
	if t := m.trying(); t != nil && t.Seen == nil {
		t.Call = 0
	}
}

// Check implements quest.Checker: one verdict for each story, in order, and what the tier says is
// what its stories say; of each condition whether it held, or of none.
func (m *Memory) Check(b event.Result) error {
	switch b := b.(type) {
	case *event.AnalysisResult:
		a := m.current()
		if a == nil || len(a.Looks) == 0 || a.Looks[len(a.Looks)-1].Call != b.Call || a.Looks[len(a.Looks)-1].Result != nil {
			return fmt.Errorf("analysis.result: nothing waits for call %d", b.Call)
		}
		return m.checkLook(a, a.Looks[len(a.Looks)-1].Tier, b)
	case *event.MarksResult:
		if m.marked(b.Call) == nil {
			return fmt.Errorf("marks.result: nobody waits for call %d", b.Call)
		}
	case *event.WorldObserved:
		t := m.trying()
		switch {
		case t == nil || t.Call == 0 || t.Call != b.Call || t.Seen != nil:
			return fmt.Errorf("world.observed: nothing was predicted for call %d", b.Call)
		case !slices.Contains([]string{trial.Done, trial.Missing, trial.Timeout, trial.Crash, trial.Error, unavailable}, b.End):
			return fmt.Errorf("world.observed: %.40q is no end", b.End)
		case len(b.Held) != 0 && len(b.Held) != len(t.Expect):
			return fmt.Errorf("world.observed says of %d conditions whether they held: there are %d", len(b.Held), len(t.Expect))
		case b.End == trial.Done && len(b.Held) == 0 && b.Full == nil:
			return fmt.Errorf("world.observed was done, and says of no condition whether it held")
		}
	}
	return nil
}

func (m *Memory) checkLook(a *Attempt, tier int64, b *event.AnalysisResult) error {
	if !slices.Contains([]string{passed, failed, unavailable}, b.Verdict) {
		return fmt.Errorf("analysis.result: %.40q is no verdict of a tier", b.Verdict)
	}
	if b.Verdict == passed && b.Error.Len() > 0 {
		return fmt.Errorf("analysis.result: tier %d passed, and has an error", tier)
	}
	blocks := slices.ContainsFunc(b.Findings, func(f event.WorldFinding) bool { return f.Required && f.Kind != "told" })
	if tier == byRules {
		if b.Verdict == passed && blocks || len(b.Stories) > 0 {
			return fmt.Errorf("analysis.result: tier 1 passed with a finding that blocks, or has stories")
		}
		return nil
	}
	told := m.stories(a, tier)
	if b.Verdict == unavailable && len(b.Stories) == 0 {
		return nil
	}
	if len(b.Stories) != len(told) {
		return fmt.Errorf("analysis.result has %d verdicts: there are %d stories", len(b.Stories), len(told))
	}
	for i, s := range b.Stories {
		if s.Name != told[i].Name || !slices.Contains(trial.Verdicts, s.Verdict) || s.Conditions != int64(len(told[i].Expect)) || s.Met < 0 || s.Met > s.Conditions || s.Verdict == passed && s.Met != s.Conditions {
			return fmt.Errorf("analysis.result: verdict %d is none of the story %.60q", i+1, told[i].Name)
		}
	}
	if want := trial.Tier(b.Stories); b.Verdict != want {
		return fmt.Errorf("analysis.result says %s, and its stories say %s", b.Verdict, want)
	}
	return nil
}

// stories are those of a tier: the maker's and the author's, or the author's that are held out.
func (m *Memory) stories(a *Attempt, tier int64) []event.WorldStory {
	switch tier {
	case byStories:
		return slices.Concat(a.Stories, m.Settings.Stories)
	case heldOut:
		return m.Settings.HeldOut
	}
	return nil
}

// marked is the judge whose quotations are looked for by a call.
func (m *Memory) marked(call uint64) *Judge {
	a := m.current()
	if a == nil || call == 0 {
		return nil
	}
	for _, j := range a.Judges {
		if j.Call == call && j.Result == nil {
			return j
		}
	}
	return nil
}

// same reports whether two bodies say the same.
func same(a, b event.Body) bool {
	x, err := event.EncodeBody(a)
	if err != nil {
		return false
	}
	y, err := event.EncodeBody(b)
	return err == nil && bytes.Equal(x, y)
}
