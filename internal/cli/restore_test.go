package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/need"
)

// alone is a home in a folder, with nothing in the environment that says where its ledger is.
func (h *home) alone(dir string) *home { return &home{t: h.t, dir: dir, work: h.work} }

// sameAs fails the test unless both homes have the same quests, to the byte.
func (h *home) sameAs(other *home, quests ...string) {
	h.t.Helper()
	for _, q := range quests {
		if got, want := h.ok("trace", q, "--jsonl"), other.ok("trace", q, "--jsonl"); got != want {
			h.t.Errorf("%s is not as it was: got\n%s\nwant\n%s", q, got, want)
		}
		h.run("verify", q).want(h.t, 0, "consistent")
	}
}

// TestABackupOfPostgresIsRestoredIntoEitherEngine: what was there is there again, with what was said and not heard; a restore that was
// killed goes on; and nothing runs in the copy until somebody has taken it over.
func TestABackupOfPostgresIsRestoredIntoEitherEngine(t *testing.T) {
	t.Parallel()
	h, server := elsewhere(t, askFiles)
	h.ok("run", "quest.yaml")
	h.ok("create", "quest.yaml", "--name", "later")
	h.run("message", "ask", "Once again, please.").want(t, 0)
	quests := []string{"ask", "later"}
	folder, file := filepath.Join(h.work, "monday"), filepath.Join(h.work, "monday.tar")
	h.run("backup", folder).want(t, 0, "Backed up 2 quests")
	h.ok("backup", file)
	h.alone(folder).sameAs(h, quests...) // it leads nobody to the database that it was made of

	address, err := server.Database(t.Name() + " again")
	must(t, err)
	there := newHome(t, askFiles)
	there.env = append([]string{"LYCEUM_LEDGER=" + address, "LYCEUM_BLOBS=" + bucket(t, s3test.Strict)}, awsKeys...)
	for at, how := range []string{"before", "after"} {
		if l := there.dies(at+1, how, "restore", folder); l.code != -1 {
			t.Fatalf("the process did not die: %d\n%s", l.code, l.errOut)
		}
		there.run("take-over").want(t, 1, "not all of", "lyceum restore "+folder)
	}
	there.run("restore", file).want(t, 1, "began to restore this ledger from "+folder)
	there.run("restore", folder).want(t, 0, "Restored 2 quests", "lyceum take-over")
	there.run("restore", folder).want(t, 1, "is in this ledger already")
	there.sameAs(h, quests...)
	must(t, os.RemoveAll(folder)) // none of it is needed any more
	there.run("run", "later").want(t, 1, "is a copy", "lyceum take-over")
	there.run("message", "ask", "And here?").want(t, 1, "is a copy", "lyceum take-over")
	there.run("take-over").want(t, 0, "goes on")
	there.run("take-over").want(t, 1, "no copy")
	there.run("run", "ask").want(t, 0, "Once more: 42.")
	there.sound("ask")

	files := newHome(t, askFiles)
	files.run("restore", file).want(t, 0, "Restored 2 quests")
	files.sameAs(h, quests...)
	files.run("run", "later").want(t, 1, "is a copy")
	files.ok("take-over")
	files.ok("run", "later")
	files.sound("later")
}

func TestWhatRestoreRefuses(t *testing.T) {
	t.Parallel()
	h := newHome(t, askFiles)
	h.ok("create", "quest.yaml")
	to := filepath.Join(h.work, "monday")
	h.ok("backup", to)
	h.run("restore", to).want(t, 1, "this ledger has 1 quest,", "--ledger", "--home")
	h.run("take-over").want(t, 1, "no copy")
	other := newHome(t, map[string]string{"half.tar": "no tar at all"})
	other.run("restore", filepath.Join(h.work, "tuesday")).want(t, 1, "no backup of a home")
	other.run("restore", "half.tar").want(t, 1, "no tar that lyceum backup made")
	if rest, err := filepath.Glob(filepath.Join(other.dir, ".restore-*")); err != nil || len(rest) > 0 {
		t.Errorf("a restore that was refused has left %v, %v; want nothing", rest, err)
	}
	other.run("restore", to).want(t, 0, "Restored 1 quest (") // what was refused has marked nothing
}

// TestBackupsOfPostgresInUse backs up while quests run, end, and are removed. Every backup is whole.
func TestBackupsOfPostgresInUse(t *testing.T) {
	t.Parallel()
	h, _ := elsewhere(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": slowPlan})
	h.ok("create", "quest.yaml", "--name", "first")
	// One after the other: who collects while another removes a quest may not find it, and says so.
	ran, _, stop := h.turnover(1, func(string) string { return "quest.yaml" })
	running, rounds := 0, need.Times(3, 20)
	for round := 0; round < rounds || running < rounds; round++ {
		b := h.alone(filepath.Join(h.work, fmt.Sprint("b", round)))
		h.run("backup", b.dir).want(t, 0, "Backed up")
		running += len(b.names()) - 1
		b.whole()
		must(t, os.RemoveAll(b.dir))
	}
	stop()
	t.Logf("%d quests ran; %d backups had %d that were running", *ran, rounds, running)
}
