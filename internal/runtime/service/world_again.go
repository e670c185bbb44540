package service

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/analysis"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"

	json "github.com/go-json-experiment/json"
)

// Recorded implements audit.Repeater. Tier 1 runs something only where the author has checks.
func (World) Recorded(s *quest.State, call event.Event) (kind, what string) {
	switch b := call.Body.(type) {
	case *event.WorldCall:
		var steps []string
		for _, s := range b.Steps {
			steps = append(steps, stepInWords(s))
		}
		return "try", fmt.Sprintf("attempt %d: %s", b.Attempt, strings.Join(steps, ", "))
	case *event.AnalysisCall:
		m := world.Of(s)
		if m == nil || b.Tier == 1 && len(m.Settings.Checks) == 0 {
			return "", ""
		}
		kind, list := "stories", (&worldBench{set: m.Settings}).told3(b)
		var names []string
		for _, s := range list {
			names = append(names, s.Name)
		}
		if b.Tier == 1 {
			kind, names = "checks", nil
			for _, c := range m.Settings.Checks {
				names = append(names, c.Name)
			}
		}
		return kind, fmt.Sprintf("attempt %d: %s", b.Attempt, strings.Join(names, ", "))
	}
	return "", ""
}

// Again implements audit.Repeater: it runs stories, tries and checks as they were run then.
func (s World) Again(ctx context.Context, x *audit.Place, call, result event.Event, out audit.Executed) (audit.Executed, error) {
	return s.bench(x.Quest).again(ctx, x, call, result, out)
}

func (w *worldBench) again(ctx context.Context, x *audit.Place, call, result event.Event, out audit.Executed) (audit.Executed, error) {
	if why := x.NoComputer(); why != "" {
		return out.Not(why), nil
	}
	switch asked := call.Body.(type) {
	case *event.WorldCall:
		return w.tryAgain(ctx, call.Seq, asked, result.Body.(*event.WorldObserved), out)
	case *event.AnalysisCall:
		then := result.Body.(*event.AnalysisResult)
		if asked.Tier == 1 {
			return w.checksAgain(ctx, call.Seq, asked, then, out)
		}
		return w.storiesAgain(ctx, call.Seq, asked, then, out)
	}
	return out.Not("it runs nothing"), nil
}

// differences are what came out otherwise, and what may excuse it. Each thing that was run has its
// own: what one may be excused by says nothing of another.
type differences struct{ bare, excused, excuses []string }

func (d *differences) add(differs, excuses []string) {
	if len(differs) == 0 {
		return
	}
	if len(excuses) == 0 {
		d.bare = append(d.bare, differs...)
		return
	}
	d.excused, d.excuses = append(d.excused, differs...), append(d.excuses, excuses...)
}

// judged is what they come to: one without an excuse of its own is a difference, but for another
// computer or browser.
func (d *differences) judged(out audit.Executed, elsewhere []string) audit.Executed {
	if len(d.bare) > 0 {
		return out.Judged(append(d.bare, d.excused...), elsewhere)
	}
	return out.Judged(d.excused, append(elsewhere, d.excuses...))
}

// otherPlace excuses differences by where something was run.
func otherPlace(then, now event.Hash) []string {
	if then.IsZero() {
		return []string{"in which computer it ran is not recorded"}
	}
	return audit.OtherComputer(then, now)
}

// storiesAgain runs stories, and compares each with the record of its runs.
func (w *worldBench) storiesAgain(ctx context.Context, seq uint64, call *event.AnalysisCall, then *event.AnalysisResult, out audit.Executed) (audit.Executed, error) {
	if then.Runs == nil {
		return out.Not("nothing was kept of what was seen: " + then.Error.Text), nil
	}
	data, err := w.q.Blob(ctx, *then.Runs)
	if err != nil {
		return out, err
	}
	var recorded []storyRuns
	if err := json.Unmarshal(data, &recorded); err != nil {
		return out.Judged([]string{"what was seen in the runs cannot be read: " + err.Error()}, nil), nil
	}
	list := w.told3(call)
	t := &telling{w: w, seq: seq, tree: call.Tree}
	why, err := t.run(ctx, list)
	switch {
	case err != nil:
		return out, err
	case len(t.runs) < len(list):
		return out.Not("it cannot be run here: " + why), nil
	case len(recorded) > len(list):
		return out.Judged([]string{fmt.Sprintf("the record has runs of %d stories, and there are %d", len(recorded), len(list))}, nil), nil
	}
	var d differences
	for i, now := range t.runs {
		var was storyRuns
		if i < len(recorded) {
			was = recorded[i]
		}
		d.add(now.besides(was))
		if i < len(then.Stories) {
			d.add(now.pictured(then.Stories[i]))
		}
	}
	where := otherPlace(then.Fingerprint, t.computer)
	if w.set.Kind != trial.Program && then.Analyser != t.analyser {
		where = append(where, fmt.Sprintf("different environment: %s, then %s", t.analyser, runtime.AtMost(then.Analyser, 100)))
	}
	return d.judged(out, where), nil
}

