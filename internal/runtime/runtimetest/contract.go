package runtimetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
)

// Contract is the part of a planner, workers that bid, and auditors: by rules alone, or
// with models that plan and write programs, sensibly or not.
type Contract struct {
	turns int64
	books *netBooks
}

// NewContract returns the part of one contract net, of whose agents each may take so many
// turns; 0 is as many as come.
func NewContract(turns int64) *Contract { return &Contract{turns, newNetBooks()} }

// Society implements Part.
func (*Contract) Society() quest.Society { return contract.Society{} }

// Rates implements Rough: a net is short, and what its workers find shall differ.
func (*Contract) Rates() Rates {
	r := Usual
	r.Crash, r.Full, r.Unheard, r.Person, r.Failed, r.Compare, r.Save = 40, 20, 20, 60, 120, 60, 50
	return r
}

// programs are those that a net is made with.
var programs = []string{"activation-energy", "arrhenius", "kissinger", "linear", "statistics"}

// Make implements Part: with a corpus, data or both, with and without vectors, computers
// and a model, at each level of audit, at once or after a wait.
func (c *Contract) Make(w *World, b *event.QuestCreated) {
	ref, tree := event.RefOf([]byte("pinned")), event.TreeRef(event.RefOf([]byte("tree")))
	b.Problem.Text = task(w)
	b.Contract = &event.ContractSpec{Audit: contract.Levels[w.IntN(len(contract.Levels))]}
	if w.Chance(850) {
		b.Contract.Corpus = &tree
	}
	if b.Contract.Corpus == nil || w.Chance(700) {
		b.Data = &tree
	}
	if w.Chance(600) {
		b.Contract.Embedder = "vectors"
	}
	if w.Chance(250) {
		b.Contract.WaitUntil = event.Time(1 + w.Int64N(3_600_000_000))
	}
	if w.Chance(600) {
		b.Computer = &event.ComputerSpec{}
	}
	for _, name := range programs {
		b.Pins = append(b.Pins, event.Pin{Name: "program:" + name, Ref: event.RefOf([]byte(name))})
	}
	b.Agents = nil
	thinks := w.Chance(600)
	for _, r := range (contract.Society{}).Roles(nil, thinks, b.Computer != nil) {
		a := event.AgentSpec{Name: r.Name, System: ref, Tools: ref, Window: 4000 + w.Int64N(30_000)}
		if r.Thinks {
			a.Model, a.ToolNames = "sim", slices.Clone(r.Own)
		}
		if r.World {
			a.ToolNames = append(a.ToolNames, Safe, Unsafe)
		}
		b.Agents = append(b.Agents, a)
	}
	if w.Chance(300) {
		b.Limits.Duration = new(1 + w.Int64N(20_000_000))
	}
	if w.Chance(300) {
		b.Limits.Turns = new(1 + w.Int64N(20))
	}
	if w.Chance(200) {
		b.Limits.Cost = new(1 + w.Int64N(5000))
	}
	if most := cmp.Or(c.turns, 15); c.turns > 0 || w.Chance(200) {
		b.Limits.Agent = &event.Share{Turns: new(1 + w.Int64N(most))}
	}
}

// task is what is asked: for research, computations, both, or nothing that the rules know.
func task(w *World) string {
	parts := []string{
		"Explain which method gives the activation energy", "Calculate the activation energy by Arrhenius", "Fit the data by Kissinger",
		"Compute the mean and the deviation of the rates", "Determine the slope", "Estimate something that no program is for",
		"Verify the result", "Tell a story", "查找文献并计算平均值",
	}
	w.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts[:1+w.IntN(3)], ". ") + "."
}

// Rows implements Caller.
func (*Contract) Rows() map[event.Type]Row {
	return map[event.Type]Row{"search.call": searched, "compute.call": computed}
}

// paragraphs are what the corpus has. Some give other values for the same quantity.
var paragraphs = []string{
	"The activation energy is 35.1 kJ/mol by the Arrhenius method. Temperatures must be absolute.",
	"The activation energy is 52.3 kJ/mol, which others have found. Nobody knows why.",
	"Another laboratory gives 35.1 kJ/mol for the activation energy.",
	"A third one has measured 35.1 kJ/mol at higher temperatures.",
	"The activation energy follows from the slope of the plot.",
	"# A heading\nThe mean of the rates is 12 per second, and their deviation is small.",
	"Something about cooking.",
	"活化能是35千焦每摩尔。",
	"Kissinger wrote down a method for several heating rates in 1957!",
}

// searched is the row of search.call: what a search finds, or why it does not.
func searched(w *World, call event.Event) event.Body {
	b := call.Body.(*event.SearchCall)
	r := &event.SearchResult{Call: call.Seq, Documents: 3, Paragraphs: int64(len(paragraphs))}
	if w.Chance(150) {
		r.Error = []string{"the corpus cannot be read", "the server of vectors does not answer"}[w.IntN(2)]
		w.Saw("searches failed")
		return r
	}
	relevance := int64(1_000_000_000)
	for range w.Int64N(min(b.Limit, 7) + 1) {
		i := w.IntN(len(paragraphs))
		doc := fmt.Sprintf("%d.md", w.IntN(3))
		relevance -= w.Int64N(relevance/2 + 1)
		r.Anchors = append(r.Anchors, event.Anchor{
			Doc: doc, Title: doc, Paragraph: int64(i) + 1, Hash: event.HashOf([]byte(paragraphs[i])), Cover: relevance, Relevance: relevance, Score: relevance, Snippet: paragraphs[i],
		})
	}
	if len(r.Anchors) == 0 {
		w.Saw("searches without a hit")
	}
	return r
}

