package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/compute"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/search"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/contract/tender"
)

// A witness looks at what the world is recorded to have said, and at what can be known
// of it again: that a snippet stands in its document and was found by the search that
// is said to have found it, that a program prints what it is said to have printed, and
// that nothing took longer than there was time.
type witness struct {
	rt      *Runtime
	created *event.QuestCreated
	corpus  *corpus
	open    map[uint64]event.Event
	// notes are what could not be looked at, or nobody vouches for.
	notes []string
}

// maxNotes is how many notes are kept.
const maxNotes = 50

func (w *witness) note(e event.Event, format string, args ...any) {
	if len(w.notes) < maxNotes {
		w.notes = append(w.notes, fmt.Sprintf("seq %d: ", e.Seq)+fmt.Sprintf(format, args...))
	}
}

func newWitness(rt *Runtime) *witness { return &witness{rt: rt, open: map[uint64]event.Event{}} }

func (w *witness) close() { _ = w.corpus.close() } // it is a cache

// look finds what does not hold about an event.
func (w *witness) look(ctx context.Context, e event.Event) (*Difference, error) {
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		w.created = b
		if b.Contract != nil && b.Contract.Corpus != nil {
			w.corpus = &corpus{rt: w.rt, tree: *b.Contract.Corpus}
		}
		w.programs(e, b)
	case *event.ModelCall, *event.ToolCall, *event.ReproductionCall, *event.SearchCall, *event.ComputeCall:
		w.open[e.Seq] = e
	case *event.ModelResult:
		return w.timed(e, b.Call, b.Duration), nil
	case *event.ToolResult:
		return w.timed(e, b.Call, b.Duration), nil
	case *event.ReproductionResult:
		return w.timed(e, b.Call, b.Duration), nil
	case *event.SearchResult:
		call, _ := w.open[b.Call].Body.(*event.SearchCall)
		if d := w.timed(e, b.Call, b.Duration); d != nil || call == nil {
			return d, nil
		}
		return w.searched(ctx, e, call, b)
	case *event.ComputeResult:
		call, _ := w.open[b.Call].Body.(*event.ComputeCall)
		if d := w.timed(e, b.Call, b.Duration); d != nil || call == nil {
			return d, nil
		}
		return w.computed(ctx, e, call, b)
	case *event.QuestForked:
		clear(w.open)
	}
	return nil, nil
}

// programs looks at the programs that a quest brings along. One that this version does
// not have is run again as it is, but what it computes, only its text can tell.
func (w *witness) programs(e event.Event, b *event.QuestCreated) {
	for _, p := range b.Pins {
		name, ok := strings.CutPrefix(p.Name, programPin)
		if text, known := compute.Program(name); ok && (!known || event.HashOf([]byte(text)) != p.Ref.Hash) {
			w.note(e, "the program %s is not this version's: read it before you trust what it computes (blob %s)", name, p.Ref.Hash)
		}
	}
}

// timed compares how long something is said to have taken with the time there was.
func (w *witness) timed(e event.Event, call uint64, took int64) *Difference {
	asked, ok := w.open[call]
	delete(w.open, call)
	if there := int64(e.Time - asked.Time); ok && (took < 0 || there > 0 && took > there) {
		return &Difference{Seq: e.Seq, What: fmt.Sprintf("it says that it took %d µs, but %d µs passed between the call and the result: it was altered, or the clock was set back", took, there)}
	}
	return nil
}

// searched makes a search again. What it found must be found again, to the letter, but
// for vectors that are not to be had here: then each paragraph is looked up.
func (w *witness) searched(ctx context.Context, e event.Event, call *event.SearchCall, b *event.SearchResult) (*Difference, error) {
	if b.Error != "" {
		w.note(e, "the search failed then, and is not made again: %s", b.Error)
		return nil, nil
	}
	if w.corpus == nil {
		return &Difference{Seq: e.Seq, What: "it tells of a search, and the quest has no corpus"}, nil
	}
	docs, err := w.corpus.documents(ctx)
	if err != nil {
		return nil, err
	}
	seq := e.Seq
	for i := range b.Anchors {
		if why := misplaced(docs, &b.Anchors[i]); why != "" {
			return &Difference{Seq: e.Seq, What: why}, nil
		}
	}
	if e := w.rt.Embedder; call.Method == "hybrid" && (e == nil || e.Name() != w.created.Contract.Embedder || !repeats(e)) {
		w.note(event.Event{Seq: seq}, "the search by meaning is not made again: the vectors of %s are not to be had here, or differ from machine to machine; its paragraphs are where it says", w.created.Contract.Embedder)
		return nil, nil
	}
	again, err := w.rt.search(ctx, w.corpus, call, w.created.Contract.Embedder)
	if err != nil {
		return nil, err
	}
	again.Call, again.Duration = b.Call, b.Duration
	return compareBodies(e, again, "the search finds something else in the recorded corpus")
}

