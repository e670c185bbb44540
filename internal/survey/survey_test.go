package survey_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/survey"
)

// design is one of a few cells.
func design(arms, models, seeds int, budget, parallel int64) *event.SurveyDesigned {
	d := &event.SurveyDesigned{Question: "What?", Budget: budget, Parallel: parallel}
	for i := range arms {
		d.Arms = append(d.Arms, event.SurveyArm{Label: fmt.Sprint("arm-", i), Society: "solo"})
	}
	for i := range models {
		d.Models = append(d.Models, fmt.Sprint("model-", i))
	}
	for i := range seeds {
		d.Seeds = append(d.Seeds, fmt.Sprint(i))
	}
	return d
}

// ledger is a study whose events a test makes.
type ledger struct {
	t      *testing.T
	events []event.Event
	state  *survey.State
}

func begin(t *testing.T, d *event.SurveyDesigned) *ledger {
	t.Helper()
	e, err := event.Seal("s", 1, event.Hash{}, event.Draft{Time: 1, Actor: "person", Body: d})
	if err != nil {
		t.Fatal(err)
	}
	s, err := survey.New(e)
	if err != nil {
		t.Fatal(err)
	}
	l := &ledger{t, []event.Event{e}, s}
	l.settle()
	return l
}

// add appends an event, and reports why it was refused.
func (l *ledger) add(b event.Body) error {
	l.t.Helper()
	e, err := event.Seal("s", l.state.Seq+1, l.state.Hash, event.Draft{Time: 2, Actor: "study", Body: b})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := l.state.Fold(e); err != nil {
		return err
	}
	l.events = append(l.events, e)
	return nil
}

// settle appends all that follows.
func (l *ledger) settle() {
	l.t.Helper()
	for len(l.state.Due()) > 0 {
		if err := l.add(l.state.Due()[0]); err != nil {
			l.t.Fatalf("what follows by the rules was refused: %v", err)
		}
	}
}

func (l *ledger) see(b *event.SurveyObserved) {
	l.t.Helper()
	if err := l.add(b); err != nil {
		l.t.Fatalf("an observation of an open cell was refused: %v", err)
	}
	l.settle()
}

