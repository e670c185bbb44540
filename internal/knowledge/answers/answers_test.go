package answers_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/knowledge/answers"
	"lyceum/internal/search"
	"lyceum/internal/search/glove"
)

const noon = event.Time(1_800_000_000_000_000)

func open(t *testing.T) *answers.Store {
	t.Helper()
	s, err := answers.Open(filepath.Join(t.TempDir(), "cache", "answers.db"))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// question is one of an agent with the usual settings.
func question(t *testing.T, asked string) answers.Question {
	t.Helper()
	v, err := search.Directions(t.Context(), glove.Embedder{}, answers.Counting(asked))
	must(t, err)
	return answers.Question{
		Exact: event.HashOf([]byte(asked)), Setting: event.HashOf([]byte("settings")), Asked: asked, Direction: v[0], Embedder: glove.Embedder{}.Name(),
	}
}

func put(t *testing.T, s *answers.Store, quest string, seq uint64, q answers.Question, at event.Time) {
	t.Helper()
	must(t, s.Put(t.Context(), answers.Entry{Question: q, Quest: quest, Seq: seq, Hash: event.HashOf(fmt.Append(nil, quest, seq)), Time: at}))
}

func find(t *testing.T, s *answers.Store, q answers.Question, now event.Time) []answers.Match {
	t.Helper()
	found, err := s.Find(t.Context(), &q, now)
	must(t, err)
	return found
}

// subjects and forms make two hundred questions. The first of what stands in brackets is asked;
// the second makes it another question that looks alike.
var (
	subjects = []string{
		"Mount [Everest|Elbrus]", "the river [Rhine|Rhône]", "the town of [Lausanne|Lucerne]", "the ship [Vasa|Mars]", "version [3.1|3.2] of the protocol",
		"the comet of [1910|1986]", "the [iron|zinc] bridge", "a crew of [twelve|twenty] sailors", "the house of the [Medici|Borgia] family", "[argon|xenon] gas",
	}
	forms = []string{
		"How old is %s in years?", "Why is %s [|not ]famous among travellers?", "Explain in two sentences how %s was described by writers.", "What do people say about %s in winter?",
		"Is there a museum about %s in [Paris|Berlin]?", "List [5|6] facts about %s.", "Who has [|never ]painted %s?", "What is the best book about %s for children under [10|12]?",
		"Can one visit %s [with|without] a guide?", "In which song does %s appear?", "What [increases|decreases] the value of %s?", "Was %s known to [Goethe|Schiller]?",
		"How far is %s from the sea in [miles|metres]?", "When did a newspaper write about %s for the [first|last] time?", "What was %s called [before|after] the war?", "Which [cause|effect] of its fame does %s have?",
		"Does %s [|not ]appear on a stamp?", "Give me [two|three] reasons to read about %s.", "What is the [maximum|minimum] price of a picture of %s?", "How does %s compare with [London|Madrid]?",
	}
)

// choose reads the brackets of a form: the n-th bracket says the second, all others the first.
func choose(form string, n int) string {
	var b strings.Builder
	for i := 0; ; i++ {
		before, rest, ok := strings.Cut(form, "[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		inside, after, _ := strings.Cut(rest, "]")
		one, other, _ := strings.Cut(inside, "|")
		if i == n {
			one = other
		}
		b.WriteString(one)
		form = after
	}
}

// again are ways to ask the same once more.
var again = []func(string) string{
	func(q string) string { return q },
	func(q string) string { return strings.TrimRight(q, "?.") },
	func(q string) string { return "Please tell me: " + q },
	func(q string) string { return "Hello! Could you please tell me: " + strings.ToLower(q[:1]) + q[1:] },
	func(q string) string { return "  " + strings.ReplaceAll(q, " ", "  ") + "\n" },
}

// TestFigure45 is statement 45: what is asked again is found, and what only looks alike is not.
func TestFigure45(t *testing.T) {
	t.Parallel()
	s := open(t)
	var asked []string
	for i, f := range forms {
		for j, sub := range subjects {
			q := strings.Replace(f, "%s", sub, 1)
			asked = append(asked, q)
			put(t, s, "first", uint64(i*len(subjects)+j+1), question(t, choose(q, -1)), noon)
		}
	}
	if len(asked) != 200 {
		t.Fatalf("there are %d questions, want 200", len(asked))
	}
	hits, wrong, reworded := 0, 0, 0
	for i, q := range asked {
		same := again[i%len(again)](choose(q, -1))
		found := find(t, s, question(t, same), noon+1)
		switch {
		case len(found) == 0:
			t.Errorf("%q is not found again", same)
		case found[0].Seq != uint64(i+1):
			t.Errorf("%q is answered by what was asked as %q", same, found[0].Asked)
		default:
			hits++
			if found[0].Cosine != 0 {
				reworded++
			}
		}
		for n := range strings.Count(q, "[") {
			other := choose(q, n)
			if n > 0 && n < strings.Count(q, "[") && other == choose(q, -1) {
				t.Fatalf("%q is no other question", other)
			}
			said := again[(i+n)%len(again)](other)
			if found := find(t, s, question(t, said), noon+1); len(found) > 0 {
				wrong++
				t.Errorf("%q is answered by what was asked as %q", said, found[0].Asked)
			}
		}
	}
	if hits != 200 || wrong != 0 || reworded < 100 {
		t.Errorf("of 200 repeats %d were found, %d of them in other words, and %d look-alikes; want 200, more than 100, 0", hits, reworded, wrong)
	}
}

func TestOtherWordsThatCountAreAnotherQuestion(t *testing.T) {
	t.Parallel()
	for _, p := range [][2]string{
		{"Does smoking cause cancer?", "Does smoking prevent cancer?"},
		{"Does smoking cause cancer?", "Does cancer cause smoking?"},
		{"What is the boiling point of water?", "What is the boiling point of ethanol?"},
		{"List the advantages of coal.", "List the disadvantages of coal."},
		{"What is 5!?", "What is 5?"},
		{"What is -5 plus 3?", "What is 5 plus 3?"},
		{"Is x > 3?", "Is x < 3?"},
		{"What is 1,5 times two?", "What is 15 times two?"},
		{"How far is 5 km?", "How far is 5 m?"},
		{"Is it allowed?", "Isn't it allowed?"},
		{"Can it fly?", "Can't it fly?"},
		{"Who leads the US?", "Who leads us?"},
		{"What happens in May?", "What may happen?"},
		{"Is it polish?", "Is it Polish?"},
		{"How much is hepatitis a?", "How much is hepatitis b?"},
		{"Compare C with Go.", "Compare C++ with Go."},
		{"Read a.txt", "Read b.txt"},
		{"Кто написал Войну и мир?", "Кто написал Анну Каренину?"},
		{"", "?"}, // these are alike, and have no vector
	} {
		if p[0] == "" {
			a, b := question(t, p[0]), question(t, p[1])
			if answers.Nearness(&a, &b) != 0 {
				t.Error("nothing is near nothing")
			}
			continue
		}
		if answers.Alike(p[0], p[1]) {
			t.Errorf("%q and %q are taken for the same question", p[0], p[1])
		}
	}
	for _, p := range [][2]string{
		{"What's the capital of France?", "what is the capital of France"},
		{"Which river is longest?", "Please, what river is longest?"},
		{"It costs 1,000 dollars. Why?", "It costs 1000 dollars. Why"},
		{"Why can't penguins fly?", "Why can not penguins fly?"},
		{"Is the caf\u00e9 open?", "Is the cafe\u0301 open?"},
		{"Who said “yes”?", "Who said \"yes\"?"},
	} {
		if !answers.Alike(p[0], p[1]) {
			t.Errorf("%q and %q are not taken for the same question", p[0], p[1])
		}
	}
}

func TestNearNeedsTheSameSettingsAndVectors(t *testing.T) {
	t.Parallel()
	s := open(t)
	put(t, s, "first", 7, question(t, "What is the capital of France?"), noon)
	near := question(t, "Please tell me, what is the capital of France?")
	if m := find(t, s, near, noon); len(m) != 1 || m[0].Cosine < answers.Near {
		t.Fatalf("the same question in other words finds %v", m)
	}
	for what, change := range map[string]func(*answers.Question){
		"with other settings":          func(q *answers.Question) { q.Setting = event.HashOf([]byte("other")) },
		"where only the same will do":  func(q *answers.Question) { q.Setting = event.Hash{} },
		"by another embedder":          func(q *answers.Question) { q.Embedder = "other" },
		"without a vector":             func(q *answers.Question) { q.Embedder, q.Direction = "", nil },
		"with a vector of another way": func(q *answers.Question) { q.Direction = question(t, "tax law").Direction },
		"with a vector of other size":  func(q *answers.Question) { q.Direction = q.Direction[:50] },
	} {
		q := near
		change(&q)
		if m := find(t, s, q, noon); len(m) != 0 {
			t.Errorf("%s it finds %v", what, m)
		}
	}
}

func TestTheBestIsTheSameThenTheNearestThenTheYoungest(t *testing.T) {
	t.Parallel()
	s := open(t)
	q := question(t, "How can I buy a ticket for the early train to Lyon?")
	put(t, s, "near", 1, question(t, "How can I purchase a ticket for the early train to Lyon?"), noon+5)
	put(t, s, "old", 2, q, noon)
	put(t, s, "young", 3, q, noon+1)
	nearer := question(t, "Hello, how can I buy a ticket for the early train to Lyon?")
	put(t, s, "nearer", 4, nearer, noon)
	var got []string
	for _, m := range find(t, s, q, noon+10) {
		got = append(got, m.Quest)
	}
	if fmt.Sprint(got) != "[young old nearer near]" {
		t.Errorf("the order is %v", got)
	}
}

func TestAnAnswerIsTakenForADay(t *testing.T) {
	t.Parallel()
	s := open(t)
	q := question(t, "How late is it?")
	put(t, s, "first", 1, q, noon)
	for age, want := range map[event.Time]int{0: 1, answers.Limit - 1: 1, answers.Limit: 0, answers.Limit + 1: 0, -1: 0} {
		if m := find(t, s, q, noon+age); len(m) != want {
			t.Errorf("at the age of %d µs it is found %d times, want %d", age, len(m), want)
		}
	}
	put(t, s, "second", 2, question(t, "Something else"), noon+answers.Limit)
	if n, err := s.Len(t.Context()); n != 1 || err != nil {
		t.Errorf("there are %d entries, %v, want 1: what is too old goes", n, err)
	}
}

func TestTheLeastUsedGoes(t *testing.T) {
	t.Parallel()
	s := open(t)
	all := make([]answers.Question, answers.Most+1)
	for i := range all {
		all[i] = answers.Question{Exact: event.HashOf(fmt.Append(nil, i))}
	}
	for i := range answers.Most {
		put(t, s, "first", uint64(i+1), all[i], noon+event.Time(i))
	}
	for i := range answers.Most { // the third is never used, the fifth most
		if i != 2 {
			must(t, s.Used(t.Context(), &answers.Entry{Quest: "first", Seq: uint64(i + 1)}, noon+event.Time(answers.Most-i)))
		}
	}
	put(t, s, "second", 1, all[answers.Most], noon+answers.Most)
	if n, err := s.Len(t.Context()); n != answers.Most || err != nil {
		t.Errorf("there are %d entries, %v", n, err)
	}
	put(t, s, "third", 1, all[answers.Most], noon+answers.Most)
	for i, want := range map[int]int{0: 1, 2: 0, 4: 1, answers.Most - 2: 1} {
		if m := find(t, s, all[i], noon+answers.Most); len(m) != want {
			t.Errorf("entry %d is found %d times, want %d", i, len(m), want)
		}
	}
	if m := find(t, s, all[answers.Most], noon+answers.Most); len(m) != 1 || m[0].Quest != "third" {
		t.Errorf("of two that were never used there is %v, want the younger", m)
	}
}

func TestAnAnswerGoesWithItsQuest(t *testing.T) {
	t.Parallel()
	s := open(t)
	q := question(t, "How late is it?")
	put(t, s, "first", 1, q, noon)
	put(t, s, "second", 1, q, noon)
	must(t, s.Forget(t.Context(), "first"))
	if m := find(t, s, q, noon); len(m) != 1 || m[0].Quest != "second" {
		t.Errorf("it finds %v", m)
	}
	must(t, s.Drop(t.Context(), &answers.Entry{Quest: "second", Seq: 1}))
	if m := find(t, s, q, noon); len(m) != 1 {
		t.Error("an entry of another hash was dropped")
	}
	must(t, s.Drop(t.Context(), &find(t, s, q, noon)[0].Entry))
	if m := find(t, s, q, noon); len(m) != 0 {
		t.Errorf("it finds %v", m)
	}
}
