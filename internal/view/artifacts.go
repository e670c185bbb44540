package view

import "lyceum/internal/event"

// Artifact is something that a quest was made of, or that came out of it.
type Artifact struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Producer string `json:"producer"`
	Seq      uint64 `json:"seq"`
	Hash     string `json:"hash"`
	Size     int64  `json:"size"`
	Tree     bool   `json:"tree"`
}

// Artifacts is the list of them.
type Artifacts struct{ List []Artifact }

// maxArtifacts is how many are listed.
const maxArtifacts = 10_000

func (a *Artifacts) blob(e event.Event, kind, name string, ref *event.Ref) {
	if ref != nil && len(a.List) < maxArtifacts {
		a.List = append(a.List, Artifact{name, kind, e.Actor, e.Seq, ref.Hash.String(), ref.Size, false})
	}
}

func (a *Artifacts) tree(e event.Event, kind, name string, ref *event.TreeRef) {
	if ref != nil && len(a.List) < maxArtifacts {
		a.List = append(a.List, Artifact{name, kind, e.Actor, e.Seq, ref.Hash.String(), ref.Size, true})
	}
}

// pins adds what a quest pins, after what its society brought along.
func (a *Artifacts) pins(e event.Event) {
	if b, ok := e.Body.(*event.QuestCreated); ok {
		for _, p := range b.Pins {
			a.blob(e, "pin", p.Name, &p.Ref)
		}
	}
}

// Take adds the next event of the ledger. What belongs to a society, its part of the views
// adds.
func (a *Artifacts) Take(e event.Event) {
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		a.blob(e, "spec", "quest.yaml", &b.Spec)
		a.blob(e, "problem", "problem.md", b.Problem.Ref)
		a.tree(e, "data", "data", b.Data)
	case *event.CliExit:
		a.blob(e, "output", "stdout of "+b.Command, b.Stdout.Ref)
		a.blob(e, "output", "stderr of "+b.Command, b.Stderr.Ref)
	case *event.FileDiff:
		a.tree(e, "workspace", "files of "+e.Actor, &b.After)
	case *event.QuestFinished:
		a.blob(e, "answer", "answer.md", b.Answer.Ref)
	}
}
