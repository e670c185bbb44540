package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
)

// stated is what a published paper claims: its values, each in one form for all ways to write
// it, as the verdict of a lab compares them.
type stated struct {
	Ref    string
	Values []string
	Named  bool
}

// conclude implements Society.
func (laboratory) conclude(v *Views, s *quest.State) *Conclusion {
	lib := lab.Library(s)
	best := lib.Best()
	if best == nil {
		return nil
	}
	trail := v.trail()
	c := newConclusion()
	c.Counts, c.History = "papers", thinned(trail.History)
	same, others := trail.split(best)
	c.Others = otherValues(lib, others)
	c.Said = agreed(int64(len(same)), c.Others, others, int64(len(lib.Votes)), best.Votes, int64(len(s.Agents)))
	carriers := []*paper.Paper{}
	for _, ref := range same {
		carriers = append(carriers, lib.Paper(ref))
	}
	c.Printed = shownBy(carriers)
	slices.SortStableFunc(carriers, func(a, b *paper.Paper) int {
		return cmp.Or(-cmp.Compare(rankOf(a, best), rankOf(b, best)), cmp.Compare(b.Votes, a.Votes), cmp.Compare(b.Held(), a.Held()), cmp.Compare(a.Seq, b.Seq))
	})
	for _, p := range carriers[:min(len(carriers), maxCarriers)] {
		c.Carriers = append(c.Carriers, paperOf(s, p))
	}
	c.More = int64(len(carriers) - len(c.Carriers))
	return c
}

// rankOf puts the best paper before all others.
func rankOf(p, best *paper.Paper) int {
	if p == best {
		return 1
	}
	return 0
}

// noted keeps what a paper claims that was just published.
func (p *paperTrail) noted(s *quest.State, ref string) {
	if x := lab.Library(s).Paper(ref); x != nil && x.Status == event.Published {
		p.Said = append(p.Said, stated{Ref: ref, Values: x.Values(), Named: x.Named})
	}
}

// turned notes how the answer stands after an event.
func (p *paperTrail) turned(e event.Event, s *quest.State) {
	next := Turn{Seq: e.Seq, Time: e.Time, PaperCounts: *CountPapers(s)}
	if best := lab.Library(s).Best(); best != nil {
		same, others := p.split(best)
		next.Value, next.Same, next.Votes = valueOf(best), int64(len(same)), best.Votes
		next.Of = next.Same
		for _, o := range others {
			next.Of += int64(len(o))
		}
	}
	p.History = record(p.History, next)
}

// split tells the published papers that say what the best one does, itself among them, from
// those that name other values, which stand together where they name the same.
func (p *paperTrail) split(best *paper.Paper) (same []string, others [][]string) {
	same = []string{best.Ref}
	i := slices.IndexFunc(p.Said, func(x stated) bool { return x.Ref == best.Ref })
	if i < 0 || len(p.Said[i].Values) == 0 {
		return same, nil
	}
	values, place := p.Said[i].Values, map[string]int{}
	for _, x := range p.Said {
		lacks := slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(x.Values, v) })
		switch {
		case x.Ref == best.Ref:
		case !lacks:
			same = append(same, x.Ref)
		case x.Named == best.Named && len(x.Values) > 0:
			key := strings.Join(x.Values, "\n")
			if _, ok := place[key]; !ok {
				place[key], others = len(others), append(others, nil)
			}
			others[place[key]] = append(others[place[key]], x.Ref)
		}
	}
	slices.SortStableFunc(others, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	return same, others
}

// valueOf is what a paper claims, on a line: the same as in a verdict.
func valueOf(p *paper.Paper) string {
	if p.Named {
		return quest.InShort(strings.Join(p.Claims, ", "))
	}
	return quest.InShort(p.Title)
}

func otherValues(lib *paper.Library, others [][]string) []OtherValue {
	out := []OtherValue{}
	for _, refs := range others[:min(len(others), maxOthers)] {
		out = append(out, OtherValue{Value: valueOf(lib.Paper(refs[0])), Papers: int64(len(refs)), Ref: refs[0]})
	}
	return out
}

// agreed says who agrees: 39 of 46 papers say so, 7 say 12161; 7 of 24 voted, 5 for it.
func agreed(same int64, listed []OtherValue, others [][]string, voted, votes, voters int64) string {
	all := same
	for _, o := range others {
		all += int64(len(o))
	}
	text := fmt.Sprintf("%d of %s so", same, Several(all, "paper says", "papers say"))
	rest := all - same
	for _, o := range listed[:min(len(listed), 2)] {
		text += fmt.Sprintf(", %s %s", sayIt(o.Papers), o.Value)
		rest -= o.Papers
	}
	if rest > 0 {
		text += fmt.Sprintf(", %s something else", sayIt(rest))
	}
	text += fmt.Sprintf("; %d of %d voted", voted, voters)
	if voted > 0 && votes == voted {
		text += " for it"
	} else if voted > 0 {
		text += fmt.Sprintf(", %d for it", votes)
	}
	return text
}

func sayIt(n int64) string {
	if n == 1 {
		return "1 says"
	}
	return fmt.Sprintf("%d say", n)
}

// shownBy says of papers what their programs printed.
func shownBy(papers []*paper.Paper) string {
	var holds, lacks, none int64
	for _, p := range papers {
		switch {
		case p.Held() > 0:
			holds++
		case p.Held() < 0:
			lacks++
		default:
			none++
		}
	}
	var parts []string
	if holds > 0 {
		parts = append(parts, Several(holds, "program prints it", "programs print it"))
	}
	if lacks > 0 {
		parts = append(parts, Several(lacks, "program does not", "programs do not"))
	}
	if len(parts) > 0 && none > 0 {
		parts = append(parts, Several(none, "paper has none", "papers have none"))
	}
	if len(parts) == 0 {
		return "no program shows it"
	}
	return strings.Join(parts, ", ")
}
