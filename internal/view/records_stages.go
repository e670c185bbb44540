package view

import (
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// Recorded is an artifact of a study at a glance.
type Recorded struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"`
	Title   string     `json:"title"`
	Stage   string     `json:"stage"`
	Branch  string     `json:"branch"`
	Seq     uint64     `json:"seq"`
	Last    uint64     `json:"last"`
	Time    event.Time `json:"time"`
	Summary string     `json:"summary,omitempty"`
	// Verdict is that of a decision, with the action that follows, or of a result, with Why.
	Verdict string   `json:"verdict,omitempty"`
	Action  string   `json:"action,omitempty"`
	Why     string   `json:"why,omitempty"`
	Because []string `json:"because"`
	// Supersedes is what it took the place of, Replaced what took its place.
	Supersedes string `json:"supersedes,omitempty"`
	Replaced   string `json:"replaced_by,omitempty"`
	// These are of results. Run is the event of the last run, Accepted the one that made it a
	// baseline.
	Metrics    []event.Metric `json:"metrics,omitempty"`
	Entrypoint string         `json:"entrypoint,omitempty"`
	Campaign   string         `json:"campaign,omitempty"`
	Slice      string         `json:"slice,omitempty"`
	Run        uint64         `json:"run,omitempty"`
	Accepted   uint64         `json:"accepted,omitempty"`
}

// RecordedDetail is an artifact with what stands in no list.
type RecordedDetail struct {
	Recorded
	// Against are lines on how a result stands to the baseline and to the best, Output is what
	// its program printed, Tree what it was run in.
	Against []string   `json:"against"`
	Output  *event.Ref `json:"output,omitempty"`
	Tree    string     `json:"tree,omitempty"`
	// Questions are those of a campaign.
	Questions []CampaignQuestion `json:"questions"`
}

// CampaignQuestion is a slice of a campaign, with the result that answers it.
type CampaignQuestion struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Result   string `json:"result,omitempty"`
}

// Recorded are the artifacts of a study, the oldest first; none where the quest's society has no
// such thing.
func (v *Views) Recorded(s *quest.State) []Recorded {
	m, t := studyOf(s), v.Trail()
	artifacts, results := map[string]*study.Artifact{}, map[string]*study.Result{}
	for _, a := range m.Artifacts {
		artifacts[a.ID] = a
	}
	for _, r := range m.Results {
		results[r.ID] = r
	}
	replaced := map[string]string{}
	for _, x := range t.Things {
		if x.Old != "" {
			replaced[x.Old] = x.ID
		}
	}
	out := []Recorded{}
	for _, x := range t.Things {
		one := Recorded{
			ID: x.ID, Kind: x.Kind, Title: x.Title, Stage: x.Stage, Branch: x.Branch, Seq: x.Seq, Last: x.Last, Time: x.Time, Summary: x.Summary,
			Because: append([]string{}, x.Because...), Supersedes: x.Old, Replaced: replaced[x.ID],
		}
		if a := artifacts[x.ID]; a != nil {
			one.Verdict, one.Action = a.Verdict, a.Action
		}
		if r := results[x.ID]; r != nil {
			one.Verdict, one.Why, one.Metrics, one.Entrypoint = r.Verdict, r.Why, r.Metrics, r.Entrypoint
			one.Campaign, one.Slice, one.Run, one.Accepted = r.Campaign, r.Slice, r.Run, r.Accepted
		}
		out = append(out, one)
	}
	return out
}

// RecordedOne is one artifact of a study, nil if there is none of that id.
func (v *Views) RecordedOne(s *quest.State, id string) *RecordedDetail {
	all := v.Recorded(s)
	i := slices.IndexFunc(all, func(r Recorded) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	out := &RecordedDetail{Recorded: all[i], Against: []string{}, Questions: []CampaignQuestion{}}
	m := studyOf(s)
	if r := m.Result(id); r != nil {
		out.Against, out.Output, out.Tree = append(out.Against, m.Against(r)...), r.Output, r.Tree.Hash.String()
	}
	if c := m.Campaign(id); c != nil {
		for _, x := range c.Slices {
			out.Questions = append(out.Questions, CampaignQuestion(x))
		}
	}
	return out
}

// Card is a card of a study's memory at a glance.
type Card struct {
	ID       string     `json:"id"`
	Kind     string     `json:"kind"`
	Title    string     `json:"title"`
	Stage    string     `json:"stage"`
	Tags     []string   `json:"tags"`
	Summary  string     `json:"summary"`
	Revision int64      `json:"revision"`
	Made     event.Time `json:"made"`
	Changed  event.Time `json:"changed"`
	Seq      uint64     `json:"seq"`
	// Offered is the revision that other studies are offered, Approved says that a person lets
	// it into their prompts.
	Offered  int64 `json:"offered,omitempty"`
	Approved bool  `json:"approved"`
}

// CardKinds are those of a study's memory.
var CardKinds = study.CardKinds

// Cards are those of a study, the newest first: of a kind, and with all words of a text, if one
// is given. Total is how many there are of them.
func (v *Views) Cards(s *quest.State, kind, text string, max int) (out []Card, total int) {
	out = []Card{}
	words := strings.Fields(strings.ToLower(text))
	for _, c := range studyOf(s).Recent(kind, len(studyOf(s).Cards)) {
		all := strings.ToLower(c.Title + " " + strings.Join(c.Tags, " ") + " " + c.Summary)
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
			continue
		}
		if total++; len(out) < max {
			out = append(out, cardOf(c))
		}
	}
	return out, total
}

// CardOne is one card, with its text and its revisions; nil if there is none.
func (v *Views) CardOne(s *quest.State, id string) (*Card, event.Text, []CardRevision) {
	c := studyOf(s).Card(id)
	if c == nil {
		return nil, event.Text{}, nil
	}
	out := cardOf(c)
	return &out, c.Text, append([]CardRevision{}, v.Trail().Revisions[id]...)
}

func cardOf(c *study.Card) Card {
	return Card{
		ID: c.ID, Kind: c.Kind, Title: c.Title, Stage: c.Stage, Tags: append([]string{}, c.Tags...), Summary: c.Summary, Revision: c.Revision,
		Made: c.Made, Changed: c.Changed, Seq: c.Seq, Offered: c.Promoted, Approved: c.Approved,
	}
}

// Checkpoint is a step of a line of work.
type Checkpoint struct {
	Seq    uint64     `json:"seq"`
	Parent uint64     `json:"parent,omitempty"`
	Branch string     `json:"branch"`
	By     string     `json:"by"`
	Time   event.Time `json:"time"`
	// Subject is the first line of Message.
	Subject string `json:"subject"`
	Message string `json:"message"`
	Tree    string `json:"tree"`
}

// Log are the checkpoints of a study, the oldest first; of one line of work, if it is named. ok is
// false if there is no such line.
func (v *Views) Log(s *quest.State, branch string) (out []Checkpoint, ok bool) {
	m := studyOf(s)
	out = []Checkpoint{}
	if branch != "" && m.Branch(branch) == nil {
		return out, false
	}
	for i := range m.Checkpoints {
		c := &m.Checkpoints[i]
		if branch != "" && c.Branch != branch {
			continue
		}
		first, _, _ := strings.Cut(c.Message, "\n")
		out = append(out, Checkpoint{c.Seq, c.Parent, c.Branch, c.Actor, c.Time, plain.Unmarked(event.Cut(first, maxLabel)), c.Message, c.Tree.Hash.String()})
	}
	return out, true
}