// computed is the row of compute.call: what a program prints, or why it does not.
func computed(w *World, call event.Event) event.Body {
	b := call.Body.(*event.ComputeCall)
	r := &event.ComputeResult{Call: call.Seq, Engine: b.Engine + " 1", Command: b.Program}
	if w.Chance(300) {
		r.Error, r.Exit = []string{"rates.csv: a cell is empty", "it was ended: the limit on time", "it printed nothing"}[w.IntN(3)], []int64{3, 1, 1}[w.IntN(3)]
		w.Saw("computations failed")
		return r
	}
	value := 35_000 + 100*len(b.Program)
	if w.Chance(150) {
		value += w.IntN(20_000) // what another engine printed is something else
	}
	text := fmt.Sprintf("method: %s\nfile: rates.csv\nactivation energy Ea = %d.%03d kJ/mol\npoints n = 5\n", b.Program, value/1000, value%1000)
	if w.Chance(300) {
		text += "file: more.csv\ncolumn: k\nmean = 12 1/s\n"
	}
	if w.Chance(30) {
		text = "nothing that is a value\n"
	}
	ref := event.RefOf([]byte(text))
	r.Output, r.Printed = event.Text{Text: text}, &ref
	return r
}

// Call implements Part.
func (c *Contract) Call(w *World, agent string) (string, any) {
	switch n := w.IntN(100); {
	case n < 3:
		return "no_such_tool", object{}
	case n < 6:
		return []string{"delegate", "submit_answer", "report_result", "send_message"}[w.IntN(4)], event.Text{Text: `{"steps":`}
	case n < 14:
		return "send_message", c.message(w)
	case agent == contract.Coder && n < 60:
		files := []string{"run.py"}
		if w.Chance(100) {
			files = append(files, missingFile)
		}
		return "report_result", object{"files": files, "entrypoint": []string{"run.py", "run.py", "run.py", "other.py"}[w.IntN(4)]}
	case agent == contract.Coder:
		return []string{Safe, Unsafe}[w.IntN(2)], object{"n": w.IntN(5)}
	case n < 55 && len(c.books.sources) > 0:
		return "submit_answer", c.draft(w)
	}
	return "delegate", c.plan(w)
}

// message is a word to another agent.
func (c *Contract) message(w *World) object {
	m := object{"to": []string{contract.Planner, contract.Coder, contract.Auditor, "nobody"}[w.IntN(4)], "performative": event.Performatives[w.IntN(len(event.Performatives))], "text": w.Word()}
	if w.Chance(600) {
		m["reply"] = 1 + w.IntN(int(w.Seq()))
	}
	return m
}

// plan is what a planner delegates.
func (c *Contract) plan(w *World) object {
	var steps []object
	for range 1 + w.IntN(3) {
		switch w.IntN(8) {
		case 0:
			// A time that is near, or long gone.
			steps = append(steps, object{"kind": "wait", "until": (w.Now + event.Time(w.Int64N(7_200_000_000)) - 600_000_000).String()})
		case 1, 2:
			steps = append(steps, object{"kind": "compute", "program": append(slices.Clone(programs), "no such program")[w.IntN(len(programs)+1)]})
		case 3:
			steps = append(steps, object{"kind": "compute", "describe": w.Word()})
		case 4:
			steps = append(steps, object{"kind": []string{"research", "dance"}[w.IntN(2)], "query": ""})
		default:
			steps = append(steps, object{"kind": "research", "query": w.Word()})
		}
	}
	return object{"steps": steps}
}

// draft is an answer that a planner hands in: of what its sources say, of what they do
// not, or of no source.
func (c *Contract) draft(w *World) object {
	var claims []object
	for range 1 + w.IntN(3) {
		number := 1 + w.IntN(len(c.books.sources))
		text := c.books.sources[number-1].text
		if w.Chance(200) {
			text = "The activation energy is 99.9 kJ/mol."
		}
		claim := object{"text": text[:min(len(text), 300)], "sources": []int{number}}
		switch w.IntN(10) {
		case 0:
			claim["sources"] = []int{}
		case 1:
			claim["sources"] = []int{number, 1, 1 + w.IntN(len(c.books.sources))}
		case 2:
			claim["sources"] = []int{len(c.books.sources) + 1}
		case 3:
			claim["text"] = w.Word()
		}
		claims = append(claims, claim)
	}
	return object{"claims": claims}
}

// Count implements Part.
func (c *Contract) Count(w *World, e event.Event) error { return c.books.count(w, e) }

// Watch implements Watcher.
func (c *Contract) Watch(_ *World, s *quest.State) error { return c.books.watch(s) }

// End implements Ender.
func (c *Contract) End(_ *World, s *quest.State) error { return c.books.end(s) }