// repeats reports whether an embedder gives the same vectors everywhere.
func repeats(e search.Embedder) bool {
	r, ok := e.(interface{ Repeats() bool })
	return ok && r.Repeats()
}

func compareBodies(e event.Event, again event.Body, what string) (*Difference, error) {
	have, err := event.EncodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	want, err := event.EncodeBody(again)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(have, want) {
		return nil, nil
	}
	return &Difference{Seq: e.Seq, What: what, Recorded: string(have), Computed: string(want)}, nil
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
func (w *witness) computed(ctx context.Context, e event.Event, call *event.ComputeCall, b *event.ComputeResult) (*Difference, error) {
	switch {
	case call.Code == nil:
		w.note(e, "an agent wrote the program: verify --execute runs it again")
		return nil, nil
	case !ranBy(call.Engine, b):
		return &Difference{Seq: e.Seq, What: fmt.Sprintf("it was to be run by %s, and says that it was run by %q", call.Engine, b.Engine)}, nil
	case b.Error != "" && b.Exit != refusedExit:
		w.note(e, "the program did not run then, and is not run again: %s", b.Error)
		return nil, nil
	}
	if b.Error == "" && b.Printed == nil {
		return &Difference{Seq: e.Seq, What: "it has a result, and does not say what was printed"}, nil
	}
	var printed []byte
	if b.Printed != nil {
		var err error
		if printed, err = w.rt.Blob(ctx, *b.Printed); err != nil {
			return &Difference{Seq: e.Seq, What: err.Error()}, nil
		}
	}
	x := &computation{rt: w.rt, data: w.created.Data}
	text, err := w.rt.Blob(ctx, *call.Code)
	if err != nil {
		return nil, err
	}
	r, err := x.interpret(ctx, string(text))
	if err != nil {
		return nil, err
	}
	again := clean(w.rt.redact(string(r.output)))
	switch {
	case r.fault != "" && r.exit != refusedExit:
		w.note(e, "the built-in interpreter cannot run it again: %s; verify --execute may", r.fault)
		return nil, nil
	case b.Error != "" && r.fault == "":
		return &Difference{Seq: e.Seq, What: "it says that the program gave no result, and with the recorded data it does", Recorded: b.Error, Computed: event.Cut(again, maxComputedShown)}, nil
	case b.Error != "":
		return nil, nil // refused then and now
	case r.fault != "":
		return &Difference{Seq: e.Seq, What: "the program gives no result with the recorded data: " + r.fault}, nil
	case again != string(printed) || b.Output.Text != event.Cut(again, maxComputedShown):
		return &Difference{Seq: e.Seq, What: "the program prints something else with the recorded data", Recorded: b.Output.Text, Computed: event.Cut(again, maxComputedShown)}, nil
	}
	return nil, nil
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

// Evidence is what an answer rests on, claim by claim.
type Evidence struct {
	Claims []EvidencedClaim `json:"claims"`
	// Sources are all that were found, by number.
	Sources []EvidencedSource `json:"sources"`
	// Broken is how many sources do not hold.
	Broken int `json:"broken"`
}

// EvidencedClaim is a claim, whether it stands, and the numbers of its sources.
type EvidencedClaim struct {
	Claim      int64   `json:"claim"`
	Text       string  `json:"text"`
	By         string  `json:"by"`
	Status     string  `json:"status"`
	Confidence int64   `json:"confidence_thousandths"`
	Sources    []int64 `json:"sources"`
	Seq        uint64  `json:"seq"`
}

// EvidencedSource is a source with all of its text, and whether it holds.
type EvidencedSource struct {
	Source int64  `json:"source"`
	Kind   string `json:"kind"`
	Seq    uint64 `json:"seq"`
	// Those of a paragraph.
	Doc       string `json:"doc,omitempty"`
	Title     string `json:"title,omitempty"`
	Paragraph int64  `json:"paragraph,omitempty"`
	Relevance int64  `json:"relevance_billionths,omitempty"`
	Score     int64  `json:"score_billionths,omitempty"`
	// Those of a computation.
	Program string `json:"program,omitempty"`
	Engine  string `json:"engine,omitempty"`
	Command string `json:"command,omitempty"`
	Code    string `json:"code_sha256,omitempty"`
	// Unknown says that the program is not one of this version's.
	Unknown     bool   `json:"program_unknown,omitempty"`
	Environment string `json:"environment_sha256,omitempty"`
	// Hash is that of Text, which is the whole paragraph or the whole output.
	Hash string `json:"sha256"`
	Text string `json:"text"`
	// Broken says why it does not hold, empty if it does.
	Broken string `json:"broken,omitempty"`
}

// Evidence walks from the claims of a quest's answer to what they rest on, and looks at
// each of it.
func (r *Runtime) Evidence(ctx context.Context, s *quest.State) (*Evidence, error) {
	if contract.Net(s) == nil {
		return nil, badPlan("quest %s is not a contract net: its answer has no numbered evidence; papers of a lab cite each other: lyceum publication view", s.Name)
	}
	out := &Evidence{Claims: []EvidencedClaim{}, Sources: []EvidencedSource{}}
	for i := range contract.Net(s).Claims {
		c := &contract.Net(s).Claims[i]
		out.Claims = append(out.Claims, EvidencedClaim{
			Claim: c.Claim, Text: c.Text, By: c.By, Status: standing(contract.Net(s), c), Confidence: c.Confidence, Sources: c.Sources, Seq: c.Seq,
		})
	}
	var corp *corpus
	if contract.Net(s).Spec.Corpus != nil {
		corp = &corpus{rt: r, tree: *contract.Net(s).Spec.Corpus}
		defer corp.close()
	}
	for i := range contract.Net(s).Sources {
		src := &contract.Net(s).Sources[i]
		var e EvidencedSource
		var err error
		if src.Anchor != nil {
			e, err = r.paragraph(ctx, corp, src)
		} else {
			e, err = r.printed(ctx, s, src)
		}
		if err != nil {
			return nil, err
		}
		if e.Broken != "" {
			out.Broken++
		}
		out.Sources = append(out.Sources, e)
	}
	return out, nil
}

// standing says what became of a claim.
func standing(n *tender.Net, c *tender.Claim) string {
	switch {
	case c.Retracted != "":
		return "retracted: " + c.Retracted
	case n.Weighed == nil:
		return "not weighed yet"
	case slices.Contains(n.Weighed.Stand, c.Claim):
		return "stands"
	case slices.Contains(n.Weighed.Undecided, c.Claim):
		return "undecided"
	}
	for _, d := range n.Weighed.Defeated {
		if d.Claim == c.Claim {
			return "defeated by " + d.By
		}
	}
	return "replaced by a later draft"
}

func (r *Runtime) paragraph(ctx context.Context, c *corpus, src *tender.Source) (EvidencedSource, error) {
	a := src.Anchor
	e := EvidencedSource{
		Source: src.Number, Kind: "paragraph", Seq: src.Seq, Doc: a.Doc, Title: a.Title, Paragraph: a.Paragraph,
		Relevance: a.Relevance, Score: a.Score, Hash: a.Hash.String(), Text: a.Snippet,
	}
	if c == nil {
		e.Broken = "the quest has no corpus"
		return e, nil
	}
	docs, err := c.documents(ctx)
	if err != nil {
		return e, err
	}
	if e.Broken = misplaced(docs, a); e.Broken == "" {
		e.Text, _ = paragraphOf(docs, a)
	}
	return e, nil
}

func (r *Runtime) printed(ctx context.Context, s *quest.State, src *tender.Source) (EvidencedSource, error) {
	c, call := src.Compute, src.Asked
	e := EvidencedSource{Source: src.Number, Kind: "computation", Seq: src.Seq, Program: call.Program, Engine: c.Engine, Command: c.Command, Text: c.Output.Text}
	if c.Fingerprint != (event.Hash{}) {
		e.Environment = c.Fingerprint.String()
	}
	switch {
	case call.Code != nil:
		e.Code = call.Code.Hash.String()
		text, known := compute.Program(call.Program)
		e.Unknown = !known || event.HashOf([]byte(text)) != call.Code.Hash
	case call.Tree != nil:
		e.Code = call.Tree.Hash.String()
	}
	if c.Printed == nil {
		e.Broken = "it does not say what was printed"
		return e, nil
	}
	e.Hash = c.Printed.Hash.String()
	data, err := r.Blob(ctx, *c.Printed)
	if err != nil {
		e.Broken = err.Error()
		return e, nil
	}
	e.Text = string(data)
	w := newWitness(r)
	w.created = &event.QuestCreated{Data: s.Data}
	d, err := w.computed(ctx, event.Event{Seq: src.Seq}, call, c)
	if d != nil {
		e.Broken = d.What
	}
	if errors.Is(err, context.Canceled) {
		return e, err
	}
	if err != nil {
		e.Broken = err.Error()
	}
	return e, nil
}

// Programs are the names of the programs that quests can compute with.
func Programs() []string { return compute.Names() }
