// Package workspace says what a path in an argument means: which file of an agent's
// workspace it names.
//
// Tools open what Path returns, and policies judge what Path returns. There is no other
// reading of a path: a file that is closed to a tool is closed under every spelling that
// the tool would take for it. What links lead to, no text can tell; tools look at what they
// have opened.
package workspace

import (
	"errors"
	"fmt"
	"strings"
)

// Home is where programs in a computer see the workspace.
const Home = "/home/agent"

// Path returns the one form of a path: from the workspace on, without dots, doubled or
// outer slashes; "." is the workspace itself. A path may also be written as programs in a
// computer see it, from Home on.
//
// The error says why no tool of Lyceum takes the path. There is a path even then, the
// nearest in the workspace: a tool of a stranger may read it otherwise, and whoever guards
// files takes it for that one.
func Path(text string) (string, error) {
	rest, absolute := text, strings.HasPrefix(text, "/")
	if text == Home {
		rest, absolute = ".", false
	} else if below, ok := strings.CutPrefix(text, Home+"/"); ok {
		rest, absolute = below, false
	}
	path, out := clean(rest)
	switch {
	case text == "":
		return path, errors.New("the path is empty")
	case strings.ContainsRune(text, 0):
		return path, errors.New("the path has a NUL character in it")
	case absolute || strings.HasPrefix(text, "~"):
		// In a stranger's eyes it may be the same workspace, by other words.
		return nearest(path), fmt.Errorf("%.200q is not relative; give the path from the workspace on, such as notes/a.txt", text)
	case out:
		return nearest(path), fmt.Errorf("%.200q leads out of the workspace", text)
	}
	return path, nil
}

// nearest takes what stands for the workspace off the front of a path that is not a
// relative one.
func nearest(path string) string {
	for _, home := range []string{Home[1:], "~"} {
		if path == home {
			return "."
		}
		if rest, ok := strings.CutPrefix(path, home+"/"); ok {
			return rest
		}
	}
	return path
}

// clean takes dots and doubled slashes out of a path, and tells whether it leads above
// where it begins.
func clean(text string) (path string, out bool) {
	var names []string
	for name := range strings.SplitSeq(text, "/") {
		switch name {
		case "", ".":
		case "..":
			if len(names) == 0 {
				out = true
				continue
			}
			names = names[:len(names)-1]
		default:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ".", out
	}
	return strings.Join(names, "/"), out
}

// Under reports whether a path, in its one form, is dir or below it.
func Under(path, dir string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}

// Closed returns the first of the folders and files that a path is in, in its one form;
// empty if it is in none.
func Closed(path string, closed []string) string {
	for _, dir := range closed {
		if Under(path, dir) {
			return dir
		}
	}
	return ""
}
