package runtimetest

import (
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
)

// create appends a quest.created.
func (w *World) create() error {
	policies, err := policy.Complete(nil)
	if err != nil {
		return err
	}
	ref := event.RefOf([]byte("pinned"))
	b := &event.QuestCreated{
		Agents: []event.AgentSpec{{Name: "agent-0", Model: "sim", System: ref, Tools: ref, ToolNames: []string{Safe, Unsafe}, Window: 30_000}},
		Name:   key, Problem: event.Text{Text: "?"}, Rules: w.part.Society().Rules(), Policies: policies, Seed: w.Uint64(), Spec: ref,
		Tools: []event.ToolTraits{{Name: Safe, Paths: []string{"path"}, Reads: true}, {Name: Unsafe, Paths: []string{"path"}}},
	}
	if w.Chance(500) {
		b.Context = event.ContextCompact
	}
	for _, text := range quest.TextsOf(w.part.Society(), b.Context) {
		if !quest.IsPrompt(text.Name) { // it is pinned as a blob
			b.Texts = append(b.Texts, text)
		}
	}
	w.part.Make(w, b)
	if w.seed%5 == 2 {
		b.Prepare = "make"
	}
	if w.seed%3 == 1 {
		b.Cache = []string{event.CacheExact, event.CacheNear}[w.seed%2]
	}
	if w.seed%4 == 1 {
		strict(b)
		w.Saw("strict limits")
	}
	if w.seed%8 == 3 {
		w.Serve(b, "one", "two")
		b.Servers[0].Sampling = true
	}
	if w.seed%6 == 4 {
		relates(b)
	}
	e, err := event.Seal(key, 1, event.Hash{}, event.Draft{Actor: "person", Body: b})
	if err != nil {
		return err
	}
	w.log.events = append(w.log.events, e)
	return w.count(0)
}

// strict makes the limits of a quest strict, by a price at which a call costs about as much
// as any answer does here.
func strict(b *event.QuestCreated) {
	b.Limits.Strict = true
	for i := range b.Agents {
		if a := &b.Agents[i]; a.Model != "" {
			a.Price, a.RaisedOutput = &event.Price{CacheWrites: 40_000, Cached: 3_000, Input: 33_000, Output: 1_000}, 64_000
		}
	}
}
