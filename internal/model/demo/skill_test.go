package demo_test

import (
	"encoding/csv"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/model/demo"
	"lyceum/internal/society"
)

// The values below are computed here, in Go, by other means than the programs'.

func isPrime(n int) bool { return big.NewInt(int64(n)).ProbablyPrime(0) }

func sumPrimes(below int, f func(int) int) int {
	total := 0
	for k := range below {
		if isPrime(k) {
			total += f(k)
		}
	}
	return total
}

func fib(n int) *big.Int {
	a, b := big.NewInt(0), big.NewInt(1)
	for range n {
		a.Add(a, b)
		a, b = b, a
	}
	return a
}

func digitSum(n *big.Int) int {
	total := 0
	for _, c := range n.String() {
		total += int(c - '0')
	}
	return total
}

func collatz(below int) (start, best int) {
	for s := 1; s < below; s++ {
		terms := 1
		for k := s; k != 1; terms++ {
			if k%2 == 0 {
				k /= 2
			} else {
				k = 3*k + 1
			}
		}
		if terms > best {
			start, best = s, terms
		}
	}
	return start, best
}

// partitions counts those of n with parts of at most largest.
func partitions(n, largest int, known map[[2]int]int) int {
	if n == 0 {
		return 1
	}
	if n < 0 || largest == 0 {
		return 0
	}
	key := [2]int{n, largest}
	if _, ok := known[key]; !ok {
		known[key] = partitions(n-largest, largest, known) + partitions(n, largest-1, known)
	}
	return known[key]
}

func divisors(n int) (count, sum int) {
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			count, sum = count+1, sum+d
		}
	}
	return count, sum
}

func multiples(a, b, below int) int {
	total := 0
	for k := range below {
		if k%a == 0 || k%b == 0 {
			total += k
		}
	}
	return total
}

// root is the square root of n, cut after k decimals.
func root(n, k int64) string {
	x := new(big.Int).Exp(big.NewInt(10), big.NewInt(2*k), nil)
	text := x.Sqrt(x.Mul(x, big.NewInt(n))).String()
	return text[:len(text)-int(k)] + "." + text[len(text)-int(k):]
}

