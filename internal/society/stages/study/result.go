package study

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Made is what a study has come to.
type Made struct {
	Artifacts []*Artifact `json:",omitempty"`
	Results   []*Result   `json:",omitempty"`
	Campaigns []*Analysis `json:",omitempty"`
	// Counts says how many there are of each kind.
	Counts map[string]int64 `json:",omitempty"`
	// Untried are the results whose program was not run yet, the oldest first.
	Untried []string `json:",omitempty"`
	// HomeCalls are the open baseline.calls, Brought is what the last one came to.
	HomeCalls []HomeCall `json:",omitempty"`
	Brought   *Brought   `json:",omitzero"`
	// Accepted are the results that are compared with, the newest last.
	Accepted []string `json:",omitempty"`
	// Agreed are the last questions that a person said yes to.
	Agreed []uint64 `json:",omitempty"`
	// Paperless says that the study ends in a report.
	Paperless bool `json:",omitzero"`
}

// The kinds of results: what is compared with, what is found, a part of a campaign, and one that
// another study has published.
const (
	ResultBaseline = "baseline"
	ResultMain     = "main"
	ResultSlice    = "slice"
	ResultAttached = "attached"
)

// What came of running a result again.
const (
	Verified  = "verified"
	Differs   = "differs"
	RunFailed = "failed"
	Unchecked = "unchecked"
)

// Result is a program and the figures that it is said to print.
type Result struct {
	ID, Kind, Title string
	Seq             uint64
	Time            event.Time
	Branch          string `json:",omitzero"`
	Campaign, Slice string `json:",omitzero"`
	Entrypoint      string
	Tree            event.TreeRef
	Metrics         []event.Metric
	Summary         string   `json:",omitzero"`
	Because         []string `json:",omitempty"`
	// Call is the reproduction.call under way, 0 if none is.
	Call uint64 `json:",omitzero"`
	// Verdict is what came of it, empty until something has; Why says why, in words.
	Verdict, Why string `json:",omitzero"`
	// Run is the reproduction.result, Event its hash, Output what the program printed.
	Run    uint64     `json:",omitzero"`
	Event  event.Hash `json:",omitzero"`
	Output *event.Ref `json:",omitzero"`
	// Accepted is the baseline.accepted, Published the name in the home.
	Accepted  uint64 `json:",omitzero"`
	Published string `json:",omitzero"`
	// From is where an attached one comes from.
	From *Source `json:",omitzero"`
}

// Source is where a baseline of another study comes from.
type Source struct {
	Name, Quest, Result string
	Event               event.Hash
}

// Analysis is a campaign: a row of questions about a result.
type Analysis struct {
	ID, Result, Reason string
	Seq                uint64
	Slices             []Slice
}

// Slice is one of them, with the result that answers it, empty until there is one.
type Slice struct {
	ID, Question string
	Result       string `json:",omitzero"`
}

// Result is the one of that id, nil if there is none, and Campaign as well.
func (s *Study) Result(id string) *Result {
	return byID(s.Results, id, func(r *Result) string { return r.ID })
}
func (s *Study) Campaign(id string) *Analysis {
	return byID(s.Campaigns, id, func(c *Analysis) string { return c.ID })
}

// Slice is the one of that id, nil if there is none.
func (c *Analysis) Slice(id string) *Slice {
	for i := range c.Slices {
		if c.Slices[i].ID == id {
			return &c.Slices[i]
		}
	}
	return nil
}

// resultOf is the result that was recorded in a branch, nil if there is none.
func (s *Study) resultOf(branch string) *Result {
	return byID(s.Results, branch, func(r *Result) string { return r.Branch })
}

// SliceBranch is the branch of a slice: below the name of the one that the result stands in.
func (s *Study) SliceBranch(c *Analysis, slice string) string {
	return "analysis/" + path.Base(s.Result(c.Result).Branch) + "/" + c.ID + "-" + slice
}

// applyResult takes in what is about artifacts, results and baselines.
func (s *Study) applyResult(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ArtifactRecorded:
		s.recorded(e, b)
	case *event.ResultRecorded:
		s.resulted(e, b)
	case *event.CampaignCreated:
		s.created(e, b)
	case *event.ReproductionCall:
		s.trying(e, b)
	case *event.ReproductionResult:
		s.tried(e, b)
	case *event.BaselineAccepted:
		s.accepted(e, b)
	case *event.BaselineWaived:
		s.waived(e, b)
	case *event.BaselineCall:
		s.calledHome(e, b)
	case *event.BaselineResult:
		s.brought(e, b)
	}
}

