package trial_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/world/trial"
)

func page(count string) trial.Sight {
	return trial.Sight{
		Title: "Counter", Text: "Count:\n " + count,
		Nodes: []trial.Node{
			{Role: "RootWebArea", Name: "Counter"},
			{Depth: 1, Role: "button", Name: "Add", Focused: true},
			{Depth: 2, Role: "StaticText", Name: "Add"},
			{Depth: 1, Role: "status"},
			{Depth: 2, Role: "StaticText", Name: "Count:"},
			{Depth: 2, Role: "StaticText", Name: count},
			{Depth: 1, Role: "checkbox", Name: "Twice", Checked: true},
			{Depth: 1, Role: "textbox", Name: "Step", Value: "by 1", Disabled: true},
			{Depth: 1, Role: "button", Name: "Take"},
		},
		Console: []string{"ready"}, Dialogs: []string{"Sure?"},
		Requests: []event.WorldRequest{{Method: "GET", URL: "http://made.test/app.js", Given: true}},
	}
}

func TestConditionsOfAPage(t *testing.T) {
	t.Parallel()
	at := func(role, name string) event.WorldPlace { return event.WorldPlace{Role: role, Name: name} }
	for _, c := range []struct {
		condition event.WorldCondition
		want      bool
	}{
		{event.WorldCondition{Kind: "present", At: at("button", "Add")}, true},
		{event.WorldCondition{Kind: "present", At: at("button", "add")}, false},
		{event.WorldCondition{Kind: "present", At: at("link", "Add")}, false},
		{event.WorldCondition{Kind: "present"}, false},
		{event.WorldCondition{Kind: "absent", At: at("alert", "")}, true},
		{event.WorldCondition{Kind: "absent", At: at("", "Add")}, false},
		{event.WorldCondition{Kind: "text", At: at("status", ""), Text: "Count: 1"}, true},
		{event.WorldCondition{Kind: "text", At: at("status", ""), Text: "Count: 2"}, false},
		{event.WorldCondition{Kind: "text", At: at("status", ""), How: "contains", Text: "1"}, true},
		{event.WorldCondition{Kind: "text", At: at("button", "Take"), Text: "Take"}, true},
		{event.WorldCondition{Kind: "text", At: at("alert", ""), Text: ""}, false},
		{event.WorldCondition{Kind: "text", Text: "Count: 1"}, true},
		{event.WorldCondition{Kind: "text", Text: "Count"}, false},
		{event.WorldCondition{Kind: "value", At: at("textbox", "Step"), Text: "by 1"}, true},
		{event.WorldCondition{Kind: "value", At: at("textbox", "Step"), Text: "by 2"}, false},
		{event.WorldCondition{Kind: "checked", At: at("checkbox", "Twice")}, true},
		{event.WorldCondition{Kind: "checked", At: at("button", "Add")}, false},
		{event.WorldCondition{Kind: "disabled", At: at("textbox", "Step")}, true},
		{event.WorldCondition{Kind: "disabled", At: at("button", "Add")}, false},
		{event.WorldCondition{Kind: "focused", At: at("button", "Add")}, true},
		{event.WorldCondition{Kind: "focused", At: at("button", "Take")}, false},
		{event.WorldCondition{Kind: "count", At: at("button", ""), Number: 2}, true},
		{event.WorldCondition{Kind: "count", At: at("button", ""), Number: 1}, false},
		{event.WorldCondition{Kind: "console", Text: "ready"}, true},
		{event.WorldCondition{Kind: "console", How: "contains", Text: "error"}, false},
		{event.WorldCondition{Kind: "dialog", How: "contains", Text: "Sure"}, true},
		{event.WorldCondition{Kind: "dialog", Text: "Sure"}, false},
		{event.WorldCondition{Kind: "request", How: "contains", Text: "app.js"}, true},
		{event.WorldCondition{Kind: "request", How: "contains", Text: "evil"}, false},
		{event.WorldCondition{Kind: "title", Text: "Counter"}, true},
		{event.WorldCondition{Kind: "title", Text: "Other"}, false},
		{event.WorldCondition{Kind: "what"}, false},
	} {
		if got := trial.Holds(c.condition, page("1")); got != c.want {
			t.Errorf("%+v holds: %v, want %v", c.condition, got, c.want)
		}
		c.condition.Not = true
		if got := trial.Holds(c.condition, page("1")); got == c.want {
			t.Errorf("%+v holds: %v, want the opposite", c.condition, got)
		}
	}
}

func TestConditionsOfAProgram(t *testing.T) {
	t.Parallel()
	s := trial.Sight{Exit: 2, Output: "1 2 3\n", Errors: "odd line\n", Files: []trial.File{{Path: "out.txt", Content: "done\n"}}}
	for _, c := range []struct {
		condition event.WorldCondition
		want      bool
	}{
		{event.WorldCondition{Kind: "exit", Number: 2}, true},
		{event.WorldCondition{Kind: "exit"}, false},
		{event.WorldCondition{Kind: "output", Text: "1 2 3"}, true},
		{event.WorldCondition{Kind: "output", Text: "1 2"}, false},
		{event.WorldCondition{Kind: "error", How: "contains", Text: "odd"}, true},
		{event.WorldCondition{Kind: "error", Text: "odd"}, false},
		{event.WorldCondition{Kind: "file", Path: "out.txt"}, true},
		{event.WorldCondition{Kind: "file", Path: "out"}, false},
		{event.WorldCondition{Kind: "file", Path: "out.txt", Text: "done"}, true},
		{event.WorldCondition{Kind: "file", Path: "out.txt", How: "contains", Text: "undone"}, false},
	} {
		if got := trial.Holds(c.condition, s); got != c.want {
			t.Errorf("%+v holds: %v, want %v", c.condition, got, c.want)
		}
	}
}

