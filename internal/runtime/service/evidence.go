package service

import (
	"context"
	"errors"
	"slices"

	"lyceum/internal/compute"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/contract/tender"
)

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
	// Plots are the pictures that it drew, as SVG.
	Plots []string `json:"plots,omitempty"`
	// Hash is that of Text, which is the whole paragraph or the whole output.
	Hash string `json:"sha256"`
	Text string `json:"text"`
	// Broken says why it does not hold, empty if it does.
	Broken string `json:"broken,omitempty"`
}

// EvidenceOf walks from the claims of a quest's answer to what they rest on, and looks
// at each of it.
func EvidenceOf(ctx context.Context, r *runtime.Runtime, s *quest.State) (*Evidence, error) {
	net := contract.Net(s)
	if net == nil {
		return nil, runtime.BadPlan("quest %s is not a contract net: its answer has no numbered evidence; papers of a lab cite each other: lyceum publication view", s.Name)
	}
	out := &Evidence{Claims: []EvidencedClaim{}, Sources: []EvidencedSource{}}
	for i := range net.Claims {
		c := &net.Claims[i]
		out.Claims = append(out.Claims, EvidencedClaim{
			Claim: c.Claim, Text: c.Text, By: c.By, Status: standing(net, c), Confidence: c.Confidence, Sources: c.Sources, Seq: c.Seq,
		})
	}
	var corp *corpus
	if net.Spec.Corpus != nil {
		corp = &corpus{rt: r, tree: *net.Spec.Corpus}
		defer corp.close()
	}
	w := &netWitness{rt: r, created: &event.QuestCreated{Data: s.Data}, note: func(event.Event, string, ...any) {}, left: maxWitnessed}
	for i := range net.Sources {
		src := &net.Sources[i]
		var e EvidencedSource
		var err error
		if src.Anchor != nil {
			e, err = paragraph(ctx, corp, src)
		} else {
			e, err = printed(ctx, r, w, src)
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

func paragraph(ctx context.Context, c *corpus, src *tender.Source) (EvidencedSource, error) {
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

func printed(ctx context.Context, r *runtime.Runtime, w *netWitness, src *tender.Source) (EvidencedSource, error) {
	c, call := src.Compute, src.Asked
	e := EvidencedSource{Source: src.Number, Kind: "computation", Seq: src.Seq, Program: call.Program, Engine: c.Engine, Command: c.Command, Text: c.Output.Text}
	if c.Fingerprint != (event.Hash{}) {
		e.Environment = c.Fingerprint.String()
	}
	switch {
	case call.Code != nil:
		e.Code = call.Code.Hash.String()
		e.Unknown = !compute.Known(call.Program, call.Code.Hash)
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
	for _, ref := range c.Plots {
		svg, err := r.Blob(ctx, ref)
		if err != nil {
			e.Broken = err.Error()
			return e, nil
		}
		e.Plots = append(e.Plots, string(svg))
	}
	d, err := w.computed(ctx, event.Event{Body: call}, event.Event{Seq: src.Seq, Body: c})
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
