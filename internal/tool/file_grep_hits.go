package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// hits are the matches in one file, with the lines around them.
type hits struct {
	*search
	path string
	// before are the lines not shown just ahead, as many as may have to be.
	before []shownLine
	// after is how many lines are still to be shown of those behind a match.
	after int
	// last is the line shown last.
	last int
}

type shownLine struct {
	number int
	text   string
}

// line takes the next line, or a piece of one that is too long.
func (h *hits) line(number int, text []byte) error {
	at := h.rule.FindIndex(text)
	switch {
	case at != nil:
		if h.matches == maxMatches {
			return h.stop(fmt.Sprintf("there are %d matches", maxMatches))
		}
		h.matches++
		for _, l := range h.before {
			if err := h.show(l.number, '-', l.text); err != nil {
				return err
			}
		}
		h.before, h.after = h.before[:0], h.around
		return h.show(number, ':', clip(text, at[0]))
	case h.after > 0:
		h.after--
		return h.show(number, '-', clip(text, 0))
	case h.around > 0:
		if len(h.before) == h.around {
			h.before = h.before[:copy(h.before, h.before[1:])]
		}
		h.before = append(h.before, shownLine{number, clip(text, 0)})
	}
	return nil
}

func (h *hits) show(number int, mark byte, text string) error {
	line := fmt.Sprintf("%s%c%d%c%s\n", h.path, mark, number, mark, text)
	if h.around > 0 && h.out.Len() > 0 && number > h.last+1 {
		line = "--\n" + line
	}
	if h.out.Len()+len(line) > maxGrepped {
		return h.stop(fmt.Sprintf("the output is full (%d KiB)", maxGrepped>>10))
	}
	h.out.WriteString(line)
	h.last = number
	return nil
}

func (s *search) stop(why string) error {
	s.stopped = why
	return errEnough
}

// clip shows a line, or what is around a place in it if it is long.
func clip(text []byte, at int) string {
	from := 0
	if len(text) > maxGrepShown && at > maxGrepBefore {
		from = min(at-maxGrepBefore, len(text)-maxGrepShown)
		for n := 1; n < utf8.UTFMax && !utf8.RuneStart(text[from]); n++ {
			from++ // not within a character
		}
	}
	shown := plain.Cut(string(text[from:]), maxGrepShown)
	var out strings.Builder
	if from > 0 {
		out.WriteString("...")
	}
	out.WriteString(plain.Escape(shown))
	if from+len(shown) < len(text) {
		out.WriteString("...")
	}
	return out.String()
}