// besides says what is not as it was in the runs of a story, and what may excuse that.
func (r storyRuns) besides(then storyRuns) (differs, excuses []string) {
	about := fmt.Sprintf("story %q: ", r.Name)
	if len(then.Runs) == 0 {
		return []string{about + "it has no run in the record"}, []string{"it was not run then"}
	}
	if then.Name != r.Name || len(then.Runs) != len(r.Runs) {
		return []string{fmt.Sprintf("%sthe record has %d runs of %q, where %d belong", about, len(then.Runs), then.Name, len(r.Runs))}, nil
	}
	for i := range r.Runs {
		if what := r.Runs[i].besides(then.Runs[i]); what != "" {
			differs = append(differs, fmt.Sprintf("%srun %d %s", about, i+1, what))
		}
	}
	switch {
	case r.Still != nil && then.Still != nil:
		if what := r.Still.besides(*then.Still); what != "" {
			differs = append(differs, about+"the run without scripts "+what)
		}
	case (r.Still == nil) != (then.Still == nil):
		differs = append(differs, about+"only one of both has a run without scripts")
	}
	all := append(append([]storyRun{}, r.Runs...), then.Runs...)
	for _, s := range []*storyRun{r.Still, then.Still} {
		if s != nil {
			all = append(all, *s)
		}
	}
	for _, run := range all {
		excuses = append(excuses, run.excuse()...)
	}
	if r.differ() {
		excuses = append(excuses, "two runs differ here, too")
	}
	if then.differ() {
		excuses = append(excuses, "two runs differed then")
	}
	return differs, excuses
}

// differ reports whether the runs of a story saw different things.
func (r storyRuns) differ() bool {
	for _, x := range r.Runs[1:] {
		if x.besides(r.Runs[0]) != "" {
			return true
		}
	}
	return false
}

// besides says in what a run is not like another.
func (r storyRun) besides(then storyRun) string {
	switch {
	case r.End != then.End:
		return fmt.Sprintf("ended as %s, not as %s", r.End, runtime.AtMost(then.End, 40))
	case r.Step != then.Step:
		return fmt.Sprintf("ended at step %d, not at step %d", r.Step+1, then.Step+1)
	case r.End == trial.Missing && r.Why != then.Why:
		return "misses something else"
	}
	if what := sightsDiffer(r.Sight, then.Sight); what != "" {
		return "saw something else: " + what
	}
	return ""
}

// excuse is why a run may come out otherwise another time: time is not recorded.
func (r storyRun) excuse() []string {
	switch r.End {
	case trial.Timeout:
		return []string{"one took too long"}
	case trial.Unavailable:
		return []string{"one could not be run: " + r.Why}
	}
	return nil
}

// pictured compares the picture of a story's end with the recorded one.
func (r storyRuns) pictured(then event.StoryVerdict) (differs, excuses []string) {
	if then.After == nil || then.After.Picture == nil || len(r.Runs) == 0 {
		return nil, nil
	}
	if event.RefOf(r.Runs[0].picture) == *then.After.Picture {
		return nil, nil
	}
	for _, run := range r.Runs {
		excuses = append(excuses, run.excuse()...)
		if string(run.picture) != string(r.Runs[0].picture) {
			excuses = append(excuses, "two runs look different here, too")
		}
	}
	return []string{fmt.Sprintf("story %q: the picture of its end differs", r.Name)}, excuses
}

// sightsDiffer names what is not the same in two sights.
func sightsDiffer(now, then trial.Sight) string {
	var parts []string
	for _, p := range []struct {
		name string
		take func(trial.Sight) trial.Sight
	}{
		{"accessibility tree", func(s trial.Sight) trial.Sight { return trial.Sight{Nodes: s.Nodes} }},
		{"text", func(s trial.Sight) trial.Sight { return trial.Sight{Text: s.Text, Title: s.Title} }},
		{"console", func(s trial.Sight) trial.Sight { return trial.Sight{Console: s.Console} }},
		{"dialogs", func(s trial.Sight) trial.Sight { return trial.Sight{Dialogs: s.Dialogs} }},
		{"requests", func(s trial.Sight) trial.Sight { return trial.Sight{Requests: s.Requests} }},
		{"exit code", func(s trial.Sight) trial.Sight { return trial.Sight{Exit: s.Exit} }},
		{"output", func(s trial.Sight) trial.Sight { return trial.Sight{Output: s.Output, Errors: s.Errors} }},
		{"files", func(s trial.Sight) trial.Sight { return trial.Sight{Files: s.Files} }},
	} {
		if !alike(p.take(now), p.take(then)) {
			parts = append(parts, p.name)
		}
	}
	if len(parts) == 0 && !alike(now, then) {
		return "another part of it"
	}
	return strings.Join(parts, ", ")
}

