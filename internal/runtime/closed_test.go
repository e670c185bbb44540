package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/need"
	rules "lyceum/internal/society/lab"
)

// spellings are ways to write raw/x: before it, in it and after it. Some are no paths that
// a tool takes, which the test below finds out. Names that differ by case are other files.
func spellings() (out []string) {
	for _, front := range []string{"", "./", "/home/agent/", "/home/agent//", "/home/agent/./", "//home/agent/", "/home//agent/", "/home/agent/../agent/", "a/../", "../agent-0/", "/", "~/"} {
		for _, path := range []string{"raw/x", "raw//x", "raw/./x", "raw/../raw/x", "a/../raw/x", "raw/sub/../x", "link/x", "direct", "raw/x/"} {
			out = append(out, front+path)
		}
	}
	return out
}

// onSpelling are calls that would read, change or publish what a path names.
func onSpelling(path string) []act {
	return []act{
		{"read_file", args{"path": path}},
		{"edit_file", args{"path": path, "old": "SECRET", "new": "SECRET SECRET"}},
		{"grep", args{"path": path, "pattern": "SEC"}},
		{"grep", args{"path": strings.TrimSuffix(path, "x"), "pattern": "SECR"}},
		{"list_files", args{"path": strings.TrimSuffix(path, "/x")}},
		{"glob", args{"path": strings.TrimSuffix(path, "/x"), "pattern": "*"}},
		{"glob", args{"pattern": path}},
		{"submit_publication", args{"title": "T", "content": path, "attachments": []string{"a.txt", path}}},
		{"submit_publication", args{"title": "T", "content": path, "attachments": []string{path}, "entrypoint": path}},
		{"write_file", args{"path": path, "content": "SECRET of " + path}},
	}
}

// takingAway are calls after which there would be nothing to read.
func takingAway(path string) []act {
	if strings.HasSuffix(path, "direct") {
		return nil // the link itself may go
	}
	return []act{
		{"edit_files", args{"paths": []string{"a.txt", path}, "edits": []args{{"path": path, "old": "SECRET", "new": "SECRET SECRET"}}}},
		{"move_file", args{"from": path, "to": "moved"}},
		{"move_file", args{"from": "a.txt", "to": path}},
		{"delete_file", args{"path": path}},
	}
}

// TestAClosedFileIsClosedUnderEverySpelling plays every spelling to every tool, with the file
// open and with it closed: what the tools take for the file when it is open, none of them
// shows, changes or publishes when it is closed.
func TestAClosedFileIsClosedUnderEverySpelling(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	all := spellings()
	play := func(t *testing.T, policies string) (*lab, string, map[string]int) {
		l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
			switch turn := int(r.Turn); {
			case turn <= len(all):
				if policies == "" {
					return onSpelling(all[turn-1])
				}
				return append(takingAway(all[turn-1]), onSpelling(all[turn-1])...)
			case turn == len(all)+1:
				return []act{{"grep", args{"pattern": "SECRET"}}, {"list_files", args{}}, {"glob", args{"pattern": "**"}}, {"grep", args{"pattern": "SECRE", "path": "/home/agent"}}}
			}
			return nil
		})
		name := l.found(1, policies)
		home := l.home(name, "agent-0")
		for _, f := range []string{"raw/x", "raw/sub/y", "a/b", "a.txt"} {
			must(t, file(f)(home))
		}
		must(t, os.WriteFile(filepath.Join(home, "raw/x"), []byte("SECRET"), 0o644))
		must(t, os.Symlink("raw", filepath.Join(home, "link")))
		must(t, os.Symlink("raw/x", filepath.Join(home, "direct")))
		s := l.run(name)
		shown := map[string]int{}
		for _, a := range l.answers(name, "agent-0") {
			if strings.Contains(a.text, "SECRET") || strings.Contains(a.text, "raw/x\n") {
				shown[a.tool]++
			}
		}
		for _, p := range rules.Library(s).Papers {
			for _, name := range p.Attachments {
				if name == "x" || name == "direct" {
					shown["submit_publication"]++
				}
			}
		}
		return l, name, shown
	}

	t.Run("Open", func(t *testing.T) {
		_, _, shown := play(t, "")
		for tool, least := range map[string]int{"read_file": 30, "grep": 30, "glob": 20, "submit_publication": 30} {
			if shown[tool] < least {
				t.Errorf("%s took %d spellings for the open file, want at least %d: the test would show nothing", tool, shown[tool], least)
			}
		}
	})
	for _, paths := range []string{"raw", "raw/x", "/home/agent/raw", "./raw//"} {
		t.Run("Closed/"+strings.ReplaceAll(paths, "/", "_"), func(t *testing.T) {
			l, name, shown := play(t, fmt.Sprintf("policies: [{use: no-touch, paths: [%s]}]\n", paths))
			for tool, n := range shown {
				t.Errorf("%s showed the closed file %d times, want never", tool, n)
			}
			data, err := os.ReadFile(filepath.Join(l.home(name, "agent-0"), "raw/x"))
			if err != nil || string(data) != "SECRET" {
				t.Errorf("the closed file is %q, %v; want SECRET, as it was", data, err)
			}
			l.sound(name)
		})
	}
	t.Run("ClosedToWriting", func(t *testing.T) {
		l, name, shown := play(t, "policies: [{use: no-touch, paths: [raw], tools: [write_file, edit_file]}]\n")
		data, err := os.ReadFile(filepath.Join(l.home(name, "agent-0"), "raw/x"))
		if err != nil || string(data) != "SECRET" {
			t.Errorf("the closed file is %q, %v; want SECRET, as it was", data, err)
		}
		if shown["read_file"] < 30 {
			t.Errorf("read_file showed the file %d times, want at least 30: it is closed to writing only", shown["read_file"])
		}
	})
}

// TestAPrefixComparesPathsAsToolsReadThem: a policy of the quest's own that names a folder
// holds for every spelling of it.
func TestAPrefixComparesPathsAsToolsReadThem(t *testing.T) {
	t.Parallel()
	const policies = `policies:
  - name: keep
    text: raw stays as it is
    steps: [{block: [{type: tool.call, where: {tool: write_file, args.path: {prefix: raw}}, reason: raw stays}]}]
`
	paths := []string{"raw/a", "/home/agent/raw/a", "./raw//a", "b/../raw/a", "/home/agent//./raw/a"}
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) (out []act) {
		for _, p := range paths {
			if r.Turn == 1 {
				out = append(out, act{"write_file", args{"path": p, "content": "x"}})
			}
		}
		return out
	})
	name := l.found(1, policies)
	l.run(name)
	for i, a := range l.answers(name, "agent-0") {
		if !a.failed || !strings.Contains(a.text, "raw stays") {
			t.Errorf("write_file %s: got %q, want a refusal by the policy", paths[i], a.text)
		}
	}
	blocked := 0
	for _, e := range l.events(name) {
		if _, ok := e.Body.(*event.PolicyBlocked); ok {
			blocked++
		}
	}
	if blocked < len(paths) {
		t.Errorf("%d calls were refused, want %d", blocked, len(paths))
	}
}
