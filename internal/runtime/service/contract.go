package service

import (
	"context"
	"path/filepath"

	"lyceum/internal/compute"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/search"
	"lyceum/internal/society/contract"
)

// Contract is the workshop of a contract net: it searches the corpus, and computes.
type Contract struct{}

// Open implements runtime.Workshop.
func (Contract) Open(_ context.Context, q *runtime.Quest) (runtime.Bench, error) {
	b := &netBench{services: map[event.Type]runtime.Service{"compute.call": &computations{q}}}
	if tree := contract.Net(q.State).Spec.Corpus; tree != nil {
		b.corpus = &corpus{rt: q.Runtime, tree: *tree}
	}
	b.services["search.call"] = &searches{q, b.corpus}
	return b, nil
}

type netBench struct {
	corpus   *corpus
	services map[event.Type]runtime.Service
}

func (b *netBench) Services() map[event.Type]runtime.Service { return b.services }

// Looks implements audit.Witness.
func (w *netWitness) Looks() map[event.Type]audit.Look {
	return map[event.Type]audit.Look{"compute.call": {Find: w.computed, Again: true}, "search.call": {Find: w.searched, Again: true}}
}

func (b *netBench) Printed(event.Event) {}

func (b *netBench) Close() error {
	_ = b.corpus.close() // it is a cache
	return nil
}

// Witness implements audit.Witnessed.
func (Contract) Witness(rt *runtime.Runtime, e event.Event, b *event.QuestCreated, note audit.Note) audit.Witness {
	return newNetWitness(rt, e, b, note)
}

// Make implements runtime.Maker: it pins what a contract net works with, which are the
// corpus, the programs, and what makes vectors of texts.
func (Contract) Make(ctx context.Context, c *runtime.Creation, b *event.QuestCreated) error {
	if b.Problem.Ref != nil || event.Weight(b.Problem.Text) > contract.MaxTask {
		return runtime.BadKey("task", "it has %d bytes: the rules of a contract net read it whole, and it can have %d; put the rest into the corpus", c.QuestionSize(), contract.MaxTask)
	}
	if name := contract.Corpus(c.Spec()); name != "" {
		tree, skipped, err := c.Folder(ctx, "corpus", name)
		if err != nil {
			return err
		}
		b.Contract.Corpus = tree
		for _, s := range skipped {
			c.Say("corpus: %s is left out: %s", filepath.Join(name, s.Path), s.Reason)
		}
		if err := readable(ctx, c, name); err != nil {
			return err
		}
	}
	if contract.Corpus(c.Spec()) == "" && c.Spec().Data == "" {
		return runtime.BadKey("corpus", "a contract net without corpus and data has nothing to go by: give one of them")
	}
	if c.Runtime().Embedder != nil {
		b.Contract.Embedder = c.Runtime().Embedder.Name()
	}
	for _, name := range compute.Names() {
		text, _ := compute.Program(name)
		ref, err := c.Pin(ctx, []byte(text))
		if err != nil {
			return err
		}
		b.Pins = append(b.Pins, event.Pin{Name: programPin + name, Ref: ref})
	}
	return nil
}

// readable says which files of a corpus can be searched, and refuses one of which none
// can.
func readable(ctx context.Context, c *runtime.Creation, name string) error {
	dir, err := c.Open("corpus", name)
	if err != nil {
		return err
	}
	defer dir.Close()
	docs, skipped, err := search.Read(ctx, dir)
	if err != nil {
		return runtime.BadKey("corpus", "%v", err)
	}
	for _, s := range skipped {
		c.Say("corpus: %s is not searched: %s", filepath.Join(name, s.Path), s.Reason)
	}
	if len(docs) == 0 {
		return runtime.BadKey("corpus", "there is no .md or .txt file in %s that can be searched", name)
	}
	return nil
}
