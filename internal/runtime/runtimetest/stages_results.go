package runtimetest

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/society/stages/study"
)

// reproductionResult is the row of a study's reproduction.call: the figures come out again, or
// others do, or nothing does.
func reproductionResult(w *World, call event.Event) event.Body {
	r := &event.ReproductionResult{Call: call.Seq, Status: []string{event.SameOutput, event.SameOutput, event.Differs, event.NotRun}[w.IntN(4)]}
	if w.Chance(900) {
		r.Fingerprint = event.HashOf([]byte("computer"))
	}
	if r.Status == event.NotRun {
		r.Reason = "exit code 1"
		return r
	}
	r.Output = &event.Ref{Hash: event.HashOf([]byte("output")), Size: 6}
	for _, name := range call.Body.(*event.ReproductionCall).Metrics {
		f := event.Figure{Name: name, First: "1.5", Second: "1.50"}
		if w.Chance(200) {
			f.Second = []string{"", "2"}[w.IntN(2)]
		}
		r.Figures = append(r.Figures, f)
	}
	w.Saw("results run, " + call.Body.(*event.ReproductionCall).Entrypoint)
	return r
}

// baselineResult is the row of baseline.call.
func baselineResult(w *World, call event.Event) event.Body {
	r, b := &event.BaselineResult{Call: call.Seq}, call.Body.(*event.BaselineCall)
	switch {
	case w.Chance(200):
		r.Error = "there is none"
	case b.Action == study.Attach:
		r.Entry = &event.BaselineEntry{
			Entrypoint: "run.sh", Event: event.HashOf([]byte("run")), Metrics: []event.Metric{{Data: event.HashOf(nil), Direction: study.Lower, Name: "mae", Value: "1.5"}},
			Output: event.Ref{Size: 6}, Quest: "other", Result: "result-1", Title: w.Word(), Tree: *treeOf(w, "work", 0),
		}
		w.Saw("baselines attached")
	default:
		w.Saw("baselines published")
	}
	return r
}

// resultCall is what a researcher does about lines of work and results: what makes sense next,
// or anything.
func resultCall(w *World, s *study.Study) (string, any) {
	result, campaign := fmt.Sprint("result-", 1+w.IntN(len(s.Results)+1)), fmt.Sprint("campaign-", 1+w.IntN(len(s.Campaigns)+1))
	claim := figure(w, []string{study.ResultMain, study.ResultBaseline, study.ResultBaseline}[w.IntN(3)])
	here := s.Here()
	if w.Chance(600) {
		return nextResult(w, s, claim)
	}
	switch n := w.IntN(20); {
	case n < 3:
		return "prepare_branch", object{"kind": "run", "id": w.Word()}
	case n < 6:
		return "activate_branch", object{"name": s.Branches[w.IntN(len(s.Branches))].Name}
	case n < 8 || here.Head == 0:
		return "checkpoint", object{"message": w.Word()}
	case n < 12:
		return "record_main_experiment", claim
	case n < 13:
		return "confirm_baseline", object{"result": result}
	case n < 14:
		return []string{"submit_idea", "refresh_summary"}[w.IntN(2)], object{}
	case n < 15:
		return "submit_idea", object{"title": w.Word(), "text": w.Word()}
	case n < 16:
		return "create_analysis_campaign", object{"result": result, "reason": w.Word(), "slices": []object{{"id": "a", "question": w.Word()}}}
	case n < 17:
		if c := s.Campaign(campaign); c != nil && w.Chance(500) {
			return "prepare_branch", object{"kind": "analysis", "id": s.SliceBranch(c, "a")[len("analysis/"):]}
		}
		delete(claim, "kind")
		claim["campaign"], claim["slice"] = campaign, "a"
		return "record_slice", claim
	case n < 18:
		return "publish_baseline", object{"result": result, "name": "naive"}
	case n < 19:
		return "attach_baseline", object{"name": "naive"}
	}
	return "record", object{"kind": "decision", "title": w.Word(), "verdict": "good", "action": w.Word(), "reason": w.Word(), "because": []string{result}}
}

// nextResult is the next step to another result.
func nextResult(w *World, s *study.Study, claim object) (string, any) {
	here, last := s.Here(), s.Branches[len(s.Branches)-1]
	switch {
	case here.Kind == study.KindRun && here.Closed == 0 && here.Count > 0:
		return "record_main_experiment", claim
	case here.Kind == study.KindRun && here.Closed == 0:
		return "checkpoint", object{"message": w.Word()}
	case last.Kind == study.KindRun && last.Closed == 0 && last != here:
		return "activate_branch", object{"name": last.Name}
	}
	return "prepare_branch", object{"kind": "run", "id": fmt.Sprint("r", len(s.Branches))}
}

// figure is a result as it is recorded, of a program that prints what it says.
func figure(w *World, kind string) object {
	return object{"kind": kind, "title": w.Word(), "entrypoint": "own.sh", "metrics": []object{{"name": "mae", "direction": "lower", "value": "1.5", "data": event.HashOf(nil).String()}}}
}
