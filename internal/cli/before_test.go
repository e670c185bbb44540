package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/cli"
)

// TestQuestsMadeBefore holds that what an earlier build recorded stays as it is: the
// crates of all examples and of forks of them, made by the first build with today's rules
// (scripts/fixtures), are imported, verify, replay to the byte, and are shown as that build
// showed them.
func TestQuestsMadeBefore(t *testing.T) {
	t.Parallel()
	crates, err := filepath.Glob("testdata/before/*.zip")
	if err != nil || len(crates) < 10 {
		t.Fatalf("crates of the earlier build: got %d (%v), want 10", len(crates), err)
	}
	for _, crate := range crates {
		name := strings.TrimSuffix(filepath.Base(crate), ".zip")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			lyceum := func(args ...string) string {
				t.Helper()
				var out, errs bytes.Buffer
				if code := cli.Main(t.Context(), append(args, "--home", home), strings.NewReader(""), &out, &errs); code != 0 {
					t.Fatalf("lyceum %s: exit code %d, want 0\n%s", strings.Join(args, " "), code, errs.String())
				}
				return strings.ReplaceAll(out.String(), home, "HOME")
			}
			lyceum("verify", crate)
			lyceum("replay", crate)
			lyceum("import", crate)
			lyceum("verify", name)
			lyceum("replay", name)
			for what, args := range map[string][]string{
				"show":     {"show", name, "--json"},
				"evidence": {"show", name, "--evidence", "--json"},
				"beliefs":  {"show", name, "--beliefs", "--json"},
				"papers":   {"publication", "list", name, "--json"},
			} {
				want, err := os.ReadFile(filepath.Join("testdata", "before", name+"."+what+".json"))
				if os.IsNotExist(err) && what != "show" {
					continue // papers are a lab's, evidence a contract net's
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := lyceum(args...); got != string(want) {
					t.Errorf("lyceum %s: got\n%s\nwant\n%s", strings.Join(args, " "), got, want)
				}
			}
		})
	}
}
