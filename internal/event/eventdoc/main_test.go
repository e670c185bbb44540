package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/need"
)

func TestPageIsFresh(t *testing.T) {
	t.Parallel()
	if err := run(".", true); err != nil {
		t.Error(err)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	text := readPage(t)
	t.Run("TellsOfEveryTypeWhetherItIsAnInput", func(t *testing.T) {
		t.Parallel()
		for _, typ := range event.Types() {
			heading := "\n### " + string(typ) + "\n\n*Derived*\n"
			if typ.Input() {
				heading = "\n### " + string(typ) + "\n\n*Input*\n"
			}
			if n := strings.Count(text, heading); n != 1 {
				t.Errorf("%d sections begin with %q", n, heading)
			}
		}
		if got, want := strings.Count(text, "\n*Derived*\n")+strings.Count(text, "\n*Input*\n"), len(event.Types()); got != want {
			t.Errorf("%d sections for %d types", got, want)
		}
	})
	t.Run("LinksOnlyToHeadingsThatStandOnce", func(t *testing.T) {
		t.Parallel()
		headings := map[string]int{}
		for _, m := range regexp.MustCompile(`(?m)^##+ (.*)$`).FindAllStringSubmatch(text, -1) {
			headings[anchor(m[1])]++
		}
		links := regexp.MustCompile(`\]\(#(.*?)\)`).FindAllStringSubmatch(text, -1)
		if len(links) < len(event.Types()) {
			t.Errorf("%d links for %d types", len(links), len(event.Types()))
		}
		for _, m := range links {
			if headings[m[1]] != 1 {
				t.Errorf("%d headings for the link to #%s", headings[m[1]], m[1])
			}
		}
	})
	t.Run("DescribesMembers", func(t *testing.T) {
		t.Parallel()
		for _, row := range []string{
			"| `agents` | array of objects, [AgentSpec](#agentspec) |  | Agents in the order in which the rules visit them. |",
			"| `seed` | string of decimal digits |  |  |",
			"| `seed` | string of decimal digits | yes |  |",
			"| `at` | string, [Time](#time) |  |  |",
			"| `thinking` | boolean | yes |  |",
			"| `tool_names` | array of strings | yes | ToolNames are the names in Tools, sorted: what the rules need of it. |",
			"| `cost` | integer | yes | Cost in nanodollars. |",
		} {
			if !strings.Contains(text, "\n"+row+"\n") {
				t.Errorf("no row %s", row)
			}
		}
	})
}

// The page promises that anyone can check a ledger with these few lines.
func TestRecipeOfThePage(t *testing.T) {
	t.Parallel()
	need.Programs(t, "sh", "sed", "xxd", "sha256sum")
	_, recipe, _ := strings.Cut(readPage(t), "```sh\n")
	recipe, _, found := strings.Cut(recipe, "```\n")
	if !found {
		t.Fatal("the page has no recipe")
	}
	golden, err := os.ReadFile(filepath.Join("..", "testdata", "ledger.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(golden, []byte("\n")), []byte("\n"))
	last, err := event.Parse(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		ledger []byte
		ok     bool
		says   string
	}{
		"AcceptsTheGoldenLedger":           {golden, true, "7 events, last hash " + last.Hash.String()},
		"AcceptsALastLineWithoutItsEnd":    {bytes.TrimSuffix(golden, []byte("\n")), true, "7 events"},
		"FindsAChangedWord":                {bytes.Replace(golden, []byte("Let me see"), []byte("Let us see"), 1), false, "event 4"},
		"FindsADroppedFirstEvent":          {bytes.Join(lines[1:], nil), false, "event 1"},
		"FindsADroppedEvent":               {bytes.Join(append(lines[:2:2], lines[3:]...), nil), false, "event 3"},
		"FindsALineThatIsNoEvent":          {append([]byte("hello\n"), golden...), false, "event 1"},
		"FindsAChangeInTheLastEventOfAll":  {bytes.Replace(golden, []byte("script/2"), []byte("script/3"), 1), false, "event 7"},
		"FindsAChangedHashOfTheLastEvent":  {bytes.Replace(golden, []byte(last.Hash.String()), []byte(strings.Repeat("0", 64)), 1), false, "event 7"},
		"FindsAChangeInAnEscapedCharacter": {bytes.Replace(golden, []byte(`\u0001`), []byte(`\u0002`), 1), false, "event 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", recipe)
			cmd.Dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(cmd.Dir, "ledger.jsonl"), c.ledger, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.ok || !strings.Contains(string(out), c.says) {
				t.Errorf("the recipe said %q, %v; want %q", out, err, c.says)
			}
		})
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	t.Run("WritesThePageThatCheckAccepts", func(t *testing.T) {
		t.Parallel()
		root := copyModule(t)
		for _, folder := range []string{root, filepath.Join(root, "internal", "event")} {
			if err := run(folder, false); err != nil {
				t.Fatal(err)
			}
			if err := run(folder, true); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(filepath.Join(root, "docs", "events.md"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != readPage(t) {
			t.Error("the same source gave another page")
		}
	})
	t.Run("FindsThePageStaleOnceTheSourceHasChanged", func(t *testing.T) {
		t.Parallel()
		root := copyModule(t)
		if err := run(root, false); err != nil {
			t.Fatal(err)
		}
		change(t, root, "bodies.go", "QuestFailed says that", "QuestFailed tells that")
		if err := run(root, true); !errors.Is(err, errStale) {
			t.Errorf("error %v; want %v", err, errStale)
		}
	})
	t.Run("CheckDoesNotWriteAMissingPage", func(t *testing.T) {
		t.Parallel()
		root := copyModule(t)
		if err := run(root, true); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error %v; want %v", err, os.ErrNotExist)
		}
	})
	t.Run("NeedsAModule", func(t *testing.T) {
		t.Parallel()
		expectError(t, run(t.TempDir(), true), "no go.mod")
	})
	for name, c := range map[string]struct{ file, old, new, why string }{
		"RefusesATypeWithoutAComment":      {"bodies.go", "// Pin is a file under a name.\n", "\n", "type Pin has no comment"},
		"RefusesAFloat":                    {"bodies.go", "Max   int64", "Max   float64", "type BudgetExceeded: field Max"},
		"RefusesAMap":                      {"bodies.go", "Max   int64", "Max   map[string]string", "type BudgetExceeded: field Max"},
		"RefusesAFieldWithoutATag":         {"bodies.go", "Max   int64  `json:\"max\"`", "Max int64", "json tag"},
		"RefusesAnUnknownScalar":           {"bodies.go", "At Time `json", "At Body `json", "type Body is not a struct"},
		"RefusesATypeOfAnotherFile":        {"bodies.go", "At Time `json", "At Missing `json", "type Missing is not declared"},
		"RefusesAnEntryItCannotRead":       {"catalogue.go", "input[QuestStarted]().saidBy(PartyPerson)", "entry{}", "noun.verb"},
		"RefusesAnEntryOfAnUnknownOrigin":  {"catalogue.go", "input[QuestCreated]()", "other[QuestCreated]()", "quest.created"},
		"RefusesAPackageWithoutACatalogue": {"catalogue.go", "var catalogue =", "var list =", "no variable catalogue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := copyModule(t)
			change(t, root, c.file, c.old, c.new)
			expectError(t, run(root, false), c.why)
		})
	}
}

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "events.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// copyModule returns the root of a module with the source of package event and
// nothing else.
func copyModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files, err := filepath.Glob(filepath.Join("..", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source to copy: %v", err)
	}
	for _, name := range append(files, filepath.Join("..", "testdata", "ledger.jsonl")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, "internal", "event", "eventdoc", name), data)
	}
	write(t, filepath.Join(root, "go.mod"), []byte("module lyceum\n"))
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	return root
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func change(t *testing.T, root, file, old, new string) {
	t.Helper()
	name := filepath.Join(root, "internal", "event", file)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), old, new, 1)
	if changed == string(data) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	write(t, name, []byte(changed))
}

func expectError(t *testing.T, err error, why string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("error %v; want one that says %q", err, why)
	}
}
