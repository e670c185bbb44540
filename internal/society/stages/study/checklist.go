package study

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
)

// What a paper must have, by the names that a person waives it by. Review is no row of the
// checklist: it is over when a reviewer has nothing left to say.
const (
	ItemEvidence   = "evidence"
	ItemBaselines  = "baselines"
	ItemLosers     = "losers"
	ItemLimits     = "limits"
	ItemReferences = "references"
	ItemFigures    = "figures"
	ItemReview     = "review"
)

// Items are all of them.
var Items = []string{ItemEvidence, ItemBaselines, ItemLosers, ItemLimits, ItemReferences, ItemFigures, ItemReview}

// Bounds of what is found.
const (
	maxFindings = 8
	maxFinding  = 160
)

// Checklist is what a paper that was made has of what it must have: a function of the fold and
// of what making it came to.
func (s *Study) Checklist(b *Bundle) []event.ChecklistRow {
	r := b.Result
	return []event.ChecklistRow{
		row(ItemEvidence, s.unfounded(b)),
		row(ItemBaselines, s.unnamedBaseline(r)),
		row(ItemLosers, s.untold(r)),
		row(ItemLimits, unlimited(r)),
		row(ItemReferences, unknown(r)),
		row(ItemFigures, unmade(r)),
	}
}

// row is an item that holds if nothing is found. What is found stands in strangers' words.
func row(item string, findings []string) event.ChecklistRow {
	out := event.ChecklistRow{Item: item, Holds: len(findings) == 0}
	for i, f := range findings {
		if i == maxFindings-1 && len(findings) > maxFindings {
			out.Findings = append(out.Findings, fmt.Sprintf("and %d more", len(findings)-i))
			break
		}
		out.Findings = append(out.Findings, event.Shorten(f, maxFinding))
	}
	return out
}

// unfounded are the claims that rest on results which were not verified, and the numbers that
// follow from no cited output, or from that of such a result.
func (s *Study) unfounded(b *Bundle) (out []string) {
	for _, c := range s.claims(b.Outline) {
		for _, id := range c.Results {
			if r := s.Result(id); r.Verdict != Verified {
				out = append(out, fmt.Sprintf("the claim %s rests on %s, which is %s", c.ID, id, tellVerdict(r)))
			}
		}
	}
	for _, n := range b.Result.Numbers {
		switch r := s.Result(n.Result); {
		case r == nil:
			out = append(out, fmt.Sprintf("line %d: %s follows from no output that the paper rests on", n.Line, quote(n.Text, 60)))
		case r.Verdict != Verified && !slices.Contains(b.Result.Named, r.ID):
			out = append(out, fmt.Sprintf("line %d: %s follows from %s, which is %s and not named", n.Line, quote(n.Text, 60), r.ID, tellVerdict(r)))
		}
	}
	return out
}

// claims are those of an outline.
func (s *Study) claims(outline string) []event.OutlineClaim {
	if o := byID(s.Outlines, outline, func(o *Outline) string { return o.ID }); o != nil {
		return o.Claims
	}
	return nil
}

// unnamedBaseline finds that the text does not name what everything is compared with.
func (s *Study) unnamedBaseline(r *event.BundleResult) []string {
	switch base := s.Baseline(); {
	case base == nil && s.isWaived(BaselineFirst):
		return nil
	case base == nil:
		return []string{"there is no baseline, and nobody has waived it"}
	case !slices.Contains(r.Named, base.ID):
		return []string{fmt.Sprintf("the baseline, %s (%s), is not named", base.ID, quote(base.Title, 80))}
	}
	return nil
}

// Losers are the main results that did not win: they do not beat the baseline, or another one
// beats them.
func (s *Study) Losers() (out []*Result) {
	base := s.Baseline()
	for _, r := range s.Results {
		if r.Kind != ResultMain {
			continue
		}
		lost := false
		if base != nil && base != r {
			yes, _ := Beats(r, base)
			lost = !yes
		}
		if best := s.Best(r); best != nil {
			yes, _ := Beats(best, r)
			lost = lost || yes
		}
		if lost || r.Verdict != Verified {
			out = append(out, r)
		}
	}
	return out
}

// untold are the results that lost, and that the text does not name.
func (s *Study) untold(r *event.BundleResult) (out []string) {
	for _, l := range s.Losers() {
		if !slices.Contains(r.Named, l.ID) {
			out = append(out, fmt.Sprintf("%s (%s), %s, lost and is not told", l.ID, quote(l.Title, 80), tellVerdict(l)))
		}
	}
	return out
}

// limitWords are what a heading about limits has in it, in the languages that we know it in.
var limitWords = []string{"limit", "límit", "grenze", "einschränk", "beperking", "begräns", "begrens", "ogranicz", "ограничен", "局限", "限界", "한계"}

// unlimited finds that no part of the text is about its limits.
func unlimited(r *event.BundleResult) []string {
	about := func(heading string) bool {
		heading = strings.ToLower(heading)
		return slices.ContainsFunc(limitWords, func(w string) bool { return strings.Contains(heading, w) })
	}
	if slices.ContainsFunc(r.Sections, about) {
		return nil
	}
	return []string{"no section with words in it is about limits: give one that heading"}
}

// unknown are the references that nobody knows.
func unknown(r *event.BundleResult) (out []string) {
	for _, key := range r.Unknown {
		out = append(out, fmt.Sprintf("the reference %s is neither in the bibliography nor a card", quote(key, 80)))
	}
	return out
}

// unmade are the figures that were not made twice to the byte.
func unmade(r *event.BundleResult) (out []string) {
	for _, f := range r.Figures {
		if f.Verdict != FigureSame {
			out = append(out, fmt.Sprintf("the figure %s: %s: %s", f.ID, f.Verdict, quote(f.Why, 100)))
		}
	}
	return out
}

// Unmet are the rows of a paper that do not hold, and that no person has waived.
func (s *Study) Unmet(p *Paper) (out []event.ChecklistRow) {
	for _, r := range p.Checklist {
		if !r.Holds && !s.isWaived(r.Item) {
			out = append(out, r)
		}
	}
	return out
}

// checked reports whether the paper holds: each row does or was waived, and its review is over.
func (s *Study) checked() bool {
	p := s.Paper()
	return p != nil && len(s.Unmet(p)) == 0 && s.reviewOver()
}

// WhyNot are lines on what keeps the paper from being done, none if nothing does.
func (s *Study) WhyNot() (out []string) {
	p := s.Paper()
	if p == nil {
		return nil
	}
	for _, r := range s.Unmet(p) {
		out = append(out, fmt.Sprintf("%s does not hold: %s", r.Item, strings.Join(r.Findings, "; ")))
	}
	if s.reviewOver() {
		return out
	}
	switch open := s.OpenPoints(); {
	case s.Unreviewed == p.Seq:
		out = append(out, "its review came to no end: submit it again, or have a person waive review")
	case len(open) > 0:
		out = append(out, fmt.Sprintf("%d points of its review are open", len(open)))
	default:
		out = append(out, "it has not been reviewed")
	}
	return out
}
