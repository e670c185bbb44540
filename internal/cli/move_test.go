package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/need"
)

// TestQuestsMoveToPostgresAndBack: what is there then is what was here, to the byte, and what was said to a quest waits
// there; here it does not run any more. A move that was killed goes on.
func TestQuestsMoveToPostgresAndBack(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	_, address := database(t)
	store := bucket(t, s3test.Strict)
	h := newHome(t, exampleFiles(t, "lab-number"))
	must(t, writeFolder(h.work, askFiles))
	h.env = append(h.env, awsKeys...)
	h.ok("run", "quest.yaml", "--name", "ask")
	must(t, writeFolder(h.work, exampleFiles(t, "lab-number")))
	h.ok("run", "quest.yaml")
	h.run("message", "ask", "Once again, please.").want(t, 0)
	h.ok("token", "create", "--scope", "read", "--note", "a test")
	there := &home{}
	*there = *h
	there.env = append(there.env[:len(there.env):len(there.env)], "LYCEUM_LEDGER="+address, "LYCEUM_BLOBS="+store)
	quests := []string{"ask", "lab-number"}
	before := map[string][2]string{}
	for _, q := range quests {
		before[q] = [2]string{h.ok("trace", q, "--jsonl"), crateOf(h, q, "before")}
	}
	h.run("move").want(t, 2, "--to postgres://")
	h.run("move", "--to", "home").want(t, 2, "there already")
	h.run("move", "--to", "postgres://ada:secret@db/lyceum").want(t, 2, "PGPASSFILE")
	for at, how := range []string{"before", "after"} { // in this order: after the second, only one append may be left
		if l := h.dies(at+1, how, "move", "--to", address, "--to-blobs", store); l.code != -1 {
			t.Fatalf("the process did not die: %d\n%s", l.code, l.errOut)
		}
	}
	h.run("move", "--to", address, "--to-blobs", store).want(t, 0, "verified there", "write ledger:")
	h.run("move", "--to", address, "--to-blobs", store).want(t, 0, "ask has moved before")
	h.run("run", "ask").want(t, 1, "has moved to another ledger: postgres://", "move it back")
	h.run("message", "ask", "And here?").want(t, 1, "has moved to another ledger: postgres://")
	for _, q := range quests {
		if got := there.ok("trace", q, "--jsonl"); got != before[q][0] {
			t.Errorf("%s has other events there: got\n%s\nwant\n%s", q, got, before[q][0])
		}
		if crateOf(there, q, "after") != before[q][1] {
			t.Errorf("the crate of %s is another there", q)
		}
		there.run("replay", q).want(t, 0, "identical")
	}
	if l := there.run("list"); strings.Contains(l.errOut, "too, which are not in this list") {
		t.Errorf("list speaks of quests that have moved: %s", l.errOut)
	}
	there.run("token", "list").want(t, 0, "a test")
	blobs, away := filepath.Join(h.dir, "blobs"), filepath.Join(h.work, "blobs")
	must(t, os.Rename(blobs, away)) // none of them is needed
	there.run("run", "ask").want(t, 0, "Once more: 42.")
	must(t, os.RemoveAll(blobs))
	must(t, os.Rename(away, blobs))
	there.run("move", "--to", "home", "--to-blobs", "home", "ask").want(t, 0, "ask: ", "verified there")
	there.run("message", "ask", "And here?").want(t, 1, "has moved to another ledger: home")
	h.sound("ask")
	if here, there := h.ok("trace", "ask", "--jsonl"), there.ok("trace", "ask", "--jsonl"); here != there || here == before["ask"][0] {
		t.Errorf("what went on there is not here: got\n%s\nwant\n%s", here, there)
	}
	h.run("message", "ask", "And again.").want(t, 0)
	h.ok("run", "ask")
	h.sound("ask")
}

// crateOf is the crate of a quest.
func crateOf(h *home, quest, name string) string {
	h.t.Helper()
	path := filepath.Join(h.work, quest+"-"+name+".zip")
	h.ok("export", quest, path)
	data, err := os.ReadFile(path)
	must(h.t, err)
	return string(data)
}
