package cli_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// readsVariable names the variable with the file to which a process adds a line for each event that it reads.
const readsVariable = "LYCEUM_TEST_READS"

// noting is a ledger that notes which events are read.
type noting struct {
	ledger.Store
	file string
}

func (n noting) Read(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range n.Store.Read(ctx, quest, seq) {
			f, failed := os.OpenFile(n.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if failed == nil {
				_, failed = f.WriteString(quest + "\n")
				_ = f.Close()
			}
			if failed != nil {
				panic(failed)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// reads are the quests whose events a command has read, once for each event, and what it printed.
func (h *home) reads(args ...string) (string, []string) {
	h.t.Helper()
	x := *h
	file := filepath.Join(h.t.TempDir(), "reads")
	x.env = append(slices.Clip(h.env), readsVariable+"="+file)
	out := x.ok(args...)
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return out, strings.Fields(string(data))
}

// TestAListReadsNoEvents: what list says of a quest is kept when the quest is made and when it comes to rest, as
// of its head. So the first list reads no event, says the same as one that has nothing to go by, and of a quest
// that was killed it reads what came after its snapshot.
func TestAListReadsNoEvents(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: one\nproblem: Work.\nmodel: script:plan.yaml\nlimits: {turns: 100}\n",
		"plan.yaml":  "rules:\n  - on: {turn: 1}\n    cost: \"0.5\"\n    call: [{tool: calculate, args: {code: \"1\"}}]\n  - on: {turn: 2}\n    call: [{tool: ask_person, args: {question: \"Which?\"}}]\n  - say: \"The end.\"\n",
		"ask.yaml":   "name: asks\nproblem: Work.\nmodel: script:plan.yaml\nmay_ask: true\n",
		"new.yaml":   "name: new\nproblem: Work.\nmodel: script:plan.yaml\n",
	})
	h.ok("create", "quest.yaml")
	h.ok("run", "one")
	h.run("run", "ask.yaml")
	h.ok("create", "new.yaml")
	first, read := h.reads("list", "--json")
	if len(read) > 0 {
		t.Errorf("the first list has read events of %v: want none", read)
	}
	for _, said := range []string{`"status": "finished"`, `"question": "Which?"`, `"status": "created"`} {
		if !strings.Contains(first, said) {
			t.Errorf("the list lacks %s:\n%s", said, first)
		}
	}
	forget := func() {
		for _, file := range []string{"lyceum-index.db", "lyceum-index.db-wal", "lyceum-index.db-shm"} {
			if err := os.Remove(filepath.Join(h.dir, file)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	table := h.ok("list")
	forget()
	if fresh, read := h.reads("list"); fresh != table || len(read) == 0 {
		t.Errorf("list says\n%s\nof %d events, and without them\n%s", fresh, len(read), table)
	}
	if again, read := h.reads("list", "--json"); again != first || len(read) > 0 {
		t.Errorf("list says\n%s\nof %d events, and said\n%s", again, len(read), first)
	}
	// An answer that nobody has taken yet is no event, and is shown all the same.
	h.ok("answer", "asks", "The second.")
	if said, read := h.reads("list", "--json"); !strings.Contains(said, `"answered": true`) || len(read) > 0 {
		t.Errorf("after an answer list says, having read events of %v:\n%s", read, said)
	}
	// A head that has moved since is never listed as it was.
	h.ok("fork", "one", "--at", "3", "--as", "two")
	h.dies(2, "after", "run", "two")
	moved, read := h.reads("list", "--json")
	if !slices.Contains(read, "two") || slices.Contains(read, "one") {
		t.Errorf("of a quest that was killed list has read the events %v: want its own, and of no other", read)
	}
	if h.ok("list", "--json") != moved {
		t.Error("two lists of the same heads differ")
	}
	// A run reads what there is once.
	before := strings.Count(h.ok("trace", "two", "--jsonl"), "\n")
	if _, read := h.reads("run", "two"); len(read) == 0 || len(read) > before+1 { // of the snapshot, one is looked at
		t.Errorf("a run of a quest with %d events has read %d", before, len(read))
	}
	h.ok("clean", "one", "--data", "--yes")
	if last := h.ok("list"); strings.Contains(last, "\none ") {
		t.Errorf("a quest that was removed is still listed:\n%s", last)
	}
}
