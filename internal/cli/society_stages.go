package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages"
)

// studies is how a study is shown: by what it has come to.
type studies struct{ alone }

// studyJSON is what a study has come to: where it stands, what is compared with, its results with
// their verdicts, and its artifacts.
type studyJSON struct {
	Anchor    string         `json:"anchor"`
	Branch    string         `json:"branch"`
	Baseline  string         `json:"baseline,omitempty"`
	Results   []resultJSON   `json:"results"`
	Artifacts []artifactJSON `json:"artifacts"`
}

// resultJSON is a result. Verdict is verified, differs, failed or unchecked, and Why says why;
// there is none until its program was run.
type resultJSON struct {
	ID      string         `json:"id"`
	Kind    string         `json:"kind"`
	Title   string         `json:"title"`
	Branch  string         `json:"branch,omitempty"`
	Verdict string         `json:"verdict,omitempty"`
	Why     string         `json:"why,omitempty"`
	Metrics []event.Metric `json:"metrics"`
}

type artifactJSON struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Title      string   `json:"title"`
	Verdict    string   `json:"verdict,omitempty"`
	Because    []string `json:"because,omitempty"`
	ReplacedBy string   `json:"replaced_by,omitempty"`
}

// describe adds what the study has come to.
func (studies) describe(_ context.Context, _ *app, q *questJSON, s *quest.State) error {
	m := stages.Of(s)
	if m == nil {
		return nil
	}
	q.Study = &studyJSON{Anchor: m.Study.Anchor, Branch: m.Study.Current, Results: []resultJSON{}, Artifacts: []artifactJSON{}}
	if b := m.Study.Baseline(); b != nil {
		q.Study.Baseline = b.ID
	}
	for _, r := range m.Study.Results {
		q.Study.Results = append(q.Study.Results, resultJSON{r.ID, r.Kind, r.Title, r.Branch, r.Verdict, r.Why, r.Metrics})
	}
	for _, x := range m.Study.Artifacts {
		q.Study.Artifacts = append(q.Study.Artifacts, artifactJSON{x.ID, x.Kind, x.Title, x.Verdict, x.Because, x.Replaced})
	}
	return nil
}

// result says where the study stands and what it has come to, the answer first.
func (x studies) result(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	if err := x.alone.result(ctx, a, q, s); err != nil {
		return err
	}
	return a.printStudy(q.Study)
}

// ended says the answer, and the results.
func (x studies) ended(ctx context.Context, a *app, q *questJSON, s *quest.State) error {
	if err := x.alone.ended(ctx, a, q, s); err != nil {
		return err
	}
	return a.printStudy(q.Study)
}

// printStudy prints results as a table, and why those that are not verified are not.
func (a *app) printStudy(x *studyJSON) error {
	if x == nil {
		return nil
	}
	fmt.Fprintf(a.out, "\nThe study is at %s.\n", oneLine(x.Anchor, 40))
	if len(x.Results) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RESULT\tKIND\tVERDICT\tFIGURES\tBRANCH\tTITLE")
	for _, r := range x.Results {
		verdict, kind := r.Verdict, r.Kind
		if verdict == "" {
			verdict = "not run"
		}
		if r.ID == x.Baseline {
			kind += " (compared with)"
		}
		var figures []string
		for _, m := range r.Metrics {
			figures = append(figures, strings.TrimSpace(m.Name+" "+m.Value+" "+m.Unit))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", oneLine(r.ID, 40), oneLine(kind, 40), verdict, oneLine(strings.Join(figures, ", "), 60), oneLine(r.Branch, 60), oneLine(r.Title, 60))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range x.Results {
		if r.Verdict != "" && r.Verdict != "verified" {
			fmt.Fprintf(a.out, "%s is %s: %s\n", oneLine(r.ID, 40), r.Verdict, oneLine(r.Why, 300))
		}
	}
	return nil
}
