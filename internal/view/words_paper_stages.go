package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// studyPaper is the words for what a study writes, and for what a reviewer says of it.
func studyPaper() dictionary {
	return dictionary{
		word("paper", func(t *Teller, e event.Event, b *event.OutlineSubmitted) Words {
			w := Words{By: e.Actor, Text: fmt.Sprintf("submits %s: %s, with %s", t.cut(b.ID), t.cut(b.Title), Several(int64(len(b.Claims)), "claim")), Weight: News}
			return w.resting(t, b.Because)
		}),
		word("paper", func(t *Teller, e event.Event, b *event.BundleCall) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("has %s made of %s, with %s", t.cut(b.Paper), t.cut(b.Branch), Several(int64(len(b.Figures)), "figure")), Weight: Detail}
		}),
		word("paper", func(t *Teller, _ event.Event, b *event.BundleResult) Words {
			w := came(t, "the paper is made: "+Several(int64(len(b.Files)), "file"), "the paper is not made", b.Error)
			for _, f := range b.Figures[:min(len(b.Figures), 3)] {
				w.Notes = append(w.Notes, t.cut(f.ID)+" "+t.cut(f.Verdict))
			}
			return w
		}),
		always(Published, word("paper", func(t *Teller, e event.Event, b *event.PaperSubmitted) Words {
			w := Words{By: e.Actor, Text: fmt.Sprintf("submits %s, revision %d: %s", t.cut(b.ID), b.Revision, t.cut(b.Title)), Weight: News}
			var fails []string
			for _, r := range b.Checklist {
				if !r.Holds {
					fails = append(fails, r.Item)
				}
			}
			if len(fails) > 0 {
				w.Notes = append(w.Notes, "does not hold: "+t.cut(strings.Join(fails, ", ")))
			}
			return w
		})),
		word("review", func(t *Teller, e event.Event, b *event.ReviewBegun) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("is given %s, revision %d, to review, round %d", t.cut(b.Paper), b.Revision, b.Round), Weight: News}
		}),
		inFull(word("review", func(t *Teller, e event.Event, b *event.ReviewGiven) Words {
			if b.Error != "" {
				return Words{By: e.Actor, Text: "comes to no review: " + t.cut(b.Error), Notes: []string{"failed"}, Weight: News}
			}
			return Words{By: e.Actor, Text: fmt.Sprintf("gives %s in round %d: %s", Several(int64(len(b.Points)), "point"), b.Round, t.cut(b.Summary)), Notes: []string{"of " + t.cut(b.Source)}, Weight: News}
		}), reviewSpeech),
		word("review", func(t *Teller, e event.Event, b *event.ReportCall) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("has %s compared with %s", Several(b.Points, "point"), t.cut(b.Source)), Weight: Detail}
		}),
		word("review", func(t *Teller, _ event.Event, b *event.ReportResult) Words {
			w := came(t, fmt.Sprintf("the file lists %s", Several(b.Items, "point")), "the file is not read", b.Error)
			if n := int64(len(b.Absent)); n > 0 {
				w.Notes = append(w.Notes, Several(n, "quote")+" not in it")
			}
			if n := int64(len(b.Left)) + b.More; n > 0 {
				w.Notes = append(w.Notes, Several(n, "point")+" left out")
			}
			return w
		}),
		word("review", func(t *Teller, e event.Event, b *event.PointAnswered) Words {
			w := Words{By: e.Actor, Text: because(fmt.Sprintf("point %d: %s", b.Point, t.cut(b.How)), t.cut(b.Text)), Weight: News}
			return w.resting(t, b.Because)
		}),
	}
}
