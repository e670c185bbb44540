package service

import (
	"fmt"
	"strings"

	"lyceum/internal/analysis"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/society/world/trial"
)

// judgedStories are the verdicts of stories, and that of their tier: a function of what was
// recorded of their runs. A story without a run could not be told.
func judgedStories(kind string, list []event.WorldStory, runs []storyRuns) ([]event.StoryVerdict, string) {
	out := make([]event.StoryVerdict, len(list))
	for i, s := range list {
		var r storyRuns
		if i < len(runs) {
			r = runs[i]
		}
		out[i] = judgedStory(kind, s, r)
	}
	return out, trial.Tier(out)
}

func judgedStory(kind string, s event.WorldStory, r storyRuns) event.StoryVerdict {
	out := event.StoryVerdict{Name: s.Name, Conditions: int64(len(s.Expect))}
	var runs []trial.Run
	for _, x := range r.Runs {
		runs = append(runs, trial.Run{End: x.End, Held: trial.Held(s.Expect, x.Sight)})
	}
	var still *trial.Run
	if r.Still != nil {
		still = &trial.Run{End: r.Still.End, Held: trial.Held(s.Expect, r.Still.Sight)}
	}
	out.Verdict = trial.Verdict(kind, len(s.Expect), runs, still)
	if len(runs) == 0 {
		return out
	}
	first := r.Runs[0]
	if first.End == trial.Done {
		out.Met = out.Conditions - int64(len(unmet(s.Expect, first.Sight)))
	}
	out.Findings = storyFindings(s, out.Verdict, first)
	return out
}

// maxStoryFindings is how many conditions of one story are told.
const maxStoryFindings = 5

// storyFindings is what a story has to say: what was expected where, and what was seen.
func storyFindings(s event.WorldStory, verdict string, first storyRun) (out []event.WorldFinding) {
	add := func(expected, observed string) {
		kind := analysis.Failed
		if verdict == trial.Unavailable {
			kind = analysis.Unavailable
		}
		out = append(out, event.WorldFinding{Check: s.Name, Kind: kind, Required: true, Expected: plain.Brief(expected, 200), Observed: plain.Brief(observed, 200)})
	}
	switch verdict {
	case trial.Passed:
	case trial.Assertion:
		for i, c := range unmet(s.Expect, first.Sight) {
			if i < maxStoryFindings {
				add(inWords(c), observedOf(c, first.Sight))
			}
		}
	case trial.Vacuous:
		if len(s.Expect) == 0 {
			add("a condition", "the story expects nothing")
			break
		}
		add("a condition that needs the page's scripts", "the story passes without them as well")
	case trial.Flaky:
		add("the same in two runs", "two runs that differ")
	default:
		at := "the page"
		if first.Step < len(s.Steps) {
			at = fmt.Sprintf("step %d, %s", first.Step+1, stepInWords(s.Steps[first.Step]))
		}
		add(at, strings.TrimSuffix(first.End+": "+first.Why, ": "))
	}
	return out
}

func stepInWords(s event.WorldStep) string {
	return strings.TrimSpace(strings.Join([]string{s.Do, placeInWords(s.At), strings.Join(s.Args, " "), s.Text}, " "))
}

func placeInWords(at event.WorldPlace) string {
	switch {
	case at.Role == "" && at.Name == "":
		return ""
	case at.Name == "":
		return at.Role
	case at.Role == "":
		return fmt.Sprintf("%q", at.Name)
	}
	return fmt.Sprintf("%s %q", at.Role, at.Name)
}

// inWords is a condition as a maker reads it.
func inWords(c event.WorldCondition) string {
	words := []string{c.Kind}
	if p := placeInWords(c.At); p != "" {
		words = append(words, "of "+p)
	}
	if c.Path != "" {
		words = append(words, c.Path)
	}
	switch {
	case c.Kind == "count" || c.Kind == "exit":
		words = append(words, fmt.Sprint(c.Number))
	case c.How != "" || c.Text != "":
		how := c.How
		if how == "" {
			how = "is"
		}
		words = append(words, how, fmt.Sprintf("%q", c.Text))
	}
	out := strings.Join(words, " ")
	if c.Not {
		out = "not: " + out
	}
	return out
}

// observedOf is what was seen where a condition looks.
func observedOf(c event.WorldCondition, s trial.Sight) string {
	switch c.Kind {
	case "exit":
		return fmt.Sprintf("exit %d", s.Exit)
	case "output":
		return fmt.Sprintf("%q", plain.Cut(s.Output, 200))
	case "error":
		return fmt.Sprintf("%q", plain.Cut(s.Errors, 200))
	case "file":
		return fileSeen(c, s)
	case "title":
		return fmt.Sprintf("%q", s.Title)
	case "console":
		return linesSeen(s.Console)
	case "dialog":
		return linesSeen(s.Dialogs)
	case "request":
		var list []string
		for _, r := range s.Requests {
			list = append(list, r.URL)
		}
		return linesSeen(list)
	}
	if c.At == (event.WorldPlace{}) {
		return fmt.Sprintf("%q", plain.Cut(s.Text, 200))
	}
	return nodesSeen(c.At, s.Nodes)
}

func fileSeen(c event.WorldCondition, s trial.Sight) string {
	for _, f := range s.Files {
		if f.Path == c.Path {
			return fmt.Sprintf("%q", plain.Cut(f.Content, 200))
		}
	}
	return "no such file"
}

func linesSeen(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%q", list[:min(len(list), 3)])
}

// nodesSeen are the nodes at a place, with what is inside them.
func nodesSeen(at event.WorldPlace, nodes []trial.Node) string {
	var found []string
	for i, n := range nodes {
		if at.Role != "" && at.Role != n.Role || at.Name != "" && folded(at.Name) != folded(n.Name) {
			continue
		}
		depth := n.Depth
		part := []trial.Node{n}
		for _, in := range nodes[i+1:] {
			if in.Depth <= depth || len(part) > 4 {
				break
			}
			part = append(part, in)
		}
		found = append(found, strings.ReplaceAll(strings.TrimSpace(trial.Lines(part)), "\n", ", "))
		if len(found) == 3 {
			break
		}
	}
	if len(found) == 0 {
		return "nothing at that place"
	}
	return strings.Join(found, "; ")
}
