package analysis

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// MaxText is how much judges are shown of a tree, maxTextFile how much of one file.
const (
	MaxText     = 48 << 10
	maxTextFile = 24 << 10
)

// Text is a tree as judges read it: its texts one behind the other, each under its path, the
// entry first. Characters that nobody sees are marked, what is no text is named; of what is too long the beginning is there, and it
// says so.
func Text(files []File, kind string) string {
	var b strings.Builder
	first := Entry
	if kind == Program {
		first = Start(func(p string) bool {
			for _, f := range files {
				if f.Path == p {
					return true
				}
			}
			return false
		})
	}
	for _, turn := range []bool{true, false} {
		for _, f := range files {
			if (f.Path == first) != turn {
				continue
			}
			if !write(&b, f) {
				return b.String()
			}
		}
	}
	return b.String()
}

// write adds a file, and reports whether there is room for more.
func write(b *strings.Builder, f File) bool {
	text := ""
	head := fmt.Sprintf("=== %s (%d bytes", shown(f.Path), f.Size)
	switch {
	case f.Link:
		head += ", a symbolic link"
	case f.Data == nil && f.Size > 0:
		head += ", too long to be shown"
	case !utf8.Valid(f.Data) || plain.Controls.In(strings.NewReplacer("\n", "", "\t", "", "\r", "").Replace(string(f.Data))):
		head += ", no text"
	default:
		text = plain.Told(strings.ReplaceAll(string(f.Data), "\r", ""), 0)
	}
	cut := plain.Cut(text, maxTextFile)
	if len(cut) < len(text) {
		head += fmt.Sprintf(", the first %d are shown", len(cut))
	}
	entry := head + ") ===\n" + cut + "\n"
	if b.Len()+len(entry) > MaxText {
		b.WriteString("=== there is more, which is not shown ===\n")
		return false
	}
	b.WriteString(entry)
	return true
}
