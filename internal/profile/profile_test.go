package profile_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
	"lyceum/internal/strictyaml"

	"github.com/google/go-cmp/cmp"
)

var builtins = []string{"arc-agi", "code", "formal-math", "program", "research", "security", "web"}

// made are those of worlds, where nothing is published and nobody reviews.
var made = []string{"program", "web"}

// home is one with the profile mine made of files.
func home(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "profiles", name)
	must(t, os.MkdirAll(folder, 0o755))
	for file, text := range files {
		must(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644))
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func good() map[string]string {
	return map[string]string{
		"profile.yaml": "description: My field\ntools: [calculate, exec]\ncomputer: {network: {allow: [example.org]}, memory: 1GiB}\n",
		"prompt.md":    "\n# Mine\n\nBe good.\n", "Dockerfile": "# syntax\nARG v=12\nfrom debian:$v\n",
	}
}

func TestTheBuiltInProfilesAreWell(t *testing.T) {
	t.Parallel()
	all, err := profile.List(t.TempDir())
	must(t, err)
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
		if p.Dir != "" || p.Replaces || p.Tools != nil || p.Computer.None() || p.Computer.Network.Open {
			t.Errorf("a built-in profile is not as all are: %s: %+v", p.Name, p)
		}
		// Agents are to know what good work is, how to check it and what to publish.
		parts := []string{"# Your field: ", "\n## What good work is\n", "\n## How to check it\n", "\n## What to publish\n", "As a reviewer"}
		if world := slices.Contains(made, p.Name); world {
			parts = parts[:3]
		} else if p.Quest != nil {
			t.Errorf("%s says something to a society", p.Name)
		}
		for _, part := range parts {
			if !strings.Contains(p.Prompt, part) {
				t.Errorf("%s has no %q", p.Name, part)
			}
		}
		if !slices.Contains(made, p.Name) && !strings.Contains(strings.ReplaceAll(p.Prompt, "\n", " "), "entry point") {
			t.Errorf("%s says nothing of an entry point", p.Name)
		}
		if !strings.Contains(string(p.Dockerfile), "FROM debian:12-slim\n") {
			t.Errorf("the image of %s is built from another", p.Name)
		}
	}
	if d := cmp.Diff(builtins, names); d != "" {
		t.Errorf("the built-in profiles differ (-want +got):\n%s", d)
	}
	if !slices.Contains(names, lab.DefaultProfile) {
		t.Errorf("there is no profile %s, the one of labs that name none", lab.DefaultProfile)
	}
}

func TestAPersonAddsAProfileAsAFolder(t *testing.T) {
	t.Parallel()
	at := home(t, "mine", good())
	must(t, os.WriteFile(filepath.Join(at, "profiles", "README.md"), nil, 0o644))
	must(t, os.Mkdir(filepath.Join(at, "profiles", ".git"), 0o755))
	got, err := profile.Find(at, "mine")
	must(t, err)
	want := &profile.Profile{
		Name: "mine", Description: "My field", Tools: []string{"calculate", "exec"}, Prompt: "# Mine\n\nBe good.", Dockerfile: []byte(good()["Dockerfile"]),
		Computer: quest.Computer{Driver: "auto", Limits: event.ComputerLimits{Memory: 1 << 30}, Network: event.ComputerNetwork{Allow: []string{"example.org"}}},
		Dir:      filepath.Join(at, "profiles", "mine"),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the profile differs (-want +got):\n%s", d)
	}
	all, err := profile.List(at)
	must(t, err)
	if len(all) != len(builtins)+1 {
		t.Errorf("%d profiles", len(all))
	}
}

func TestAnOwnProfileTakesThePlaceOfABuiltInOne(t *testing.T) {
	t.Parallel()
	at := home(t, "code", good())
	got, err := profile.Find(at, "code")
	must(t, err)
	if got.Description != "My field" || !got.Replaces {
		t.Errorf("a profile in the home: got %+v, want it to replace the built-in one", got)
	}
	// Not if there is a fault in it: then nobody knows what was meant.
	must(t, os.Remove(filepath.Join(at, "profiles", "code", "prompt.md")))
	if got, err := profile.Find(at, "code"); err == nil {
		t.Errorf("it is read as %+v", got)
	}
}

func TestAProfileNeedsNoImage(t *testing.T) {
	t.Parallel()
	files := good()
	delete(files, "Dockerfile")
	files["profile.yaml"] = "description: Thinking only\ntools: []\n"
	got, err := profile.Find(home(t, "mine", files), "mine")
	must(t, err)
	if got.Dockerfile != nil || !got.Computer.IsZero() || got.Tools == nil || len(got.Tools) != 0 {
		t.Errorf("an empty profile: got %+v, want no computer and no tools", got)
	}
}

