package runtime_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// notes is a researcher that writes cards and artifacts.
const notes = `
rules:
  - on: {last: "rename ([0-9a-f]{32})"}
    call: [{tool: memory_write, args: {id: "${1}", kind: knowledge, title: "Another title", text: "A fact, mended."}}]
  - on: {last: "move"}
    call: [{tool: move_anchor, args: {to: baseline, reason: "I have read enough."}}]
  - on: {last: "write"}
    call:
      - {tool: memory_write, args: {kind: knowledge, title: "日本語", text: "A fact."}}
      - {tool: memory_write, args: {kind: ideas, title: "Seasonal\"naive", text: "An idea."}}
      - {tool: record, args: {kind: decision, title: "Go on", text: "It is worth it.", verdict: good, action: "continue", reason: "it is", because: ["1"]}}
  - say: "Turn ${turn}."
`

// pagesOf are the files of a quest's folder but for homes, computers and the repository.
func (l *lab) pagesOf(name string) map[string]string {
	l.t.Helper()
	out, dir := map[string]string{}, l.QuestDir(name)
	must(l.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		at, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case slices.Contains([]string{"agents", "computers", ".git"}, at):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		out[filepath.ToSlash(at)] = string(data)
		return err
	}))
	return out
}

// The folder can be read alone, and follows from the ledger: whatever is removed is written again,
// to the byte.
func TestTheFolderOfAStudy(t *testing.T) {
	l := newStages(t, nil)
	name := l.create(plan(t, "q", "society: stages\n", notes))
	l.rests(name)
	l.says(name, "write")
	l.rests(name)
	l.says(name, "move")
	s := l.rests(name)
	have := l.pagesOf(name)
	card := ""
	for path, data := range have {
		if strings.HasPrefix(path, "memory/knowledge/") {
			card = path
			if !strings.Contains(data, "title: \"日本語\"") || !strings.HasSuffix(data, "\n---\n\nA fact.\n") {
				t.Errorf("a card stands there as %s", data)
			}
		}
	}
	for path, want := range map[string]string{
		"quest.yaml": "society: stages", "brief.md": "six times seven", "SUMMARY.md": "No answer yet", "plan.md": "I have read enough.",
		"status.md": "The study is at baseline", "artifacts/decision-1.md": `verdict: "good"`, card: "A fact.",
	} {
		if !strings.Contains(have[path], want) {
			t.Errorf("%s holds %q, want %q in it; there are %d files", path, have[path], want, len(have))
		}
	}
	for path := range have {
		must(t, os.Remove(filepath.Join(l.QuestDir(name), path)))
	}
	before := len(l.events(name))
	s = l.rests(name)
	if again := l.pagesOf(name); len(l.events(name)) != before || !sameFiles(t, again, have) {
		t.Errorf("after a run without a word the folder has %d files, want %d", len(again), len(have))
	}
	changed := func() []string {
		t.Helper()
		out, err := l.ChangedFiles(t.Context(), name, s, nil)
		must(t, err)
		return out
	}
	if got := changed(); len(got) != 0 {
		t.Errorf("changed are %v", got)
	}
	for _, path := range []string{card, "plan.md", "artifacts/decision-1.md"} {
		file := filepath.Join(l.QuestDir(name), path)
		must(t, os.WriteFile(file, []byte(have[path]+"more\n"), 0o600))
		if got := changed(); !slices.Equal(got, []string{file}) {
			t.Errorf("changed are %v, want %s", got, file)
		}
		must(t, os.WriteFile(file, []byte(have[path]), 0o600))
	}
	// What a process that was killed did not come to write is no lie.
	must(t, os.WriteFile(filepath.Join(l.QuestDir(name), "status.md"), []byte("<!-- as of event 2 -->\n\nearly\n"), 0o600))
	if got := changed(); len(got) != 0 {
		t.Errorf("changed are %v: it is of an earlier time", got)
	}
	l.says(name, "rename "+strings.TrimSuffix(card[len(card)-len(".md")-32:], ".md"))
	l.rests(name)
	if have := l.pagesOf(name); have[card] != "" || strings.Count(strings.Join(keysOf(have), "\n"), "memory/") != 2 {
		t.Errorf("a card with another title: %v", keysOf(have))
	}
	l.sound(name)
}

func keysOf(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func sameFiles(t *testing.T, got, want map[string]string) bool {
	t.Helper()
	for path := range want {
		if got[path] != want[path] {
			t.Errorf("%s holds\n%s\nwant\n%s", path, got[path], want[path])
		}
	}
	return slices.Equal(keysOf(got), keysOf(want))
}
