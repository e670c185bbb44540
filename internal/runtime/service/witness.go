package service

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"lyceum/internal/compute"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/search"
)

// netWitness looks at what the world is recorded to have said to a contract net, and at
// what can be known of it again: that a snippet stands in its document and was found by
// the search that is said to have found it, and that a program prints what it is said
// to have printed.
type netWitness struct {
	rt      *runtime.Runtime
	created *event.QuestCreated
	corpus  *corpus
	note    audit.Note
	// left is how long programs may still run.
	left time.Duration
}

// maxWitnessed is how long all programs of a quest may run again while somebody looks at it:
// those of a stranger's quest could keep a verify, an import or a page busy for days.
const maxWitnessed = 2 * time.Minute

func newNetWitness(rt *runtime.Runtime, e event.Event, b *event.QuestCreated, note audit.Note) *netWitness {
	w := &netWitness{rt: rt, created: b, note: note, left: maxWitnessed}
	if b.Contract != nil && b.Contract.Corpus != nil {
		w.corpus = &corpus{rt: rt, tree: *b.Contract.Corpus}
	}
	w.programs(e, b)
	return w
}

// Close implements audit.Witness.
func (w *netWitness) Close() { _ = w.corpus.close() } // it is a cache

// programs looks at the programs that a quest brings along. One that this version does
// not have is run again as it is, but what it computes, only its text can tell.
func (w *netWitness) programs(e event.Event, b *event.QuestCreated) {
	for _, p := range b.Pins {
		name, ok := strings.CutPrefix(p.Name, programPin)
		if ok && !compute.Known(name, p.Ref.Hash) {
			w.note(e, "the program %s is not this version's: read it before you trust what it computes (blob %s)", name, p.Ref.Hash)
		}
	}
}

// searched makes a search again. What it found must be found again, to the letter, but
// for vectors that are not to be had here: then each paragraph is looked up.
func (w *netWitness) searched(ctx context.Context, asked, e event.Event) (*audit.Difference, error) {
	call, b := asked.Body.(*event.SearchCall), e.Body.(*event.SearchResult)
	if b.Error != "" {
		w.note(e, "the search failed then, and is not made again: %s", b.Error)
		return nil, nil
	}
	if w.corpus == nil {
		return &audit.Difference{Seq: e.Seq, What: "it tells of a search, and the quest has no corpus"}, nil
	}
	docs, err := w.corpus.documents(ctx)
	if err != nil {
		return nil, err
	}
	seq := e.Seq
	for i := range b.Anchors {
		if why := misplaced(docs, &b.Anchors[i]); why != "" {
			return &audit.Difference{Seq: e.Seq, What: why}, nil
		}
	}
	if e := w.rt.Embedder; call.Method == "hybrid" && (e == nil || e.Name() != w.created.Contract.Embedder || !repeats(e)) {
		w.note(event.Event{Seq: seq}, "the search by meaning is not made again: the vectors of %s are not to be had here, or differ from machine to machine; its paragraphs are where it says", w.created.Contract.Embedder)
		return nil, nil
	}
	again, err := w.corpus.search(ctx, call, w.created.Contract.Embedder)
	if err != nil {
		return nil, err
	}
	again.Call, again.Duration = b.Call, b.Duration
	return audit.CompareBodies(e, again, "the search finds something else in the recorded corpus")
}

// repeats reports whether an embedder gives the same vectors everywhere.
func repeats(e search.Embedder) bool {
	r, ok := e.(interface{ Repeats() bool })
	return ok && r.Repeats()
}

// misplaced says why an anchor does not stand where it says, nothing if it does.
func misplaced(docs []search.Document, a *event.Anchor) string {
	paragraph, ok := paragraphOf(docs, a)
	switch {
	case !ok:
		return fmt.Sprintf("there is no paragraph %d in the document %q of the corpus", a.Paragraph, a.Doc)
	case sha256.Sum256([]byte(paragraph)) != a.Hash:
		return fmt.Sprintf("paragraph %d of %q has another hash", a.Paragraph, a.Doc)
	case a.Snippet == "" || !strings.Contains(paragraph, a.Snippet):
		return fmt.Sprintf("the snippet is not in paragraph %d of %q", a.Paragraph, a.Doc)
	}
	return ""
}

