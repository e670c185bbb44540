package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// budget shows what has been used of what there is, on one line or two.
func (m *Model) budget(lines int) []string {
	s, limits := m.state, m.state.Limits
	cost := dollars(s.Spent.Cost)
	switch {
	case s.Spent.Unpriced > 0:
		cost = "≥" + cost // some calls have no price
		if s.Spent.Cost == 0 {
			cost = "unknown"
		}
	case s.Spent.Estimated > 0:
		cost = "≤" + cost // of some calls the usage was not told
	}
	usage := s.Spent.Usage.Input + s.Spent.Usage.Output
	width := m.width / (4 / lines)
	gauges := []string{
		gauge("cost", cost, s.Spent.Cost, limits.Cost, dollars, width),
		gauge("turns", thousands(s.Spent.Turns), s.Spent.Turns, limits.Turns, thousands, width),
		gauge("tokens", thousands(usage), usage, limits.Tokens, thousands, width),
		gauge("time", span(m.elapsed()), m.elapsed(), limits.Duration, span, width),
	}
	out := make([]string, 0, lines)
	for i := range lines {
		per := len(gauges) / lines
		out = append(out, fit(strings.Join(gauges[i*per:(i+1)*per], ""), m.width))
	}
	return out
}

// gauge is one measure. Without a limit there is nothing to fill.
func gauge(name, used string, n int64, limit *int64, say func(int64) string, width int) string {
	text := " " + fit(name, 6) + " "
	if limit == nil {
		return fit(faint.Render(text)+used, width)
	}
	amount := " " + used + " of " + say(*limit)
	room := width - ansi.StringWidth(text) - ansi.StringWidth(amount) - 1
	return fit(faint.Render(text)+bar(n, *limit, min(room, 24))+amount, width)
}

// bar fills as much of its width as n is of most. Only what is used up fills it
// whole, and anything at all is seen.
func bar(n, most int64, width int) string {
	if width < 3 {
		return ""
	}
	full := width
	if n < most {
		full = min(int(float64(n)/float64(most)*float64(width)), width-1)
		if n > 0 {
			full = max(full, 1)
		}
	}
	style := green
	switch {
	case n >= most:
		style = red
	case float64(n) >= 0.8*float64(most):
		style = yellow
	}
	return style.Render(strings.Repeat("█", full)) + faint.Render(strings.Repeat("░", width-full))
}
