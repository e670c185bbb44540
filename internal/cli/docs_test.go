package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/backup"
	"lyceum/internal/behavior"
	"lyceum/internal/config"
	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/proof"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/survey"
	"lyceum/internal/view"
)

// TestHelpBeginsAsTheReadmeDoes: who comes from one to the other meets the same example.
func TestHelpBeginsAsTheReadmeDoes(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{"README.md": string(readme), "lyceum --help": (&app{}).root().Long}
	first := map[string][]string{}
	for where, text := range said {
		if first[where] = regexp.MustCompile(`lyceum (run \S+) +(?:# )?(a lab of three.*)`).FindStringSubmatch(text); first[where] == nil {
			t.Fatalf("%s: got no example of a lab with what it is, want one", where)
		}
		if at := regexp.MustCompile(`(?m)^ +.*\blyceum (.*?)(  |$)`).FindStringSubmatch(text); at == nil || at[1] != first[where][1] {
			t.Errorf("%s: the first command is %q, want %q", where, at, first[where][1])
		}
	}
	if a, b := first["README.md"], first["lyceum --help"]; !reflect.DeepEqual(a[1:], b[1:]) {
		t.Errorf("README.md begins with %q, lyceum --help with %q: want one example", a[1:], b[1:])
	}
}

// TestTheFirstScreenOfTheReadme says in one sentence what Lyceum is, what it needs, as go.mod has
// it, and shows a picture.
func TestTheFirstScreenOfTheReadme(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("..", "..", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	lines := strings.SplitAfter(read("README.md"), "\n")
	screen := strings.Join(lines[:24], "")
	first := strings.ReplaceAll(strings.Split(screen, "\n\n")[1], "\n", " ")
	if !strings.HasPrefix(first, "Lyceum is ") || strings.Index(first, ".") != len(first)-1 {
		t.Errorf("README.md begins with %q, want one sentence that says what Lyceum is", first)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read("go.mod"))[1]
	if want := "It needs **Linux**, and **Go " + version + "** to build."; !strings.Contains(screen, want) {
		t.Errorf("the first screen of README.md does not say %q:\n%s", want, screen)
	}
	picture := regexp.MustCompile(`!\[[^\]]+\]\(([^)]+)\)`).FindStringSubmatch(screen)
	if picture == nil {
		t.Fatalf("the first screen of README.md has no picture:\n%s", screen)
	}
	if !strings.HasPrefix(read(picture[1]), "\x89PNG") {
		t.Errorf("%s is no picture", picture[1])
	}
}

// TestEveryFieldIsDocumented holds docs/cli.md against what is printed.
func TestEveryFieldIsDocumented(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for prefix, v := range map[string]any{
		"": questJSON{}, "a": agentJSON{}, "o": originJSON{}, "l": event.Limits{}, "s": event.Share{}, "r": audit.Report{}, "difference.": audit.Difference{},
		"b": builtinJSON{}, "c": checkJSON{}, "x": quest.Explanation{}, "xa": quest.AgentExplanation{}, "p": quest.Proposal{}, "d": behavior.Description{}, "by": behavior.Blocker{},
		"m": modelJSON{}, "mp": priceJSON{}, "doc": doctorJSON{}, "find": findingJSON{},
		"pa": paperJSON{}, "ta": view.Tally{}, "pc": view.PaperCounts{}, "rv": reviewJSON{}, "rp": reproductionJSON{}, "pr": profileJSON{}, "bk": backup.Report{}, "t": tokenJSON{}, "ms": mcpServerJSON{}, "cn": connectorJSON{}, "dl": connector.Delivery{},
		"e": executorJSON{}, "ef": foundJSON{}, "k": keyJSON{}, "v": verdictJSON{}, "vd": proof.Verdict{}, "vc": proof.Judged{}, "vm": proof.Mark{},
		"so": survey.Outline{}, "sv": survey.View{}, "sr": survey.Row{}, "sa": survey.Agreement{},
	} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			if typ.Field(i).Anonymous || !typ.Field(i).IsExported() {
				continue // it has a line of its own, or none
			}
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "-" {
				continue // it is in no output
			}
			if strings.HasSuffix(prefix, ".") {
				name = prefix + name
			}
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("docs/cli.md does not name `%s` of %s", name, typ)
			}
		}
	}
	for _, c := range (&app{}).root().Commands() {
		if name := c.Name(); name != "help" && !strings.Contains(page, "`"+name) && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/cli.md does not name the command %s", name)
		}
	}
}

// TestExamplesOfConfigAreRead: whoever copies them into a config.yaml must not be told that
// they are wrong.
func TestExamplesOfConfigAreRead(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	read := 0
	for _, page := range []string{"models.md", "questions.md"} {
		data, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range block.FindAllStringSubmatch(string(data), -1) {
			if !strings.Contains(m[1], "notify:") {
				continue
			}
			read++
			if c, err := config.Parse(page, []byte(m[1])); err != nil || !strings.Contains(c.Notify, "LYCEUM_") {
				t.Errorf("an example of %s: %v, want a config.yaml with a command that is told of quests\n%s", page, err, m[1])
			}
		}
	}
	if read != 3 {
		t.Errorf("%d examples were read, want 3", read)
	}
}