func TestAFaultOfAProfileIsNamedWithItsFileAndLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"NoDescription":     {"profile.yaml", "tools: [exec]\n", "mine/profile.yaml:1:6: there is no description"},
		"AnEmptyFile":       {"profile.yaml", "", "mine/profile.yaml: it must be one YAML document"},
		"AnUnknownKey":      {"profile.yaml", "description: x\nprompt: y\n", `mine/profile.yaml:2:1: unknown key "prompt"; a profile.yaml has computer, description, quest, tools`},
		"ALongDescription":  {"profile.yaml", "description: " + strings.Repeat("x", 201), "mine/profile.yaml:1:14: description: want one line"},
		"ADescriptionOfTwo": {"profile.yaml", "description: |\n  a\n  b\n", "description: want one line"},
		"AToolTwice":        {"profile.yaml", "description: x\ntools: [a, a]\n", "mine/profile.yaml:2:12: tools: a is listed twice"},
		"AComputer":         {"profile.yaml", "description: x\ncomputer:\n  memory: much\n", "mine/profile.yaml:3:11: memory: "},
		"ADockerfile":       {"profile.yaml", "description: x\ncomputer: {dockerfile: Dockerfile}\n", "leave dockerfile out"},
		"NotText":           {"profile.yaml", "\xff\xfe", "mine/profile.yaml: it is not UTF-8 text"},
		"ALargeFile":        {"profile.yaml", "description: x\n" + strings.Repeat("# \n", 30000), "more than 65536 bytes"},
		"NoPrompt":          {"prompt.md", " \n", "mine/prompt.md: it is empty"},
		"APlaceInThePrompt": {"prompt.md", "a\n\nSolve {{PROBLEM}}!", "mine/prompt.md:3:7: {{PROBLEM}} is not filled in here"},
		"ALargePrompt":      {"prompt.md", strings.Repeat("x", 64<<10+1), "mine/prompt.md: it has more than 65536 bytes"},
		"NoFrom":            {"Dockerfile", "# nothing\n", "mine/Dockerfile: it has no FROM"},
		"AnotherBeginning":  {"Dockerfile", "# x\nRUN true\nFROM debian\n", `mine/Dockerfile:2:1: a Dockerfile begins with FROM, not with "RUN"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := good()
			files[c.file] = c.text
			at := home(t, "mine", files)
			got, err := profile.Find(at, "mine")
			if err == nil {
				t.Fatalf("it is read as %+v", got)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), at) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
			if _, ok := errors.AsType[*strictyaml.Error](err); !ok {
				t.Errorf("%v is not told as a fault of a file", err)
			}
			// The others are still there.
			if all, err := profile.List(at); err == nil || len(all) != len(builtins) {
				t.Errorf("%d profiles and %v", len(all), err)
			}
		})
	}
}

func TestAFileThatIsNoneIsRefusedAndNotWaitedFor(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"profile.yaml", "prompt.md", "Dockerfile"} {
		files := good()
		delete(files, file)
		at := home(t, "mine", files)
		path := filepath.Join(at, "profiles", "mine", file)
		if _, err := profile.Find(at, "mine"); file != "Dockerfile" && (err == nil || !strings.Contains(err.Error(), path+" is not there: a profile has profile.yaml and prompt.md")) {
			t.Errorf("without %s: %v", file, err)
		}
		must(t, syscall.Mkfifo(path, 0o600))
		if _, err := profile.Find(at, "mine"); err == nil || !strings.Contains(err.Error(), "it is not a file") {
			t.Errorf("%s is a pipe: %v", file, err)
		}
		must(t, os.Remove(path))
		must(t, os.Symlink("/etc/passwd", path))
		if _, err := profile.Find(at, "mine"); err == nil {
			t.Errorf("%s leads out of its folder and is read", file)
		}
	}
}

func TestAProfileThatIsNotThereIsToldWithThoseThatAre(t *testing.T) {
	t.Parallel()
	at := home(t, "mine", good())
	_, err := profile.Find(at, "reserch")
	if e, ok := errors.AsType[*profile.UnknownError](err); !ok || !slices.Contains(e.Have, "mine") || !slices.Contains(e.Have, "research") ||
		!strings.Contains(err.Error(), filepath.Join(at, "profiles", "reserch")) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"", "..", "../mine", "a/b", "Mine", "builtin/code"} {
		if p, err := profile.Find(at, name); err == nil || !strings.Contains(err.Error(), "names no profile") {
			t.Errorf("%q is %+v, %v", name, p, err)
		}
	}
}
