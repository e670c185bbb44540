package architecture

import (
	"errors"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// nameless are the packages that know societies by interfaces only: none of their files may
// import a society, or have the name of one in a string or an identifier.
var nameless = []string{"agent", "policy", "quest", "runtime", "runtime/audit", "view", "api", "api/client", "tui", "crate"}

// importless are those that may not import a society either, but speak of societies to
// people: in flags and their help.
var importless = []string{"cli"}

// registers are the files of such packages that may: the table in which a package finds the
// part of each society. The parts themselves stand in files that end in the society's name.
var registers = []string{"view/societies.go", "tui/societies.go", "cli/societies.go"}

func TestTheCoreNamesNoSociety(t *testing.T) {
	t.Parallel()
	names := societyNames(t)
	files := 0
	each(t, func(path string, f *ast.File) {
		dir := filepath.Dir(path)
		mayName := slices.Contains(importless, dir)
		if !mayName && !slices.Contains(nameless, dir) || slices.Contains(registers, path) || ofSociety(path, names) {
			return
		}
		files++
		for _, what := range named(f, names) {
			if mayName && !strings.HasPrefix(what, societyPath) {
				continue
			}
			t.Errorf("%s names %s: want what is particular to a society in a file of its own, found by a table", path, what)
		}
	})
	if files < 30 {
		t.Fatalf("only %d files looked at", files)
	}
}

// eventsOfStages are the files of package event, besides one of its own, that have events of the society stages.
var eventsOfStages = []string{"artifacts.go", "bundle.go", "delivery.go"}

// ofTheCore are types of event that stand in a society's file and that the core knows: what they are about is a
// mechanism of the core's, which one society has asked for first.
var ofTheCore = map[string]string{
	"ToolPrepared": "long arguments and files of any society's tools are read by the world",
	"AgentParked":  "an agent of any society comes to rest",
	"AdvisorySent": "agents of any society are told what their policies and servers say",

	"ArtifactsDropped": "what has expired is dropped by the runtime, which reads it by Expiring",
	"HomeCall":         "an executor of any society may get another home",
	"HomeRenewed":      "an executor of any society may get another home",
	"PromptStopped":    "a prompt of any executor may be stopped",
	"TaskSummary":      "an agent's transcript is shortened by the core",
	"TaskOrder":        "an order from the inbox; whether it may come a society says (MayOrder)",
	"StudyOrder":       "an order from the inbox; whether it may come a society says (MaySteer)",

	"ConversationBound": "a conversation elsewhere; whether it may be bound a society says (MayBind)",
	"MailDelivered":     "mail is the core's, for societies with Traits.Mail",
	"MailWithdrawn":     "mail is the core's, for societies with Traits.Mail",
	"FilesCall":         "files of mail come into homes",
	"FilesResult":       "files of mail come into homes",
	"FileCopy":          "files of mail come into homes",
	"FileText":          "files of mail come into homes",
	"SittingBegun":      "with mail, agents work in sittings",
	"SittingEnded":      "with mail, agents work in sittings",
	"SittingBlock":      "with mail, agents work in sittings",
	"ReviewBegun":       "between sittings, an agent may read",
}

// notApart are files that speak of events of a society and are no part of one yet, and why.
var notApart = map[string]string{
	"api/deliveries.go":   "deliveries to conversations are shown for every quest",
	"api/documents.go":    "baselines of the home are shown beside no quest",
	"crate/account.go":    "what computed goes into a crate's account as programs do",
	"tui/chat_history.go": "the conversation is that of a society with mail",
	"view/agents.go":      "what an agent believes and wants is a column for those that have any",
	"view/lanes.go":       "lanes have marks for papers and reproductions, for those that have any",
	"view/talk.go":        "the conversation is that of a society with mail",
}

// TestTheCoreKnowsNoEventOfASociety: what it asks of such an event is an interface of the catalogue (roles.go).
func TestTheCoreKnowsNoEventOfASociety(t *testing.T) {
	t.Parallel()
	names, types := societyNames(t), map[string]bool{}
	for _, name := range names {
		for _, x := range declared(t, name+".go") {
			types[x] = true
		}
	}
	for _, file := range eventsOfStages {
		for _, x := range declared(t, file) {
			types[x] = true
		}
	}
	if len(types) < 80 {
		t.Fatalf("only %d types of event are seen in the files of societies, want those of all", len(types))
	}
	known, files := map[string]bool{}, map[string]bool{}
	each(t, func(path string, f *ast.File) {
		if !slices.Contains(nameless, filepath.Dir(path)) || slices.Contains(registers, path) || ofSociety(path, names) {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); !ok || x.Name != "event" || !types[sel.Sel.Name] {
				return true
			}
			switch {
			case ofTheCore[sel.Sel.Name] != "":
				known[sel.Sel.Name] = true
			case notApart[path] != "":
				files[path] = true
			default:
				t.Errorf("%s speaks of event.%s, which is a society's: want an interface in roles.go of package event, or a file of the society's", path, sel.Sel.Name)
			}
			return true
		})
	})
	for name := range ofTheCore {
		if !known[name] {
			t.Errorf("the core no longer speaks of event.%s: want it off the list", name)
		}
	}
	for path := range notApart {
		if !files[path] {
			t.Errorf("%s no longer speaks of events of a society: want it off the list", path)
		}
	}
}

