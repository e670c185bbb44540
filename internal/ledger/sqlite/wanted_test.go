package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/sqlite"
)

// TestMarksOfAnOlderHomeAreTakenOverOnce: before format 5 a file said that a server was to go on with a quest.
func TestMarksOfAnOlderHomeAreTakenOverOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := old(t, dir)
	st, err := sqlite.OpenWith(path, sqlite.Options{}, nil, nil)
	must(t, err)
	first := map[string]event.Hash{}
	for _, q := range []string{"runs", "waits", "another"} {
		events := ledgertest.Chain(t, ledger.Head{Quest: q}, 2)
		must(t, st.Append(t.Context(), ledger.Batch{Quest: q, Events: events}))
		first[q] = events[0].Hash
	}
	must(t, st.Close())
	marks := filepath.Join(dir, "serving")
	must(t, os.Mkdir(marks, 0o700))
	for name, text := range map[string]string{
		"runs":    first["runs"].String() + "\n",
		"waits":   first["waits"].String() + "\nwaits 2 " + first["runs"].String() + " 7 9\n",
		"another": first["runs"].String() + "\n", // a quest of the name that is gone
		"gone":    first["runs"].String() + "\n",
		"torn":    "",
	} {
		must(t, os.WriteFile(filepath.Join(marks, name), []byte(text), 0o600))
	}
	for range 2 {
		st, err := sqlite.Open(path, nil)
		must(t, err)
		list, err := st.AllWanted(t.Context())
		must(t, err)
		if len(list) != 2 || list[0].Quest != "runs" || list[0].Rest != nil || list[1].Quest != "waits" || list[1].Rest == nil ||
			*list[1].Rest != (ledger.Rest{Seq: 2, Hash: first["runs"], Inbox: 7, Due: 9}) {
			t.Errorf("to run are %+v, want runs, and waits with how it stands", list)
		}
		if _, err := os.Stat(marks); !os.IsNotExist(err) {
			t.Errorf("the folder of marks: got %v, want it gone", err)
		}
		must(t, st.Close())
	}
}

func TestNothingInABackupIsToRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := open(dir)
	must(t, err)
	defer st.Close()
	must(t, st.Append(t.Context(), ledger.Batch{Quest: "q", Events: ledgertest.Chain(t, ledger.Head{Quest: "q"}, 1)}))
	must(t, st.Want(t.Context(), ledger.Wanted{Quest: "q"}))
	to := filepath.Join(t.TempDir(), "lyceum.db")
	must(t, st.(*sqlite.Store).Backup(t.Context(), to, nil))
	backup, err := sqlite.Open(to, nil)
	must(t, err)
	defer backup.Close()
	if list, err := backup.AllWanted(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("in the backup are to run %+v, %v; want none", list, err)
	}
}
