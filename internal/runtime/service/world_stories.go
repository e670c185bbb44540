package service

import (
	"context"
	"fmt"
	"time"

	"lyceum/internal/analysis"
	"lyceum/internal/browser"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/society/world/trial"

	json "github.com/go-json-experiment/json"
)

// maxStory is how long one run of a story may take.
const maxStory = 5 * time.Second

// storyRun is one run of a story, as it is kept.
type storyRun struct {
	End  string `json:"end"`
	Why  string `json:"why,omitzero"`
	Step int    `json:"step,omitzero"`
	// Sight is what was seen at the end.
	Sight   trial.Sight `json:"sight,omitzero"`
	picture []byte
	in      event.Hash // the computer
}

// storyRuns are all runs of a story: two, and one without scripts where there is something to
// find out by it.
type storyRuns struct {
	Name  string     `json:"name"`
	Runs  []storyRun `json:"runs,omitempty"`
	Still *storyRun  `json:"still,omitzero"`
}

// stories is tier 3: each story is run in a fresh computer without network. Those that the author
// held out have a computer of their own, as they have a call of their own.
func (w *worldBench) stories(ctx context.Context, seq uint64, b *event.AnalysisCall) (*event.AnalysisResult, error) {
	list := w.told3(b)
	t := &telling{w: w, seq: seq, tree: b.Tree}
	why := "this quest has no computers to run it in"
	if w.q.Driver != nil {
		var err error
		if why, err = t.run(ctx, list); err != nil {
			return nil, err
		}
	}
	return t.result(ctx, list, why)
}

// told3 are the stories of a call: those that it names, or those that were held out.
func (w *worldBench) told3(b *event.AnalysisCall) []event.WorldStory {
	if b.HeldOut {
		return w.set.HeldOut
	}
	return b.Stories
}

// telling is a tier 3 under way.
type telling struct {
	w        *worldBench
	seq      uint64
	tree     event.TreeRef
	runs     []storyRuns
	analyser string
	computer event.Hash
}

// run runs stories. why says why some of them could not be.
func (t *telling) run(ctx context.Context, list []event.WorldStory) (why string, err error) {
	if t.w.set.Kind == trial.Program {
		return t.programs(ctx, list)
	}
	return t.pages(ctx, list)
}

// pages has a browser run stories. why says that there is none.
func (t *telling) pages(ctx context.Context, list []event.WorldStory) (why string, err error) {
	fault, err := t.w.browse(ctx, fmt.Sprintf("stories-%d", t.seq), func(v visitor, in event.Hash) error {
		t.analyser, t.computer = v.Version(), in
		for _, s := range list {
			runs := storyRuns{Name: s.Name}
			for range 2 {
				run, err := t.visit(ctx, v, s, false)
				if err != nil {
					return err
				}
				runs.Runs = append(runs.Runs, run)
			}
			if passes(s, runs.Runs) {
				still, err := t.visit(ctx, v, s, true)
				if err != nil {
					return err
				}
				runs.Still = &still
			}
			t.runs = append(t.runs, runs)
		}
		return nil
	})
	return fault, err
}

// browse starts a browser in a fresh computer. fault says, in words for agents, why there is none.
func (w *worldBench) browse(ctx context.Context, purpose string, with func(v visitor, in event.Hash) error) (fault string, err error) {
	var none string
	f := w.q.Fresh(purpose)
	fault, err = f.Use(ctx, nil, func(c *computer.Computer, started *event.ComputerStarted) error {
		v, err := w.launch(ctx, c)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			why, known := noBrowser(err)
			if !known {
				why = "the browser did not start: " + err.Error()
			}
			none = why
			return nil
		}
		defer v.Close()
		return with(v, started.Fingerprint)
	})
	if none != "" {
		fault = none
	}
	return fault, err
}

// visit is one run of a story in a browser.
func (t *telling) visit(ctx context.Context, v visitor, s event.WorldStory, still bool) (storyRun, error) {
	seen, err := v.Visit(ctx, browser.Visit{Files: served(ctx, t.w.q.Blobs, t.tree), Entry: analysis.Entry, Steps: s.Steps, NoScripts: still, Limit: maxStory, Picture: !still})
	switch {
	case ctx.Err() != nil:
		return storyRun{}, ctx.Err()
	case err != nil:
		return storyRun{End: trial.Unavailable, Why: t.w.told(err.Error()).Text}, nil
	}
	return storyRun{End: seen.End, Why: t.w.told(seen.Why).Text, Step: seen.Step, Sight: t.w.seenPage(seen.After), picture: seen.After.Picture}, nil
}

// passes reports whether all runs of a story did what it says.
func passes(s event.WorldStory, runs []storyRun) bool {
	for _, r := range runs {
		if r.End != trial.Done || len(unmet(s.Expect, r.Sight)) > 0 {
			return false
		}
	}
	return len(s.Expect) > 0
}

func unmet(expect []event.WorldCondition, s trial.Sight) (list []event.WorldCondition) {
	for _, c := range expect {
		if !trial.Holds(c, s) {
			list = append(list, c)
		}
	}
	return list
}

// result keeps what was seen, and says what it comes to.
func (t *telling) result(ctx context.Context, list []event.WorldStory, why string) (*event.AnalysisResult, error) {
	data, err := json.Marshal(t.runs)
	if err != nil {
		return nil, err
	}
	ref, err := t.w.q.Blobs.Put(ctx, data)
	if err != nil {
		return nil, err
	}
	out := &event.AnalysisResult{Analyser: t.analyser, Fingerprint: t.computer, Runs: &ref, Error: t.w.told(why)}
	if out.Analyser == "" {
		out.Analyser = "none"
	}
	out.Stories, out.Verdict = judgedStories(t.w.set.Kind, list, t.runs)
	for i := range t.runs {
		if out.Stories[i].After, err = t.after(ctx, t.runs[i]); err != nil {
			return nil, err
		}
	}
	return out, t.fit(out)
}

// after is what is shown of the end of a story: its picture, and what an event can hold of the
// rest.
func (t *telling) after(ctx context.Context, r storyRuns) (*event.WorldSight, error) {
	if len(r.Runs) == 0 {
		return nil, nil
	}
	s, err := t.w.kept(ctx, r.Runs[0].Sight, r.Runs[0].picture)
	return &s, err
}

// fit drops what is also in the runs, of stories that passed first, until an event holds the
// rest. Pictures go last.
func (t *telling) fit(out *event.AnalysisResult) error {
	var steps []func() bool
	for _, passed := range []bool{true, false} {
		steps = append(steps, func() bool {
			for i := range out.Stories {
				if s := out.Stories[i].After; s != nil && (out.Stories[i].Verdict == trial.Passed) == passed && (s.Title != "" || s.Accessibility.Text != "" || s.Text.Text != "" || s.Output.Text != "" || s.Errors.Text != "" || len(s.Console)+len(s.Dialogs)+len(s.Requests)+len(s.Files) > 0) {
					*s = event.WorldSight{Exit: s.Exit, Left: s.Left, Picture: s.Picture}
					return true
				}
			}
			return false
		})
	}
	steps = append(steps, func() bool {
		for i := len(out.Stories) - 1; i >= 0; i-- {
			if f := &out.Stories[i].Findings; len(*f) > 1 {
				*f = (*f)[:1]
				return true
			}
		}
		return false
	}, func() bool {
		for i := range out.Stories {
			if out.Stories[i].After != nil {
				out.Stories[i].After = nil
				return true
			}
		}
		return false
	})
	return fit(out, steps...)
}
