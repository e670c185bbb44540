package skill_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
	"lyceum/internal/skill"
	"lyceum/internal/strictyaml"

	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// page is a SKILL.md of the skill mine; its body begins at line 5.
func page(body string) string {
	return "---\nname: mine\ndescription: What I do\n---\n" + body
}

// folder writes files below a folder.
func folder(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		must(t, os.WriteFile(file, []byte(text), mode))
	}
	return dir
}

// read reads the skill mine of some files.
func read(t *testing.T, files map[string]string) (*skill.Skill, error) {
	t.Helper()
	return readDir(t, folder(t, filepath.Join(t.TempDir(), "mine"), files))
}

func readDir(t *testing.T, dir string) (*skill.Skill, error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	return skill.Read(root.FS(), "mine", "mine", skill.OfQuest)
}

func TestOurSkills(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"scout": "stage", "baseline": "stage", "idea": "stage", "experiment": "stage", "analysis-campaign": "stage", "write": "stage", "finalize": "stage",
		"decision": "cross-cutting", "intake-audit": "cross-cutting", "review": "cross-cutting", "rebuttal": "cross-cutting", "figures": "cross-cutting",
	}
	got := map[string]string{}
	for _, s := range skill.Ours() {
		got[s.Name] = s.Role
		if s.From != skill.OfOurs || s.Dir != "" || len(s.Warnings) > 0 || len(s.Body) > 4000 {
			t.Errorf("our skill %s is not as ours are: from %q, folder %q, %v, %d bytes", s.Name, s.From, s.Dir, s.Warnings, len(s.Body))
		}
		for _, part := range []string{"\n## Produce\n", "\n## Check\n", "\n## Go on, go back\n", "\n## Tools\n"} {
			if strings.Count(s.Body, part) != 1 {
				t.Errorf("our skill %s has no part %q", s.Name, strings.TrimSpace(part))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("our skills and their roles (-want +got):\n%s", diff)
	}
}

func TestReadsAWholeSkill(t *testing.T) {
	t.Parallel()
	s, err := read(t, map[string]string{
		"SKILL.md": "---\nname: mine\ndescription: >\n  What I do,\n  and when\nrole: stage\nallowed-tools: Bash(git log:*, git diff) read_file, exec\nlicense: MIT\nmetadata:\n  version: 1.2\n  tags: [a, b]\n---\n" +
			"# Mine\n\nRead [the guide](docs/guide.md#part-2 \"A guide\") and run [it](scripts/do.sh).\nAlso [two\nwords][ref], [gone](no.md), [a picture's place](assets/),\n![p](docs/picture.md) `[c](docs/code.md)` <https://a.b> [w](https://x.y/z.md) [m](mailto:a@b) [h](#here) [p](//host/x.md).\n\n" +
			"```\n[code](docs/guide.md)\n```\n\n[ref]: docs/more%20here.md 'More'\n",
		"docs/guide.md":     "# Guide\n",
		"docs/more here.md": "more",
		"docs/picture.md":   "p",
		"scripts/do.sh":     "#!/bin/sh -e\necho done\n",
		"scripts/data.txt":  "no program",
		"assets/a.bin":      "\x00\xff",
		".git/config":       "hidden",
	})
	must(t, err)
	if s.Description != "What I do, and when" || s.Role != skill.RoleStage || s.Begins != 13 || !strings.HasPrefix(s.Body, "# Mine\n") {
		t.Errorf("what the skill says of itself: %q, %q, body from line %d: %.20q", s.Description, s.Role, s.Begins, s.Body)
	}
	if want := []string{"Bash(git log:*, git diff)", "read_file", "exec"}; !slices.Equal(s.Tools, want) {
		t.Errorf("tools: got %q, want %q", s.Tools, want)
	}
	guide := skill.Link{Text: "the guide", Path: "docs/guide.md", Part: "part-2", Title: "A guide", Line: 15}
	more := skill.Link{Text: "two words", Path: "docs/more here.md", Title: "More", Line: 16}
	if diff := cmp.Diff([]skill.Link{guide, {Text: "it", Path: "scripts/do.sh", Line: 15}, more, {Text: "a picture's place", Path: "assets", Line: 17}}, s.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]skill.Link{guide, more}, s.References); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]skill.Script{{Name: "do", Path: "scripts/do.sh", Interpreter: "/bin/sh -e"}}, s.Scripts); diff != "" {
		t.Errorf("scripts (-want +got):\n%s", diff)
	}
	if !slices.Equal(s.Assets, []string{"assets/a.bin"}) {
		t.Errorf("assets: got %q", s.Assets)
	}
	var told []string
	for _, w := range s.Warnings {
		told = append(told, w.Error())
	}
	want := []string{"mine/SKILL.md:17:1: the link \"no.md\" leads to nothing", "mine/scripts/data.txt:1:1: it is not offered as a program: its first line does not say what runs it (#!…), or it is no text"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	var files []string
	for _, f := range s.Files {
		files = append(files, fmt.Sprintf("%s %v", f.Path, f.Exec))
	}
	want = []string{"SKILL.md false", "assets/a.bin false", "docs/guide.md false", "docs/more here.md false", "docs/picture.md false", "scripts/data.txt false", "scripts/do.sh true"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestFaultsHaveTheirLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 1025)
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"NoFrontMatter":      {"# Mine\n", 1, "does not begin with front matter"},
		"Empty":              {"", 1, "does not begin with front matter"},
		"NoEnd":              {"---\nname: mine\n", 1, "no end"},
		"NoName":             {"---\ndescription: d\n---\nx", 2, "there is no name"},
		"NoDescription":      {"---\nname: mine\n---\nx", 2, "there is no description"},
		"NothingBelow":       {"---\nname: mine\ndescription: d\n---\n \n", 5, "nothing below"},
		"AnothersName":       {"---\ndescription: d\nname: yours\n---\nx", 3, "not the name of the folder"},
		"CapitalName":        {"---\nname: Mine\ndescription: d\n---\nx", 2, "want 1 to 64"},
		"UnknownKey":         {"---\nname: mine\ndescription: d\nallowed_tools: x\n---\nx", 4, "unknown key"},
		"UnknownRole":        {"---\nname: mine\ndescription: d\nrole: king\n---\nx", 4, "none of stage, cross-cutting"},
		"Twice":              {"---\nname: mine\nname: mine\ndescription: d\n---\nx", 3, "already defined"},
		"BrokenYAML":         {"---\nname: mine\ndescription: [d\n---\nx", 3, ""},
		"Anchors":            {"---\nname: &a mine\ndescription: *a\n---\nx", 2, "anchors"},
		"LongDescription":    {"---\nname: mine\ndescription: " + long + "\n---\nx", 3, "at most 1024"},
		"HiddenByAnEscape":   {"---\nname: mine\ndescription: \"a\\u202eb\"\n---\nx", 3, "cannot be seen (U+202E)"},
		"ANSI":               {page("a\nb\x1b[31mred\n"), 6, "U+001B"},
		"ZeroWidth":          {page("a\nb\nc\u200bd\n"), 7, "U+200B"},
		"Tags":               {page("a\U000e0041\n"), 5, "U+E0041"},
		"ByteOrderMark":      {"\ufeff" + page("x"), 1, "U+FEFF"},
		"LinkOut":            {page("a\n\n[x](../other/SKILL.md)\n"), 7, "leads out of the folder"},
		"LinkOutInTheMiddle": {page("[x](docs/../../other.md)\n"), 5, "leads out of the folder"},
		"LinkFromTheRoot":    {page("[x](/etc/passwd)\n"), 5, "no path within"},
		"LinkOutEncoded":     {page("[x](%2e%2e/other.md)\n"), 5, "leads out of the folder"},
		"ReferenceOut":       {page("\n[x][r]\n\n[r]: ../../a.md\n"), 6, "leads out of the folder"},
		"OddTool":            {"---\nname: mine\ndescription: d\nallowed-tools: [\"a\\nb\"]\n---\nx", 4, "no name of a tool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, map[string]string{"SKILL.md": c.text})
			e, ok := errors.AsType[*strictyaml.Error](err)
			if !ok || e.File != "mine/SKILL.md" || e.Line != c.line || !strings.Contains(e.Text, c.says) {
				t.Errorf("got %v, want a fault of mine/SKILL.md at line %d that says %q", err, c.line, c.says)
			}
		})
	}
}

