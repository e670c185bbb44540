package service_test

// The contract net without a model, measured: internal/search/trial/README.md says what
// the questions are and how answers are counted.
//
//	go test ./internal/runtime/service -run TestTrial -v -trial.questions ../../search/trial/open.jsonl

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/runtime/service"
	"lyceum/internal/search"
	"lyceum/internal/search/glove"
	"lyceum/internal/search/trial"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/contract/tender"
)

var (
	trialQuestions = flag.String("trial.questions", "", "questions to ask of the whole corpus; default: those of both sets that are about our own documents")
	trialCorpus    = flag.String("trial.corpus", "", "a corpus made by internal/search/trial/corpus.sh; default: one is made")
	trialEach      = flag.Bool("trial.each", false, "say what became of each question")
)

// TestTrialOfQuestions asks every question of a set, and counts. What is promised of the
// sealed set holds for whatever is asked.
func TestTrialOfQuestions(t *testing.T) {
	t.Parallel()
	counts := map[string]*tally{}
	for _, k := range append(slices.Clone(trial.Kinds), "all") {
		counts[k] = &tally{}
	}
	find, list := trialSearch(t), trialList(t)
	for _, q := range list {
		got := ask(t, find, q.Question)
		verdict := counts[q.Kind].count(&q, got)
		counts["all"].count(&q, got)
		if *trialEach {
			t.Logf("%s %-13s %-5s %s", q.ID, q.Kind, verdict, q.Question)
			if verdict != "right" {
				explain(t, &q, got)
			}
		}
	}
	t.Logf("%-14s %5s %6s %6s %6s %6s %6s", "", "asked", "right", "wrong", "junk", "told", "shown")
	for _, k := range append(slices.Clone(trial.Kinds), "all") {
		c := counts[k]
		t.Logf("%-14s %5d %6d %6d %6d %6d %6d", k, c.asked, c.right, c.wrong, c.junk, c.told, c.shown)
	}
	all, none := counts["all"], counts[trial.Unanswerable]
	able := all.asked - none.asked
	if all.junk*50 > all.asked || none.told*100 < 95*none.asked || all.right*2 < able || all.shown*100 < 80*able {
		t.Errorf("promised: at most 2 %% junk, 95 %% of the unanswerable told, half of the others right, the passage shown for 80 %% of those; got %+v of all and %+v of the unanswerable", *all, *none)
	}
}

func explain(t *testing.T, q *trial.Question, got spoken) {
	t.Logf("    want %q in %v", q.Accept, q.Files)
	for _, c := range got.claims {
		t.Logf("    said %s %.200q", c.doc, c.text)
	}
	for i, p := range got.passages {
		t.Logf("    shown %d %s %.2f %.120q", i+1, p.doc, float64(p.cover)/1e9, p.text)
	}
}

const trialFolder = "../../search/trial"

// trialList are the questions to ask.
func trialList(t *testing.T) (out []trial.Question) {
	t.Helper()
	files := []string{*trialQuestions}
	if *trialQuestions == "" {
		var err error
		files, err = filepath.Glob(filepath.Join(trialFolder, "*.jsonl"))
		must(t, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		must(t, err)
		list, err := trial.Read(f)
		must(t, err)
		must(t, f.Close())
		for _, q := range list {
			elsewhere := slices.ContainsFunc(q.Files, func(file string) bool { return !strings.HasPrefix(file, "own/") })
			if *trialQuestions != "" || !elsewhere {
				out = append(out, q)
			}
		}
	}
	return out
}

// trialSearch searches the corpus of the trial, or what is our own of it.
func trialSearch(t *testing.T) func(context.Context, *event.SearchCall) (*event.SearchResult, error) {
	t.Helper()
	dir := *trialCorpus
	switch {
	case dir != "":
	case *trialQuestions != "":
		dir = filepath.Join(t.TempDir(), "corpus")
		if out, err := exec.CommandContext(t.Context(), filepath.Join(trialFolder, "corpus.sh"), dir).CombinedOutput(); err != nil {
			t.Fatalf("make the corpus: %v\n%s", err, out)
		}
	default:
		dir = t.TempDir()
		must(t, os.CopyFS(filepath.Join(dir, "own"), os.DirFS(filepath.Join(trialFolder, "documents"))))
	}
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	docs, _, err := search.Read(t.Context(), root)
	must(t, err)
	return service.SearchOf(docs, glove.Embedder{})
}

// spoken is what a net answered.
type spoken struct {
	claims, passages []passage
	text             string
}

type passage struct {
	doc, text string
	cover     int64
}

// ask plays the rules of a contract net on one question.
func ask(t *testing.T, find func(context.Context, *event.SearchCall) (*event.SearchResult, error), question string) spoken {
	t.Helper()
	b := questtest.Created(contract.Society{}, 1)
	tree := event.TreeRef(event.RefOf([]byte("tree")))
	b.Problem = event.Text{Text: question}
	b.Contract = &event.ContractSpec{Audit: contract.Standard, Corpus: &tree, Embedder: glove.Embedder{}.Name()}
	ref := event.RefOf([]byte("pinned"))
	b.Agents = nil
	for _, r := range (contract.Society{}).Roles(nil, false, false) {
		b.Agents = append(b.Agents, event.AgentSpec{Name: r.Name, System: ref, Tools: ref, Window: 200_000})
	}
	s := questtest.Begin(t, contract.Society{}, b)
	s.Start()
	for open := s.Open("search.call", ""); len(open) > 0; open = s.Open("search.call", "") {
		e := s.Events[open[0]-1]
		r, err := find(t.Context(), e.Body.(*event.SearchCall))
		must(t, err)
		r.Call = e.Seq
		s.Take(e.Actor, r)
	}
	if s.State.Answer == nil {
		t.Fatalf("%q: the quest is %s, want an answer", question, s.State.Status)
	}
	return whatSaid(contract.Net(s.State), s.State.Answer.Text)
}

// whatSaid takes an answer apart.
func whatSaid(n *tender.Net, text string) (out spoken) {
	out.text = text
	show := func(number int64) {
		if a := n.Source(number).Anchor; a != nil {
			p := passage{a.Doc, a.Snippet, a.Cover}
			if !slices.Contains(out.passages, p) {
				out.passages = append(out.passages, p)
			}
		}
	}
	for _, number := range append(slices.Clone(n.Weighed.Stand), n.Weighed.Undecided...) {
		c := n.Claim(number)
		out.claims = append(out.claims, passage{n.Source(c.Sources[0]).Anchor.Doc, c.Text, 0})
		for _, s := range c.Sources {
			show(s)
		}
	}
	for i := range n.Sources {
		show(int64(i) + 1)
	}
	out.passages = out.passages[:min(len(out.passages), 5)]
	return out
}

// tally counts verdicts.
type tally struct{ asked, right, wrong, junk, told, shown int }

func (c *tally) count(q *trial.Question, got spoken) string {
	c.asked++
	if slices.ContainsFunc(got.passages, func(p passage) bool { return slices.Contains(q.Files, p.doc) && q.Touches(p.text) }) {
		c.shown++
	}
	var texts []string
	ours := false
	for _, p := range got.claims {
		texts = append(texts, p.text)
		ours = ours || slices.Contains(q.Files, p.doc)
	}
	switch {
	case len(texts) == 0:
		c.told++
		return "told"
	case !ours:
		c.junk++
		return "junk"
	case q.Accepts(strings.Join(texts, "\n")):
		c.right++
		return "right"
	}
	c.wrong++
	return "wrong"
}
