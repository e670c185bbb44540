package browser

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
)

// stroke is a key of a keyboard: its name, where it is, its number, and what it writes.
type stroke struct {
	key, code string
	number    int
	text      string
}

// named are the keys that write nothing, or something else than their name.
var named = map[string]stroke{
	"Enter": {"Enter", "Enter", 13, "\r"}, "Tab": {"Tab", "Tab", 9, ""}, "Escape": {"Escape", "Escape", 27, ""},
	"Backspace": {"Backspace", "Backspace", 8, ""}, "Delete": {"Delete", "Delete", 46, ""}, "Insert": {"Insert", "Insert", 45, ""},
	"Space": {" ", "Space", 32, " "}, " ": {" ", "Space", 32, " "},
	"ArrowLeft": {"ArrowLeft", "ArrowLeft", 37, ""}, "ArrowUp": {"ArrowUp", "ArrowUp", 38, ""},
	"ArrowRight": {"ArrowRight", "ArrowRight", 39, ""}, "ArrowDown": {"ArrowDown", "ArrowDown", 40, ""},
	"Home": {"Home", "Home", 36, ""}, "End": {"End", "End", 35, ""}, "PageUp": {"PageUp", "PageUp", 33, ""}, "PageDown": {"PageDown", "PageDown", 34, ""},
	"F1": {"F1", "F1", 112, ""}, "F2": {"F2", "F2", 113, ""}, "F3": {"F3", "F3", 114, ""}, "F4": {"F4", "F4", 115, ""},
	"F5": {"F5", "F5", 116, ""}, "F6": {"F6", "F6", 117, ""}, "F7": {"F7", "F7", 118, ""}, "F8": {"F8", "F8", 119, ""},
	"F9": {"F9", "F9", 120, ""}, "F10": {"F10", "F10", 121, ""}, "F11": {"F11", "F11", 122, ""}, "F12": {"F12", "F12", 123, ""},
}

// modifiers are held while another key is pressed.
var modifiers = map[string]int{"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

// strokeOf is the key of a name: one of those above, or a character.
func strokeOf(name string) (stroke, bool) {
	if s, ok := named[name]; ok {
		return s, true
	}
	r, size := utf8.DecodeRuneInString(name)
	if size != len(name) || r == utf8.RuneError || !plain.Printable(name) {
		return stroke{}, false
	}
	s := stroke{key: name, text: name}
	switch {
	case r >= 'a' && r <= 'z':
		s.code, s.number = "Key"+strings.ToUpper(name), int(r-'a')+65
	case r >= 'A' && r <= 'Z':
		s.code, s.number = "Key"+name, int(r)
	case r >= '0' && r <= '9':
		s.code, s.number = "Digit"+name, int(r)
	}
	return s, true
}

// key presses a key and lets it go: Enter, a, Control+a.
func (p *page) key(ctx context.Context, name string) error {
	held, rest := 0, name
	for {
		before, after, more := strings.Cut(rest, "+")
		m, ok := modifiers[before]
		if !more || !ok || after == "" {
			break
		}
		held, rest = held|m, after
	}
	s, ok := strokeOf(rest)
	if !ok {
		return &ending{Error, "there is no key " + plain.Quoted(name, 50) + ": give a character, or a name such as Enter, Tab, Escape, ArrowDown, Control+a"}
	}
	down := params{"type": "rawKeyDown", "key": s.key, "code": s.code, "windowsVirtualKeyCode": s.number, "modifiers": held}
	if s.text != "" && held&^modifiers["Shift"] == 0 {
		down["type"], down["text"] = "keyDown", s.text
	}
	if held == modifiers["Control"] && s.key == "a" {
		down["commands"] = []string{"selectAll"}
	}
	if err := p.call(ctx, "Input.dispatchKeyEvent", down, nil); err != nil {
		return err
	}
	return p.call(ctx, "Input.dispatchKeyEvent", params{"type": "keyUp", "key": s.key, "code": s.code, "windowsVirtualKeyCode": s.number, "modifiers": held}, nil)
}

// refused reports whether it was the browser that said no.
func refused(err error) bool {
	_, ok := errors.AsType[*fault](err)
	return ok
}

// about asks a function, in a world of ours, about the element of a node. is is false if it says
// null.
func (p *page) about(ctx context.Context, n *Node, function string, result any) (is bool, err error) {
	var world struct {
		ID int64 `json:"executionContextId"`
	}
	if err := p.call(ctx, "Page.createIsolatedWorld", params{"frameId": p.frame, "worldName": "lyceum"}, &world); err != nil {
		return false, err
	}
	var object struct {
		Object struct {
			ID string `json:"objectId"`
		} `json:"object"`
	}
	if err := p.call(ctx, "DOM.resolveNode", params{"backendNodeId": n.id, "executionContextId": world.ID}, &object); err != nil {
		return false, err
	}
	var said struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	if err := p.call(ctx, "Runtime.callFunctionOn", params{"objectId": object.Object.ID, "functionDeclaration": function, "returnByValue": true}, &said); err != nil {
		return false, err
	}
	if said.Result.Value == nil {
		return false, nil
	}
	data, err := json.Marshal(said.Result.Value, lenient)
	if err != nil {
		return false, err
	}
	return true, json.Unmarshal(data, result, lenient)
}