func TestAllFaultsOfAFrontMatterAreTold(t *testing.T) {
	t.Parallel()
	_, err := read(t, map[string]string{"SKILL.md": "---\nname: mine\ndescription: d\nrole: king\ncolour: red\n---\nx"})
	if err == nil || strings.Count(err.Error(), "mine/SKILL.md:") != 2 {
		t.Errorf("got %v, want both faults with their file", err)
	}
}

func TestWritingOfAllScriptsIsWell(t *testing.T) {
	t.Parallel()
	body := "素数 é नमस्ते מה 👩\u200d🔬 ❤\ufe0f\n"
	s, err := read(t, map[string]string{"SKILL.md": "---\r\nname: mine\r\ndescription: 素数\r\n---\r\n" + body})
	if err != nil || s.Body != body || s.Description != "素数" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestHostileFoldersAreRefused(t *testing.T) {
	t.Parallel()
	good := map[string]string{"SKILL.md": page("x")}
	for name, c := range map[string]struct {
		make func(dir string) error
		says string
	}{
		"LinkOut":       {func(d string) error { return os.Symlink("/etc/hostname", d+"/a.md") }, "mine/a.md: it is a link that leads out"},
		"LinkBeside":    {func(d string) error { return os.Symlink("../secret", d+"/a.md") }, "mine/a.md: it is a link that leads out"},
		"LinkToAFolder": {func(d string) error { return os.Symlink(".", d+"/again") }, "mine/again: it is a link to a folder"},
		"LinkToNothing": {func(d string) error { return os.Symlink("gone", d+"/a.md") }, "mine/a.md"},
		"LinkToItself":  {func(d string) error { return os.Symlink("a.md", d+"/a.md") }, "mine/a.md"},
		"Pipe":          {func(d string) error { return syscall.Mkfifo(d+"/pipe", 0o644) }, "mine/pipe: it is not a file"},
		"LinkToAPipe":   {func(d string) error { return errors.Join(syscall.Mkfifo(d+"/.p", 0o644), os.Symlink(".p", d+"/a.md")) }, "mine/a.md: it is not a file"},
		"Huge":          {func(d string) error { return os.Truncate(touch(d+"/big.bin"), 1<<40) }, "mine/big.bin: with it the skill has more than 8 MiB"},
		"HugePage":      {func(d string) error { return os.WriteFile(d+"/b.md", bytes.Repeat([]byte("a\n"), 300<<10), 0o600) }, "mine/b.md: it has"},
		"HiddenPage":    {func(d string) error { return os.WriteFile(d+"/b.md", []byte("a\n\u2066b"), 0o600) }, "mine/b.md:2:1: there is a character that cannot be seen"},
		"NoTextPage":    {func(d string) error { return os.WriteFile(d+"/b.md", []byte("a\xff"), 0o600) }, "mine/b.md: it is not UTF-8"},
		"HiddenName":    {func(d string) error { return os.WriteFile(d+"/a\x1b[1m", nil, 0o600) }, "characters that cannot be seen"},
		"Deep":          {func(d string) error { return os.MkdirAll(d+strings.Repeat("/d", 40), 0o755) }, "more than 8 deep"},
		"Many":          {func(d string) error { return many(d, 300) }, "more than 256 files"},
		"ManyMore":      {func(d string) error { return many(d, 1100) }, "more than a skill may have"},
		"SkillIsAPipe": {func(d string) error {
			return errors.Join(os.Remove(d+"/SKILL.md"), syscall.Mkfifo(d+"/SKILL.md", 0o644))
		}, "mine/SKILL.md: it is not a file"},
		"SkillIsALink": {func(d string) error {
			return errors.Join(os.Remove(d+"/SKILL.md"), os.Symlink("/etc/hostname", d+"/SKILL.md"))
		}, "mine/SKILL.md: it is a link that leads out"},
		"SkillIsAFolder": {func(d string) error { return errors.Join(os.Remove(d+"/SKILL.md"), os.Mkdir(d+"/SKILL.md", 0o755)) }, "mine/SKILL.md"},
		"NoSkill":        {func(d string) error { return os.Remove(d + "/SKILL.md") }, "there is no SKILL.md"},
		"HugeSkill": {func(d string) error {
			return os.WriteFile(d+"/SKILL.md", []byte(page(strings.Repeat("a\n", 40<<10))), 0o600)
		}, "mine/SKILL.md: it has"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			must(t, os.WriteFile(filepath.Join(top, "secret"), []byte("secret"), 0o600))
			dir := folder(t, filepath.Join(top, "mine"), good)
			must(t, c.make(dir))
			if s, err := readDir(t, dir); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v, want a fault that says %q", s, err, c.says)
			}
		})
	}
}

