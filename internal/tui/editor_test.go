package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// edited types keys, separated by spaces; what stands in quotes is written as it is.
func edited(e *editor, keys string) *editor {
	for k := range strings.FieldsSeq(keys) {
		if text, ok := strings.CutPrefix(k, "'"); ok {
			e.insert(strings.ReplaceAll(text, "_", " "))
		} else {
			e.key(k)
		}
	}
	return e
}

func TestEditor(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"'one_two ctrl+w":                "one |",
		"'one_two ctrl+a 'x":             "x|one two",
		"'one ctrl+a right ctrl+e 'x":    "onex|",
		"'one_two left left ctrl+u":      "|wo",
		"'one_two ctrl+a right ctrl+k":   "o|",
		"'one backspace":                 "on|",
		"'one alt+enter 'two":            "one\ntwo|",
		"'ab alt+enter 'cd up":           "ab|\ncd",
		"'ab alt+enter 'cd up left down": "ab\nc|d",
		"'e\u0301x left backspace":       "|x",
		"'\x1b[2J":                       "\uFFFD[2J|",
		"'one_two alt+b delete":          "one |wo",
	} {
		e := edited(new(editor), keys)
		if got := e.text[:e.pos] + "|" + e.text[e.pos:]; got != want {
			t.Errorf("%s: got %q, want %q", keys, got, want)
		}
	}
}

func TestWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	e := new(editor)
	for _, text := range []string{"first", "second", "second"} {
		e.insert(text)
		e.take()
	}
	e.insert("draft")
	for _, step := range []struct{ key, want string }{{"up", "second"}, {"up", "first"}, {"up", "first"}, {"down", "second"}, {"down", "draft"}, {"down", "draft"}} {
		if e.key(step.key); e.text != step.want {
			t.Errorf("%s: got %q, want %q", step.key, e.text, step.want)
		}
	}
}

func TestABackslashAtTheEndGoesOn(t *testing.T) {
	t.Parallel()
	e := new(editor)
	e.insert("a\\")
	if !e.escaped() {
		t.Fatal("a backslash at the end: got that it is none, want another line")
	}
	if e.newline(); e.text != "a\n" {
		t.Errorf("after the break: got %q, want the line without the backslash", e.text)
	}
}

func TestTheLinesOfAnEditor(t *testing.T) {
	t.Parallel()
	e := new(editor)
	e.insert(strings.Repeat("wide ", 20) + "\nend")
	for _, l := range e.lines(" > ", 20, 40) {
		if n := ansi.StringWidth(l); n > 20 {
			t.Errorf("a line is %d wide, want at most 20: %q", n, l)
		}
	}
	if got := e.lines(" > ", 20, 2); len(got) != 2 || !strings.Contains(got[1], "end") {
		t.Errorf("two lines around the cursor: got %q, want the end in them", got)
	}
	if e.insert(strings.Repeat("x", maxWritten)) {
		t.Error("more than a message may have: got that it fits, want that it is refused")
	}
}
