package anthropic

import (
	"testing"

	"lyceum/internal/model/modeltest"
	"lyceum/internal/model/wire"
)

// TestWhatIsKeptChangesNoByte: a request is the same whether or not most of it was written before; of a model that
// adapts, and of one that is given a budget only where a loop of tools began with a thought.
func TestWhatIsKeptChangesNoByte(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-opus-4-6", "claude-sonnet-4-5"} {
		m := New(&wire.Client{}, Options{Provider: "acme"})
		t.Run(name, func(t *testing.T) { modeltest.ExerciseKept(t, name, m.write) })
	}
}
