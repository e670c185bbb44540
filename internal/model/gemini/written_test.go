package gemini

import (
	"testing"

	"lyceum/internal/model/modeltest"
	"lyceum/internal/model/wire"
)

// TestWhatIsKeptChangesNoByte: a request is the same whether or not most of it was written before.
func TestWhatIsKeptChangesNoByte(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gemini-2.5-flash", "gemini-3-pro"} {
		m := New(&wire.Client{}, Options{Provider: "acme"})
		t.Run(name, func(t *testing.T) { modeltest.ExerciseKept(t, name, m.write) })
	}
}
