package tool

import (
	"testing"

	"lyceum/internal/starlark/starlarktest"
)

// TestCalculateSaysWhatItAlwaysSaid: what a calculation prints, how it fails and
// how many steps it takes land in ledgers, and are those of the first release, but
// where a price was missing.
func TestCalculateSaysWhatItAlwaysSaid(t *testing.T) {
	t.Parallel()
	starlarktest.Golden(t, "testdata/calculate.txtar", nil, []starlarktest.Limit{{Name: "steps", Most: 100_000}},
		func(code string, most []int) (string, error) { return calculate(t.Context(), code, uint64(most[0])) })
}
