package sqlite_test

import (
	"path/filepath"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/sqlite"
)

// old makes a ledger of the format after n of the product's migrations, with the
// quest q of 40 events in it, and returns its path.
func old(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lyceum.db")
	st, err := sqlite.OpenWith(path, sqlite.Migrations()[:n], sqlite.Options{})
	must(t, err)
	must(t, st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, ledger.Head{Quest: "q"}, 40)}))
	must(t, st.Close())
	return path
}

func TestALedgerOfFormat1IsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := old(t, 0)
	st, err := sqlite.Open(path, nil)
	must(t, err)
	defer st.Close()
	if n, err := count(t, st, "q"); err != nil || n != 40 {
		t.Errorf("the quest has %d events, %v; want 40", n, err)
	}
	if err := st.PutToken(t.Context(), ledger.Token{ID: "new", Hash: event.HashOf(nil)}); err != nil {
		t.Errorf("what the new format has cannot be used: %v", err)
	}
}
