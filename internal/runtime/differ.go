package runtime

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/repo"

	"github.com/rogpeppe/go-internal/diff"
)

// Bounds of what is told of two folders that differ.
const (
	// maxDiffed is how large a file may be whose lines are compared, and all of them together.
	maxDiffed    = 1 << 20
	maxAllDiffed = 32 << 20
	// maxChangesShown is how many files are named.
	maxChangesShown = 100
)

// differ tells how two folders differ: which files, how many lines of each came and went, and
// the lines themselves as far as there is room. It needs no git.
func (l *live) differ(ctx context.Context, d *quest.Delivery) (string, error) {
	changes, err := repo.Changes(ctx, l.rt.Blobs, d.Trees[0], d.Trees[1])
	if err != nil {
		return "", err
	}
	var names, patch strings.Builder
	var added, removed int64
	room := int64(maxAllDiffed)
	for i, c := range changes {
		text, plus, minus, err := l.rt.lines(ctx, c, &room)
		if err != nil {
			return "", err
		}
		added, removed = added+plus, removed+minus
		if i < maxChangesShown {
			fmt.Fprintf(&names, "- %s\n", fileLine(c, text != nil, plus, minus))
		}
		if patch.Len() < maxShown {
			patch.Write(text)
		}
	}
	out := fmt.Sprintf("%s\n%d files differ, %d lines more and %d less.\n%s", d.Said, len(changes), added, removed, names.String())
	if n := len(changes) - maxChangesShown; n > 0 {
		out += fmt.Sprintf("(%d more files.)\n", n)
	}
	const note = "\n[… there is no room for the rest …]"
	text := "\n" + Clean(patch.String())
	if space := maxShown - len(out); len(text) > space {
		text = event.Cut(text, max(space-len(note), 0)) + note
	}
	return l.rt.Redact(out + text), nil
}

// FileDiffers is a file in which two folders differ.
type FileDiffers struct {
	Path string
	// Kind is added, changed or removed.
	Kind string
	// Text says that it was compared by lines: so many came and went, and Patch shows them.
	Text           bool
	Added, Removed int64
	Patch          []byte
}

// Differences are the files in which two folders differ, by path: of one path alone, if it is not
// empty, else the first max. More counts the others. A folder that is nil is empty.
func (r *Runtime) Differences(ctx context.Context, before, after *event.TreeRef, path string, max int) (out []FileDiffers, more int64, err error) {
	changes, err := repo.Changes(ctx, r.Blobs, before, after)
	if err != nil {
		return nil, 0, err
	}
	room := int64(maxAllDiffed)
	for _, c := range changes {
		switch {
		case path != "" && c.Path != path:
			continue
		case len(out) == max:
			more++
			continue
		}
		d := FileDiffers{Path: c.Path, Kind: event.Changed}
		switch {
		case c.Old == nil:
			d.Kind = event.Added
		case c.New == nil:
			d.Kind = event.Removed
		}
		if d.Patch, d.Added, d.Removed, err = r.lines(ctx, c, &room); err != nil {
			return nil, 0, err
		}
		d.Text = d.Patch != nil
		out = append(out, d)
	}
	return out, more, nil
}

func fileLine(c repo.Change, text bool, plus, minus int64) string {
	how := "changed"
	switch {
	case c.Old == nil:
		how = "new"
	case c.New == nil:
		how = "gone"
	case c.Old.Kind != c.New.Kind:
		how = "changed from " + string(c.Old.Kind) + " to " + string(c.New.Kind)
	case c.Old.Hash == c.New.Hash && c.Old.Mode != c.New.Mode:
		how = "changed its mode"
	}
	line := fmt.Sprintf("%s: %s", Clean(AtMost(c.Path, 300)), how)
	if text {
		return line + fmt.Sprintf(", +%d -%d", plus, minus)
	}
	return line + ", not compared by lines"
}

// lines compares a file by lines, if both of its sides are texts that are not too long.
func (r *Runtime) lines(ctx context.Context, c repo.Change, room *int64) (text []byte, plus, minus int64, err error) {
	var sides [2][]byte
	names := [2]string{"a/" + c.Path, "b/" + c.Path}
	for i, e := range []*blob.Entry{c.Old, c.New} {
		switch {
		case e == nil:
			names[i] = "/dev/null"
			continue
		case e.Kind != blob.File || e.Size > maxDiffed || e.Size > *room:
			return nil, 0, 0, nil
		}
		*room -= e.Size
		if sides[i], err = r.Blobs.Get(ctx, e.Hash); err != nil {
			return nil, 0, 0, err
		}
		if !utf8.Valid(sides[i]) || bytes.IndexByte(sides[i], 0) >= 0 {
			return nil, 0, 0, nil
		}
	}
	text = diff.Diff(names[0], sides[0], names[1], sides[1])
	body := text
	for range 3 { // its head: a line that says diff, and the two names
		_, body, _ = bytes.Cut(body, []byte("\n"))
	}
	for line := range bytes.Lines(body) {
		switch line[0] {
		case '+':
			plus++
		case '-':
			minus++
		}
	}
	if text == nil {
		text = []byte{} // the same bytes, with another mode
	}
	return text, plus, minus, nil
}