func touch(file string) string {
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		panic(err)
	}
	return file
}

func many(dir string, n int) error {
	for i := range n {
		touch(fmt.Sprintf("%s/f%04d", dir, i))
	}
	return nil
}

func TestALinkWithinTheFolderStandsForItsFile(t *testing.T) {
	t.Parallel()
	dir := folder(t, filepath.Join(t.TempDir(), "mine"), map[string]string{"SKILL.md": page("[a](b.md)"), "docs/a.md": "text"})
	must(t, os.Symlink("docs/a.md", dir+"/b.md"))
	s, err := readDir(t, dir)
	must(t, err)
	if len(s.References) != 1 || len(s.Files) != 3 || string(s.Files[1].Data) != "text" {
		t.Errorf("got %+v, want b.md with the text of docs/a.md", s.Files)
	}
}

func TestAFaultCostsOneSkillAlone(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	elsewhere := folder(t, filepath.Join(t.TempDir(), "far"), map[string]string{"SKILL.md": "---\nname: far\ndescription: f\n---\nx"})
	folder(t, skill.Folder(home), map[string]string{
		"good/SKILL.md": "---\nname: good\ndescription: g\n---\nx", "bad/SKILL.md": "---\nname: good\ndescription: g\n---\nx",
		"Odd Name/SKILL.md": "x", "none/README.md": "x", "README.md": "x", ".hidden/SKILL.md": "x",
	})
	must(t, os.Symlink(elsewhere, filepath.Join(skill.Folder(home), "far")))
	all, faults := skill.OfTheHome(home)
	var names []string
	for _, s := range all {
		names = append(names, s.Name+" "+s.From)
	}
	if diff := cmp.Diff([]string{"far home", "good home"}, names); diff != "" {
		t.Errorf("skills (-want +got):\n%s", diff)
	}
	told := fmt.Sprint(faults)
	if len(faults) != 3 || !strings.Contains(told, filepath.Join(home, "skills/bad/SKILL.md")+":2:7: name:") || !strings.Contains(told, "Odd Name") || !strings.Contains(told, "none: there is no SKILL.md") {
		t.Errorf("faults: got %v, want those of bad, Odd Name and none", faults)
	}
	if all, faults := skill.OfTheHome(t.TempDir()); len(all)+len(faults) > 0 {
		t.Errorf("a home without skills: got %v, %v", all, faults)
	}
}

