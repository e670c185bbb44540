package runtime_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/runtime/service"
)

// hands is a researcher that hands in reviews of its materials.
const hands = `
rules:
  - on: {last: "[0-9]: (.*) of (.*)$"}
    call: [{tool: submit_review, args: {summary: "It may be.", source: "${2}", points: [{severity: major, text: "The months leak.", quotes: ["${1}"]}]}}]
  - on: {last: "[0-9]: change$"}
    call: [{tool: write_file, args: {path: "old/referee.md", content: "1. Praise alone, and nothing else."}}]
  - say: "Turn ${turn}."
`

// TestAReviewOfTheMaterials is read against the file that the quest was made with, whatever became of the copy in
// the researcher's home.
func TestAReviewOfTheMaterials(t *testing.T) {
	l := newStages(t, service.Stages{})
	at := plan(t, "q", "society: stages\ndata: data\nmaterials: [old]\ntools: [write_file, read_file]\n", hands)
	old := filepath.Join(at.Dir, "data", "old")
	must(t, os.MkdirAll(filepath.Join(old, "more"), 0o700))
	for name, text := range map[string]string{
		"referee.md": "Major comments\n1. The test months\n   leak into the fit.\n", "more/two.txt": "1. The units are missing.\n2. And so are the dates.\n", "image.bin": "\x00\x01",
	} {
		must(t, os.WriteFile(filepath.Join(old, name), []byte(text), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(old, "scan.pdf"), aPDF(t, "1. The axes have no names."), 0o600))
	must(t, os.Symlink("referee.md", filepath.Join(old, "link.md")))
	name := l.create(at)
	l.rests(name)
	say := func(words string) string {
		t.Helper()
		l.says(name, words)
		l.rests(name)
		return lastAnswer(t, l.events(name))
	}
	for words, want := range map[string]string{
		"1: Praise alone, and nothing of old/referee.md": "which is not in",
		"2: The units are missing of old/more/two.txt":   `no point quotes "2. And so are the dates."`,
		"3: The units are missing of old/more":           "is no file that the homes of this quest began with",
		"5: The units are missing of old/image.bin":      "is no text",
		"6: The units are missing of old/link.md":        "is no file that the homes",
		"7: The units are missing of old/scan.pdf":       `no point quotes "1. The axes have no names."`,
	} {
		if got := say(words); !strings.Contains(got, want) {
			t.Errorf("%s\nis answered %q\nwant %q in it", words, got, want)
		}
	}
	say("8: change")
	if !slices.ContainsFunc(l.events(name), func(e event.Event) bool {
		b, ok := e.Body.(*event.FileDiff)
		return ok && len(b.Changes) == 1 && b.Changes[0].Path == "old/referee.md"
	}) {
		t.Fatal("the researcher has not changed its copy")
	}
	if got := say("9: Praise alone, and nothing of old/referee.md"); !strings.Contains(got, "which is not in") {
		t.Errorf("words that the researcher has put into its copy: %q, want them refused", got)
	}
	if got := say("10: the test months leak into of old/referee.md"); !strings.Contains(got, "The review is handed in.") {
		t.Errorf("the words of the file: %q, want the review handed in", got)
	}
	given := 0
	for _, e := range l.events(name) {
		if b, ok := e.Body.(*event.ReviewGiven); ok {
			given++
			if b.Source != "old/referee.md" || len(b.Points) != 1 {
				t.Errorf("the review is %+v", b)
			}
		}
	}
	if given != 1 {
		t.Errorf("%d reviews are given, want 1", given)
	}
	l.sound(name)
}

// TestAReviewThatSomebodySends in the conversation is one of the study's as well, a PDF too: it is read as it was sent,
// whatever became of the copy in the home. What nobody sent is none.
func TestAReviewThatSomebodySends(t *testing.T) {
	l := newStages(t, service.Stages{})
	name := l.create(plan(t, "q", "society: stages\ntools: [write_file, read_file]\n", strings.Replace(hands, "old/referee.md", "files/7/referee.md", 1)))
	l.rests(name)
	l.shows(name, "Here is what they say.", media.File{Name: "report.pdf", Data: aPDF(t, "1. The test months leak into the fit.")}, media.File{Name: "referee.md", Data: []byte("1. The units are missing.\n2. And so are the dates.\n")})
	l.rests(name)
	folder := ""
	for _, e := range l.events(name) {
		if b, ok := e.Body.(*event.FilesCall); ok {
			folder = b.Folder
		}
	}
	say := func(words string) string {
		t.Helper()
		l.says(name, words)
		l.rests(name)
		return lastAnswer(t, l.events(name))
	}
	must(t, os.WriteFile(filepath.Join(l.QuestDir(name), "agents", "researcher", folder, "referee.md"), []byte("1. Praise alone, and nothing else."), 0o600))
	for _, c := range [][2]string{
		{"1: The units are missing of files/1/referee.md", "nor a file that came with a message"},
		{"2: The units are missing of " + folder + "/other.md", "nor a file that came with a message"},
		{"3: The units are missing of " + folder + "/referee.md", `no point quotes "2. And so are the dates."`},
		{"4: Praise alone, and nothing of " + folder + "/referee.md", "which is not in"},
		{"5: Praise alone, and nothing of " + folder + "/report.pdf", "which is not in"},
		{"6: test months leak into of " + folder + "/report.pdf", "The review is handed in."},
	} {
		if got := say(c[0]); !strings.Contains(got, c[1]) {
			t.Errorf("%s\nis answered %q\nwant %q in it", c[0], got, c[1])
		}
	}
	if given := collect[*event.ReviewGiven](l.events(name)); len(given) != 1 || given[0].Source != folder+"/report.pdf" {
		t.Errorf("the reviews are %+v, want the one that was sent", given)
	}
	l.sound(name)
}
