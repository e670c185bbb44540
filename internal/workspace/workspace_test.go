package workspace

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		path  string
		wrong string
	}{
		"raw/x":                 {"raw/x", ""},
		"./raw//x/":             {"raw/x", ""},
		"a/../raw/./x":          {"raw/x", ""},
		"/home/agent/raw/x":     {"raw/x", ""},
		"/home/agent//raw/x":    {"raw/x", ""},
		"/home/agent":           {".", ""},
		"/home/agent/":          {".", ""},
		".":                     {".", ""},
		"a/..":                  {".", ""},
		"/home/agentraw":        {"home/agentraw", "not relative"},
		"./~x":                  {"~x", ""},
		"":                      {".", "empty"},
		"a\x00b":                {"a\x00b", "NUL"},
		"/raw/x":                {"raw/x", "not relative"},
		"//home/agent/raw/x":    {"raw/x", "not relative"},
		"/home/../home/agent/r": {"r", "not relative"},
		"~/raw/x":               {"raw/x", "not relative"},
		"../raw/x":              {"raw/x", "out of the workspace"},
		"/home/agent/../raw":    {"raw", "out of the workspace"},
		"a/../../raw":           {"raw", "out of the workspace"},
	} {
		got, err := Path(text)
		switch {
		case got != want.path:
			t.Errorf("Path(%q): got %q, want %q", text, got, want.path)
		case want.wrong == "" && err != nil, want.wrong != "" && (err == nil || !strings.Contains(err.Error(), want.wrong)):
			t.Errorf("Path(%q): got error %v, want one with %q", text, err, want.wrong)
		}
	}
}

// FuzzPath: a path that is taken is local and in its one form, and what is refused still
// has a form that policies can compare.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"raw/x", "/home/agent/../x", "a//b/./..", "~", "..", "/home/agent//"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := Path(text)
		if err == nil && (!filepath.IsLocal(path) || filepath.Clean(path) != path) {
			t.Errorf("Path(%q): got %q, want a clean local path", text, path)
		}
		if again, err := Path(path); err == nil && again != path {
			t.Errorf("Path(%q): got %q, want %q again", path, again, path)
		}
		if path == "" || !Under(path, ".") {
			t.Errorf("Path(%q): got %q, want a path of the workspace", text, path)
		}
	})
}
