package tool

import (
	"fmt"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/plain"
)

// How much is shown of what programs write.
const (
	maxStream = 16 << 10 // of one stream of a command
	maxName   = 200      // of a short text such as a command in a table
)

// visible turns what a program wrote into text that hides nothing: bytes that are
// no text and control characters become escapes such as \x1b. Of a line that was
// written over by carriage returns, as progress bars do, the last state is left.
func visible(b []byte) string {
	var out strings.Builder
	for i, line := range strings.Split(string(b), "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		line = strings.TrimRight(line, "\r")
		out.WriteString(plain.Escape(line[strings.LastIndexByte(line, '\r')+1:]))
	}
	return out.String()
}

// word shows a short text of a stranger on one line.
func word(s string) string {
	cut := plain.Cut(s, maxName)
	out := plain.Escape(strings.ReplaceAll(cut, "\n", "; "))
	if len(cut) < len(s) {
		out += "..."
	}
	return out
}

// stream shows an output: all of it, or its beginning and its end.
func stream(o computer.Output) string {
	tail := o.Tail
	// Head and Tail overlap, or meet, if the output is not much longer than Head.
	gap := o.Size - int64(len(o.Head)) - int64(len(tail))
	if gap < 0 {
		tail, gap = tail[min(-gap, int64(len(tail))):], 0
	}
	if gap == 0 {
		return middleOut(visible(append(o.Head[:len(o.Head):len(o.Head)], tail...)), "", 0)
	}
	return middleOut(visible(o.Head), visible(tail), gap)
}

// middleOut joins a beginning and an end between which gap bytes are missing, and
// leaves out more of the middle until the rest fits into maxStream.
func middleOut(front, back string, gap int64) string {
	if gap == 0 && len(front) <= maxStream {
		return front
	}
	if gap == 0 {
		half := len(plain.Cut(front, maxStream/2))
		front, back = front[:half], front[half:]
	}
	first, last := lines(plain.Cut(front, maxStream/2)), plain.CutFront(back, maxStream/2)
	gap += int64(len(front) - len(first) + len(back) - len(last))
	return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", strings.TrimSuffix(first, "\n"), gap, last)
}

// lines returns the whole lines of the beginning of a text, unless little would be
// left of it.
func lines(s string) string {
	if i := strings.LastIndexByte(s, '\n'); i > len(s)/2 {
		return s[:i+1]
	}
	return s
}

// label shows a name of a file on one line.
func label(name string) string {
	if plain.Printable(name) {
		return name
	}
	return fmt.Sprintf("%q", name)
}
