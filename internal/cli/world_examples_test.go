package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// judgedTiers are the verdicts of a quest's tiers, in order.
func (h *home) judgedTiers(quest string) (out []string) {
	h.t.Helper()
	for _, e := range h.told(quest, "tier.judged") {
		var x struct {
			Body struct {
				Attempt, Tier int
				Verdict       string
			}
		}
		must(h.t, json.Unmarshal([]byte(e.line), &x))
		out = append(out, strings.Join([]string{string(rune('0' + x.Body.Attempt)), string(rune('0' + x.Body.Tier)), x.Body.Verdict}, " "))
	}
	return out
}

// TestCounter: the page is refused by rules, then by the browser, then passes; its pictures are in
// the ledger, and who changes one is found.
func TestCounter(t *testing.T) {
	t.Parallel()
	need.Program(t, "chromium")
	h := architects(t, "counter")
	h.run("run", "q/quest.yaml").want(t, 0, "attempt 3: passed every tier", "NOT a language model")
	want := []string{"1 1 failed", "2 1 passed", "2 2 waived", "2 3 failed", "3 1 passed", "3 2 waived", "3 3 passed", "3 4 passed"}
	if got := h.judgedTiers("counter"); !slices.Equal(got, want) {
		t.Errorf("tiers: got %q, want %q", got, want)
	}
	results := h.told("counter", "analysis.result")
	if first := results[0].line; !strings.Contains(first, "a button without a name") {
		t.Errorf("the first draft: got %s, want that its button has no name", first)
	}
	if second := results[2].line; !strings.Contains(second, `"expected":"text of status is \"1\""`) || !strings.Contains(second, `StaticText \"0\"`) {
		t.Errorf("the second draft: got %s, want predicted 1, saw 0", second)
	}
	h.sound("counter")
	h.run("verify", "--execute", "counter").want(t, 0, "same           seq", "stories", "try", "8 computer calls: 8 the same, 0 different, 0 not checkable")
	var seen struct {
		Body struct {
			After struct{ Picture struct{ Hash string } }
		}
	}
	must(t, json.Unmarshal([]byte(h.told("counter", "world.observed")[0].line), &seen))
	hash := seen.Body.After.Picture.Hash
	if len(hash) != 64 {
		t.Fatalf("no picture in %+v", seen)
	}
	changed := 0
	must(t, filepath.WalkDir(filepath.Join(h.dir, "blobs"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), hash) {
			changed++
			must(t, os.Chmod(p, 0o600))
			err = os.WriteFile(p, []byte("another picture"), 0o600)
		}
		return err
	}))
	if changed != 1 {
		t.Fatalf("%d files hold the picture %s, want one", changed, hash)
	}
	h.run("verify", "counter").want(t, 1, hash)
}

// TestSorter: the program is found wrong by its stories, then passes, also what its author held
// out.
func TestSorter(t *testing.T) {
	t.Parallel()
	h := architects(t, "sorter")
	h.run("run", "q/quest.yaml").want(t, 0, "attempt 2: passed every tier", "held-out 1000 of 1000")
	want := []string{"1 1 passed", "1 2 waived", "1 3 failed", "2 1 passed", "2 2 waived", "2 3 passed", "2 4 passed"}
	if got := h.judgedTiers("sorter"); !slices.Equal(got, want) {
		t.Errorf("tiers: got %q, want %q", got, want)
	}
	h.sound("sorter")
	h.run("verify", "--execute", "sorter").want(t, 0, "checks", "stories", "try", "7 computer calls: 7 the same, 0 different, 0 not checkable")
	for _, e := range h.told("sorter", "agent.told", "message.sent", "tool.result", "model.call") {
		if strings.Contains(e.line, "100\\n20") {
			t.Errorf("an agent can read what was held out: %s", e.line)
		}
	}
	for _, e := range []string{"prediction.made", "world.call", "world.observed", "surprise.measured"} {
		if n := len(h.told("sorter", e)); n != 2 {
			t.Errorf("%s: got %d, want two", e, n)
		}
	}
}
