package compute

import (
	"testing"

	"lyceum/internal/starlark/starlarktest"
)

// TestProgramsSayWhatTheyAlwaysSaid: what a program prints, how it fails and what
// it needs land in ledgers, and are those of the first release, but
// where a price was missing.
func TestProgramsSayWhatTheyAlwaysSaid(t *testing.T) {
	t.Parallel()
	more := map[string]string{}
	for _, name := range Names() {
		more["program/"+name], _ = Program(name)
	}
	files := data{"a.csv": rates, "d/b.csv": peaks, "c.csv": "x,y\n1,2\n2,nan\n", "d.bin": "\xff", ".hidden": "x"}.files()
	starlarktest.Golden(t, "testdata/interpret.txtar", more, []starlarktest.Limit{{Name: "steps", Most: 100_000}, {Name: "memory", Most: 1 << 20}},
		func(code string, most []int) (string, error) {
			out, err := interpret(t.Context(), code, files, limits{steps: uint64(most[0]), memory: uint64(most[1]), output: 64 << 10, input: 1 << 20, text: 64 << 10})
			return string(out), err
		})
}
