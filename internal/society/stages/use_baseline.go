package stages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/society/stages/study"
	"lyceum/internal/workspace"
)

// metric is a figure as it is handed in.
type metric struct {
	Name      string `json:"name"`
	Unit      string `json:"unit"`
	Direction string `json:"direction"`
	Value     string `json:"value"`
	Tolerance string `json:"tolerance"`
	Data      string `json:"data"`
}

// outcome is a result as it is handed in.
type outcome struct {
	Kind       string   `json:"kind"`
	Campaign   string   `json:"campaign"`
	Slice      string   `json:"slice"`
	Title      string   `json:"title"`
	Entrypoint string   `json:"entrypoint"`
	Metrics    []metric `json:"metrics"`
	Summary    string   `json:"summary"`
	Because    []string `json:"because"`
	Branch     string   `json:"branch"`
}

// main records a main result, or a baseline.
func (c *using) main() []event.Draft {
	x := outcome{Kind: study.ResultMain}
	switch bad := c.read(&x); {
	case bad != "":
		return c.wrong("%s", bad)
	case x.Kind != study.ResultMain && x.Kind != study.ResultBaseline:
		return c.wrong("kind must be main or baseline.")
	case x.Campaign != "" || x.Slice != "":
		return c.wrong("A slice is recorded with %s.", recordSlice)
	}
	return c.result(&x)
}

// slice records the result of a slice.
func (c *using) slice() []event.Draft {
	var x outcome
	switch bad := c.read(&x); {
	case bad != "":
		return c.wrong("%s", bad)
	case x.Kind != "":
		return c.wrong("A slice has no other kind.")
	}
	x.Kind = study.ResultSlice
	if a := c.study.Campaign(x.Campaign); x.Branch == "" && a != nil {
		x.Branch = c.study.SliceBranch(a, x.Slice)
	}
	return c.result(&x)
}

// result records a result, has it run, and tells what came of that.
func (c *using) result(x *outcome) []event.Draft {
	if r := c.study.ResultAt(c.study.Effect(c.place)); r != nil {
		return c.ran(r)
	}
	b, bad := c.claim(x)
	if bad != "" {
		return c.wrong("%s", bad)
	}
	if step, wait := c.asked(fmt.Sprintf("The researcher wants to record the result %s, which closes the branch %s, and has %s run twice: %s", paper.Quote(b.Title), b.Branch, paper.Quote(b.Entrypoint), figures(b.Metrics)), "result", cost); wait {
		return step
	}
	if step := c.arrive(leadsTo(c.u.Name, x.Kind), "the result "+paper.Quote(event.Shorten(b.Title, 100))+" is recorded"); step != nil {
		return step
	}
	return c.do(b)
}

func figures(list []event.Metric) string {
	var out []string
	for _, m := range list {
		out = append(out, strings.TrimSpace(m.Name+" "+m.Value+" "+m.Unit))
	}
	return strings.Join(out, ", ")
}

