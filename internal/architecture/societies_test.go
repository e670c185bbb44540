package architecture

import (
	"errors"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// TestTheCoreKnowsNoEventOfASociety: what it asks of such an event is an interface of the catalogue (roles.go), or
// stands beside the event's words in view; neither the Go type nor the name in the ledger is spoken of.
func TestTheCoreKnowsNoEventOfASociety(t *testing.T) {
	t.Parallel()
	names, types := societyNames(t), map[string]string{}
	for _, name := range names {
		maps.Copy(types, declared(t, name+".go"))
	}
	for _, file := range eventsOfStages {
		maps.Copy(types, declared(t, file))
	}
	inLedger := map[string]string{}
	for name, in := range types {
		if in != "" {
			inLedger[strconv.Quote(in)] = name
		}
	}
	if len(types) < 80 || len(inLedger) < 60 {
		t.Fatalf("only %d types and %d names of events are seen in the files of societies, want those of all", len(types), len(inLedger))
	}
	known := map[string]bool{}
	each(t, func(path string, f *ast.File) {
		if !slices.Contains(nameless, filepath.Dir(path)) || slices.Contains(registers, path) || ofSociety(path, names) {
			return
		}
		for _, name := range eventsIn(f, types, inLedger) {
			if ofTheCore[name] != "" {
				known[name] = true
				continue
			}
			t.Errorf("%s speaks of event.%s, which is a society's: want an interface in roles.go of package event, an entry beside its words in view, or a file of the society's", path, name)
		}
	})
	for name := range ofTheCore {
		if !known[name] {
			t.Errorf("the core no longer speaks of event.%s: want it off the list", name)
		}
	}
}

// eventsIn are the events that a file speaks of, by their types or their names in the ledger.
func eventsIn(f *ast.File, types, inLedger map[string]string) (out []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if _, is := types[n.Sel.Name]; ok && is && x.Name == "event" {
				out = append(out, n.Sel.Name)
			}
		case *ast.BasicLit:
			if name := inLedger[n.Value]; name != "" {
				out = append(out, name)
			}
		}
		return true
	})
	return out
}

func TestAnEventOfASocietyIsSeen(t *testing.T) {
	t.Parallel()
	types, inLedger := map[string]string{"VoteCast": "vote.cast", "Figure": ""}, map[string]string{`"vote.cast"`: "VoteCast"}
	for text, want := range map[string]string{
		`func f(b event.Body) bool { _, ok := b.(*event.VoteCast); return ok }`: "VoteCast",
		`var x = map[event.Type]string{"vote.cast": "vote"}`:                    "VoteCast",
		`var x []event.Figure`:                          "Figure",
		`var x = "vote.castle"; type VoteCast struct{}`: "",
	} {
		if got := eventsIn(parse(t, "x.go", "package x\n"+text), types, inLedger); strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// typeInLedger is the method by which an event says its name in the ledger.
var typeInLedger = regexp.MustCompile(`(?m)^func \(\*(\w+)\) Type\(\) Type +\{ return "([a-z._]+)" \}`)

// declared are the types that a file of package event declares, each with its name in the ledger, empty for a part
// of an event; nothing if there is no such file.
func declared(t *testing.T, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	data, err := os.ReadFile(filepath.Join(root, "internal", "event", file))
	if errors.Is(err, fs.ErrNotExist) {
		return out
	}
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parse(t, file, string(data)), func(n ast.Node) bool {
		if x, ok := n.(*ast.TypeSpec); ok {
			out[x.Name.Name] = ""
		}
		return true
	})
	for _, m := range typeInLedger.FindAllStringSubmatch(string(data), -1) {
		out[m[1]] = m[2]
	}
	return out
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
