package view

import "lyceum/internal/event"

// Anchor is one piece of evidence: where it stands, and the hash of what stands there.
type Anchor struct {
	// Document is a file of the corpus, a paper, or a program that was run.
	Document string `json:"document"`
	Place    string `json:"place"`
	// Hash is that of the paragraph, the paper or the output.
	Hash event.Hash `json:"hash"`
}

// called notes what a call for evidence is about: where its result will be looked for.
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
