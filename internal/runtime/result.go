package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Long results. What an agent sees of one, and how it reads the rest by number, go by the
// same rows.

// maxRow is how many bytes of a ledger a row may take.
const maxRow = 1 << 10

// mostExcerpt is how many bytes of a result are shown at once: few enough that an excerpt is
// never shortened itself.
func mostExcerpt(window int64) int { return mostShown(window) * 3 / 4 }

// rows cuts a text into what counts as its lines: each with its end, and of a line that is
// too long each piece.
func rows(s string) (out []string) {
	for line := range strings.Lines(s) {
		for line != "" {
			row := line
			if event.Weight(line) > maxRow {
				row = event.Cut(line, maxRow)
			}
			out = append(out, row)
			line = line[len(row):]
		}
	}
	return out
}

// fitting counts the first rows that take at most max bytes of a ledger together.
func fitting(list []string, max int) int {
	for i, row := range list {
		if max -= event.Weight(row); max < 0 {
			return i
		}
	}
	return len(list)
}

// shorten returns the beginning and the end of a text, each within so many bytes of a
// ledger, and between them a note of what is missing.
func shorten(s string, atHead, atEnd int, call uint64, ref event.Ref) string {
	list := rows(s)
	head := fitting(list, atHead)
	rest := slices.Clone(list[head:])
	slices.Reverse(rest)
	tail := len(list) - fitting(rest, atEnd)
	front, back := strings.Join(list[:head], ""), strings.Join(list[tail:], "")
	if !strings.HasSuffix(front, "\n") && front != "" {
		front += "\n"
	}
	how := fmt.Sprintf("the whole output is blob sha256:%s", ref.Hash)
	if call != 0 {
		how = fmt.Sprintf("%s(call: %d, from: %d) shows them", quest.ReadResult, call, head+1)
	}
	return front + fmt.Sprintf("[… lines %d to %d of %d left out, %d of %d bytes; %s …]\n", head+1, tail, len(list), len(strings.Join(list[head:tail], "")), len(s), how) + back
}

// Excerpt is what a call of read_result shows, of an agent with that window.
func (r *Runtime) Excerpt(ctx context.Context, x *quest.Excerpt, window int64) (string, error) {
	text := x.Text
	if text == "" {
		data, err := r.Blob(ctx, x.Ref)
		if err != nil {
			return "", fmt.Errorf("what is recorded of call %d cannot be read", x.Call)
		}
		text = string(data)
	}
	return excerptOf(text, x, mostExcerpt(window))
}

// excerptOf returns the lines of a recorded result that an agent asks for, in at most max
// bytes.
func excerptOf(s string, x *quest.Excerpt, most int) (string, error) {
	list := rows(s)
	count := int64(len(list))
	from := x.From
	if from < 0 {
		from = max(count+from+1, 1)
	}
	if from > count {
		return "", fmt.Errorf("the result of call %d has %d lines", x.Call, count)
	}
	var b strings.Builder
	to := from - 1
	for _, row := range list[from-1 : min(count, from-1+x.Lines)] {
		if b.Len() > 0 && b.Len()+len(row) > most {
			break
		}
		b.WriteString(row)
		to++
	}
	note := fmt.Sprintf("[lines %d to %d of %d of the result of call %d", from, to, count, x.Call)
	if to < count {
		note += fmt.Sprintf("; go on with from: %d", to+1)
	}
	return note + "]\n" + b.String(), nil
}