func TestSkillsOfAQuestStayInTheirFolders(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	folder(t, top, map[string]string{"quest.yaml": "secret", "lib/one/SKILL.md": "---\nname: one\ndescription: d\n---\nx", "lib/two/SKILL.md": "---\nname: two\ndescription: d\n---\nx"})
	// Within the folder of the quest, but out of the skill's own.
	must(t, os.Symlink("../../quest.yaml", filepath.Join(top, "lib/two/a.md")))
	root, err := os.OpenRoot(filepath.Join(top, "lib"))
	must(t, err)
	defer root.Close()
	all, faults := skill.All(root, "lib", skill.OfQuest)
	if len(all) != 1 || all[0].Name != "one" || len(faults) != 1 || !strings.Contains(faults[0].Error(), "lib/two/a.md: it is a link that leads out") {
		t.Errorf("got %v, %v, want one, and the fault of two", all, faults)
	}
	one, err := os.OpenRoot(filepath.Join(top, "lib/one"))
	must(t, err)
	defer one.Close()
	if all, faults := skill.All(one, "lib/one", skill.OfQuest); len(all) != 1 || len(faults) > 0 {
		t.Errorf("a folder that is a skill: got %v, %v", all, faults)
	}
}

func named(from string, names ...string) (out []*skill.Skill) {
	for _, n := range names {
		out = append(out, &skill.Skill{Name: n, From: from, Description: strings.Repeat("long words ", 90), Files: []skill.Content{{Path: "SKILL.md", Data: []byte(n + from)}}})
	}
	return out
}

