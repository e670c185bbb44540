package paper

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// The files that the lab itself puts into a paper's folder, on disk and in the homes of
// those who read it. Attachments may not have their names.
const (
	FilePaper        = "publication.md"
	FileReviews      = "reviews.md"
	FileOld          = "revised.md"
	FileOldReviews   = "revised-reviews.md"
	FileDiff         = "changes.diff"
	FileReproduction = "reproduction.txt"
	FileSecondRun    = "reproduction-2.txt"
)

// Reserved reports whether a name is one of the lab's own, however it is written: some
// disks do not tell capitals from small letters.
func Reserved(name string) bool {
	return slices.Contains([]string{FilePaper, FileReviews, FileOld, FileOldReviews, FileDiff, FileReproduction, FileSecondRun}, strings.ToLower(name))
}

// ReviewTexts are the reviews of a decided paper, one after another, as its reviews.md
// has them. There are none before: reviewers do not see each other's.
// Each review is a quotation: a heading in its text is not that of another.
func (p *Paper) ReviewTexts() (out []agent.Passage) {
	if p.Decided == 0 || len(p.Reviews) == 0 {
		return nil
	}
	for i, r := range p.Reviews {
		head := fmt.Sprintf("# Review %d of %d: %s by %s\n\n", i+1, len(p.Reviews), r.Grade, r.Reviewer)
		if i > 0 {
			head = "\n\n" + head
		}
		out = append(out, agent.Passage{Text: event.Text{Text: head + r.rubric()}}, agent.Passage{Text: r.Content, Quoted: true})
	}
	return append(out, agent.Passage{Text: event.Text{Text: "\n"}})
}

// rubric is what a review rests on, as a list before its text.
func (r *Review) rubric() string {
	var b strings.Builder
	if r.Confidence > 0 {
		fmt.Fprintf(&b, "- confidence: %d of 5\n", r.Confidence)
	}
	for _, x := range r.Rubric() {
		fmt.Fprintf(&b, "- %s: %s\n", x[0], Quote(x[1]))
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

// Rubric is what a review says besides its text, by name, without what it leaves out.
func (r *Review) Rubric() (out [][2]string) {
	for _, x := range [][2]string{{"claim", r.Claim}, {"checked, ran", r.Ran}, {"tried against", r.Counterexample}} {
		if x[1] != "" {
			out = append(out, x)
		}
	}
	return out
}

// Output is what a run of a paper's entry point printed, and the file that has it.
type Output struct {
	File string
	Ref  event.Ref
}

// Outputs are what the runs of an entry point printed: one, or two that differ.
func Outputs(r *event.ReproductionResult) (out []Output) {
	if r == nil {
		return nil
	}
	if r.Output != nil {
		out = append(out, Output{FileReproduction, *r.Output})
	}
	if r.Second != nil {
		out = append(out, Output{FileSecondRun, *r.Second})
	}
	return out
}
