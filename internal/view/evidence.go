package view

import (
	"fmt"

	"lyceum/internal/event"
)

// Anchor is one piece of evidence: where it stands, and the hash of what stands there.
type Anchor struct {
	// Document is a file of the corpus, a paper, or a program that was run.
	Document string `json:"document"`
	Place    string `json:"place"`
	// Hash is that of the paragraph, the paper or the output.
	Hash event.Hash `json:"hash"`
}

// evidence keeps what an event shows for what is claimed: in a lab, citations and the
// outputs of papers' programs; in a contract net, paragraphs and computations.
func (r *reader) evidence(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.CitationMade:
		for _, ref := range append(b.To[:len(b.To):len(b.To)], b.Self...) {
			if p := r.papers[ref]; p != nil {
				r.anchor(p.name, "cited by "+r.names.call(b.Ref), p.content)
			}
		}
	case *event.ReproductionCall:
		// Where the result will be looked for.
		r.called(e.Seq, r.names.call(b.Ref))
	case *event.ReproductionResult:
		if b.Output != nil {
			r.anchor(r.subjects[b.Call], "output, "+b.Status, b.Output.Hash)
		}
	case *event.SearchResult:
		for _, a := range b.Anchors {
			r.anchor(a.Doc, fmt.Sprintf("paragraph %d", a.Paragraph), a.Hash)
		}
	case *event.ComputeCall:
		r.called(e.Seq, "program "+b.Program)
	case *event.ComputeResult:
		if b.Error == "" {
			text, err := r.text(b.Output)
			if err != nil {
				return err
			}
			r.anchor(r.subjects[b.Call], "output", sum(r.names.plain(text), refHash(b.Printed)))
		}
	}
	return nil
}

func (r *reader) called(seq uint64, what string) {
	if r.subjects == nil {
		r.subjects = map[uint64]string{}
	}
	r.subjects[seq] = what
}

// anchor notes a piece of evidence, once.
func (r *reader) anchor(document, place string, h event.Hash) {
	a := Anchor{Document: document, Place: place, Hash: h}
	if r.anchors == nil {
		r.anchors = map[Anchor]bool{}
	}
	if !r.anchors[a] {
		r.anchors[a] = true
		r.run.Evidence = append(r.run.Evidence, a)
	}
}
