package study

import (
	"bytes"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// What is better.
const (
	Higher = "higher"
	Lower  = "lower"
)

// Bounds of metrics.
const (
	MaxMetrics = 32
	maxName    = 64
	maxUnit    = 40
)

// CheckMetrics says what is wrong with the figures of a result.
func CheckMetrics(list []event.Metric) error {
	if len(list) == 0 || len(list) > MaxMetrics {
		return fmt.Errorf("a result has 1 to %d metrics", MaxMetrics)
	}
	seen := map[string]bool{}
	for i := range list {
		if err := checkMetric(&list[i]); err != nil {
			return err
		}
		if seen[list[i].Name] {
			return fmt.Errorf("the metric %q is there twice", list[i].Name)
		}
		seen[list[i].Name] = true
	}
	return nil
}

func checkMetric(m *event.Metric) error {
	if !isMetric(m.Name) {
		return fmt.Errorf("%.40q is no name of a metric: it has 1 to %d letters, digits, and any of . _ - / %% @", m.Name, maxName)
	}
	tolerance, err := ParseDecimal(orZero(m.Tolerance))
	switch {
	case m.Direction != Higher && m.Direction != Lower:
		return fmt.Errorf("the metric %s has no direction: say whether higher or lower is better", m.Name)
	case len(m.Unit) > maxUnit || plain.Papers.In(m.Unit):
		return fmt.Errorf("the unit of %s must be one line of at most %d bytes", m.Name, maxUnit)
	case m.Data.IsZero():
		return fmt.Errorf("the metric %s does not say what it was measured on: data is the SHA-256 of that", m.Name)
	case err != nil:
		return fmt.Errorf("the tolerance of %s: %w", m.Name, err)
	case tolerance.unit.Sign() < 0:
		return fmt.Errorf("the tolerance of %s is less than 0", m.Name)
	}
	if _, err := ParseDecimal(m.Value); err != nil {
		return fmt.Errorf("the value of %s: %w", m.Name, err)
	}
	return nil
}

func isMetric(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-/%@", rune(c)) {
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}

// number is a decimal that was looked at before: it stands in an event that has been checked.
func number(text string) *Decimal {
	d, err := ParseDecimal(orZero(text))
	if err != nil {
		panic(err)
	}
	return &d
}

// maxLine is how long a line of output is looked at for a figure.
const maxLine = 512

// ReadFigures are the values that an output has for metrics, in lines "metric <name> <value>".
// Of several lines for one the last counts. What is no decimal is empty, as what is not there.
func ReadFigures(names []string, output []byte) map[string]string {
	out := map[string]string{}
	for _, n := range names {
		out[n] = ""
	}
	for len(output) > 0 {
		line, rest, _ := bytes.Cut(output, []byte("\n"))
		output = rest
		if len(line) > maxLine || !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("metric")) {
			continue
		}
		f := strings.Fields(string(line))
		if len(f) < 2 || f[0] != "metric" {
			continue
		}
		if _, wanted := out[f[1]]; !wanted {
			continue
		}
		out[f[1]] = ""
		if len(f) == 3 {
			if _, err := ParseDecimal(f[2]); err == nil {
				out[f[1]] = f[2]
			}
		}
	}
	return out
}

// How a figure stands to another.
const (
	Better        = "better"
	Worse         = "worse"
	Tie           = "tie"
	NotComparable = "not comparable"
)

// Standing is how a metric of a result stands to that of another.
type Standing struct {
	Metric string
	// Outcome is better, worse, tie or not comparable; Why says why not.
	Outcome, Why string
	// Value and Other are the two figures, Apart how much the first is more.
	Value, Other, Apart string
}

// Compare says how a figure stands to another.
func Compare(m, to *event.Metric) Standing {
	out := Standing{Metric: m.Name, Value: m.Value, Other: to.Value}
	switch {
	case m.Name != to.Name:
		out.Why = fmt.Sprintf("another metric, %s", to.Name)
	case m.Unit != to.Unit:
		out.Why = fmt.Sprintf("another unit, %q and %q", m.Unit, to.Unit)
	case m.Direction != to.Direction:
		out.Why = "one wants it higher, the other lower"
	case m.Data != to.Data:
		out.Why = "measured on other data"
	}
	if out.Why != "" {
		out.Outcome = NotComparable
		return out
	}
	a, b := number(m.Value), number(to.Value)
	tolerance := number(m.Tolerance)
	if t := number(to.Tolerance); t.Cmp(tolerance) > 0 {
		tolerance = t
	}
	apart := a.Minus(b)
	out.Apart = apart.String()
	switch more := a.Cmp(b) > 0; {
	case a.Within(b, tolerance):
		out.Outcome = Tie
	case more == (m.Direction == Higher):
		out.Outcome = Better
	default:
		out.Outcome = Worse
	}
	return out
}

// Line is a standing as it is shown.
func (x *Standing) Line() string {
	if x.Outcome == NotComparable {
		return fmt.Sprintf("%s: not comparable: %s", x.Metric, x.Why)
	}
	return fmt.Sprintf("%s: %s, %s against %s (%s)", x.Metric, x.Outcome, x.Value, x.Other, x.Apart)
}
