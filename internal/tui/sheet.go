package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// sheet is a text that is being put together, line by line.
type sheet struct {
	b     strings.Builder
	width int
	look  Look
}

func (w *sheet) style(s lipgloss.Style, text string) string {
	switch w.look {
	case Plain:
		return text
	case Mono:
		s = s.UnsetForeground()
	}
	return s.Render(text)
}

// put writes a line behind a prefix, and what does not fit into further ones, as far
// in.
func (w *sheet) put(prefix, s string) {
	if w.look == Plain {
		w.b.WriteString(prefix + s + "\n")
		return
	}
	in := ansi.StringWidth(prefix)
	for l := range strings.SplitSeq(ansi.Wrap(s, max(w.width-in, 10), "/"), "\n") {
		w.b.WriteString(prefix + l + "\n")
		prefix = strings.Repeat(" ", in)
	}
}

const factWidth = 14

func (w *sheet) fact(name, value string) {
	if value != "" {
		w.put(w.style(faint, fit(name, factWidth)), line(value))
	}
}

func (w *sheet) section(title string) {
	w.b.WriteString("\n")
	w.put(w.style(bold, "── "), title)
	w.b.WriteString("\n")
}

func (w *sheet) quote(text string) {
	bar := w.style(faint, "│ ")
	for l := range strings.SplitSeq(Markdown(text, w.width-2, w.look), "\n") {
		w.b.WriteString(strings.TrimRight(bar+l, " ") + "\n")
	}
}
