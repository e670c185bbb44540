package plain_test

import (
	"testing"

	"lyceum/internal/plain"
)

func TestLabelsHaveNoMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"## Answer":                          "Answer",
		"- **35.09** kJ/mol by `fit.py` [1]": "35.09 kJ/mol by fit.py [1]",
		"See [the paper](https://x.example/a) and *this*.": "See the paper and this.",
		"![a plot](plot.png) shows _much_":                 "a plot shows much",
		"> quoted\n```python\nprint(1)\n```":               "quoted\n\nprint(1)",
		"2*3*4 = 24, a_b_c and f(x) = x**2 + y**2":         "2*3*4 = 24, a_b_c and f(x) = x**2 + y**2",
		"cut in the **middle of":                           "cut in the middle of",
		"#1 of 3, 5 > 3":                                   "#1 of 3, 5 > 3",
		"":                                                 "",
	} {
		if got := plain.Unmarked(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
