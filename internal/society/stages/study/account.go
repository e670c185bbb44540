package study

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
)

// Contrast is how the metrics of a result stand to those of another, by name, in their order.
func Contrast(r, to *Result) (out []Standing) {
	for i := range r.Metrics {
		m := &r.Metrics[i]
		j := slices.IndexFunc(to.Metrics, func(x event.Metric) bool { return x.Name == m.Name })
		if j < 0 {
			out = append(out, Standing{Metric: m.Name, Outcome: NotComparable, Value: m.Value, Why: fmt.Sprintf("%s has no such metric", to.ID)})
			continue
		}
		out = append(out, Compare(m, &to.Metrics[j]))
	}
	return out
}

// chief is how the first metric of a result, which is what it is about, stands to another's.
func chief(r, to *Result) Standing { return Contrast(r, to)[0] }

// Beats reports whether a result beats another: its first metric is better, and both are
// verified. Otherwise why says what is in the way.
func Beats(r, to *Result) (yes bool, why string) {
	switch x := chief(r, to); {
	case x.Outcome != Better:
		return false, x.Line()
	case r.Verdict != Verified:
		return false, fmt.Sprintf("%s looks better, and is %s", r.ID, tellVerdict(r))
	case to.Verdict != Verified:
		return false, fmt.Sprintf("%s looks better, and %s is %s", r.ID, to.ID, tellVerdict(to))
	}
	return true, ""
}

func tellVerdict(r *Result) string {
	if r.Verdict == "" {
		return "not run yet"
	}
	return r.Verdict
}

// Best is the best of the verified main results whose first metric can be compared with that of
// r, which is not among them; nil if there is none.
func (s *Study) Best(r *Result) (best *Result) {
	for _, x := range s.Results {
		if x == r || x.Kind != ResultMain || x.Verdict != Verified || chief(x, r).Outcome == NotComparable {
			continue
		}
		if best == nil || chief(x, best).Outcome == Better {
			best = x
		}
	}
	return best
}

// Against are lines on how a result stands to the baseline, and to the best one before.
func (s *Study) Against(r *Result) (out []string) {
	base := s.Baseline()
	switch {
	case base == r:
	case base == nil:
		out = append(out, "There is no baseline to compare it with.")
	default:
		out = append(out, contrast("the baseline", r, base)...)
	}
	if best := s.Best(r); best != nil && best != base {
		out = append(out, contrast("the best", r, best)...)
	}
	return out
}

func contrast(what string, r, to *Result) []string {
	yes, why := Beats(r, to)
	head := fmt.Sprintf("%s beats %s, %s: both were verified.", r.ID, what, to.ID)
	if !yes {
		head = fmt.Sprintf("%s does not beat %s, %s: %s.", r.ID, what, to.ID, why)
	}
	out := []string{head}
	for _, x := range Contrast(r, to) {
		out = append(out, "- "+x.Line())
	}
	return out
}

// CompareBranches are lines on how the result of a branch stands to that of another.
func (s *Study) CompareBranches(branch, to string) []string {
	r, x := s.resultOf(branch), s.resultOf(to)
	switch {
	case r == nil:
		return []string{fmt.Sprintf("No metrics: %s has no result.", branch)}
	case x == nil:
		return []string{fmt.Sprintf("No metrics to compare with: %s has no result.", to)}
	}
	return contrast("the result of "+to, r, x)
}

// Line is a result as it is shown, with its verdict.
func (r *Result) Line() string {
	var figures []string
	for i, m := range r.Metrics {
		if i == 4 {
			figures = append(figures, fmt.Sprintf("%d more", len(r.Metrics)-i))
			break
		}
		figures = append(figures, strings.TrimSpace(m.Name+" "+m.Value+" "+m.Unit))
	}
	line := fmt.Sprintf("%s, %s, %s: %s: %s", r.ID, r.Kind, tellVerdict(r), quote(r.Title, 100), strings.Join(figures, ", "))
	if r.Branch != "" {
		line += ", in " + r.Branch
	}
	if r.From != nil {
		line += fmt.Sprintf(", from %s of %s", r.From.Result, quote(r.From.Quest, 64))
	}
	if r.Accepted != 0 {
		line += ", an accepted baseline"
	}
	return line
}

// Line is a campaign as it is shown.
func (c *Analysis) Line() string {
	done := 0
	for _, x := range c.Slices {
		if x.Result != "" {
			done++
		}
	}
	return fmt.Sprintf("%s of %s: %d of %d slices recorded", c.ID, c.Result, done, len(c.Slices))
}

// maxLatest is how many things the prompt tells of.
const maxLatest = 8

// Latest are lines on what was made last: artifacts, then results, the newest first.
func (s *Study) Latest() (out []string) {
	for i, n := len(s.Artifacts)-1, 0; i >= 0 && n < maxLatest; i, n = i-1, n+1 {
		out = append(out, s.Artifacts[i].Line())
	}
	for i, n := len(s.Results)-1, 0; i >= 0 && n < maxLatest; i, n = i-1, n+1 {
		out = append(out, s.Results[i].Line())
	}
	for i, n := len(s.Campaigns)-1, 0; i >= 0 && n < 2; i, n = i-1, n+1 {
		out = append(out, s.Campaigns[i].Line())
	}
	return append(out, s.paperLines(false)...)
}

// maxAccount is how many lines each part of an account has.
const maxAccount = 20

// Account is what the study has come to so far, in Markdown: a function of the fold.
func (s *Study) Account() string {
	var b strings.Builder
	fmt.Fprintf(&b, "The study is at %s.", s.Anchor)
	part := func(head string, lines []string) {
		if len(lines) == 0 {
			return
		}
		b.WriteString("\n\n## " + head + "\n")
		for i, l := range lines {
			if i == maxAccount {
				fmt.Fprintf(&b, "\n- and %d more", len(lines)-i)
				return
			}
			b.WriteString("\n- " + l)
		}
	}
	switch base := s.Baseline(); {
	case base != nil:
		part("Baseline", []string{base.Line()})
	case s.isWaived(BaselineFirst):
		part("Baseline", []string{"waived"})
	}
	part("Ideas", s.lines(KindIdea))
	var results, slices []string
	for _, r := range s.Results {
		line := r.Line()
		if r.Verdict != Verified && r.Why != "" {
			line += " (" + quote(r.Why, 200) + ")"
		}
		if r.Kind == ResultSlice {
			slices = append(slices, line)
		} else {
			results = append(results, line)
		}
	}
	part("Results", results)
	part("Slices", slices)
	part("Decisions", s.lines(KindDecision))
	part("Reports", s.lines(KindReport))
	part("Paper", s.paperLines(true))
	return b.String()
}

// lines are those of the artifacts of a kind that hold.
func (s *Study) lines(kind string) (out []string) {
	for _, a := range s.Artifacts {
		if a.Kind == kind && a.Replaced == "" {
			out = append(out, a.Line())
		}
	}
	return out
}
