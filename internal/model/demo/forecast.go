package demo

import (
	"fmt"
	"strings"
)

// forecast is a way to say what comes next in a series of months.
type forecast struct {
	// slug names its branch, name says it in words, and why is what one hopes for.
	slug, name, why string
	// formula sets f, the forecast of y[t], from what was before t.
	formula string
}

// The ways that the researcher knows. The first is what the others are measured against.
var (
	lastValue = forecast{
		"last", "the value of the month before",
		"Nothing is simpler, and whoever cannot beat it has learnt nothing.",
		"f = y[t-1]",
	}
	meanOfYear = forecast{
		"mean", "the mean of the twelve months before",
		"A mean is calmer than a single month: chance counts for less.",
		"f = 0; for (k = 1; k <= 12; k++) f += y[t-k] / 12",
	}
	yearBefore = forecast{
		"season", "the same month a year before, and what a year has added",
		"If the year has seasons, the same month of last year knows more than last month does; the mean of a year tells how much was added.",
		"a = b = 0; for (k = 1; k <= 12; k++) { a += y[t-k] / 12; b += y[t-12-k] / 12 } f = y[t-12] + a - b",
	}
	yearAlone = forecast{
		"season-alone", "the same month a year before, and nothing more",
		"This shows how much of the gain the growth from year to year is.",
		"f = y[t-12]",
	}
)

// span are the months that are forecast, counted back from the last.
type span struct {
	name     string
	from, to int
}

// tested are the months that every way is tried on; halves are parts of them.
var (
	tested = span{"the last 36 months", 35, 0}
	halves = []span{{"the first half of the last 36 months", 35, 18}, {"the last 18 months", 17, 0}}
)

// entrypoint is the program's file, and series the data beside it.
const (
	entrypoint = "evaluate.sh"
	seriesFile = "series.csv"
)

// evaluate is a program that forecasts each month of a span from those before it, and prints
// the mean of the absolute errors. Only sh and awk are used.
func (f forecast) evaluate(s span) string {
	return script(`
		# Forecasts each month of {span} from those before it, by {name}.
		awk -F, 'NR > 1 && $2 != "" { y[++n] = $2 }
		END {
			for (t = n - {from}; t <= n - {to}; t++) {
				{formula}
				e = y[t] - f
				sum += e < 0 ? -e : e
				count++
			}
			printf "metric mae %.4f\nmetric months %d\n", sum / count, count
		}' {file}
	`, "span", s.name, "name", f.name, "from", s.from, "to", s.to, "formula", f.formula, "file", seriesFile)
}

// figures are what a program printed, by name.
func figures(output string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(output) {
		if w := strings.Fields(line); len(w) == 3 && w[0] == "metric" {
			out[w[1]] = w[2]
		}
	}
	return out
}

// aSeries is a table that can be forecast: a column of names and one of numbers, with years
// enough.
type aSeries struct {
	path, column string
	months       int
}

// leastMonths are what the ways above need before the months that are tested.
const leastMonths = 60

// seriesIn reads a table.
func seriesIn(f file) (s aSeries, why string) {
	lines := strings.Split(strings.TrimSpace(f.text), "\n")
	head := strings.Split(strings.TrimSpace(lines[0]), ",")
	if len(head) != 2 {
		return s, fmt.Sprintf("%s has %d columns, and I forecast tables of two: the month and the value", f.path, len(head))
	}
	s = aSeries{path: f.path, column: strings.TrimSpace(head[1])}
	for _, line := range lines[1:] {
		_, value, _ := strings.Cut(strings.TrimSpace(line), ",")
		if !decimalText.MatchString(value) {
			return s, fmt.Sprintf("%s has a line without a number: %q", f.path, brief(line))
		}
		s.months++
	}
	if s.months < leastMonths {
		return s, fmt.Sprintf("%s has %d months, and I need %d", f.path, s.months, leastMonths)
	}
	return s, ""
}

var decimalText = late(`^-?\d+(\.\d+)?$`)