// TestUnforeseen is the last of 29: what nobody foresaw is counted apart.
func TestUnforeseen(t *testing.T) {
	t.Parallel()
	status := event.WorldCondition{Kind: "text", At: event.WorldPlace{Role: "status"}, Text: "Count: 1"}
	quiet := event.WorldCondition{Kind: "present", At: event.WorldPlace{Role: "button", Name: "Add"}}
	if n, told := trial.Unforeseen(page("0"), page("1"), []event.WorldCondition{status}); n != 0 {
		t.Errorf("the status was foreseen, and %d changes are unforeseen: %v", n, told)
	}
	if n, told := trial.Unforeseen(page("0"), page("1"), []event.WorldCondition{quiet}); n != 1 || len(told) != 1 || !strings.Contains(told[0], "became") {
		t.Errorf("nobody spoke of the status: %d, %v; want one change of it", n, told)
	}
	after := page("1")
	after.Title, after.Console, after.Dialogs = "Won", append(after.Console, "boom"), append(after.Dialogs, "Sure?")
	after.Requests = append(after.Requests, event.WorldRequest{Method: "GET", URL: "http://evil.test/"})
	after.Nodes = append(after.Nodes[:len(after.Nodes)-1], trial.Node{Depth: 1, Role: "alert", Name: "Won"})
	after.Nodes[1].Focused = false
	n, told := trial.Unforeseen(page("0"), after, []event.WorldCondition{status})
	if n != 6 || len(told) != 6 {
		t.Errorf("%d changes are unforeseen, want title, line, dialog, request, a new node and one that is gone: %q", n, told)
	}
	if n, told := trial.Unforeseen(page("0"), after, []event.WorldCondition{status, {Kind: "title", Text: "x"}, {Kind: "console", Text: "boom"}, {Kind: "dialog"}, {Kind: "request", How: "contains", Text: "evil"}, {Kind: "absent", At: event.WorldPlace{Name: "Take"}}, {Kind: "absent", At: event.WorldPlace{Role: "alert"}}}); n != 1 || !strings.Contains(told[0], "dialog") {
		t.Errorf("all but the dialog was spoken of: %d, %q", n, told)
	}
	left := trial.Sight{Exit: 1, Output: "x", Errors: "y", Files: []trial.File{{Path: "new"}, {Path: "old", Content: "2"}}}
	was := trial.Sight{Files: []trial.File{{Path: "old", Content: "1"}, {Path: "gone"}}}
	if n, told := trial.Unforeseen(was, left, []event.WorldCondition{{Kind: "exit"}, {Kind: "file", Path: "old"}}); n != 4 {
		t.Errorf("output, errors, a new file and one that is gone: %d, %q", n, told)
	}
	var many trial.Sight
	for i := range 50 {
		many.Console = append(many.Console, strings.Repeat("x", 1000*i))
	}
	if n, told := trial.Unforeseen(trial.Sight{}, many, nil); n != 50 || len(told) != 10 || slices.ContainsFunc(told, func(s string) bool { return len(s) > 300 }) {
		t.Errorf("fifty lines: %d, and %d are told, want 50 and 10, each short", n, len(told))
	}
}

// FuzzLines: an accessibility tree of any names is read as it was written, and any bytes are one
// or a reason. So whoever has the ledger can look again.
func FuzzLines(f *testing.F) {
	f.Add("button", "Add\n  status \"x\" checked", "value=\"y\"", 3, true, false, true, "status \"a\" value=\"b\" focused\n  x\n")
	f.Fuzz(func(t *testing.T, role, name, value string, depth int, checked, disabled, focused bool, raw string) {
		nodes, err := trial.ReadLines(raw)
		if err == nil {
			again, err := trial.ReadLines(trial.Lines(nodes))
			if err != nil || !reflect.DeepEqual(again, nodes) {
				t.Errorf("%+v written and read again: %+v, %v", nodes, again, err)
			}
			trial.Unforeseen(trial.Sight{}, trial.Sight{Nodes: nodes}, []event.WorldCondition{{Kind: "text", Text: name}})
		}
		if strings.ContainsFunc(role, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) || role == "" {
			return
		}
		n := trial.Node{Depth: min(max(depth, 0), 100), Role: role, Name: strings.ToValidUTF8(name, "?"), Value: strings.ToValidUTF8(value, "?"), Checked: checked, Disabled: disabled, Focused: focused}
		got, err := trial.ReadLines(trial.Lines([]trial.Node{n}))
		if err != nil || len(got) != 1 || got[0] != n {
			t.Errorf("%+v is read as %+v, %v", n, got, err)
		}
	})
}