func TestTheQuestsComeBeforeTheHomesBeforeOurs(t *testing.T) {
	t.Parallel()
	var got []string
	for _, s := range skill.Over(named(skill.OfQuest, "c"), named(skill.OfHome, "c", "b"), named(skill.OfOurs, "c", "b", "a")) {
		got = append(got, s.Name+" "+s.From)
	}
	if diff := cmp.Diff([]string{"a ours", "b home", "c quest"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestPinnedAsOneTree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store := new(blobtest.Memory)
	s, err := read(t, map[string]string{"SKILL.md": page("x"), "scripts/a.sh": "#!/bin/sh\n", "scripts-b": "b", "docs/deep/x.md": "x", "docs.md": "d"})
	must(t, err)
	set, err := skill.Pin(ctx, skill.Over([]*skill.Skill{s}, skill.Ours()), store.Put)
	must(t, err)
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	must(t, blob.Restore(ctx, store, set.Tree, root))
	for name, want := range map[string]string{"mine/SKILL.md": page("x"), "mine/docs/deep/x.md": "x", "mine/docs.md": "d", "mine/scripts-b": "b", "mine/scripts/a.sh": "#!/bin/sh\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "mine/scripts/a.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the script cannot be run: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "scout/SKILL.md")); err != nil || len(set.List) != 13 || set.List[6].Name != "idea" && set.List[6].Role == "" {
		t.Errorf("ours are not there: %v, %d listed", err, len(set.List))
	}
	// The same content is the same tree, another is another.
	again, err := skill.Pin(ctx, skill.Over([]*skill.Skill{s}, skill.Ours()), store.Put)
	must(t, err)
	s.Files[0].Data = append(s.Files[0].Data, '\n')
	other, err := skill.Pin(ctx, skill.Over([]*skill.Skill{s}, skill.Ours()), store.Put)
	must(t, err)
	if again.Tree != set.Tree || other.Tree == set.Tree {
		t.Errorf("trees: %v and again %v; changed %v", set.Tree, again.Tree, other.Tree)
	}
}

func TestWhatIsPinnedIsBounded(t *testing.T) {
	t.Parallel()
	put := func(_ context.Context, data []byte) (event.Ref, error) { return event.RefOf(data), nil }
	var names []string
	for i := range skill.MaxPinned {
		names = append(names, fmt.Sprintf("%060d", i))
	}
	set, err := skill.Pin(context.Background(), named(skill.OfHome, names...), put)
	must(t, err)
	data, err := event.EncodeBody(&event.QuestCreated{Skills: set})
	must(t, err)
	if len(data) > 9<<10 || len(set.List) != skill.MaxPinned {
		t.Errorf("%d skills take %d bytes of an event", len(set.List), len(data))
	}
	if set, err = skill.Pin(context.Background(), named(skill.OfHome, "a", "b"), put); err != nil || len(set.List[0].Description) < 300 || !strings.HasSuffix(set.List[0].Description, "…") {
		t.Errorf("two skills: got %d bytes of a long description, %v, want most of it", len(set.List[0].Description), err)
	}
	if _, err = skill.Pin(context.Background(), named(skill.OfHome, append(names, "one-more")...), put); err == nil {
		t.Error("more skills than a quest can have were pinned")
	}
	big := named(skill.OfHome, "a", "b", "c", "d", "e")
	for _, s := range big {
		s.Files[0].Data = make([]byte, 8<<20)
	}
	if _, err = skill.Pin(context.Background(), big, put); err == nil {
		t.Error("40 MiB of skills were pinned")
	}
}

// TestMonsters: what is made to take long is refused, or does not. The limit is far beyond
// what a machine needs; squares of these sizes would take hours where many tests run.
func TestMonsters(t *testing.T) {
	t.Parallel()
	const size = 60 << 10
	for _, part := range []string{
		"[", "]", "[a](b)", "[![", ">", "> ", "- a ", "1. ", "* ", "*a ", "`a", "``a`", "<a ", "\\", "[a]: b ", "_a*", "[a](<", "[a](b(", "[a](b \"", "[a]: <", "[a][", "<!--", "&a",
	} {
		for name, row := range map[string]int{"AllInALine": size, "Rows": 4000, "OwnLines": 1} {
			text := ""
			for line := strings.Repeat(part, max(row/len(part), 1)) + "\n"; len(text) < size; {
				text += line
			}
			done := make(chan error)
			go func() {
				_, err := skill.Read(fstest.MapFS{"SKILL.md": {Data: []byte(page(text[:size]))}}, "mine", "mine", skill.OfQuest)
				done <- err
			}()
			select {
			case err := <-done:
				if e, _ := errors.AsType[*strictyaml.Error](err); name == "AllInALine" && (e == nil || e.Line != 5) {
					t.Errorf("a line of %d times %q: got %v, want a fault of line 5", size/len(part), part, err)
				}
			case <-time.After(5 * time.Minute):
				t.Fatalf("%s of %q: it takes longer than five minutes", name, part)
			}
		}
	}
	nest := page("a\n" + strings.Repeat("> 1. ", 30) + "x\n")
	if _, err := read(t, map[string]string{"SKILL.md": nest}); err == nil || !strings.Contains(err.Error(), "mine/SKILL.md:6:1: quotations and lists") {
		t.Errorf("60 containers in each other: got %v, want a fault of line 6", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range skill.Ours() {
		f.Add(s.Files[0].Data)
	}
	for _, text := range []string{
		"", "---", "---\n---\n", page("x"), page("[a](b.md \"t\") [c][d]\n\n[d]: <e f.md> (t)\n"), page("![i](a.md) `[x](y)` [z](../..)\n"),
		"---\nname: mine\ndescription: \"\\x1b\"\nallowed-tools: a(b, c) d\n---\n> - [x](a#b)\n", "---\r\nname: mine\r\ndescription: |\r\n  a\r\n---\r\n[](a.md)", "---\nname: [\n---\n", "---\n? a\n: b\n---\nx",
		"---\nname: mine\ndescription: d\n---\n[a\nb](c\nd)\n<!-- [x](y) -->\n\n    [code](z)\n", "\ufeff---\n", "---\n- a\n---\n", "---\n#\n---\n[]()",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := skill.Read(fstest.MapFS{"SKILL.md": {Data: data}, "a.md": {Data: []byte("x")}}, "mine", "mine", skill.OfQuest)
		if err != nil {
			if _, ok := errors.AsType[*strictyaml.Error](err); !ok {
				t.Fatalf("a fault without a place: %v", err)
			}
			return
		}
		lines := bytes.Count(data, []byte("\n")) + 1
		for _, l := range append(s.Links, s.References...) {
			if l.Line < s.Begins || l.Line > lines || l.Path != "a.md" && l.Path != "." && l.Path != "SKILL.md" {
				t.Fatalf("a link that cannot be: %+v; the body is lines %d to %d", l, s.Begins, lines)
			}
		}
		if s.Name != "mine" || s.Description == "" || strings.ContainsAny(s.Description, "\x1b\u202e\n") || len([]rune(s.Description)) > 1024 {
			t.Fatalf("a skill that cannot be: %+v", s)
		}
		if _, err := skill.Pin(context.Background(), []*skill.Skill{s}, new(blobtest.Memory).Put); err != nil {
			t.Fatalf("it cannot be pinned: %v", err)
		}
	})
}