func paragraphOf(docs []search.Document, a *event.Anchor) (string, bool) {
	i := slices.IndexFunc(docs, func(d search.Document) bool { return d.ID == a.Doc })
	if i < 0 || a.Paragraph < 1 || a.Paragraph > int64(len(docs[i].Paragraphs)) {
		return "", false
	}
	return docs[i].Paragraphs[a.Paragraph-1], true
}

// computed has the interpreter run a program of ours again: both engines print the same
// bytes. What an agent wrote is run again by verify --execute.
func (w *netWitness) computed(ctx context.Context, asked, e event.Event) (*audit.Difference, error) {
	call, b := asked.Body.(*event.ComputeCall), e.Body.(*event.ComputeResult)
	switch {
	case call.Code == nil:
		w.note(e, "an agent wrote the program: verify --execute runs it again")
		return nil, nil
	case !ranBy(call.Engine, b):
		return &audit.Difference{Seq: e.Seq, What: fmt.Sprintf("it was to be run by %s, and says that it was run by %q", call.Engine, b.Engine)}, nil
	case b.Error != "" && b.Exit != refusedExit:
		w.note(e, "the program did not run then, and is not run again: %s", b.Error)
		return nil, nil
	}
	if b.Error == "" && b.Printed == nil {
		return &audit.Difference{Seq: e.Seq, What: "it has a result, and does not say what was printed"}, nil
	}
	var printed []byte
	if b.Printed != nil {
		var err error
		if printed, err = w.rt.Blob(ctx, *b.Printed); err != nil {
			return &audit.Difference{Seq: e.Seq, What: err.Error()}, nil
		}
	}
	if w.left <= 0 {
		w.note(e, "it is not run again: the programs before it took all of %s; verify --execute may run it", maxWitnessed)
		return nil, nil
	}
	x := &computation{rt: w.rt, data: w.created.Data}
	text, err := w.rt.Blob(ctx, *call.Code)
	if err != nil {
		return nil, err
	}
	begun := w.rt.Clock()
	r, err := x.interpret(ctx, string(text), min(w.left, maxComputed))
	w.left -= time.Duration(w.rt.Clock()-begun) * time.Microsecond
	if err != nil {
		return nil, err
	}
	again, plots := output(w.rt, call, r.output)
	switch {
	case r.fault != "" && r.exit != refusedExit:
		w.note(e, "the built-in interpreter cannot run it again: %s; verify --execute may", r.fault)
		return nil, nil
	case b.Error != "" && r.fault == "":
		return &audit.Difference{Seq: e.Seq, What: "it says that the program gave no result, and with the recorded data it does", Recorded: b.Error, Computed: event.Cut(again, maxComputedShown)}, nil
	case b.Error != "":
		return nil, nil // refused then and now
	case r.fault != "":
		return &audit.Difference{Seq: e.Seq, What: "the program gives no result with the recorded data: " + r.fault}, nil
	case !samePlots(plots, b.Plots):
		return &audit.Difference{Seq: e.Seq, What: "the program draws something else with the recorded data"}, nil
	case again != string(printed) || b.Output.Text != event.Cut(again, maxComputedShown):
		return &audit.Difference{Seq: e.Seq, What: "the program prints something else with the recorded data", Recorded: b.Output.Text, Computed: event.Cut(again, maxComputedShown)}, nil
	}
	return nil, nil
}

// samePlots reports whether pictures are those that were recorded.
func samePlots(plots []string, recorded []event.Ref) bool {
	return slices.EqualFunc(plots, recorded, func(svg string, ref event.Ref) bool { return event.RefOf([]byte(svg)) == ref })
}

// ranBy reports whether what ran a program is of the kind that was asked for.
func ranBy(engine string, b *event.ComputeResult) bool {
	switch {
	case b.Engine == "":
		return b.Error != "" // it did not come to that
	case engine == "builtin":
		return strings.HasPrefix(b.Engine, "built-in interpreter")
	}
	return strings.HasPrefix(strings.ToLower(b.Engine), "python")
}
