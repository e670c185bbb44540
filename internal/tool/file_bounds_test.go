package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

const hiddenText = "hidden-from-all"

// bounded is a workspace with something to hide, and every way to it that a path can be.
func bounded(t *testing.T) *fixture {
	w := newFixture(t)
	in := func(name string) string { return filepath.Join(w.dir, name) }
	for _, dir := range []string{"a/b", ".ssh", "res"} {
		w.must(os.MkdirAll(in(dir), 0o755))
	}
	for _, name := range []string{".env", "a/b/.env", ".ssh/id", "a/.Env"} {
		w.must(os.WriteFile(in(name), []byte(hiddenText), 0o644))
	}
	w.must(os.WriteFile(in("a/open.txt"), []byte("open"), 0o644))
	w.must(os.Symlink(".env", in("linked-env")))
	w.must(os.Symlink("../.ssh", in("a/folder")))
	w.must(os.Symlink("b", in("a/c")))
	w.must(os.Link(in(".env"), in("twin")))
	w.must(os.Link(in(".ssh/id"), in("a/key")))
	w.must(os.Symlink("../a", in("res/up")))
	return w
}

func (w *fixture) use(t *testing.T, b workspace.Bounds, tool string, args map[string]any) Output {
	t.Helper()
	data, err := json.Marshal(args)
	w.must(err)
	on := &fake{begin: func(c *fakeCommand) { c.ends(computer.Result{}) }}
	return Builtin().Run(t.Context(), tool, Call{ID: "c1", Args: data, Home: w.root, Bounds: b, Computer: on})
}

// TestWhatIsHiddenIsReadByNoTool: by its name, in another case, through links, under another name,
// by going through folders; nor is it moved to where it could be read, written to, or removed.
func TestWhatIsHiddenIsReadByNoTool(t *testing.T) {
	t.Parallel()
	w := bounded(t)
	b := workspace.Bounds{Hide: workspace.DefaultHide}
	for _, path := range []string{
		".env", "./.env", "a/../.env", "/home/agent/.env", ".ENV", "linked-env", "twin", "a/b/.env", "a/c/.env", "a/.Env", ".ssh/id", ".ssh", "a/folder", "a/folder/id", "a/key", "res/up/b/.env", "res/up/folder/id",
	} {
		for tool, args := range map[string]map[string]any{
			"read_file": {"path": path}, "list_files": {"path": path}, "grep": {"pattern": "hidden", "path": path},
			"edit_file":  {"path": path, "old": hiddenText, "new": "x"},
			"edit_files": {"paths": []string{path}, "edits": []map[string]any{{"old": hiddenText, "new": "x"}}},
		} {
			if got := w.use(t, b, tool, args); !got.Error || strings.Contains(got.Text, hiddenText) {
				t.Errorf("%s of %s: got %q, want it refused", tool, path, got.Text)
			}
		}
	}
	for _, tool := range []string{"list_files", "glob", "grep"} {
		args := map[string]any{"path": "."}
		if tool != "list_files" {
			args["pattern"] = map[string]string{"glob": "**", "grep": "hidden"}[tool]
		}
		got := w.use(t, b, tool, args)
		if got.Error || strings.Contains(got.Text, hiddenText) || tool != "grep" && (strings.Contains(got.Text, ".env  ") || !strings.Contains(got.Text, "closed to you")) {
			t.Errorf("%s: got %q, want it without what is hidden, and a word about that", tool, got.Text)
		}
	}
	for what, args := range map[string]map[string]any{
		"move_file .env": {"from": ".env", "to": "plain"}, "move_file .ssh": {"from": ".ssh", "to": "plain"}, "move_file in": {"from": ".ssh/id", "to": "plain"},
		"move_file through": {"from": "a/folder/id", "to": "plain"}, "move_file to": {"from": "a/open.txt", "to": ".env.local"},
		"delete_file .env": {"path": ".env"}, "delete_file with": {"path": "a", "contents": true}, "delete_file .ssh": {"path": ".ssh", "contents": true},
		"write_file .env": {"path": ".env", "content": "x"}, "write_file into": {"path": "a/folder/id", "content": "x"}, "write_file new": {"path": "new/.aws/x", "content": "x"},
		"exec in": {"command": "true", "dir": ".ssh"}, "exec through": {"command": "true", "dir": "a/folder"},
	} {
		tool, _, _ := strings.Cut(what, " ")
		if got := w.use(t, b, tool, args); !got.Error || !strings.Contains(got.Text, "deny_read") {
			t.Errorf("%s: got %q, want it refused by deny_read", what, got.Text)
		}
	}
	for _, name := range []string{".env", "a/b/.env", ".ssh/id", "a/.Env"} {
		if data, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(data) != hiddenText {
			t.Errorf("%s is now %q (%v), want it as it was", name, data, err)
		}
	}
	if got := w.use(t, b, "read_file", map[string]any{"path": "res/up/open.txt"}); got.Error {
		t.Errorf("a file that is not hidden: got %q", got.Text)
	}
	// A folder with something hidden in it can be moved: its name goes along.
	if got := w.use(t, b, "move_file", map[string]any{"from": "a/b", "to": "a/d"}); got.Error {
		t.Errorf("move a folder with something hidden: got %q", got.Text)
	}
	if got := w.use(t, workspace.Bounds{}, "read_file", map[string]any{"path": ".env"}); got.Error || !strings.Contains(got.Text, hiddenText) {
		t.Errorf("a quest that hides nothing: got %q, want the text", got.Text)
	}
}

// TestToolsWriteWhereTheyMay: nothing changes outside, also not through links, and the folder itself
// stays.
func TestToolsWriteWhereTheyMay(t *testing.T) {
	t.Parallel()
	w := bounded(t)
	b := workspace.Bounds{Write: []string{"res", "/tmp"}}
	for what, args := range map[string]map[string]any{
		"write_file top": {"path": "new", "content": "x"}, "write_file up": {"path": "res/../new", "content": "x"}, "write_file link": {"path": "res/up/new", "content": "x"},
		"write_file over": {"path": "a/open.txt", "content": "x"}, "edit_file a": {"path": "a/open.txt", "old": "open", "new": "x"},
		"edit_files a":  {"paths": []string{"a/open.txt"}, "edits": []map[string]any{{"old": "open", "new": "x"}}},
		"move_file out": {"from": "a/open.txt", "to": "res/mine"}, "move_file folder": {"from": "res", "to": "away"}, "move_file in": {"from": "res/file", "to": "a/file"},
		"delete_file a": {"path": "a/open.txt"}, "delete_file out": {"path": "res", "contents": true}, "delete_file through": {"path": "res/up/open.txt"},
	} {
		w.must(os.WriteFile(filepath.Join(w.dir, "res", "file"), []byte("mine"), 0o644))
		tool, _, _ := strings.Cut(what, " ")
		if got := w.use(t, b, tool, args); !got.Error || !strings.Contains(got.Text, "allow_write") {
			t.Errorf("%s: got %q, want it refused by allow_write", what, got.Text)
		}
	}
	for what, args := range map[string]map[string]any{
		"write_file": {"path": "res/deep/er", "content": "x"}, "edit_file": {"path": "res/file", "old": "mine", "new": "yours"},
	} {
		if got := w.use(t, b, what, args); got.Error {
			t.Errorf("%s in res: got %q", what, got.Text)
		}
	}
	if got := w.use(t, b, "read_file", map[string]any{"path": "a/open.txt"}); got.Error || !strings.Contains(got.Text, "open") {
		t.Errorf("read what is not written to: got %q", got.Text)
	}
}
