package service

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// resultServices are what a study needs for results and baselines.
func resultServices(q *runtime.Quest) map[event.Type]runtime.Service {
	return map[event.Type]runtime.Service{
		"reproduction.call": &reproductions{q: q, author: func(*event.ReproductionCall) string { return stages.Researcher }},
		"baseline.call":     &baselines{q: q},
		"bundle.call":       &bundles{q: q, engines: engines},
	}
}

// readFigures are the values of the metrics that were asked for, as both runs printed them; nil
// if none were, or there were no two runs.
func readFigures(ctx context.Context, rt *runtime.Runtime, b *event.ReproductionCall, r *event.ReproductionResult) ([]event.Figure, error) {
	if len(b.Metrics) == 0 || r.Status == event.NotRun || r.Output == nil {
		return nil, nil
	}
	first, err := rt.Blob(ctx, *r.Output)
	if err != nil {
		return nil, fmt.Errorf("read what it printed: %w", err)
	}
	second := first
	if r.Second != nil {
		if second, err = rt.Blob(ctx, *r.Second); err != nil {
			return nil, fmt.Errorf("read what it printed the second time: %w", err)
		}
	}
	one, two := study.ReadFigures(b.Metrics, first), study.ReadFigures(b.Metrics, second)
	var out []event.Figure
	for _, name := range b.Metrics {
		out = append(out, event.Figure{First: one[name], Name: name, Second: two[name]})
	}
	return out, nil
}

// Witness implements audit.Witnessed.
func (Stages) Witness(rt *runtime.Runtime, _ event.Event, _ *event.QuestCreated, note audit.Note) audit.Witness {
	return &resultWitness{rt, note}
}

// resultWitness looks at what the runs of results are recorded to have printed.
type resultWitness struct {
	rt   *runtime.Runtime
	note audit.Note
}

// Close implements audit.Witness.
func (w *resultWitness) Close() {}

// run finds figures that do not stand in the recorded outputs.
func (w *resultWitness) run(ctx context.Context, call, result event.Event) (*audit.Difference, error) {
	b := result.Body.(*event.ReproductionResult)
	again, err := readFigures(ctx, w.rt, call.Body.(*event.ReproductionCall), b)
	switch {
	case err != nil:
		return &audit.Difference{Seq: result.Seq, What: err.Error()}, nil
	case !slices.Equal(again, b.Figures):
		return &audit.Difference{Seq: result.Seq, What: "the recorded output has other figures", Recorded: fmt.Sprint(b.Figures), Computed: fmt.Sprint(again)}, nil
	case b.Status != event.NotRun:
		w.note(result, "verify --execute runs it again")
	}
	return nil, nil
}

// brought looks at a baseline that was attached: what it printed elsewhere is here, and has its
// figures.
func (w *resultWitness) brought(ctx context.Context, call, result event.Event) (*audit.Difference, error) {
	asked, b := call.Body.(*event.BaselineCall), result.Body.(*event.BaselineResult)
	if asked.Action != study.Attach || b.Error != "" || b.Entry == nil {
		return nil, nil
	}
	output, err := w.rt.Blob(ctx, b.Entry.Output)
	if err == nil {
		err = printsFigures(b.Entry.Metrics, output)
	}
	if err != nil {
		return &audit.Difference{Seq: result.Seq, What: "the baseline that was attached: " + err.Error()}, nil
	}
	return nil, nil
}

// printsFigures says which figure an output does not have.
func printsFigures(metrics []event.Metric, output []byte) error {
	var names []string
	for _, m := range metrics {
		names = append(names, m.Name)
	}
	have := study.ReadFigures(names, output)
	for i := range metrics {
		m := metrics[i]
		m.Value = have[m.Name]
		if m.Value == "" {
			return fmt.Errorf("its output has no figure for %s", m.Name)
		}
		if study.Compare(&m, &metrics[i]).Outcome != study.Tie {
			return errors.New("its output has " + m.Name + " " + m.Value + ", and not " + metrics[i].Value)
		}
	}
	return nil
}
