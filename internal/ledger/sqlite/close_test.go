package sqlite_test

import (
	"path/filepath"
	"testing"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/need"
)

// TestALedgerAtRestIsOneFile: whoever copies the file of a ledger that nobody has open has
// all of it.
func TestALedgerAtRestIsOneFile(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	for range 20 {
		path := filepath.Join(t.TempDir(), "lyceum.db")
		st, err := sqlite.Open(path, nil)
		must(t, err)
		must(t, st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, ledger.Head{Quest: "q"}, 1)}))
		must(t, st.Close())
		left, err := filepath.Glob(path + "-*")
		must(t, err)
		if len(left) > 0 {
			t.Fatalf("a ledger that was closed left %q beside itself", left)
		}
	}
}
