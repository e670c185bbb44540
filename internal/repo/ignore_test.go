package repo

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/need"
	"lyceum/internal/workspace"
)

// ignored are the files of a folder that Ignores leaves out, by whoever goes through it.
func ignored(t *testing.T, dir string) (out []string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	g := NewIgnores(root)
	gone := map[string]bool{}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		is := gone[filepath.Dir(p)]
		if !is {
			if is, err = g.Names(p, d.IsDir()); err != nil {
				return err
			}
		}
		if gone[p] = is; is && !d.IsDir() {
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// git says what it leaves out, of the same folder.
func asGit(t *testing.T, program, dir string) (out []string) {
	t.Helper()
	cmd := exec.Command(program, "-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false", "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	data, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte{0}), []byte{0}) {
		if len(name) > 0 {
			out = append(out, string(name))
		}
	}
	slices.Sort(out)
	return out
}

func gitFolder(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(program, "init", "--quiet", dir)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What a .gitignore names is what git says that it names.
func TestIgnoresAsGitDoes(t *testing.T) {
	t.Parallel()
	program := need.Program(t, "git")
	names := []string{
		"a", "b.o", "keep.o", "c c", "d ", "#e", "!f", "build/x", "build/sub/y", "src/build/z", "src/b.o", "src/deep/er/b.o", "logs/1.log", "logs/keep/2.log",
		"foo/bar", "foo/x/bar", "foo/x/y/bar", "x-1", "x-2", "x-]", "x-a", "x-A", "[lit]", "back\\slash", "ü.txt", "only/here", "only/there", "tail/in/one", "a.b.c.d",
	}
	for i, rules := range [][]string{
		{"*.o\n!keep.o\n"}, {"build/\n"}, {"/build\n"}, {"src/build\n"}, {"**/build\n"}, {"logs/**\n!logs/keep/\n"}, {"logs/*\n!logs/keep/\n"}, {"foo/**/bar\n"}, {"foo/*/bar\n"},
		{"x-[0-9]\n"}, {"x-[!0-9]\n"}, {"x-[]]\n"}, {"x-[[:upper:]]\n"}, {"x-[\n"}, {"x-?\n"}, {"\\#e\n\\!f\n"}, {"# e\n!f\n"}, {"c c\nd\\ \n"}, {"d   \n"}, {"a\r\n"}, {"\uFEFFa\n"},
		{"\\[lit\\]\n"}, {"back\\\\slash\n"}, {"*\n!*/\n!*.o\n"}, {"/*\n!/src\n"}, {"ü*\n"}, {"?.txt\n??.txt\n"}, {"tail/**/one\ntail/**\n"}, {"a.*.d\n"}, {"*.*.*\n"}, {"**\n!a\n"}, {"a**\n"}, {"\\\n"}, {"/\n"}, {"foo//bar\n"},
		{"*\n", "!b.o\n"}, {"", "/here\n"}, {"here\n", "!here\n"}, {"x-[a-]\n"}, {"x-[\\]]\n"}, {"x-[[:nope:]]\n"}, {"!\n"}, {"a/\n"}, {"**/b.o\n!src/**/b.o\n"},
	} {
		dir := gitFolder(t, program)
		for _, n := range names {
			write(t, dir, n, "x")
		}
		write(t, dir, ".gitignore", rules[0])
		if len(rules) > 1 {
			write(t, dir, "only/.gitignore", rules[1])
			write(t, dir, "src/.gitignore", rules[1])
		}
		got, want := ignored(t, dir), asGit(t, program, dir)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("rules %d, %q: left out are %q, want %q", i, rules, got, want)
		}
	}
}

// The same with rules that nobody would write.
func TestIgnoresAsGitDoesByChance(t *testing.T) {
	t.Parallel()
	program := need.Program(t, "git")
	dir := gitFolder(t, program)
	for _, n := range []string{"a", "b", "ab", "ba", "aab", "a/a", "b/a", "b/b/a", "a-b", "b/a-b", "x/a/b/a", "x/b", "x/ab/ba"} {
		if n == "a/a" {
			n = "aa/a"
		}
		if strings.HasPrefix(n, "b/") {
			n = "b" + n
		}
		write(t, dir, n, "x")
	}
	random := rand.New(rand.NewPCG(1, 2))
	const signs = "ab*?/!-[]\\ *a/b"
	for i := range 300 {
		var rules strings.Builder
		for range 1 + random.IntN(4) {
			for range 1 + random.IntN(6) {
				rules.WriteByte(signs[random.IntN(len(signs))])
			}
			rules.WriteByte('\n')
		}
		if slices.ContainsFunc(strings.Split(rules.String(), "\n"), func(line string) bool {
			open := strings.IndexByte(line, '[')
			return open >= 0 && strings.Contains(line[open:], "/")
		}) {
			continue // a slash within a set is not taken as git takes it
		}
		write(t, dir, ".gitignore", rules.String())
		got, want := ignored(t, dir), asGit(t, program, dir)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("rules %d, %q: left out are %q, want %q", i, rules.String(), got, want)
		}
	}
}

// Whoever fills the folder may mean harm.
func TestIgnoresOfAHostileFolder(t *testing.T) {
	t.Parallel()
	for what, make := range map[string]func(at string) error{
		"pipe":   func(at string) error { return syscall.Mkfifo(at, 0o600) },
		"link":   func(at string) error { return os.Symlink("/etc/hostname", at) },
		"folder": func(at string) error { return os.Mkdir(at, 0o700) },
		"large": func(at string) error {
			return os.WriteFile(at, []byte("a\n"+strings.Repeat("#", workspace.MaxIgnoreFile)), 0o600)
		},
	} {
		dir := t.TempDir()
		write(t, dir, "a", "x")
		if err := make(filepath.Join(dir, ".gitignore")); err != nil {
			t.Fatal(err)
		}
		if got := ignored(t, dir); len(got) > 0 {
			t.Errorf("a .gitignore that is a %s names %q", what, got)
		}
	}
	// Patterns that take for ever where every star is tried at every place.
	dir := t.TempDir()
	write(t, dir, strings.Repeat("a", 200), "x")
	write(t, dir, strings.Repeat("a/", 100)+"a", "x")
	var rules strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&rules, "%sb\n%sb\n", strings.Repeat("*a", 20+i%5), strings.Repeat("**/a/", 20))
	}
	write(t, dir, ".gitignore", rules.String())
	if got := ignored(t, dir); len(got) > 0 {
		t.Errorf("named are %q", got)
	}
}