// TestAnyOrderOfOutcomesHoldsTheBudget plays studies of all shapes, whose quests end in any order: each cell gets
// money once, never more than the budget in all, no more are under way than may be, and the fold of
// the ledger from nothing is the same state.
func TestAnyOrderOfOutcomesHoldsTheBudget(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		d := design(1+random.IntN(3), 1+random.IntN(4), 1+random.IntN(4), 100+random.Int64N(1_000_000_000), 1+random.Int64N(4))
		l := begin(t, d)
		for !l.state.Over {
			var open []int64
			for _, c := range l.state.Cells {
				if c.Open() {
					open = append(open, c.Number)
				}
			}
			if len(open) == 0 || int64(len(open)) > d.Parallel {
				t.Fatalf("seed %d: %d cells are under way, want 1 to %d", seed, len(open), d.Parallel)
			}
			if sum := l.state.Allotted(); sum > d.Budget {
				t.Fatalf("seed %d: %d is allotted, want at most the budget of %d", seed, sum, d.Budget)
			}
			l.see(&event.SurveyObserved{Cell: open[random.IntN(len(open))], State: survey.Finished, Cost: random.Int64N(1000)})
		}
		given := map[int64]int{}
		for _, e := range l.events {
			if b, ok := e.Body.(*event.SurveyAllotted); ok {
				given[b.Cell]++
			}
		}
		for _, c := range l.state.Cells {
			if given[c.Number] != 1 || c.Seen == nil {
				t.Fatalf("seed %d: cell %d got money %d times, and was observed: %v; want once, and true", seed, c.Number, given[c.Number], c.Seen != nil)
			}
		}
		again, err := survey.New(l.events[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.events[1:] {
			if err := again.Fold(e); err != nil {
				t.Fatalf("seed %d: folding the ledger again: %v", seed, err)
			}
		}
		if fmt.Sprint(again.View(false)) != fmt.Sprint(l.state.View(false)) || again.Hash != l.state.Hash {
			t.Fatalf("seed %d: the fold of the ledger is another study", seed)
		}
	}
}

// TestALedgerThatTheRulesDoNotLeadToDoesNotFold: nobody can give a cell more, or end a study early.
func TestALedgerThatTheRulesDoNotLeadToDoesNotFold(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]event.Body{
		"MoneyForACellThatMustWait": &event.SurveyAllotted{Budget: 25, Cell: 2, Quest: "s-2"},
		"MoneyTwice":                &event.SurveyAllotted{Budget: 25, Cell: 1, Quest: "s-1"},
		"AnEarlyEnd":                &event.SurveyFinished{Cells: 4},
		"AnotherDesign":             design(1, 1, 1, 1, 1),
		"AnOutcomeOfACellThatWaits": &event.SurveyObserved{Cell: 2, State: survey.Finished},
		"AnOutcomeOfNoCell":         &event.SurveyObserved{Cell: 5, State: survey.Finished},
		"AnOutcomeBelowZero":        &event.SurveyObserved{Cell: 1, State: survey.Finished, Cost: -1},
		"AnEventOfAQuest":           &event.QuestPaused{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t, design(2, 2, 1, 100, 1))
			if err := l.add(body); err == nil {
				t.Errorf("%s after the first cell got its money: it was taken, want an error", body.Type())
			}
		})
	}
	t.Run("MoreMoney", func(t *testing.T) {
		t.Parallel()
		e, err := event.Seal("s", 1, event.Hash{}, event.Draft{Time: 1, Actor: "person", Body: design(2, 2, 1, 100, 1)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := survey.New(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := (&ledger{t, nil, s}).add(&event.SurveyAllotted{Budget: 26, Cell: 1, Quest: "s-1"}); err == nil {
			t.Error("a cell got 26 of 100 for four: it was taken, want an error")
		}
	})
}

func TestCheckSaysWhatIsWrongWithADesign(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*event.SurveyDesigned){
		"no question":               func(d *event.SurveyDesigned) { d.Question = " " },
		"no models":                 func(d *event.SurveyDesigned) { d.Models = nil },
		"there twice":               func(d *event.SurveyDesigned) { d.Seeds = []string{"1", "1"} },
		"no budget":                 func(d *event.SurveyDesigned) { d.Budget = 3 },
		"parallel":                  func(d *event.SurveyDesigned) { d.Parallel = 0 },
		"want 1 to 500":             func(d *event.SurveyDesigned) { *d = *design(10, 10, 10, 1e9, 1) },
		"model cannot stand here":   func(d *event.SurveyDesigned) { d.Common = "model: demo\n" },
		"limits.cost cannot stand":  func(d *event.SurveyDesigned) { d.Arms[0].Spec = "limits: {cost: 100}\n" },
		"a label that no other has": func(d *event.SurveyDesigned) { d.Arms[1].Label = d.Arms[0].Label },
		"data cannot stand here":    func(d *event.SurveyDesigned) { d.Common = "data: here\n" },
		"prompts cannot stand here": func(d *event.SurveyDesigned) { d.Common = "prompts: {system: x.md}\n" },
	} {
		d := design(2, 2, 1, 1000, 1)
		change(d)
		if err := survey.Check("s", d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a faulty design: got %v, want an error that says %q", err, want)
		}
	}
	if err := survey.Check("s", design(2, 2, 1, 1000, 1)); err != nil {
		t.Errorf("a design without a fault: %v", err)
	}
}

func TestParseReadsAFile(t *testing.T) {
	t.Parallel()
	d, err := survey.Parse("study.yaml", []byte(`name: product
question: What is 17 * 23?
models: [demo, "a/b"]
seeds: [1..2, 7]
societies:
  - solo
  - lab:2
  - {society: lab, label: big, agents: 5}
  - lab
budget: 2.50
parallel: 2
quest:
  max_output: 4000
  limits: {duration: 30m}
`))
	if err != nil {
		t.Fatal(err)
	}
	d.Complete()
	var labels []string
	for _, a := range d.Arms {
		labels = append(labels, a.Label)
	}
	if got := fmt.Sprint(d.Name, d.Models, d.Seeds, labels, d.Budget, d.Parallel); got != "product[demo a/b] [1 2 7] [solo lab big lab-2] 2500000000 2" {
		t.Errorf("the file was read as %s", got)
	}
	e, err := event.Seal(d.Name, 1, event.Hash{}, event.Draft{Time: 1, Actor: "person", Body: &d.SurveyDesigned})
	if err != nil {
		t.Fatal(err)
	}
	s, err := survey.New(e)
	if err != nil {
		t.Fatal(err)
	}
	source, err := s.Source(&s.Cells[4])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Cell 5 of study product, whose ledger begins with " + e.Hash.String(), "name: product-05\n", "agents: 5\n", "seed: 1\n", "max_output: 4000\n", "cost: 0.104166666\n", "duration: 30m\n"} {
		if !strings.Contains(string(source), want) {
			t.Errorf("the quest.yaml of cell 5 does not say %q:\n%s", want, source)
		}
	}
	for text, want := range map[string]string{"models: demo\nmodel: x\n": "unknown key", "seeds: 3..1\n": "a range such as", "budget: much\n": "US dollars", "quest: none\n": "must be a mapping", "societies: [lab:0]\n": "lab:3"} {
		if _, err := survey.Parse("study.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error that says %q", text, err, want)
		}
	}
}

func TestSameAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"42", "42.", true}, {"**Blue**", "blue", true}, {"It is 42.", "42", true}, {"42", "43", false},
		{"5 km", "5000 m", true}, {"5 km", "5 s", false}, {"red", "blue", false}, {"between 3 and 4", "between 3 and 5", false},
	} {
		if got := survey.SameAnswer(c.a, c.b); got != c.same {
			t.Errorf("%q and %q say the same: got %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

// TestTheCSVIsOneThatNoSpreadsheetObeys: what agents wrote comes out of a reader as it was, but for
// what would be a formula.
func TestTheCSVIsOneThatNoSpreadsheetObeys(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		`=HYPERLINK("http://x","y")`: `'=HYPERLINK("http://x","y")`, "+1+cmd|' /C calc'!A0": "'+1+cmd|' /C calc'!A0", "-2": "-2", "-2+3": "'-2+3", "@SUM(1)": "'@SUM(1)",
		"\t=1": "'=1", "  =1": "'=1", "＝1+1": "'＝1+1", `say "no", she said`: `say "no", she said`, "one\r\ntwo": "one two", "plain": "plain", "|x": "'|x", "%0A": "'%0A",
	}
	l := begin(t, design(1, 1, len(answers), 1e9, 16))
	want := map[string]string{}
	n := int64(0)
	for said, shown := range answers {
		n++
		want[fmt.Sprint(n)] = shown
		l.see(&event.SurveyObserved{Cell: n, State: survey.Finished, Answer: said, Cost: 1_500_000, Running: 1_500_000})
	}
	var out bytes.Buffer
	if err := l.state.CSV(&out); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatalf("a reader of CSV: %v", err)
	}
	if len(rows) != len(answers)+1 {
		t.Fatalf("the table has %d lines, want a header and %d", len(rows), len(answers))
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	for _, row := range rows[1:] {
		if got, want := row[at["answer"]], want[row[at["cell"]]]; strings.TrimLeft(got, " ") != want {
			t.Errorf("cell %s says %q, want %q", row[at["cell"]], got, want)
		}
		if row[at["cost_usd"]] != "0.0015" || row[at["seconds"]] != "1.500000" || row[at["state"]] != survey.Finished {
			t.Errorf("cell %s: cost %s, seconds %s, state %s; want 0.0015, 1.500000, finished", row[at["cell"]], row[at["cost_usd"]], row[at["seconds"]], row[at["state"]])
		}
	}
}

// TestCellsThatSayTheSameAreCounted: the most frequent answer comes first, and only those that ended with
// an answer count.
func TestCellsThatSayTheSameAreCounted(t *testing.T) {
	t.Parallel()
	l := begin(t, design(1, 1, 5, 1e9, 5))
	for i, said := range []string{"41", "42", "It is 42.", "42", "forty"} {
		state := survey.Finished
		if i == 3 {
			state = "budget"
		}
		l.see(&event.SurveyObserved{Cell: int64(i + 1), State: state, Answer: said, Candidate: i == 3})
	}
	rows, answers := l.state.Table()
	if len(answers) != 3 || answers[0].Answer != "42" || fmt.Sprint(answers[0].Cells) != "[2 3]" {
		t.Errorf("the answers are %+v, want 42 of cells 2 and 3 first", answers)
	}
	if rows[1].Same != 2 || rows[1].Group != 1 || rows[3].Group != 0 || rows[0].Same != 1 {
		t.Errorf("rows: %+v", rows)
	}
}
