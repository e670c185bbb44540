package agent

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/need"
	"lyceum/internal/repo"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
)

func TestFileOf(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///work/p/a.go":               "a.go",
		"file:///work/p/b/../a.go":          "a.go",
		"file:///work/p/b/c%20d.go#L3:9":    "b/c d.go#L3:9",
		"file://localhost/work/p/a.go":      "a.go",
		"file:///work/p":                    "",
		"file:///work/p/..":                 "",
		"file:///work/p/../q/a.go":          "",
		"file:///work/pq/a.go":              "",
		"file:///etc/passwd":                "",
		"file://elsewhere/work/p/a.go":      "",
		"https:///work/p/a.go":              "",
		"file:work/p/a.go":                  "",
		"file:///work/p/a%00b":              "",
		"a.go":                              "",
		"":                                  "",
		"file:///work/p/" + "%2e%2e/%2e%2e": "",
	} {
		got, part := fileOf("/work/p", uri)
		if part != "" && got != "" {
			got += "#" + part
		}
		if got != want {
			t.Errorf("%s names %q, want %q", uri, got, want)
		}
	}
}

// TestPlainFileFollowsNoLink: not in its place, not on its path, not inside the folder either.
func TestPlainFileFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "d/e"), 0o700), os.WriteFile(filepath.Join(dir, "d/f"), nil, 0o600),
		os.Symlink("d", filepath.Join(dir, "l")), os.Symlink("d/f", filepath.Join(dir, "lf")), os.Symlink("nowhere", filepath.Join(dir, "ln")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"d/f": "file", "d/g": "none", "x/y/z": "none", "l/f": "way", "l/g": "way", "lf": "way", "ln": "way", "d/e": "way", "d/f/g": "way", "../x": "way", "/etc/passwd": "way",
	} {
		info, err := plainFile(root, name)
		got := "none"
		if info != nil {
			got = "file"
		}
		if errors.Is(err, errInTheWay) {
			got = "way"
		}
		if got != want {
			t.Errorf("%s is found to be %s, want %s (%v)", name, got, want, err)
		}
	}
}

// TestReplaceIsWhole: a file that cannot be put in place leaves what was there, and nothing else.
func TestReplaceIsWhole(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := replace(root, "a", []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := replace(root, "a", []byte("two"), 0o640); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "a"))
	data, _ := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil || info.Mode().Perm() != 0o640 || string(data) != "two" {
		t.Errorf("the file is %q with the mode %v (%v), want two and 0640", data, info.Mode(), err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replace(root, "folder", []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("there is more than the file and the folder: %v (%v)", entries, err)
	}
}

// TestCommandLinesAreOneProgram, whatever stands in them.
func TestCommandLinesAreOneProgram(t *testing.T) {
	need.Program(t, "sh")
	args := []string{"", "a b", "it's", `"$HOME"`, "`id`", "$(id)", "a;b", "*", "\\", "-v", "x=1", "#", "é"}
	out, err := exec.Command("sh", "-c", commandLine("printf", append([]string{"%s|"}, args...))).Output()
	if want := strings.Join(args, "|") + "|"; err != nil || string(out) != want {
		t.Errorf("the shell makes %q of it (%v), want %q", out, err, want)
	}
}

func TestServersOfAClientGetNames(t *testing.T) {
	var list []sdk.McpServer
	for _, name := range []string{"My Server!", "my server", "", "日本", strings.Repeat("x", 80), "--"} {
		list = append(list, sdk.McpServer{Stdio: &sdk.McpServerStdio{Name: name, Command: "x"}})
	}
	got, left := offered(list)
	var names []string
	for name, s := range got {
		names = append(names, name)
		if s.Run != "x" {
			t.Errorf("the server %s runs %q", name, s.Run)
		}
	}
	want := setting.Servers{"my-server": {Run: "x"}, "my-server-2": {Run: "x"}, "server": {Run: "x"}, "server-2": {Run: "x"}, "server-3": {Run: "x"}, strings.Repeat("x", 20): {Run: "x"}}
	if diff := cmp.Diff(want, got); diff != "" || len(left) > 0 {
		t.Errorf("the servers are %v, left out %v:\n%s", names, left, diff)
	}
	for range setting.MaxServers {
		list = append(list, sdk.McpServer{Stdio: &sdk.McpServerStdio{Name: "more", Command: "x"}})
	}
	if got, left = offered(list); len(got) != setting.MaxServers || len(left) != len(list)-setting.MaxServers {
		t.Errorf("of %d servers %d are taken and %d left out", len(list), len(got), len(left))
	}
	if got, left = offered([]sdk.McpServer{{Stdio: &sdk.McpServerStdio{Name: "long", Command: strings.Repeat("x", 5000)}}, {Stdio: &sdk.McpServerStdio{Name: "odd", Command: "a\x1bb"}}, {}}); len(got) != 0 || len(left) != 3 {
		t.Errorf("servers that cannot be are taken: %v, left out %v", got, left)
	}
}

func TestSameText(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"a\r\nb", "a\nb", true}, {"\uFEFFa", "a", true}, {"a\rb", "a\nb", false}, {"a", "a\n", false}, {"", "\uFEFF", true}} {
		if got := sameText(c.a, c.b); got != c.want {
			t.Errorf("%q and %q are the same: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestAPersonIsToldOfWhatTheyDoNotSee before they permit a file to be written.
func TestAPersonIsToldOfWhatTheyDoNotSee(t *testing.T) {
	for _, c := range []struct {
		before, now string
		want        bool
	}{
		{"", "x = 1\n\ty\r\n", false}, {"", "é 日本 👩‍🔬\n", false}, {"", "a\u202eb", true}, {"", "a\u200bb", true}, {"", "\x1b[2J", true}, {"a\u202eb", "c\u202ed", false},
	} {
		title := (&bringing{}).title(&offer{change: repo.Change{Path: "a.py", New: &blob.Entry{}}, before: c.before, now: c.now})
		if got := strings.Contains(title, "cannot be seen"); got != c.want {
			t.Errorf("%q instead of %q is called %q: want a word about it: %v", c.now, c.before, title, c.want)
		}
	}
}