// MayResult says why a result cannot be recorded.
func (s *Study) MayResult(b *event.ResultRecorded) error {
	of, c, slice := s.Branch(b.Branch), s.Campaign(b.Campaign), b.Kind == ResultSlice
	switch {
	case b.Kind != ResultBaseline && b.Kind != ResultMain && !slice:
		return fmt.Errorf("there is no kind %.40q of results", b.Kind)
	case of == nil:
		return fmt.Errorf("there is no branch %.100q", b.Branch)
	case of.Closed != 0:
		return fmt.Errorf("%s is closed: it has the result %s. What else is asked of that is a campaign, also of one slice", of.Name, s.resultOf(of.Name).ID)
	case of.Head == 0:
		return fmt.Errorf("%s has no checkpoint: checkpoint what the result rests on first", of.Name)
	case b.Checkpoint != of.Head:
		return fmt.Errorf("the last checkpoint of %s is %d", of.Name, of.Head)
	case !slice && (b.Campaign != "" || b.Slice != ""):
		return errors.New("only a slice belongs to a campaign")
	case !slice && of.Kind != KindRun:
		return fmt.Errorf("%s is no branch for a result, which closes it: prepare one of the kind run", of.Name)
	case slice && c == nil:
		return fmt.Errorf("there is no campaign %.40q", b.Campaign)
	case slice && c.Slice(b.Slice) == nil:
		return fmt.Errorf("the campaign %s has no slice %.40q", c.ID, b.Slice)
	case slice && c.Slice(b.Slice).Result != "":
		return fmt.Errorf("the slice %s of %s has the result %s", b.Slice, c.ID, c.Slice(b.Slice).Result)
	case slice && of.Name != s.SliceBranch(c, b.Slice):
		return fmt.Errorf("the slice has a branch of its own: %s", s.SliceBranch(c, b.Slice))
	}
	return CheckMetrics(b.Metrics)
}

// resulted takes in a result. It waits to be run.
func (s *Study) resulted(e event.Event, b *event.ResultRecorded) {
	if err := s.MayResult(b); err != nil {
		panic("result.recorded: " + err.Error())
	}
	s.rests(e, b.Because)
	s.count("result", b.ID)
	s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	s.Results = append(s.Results, &Result{
		ID: b.ID, Kind: b.Kind, Title: b.Title, Seq: e.Seq, Time: e.Time, Branch: b.Branch, Campaign: b.Campaign, Slice: b.Slice,
		Entrypoint: b.Entrypoint, Tree: *s.Tree(s.Branch(b.Branch)), Metrics: b.Metrics, Summary: Summary(b.Summary), Because: b.Because,
	})
	if c := s.Campaign(b.Campaign); c != nil {
		c.Slice(b.Slice).Result = b.ID
	}
	s.Untried = append(s.Untried, b.ID)
	s.closeBranch(b.Branch, e.Seq)
}

// maxSlices is how many questions a campaign has.
const maxSlices = 24

// MayCampaign says why there can be no such campaign.
func (s *Study) MayCampaign(result string, slices []event.CampaignSlice) error {
	r := s.Result(result)
	switch {
	case r == nil:
		return fmt.Errorf("there is no result %.40q", result)
	case r.Branch == "":
		return fmt.Errorf("%s comes from another study, and has no branch here", r.ID)
	case r.Kind == ResultSlice:
		return fmt.Errorf("%s is a slice: ask further questions of %s", r.ID, s.Campaign(r.Campaign).Result)
	case len(slices) == 0 || len(slices) > maxSlices:
		return fmt.Errorf("a campaign has 1 to %d slices", maxSlices)
	}
	seen := map[string]bool{}
	for _, x := range slices {
		if !event.ValidName(x.ID) || len(x.ID) > 32 || seen[x.ID] {
			return fmt.Errorf("%.40q cannot name a slice: each has a name of its own of 1 to 32 letters a to z, digits and hyphens", x.ID)
		}
		seen[x.ID] = true
	}
	return nil
}