// claim is the event of a result, or what is wrong with it.
func (c *using) claim(x *outcome) (b *event.ResultRecorded, bad string) {
	x.Title, x.Summary = strings.TrimSpace(x.Title), strings.TrimSpace(x.Summary)
	branch, bad := c.branch(x.Branch)
	if bad == "" {
		bad = lines(x.Title, "")
	}
	if bad == "" {
		bad = c.because(x.Because)
	}
	entry, err := workspace.Path(x.Entrypoint)
	switch {
	case bad != "":
		return nil, bad
	case err != nil || entry == "" || len(entry) > study.MaxPath:
		return nil, fmt.Sprintf("%s is no file of the branch.", paper.Quote(event.Shorten(x.Entrypoint, 100)))
	case event.Weight(x.Summary) > 2*maxReason:
		return nil, fmt.Sprintf("The summary has at most %d bytes.", 2*maxReason)
	case len(x.Metrics) > study.MaxMetrics:
		return nil, fmt.Sprintf("A result has 1 to %d metrics.", study.MaxMetrics)
	}
	b = &event.ResultRecorded{
		Answer: c.place.Answer, Because: x.Because, Branch: branch, Campaign: x.Campaign, Checkpoint: c.study.Branch(branch).Head, Entrypoint: entry,
		ID: c.study.NewID("result"), Kind: x.Kind, Part: c.place.Part, Slice: x.Slice, Summary: x.Summary, Title: x.Title,
	}
	for _, m := range x.Metrics {
		data, err := event.ParseHash(m.Data)
		if err != nil {
			return nil, fmt.Sprintf("The data of the metric %s must be the SHA-256 of what it was measured on, 64 digits 0 to 9 and a to f: sha256sum gives it.", paper.Quote(event.Shorten(m.Name, 64)))
		}
		b.Metrics = append(b.Metrics, event.Metric{Data: data, Direction: m.Direction, Name: m.Name, Tolerance: m.Tolerance, Unit: m.Unit, Value: m.Value})
	}
	if err := c.study.MayResult(b); err != nil {
		return nil, capital(err.Error()) + "."
	}
	return b, ""
}

// ran tells what came of running a result, once something has.
func (c *using) ran(r *study.Result) []event.Draft {
	if r.Verdict == "" {
		return nil
	}
	out := []string{fmt.Sprintf("%s is recorded, and %s: %s.", r.ID, r.Verdict, strings.TrimSuffix(r.Why, "."))}
	switch r.Verdict {
	case study.Verified:
	case study.Unchecked:
		out = append(out, "Nobody has run it: say so wherever you tell of its figures.")
	default:
		out = append(out, "Its figures do not stand. Find out why; do not claim them.")
	}
	out = append(out, c.study.Against(r)...)
	if r.Branch != "" {
		out = append(out, fmt.Sprintf("The branch %s is closed. What else you want to know of it is a campaign.", r.Branch))
	}
	return c.say("%s", strings.Join(out, "\n"))
}

// campaign begins an analysis of a result.
func (c *using) campaign() []event.Draft {
	var x struct {
		Result string                `json:"result"`
		Reason string                `json:"reason"`
		Slices []event.CampaignSlice `json:"slices"`
	}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if a := c.study.CampaignAt(c.study.Effect(c.place)); a != nil {
		out := []string{fmt.Sprintf("%s is begun. Prepare a branch for each slice, work there, checkpoint it, and record it with %s:", a.ID, recordSlice)}
		for _, s := range a.Slices {
			out = append(out, fmt.Sprintf("- %s: %s", s.ID, c.study.SliceBranch(a, s.ID)))
		}
		return c.say("%s", strings.Join(out, "\n"))
	}
	x.Reason = strings.TrimSpace(x.Reason)
	bad := func(s event.CampaignSlice) bool {
		return strings.TrimSpace(s.Question) == "" || event.Weight(s.Question) > 300
	}
	switch {
	case x.Reason == "" || event.Weight(x.Reason) > maxReason:
		return c.wrong("The reason must have 1 to %d bytes.", maxReason)
	case slices.ContainsFunc(x.Slices, bad):
		return c.wrong("Each slice has a question of 1 to 300 bytes.")
	}
	if err := c.study.MayCampaign(x.Result, x.Slices); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	if step, wait := c.asked(fmt.Sprintf("The researcher wants to spend on %d slices about %s: %s", len(x.Slices), x.Result, x.Reason), cost); wait {
		return step
	}
	if step := c.arrive(study.Campaign, "a campaign about "+x.Result+" begins"); step != nil {
		return step
	}
	return c.do(&event.CampaignCreated{Answer: c.place.Answer, ID: c.study.NewID("campaign"), Part: c.place.Part, Reason: x.Reason, Result: x.Result, Slices: x.Slices})
}

