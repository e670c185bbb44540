package service

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

// marks answers marks.call: it looks for what a judge quotes in what the judge was shown.
type marks struct{ w *worldBench }

// Start implements runtime.Service.
func (s marks) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.MarksCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		missing, err := unquoted(ctx, s.w.q.Runtime, b)
		if err != nil {
			return nil, fmt.Errorf("marks.call %d: %w", e.Seq, err)
		}
		return []event.Draft{s.w.q.Result(e.Seq, "core", &event.MarksResult{Call: e.Seq, Missing: missing})}, nil
	}, nil
}

// unquoted are the quotations that are not in the text. White space counts as one space, and
// what quotes nothing shows nothing.
func unquoted(ctx context.Context, rt *runtime.Runtime, b *event.MarksCall) (missing []string, err error) {
	data, err := rt.Blob(ctx, b.Text)
	if err != nil {
		return nil, err
	}
	text := folded(string(data))
	for _, m := range b.Marks {
		if q := folded(m.Quotation); q == "" || !strings.Contains(text, q) {
			missing = append(missing, runtime.AtMost(m.Criterion+": "+q, 300))
		}
	}
	return missing, nil
}

func folded(s string) string { return strings.Join(strings.Fields(s), " ") }