// tryAgain does the steps of a trial. What comes out otherwise is done once more: what differs
// from run to run shows nothing.
func (w *worldBench) tryAgain(ctx context.Context, seq uint64, call *event.WorldCall, then *event.WorldObserved, out audit.Executed) (audit.Executed, error) {
	if then.End == trial.Unavailable {
		return out.Not("it could not be tried then: " + then.Error.Text), nil
	}
	now, err := w.observe(ctx, seq, call)
	if err != nil {
		return out, err
	}
	if now.End == trial.Unavailable {
		return out.Not("it cannot be tried here: " + now.Error.Text), nil
	}
	differs, err := w.observedDiffer(ctx, now, then)
	if err != nil {
		return out, err
	}
	var excuses []string
	if len(differs) > 0 {
		more, err := w.observe(ctx, seq, call)
		if err != nil {
			return out, err
		}
		apart, err := w.observedDiffer(ctx, more, now)
		if err != nil {
			return out, err
		}
		if len(apart) > 0 {
			excuses = append(excuses, "two runs differ here, too")
		}
		if now.End == trial.Timeout || then.End == trial.Timeout {
			excuses = append(excuses, "one took too long")
		}
	}
	return out.Judged(differs, append(otherPlace(then.Fingerprint, now.Fingerprint), excuses...)), nil
}

func (w *worldBench) observedDiffer(ctx context.Context, now, then *event.WorldObserved) (differs []string, err error) {
	if now.End != then.End {
		differs = append(differs, fmt.Sprintf("it ended as %s, not as %s", now.End, runtime.AtMost(then.End, 40)))
	}
	for _, s := range []struct {
		name      string
		now, then event.WorldSight
	}{{"before", now.Before, then.Before}, {"after", now.After, then.After}} {
		a, err := recalled(ctx, w.q.Runtime, s.now)
		if err != nil {
			return nil, err
		}
		b, err := recalled(ctx, w.q.Runtime, s.then)
		if err != nil {
			return nil, err
		}
		if what := sightsDiffer(a, b); what != "" {
			differs = append(differs, fmt.Sprintf("what is seen %s differs: %s", s.name, what))
		}
		if p, q := s.now.Picture, s.then.Picture; (p == nil) != (q == nil) || p != nil && *p != *q {
			differs = append(differs, fmt.Sprintf("the picture %s differs", s.name))
		}
	}
	return differs, nil
}

// checksAgain runs the author's commands, and compares what is found by each.
func (w *worldBench) checksAgain(ctx context.Context, seq uint64, call *event.AnalysisCall, then *event.AnalysisResult, out audit.Executed) (audit.Executed, error) {
	if then.Text == nil {
		return out.Not("nothing was kept of what was found: " + then.Error.Text), nil
	}
	now, in, err := w.commands(ctx, seq, call)
	if err != nil {
		return out, err
	}
	d := checksDiffer(now, then.Findings, now)
	if len(d.bare) > 0 {
		more, _, err := w.commands(ctx, seq, call)
		if err != nil {
			return out, err
		}
		d = checksDiffer(now, then.Findings, more)
	}
	return d.judged(out, otherPlace(then.Fingerprint, in)), nil
}

// checksDiffer compares what commands found by the names of their checks. more is what they found
// once more: what differs from run to run shows nothing.
func checksDiffer(now, then, more []event.WorldFinding) (d differences) {
	a, b, c := byCheck(now), byCheck(then), byCheck(more)
	var names []string
	for _, f := range append(append([]event.WorldFinding{}, now...), then...) {
		if strings.HasPrefix(f.Check, checked) {
			names = append(names, f.Check)
		}
	}
	done := map[string]bool{}
	for _, name := range names {
		if done[name] || a[name] == b[name] {
			continue
		}
		done[name] = true
		differs := []string{fmt.Sprintf("%s says %s, not %s", name, saying(a[name]), saying(b[name]))}
		if a[name].Kind == b[name].Kind {
			differs = []string{name + " prints something else"}
		}
		var excuses []string
		for _, f := range []event.WorldFinding{a[name], b[name]} {
			if f.Kind == analysis.Unavailable {
				excuses = append(excuses, "one could not be run: "+f.Observed)
			}
		}
		if a[name] != c[name] {
			excuses = append(excuses, "two runs differ here, too")
		}
		d.add(differs, excuses)
	}
	return d
}

func byCheck(list []event.WorldFinding) map[string]event.WorldFinding {
	out := map[string]event.WorldFinding{}
	for _, f := range list {
		out[f.Check] = f
	}
	return out
}

// saying is what a check says: nothing where it has found nothing.
func saying(f event.WorldFinding) string {
	if f.Kind == "" {
		return trial.Passed
	}
	return f.Kind
}