// created takes in a campaign.
func (s *Study) created(e event.Event, b *event.CampaignCreated) {
	if err := s.MayCampaign(b.Result, b.Slices); err != nil {
		panic("campaign.created: " + err.Error())
	}
	s.count("campaign", b.ID)
	s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	c := &Analysis{ID: b.ID, Result: b.Result, Reason: b.Reason, Seq: e.Seq}
	for _, x := range b.Slices {
		c.Slices = append(c.Slices, Slice{ID: x.ID, Question: x.Question})
	}
	s.Campaigns = append(s.Campaigns, c)
}

// names are those of a result's metrics.
func (r *Result) names() (out []string) {
	for _, m := range r.Metrics {
		out = append(out, m.Name)
	}
	return out
}

// Try is the call that has the next result run, nil if none waits for that.
func (s *Study) Try() *event.ReproductionCall {
	for _, id := range s.Untried {
		if r := s.Result(id); r.Call == 0 {
			return &event.ReproductionCall{Entrypoint: r.Entrypoint, Metrics: r.names(), Ref: r.ID, Tree: r.Tree}
		}
	}
	return nil
}

// trying takes in that a result is run.
func (s *Study) trying(e event.Event, b *event.ReproductionCall) {
	want := s.Try()
	if want == nil || b.Ref != want.Ref || b.Entrypoint != want.Entrypoint || b.Tree != want.Tree || !slices.Equal(b.Metrics, want.Metrics) {
		panic(fmt.Sprintf("reproduction.call %.40q runs what is not to be run", b.Ref))
	}
	s.Result(b.Ref).Call = e.Seq
}

// CheckRun says why a run cannot have come to what it says. A call that a fork has left behind
// is nobody's.
func (s *Study) CheckRun(b *event.ReproductionResult) error {
	r := s.running(b.Call)
	switch {
	case r == nil || len(b.Figures) == 0:
		return nil
	case !slices.EqualFunc(b.Figures, r.Metrics, func(f event.Figure, m event.Metric) bool { return f.Name == m.Name }):
		return fmt.Errorf("the run of %s has other figures than it was asked for", r.ID)
	}
	for _, f := range b.Figures {
		for _, v := range []string{f.First, f.Second} {
			if _, err := ParseDecimal(orZero(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// running is the result that a call runs, nil if there is none.
func (s *Study) running(call uint64) *Result {
	for _, id := range s.Untried {
		if r := s.Result(id); r.Call == call && call != 0 {
			return r
		}
	}
	return nil
}

// tried takes in what came of running a result.
func (s *Study) tried(e event.Event, b *event.ReproductionResult) {
	r := s.running(b.Call)
	if r == nil {
		return // a fork has forgotten it
	}
	if err := s.CheckRun(b); err != nil {
		panic("reproduction.result: " + err.Error())
	}
	r.Call, r.Run, r.Event, r.Output = 0, e.Seq, e.Hash, b.Output
	r.Verdict, r.Why = Judge(r.Metrics, b)
	s.Untried = slices.DeleteFunc(s.Untried, func(id string) bool { return id == r.ID })
	s.durable()
}

// maxWhy is how many bytes the reason of a verdict has.
const maxWhy = 600

// Judge is the verdict on figures: verified, if both runs printed each of them.
func Judge(metrics []event.Metric, b *event.ReproductionResult) (verdict, why string) {
	switch {
	case b.Status == event.NotRun && b.Fingerprint.IsZero():
		return Unchecked, event.Shorten(b.Reason, maxWhy)
	case b.Status == event.NotRun:
		return RunFailed, event.Shorten(b.Reason, maxWhy)
	case len(b.Figures) != len(metrics):
		return Unchecked, "the run does not say what was printed"
	}
	for i, f := range b.Figures {
		m := &metrics[i]
		for run, v := range []string{f.First, f.Second} {
			which := []string{"first", "second"}[run]
			if v == "" {
				return Differs, fmt.Sprintf("the %s run printed no line \"metric %s\" with a decimal", which, m.Name)
			}
			if d, err := ParseDecimal(v); err != nil || f.Name != m.Name || !d.Within(number(m.Value), number(m.Tolerance)) {
				return Differs, fmt.Sprintf("%s is claimed to be %s, and the %s run printed %s (tolerance %s)", m.Name, m.Value, which, v, orZero(m.Tolerance))
			}
		}
	}
	return Verified, "two runs in fresh computers printed the figures"
}