// comma writes a number from 10,000 on as the answers do.
func comma(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return comma(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// questions and the beginnings of their answers.
func questions() map[string]string {
	start, terms := collatz(500)
	count, sum := divisors(360360)
	return map[string]string{
		"What is 17*23+4?":                                     fmt.Sprintf("**%d**", 17*23+4),
		"Compute (1/3 + 0.25) * 12 - 2^-2.":                    "**" + new(big.Rat).Sub(new(big.Rat).Mul(big.NewRat(7, 12), big.NewRat(12, 1)), big.NewRat(1, 4)).RatString() + "**",
		"What is 20!?":                                         fmt.Sprintf("**%v**", new(big.Int).MulRange(1, 20)),
		"17*23+4等于多少？":                                         "**395**",
		"5/(2-2)":                                              "**Undefined**",
		"How many primes are there below 2,000?":               fmt.Sprintf("**%d**", sumPrimes(2000, func(int) int { return 1 })),
		"How many primes are up to 101?":                       fmt.Sprintf("**%d**", sumPrimes(102, func(int) int { return 1 })),
		"What is the sum of all primes below 2,000?":           "**" + comma(sumPrimes(2000, func(p int) int { return p })) + "**",
		"Find the 200th prime, please.":                        "**1223**",
		"What is the 90th Fibonacci number?":                   fmt.Sprintf("**%v**", fib(90)),
		"Sum of the digits of the 1000th Fibonacci number?":    fmt.Sprintf("**%d**", digitSum(fib(1000))),
		"What is the sum of the digits of 2^1000?":             fmt.Sprintf("**%d**", digitSum(new(big.Int).Lsh(big.NewInt(1), 1000))),
		"What is the sum of the digits of 100!?":               fmt.Sprintf("**%d**", digitSum(new(big.Int).MulRange(1, 100))),
		"What are the perfect numbers below 1000?":             "**3**: [6, 28, 496].",
		"What is the longest Collatz chain below 500?":         fmt.Sprintf("**%d**: the longest chain starts at %d and has %d terms", start, start, terms),
		"What is the number of partitions of 60?":              "**" + comma(partitions(60, 60, map[[2]int]int{})) + "**",
		"How many divisors does 360360 have?":                  fmt.Sprintf("**%d**", count),
		"What is the sum of the divisors of 360360?":           "**" + comma(sum) + "**",
		"What is the sum of all multiples of 3 or 5 below 40?": fmt.Sprintf("**%d**", multiples(3, 5, 40)),
		"What is the square root of 2 to 60 digits?":           "**" + root(2, 60) + "**",
		"What is pi to 50 digits?":                             "**3.14159265358979323846264338327950288419716939937510**",
		"What is e to 50 decimal places?":                      "**2.71828182845904523536028747135266249775724709369995**",
		"What is ln 2 to 40 digits?":                           "**0.6931471805599453094172321214581765680755**",
		"What is the mean of the temperature in wells.csv?":    "Result: the mean of the column temperature_c, in wells.csv.\n\n- **all rows: mean " + wellMean(func([]string) bool { return true }) + "**",
		"What is the mean temperature of Birch in wells.csv?":  "Result: the mean of the column temperature_c, for the rows whose well is \"Birch\", in wells.csv.\n\n- **all rows: mean " + wellMean(func(r []string) bool { return r[1] == "Birch" }) + "**",
	}
}

const wellsPath = "../../../examples/demo-data/data/wells.csv"

func wells() string {
	data, err := os.ReadFile(wellsPath)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// wellMean is the mean of the temperatures in the example, as the answer has it.
func wellMean(keep func([]string) bool) string {
	rows, err := csv.NewReader(strings.NewReader(wells())).ReadAll()
	if err != nil {
		panic(err)
	}
	sum, n := new(big.Rat), int64(0)
	for _, r := range rows[1:] {
		if x, ok := new(big.Rat).SetString(r[2]); ok && keep(r) {
			sum.Add(sum, x)
			n++
		}
	}
	return "about " + sum.Quo(sum, big.NewRat(n, 1)).FloatString(6)
}

func TestEverySkillIsRightWithEverySeed(t *testing.T) {
	t.Parallel()
	for question, want := range questions() {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			mistakes := 0
			for seed := range uint64(50) {
				q := newQuest(t, seed, question, map[string]string{"wells.csv": wells()})
				answer := q.run(t)
				if !strings.HasPrefix(answer, want) {
					t.Fatalf("seed %d: want %q in\n%s", seed, want, q)
				}
				transcript := q.String()
				disagreed, caught := strings.Contains(transcript, "DISAGREE"), strings.Contains(answer, "A mistake was made on the way and caught")
				if disagreed != caught {
					t.Fatalf("seed %d: disagreed is %v, caught is %v\n%s", seed, disagreed, caught, q)
				}
				if caught {
					mistakes++
				}
				labelled(t, q)
				q.programsRun(t)
			}
			t.Logf("%d of 50 seeds made a mistake and caught it", mistakes)
			if hasMistakes := !strings.Contains("What is 20!? 5/(2-2)", question) && !strings.HasPrefix(question, "Compute (1/3"); hasMistakes && (mistakes < 17 || mistakes == 50) {
				t.Errorf("%d of 50 seeds made a mistake", mistakes)
			}
		})
	}
}

// labelled wants the label in the first words and in the answer.
func labelled(t *testing.T, q *quester) {
	t.Helper()
	if first := q.messages[1].Parts[0].Text; !strings.HasPrefix(first, demo.Label) {
		t.Errorf("the first words are %q", first)
	}
	if last := q.messages[len(q.messages)-1].Parts[0].Text; !strings.Contains(last, demo.Label) {
		t.Errorf("the answer is %q", last)
	}
	if n := strings.Count(q.messages[1].Parts[0].Text, demo.Label); len(q.messages) > 2 && n != 1 {
		t.Errorf("the label is there %d times", n)
	}
}

// programsRun wants the notes, and the programs as they were run.
func (q *quester) programsRun(t *testing.T) {
	t.Helper()
	notes, err := os.ReadFile(filepath.Join(q.dir, "notes.md"))
	if err != nil || !strings.Contains(string(notes), "## Result") {
		t.Errorf("notes.md: %v\n%s", err, notes)
	}
	run := map[string]bool{}
	for _, c := range q.calls("calculate") {
		run[c["code"]] = true
	}
	files, err := filepath.Glob(filepath.Join(q.dir, "programs", "*.star"))
	if err != nil || len(files) != len(run) {
		t.Errorf("%d programs were run, %d are kept: %v", len(run), len(files), err)
	}
	for _, f := range files {
		if code, err := os.ReadFile(f); err != nil || !run[string(code)] {
			t.Errorf("%s was not run as it is: %v", f, err)
		}
	}
}

func TestExamplesWork(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"demo-number": "**1229**",
		"demo-data":   "outlier in line 20, value 88",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "../../../examples/" + name + "/quest.yaml"
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := society.All().ParseSpec(path, data)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{}
			if spec.Data != "" {
				files["wells.csv"] = wells()
			}
			q := newQuest(t, 0, spec.Problem, files)
			if q.model, err = demo.Open(spec.Model); err != nil {
				t.Fatal(err)
			}
			q.tools = spec.Tools
			answer := q.run(t)
			if !strings.Contains(answer, want) || !strings.Contains(answer, "A mistake was made on the way and caught") {
				t.Errorf("the example should show a mistake and %q:\n%s", want, q)
			}
			if strings.Contains(answer, "not take into account") {
				t.Errorf("the example is not understood as a whole:\n%s", answer)
			}
			if q.turns > *spec.Limits.Turns {
				t.Errorf("%d turns", q.turns)
			}
		})
	}
}
