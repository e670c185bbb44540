package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/contract"
)

// world is a contract net under way, with the little that its rules ask of a world.
type world struct {
	*questtest.Story
	// find and compute answer what the rules ask.
	find    func(*event.SearchCall) *event.SearchResult
	compute func(*event.ComputeCall) *event.ComputeResult
}

// setting is what a net is made of.
type setting struct {
	task, audit, model      string
	corpus, data, computers bool
	vectors                 bool
	until                   event.Time
}

// usual is a net with all that it can have, and no model.
func usual(task string) setting {
	return setting{task: task, audit: contract.Standard, corpus: true, data: true, computers: true, vectors: true}
}

func created(set setting) *event.QuestCreated {
	b := questtest.Created(contract.Society{}, 1)
	b.Problem = event.Text{Text: set.task}
	b.Contract = &event.ContractSpec{Audit: set.audit, WaitUntil: set.until}
	tree := event.TreeRef(event.RefOf([]byte("tree")))
	if set.corpus {
		b.Contract.Corpus = &tree
	}
	if set.vectors {
		b.Contract.Embedder = "vectors"
	}
	if set.data {
		b.Data = &tree
	}
	if set.computers {
		b.Computer = &event.ComputerSpec{}
	}
	for _, name := range []string{"arrhenius", "statistics", "activation-energy"} {
		b.Pins = append(b.Pins, event.Pin{Name: "program:" + name, Ref: event.RefOf([]byte(name))})
	}
	ref := event.RefOf([]byte("pinned"))
	b.Agents = nil
	for _, r := range (contract.Society{}).Roles(nil, set.model != "", set.computers) {
		a := event.AgentSpec{Name: r.Name, System: ref, Tools: ref, Window: 200_000}
		if r.Thinks {
			a.Model, a.ToolNames = set.model, r.Own
		}
		b.Agents = append(b.Agents, a)
	}
	return b
}

func open(t testing.TB, set setting) *world {
	t.Helper()
	w := &world{Story: questtest.Begin(t, contract.Society{}, created(set))}
	w.find = func(*event.SearchCall) *event.SearchResult {
		return &event.SearchResult{Anchors: []event.Anchor{
			anchor("a.md", 1, 1000, "The activation energy follows from the slope of the Arrhenius plot. It has other parts."),
			anchor("b.md", 2, 600, "Temperatures must be absolute in the Arrhenius equation."),
			anchor("c.md", 1, 100, "Something about cooking."),
		}}
	}
	w.compute = func(c *event.ComputeCall) *event.ComputeResult {
		return printed(c.Engine, "method: ln k = ln A - Ea/(R T)\nfile: rates.csv\nactivation energy Ea = 35.0942 kJ/mol\nR² = 0.986754\npoints n = 5\n")
	}
	return w
}

func anchor(doc string, paragraph, relevance int64, text string) event.Anchor {
	return event.Anchor{Doc: doc, Paragraph: paragraph, Hash: event.HashOf([]byte(text)), Cover: relevance * 1_000_000, Relevance: relevance * 1_000_000, Score: 1, Snippet: text, Title: doc}
}

func printed(engine, text string) *event.ComputeResult {
	ref := event.RefOf([]byte(text))
	return &event.ComputeResult{Engine: engine, Output: event.Text{Text: text}, Printed: &ref}
}

func refused(why string) *event.ComputeResult { return &event.ComputeResult{Error: why, Exit: 3} }

// run starts the net and answers whatever it asks, until it asks no more.
func (w *world) run() *world {
	w.T.Helper()
	if w.State.Status == quest.Created {
		w.Start()
	}
	for range 200 {
		if !w.step() {
			w.Sound()
			return w
		}
	}
	w.T.Fatalf("it asks without an end")
	return w
}

// step answers one call of the world, the oldest.
func (w *world) step() bool {
	w.T.Helper()
	var seqs []uint64
	for seq := range w.State.Calls {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		e := w.Events[seq-1]
		switch b := e.Body.(type) {
		case *event.SearchCall:
			r := *w.find(b)
			r.Call = seq
			w.Take(e.Actor, &r)
			return true
		case *event.ComputeCall:
			r := *w.compute(b)
			r.Call = seq
			w.Take(e.Actor, &r)
			return true
		}
	}
	return false
}

// all are the events of a type.
func all[B event.Body](w *world) (out []B) {
	for _, e := range w.Events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// answer is what the quest ended with.
func (w *world) answer() *event.QuestFinished {
	w.T.Helper()
	done := all[*event.QuestFinished](w)
	if len(done) == 0 {
		w.T.Fatalf("the quest is %s (%s), after %s", w.State.Status, w.State.Reason, w.Events[len(w.Events)-1].Line())
	}
	return done[len(done)-1]
}

func has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Fatalf("%q does not say %q", text, p)
		}
	}
}

func lacks(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Fatalf("%q says %q", text, p)
		}
	}
}

// kinds are the types of all events, as often as they came.
func (w *world) kinds() map[event.Type]int {
	out := map[event.Type]int{}
	for _, e := range w.Events {
		out[e.Type]++
	}
	return out
}

// intentions are what the planner decided, by kind: yes, or why not.
func (w *world) intentions() map[string]string {
	out := map[string]string{}
	for _, i := range all[*event.IntentionFormed](w) {
		out[i.Intention] = "yes"
		if i.Dropped {
			out[i.Intention] = i.Reason
		}
		out[i.Intention+" words"] = strings.Join(i.Words, ",")
	}
	return out
}

// awards are who got what, in order.
func (w *world) awards() (out []string) {
	for _, a := range all[*event.ContractAwarded](w) {
		out = append(out, fmt.Sprintf("%s %s", a.Task, a.To))
	}
	return out
}