// declared are the types that a file of package event declares, nothing if there is none.
func declared(t *testing.T, file string) (names []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "internal", "event", file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parse(t, file, string(data)), func(n ast.Node) bool {
		if x, ok := n.(*ast.TypeSpec); ok {
			names = append(names, x.Name.Name)
		}
		return true
	})
	return names
}

func TestANameOfASocietyIsSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`import "lyceum/internal/society/lab"`:             "lyceum/internal/society/lab",
		`import "lyceum/internal/society/lab/paper"`:       "lyceum/internal/society/lab/paper",
		`var x = "a lab's papers"`:                         `"a lab's papers"`,
		"type x struct { L int `json:\"lab,omitempty\"` }": "`json:\"lab,omitempty\"`",
		`func f(s spec) bool { return s.IsLab() }`:         "IsLab",
		`var labWords = 1`:                                 "labWords",
		`type LabInfo struct{}`:                            "LabInfo",
		`var x = "label a collaboration"`:                  "",
		`var label, Collaborator = 1, 2`:                   "",
		`var x = "world"`:                                  `"world"`,
		`var x = "world/1"`:                                `"world/1"`,
		`var worldly, x = 1, "a tool of the world"`:        "",
		`var x *event.LabSpec`:                             "", // the catalogue of events is closed, and knows all of them
	} {
		if got := named(parse(t, "x.go", "package x\n"+text), []string{"lab", "world"}); strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// societyNames are the folders of societies.
func societyNames(t *testing.T) (names []string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(root, "internal", "society"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	if len(names) < 3 {
		t.Fatalf("only the societies %q are seen, want solo, lab and contract at least", names)
	}
	return names
}

// ofSociety reports whether a file is one society's part of a package.
func ofSociety(path string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(path, "_"+name+".go") })
}

// common are names of societies that are words of the core besides: what is not deterministic is
// the world. Such a name counts as one where it is all of a string, or an import.
var common = []string{"world"}

// societyPath is what the import of a society begins with.
const societyPath = "lyceum/internal/society/"

// camel are the words that an identifier is made of.
var camel = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// named are the imports, strings and identifiers of a file that name a society.
func named(f *ast.File, names []string) (out []string) {
	own := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(common, name) })
	is := func(word string) bool { return slices.Contains(own, strings.ToLower(word)) }
	word := regexp.MustCompile(`(?i)\b(` + strings.Join(own, "|") + `)\b|^"(` + strings.Join(common, "|") + `)(/[0-9]+)?"$`)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			if path := strings.Trim(n.Path.Value, `"`); strings.HasPrefix(path, societyPath) {
				out = append(out, path)
			}
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "event" {
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && word.MatchString(n.Value) {
				out = append(out, n.Value)
			}
		case *ast.Ident:
			if slices.ContainsFunc(camel.FindAllString(n.Name, -1), is) {
				out = append(out, n.Name)
			}
		}
		return true
	})
	return out
}
