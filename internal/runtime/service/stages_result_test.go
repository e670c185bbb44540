package service_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/stages/study"
)

// treeWith is a tree of programs.
func treeWith(ctx context.Context, t *testing.T, store blob.Store, files map[string]string) (event.TreeRef, error) {
	dir := t.TempDir()
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	tree, _, _, err := blob.Snapshot(ctx, store, root, nil)
	return tree, err
}

// TestFiguresOfAResult: programs run twice in real sandboxes, and what they print is read.
func TestFiguresOfAResult(t *testing.T) {
	t.Parallel()
	programs := map[string]string{
		"good.sh":   "echo hello; echo metric mae 9; echo metric mae 1.50; echo metric n 3",
		"chance.sh": "echo took $(od -An -N8 -tx8 /dev/urandom); echo metric mae 1.5; echo metric n 3",
		"drift.sh":  "echo metric mae 1$(od -An -N8 -tu8 /dev/urandom | tr -d ' '); echo metric n 3",
		"nan.sh":    "echo metric mae NaN; echo metric n 3e2",
		"bad.sh":    "echo metric mae 1.5; exit 3",
		"beside.sh": "echo seen > ../beside; ls; echo metric mae 1.5; echo metric n $(ls | wc -l)",
	}
	metrics := []event.Metric{
		{Data: event.HashOf(nil), Direction: study.Lower, Name: "mae", Tolerance: "0.1", Value: "1.55"}, {Data: event.HashOf(nil), Direction: study.Higher, Name: "n", Value: "3"},
	}
	got := map[string]*event.ReproductionResult{}
	calls := map[string]*event.ReproductionCall{}
	var rt *runtime.Runtime
	s := newShop(func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeWith(ctx, t, q.Blobs, programs)
		for name := range programs {
			if err == nil {
				calls[name] = &event.ReproductionCall{Entrypoint: name, Metrics: []string{"mae", "n"}, Ref: "result-1", Tree: tree}
				got[name], err = service.ReproduceOf(ctx, q, uint64(len(got)+50), calls[name])
			}
		}
		return err
	})
	rt = openRuntime(t, t.TempDir(), s)
	create(t, rt)
	run(t, rt)
	for name, want := range map[string]string{"good.sh": study.Verified, "chance.sh": study.Verified, "drift.sh": study.Differs, "nan.sh": study.Differs, "bad.sh": study.RunFailed, "beside.sh": study.Differs} {
		r := got[name]
		if verdict, why := study.Judge(metrics, r); verdict != want {
			t.Errorf("%s is %s (%s), want %s: %+v", name, verdict, why, want, r)
		}
		w := service.Stages{}.Witness(rt, event.Event{}, nil, func(event.Event, string, ...any) {})
		look := func() *audit.Difference {
			d, err := w.Looks()[calls[name].Type()].At(t.Context(), event.Event{Body: calls[name]}, event.Event{Body: r})
			must(t, err)
			return d
		}
		if d := look(); d != nil {
			t.Errorf("%s: a witness finds %+v", name, d)
		}
		if len(r.Figures) > 0 {
			r.Figures[0].Second = "0.001"
			if look() == nil {
				t.Errorf("%s: a witness does not find a figure that was changed", name)
			}
		}
	}
	if f := got["good.sh"].Figures[0]; f.First != "1.50" {
		t.Errorf("the first run is read as %+v", f)
	}
}

// A result is run again by verify --execute: same, different, or not checkable.
func TestAResultIsRunAgain(t *testing.T) {
	t.Parallel()
	var outs []audit.Executed
	s := newShop(func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeWith(ctx, t, q.Blobs, map[string]string{"run.sh": "echo metric mae 1.5"})
		if err != nil {
			return err
		}
		call := event.Event{Seq: 60, Body: &event.ReproductionCall{Entrypoint: "run.sh", Metrics: []string{"mae"}, Ref: "result-1", Tree: tree}}
		then, err := service.ReproduceOf(ctx, q, 60, call.Body.(*event.ReproductionCall))
		if err != nil {
			return err
		}
		forged := *then
		forged.Figures = []event.Figure{{Name: "mae", First: "0.1", Second: "0.1"}}
		for _, r := range []*event.ReproductionResult{then, &forged} {
			out, err := service.Stages{}.Again(ctx, &audit.Place{Quest: q}, call, event.Event{Body: r}, audit.Executed{})
			if err != nil {
				return err
			}
			outs = append(outs, out)
		}
		out, err := service.Stages{}.Again(ctx, &audit.Place{Quest: q, Missing: errors.New("none")}, call, event.Event{Body: then}, audit.Executed{})
		outs = append(outs, out)
		return err
	})
	rt := openRuntime(t, t.TempDir(), s)
	create(t, rt)
	run(t, rt)
	if len(outs) != 3 || outs[0].Status != audit.ExecSame || outs[1].Status != audit.ExecDifferent || !strings.Contains(outs[1].Why, "figures") || outs[2].Status != audit.ExecNotCheckable {
		t.Errorf("run again they are %+v, want same, different, not checkable", outs)
	}
	if kind, what := (service.Stages{}).Recorded(nil, event.Event{Body: &event.ReproductionCall{Entrypoint: "a.py"}}); kind != "reproduction" || what != "python3 ./a.py" {
		t.Errorf("it is told as %q, %q", kind, what)
	}
}
