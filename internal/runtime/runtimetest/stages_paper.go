package runtimetest

import (
	"lyceum/internal/event"
)

// bundleResult is the row of bundle.call: the paper is made, whole or with something wrong about
// it, or it is not.
func bundleResult(w *World, call event.Event) event.Body {
	r, b := &event.BundleResult{Call: call.Seq}, call.Body.(*event.BundleCall)
	if w.Chance(150) {
		r.Error = "no room"
		return r
	}
	for _, f := range b.Figures {
		made := event.FigureMade{ID: f.ID, Verdict: "same"}
		if w.Chance(100) {
			made.Verdict, made.Why = "differs", w.Word()
		}
		r.Figures = append(r.Figures, made)
	}
	for _, o := range b.Outputs {
		if w.Chance(950) {
			r.Named = append(r.Named, o.Result)
		}
	}
	if w.Chance(200) {
		r.Numbers = append(r.Numbers, event.NumberTraced{Line: 1, Text: "1.5"})
	}
	if w.Chance(950) {
		r.Sections = []string{"Limits"}
	}
	r.Files, r.PDF, r.Text, r.Tree = []string{"paper.md"}, "missing", &event.Text{Text: w.Word()}, treeOf(w, "paper", w.IntN(5))
	w.Saw("papers made")
	return r
}
