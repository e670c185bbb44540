package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// maxEdit is how large a file may be that is edited.
const maxEdit = 8 << 20

// EditFile returns the tool edit_file. It holds writing from before it reads the
// file, so that no other call's change is lost.
func EditFile(writing *sync.Mutex) Tool {
	return Tool{
		Tool: model.Tool{
			Name: "edit_file",
			Description: "Replaces a piece of text in a file of your workspace. The old text must be there exactly, white space included, and only once; " +
				"give enough of the lines around it. With all, every place is replaced.",
			Schema: `{"type":"object","properties":{` +
				`"path":{"type":"string","description":"Path of the file, relative to the workspace."},` +
				`"old":{"type":"string","minLength":1,"description":"The text to replace."},` +
				`"new":{"type":"string","description":"What takes its place; may be empty."},` +
				`"all":{"type":"boolean","description":"Whether to replace every place; false if left out."}` +
				`},"required":["path","old","new"],"additionalProperties":false}`,
		},
		Writes: true,
		Paths:  []string{"path"},
		Run: func(_ context.Context, c Call) (string, error) {
			var args struct {
				Path string `json:"path"`
				Old  string `json:"old"`
				New  string `json:"new"`
				All  bool   `json:"all"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			writing.Lock()
			defer writing.Unlock()
			content, mode, err := whole(c.room(), args.Path)
			if err != nil {
				return "", err
			}
			edited, note, err := edit(args.Path, content, args.Old, args.New, args.All)
			if err != nil {
				return "", err
			}
			name, err := local(c.room(), args.Path)
			if err != nil {
				return "", err
			}
			if err := replace(c.room(), name, mode, edited); err != nil {
				return "", err
			}
			return note, nil
		},
	}
}

// whole returns all of a file that is to be replaced, and its mode.
func whole(home room, path string) (string, fs.FileMode, error) {
	name, err := local(home, path)
	if err != nil {
		return "", 0, err
	}
	info, err := home.Lstat(name)
	if err != nil {
		return "", 0, inWords(path, err)
	}
	if err := writable(path, info); err != nil {
		return "", 0, err
	}
	f, info, err := open(home, path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxEdit+1))
	if err != nil {
		return "", 0, inWords(path, err)
	}
	if len(content) > maxEdit {
		return "", 0, fmt.Errorf("%s is larger than %d MiB; a program such as sed can change it", short(path), maxEdit>>20)
	}
	return string(content), info.Mode().Perm(), nil
}

// edit returns the content with old replaced, and what to say of it.
func edit(path, content, old, new string, all bool) (edited, note string, err error) {
	count := strings.Count(content, old)
	switch {
	case old == new:
		return "", "", errors.New("old and new are the same")
	case count == 0:
		return "", "", fmt.Errorf("the old text is not in %s; %s", short(path), similar(content, old))
	case count > 1 && !all:
		return "", "", fmt.Errorf("the old text is in %s %d times, at lines %s; give more of the lines around it, or set all", short(path), count, places(content, old))
	case len(content)+count*(len(new)-len(old)) > maxEdit:
		return "", "", fmt.Errorf("%s would be larger than %d MiB", short(path), maxEdit>>20)
	case count == 1:
		note = fmt.Sprintf("replaced the text at line %s of %s", places(content, old), short(path))
	default:
		note = fmt.Sprintf("replaced the text at %d places of %s", count, short(path))
	}
	return strings.ReplaceAll(content, old, new), note, nil
}

// places returns the lines in which text begins, the first few of them.
func places(content, text string) string {
	var at []string
	line := 1
	for {
		i := strings.Index(content, text)
		if i < 0 {
			return strings.Join(at, ", ")
		}
		if len(at) == 10 {
			return strings.Join(at, ", ") + ", ..."
		}
		line += strings.Count(content[:i], "\n")
		at = append(at, fmt.Sprint(line))
		line += strings.Count(text, "\n")
		content = content[i+len(text):]
	}
}

// similar says where content has something like text, for whoever got it slightly
// wrong: the place where most of its first lines are, white space aside.
func similar(content, text string) string {
	if strings.Contains(strings.ReplaceAll(content, "\r\n", "\n"), text) {
		return `the lines of the file end in \r\n, those of the old text in \n`
	}
	wanted := strings.Split(strings.TrimSpace(text), "\n")
	wanted = wanted[:min(len(wanted), 50)]
	for i := range wanted {
		wanted[i] = squeeze(wanted[i])
	}
	lines := strings.Split(content, "\n")
	best, at := 0, 0
	for i := range lines {
		same := 0
		for same < len(wanted) && i+same < len(lines) && squeeze(lines[i+same]) == wanted[same] {
			same++
		}
		if same > best && wanted[0] != "" {
			best, at = same, i
		}
	}
	switch {
	case best == 0:
		return "read_file shows what is there"
	case best == len(wanted):
		return fmt.Sprintf("line %d and on differ from it only in white space: %.200q", at+1, lines[at])
	case at+best == len(lines):
		return fmt.Sprintf("it is there from line %d on, but the file ends before it does", at+1)
	}
	return fmt.Sprintf("it is there from line %d on, up to line %d, which is %.200q", at+1, at+best+1, lines[at+best])
}

// squeeze takes the white space out of a line as far as it tells nothing.
func squeeze(line string) string { return strings.Join(strings.Fields(line), " ") }
