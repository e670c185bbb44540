package demo

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/need"
	"lyceum/internal/tool"
)

// tasks are some of each kind.
var tasks = []string{
	"What is 17*23+4?", "What is 1/3-7?", "Compute 2.5*(3-1/7)^-3 - 12", "What is 9-5?",
	"How many primes are below 10?", "How many primes are below 100?",
	"What is the sum of the primes below 11?",
	"What is the 3rd prime?",
	"What is the 5th Fibonacci number?", "How many digits are in the 77th Fibonacci number?",
	"What is the sum of the digits of 10^5?", "How many digits are in 1!?",
	"What are the perfect numbers below 7?",
	"What is the longest Collatz chain below 3?",
	"How many partitions of 5 are there?", "How many partitions of 6 are there?", "How many partitions of 7 are there?",
	"How many divisors does 2 have?",
	"What is the sum of all multiples of 3 or 5 below 16?",
	"What is pi to 10 digits?", "What is e to 10 digits?",
	"What is ln 2 to 10 digits?", "What is the square root of 2 to 10 digits?", "What is the square root of 16 to 20 digits?",
	"What is the mean of a?", "What is the median of a for each g?", "What is the trend of a over b?",
}

// atLimit are as large as is tried; the budget of a calculation must suffice.
var atLimit = []string{
	"Compute 5+2^1000",
	"How many primes are up to 40000?",
	"What is the sum of all primes up to 40,000?",
	"What is the 3000th prime?",
	"What is the sum of the digits of the 4000th Fibonacci number?",
	"What is the sum of the digits of 2^3000?",
	"How many digits does 999999^333 have?",
	"What is the sum of the digits of 700!?",
	"How many perfect numbers are below 20000?",
	"What is the longest Collatz chain starting below 3000?",
	"What is the number of partitions of 600?",
	"What is the sum of the divisors of 1000000000?",
	"How many divisors does 999999937 have?",
	"What is the sum of the divisors of 735134400?",
	"What is the sum of the multiples of 7 or 11 up to 100000?",
	"What is pi to 1000 digits?",
	"What is e to 1000 digits?",
	"What is ln 2 to 1000 digits?",
	"What is the square root of 999999 to 1000 digits?",
}

// A mistake that changes nothing could not be caught, and a method that does not
// fit into the budget is none.
func TestEverySlipChangesTheResult(t *testing.T) {
	t.Parallel()
	list := tasks
	if !need.Detector {
		list = append(list, atLimit...)
	}
	for _, text := range list {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			plan := planned(t, text)
			var want string
			for i, m := range plan.methods {
				if m.prepare != nil {
					continue // its code needs the world; see the tests from outside
				}
				got := compute(t, m.code)
				if i == 0 {
					want = got
				}
				if got != want {
					t.Errorf("%s gives %.80q, %s gives %.80q", m.name, got, plan.methods[0].name, want)
				}
				for _, s := range m.slips {
					if wrong := compute(t, s.code); wrong == want {
						t.Errorf("%s: the mistake %q is not seen in the result %.80q", m.name, s.what, wrong)
					}
				}
			}
		})
	}
}

// For partitions it is not plain that the mistakes always show, so all are tried.
func TestSlipsOfPartitionsAlwaysShow(t *testing.T) {
	t.Parallel()
	p := []int64{1}
	q := []int64{1} // with the loop that ends early
	for m := 1; m <= 60; m++ {
		p, q = append(p, euler(p, m, m)), append(q, euler(q, m, m-1))
		if m >= 5 && p[m] == q[m] {
			t.Errorf("p(%d) is %d either way", m, p[m])
		}
	}
}

func euler(p []int64, m, bound int) int64 {
	total, sign := int64(0), int64(1)
	for k := 1; k*(3*k-1)/2 <= bound; k++ {
		total += sign * p[m-k*(3*k-1)/2]
		if k*(3*k+1)/2 <= m {
			total += sign * p[m-k*(3*k+1)/2]
		}
		sign = -sign
	}
	return total
}

func planned(t *testing.T, text string) *task {
	t.Helper()
	found, ok := recognise(newQuestion(text))
	if !ok {
		t.Fatal("it is not recognised")
	}
	if q, ok := found.(*tableQuestion); ok {
		table, err := readTable("t.csv", "a,b,g\n1.5,1,x\n,2,x\n2.25,3,y\n7,4,\"y\"\n3.00,5,x\n")
		if err != nil {
			t.Fatal(err)
		}
		s, trouble := q.choose(table, text)
		if trouble != "" {
			t.Fatalf("the question does not fit the table: %v", trouble)
		}
		return s.task()
	}
	plan, err := found.plan(nil)
	if err != nil || plan.refused != "" {
		t.Fatalf("the plan: got %v, refused %v", err, plan.refused)
	}
	return plan
}

func compute(t *testing.T, code string) string {
	t.Helper()
	out := tool.Builtin().Run(t.Context(), "calculate", tool.Call{Args: []byte(calculate(code).args)})
	if out.Error {
		t.Fatalf("the program failed: %s\n%s", out.Text, code)
	}
	return resultOf(out.Text)
}

func TestCharactersDiffer(t *testing.T) {
	t.Parallel()
	slips, swaps := 0, 0
	for seed := range uint64(1000) {
		c := characterOf(seed, "agent-0")
		if c.slip >= 0 {
			slips++
		}
		if c.swap {
			swaps++
		}
	}
	if slips < 550 || slips > 650 || swaps < 450 || swaps > 550 {
		t.Errorf("of 1000, %d make a mistake and %d begin with the second method", slips, swaps)
	}
	if characterOf(1, "agent-0") == characterOf(1, "agent-1") && characterOf(1, "agent-0") == characterOf(1, "agent-2") && characterOf(1, "agent-0") == characterOf(1, "agent-3") {
		t.Error("four agents of one seed are all alike")
	}
}

func TestPlainWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"How many primes are there below 10,000?":       "count primes below 10000",
		"Count the prime numbers less than one million": "count primes below 1000000",
		"the sum of the digits in 2**1000":              "sum digits 2^1000",
		"Compute π to 50 digits, and check it.":         "pi to 50 digits",
		"digit sum of 100!":                             "sum digits 100 factorial",
	} {
		if got := known(text); got != want {
			t.Errorf("known(%q) is %q, want %q", text, got, want)
		}
	}
}

// What is understood only in part must not be answered.
func TestTakesNoQuestionByHalf(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"How many odd primes are below 100?",
		"How many primes below 1000 leave the remainder 1 when divided by 4?",
		"How many twin primes are below 100?",
		"Which primes are below 100?",
		"What is the sum of the squares of the digits of 2^10?",
		"What is the 10th prime after 1000?",
		"How many primes are between 100 and 200?",
		"When was 2024-05-01?",
		"2024-05-01",
		"Call me at 555-1234.",
		"How many proper divisors does 12 have?",
		"What is pi?",
		"What is 7?",
		"", " ", "?", "。", "一百以内有多少个质数？", "1000以内有多少个质数？",
	} {
		found, ok := recognise(newQuestion(text))
		if _, table := found.(*tableQuestion); ok && !table {
			t.Errorf("%q is taken for %+v", text, found)
		}
	}
}

func TestTheLengthOfAnAnswerIsKept(t *testing.T) {
	t.Parallel()
	r := &model.Request{MaxTokens: 10, Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "What is 2+2?"}}}}}
	a, err := New(0).Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Stop != model.StopLength || a.Usage.Output > 10 || !strings.HasPrefix(Label, a.Parts[0].Text) {
		t.Errorf("an answer cut at ten tokens: got %+v", a)
	}
}