// confirm accepts a baseline. What was not verified here, a person decides about.
func (c *using) confirm() []event.Draft {
	var x struct {
		Result string `json:"result"`
		Reason string `json:"reason"`
	}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if c.study.Effect(c.place) != 0 {
		return c.say("%s is the baseline: results are compared with it.", x.Result)
	}
	x.Reason = strings.TrimSpace(x.Reason)
	if event.Weight(x.Reason) > maxReason {
		return c.wrong("The reason has at most %d bytes.", maxReason)
	}
	if err := c.study.MayAccept(x.Result); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	r := c.study.Result(x.Result)
	b := &event.BaselineAccepted{Answer: c.place.Answer, By: study.ByReproduction, Part: c.place.Part, Reason: x.Reason, Result: r.ID}
	if r.Verdict != study.Verified || slices.Contains(c.m.Settings.Ask, "baseline") {
		yes, step := c.consent(fmt.Sprintf("The researcher wants this to be the baseline: %s. It is %s: %s. Reason: %s", r.Line(), r.Verdict, r.Why, x.Reason))
		if yes == 0 {
			return step
		}
		b.By, b.Interaction = study.ByPerson, yes
	}
	return c.do(b)
}

// waive asks a person that the study may go on without a baseline.
func (c *using) waive() []event.Draft {
	var x struct {
		Reason string `json:"reason"`
	}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if c.study.Effect(c.place) != 0 {
		return c.say("A person has waived the baseline: the study may go on without one.")
	}
	x.Reason = strings.TrimSpace(x.Reason)
	if x.Reason == "" || event.Weight(x.Reason) > maxReason {
		return c.wrong("The reason must have 1 to %d bytes.", maxReason)
	}
	yes, step := c.consent("The researcher wants to go on without a baseline: " + x.Reason)
	if yes == 0 {
		return step
	}
	return c.do(&event.BaselineWaived{Answer: c.place.Answer, Interaction: yes, Part: c.place.Part, Reason: x.Reason})
}

// publish puts a baseline into the home.
func (c *using) publish() []event.Draft {
	var x struct {
		Result string `json:"result"`
		Name   string `json:"name"`
	}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if c.study.AsksHome(c.place) {
		return nil
	}
	if told := c.study.FromHome(c.place); told != nil {
		if told.Error != "" {
			return c.wrong("It is not published: %s", event.Shorten(told.Error, maxReason))
		}
		return c.say("%s is published as %s: studies of this home can attach it.", told.Result, x.Name)
	}
	if err := c.study.MayPublish(x.Result, x.Name); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	return c.do(&event.BaselineCall{Action: study.Publish, Answer: c.place.Answer, Entry: c.study.Entry(c.study.Result(x.Result), c.s.Name), Name: x.Name, Part: c.place.Part})
}

// attach brings a baseline of the home, and has it run here.
func (c *using) attach() []event.Draft {
	var x struct {
		Name string `json:"name"`
	}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if c.study.AsksHome(c.place) {
		return nil
	}
	if told := c.study.FromHome(c.place); told != nil {
		if told.Error != "" {
			return c.wrong("It is not attached: %s", event.Shorten(told.Error, maxReason))
		}
		return c.ran(c.study.Result(told.Result))
	}
	if !event.ValidName(x.Name) {
		return c.wrong("%s is no name of a baseline: it has 1 to 63 letters a to z, digits and hyphens.", paper.Quote(event.Shorten(x.Name, 100)))
	}
	if step, wait := c.asked(fmt.Sprintf("The researcher wants to bring the baseline %s of this home here, and to have it run twice.", x.Name), cost); wait {
		return step
	}
	return c.do(&event.BaselineCall{Action: study.Attach, Answer: c.place.Answer, Name: x.Name, Part: c.place.Part})
}

// branch is the one that something belongs to: one that is named, or the one that the researcher
// is at.
func (c *using) branch(name string) (branch, bad string) {
	b := c.study.Branch(cmp.Or(name, c.study.Current))
	if b == nil {
		return "", fmt.Sprintf("There is no branch %s.", paper.Quote(event.Shorten(name, 100)))
	}
	return b.Name, ""
}
